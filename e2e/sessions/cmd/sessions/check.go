package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

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
