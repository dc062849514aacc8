package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

const kubeCommand = `{bin}/kube-scheduler --config {config} --authentication-kubeconfig {kubeconfig} --authorization-kubeconfig {kubeconfig} --secure-port {port} --bind-address 127.0.0.1`

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
