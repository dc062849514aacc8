package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/e2e/controlplane/local"
)

// clusterUp starts a control plane, or takes and cleans the one that is there.
func (m *measurement) clusterUp(ctx context.Context) (err error) {
	o := m.o
	var c *local.Cluster
	if o.ClusterDir != "" {
		if c, err = local.Load(program, o.ClusterDir, clusterGrace); err != nil {
			return err
		}
	} else {
		if c, err = local.Up(o.Cluster); err != nil {
			return err
		}
		m.later(func() {
			if o.LogDir != "" {
				for _, f := range []string{"apiserver.log", "etcd.log", "apiserver.cmd", "etcd.cmd"} {
					if b, e := os.ReadFile(filepath.Join(c.Dir, f)); e == nil {
						os.WriteFile(filepath.Join(o.LogDir, f), b, 0o644)
					}
				}
			}
			c.Down()
		})
	}
	if err := prepareNamespaces(ctx, c, o.Cluster.SAAdmission, nsInit, nsMeasure, nsCanary); err != nil {
		return err
	}
	m.e = &Env{P: o.P, W: m.w, C: c, Gang: m.g, Creators: o.Creators}
	if m.e.rc, m.e.cs, err = newClient(c); err != nil {
		return err
	}
	if o.ClusterDir != "" {
		return m.e.clean(ctx)
	}
	return nil
}

// furnish creates all that there is before any pod: objects of the user's, nodes, what the workload needs, groups.
func (m *measurement) furnish(ctx context.Context) error {
	o, e := m.o, m.e
	for _, f := range o.Objects {
		b, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		if err := e.apply(ctx, b); err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
	}
	o.logf("%s: control plane up, creating %d nodes", m.w.Name, o.P.Nodes)
	if err := e.createNodes(ctx); err != nil {
		return fmt.Errorf("nodes: %w", err)
	}
	if m.w.Setup != nil {
		if err := m.w.Setup(ctx, e); err != nil {
			return fmt.Errorf("setup: %w", err)
		}
	}
	if !m.w.Gang {
		return nil
	}
	err := e.parallel(ctx, (o.P.Pods+o.P.GroupSize-1)/o.P.GroupSize, func(i int) error {
		return m.g.Group(ctx, e, gangName(i), o.P.GroupSize)
	})
	if err != nil {
		return fmt.Errorf("pod groups: %w", err)
	}
	return nil
}

// encode makes the measured pods.
func (m *measurement) encode(context.Context) (err error) {
	p := &m.o.P
	m.bodies = make([][]byte, p.Pods)
	for i := range m.bodies {
		pd := m.w.Measure(p, i)
		if m.w.Gang {
			if pd, err = m.g.Pod(pd, pd.Labels[gangLabel], p.GroupSize); err != nil {
				return err
			}
			pd.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
		}
		if m.bodies[i], err = encode(pd); err != nil {
			return err
		}
	}
	return nil
}

// populate creates the pods that are there from the start, and begins to watch.
func (m *measurement) populate(ctx context.Context) error {
	o, e := m.o, m.e
	if o.P.InitPods > 0 {
		o.logf("creating %d init pods (%s)", o.P.InitPods, o.Init)
	}
	if o.Init == "direct" {
		if err := m.initPods(ctx); err != nil {
			return err
		}
	}
	l, err := e.cs.CoreV1().Pods("").List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return err
	}
	e.tr = newTracker(e)
	wctx, cancel := context.WithCancel(ctx)
	m.later(cancel)
	if err := e.tr.run(wctx, l.ResourceVersion); err != nil {
		return err
	}
	if m.w.PendingFirst {
		return m.pendingPods(ctx)
	}
	return nil
}

func (m *measurement) initPods(ctx context.Context) error {
	p := &m.o.P
	err := m.e.parallel(ctx, p.InitPods, func(i int) error {
		pd, at := m.w.Init(p, i)
		if m.o.Init == "direct" {
			if at < 0 {
				return fmt.Errorf("init pods of %s cannot be assigned directly: --init scheduler", m.w.Name)
			}
			pd.Spec.NodeName = nodeName(at)
		}
		return m.e.createPod(ctx, pd)
	})
	if err != nil {
		return fmt.Errorf("init pods: %w", err)
	}
	return nil
}

func (m *measurement) pendingPods(ctx context.Context) error {
	p := &m.o.P
	if p.Pending == 0 {
		return nil
	}
	m.o.logf("creating %d pods that stay pending", p.Pending)
	err := m.e.parallel(ctx, p.Pending, func(i int) error { return m.e.createPod(ctx, m.w.Pending(p, i)) })
	if err != nil {
		return fmt.Errorf("pending pods: %w", err)
	}
	return nil
}

// backlog creates the measured pods where they are to be there before the scheduler; the setup ends here.
func (m *measurement) backlog(ctx context.Context) error {
	if m.o.Backlog {
		m.o.logf("creating the backlog of %d pods", m.o.P.Pods)
		start := time.Now()
		if err := m.e.createMeasured(ctx, m.bodies, m.o.Rate); err != nil {
			return fmt.Errorf("pods: %w", err)
		}
		m.r.CreateS = time.Since(start).Seconds()
		time.Sleep(m.o.Settle)
	}
	m.r.SetupS = time.Since(m.since).Seconds()
	return nil
}
