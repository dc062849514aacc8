package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"berth/e2e/controlplane/local"
)

// measurement is one run under way.
type measurement struct {
	o     RunOpts
	w     *Workload
	g     GangFlavor
	e     *Env
	r     *Result
	sched *Scheduler
	fill  *strings.Replacer // the placeholders of this run

	since  time.Time
	dir    string // of this run alone
	logs   string
	bodies [][]byte // the measured pods, encoded ahead, to cost little later
	begin  snap     // where the measured phase begins
	undo   []func() // the last one first
}

func runOnce(ctx context.Context, o RunOpts) (*Result, error) {
	m, err := newMeasurement(o)
	if err != nil {
		return nil, err
	}
	defer m.close()
	for _, step := range []func(context.Context) error{
		m.clusterUp, m.furnish, m.encode, m.populate, m.backlog, m.start, m.warmUp, m.measure,
	} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	if err := m.e.verify(ctx, m.r, m.o); err != nil {
		m.r.Notes = append(m.r.Notes, "verify: "+err.Error())
		m.r.Complete = false
	}
	return m.r, ctx.Err()
}

// newMeasurement checks what is asked for, and makes the folders.
func newMeasurement(o RunOpts) (*measurement, error) {
	m := &measurement{w: workloads[o.Workload], since: time.Now()}
	if m.w == nil {
		return nil, fmt.Errorf("unknown workload %q (%s)", o.Workload, strings.Join(workloadNames(), ", "))
	}
	if o.Scheduler == "" {
		return nil, errors.New("--scheduler is missing")
	}
	if o.P.Nodes < 1 || o.P.Zones < 1 || o.P.Templates < 1 || o.P.GroupSize < 1 {
		return nil, errors.New("--nodes, --zones, --templates and --group-size must be positive")
	}
	if err := m.w.Fit(&o.P); err != nil {
		return nil, err
	}
	var err error
	if m.g, err = gangFlavor(o.Gang, o.GangObj, o.GangPod); err != nil {
		return nil, err
	}
	if m.w.Cluster != nil {
		m.w.Cluster(&o.P, m.g, &o.Cluster)
	}
	m.o = o
	m.r = &Result{Label: o.Label, Workload: m.w.Name, Params: o.P, Command: o.Scheduler, When: m.since.UTC().Format(time.RFC3339),
		Init: o.Init, Mode: "burst", Expected: o.P.Pods}
	if m.w.Expect != nil {
		m.r.Expected = m.w.Expect(&o.P)
	}
	if o.Rate > 0 {
		m.r.Mode = fmt.Sprintf("rate %g/s", o.Rate)
	}
	if o.Backlog {
		m.r.Mode = "backlog"
	}
	if m.dir, err = os.MkdirTemp(local.TempBase(program), "bench-run-"); err != nil {
		return nil, err
	}
	m.later(func() { os.RemoveAll(m.dir) })
	m.logs = m.dir
	if o.LogDir != "" {
		m.logs = o.LogDir
		if err := os.MkdirAll(m.logs, 0o755); err != nil {
			m.close()
			return nil, err
		}
	}
	return m, nil
}

// later has something undone at the end.
func (m *measurement) later(f func()) { m.undo = append(m.undo, f) }

func (m *measurement) close() {
	for ; len(m.undo) > 0; m.undo = m.undo[:len(m.undo)-1] {
		m.undo[len(m.undo)-1]()
	}
}
