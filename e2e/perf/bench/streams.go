package main

import (
	"context"
	"fmt"
	"os"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Workloads in which the cluster does not stand still while pods arrive.

const churnedNode = "bench-churn-node-%05d"

func init() {
	register(&Workload{
		Name: "updates", Doc: "plain pods while 200 times a second a placed pod's labels change or a placed pod goes",
		Fit:  fitDefaults(times(2), func(n int) int { return min(max(2*n, 10), 5000) }),
		Init: plainInit, Measure: plain, VictimsOK: true,
		Background: func(ctx context.Context, e *Env) { e.every(ctx, 200, e.changePod) },
	})
	register(&Workload{
		Name: "node-churn", Doc: "plain pods while 20 times a second a node comes, goes, is tainted or gets another label",
		Fit: usual, Init: plainInit, Measure: plain,
		Background: func(ctx context.Context, e *Env) { e.every(ctx, 20, e.changeNode) },
	})
	register(&Workload{
		Name: "shared-selectors", Doc: "--templates (100) pod templates in turn whose spread and affinity count the pods of all of them",
		Fit: usual,
		Init: func(p *Params, i int) (*v1.Pod, int) {
			pd, at := plainInit(p, i)
			pd.Labels["color"] = "purple"
			return pd, at
		},
		Measure: func(p *Params, i int) *v1.Pod {
			t := i % p.Templates
			pd := request(plain(p, i), fmt.Sprintf("%dm", 50+5*t), "128Mi")
			pd.Labels["app"] = fmt.Sprintf("app-%03d", t)
			spread(pd, 5, zoneKey, v1.ScheduleAnyway)
			pd.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{
				PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{
					{Weight: 10, PodAffinityTerm: affinityTerm("purple", hostKey)}}}}
			return pd
		},
	})
	register(&Workload{
		Name: "waiting", Doc: "10,000 pods of ten kinds wait for CPU, while nodes that help none of them change and plain pods arrive",
		Fit: func(p *Params) error {
			def(&p.InitPods, max(p.Nodes/50, 1))
			def(&p.Pods, min(max(2*p.Nodes, 10), 5000))
			def(&p.Pending, 10000)
			return nil
		},
		Setup: priorityClasses, Init: plainInit, Measure: plain,
		Pending: func(p *Params, i int) *v1.Pod {
			pd := request(pod(p, rolePending, nsMeasure, i, nil), fmt.Sprint(9+i%10), "500Mi")
			pd.Spec.PriorityClassName = prioHigh
			return pd
		},
		AwaitAttempt: true,
		Background:   func(ctx context.Context, e *Env) { e.every(ctx, 10, e.changeNode) },
	})
}

// every calls f with 0, 1, ... at a rate a second until the context ends.
func (e *Env) every(ctx context.Context, rate float64, f func(ctx context.Context, i int) error) {
	t := time.NewTicker(time.Duration(float64(time.Second) / rate))
	defer t.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if err := f(ctx, i); err != nil && ctx.Err() == nil {
				fmt.Fprintln(os.Stderr, "change:", err)
			}
		}
	}
}

// changePod labels an init pod, or deletes one each fourth time.
func (e *Env) changePod(ctx context.Context, i int) error {
	pods := e.cs.CoreV1().Pods(nsInit)
	if i%4 == 3 {
		if i/4 >= e.P.InitPods/2 {
			return nil
		}
		zero := int64(0)
		return pods.Delete(ctx, fmt.Sprintf("%s-%06d", roleInit, i/4), metav1.DeleteOptions{GracePeriodSeconds: &zero})
	}
	kept := e.P.InitPods / 2 // the other half is not deleted
	name := fmt.Sprintf("%s-%06d", roleInit, kept+i%max(e.P.InitPods-kept, 1))
	patch := fmt.Sprintf(`{"metadata":{"labels":{"bench.dev/turn":"%d"}}}`, i)
	_, err := pods.Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// changeNode adds a node that takes no pods, labels it, taints it again and removes it, in turn.
func (e *Env) changeNode(ctx context.Context, i int) error {
	nodes := e.cs.CoreV1().Nodes()
	name := fmt.Sprintf(churnedNode, i/4)
	switch i % 4 {
	case 0:
		n := baseNode(&e.P, i/4)
		n.Name = name
		n.Labels[hostKey] = name
		n.Spec.Taints = []v1.Taint{{Key: "bench.dev/leaving", Effect: v1.TaintEffectNoSchedule}}
		b, err := encode(n)
		if err != nil {
			return err
		}
		return e.post(ctx, "", "nodes", b)
	case 1:
		patch := fmt.Sprintf(`{"metadata":{"labels":{"bench.dev/turn":"%d"}}}`, i)
		_, err := nodes.Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	case 2:
		patch := `{"spec":{"taints":[{"key":"bench.dev/leaving","value":"soon","effect":"NoSchedule"}]}}`
		_, err := nodes.Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	default:
		return nodes.Delete(ctx, name, metav1.DeleteOptions{})
	}
}
