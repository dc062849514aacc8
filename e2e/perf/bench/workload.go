package main

import (
	"context"
	"sort"

	v1 "k8s.io/api/core/v1"

	"berth/e2e/controlplane/local"
)

// Params size a run; -1 in InitPods, Pods and Pending means the workload's own default.
type Params struct {
	Nodes     int    `json:"nodes"`
	InitPods  int    `json:"initPods"`
	Pods      int    `json:"pods"`
	Pending   int    `json:"pending"` // pods that are expected to stay pending
	Zones     int    `json:"zones"`
	Templates int    `json:"templates"` // many-deployments
	GroupSize int    `json:"groupSize"` // gang
	Scheduler string `json:"schedulerName"`
}

const (
	roleLabel   = "bench.dev/role"
	roleInit    = "init"
	rolePending = "pending"
	roleMeasure = "measure"
	roleCanary  = "canary"
	roleChurn   = "churn"
	gangLabel   = "bench.dev/gang"

	nsInit    = "bench-0"
	nsMeasure = "bench-1"
	nsCanary  = "bench-canary"

	zoneKey  = "topology.kubernetes.io/zone"
	hostKey  = "kubernetes.io/hostname"
	csiName  = "ebs.csi.aws.com"
	scLocal  = "bench-local"
	prioHigh = "bench-high"
	prioLow  = "bench-low"
)

// Workload is one scenario. Only Measure is required; the rest has defaults.
type Workload struct {
	Name, Doc string
	// Fit fills the params that were left at -1 and rejects impossible sizes.
	Fit func(p *Params) error
	// Node changes node i before its creation.
	Node func(p *Params, i int, n *v1.Node)
	// Setup creates what the pods need, once the nodes are there.
	Setup func(ctx context.Context, e *Env) error
	// Init is the i-th pod that is there from the start, on node index at
	// (used when the init pods are assigned directly; at<0: cannot be).
	Init func(p *Params, i int) (pod *v1.Pod, at int)
	// Pending is the i-th pod that is created ahead and must stay unbound.
	Pending func(p *Params, i int) *v1.Pod
	// PendingFirst: create the pending pods before the scheduler starts.
	PendingFirst bool
	// AwaitAttempt: measure only when each pending pod has been tried (PodScheduled=False).
	AwaitAttempt bool
	Measure      func(p *Params, i int) *v1.Pod
	// Background runs during the measured phase (churn, fake controllers).
	Background func(ctx context.Context, e *Env)
	// Expect is the number of measured pods that must be bound (default: all).
	Expect func(p *Params) int
	// Before the cluster starts: feature gates and the like.
	Cluster func(p *Params, g GangFlavor, o *local.Options)
	// VictimsOK: deletions of init pods are part of the game.
	VictimsOK bool
	Gang      bool
}

func def(v *int, d int) {
	if *v < 0 {
		*v = d
	}
}

func fitDefaults(init, pods func(n int) int) func(*Params) error {
	return func(p *Params) error {
		def(&p.InitPods, init(p.Nodes))
		def(&p.Pods, pods(p.Nodes))
		def(&p.Pending, 0)
		return nil
	}
}

func times(f float64) func(int) int { return func(n int) int { return max(1, int(f*float64(n))) } }

// the share of scheduler_perf: 500 nodes 500 init 1000 measured
var usual = fitDefaults(times(1), func(n int) int { return min(max(2*n, 10), 5000) })

var workloads = map[string]*Workload{}

func register(w *Workload) { workloads[w.Name] = w }

func workloadNames() []string {
	var s []string
	for n := range workloads {
		s = append(s, n)
	}
	sort.Strings(s)
	return s
}
