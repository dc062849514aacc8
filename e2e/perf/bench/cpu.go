package main

import (
	"context"
	"time"

	"berth/e2e/controlplane/local"
)

type snap struct {
	t                int64
	su, ss           float64
	au, as           float64
	eu, es           float64
	self, busy, stea float64
}

func takeSnap(t *tracker, sched *Scheduler, c *local.Cluster) snap {
	s := snap{t: t.now()}
	if sched != nil {
		s.su, s.ss = cpuSession(sched.Pid)
	}
	s.au, s.as = cpuSession(c.APIPid)
	s.eu, s.es = cpuSession(c.EtcdPid)
	s.self = selfCPU()
	s.busy, s.stea = machineCPU()
	return s
}

// waitQuiet waits for two seconds in which foreign processes use little CPU.
func waitQuiet(ctx context.Context, t *tracker, sched *Scheduler, c *local.Cluster, d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end) && ctx.Err() == nil; {
		a := takeSnap(t, sched, c)
		time.Sleep(2 * time.Second)
		b := takeSnap(t, sched, c)
		own := b.su + b.ss + b.au + b.as + b.eu + b.es + b.self - (a.su + a.ss + a.au + a.as + a.eu + a.es + a.self)
		if (b.busy-a.busy-own)/(float64(b.t-a.t)/1e9) < 0.3 {
			return
		}
	}
}
