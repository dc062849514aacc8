package main

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

func newState() *framework.CycleState {
	s := framework.NewCycleState()
	s.Write(framework.PodsToActivateKey, framework.NewPodsToActivate())
	return s
}

type oneRun struct {
	ctx      context.Context
	sched    *scheduler.Scheduler
	fw       framework.Framework
	snapshot *internalcache.Snapshot
	pod      *v1.Pod
	qpi      *framework.QueuedPodInfo
	res      *result
	rec      *recorder
	logger   klog.Logger
	// firstMessage is the error of the scheduling attempt before PostFilter.
	firstMessage string
}

// fail ends the attempt with an error that is not a FitError.
func (o *oneRun) fail(err error) {
	o.firstMessage = err.Error()
	o.res.Message = err.Error()
	o.res.Reason = v1.PodReasonSchedulerError
}

// schedule takes the steps of Scheduler.schedulePod, on all nodes, and keeps the
// intermediate results that the scheduler itself throws away.
func (o *oneRun) schedule() {
	res, ctx, fw, pod := o.res, o.ctx, o.fw, o.pod
	state := newState()
	all, err := o.snapshot.NodeInfos().List()
	if err != nil {
		o.fail(err)
		return
	}
	if len(all) == 0 {
		o.firstMessage = scheduler.ErrNoNodesAvailable.Error()
		res.Message = o.firstMessage
		res.Reason = v1.PodReasonUnschedulable
		return
	}
	diag := framework.Diagnosis{NodeToStatus: framework.NewDefaultNodeToStatus()}
	preRes, st, by := fw.RunPreFilterPlugins(ctx, state, pod)
	diag.UnschedulablePlugins = by
	res.PreFilter = &preFilterStatus{Code: st.Code().String(), Plugin: pluginOf(st), Reasons: reasonsOf(st),
		RestrictedBy: sets.List(by), SkippedFilter: sets.List(state.GetSkipFilterPlugins())}
	if !st.IsSuccess() {
		if !st.IsRejected() {
			o.fail(st.AsError())
			return
		}
		diag.NodeToStatus.SetAbsentNodesStatus(st)
		diag.PreFilterMsg = st.Message()
		diag.AddPluginStatus(st)
		for _, ni := range all {
			res.Infeasible[ni.Node().Name] = statusOf(st)
		}
		o.unschedulable(state, diag, len(all))
		return
	}

	filter := func(nodes []fwk.NodeInfo, d *framework.Diagnosis, record bool) ([]fwk.NodeInfo, error) {
		var feasible []fwk.NodeInfo
		var firstErr error
		for _, ni := range nodes {
			st := fw.RunFilterPluginsWithNominatedPods(ctx, state, pod, ni)
			switch {
			case st.IsSuccess():
				feasible = append(feasible, ni)
				continue
			case st.Code() == fwk.Error:
				if firstErr == nil {
					firstErr = st.AsError()
				}
			default:
				d.NodeToStatus.Set(ni.Node().Name, st)
				d.AddPluginStatus(st)
			}
			if record {
				res.Infeasible[ni.Node().Name] = statusOf(st)
			}
		}
		return feasible, firstErr
	}

	var feasible []fwk.NodeInfo
	if nnn := pod.Status.NominatedNodeName; nnn != "" {
		if ni, err := o.snapshot.NodeInfos().Get(nnn); err == nil {
			if f, err := filter([]fwk.NodeInfo{ni}, &diag, false); err == nil {
				feasible = f
			}
		}
		res.NominatedPath = len(feasible) > 0
	}
	if len(feasible) == 0 {
		nodes := all
		if !preRes.AllNodes() {
			names := sets.List(preRes.NodeNames)
			res.PreFilter.NodeNames = &names
			nodes = nil
			for _, n := range names {
				if ni, err := o.snapshot.NodeInfos().Get(n); err == nil {
					nodes = append(nodes, ni)
				}
			}
			absent := fwk.NewStatus(fwk.UnschedulableAndUnresolvable, fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", sets.List(by)))
			diag.NodeToStatus.SetAbsentNodesStatus(absent)
			for _, ni := range all {
				if !preRes.NodeNames.Has(ni.Node().Name) {
					s := statusOf(absent)
					s.Restricted = true
					s.Plugin = strings.Join(sets.List(by), ",")
					res.Infeasible[ni.Node().Name] = s
				}
			}
		}
		feasible, err = filter(nodes, &diag, true)
		if err != nil {
			o.fail(err)
			return
		}
	}
	if len(feasible) == 0 {
		o.unschedulable(state, diag, len(all))
		return
	}

	// Scoring. The scheduler doesn't score a single feasible node; here it is
	// scored all the same, so that there is more to compare.
	res.ScoreSkipped = len(feasible) == 1
	scoreErr := func(err error) bool {
		if len(feasible) == 1 {
			n := feasible[0].Node().Name
			res.Feasible[n] = nodeScore{Plugins: map[string]int64{}}
			res.Best = []string{n}
			return true
		}
		o.fail(err)
		return true
	}
	if !fw.HasScorePlugins() {
		for _, ni := range feasible {
			res.Feasible[ni.Node().Name] = nodeScore{Total: 1, Plugins: map[string]int64{}}
			res.Best = append(res.Best, ni.Node().Name)
		}
		sort.Strings(res.Best)
		return
	}
	if st := fw.RunPreScorePlugins(ctx, state, pod, feasible); !st.IsSuccess() {
		scoreErr(st.AsError())
		return
	}
	res.PreScoreSkip = sets.List(state.GetSkipScorePlugins())
	scores, st := fw.RunScorePlugins(ctx, state, pod, feasible)
	if !st.IsSuccess() {
		scoreErr(st.AsError())
		return
	}
	var top int64
	for i, s := range scores {
		ns := nodeScore{Total: s.TotalScore, Plugins: map[string]int64{}, Raw: map[string]int64{}}
		for _, p := range s.Scores {
			ns.Plugins[p.Name] = p.Score
		}
		if raw, st := fw.RunRawScorePlugins(ctx, state, pod, feasible[i]); st.IsSuccess() {
			for _, p := range raw {
				ns.Raw[p.Name] = p.Score
			}
		}
		res.Feasible[s.Name] = ns
		if i == 0 || s.TotalScore > top {
			top, res.Best = s.TotalScore, nil
		}
		if s.TotalScore == top {
			res.Best = append(res.Best, s.Name)
		}
	}
	sort.Strings(res.Best)
	o.reserve(state)
	if c := o.rec.controller; c != nil {
		o.bind(state, c)
	}
}

func (o *oneRun) unschedulable(state fwk.CycleState, diag framework.Diagnosis, n int) {
	res, ctx, fw := o.res, o.ctx, o.fw
	fitErr := &framework.FitError{Pod: o.pod, NumAllNodes: n, Diagnosis: diag}
	o.firstMessage = fitErr.Error()
	res.Reason = v1.PodReasonUnschedulable
	res.Unschedulable = sets.List(diag.UnschedulablePlugins)
	if fw.HasPostFilterPlugins() {
		// The candidates are found by the plugin's own dry run, before the real one.
		cands := o.candidates(state, diag)
		nominatedBefore := map[string][]fwk.PodInfo{}
		for _, c := range cands {
			nominatedBefore[c.Name()] = fw.NominatedPodsForNode(c.Name())
		}
		r, st := fw.RunPostFilterPlugins(ctx, state, o.pod, diag.NodeToStatus)
		fitErr.Diagnosis.PostFilterMsg = st.Message()
		pf := &postFilter{Code: st.Code().String(), Plugin: pluginOf(st), Message: st.Message(), Victims: []string{}, Deleted: []string{}}
		if r != nil && r.NominatingInfo != nil && r.NominatingInfo.Mode() == fwk.ModeOverride {
			name := r.NominatingInfo.NominatedNodeName
			pf.NominatedNode = &name
		}
		o.waitForPreemption()
		o.rec.mu.Lock()
		pf.Deleted = append(pf.Deleted, o.rec.deleted...)
		pf.DeallocatedClaims = append(pf.DeallocatedClaims, o.rec.claims...)
		o.rec.mu.Unlock()
		sort.Strings(pf.Deleted)
		if st.IsSuccess() && pf.NominatedNode != nil && *pf.NominatedNode != "" && len(cands) > 0 {
			ties := bestCandidates(cands)
			found := false
			for _, c := range ties {
				found = found || c.Name() == *pf.NominatedNode
				pf.Ties = append(pf.Ties, describe(c))
			}
			for _, c := range cands {
				pf.Candidates = append(pf.Candidates, describe(c))
				if c.Name() == *pf.NominatedNode {
					pf.Victims = describe(c).Victims
				}
			}
			byNode := func(x []candidate) { sort.Slice(x, func(i, j int) bool { return x[i].Node < x[j].Node }) }
			byNode(pf.Ties)
			byNode(pf.Candidates)
			if !found {
				res.Error += fmt.Sprintf("CHECK: nominated node %q is not among the ties", *pf.NominatedNode)
			}
			if got := slices.Sorted(slices.Values(pf.Victims)); !slices.Equal(got, pf.Deleted) && !o.someTerminating(pf.Victims) {
				res.Error += fmt.Sprintf("CHECK: victims %v but deleted %v", got, pf.Deleted)
			}
			prio := corev1helpers.PodPriority(o.pod)
			for _, p := range nominatedBefore[*pf.NominatedNode] {
				if corev1helpers.PodPriority(p.GetPod()) < prio {
					pf.ClearedNominations = append(pf.ClearedNominations, p.GetPod().Namespace+"/"+p.GetPod().Name)
				}
			}
			sort.Strings(pf.ClearedNominations)
		}
		res.PostFilter = pf
	}
	res.Message = fitErr.Error()
}
