// sessions compares schedulers over sessions of API events on a real API server.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

const kubeCommand = `{bin}/kube-scheduler --config {config} --authentication-kubeconfig {kubeconfig} --authorization-kubeconfig {kubeconfig} --secure-port {port} --bind-address 127.0.0.1`

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
	fs.StringVar(&o.BinDir, "bin-dir", envOr("SESSIONS_BIN_DIR", ""), "folder with etcd, kube-apiserver and kube-scheduler ($SESSIONS_BIN_DIR); else PATH")
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

func record(args []string) error {
	fs := flag.NewFlagSet("record", flag.ExitOnError)
	var o Opts
	o.flags(fs)
	fs.Lookup("idle-pending").DefValue = "900ms"
	fs.Set("idle-pending", "900ms") // kube-scheduler takes a pod out of the backoff queue at once where it has nothing else to do
	seeds := fs.String("seeds", "1-40", "seeds, as 1-40 or 3,5,9")
	out := fs.String("out", "golden", "folder of the golden files")
	par := fs.Int("parallel", 2, "clusters at a time")
	steps := fs.Int("steps", 0, "steps (0: 32 to 42 by the seed)")
	again := fs.Int("again", 1, "replays that must agree")
	verb := fs.Bool("v", false, "tell each step")
	fs.StringVar(&o.Command, "scheduler", kubeCommand, "the reference scheduler ({bin} is --bin-dir)")
	fs.StringVar(&o.MetricsURL, "metrics-url", "https://127.0.0.1:{port}/metrics", "its metrics")
	fs.Parse(args)
	l, err := seedList(*seeds)
	if err != nil {
		return err
	}
	o.Command = strings.ReplaceAll(o.Command, "{bin}", o.BinDir)
	if err := os.MkdirAll(*out, 0o755); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	each(ctx, l, *par, func(seed int64) {
		p := func(string) {}
		if *verb {
			p = func(m string) { say("seed %d %s", seed, m) }
		}
		path := goldenPath(*out, seed)
		os.Remove(path)
		r, err := runSession(ctx, o, seed, *steps, nil, p)
		if err != nil {
			say("seed %d: %v", seed, err)
			return
		}
		for _, e := range r.S.Errors {
			say("seed %d: refused: %s", seed, e)
		}
		bad := filepath.Join(*out, fmt.Sprintf("bad-%03d.txt", seed))
		os.Remove(bad)
		for i := range *again {
			o := o // with other waits: what depends on timing shows
			o.Idle.Pending, o.Idle.None, o.Idle.Many = o.Idle.Pending*5/4, o.Idle.None*5/4, o.Idle.Many*8/7
			r2, err := runSession(ctx, o, seed, 0, r.S, p)
			if err != nil {
				say("seed %d: %v", seed, err)
				return
			}
			hard := len(r2.Diffs)
			soft := map[string]bool{}
			for _, d := range r2.Diffs {
				n := 0
				for _, l := range d.Lines {
					if k := transient(l); k != "" {
						soft[k] = true
						n++
					}
				}
				if n == len(d.Lines) {
					hard--
				}
			}
			if hard == 0 && len(soft) > 0 {
				say("seed %d: transient FailedScheduling events of %v differ, not compared", seed, soft)
				os.WriteFile(bad, []byte(report(r.S, r2, 2)), 0o644)
				if r.S.Transient == nil {
					r.S.Transient = map[string]bool{}
				}
				for k := range soft {
					r.S.Transient[k] = true
				}
			}
			if hard > 0 {
				say("seed %d: kube-scheduler differs from itself (replay %d) in steps %s", seed, i+1, stepList(r2.Diffs))
				os.WriteFile(bad, []byte(report(r.S, r2, 2)), 0o644)
				return
			}
			if n := wakeDiffs(r.S, r2.S); n > 0 {
				say("seed %d: (queue counters differ in %d steps)", seed, n)
			}
		}
		b, _ := json.Marshal(r.S)
		if err := writeGz(path, b); err != nil {
			say("seed %d: %v", seed, err)
			return
		}
		if err := writeIndex(*out); err != nil {
			say("good-seeds.txt: %v", err)
		}
		c := r.S.Counts
		say("seed %d: good, %d steps, %.0f s, %d pods, %d scheduled, %d victims", seed, len(r.S.Steps), r.S.Seconds, c["pods"], c["scheduled"], c["victims"])
	})
	return ctx.Err()
}

