package main

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	"k8s.io/kubernetes/pkg/scheduler/util"
)

func (o *oneRun) someTerminating(names []string) bool {
	lister := o.fw.SharedInformerFactory().Core().V1().Pods().Lister()
	for _, n := range names {
		ns, name, _ := strings.Cut(n, "/")
		if p, err := lister.Pods(ns).Get(name); err == nil && p.DeletionTimestamp != nil {
			return true
		}
	}
	return false
}

func (o *oneRun) preemptionPlugin() *defaultpreemption.DefaultPreemption {
	for _, pl := range o.fw.PreEnqueuePlugins() {
		if dp, ok := pl.(*defaultpreemption.DefaultPreemption); ok {
			return dp
		}
	}
	return nil
}

// candidates asks DefaultPreemption's evaluator for all candidates, with
// neither offset nor limit.
func (o *oneRun) candidates(state fwk.CycleState, diag framework.Diagnosis) []preemption.Candidate {
	dp := o.preemptionPlugin()
	if dp == nil || state.ShouldSkipAllPostFilterPlugins() {
		return nil
	}
	if ok, _ := dp.PodEligibleToPreemptOthers(o.ctx, o.pod, diag.NodeToStatus.Get(o.pod.Status.NominatedNodeName)); !ok {
		return nil
	}
	nodes, err := diag.NodeToStatus.NodesForStatusCode(o.snapshot.NodeInfos(), fwk.Unschedulable)
	if err != nil || len(nodes) == 0 {
		return nil
	}
	pdbs, err := dp.Evaluator.PdbLister.List(labels.Everything())
	if err != nil {
		return nil
	}
	cands, _, _ := dp.Evaluator.DryRunPreemption(o.ctx, state, o.pod, nodes, pdbs, 0, int32(len(nodes)))
	return cands
}

func (o *oneRun) waitForPreemption() {
	dp := o.preemptionPlugin()
	if dp == nil {
		return
	}
	for i := 0; dp.Executor.IsPodRunningPreemption(o.pod.UID); i++ {
		if i < 100 {
			time.Sleep(20 * time.Microsecond)
		} else {
			time.Sleep(time.Millisecond)
		}
		if i > 3000 {
			o.res.Error += "preemption didn't finish"
			return
		}
	}
}

func describe(c preemption.Candidate) candidate {
	d := candidate{Node: c.Name(), Victims: []string{}, PDBViolations: c.Victims().NumPDBViolations}
	for _, p := range c.Victims().Pods {
		d.Victims = append(d.Victims, p.Namespace+"/"+p.Name)
	}
	return d
}

// bestCandidates returns the candidates that no other candidate beats.
func bestCandidates(cands []preemption.Candidate) []preemption.Candidate {
	type key [5]int64
	keys := make([]key, len(cands))
	for i, c := range cands {
		v := c.Victims()
		k := key{v.NumPDBViolations, int64(corev1helpers.PodPriority(v.Pods[0])), 0, int64(len(v.Pods)), 0}
		for _, p := range v.Pods {
			k[2] += int64(corev1helpers.PodPriority(p)) + 1<<31
		}
		if t := util.GetEarliestPodStartTime(v); t != nil {
			k[4] = -t.UnixNano()
		}
		keys[i] = k
	}
	best := keys[0]
	for _, k := range keys {
		if slices.Compare(k[:], best[:]) < 0 {
			best = k
		}
	}
	var out []preemption.Candidate
	for i, k := range keys {
		if k == best {
			out = append(out, cands[i])
		}
	}
	return out
}
