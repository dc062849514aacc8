package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"berth/e2e/controlplane/local"
)

// RunOpts is one measurement.
type RunOpts struct {
	Workload   string
	P          Params
	Scheduler  string // command
	Label      string
	Init       string // direct | scheduler
	Rate       float64
	Backlog    bool
	Creators   int
	Timeout    time.Duration
	Stall      time.Duration
	Ready      time.Duration
	ReadyURL   string
	MetricsURL string
	Objects    []string
	Settle     time.Duration
	QuietWait  time.Duration
	Tries      int
	MaxForeign float64
	Gang       string
	GangObj    string
	GangPod    string
	Cluster    local.Options
	ClusterDir string // an existing cluster instead of a fresh one
	LogDir     string
	JSON       string
	Quiet      bool
}

func (o *RunOpts) flags(fs *flag.FlagSet) {
	fs.StringVar(&o.Workload, "workload", "basic", "one of: "+strings.Join(workloadNames(), ", "))
	fs.IntVar(&o.P.Nodes, "nodes", 500, "nodes")
	fs.IntVar(&o.P.InitPods, "init-pods", -1, "pods that are there from the start (-1: the workload's own number)")
	fs.IntVar(&o.P.Pods, "pods", -1, "measured pods (-1: the workload's own number)")
	fs.IntVar(&o.P.Pending, "pending", -1, "pods that must stay pending (-1: the workload's own number)")
	fs.IntVar(&o.P.Zones, "zones", 3, "zones")
	fs.IntVar(&o.P.Templates, "templates", 100, "pod templates of many-deployments and many-replicasets")
	fs.IntVar(&o.P.GroupSize, "group-size", 10, "pods of a gang")
	fs.StringVar(&o.Init, "init", "direct", "init pods: direct (created with nodeName) or scheduler")
	fs.Float64Var(&o.Rate, "rate", 0, "create at this rate a second (0: as fast as possible)")
	fs.BoolVar(&o.Backlog, "backlog", false, "create all measured pods before the scheduler starts: the API server's part in the measured phase is then the bindings alone")
	fs.IntVar(&o.Creators, "creators", 8, "concurrent create calls")
	fs.DurationVar(&o.Timeout, "timeout", 10*time.Minute, "end of the measured phase at the latest")
	fs.DurationVar(&o.Stall, "stall", 60*time.Second, "end the measured phase when nothing was bound for so long")
	fs.DurationVar(&o.Ready, "ready-timeout", 3*time.Minute, "the scheduler must bind the canary pod in this time")
	fs.DurationVar(&o.Settle, "settle", 2*time.Second, "wait before and after the measured phase")
	fs.DurationVar(&o.QuietWait, "quiet-wait", 0, "on a shared machine: wait up to this long for a moment in which foreign processes use under 0.3 cores, before measuring")
	fs.IntVar(&o.Tries, "tries", 1, "on a shared machine: repeat up to so many times until foreign processes used at most --max-foreign cores in the measured phase; the quietest run counts")
	fs.Float64Var(&o.MaxForeign, "max-foreign", 0.15, "see --tries")
	fs.Var((*multi)(&o.Objects), "objects", "YAML file to create before the scheduler starts: CRDs, RBAC (repeatable)")
	fs.StringVar(&o.Gang, "gang-flavor", "k8s", "gang workload: none, k8s (scheduling.k8s.io/v1beta1), template")
	fs.StringVar(&o.GangObj, "gang-object", "", "flavor template: Go template of the group object(s)")
	fs.StringVar(&o.GangPod, "gang-pod", "", "flavor template: Go template of a patch for each pod")
	fs.StringVar(&o.ClusterDir, "cluster", "", "use the cluster of this folder (bench cluster up --dir) and clean it first, instead of a fresh one")
	fs.StringVar(&o.LogDir, "log-dir", "", "keep the logs here")
	clusterFlags(&o.Cluster, fs)
}

func (o *RunOpts) logf(f string, a ...any) {
	if !o.Quiet {
		fmt.Fprintf(os.Stderr, "[%s] "+f+"\n", append([]any{time.Now().Format("15:04:05")}, a...)...)
	}
}
