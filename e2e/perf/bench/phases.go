package main

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// createMeasured sends the encoded pods, at a rate or as fast as possible.
func (e *Env) createMeasured(ctx context.Context, bodies [][]byte, rate float64) error {
	start := time.Now()
	var sent atomic.Int64
	return e.parallel(ctx, len(bodies), func(i int) error {
		if rate > 0 {
			if d := time.Until(start.Add(time.Duration(float64(i) / rate * float64(time.Second)))); d > 0 {
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(d):
				}
			}
		}
		atomic.StoreInt64(&e.tr.pods[i].sent, max(e.tr.now(), 1))
		sent.Add(1)
		return e.post(ctx, nsMeasure, "pods", bodies[i])
	})
}

// await waits for the expected number of bindings, the timeout or a stall.
func (e *Env) await(ctx context.Context, sched *Scheduler, phase time.Time, timeout, stall time.Duration, logf func(string, ...any)) bool {
	t := e.tr
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	lastLog := time.Now()
	for {
		select {
		case <-t.done:
			return true
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
		n, last := t.boundCount()
		quiet := time.Since(phase)
		if last > 0 {
			quiet = min(quiet, time.Duration(t.now()-last))
		}
		if time.Since(lastLog) > 15*time.Second {
			logf("%d bound after %.0f s", n, time.Since(phase).Seconds())
			lastLog = time.Now()
		}
		if sched.Exited() || time.Since(phase) > timeout || quiet > stall {
			logf("giving up: %d bound after %.0f s", n, time.Since(phase).Seconds())
			return false
		}
	}
}

// waitCanary creates a pod without requests and waits till the scheduler binds
// it: readiness in the one sense that all schedulers share.
func (e *Env) waitCanary(ctx context.Context, sched *Scheduler, d time.Duration) error {
	zero := int64(0)
	end := time.After(d)
	pd := pod(&e.P, roleCanary, nsCanary, int(time.Now().UnixNano()%1e6), nil)
	pd.Spec.TerminationGracePeriodSeconds = &zero
	pd.Spec.Containers[0].Resources = v1.ResourceRequirements{}
	pd.Spec.Containers[0].Ports = nil
	if err := e.createPod(ctx, pd); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-sched.Done():
			return fmt.Errorf("the scheduler ended at start: %v", sched.Err())
		case <-end:
			return fmt.Errorf("the scheduler did not bind the canary pod in %s", d)
		case name := <-e.tr.canary:
			if name == pd.Name {
				return e.cs.CoreV1().Pods(nsCanary).Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &zero})
			}
		}
	}
}

func (e *Env) waitInit(ctx context.Context, sched *Scheduler, d time.Duration) error {
	for end := time.Now().Add(d); time.Now().Before(end) && ctx.Err() == nil && !sched.Exited(); time.Sleep(200 * time.Millisecond) {
		n := 0
		e.tr.mu.Lock()
		for k := range e.tr.bindOf {
			if strings.HasPrefix(k, nsInit+"/") {
				n++
			}
		}
		e.tr.mu.Unlock()
		if n >= e.P.InitPods {
			return nil
		}
	}
	return fmt.Errorf("the scheduler did not place the %d init pods", e.P.InitPods)
}

// clean empties a reused cluster.
func (e *Env) clean(ctx context.Context) error {
	zero := int64(0)
	del := metav1.DeleteOptions{GracePeriodSeconds: &zero}
	for _, ns := range []string{nsInit, nsMeasure, nsCanary} {
		if err := e.cs.CoreV1().Pods(ns).DeleteCollection(ctx, del, metav1.ListOptions{}); err != nil {
			return err
		}
		if err := e.cs.CoreV1().PersistentVolumeClaims(ns).DeleteCollection(ctx, del, metav1.ListOptions{}); err != nil {
			return err
		}
		e.cs.EventsV1().Events(ns).DeleteCollection(ctx, del, metav1.ListOptions{})
		e.cs.SchedulingV1beta1().PodGroups(ns).DeleteCollection(ctx, del, metav1.ListOptions{})
	}
	if err := e.cs.CoreV1().PersistentVolumes().DeleteCollection(ctx, del, metav1.ListOptions{}); err != nil {
		return err
	}
	e.cs.StorageV1().CSINodes().DeleteCollection(ctx, del, metav1.ListOptions{})
	return e.cs.CoreV1().Nodes().DeleteCollection(ctx, del, metav1.ListOptions{})
}
