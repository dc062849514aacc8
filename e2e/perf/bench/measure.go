package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"berth/e2e/controlplane/local"
)

// start starts the scheduler. With a backlog the measured phase begins just before.
func (m *measurement) start(ctx context.Context) error {
	port, err := local.FreePort()
	if err != nil {
		return err
	}
	m.fill = m.e.C.Placeholders(port, m.dir, m.o.P.Scheduler)
	line, err := local.Expand(m.o.Scheduler, m.fill, m.dir)
	if err != nil {
		return err
	}
	m.o.logf("scheduler: %s", line)
	m.e.tr.target.Store(int64(m.r.Expected))
	m.begin = takeSnap(m.e.tr, nil, m.e.C)
	if m.sched, err = startScheduler(line, filepath.Join(m.logs, "scheduler.log")); err != nil {
		return err
	}
	m.later(m.sched.stop)
	started := time.Now()
	if m.o.ReadyURL != "" {
		if err := local.WaitHTTP(ctx, m.fill.Replace(m.o.ReadyURL), "", m.sched.Child, m.o.Ready); err != nil {
			return fmt.Errorf("scheduler: %w\n%s", err, m.sched.Tail(15))
		}
	}
	if m.o.Backlog {
		return nil
	}
	if err := m.e.waitCanary(ctx, m.sched, m.o.Ready); err != nil {
		return fmt.Errorf("%w\n%s", err, m.sched.Tail(15))
	}
	m.r.ReadyS = time.Since(started).Seconds()
	return nil
}

// warmUp gives the scheduler what it is to have done before the measured phase, and a moment of rest.
func (m *measurement) warmUp(ctx context.Context) error {
	o := m.o
	if o.Backlog {
		return nil
	}
	if o.Init == "scheduler" && o.P.InitPods > 0 {
		o.logf("the scheduler places the init pods")
		if err := m.initPods(ctx); err != nil {
			return err
		}
		if err := m.e.waitInit(ctx, m.sched, o.Timeout); err != nil {
			return err
		}
	}
	if !m.w.PendingFirst && o.P.Pending > 0 {
		if err := m.pendingPods(ctx); err != nil {
			return err
		}
		if m.w.AwaitAttempt {
			m.awaitAttempts(ctx)
		}
	}
	time.Sleep(o.Settle)
	runtime.GC()
	return nil
}

// awaitAttempts waits until each pending pod was tried, as long as there are more and more of these.
func (m *measurement) awaitAttempts(ctx context.Context) {
	tr, wanted := m.e.tr, m.o.P.Pending
	last, at := -1, time.Now()
	for ; ctx.Err() == nil && tr.triedCount() < wanted; time.Sleep(100 * time.Millisecond) {
		if n := tr.triedCount(); n != last {
			last, at = n, time.Now()
		}
		if time.Since(at) > 30*time.Second || m.sched.Exited() {
			m.r.Notes = append(m.r.Notes, fmt.Sprintf("only %d of %d pending pods got PodScheduled=False", tr.triedCount(), wanted))
			return
		}
	}
}

// measure is the measured phase, from the first creation to the last binding.
func (m *measurement) measure(ctx context.Context) error {
	o, e, r, sched := m.o, m.e, m.r, m.sched
	user, sys := cpuSession(sched.Pid)
	r.StartCPU = user + sys
	var before map[string]float64
	if o.MetricsURL != "" {
		before = scrape(m.fill.Replace(o.MetricsURL), e.C.Token)
	}
	bctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if m.w.Background != nil {
		go m.w.Background(bctx, e)
	}
	if o.QuietWait > 0 && !o.Backlog {
		waitQuiet(ctx, e.tr, sched, e.C, o.QuietWait)
	}
	calib := calibrate()
	o.logf("measuring %d pods", o.P.Pods)
	phase := time.Now()
	created := make(chan error, 1)
	if o.Backlog {
		created <- nil
	} else {
		m.begin = takeSnap(e.tr, sched, e.C)
		phase = time.Now()
		go func() {
			err := e.createMeasured(bctx, m.bodies, o.Rate)
			r.CreateS = time.Since(phase).Seconds()
			created <- err
		}()
	}
	r.Complete = e.await(bctx, sched, phase, o.Timeout, o.Stall, o.logf)
	end := takeSnap(e.tr, sched, e.C)
	createErr := <-created
	time.Sleep(o.Settle)
	after := takeSnap(e.tr, sched, e.C)
	cancel()
	r.CalibMs = (calib + calibrate()) / 2
	r.Procs = sched.sampleRSS()
	r.PeakRSSMiB = float64(sched.peakRSS()) / (1 << 20)
	r.APIRSSMiB = float64(vmHWM(e.C.APIPid)) / (1 << 20)
	if o.MetricsURL != "" {
		r.Metrics = metricDelta(before, scrape(m.fill.Replace(o.MetricsURL), e.C.Token))
	}
	if createErr != nil && !errors.Is(createErr, context.Canceled) {
		r.Notes = append(r.Notes, "create: "+createErr.Error())
	}
	if sched.Exited() {
		r.Notes = append(r.Notes, fmt.Sprintf("the scheduler ended: %v: %s", sched.Err(), sched.Tail(3)))
	}
	sched.stop()
	r.fill(e.tr, o, m.begin, end, after)
	if r.CreateS > 0 {
		r.CreateRPS = float64(o.P.Pods) / r.CreateS
	}
	return nil
}
