package local

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Child is a process that was started in a session of its own.
type Child struct {
	Pid int
	Log string

	done chan struct{}
	err  error
}

// Start runs a command, whose output goes to a file.
func Start(cmd *exec.Cmd, logPath string) (*Child, error) {
	lf, err := os.Create(logPath)
	if err != nil {
		return nil, err
	}
	defer lf.Close()
	cmd.Stdout, cmd.Stderr = lf, lf
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &Child{Pid: cmd.Process.Pid, Log: logPath, done: make(chan struct{})}
	go func() { c.err = cmd.Wait(); close(c.done) }()
	return c, nil
}

// Done is closed when the process has ended.
func (c *Child) Done() <-chan struct{} { return c.done }

// Exited says whether it has ended.
func (c *Child) Exited() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// Err is how it ended, once it has.
func (c *Child) Err() error { return c.err }

// Tail is the end of what it has written.
func (c *Child) Tail(lines int) string {
	b, err := os.ReadFile(c.Log)
	if err != nil {
		return err.Error()
	}
	l := strings.Split(strings.TrimRight(string(b), "\n"), "\n")
	if len(l) > lines {
		l = l[len(l)-lines:]
	}
	return strings.Join(l, "\n")
}

// Stop ends the child's process group: TERM, then KILL after the grace time.
func (c *Child) Stop(grace time.Duration) {
	if c.Exited() {
		return
	}
	syscall.Kill(-c.Pid, syscall.SIGTERM)
	select {
	case <-c.done:
	case <-time.After(grace):
		syscall.Kill(-c.Pid, syscall.SIGKILL)
		<-c.done
	}
}

// stopPid ends a process that somebody else started, if it still is the one that began at that tick.
func stopPid(pid int, start uint64, grace time.Duration) {
	same := func() bool { s, err := ReadStat(pid); return err == nil && s.Start == start }
	if pid == 0 || start == 0 || !same() {
		return
	}
	syscall.Kill(pid, syscall.SIGTERM)
	for end := time.Now().Add(grace); time.Now().Before(end) && same(); {
		time.Sleep(100 * time.Millisecond)
	}
	if same() {
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// ClockTick is USER_HZ, which is fixed at 100 on Linux for /proc.
const ClockTick = 100.0

// Stat is what is of use in /proc/PID/stat.
type Stat struct {
	Pid, Session           int
	User, Sys, CUser, CSys float64 // seconds; of children that were waited for, too
	RSS                    int64   // bytes
	Start                  uint64  // clock ticks after boot
}

// ReadStat reads it.
func ReadStat(pid int) (Stat, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Stat{}, err
	}
	// the command name is in parentheses and may hold spaces
	i := bytes.LastIndexByte(b, ')')
	if i < 0 {
		return Stat{}, fmt.Errorf("bad stat of %d", pid)
	}
	f := strings.Fields(string(b[i+1:]))
	if len(f) < 22 {
		return Stat{}, fmt.Errorf("short stat of %d", pid)
	}
	num := func(i int) float64 { v, _ := strconv.ParseFloat(f[i], 64); return v }
	return Stat{
		Pid: pid, Session: int(num(3)),
		User: num(11) / ClockTick, Sys: num(12) / ClockTick,
		CUser: num(13) / ClockTick, CSys: num(14) / ClockTick,
		Start: uint64(num(19)), RSS: int64(num(21)) * int64(os.Getpagesize()),
	}, nil
}