func wakeDiffs(a, b *Session) (n int) {
	for i := range a.Steps {
		if fmt.Sprint(wakeups(a.Steps[i].Wake)) != fmt.Sprint(wakeups(b.Steps[i].Wake)) {
			n++
		}
	}
	return
}

// wakeups are the queue counters by event. Active or backoff queue depends on
// whether a second has gone by since the last attempt, so it is left out.
func wakeups(w map[string]int) map[string]int {
	m := map[string]int{}
	for k, v := range w {
		if e, _, _ := strings.Cut(k, " -> "); e != "PopFromBackoffQ" {
			m[e] += v
		}
	}
	return m
}

func stepList(d []Diff) string {
	var s []string
	for i, x := range d {
		if i == 8 {
			s = append(s, "…")
			break
		}
		s = append(s, fmt.Sprint(x.Step))
	}
	return strings.Join(s, " ")
}

// report tells the first n diverging steps with what led there.
func report(want *Session, r *outcome, n int) string {
	var b strings.Builder
	seen := map[string]bool{}
	for i, d := range r.Diffs {
		if i == n {
			fmt.Fprintf(&b, "  … and steps %s differ too\n", stepList(r.Diffs[n:]))
			break
		}
		if i == 0 {
			fmt.Fprintf(&b, "  first difference in step %d of %d (config %s)\n", d.Step, len(want.Steps), want.Config)
			for j := max(0, d.Step-4); j < d.Step-1; j++ {
				for _, op := range want.Steps[j].Ops {
					fmt.Fprintf(&b, "    before, step %d: %s\n", j+1, op.Note)
				}
			}
		}
		for _, op := range want.Steps[d.Step-1].Ops {
			fmt.Fprintf(&b, "  step %d: %s\n", d.Step, op.Note)
		}
		old := 0
		for _, l := range d.Lines {
			if seen[l] {
				old++
				continue
			}
			seen[l] = true
			fmt.Fprintf(&b, "    %s\n", l)
		}
		if old > 0 {
			fmt.Fprintf(&b, "    and %d differences as before\n", old)
		}
	}
	return b.String()
}

