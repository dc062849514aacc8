// sessions compares schedulers over sessions of API events on a real API server.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"berth/e2e/controlplane/local"
)

func usage() {
	fmt.Fprintln(os.Stderr, `usage: sessions record --seeds 1-40 --out golden/       record kube-scheduler, keep the seeds in which it agrees with itself
       sessions check --golden golden/ --scheduler CMD     run CMD on the recorded sessions and compare
       sessions show FILE [STEP]                           print a golden file
       sessions stats --golden golden/                     what the golden sessions exercise
Each has --help.`)
	os.Exit(2)
}

func main() {
	klog.SetLogger(logr.Discard())
	if len(os.Args) < 2 {
		usage()
	}
	f := map[string]func([]string) error{"record": record, "check": check, "show": show, "stats": stats}[os.Args[1]]
	if f == nil {
		usage()
	}
	if err := f(os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "sessions:", err)
		os.Exit(1)
	}
}

func (o *Opts) flags(fs *flag.FlagSet) {
	fs.StringVar(&o.BinDir, "bin-dir", local.BinDir(program), "folder with etcd, kube-apiserver and kube-scheduler ($SESSIONS_BIN_DIR); else PATH")
	fs.StringVar(&o.Name, "scheduler-name", "default-scheduler", "schedulerName of the pods")
	fs.StringVar(&o.LogDir, "log-dir", "", "keep the scheduler's logs here")
	fs.DurationVar(&o.Idle.None, "idle", 400*time.Millisecond, "at rest after this, where no pod is pending")
	fs.DurationVar(&o.Idle.Pending, "idle-pending", 1200*time.Millisecond, "at rest after this, where one pod is unschedulable")
	fs.DurationVar(&o.Idle.Many, "idle-many", 2100*time.Millisecond, "at rest after this, where more are: none may be in backoff (1 s in windows of 1 s) when the next event comes, else their order depends on the time")
	fs.DurationVar(&o.Idle.Volume, "idle-volume", 1600*time.Millisecond, "at rest after this, where a pending pod has a bound volume or a selected node (kube-scheduler looks once a second)")
	fs.DurationVar(&o.Idle.Error, "idle-error", 2600*time.Millisecond, "at rest after this, where a pod waits after an error")
	fs.DurationVar(&o.Idle.Short, "idle-short", 300*time.Millisecond, "between the writes of one step that depend on each other")
	fs.DurationVar(&o.Idle.Max, "step-timeout", 15*time.Second, "go on after this in any case")
	fs.DurationVar(&o.Ready, "ready-timeout", 90*time.Second, "the scheduler must act in this time")
}

func seedList(s string) (out []int64, err error) {
	for _, p := range strings.Split(s, ",") {
		a, b, ok := strings.Cut(p, "-")
		x, err := strconv.ParseInt(a, 10, 64)
		if err != nil {
			return nil, err
		}
		y := x
		if ok {
			if y, err = strconv.ParseInt(b, 10, 64); err != nil {
				return nil, err
			}
		}
		for ; x <= y; x++ {
			out = append(out, x)
		}
	}
	return
}

var outMu sync.Mutex

func say(f string, a ...any) {
	outMu.Lock()
	fmt.Printf(f+"\n", a...)
	outMu.Unlock()
}

// each runs f for the items, parallel at a time.
func each[T any](ctx context.Context, l []T, parallel int, f func(T)) {
	ch := make(chan T)
	var wg sync.WaitGroup
	for range parallel {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for x := range ch {
				f(x)
			}
		}()
	}
	for _, x := range l {
		select {
		case ch <- x:
		case <-ctx.Done():
		}
	}
	close(ch)
	wg.Wait()
}

func goldenPath(dir string, seed int64) string {
	return filepath.Join(dir, fmt.Sprintf("seed-%03d.json.gz", seed))
}

func goldenFiles(dir, seeds string) ([]string, error) {
	if seeds != "" {
		l, err := seedList(seeds)
		var out []string
		for _, s := range l {
			if _, e := os.Stat(goldenPath(dir, s)); e == nil {
				out = append(out, goldenPath(dir, s))
			}
		}
		return out, err
	}
	l, err := filepath.Glob(filepath.Join(dir, "seed-*.json.gz"))
	sort.Strings(l)
	return l, err
}