// writeIndex lists the good seeds of a folder.
func writeIndex(dir string) error {
	outMu.Lock()
	defer outMu.Unlock()
	files, err := goldenFiles(dir, "")
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, f := range files {
		s, err := readSession(f)
		if err != nil {
			return err
		}
		c := counts(s)
		fmt.Fprintf(&b, "%d config=%s steps=%d seconds=%.0f pods=%d scheduled=%d victims=%d\n", s.Seed, s.Config, len(s.Steps), s.Seconds, c["pods"], c["scheduled"], c["victims"])
	}
	return os.WriteFile(filepath.Join(dir, "good-seeds.txt"), []byte(b.String()), 0o644)
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

func check(args []string) error {
	fs := flag.NewFlagSet("check", flag.ExitOnError)
	var o Opts
	o.flags(fs)
	dir := fs.String("golden", "golden", "folder of the golden files")
	seeds := fs.String("seeds", "", "only these seeds")
	par := fs.Int("parallel", 1, "clusters at a time")
	show := fs.Int("show", 2, "diverging steps to print a session")
	wakes := fs.Bool("wakes", false, "compare the queue counters too (needs --metrics-url)")
	verb := fs.Bool("v", false, "tell each step")
	js := fs.String("json", "", "write the differences here")
	fs.StringVar(&o.Command, "scheduler", "", "command of the scheduler under test; {config} {config:FILE} {kubeconfig} {token-kubeconfig} {server} {token} {ca} {port} {dir} {name} are filled in")
	fs.StringVar(&o.MetricsURL, "metrics-url", "", "its metrics, may hold {port}")
	fs.DurationVar(&o.Grace, "grace", 4*time.Second, "where a state differs, wait this much longer for it to come right (told as late)")
	fs.IntVar(&o.StopAfter, "stop-after", 0, "end a session after so many diverging steps (0: never)")
	fs.Parse(args)
	if o.Command == "" {
		return fmt.Errorf("--scheduler is missing")
	}
	o.Command = strings.ReplaceAll(o.Command, "{bin}", o.BinDir)
	files, err := goldenFiles(*dir, *seeds)
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no golden files in %s (%v)", *dir, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	good, bad, broken, late, steps, badSteps := 0, 0, 0, 0, 0, 0
	all := map[string][]Diff{}
	each(ctx, files, *par, func(f string) {
		want, err := readSession(f)
		if err != nil {
			say("%s: %v", f, err)
			outMu.Lock()
			broken++
			outMu.Unlock()
			return
		}
		p := func(string) {}
		if *verb {
			p = func(m string) { say("seed %d %s", want.Seed, m) }
		}
		r, err := runSession(ctx, o, want.Seed, 0, want, p)
		if err != nil {
			say("seed %d: NOT RUN to its end: %v", want.Seed, err)
			outMu.Lock()
			broken++
			outMu.Unlock()
			return
		}
		if len(r.Diffs) == 0 {
			m := ""
			if len(r.Late) > 0 {
				m = fmt.Sprintf(", late in steps %v", r.Late)
			}
			say("seed %d: same, %d steps, %.0f s%s", want.Seed, len(want.Steps), r.S.Seconds, m)
		} else {
			say("seed %d: DIFFERENT in %d of %d steps, %.0f s\n%s", want.Seed, len(r.Diffs), len(want.Steps), r.S.Seconds, report(want, r, *show))
		}
		if *wakes {
			for i := range r.S.Steps {
				if a, b := wakeups(want.Steps[i].Wake), wakeups(r.S.Steps[i].Wake); fmt.Sprint(a) != fmt.Sprint(b) {
					say("  step %d: %s\n    queue: golden %v\n           here   %v", i+1, want.Steps[i].Ops[len(want.Steps[i].Ops)-1].Note, a, b)
				}
			}
		}
		outMu.Lock()
		defer outMu.Unlock()
		steps += len(r.S.Steps)
		late += len(r.Late)
		badSteps += len(r.Diffs)
		if len(r.Diffs) > 0 {
			bad++
			all[fmt.Sprint(want.Seed)] = r.Diffs
		} else {
			good++
		}
	})
	if *js != "" {
		b, _ := json.MarshalIndent(all, "", " ")
		os.WriteFile(*js, b, 0o644)
	}
	fmt.Printf("%d sessions the same, %d different, %d not run to their end; %d of %d steps differ, %d late\n", good, bad, broken, badSteps, steps, late)
	if bad+broken > 0 || ctx.Err() != nil {
		os.Exit(1)
	}
	return nil
}

func show(args []string) error {
	if len(args) < 1 {
		usage()
	}
	s, err := readSession(args[0])
	if err != nil {
		return err
	}
	only := 0
	if len(args) > 1 {
		only, _ = strconv.Atoi(args[1])
	}
	fmt.Printf("seed %d, config %s, %.0f s\n", s.Seed, s.Config, s.Seconds)
	if only == 0 {
		for _, op := range s.Setup {
			fmt.Println("setup:", op.Note)
		}
	}
	for i, st := range s.Steps {
		if only > 0 && i+1 != only {
			continue
		}
		fmt.Printf("step %d (%d ms)\n", i+1, st.MS)
		for j, op := range st.Ops {
			fmt.Printf("  %s  -> %d\n", op.Note, st.Codes[j])
			if only > 0 {
				fmt.Printf("    %s %s\n    %s\n", op.Method, op.Path, op.Body)
			}
		}
		var keys []string
		for k := range st.Delta {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		for _, k := range keys {
			fmt.Printf("    %s\n", k)
			var fl []string
			for f := range st.Delta[k] {
				fl = append(fl, f)
			}
			sort.Strings(fl)
			for _, f := range fl {
				fmt.Printf("      %s: %s\n", f, strings.ReplaceAll(st.Delta[k][f], "\n", "\n              "))
			}
		}
		if len(st.Wake) > 0 {
			fmt.Printf("    queue: %v\n", st.Wake)
		}
	}
	return nil
}

func stats(args []string) error {
	fs := flag.NewFlagSet("stats", flag.ExitOnError)
	dir := fs.String("golden", "golden", "folder of the golden files")
	fs.Parse(args)
	files, err := goldenFiles(*dir, "")
	if err != nil {
		return err
	}
	sum, in, secs := map[string]int{}, map[string]int{}, 0.0
	conf := map[string]int{}
	for _, f := range files {
		s, err := readSession(f)
		if err != nil {
			return err
		}
		secs += s.Seconds
		conf[s.Config]++
		for k, v := range counts(s) {
			sum[k] += v
			in[k]++
		}
	}
	if len(files) == 0 {
		return fmt.Errorf("no golden files in %s", *dir)
	}
	if err := writeIndex(*dir); err != nil {
		return err
	}
	fmt.Printf("%d sessions, %.0f s each on average, configs %v\n", len(files), secs/float64(len(files)), conf)
	var keys []string
	for k := range sum {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		fmt.Printf("%6d  %s (in %d sessions)\n", sum[k], k, in[k])
	}
	return nil
}
