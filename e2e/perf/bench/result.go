package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"sort"
	"strings"
	"sync/atomic"
)

// Result is what a run reports; durations in seconds or ms as named.
type Result struct {
	Label     string  `json:"label"`
	Workload  string  `json:"workload"`
	Params    Params  `json:"params"`
	Command   string  `json:"command"`
	When      string  `json:"when"`
	Init      string  `json:"init"`
	Mode      string  `json:"mode"` // burst | rate N/s | backlog
	Complete  bool    `json:"complete"`
	Bound     int     `json:"bound"`
	Expected  int     `json:"expected"`
	SetupS    float64 `json:"setup_s"`
	ReadyS    float64 `json:"ready_s"` // scheduler start to first canary bound
	CreateS   float64 `json:"create_s"`
	CreateRPS float64 `json:"create_rps"`

	DurationS     float64   `json:"duration_s"` // first creation to last bind
	Throughput    float64   `json:"throughput"`
	BindPhaseRate float64   `json:"bind_phase_throughput"` // first bind to last bind
	Samples       []float64 `json:"samples"`               // pods bound in each second
	SampleAvg     float64   `json:"sample_avg"`
	SampleP50     float64   `json:"sample_p50"`
	SampleP90     float64   `json:"sample_p90"`
	SampleP99     float64   `json:"sample_p99"`

	Latency      Dist `json:"latency_ms"`       // create call sent to bind seen
	LatencyWatch Dist `json:"latency_watch_ms"` // ADDED seen to bind seen

	Sched        CPU     `json:"scheduler_cpu"`
	SchedMsPod   float64 `json:"scheduler_cpu_ms_per_pod"`
	SettledMs    float64 `json:"scheduler_cpu_ms_per_pod_settled"` // with the work after the last bind
	StartCPU     float64 `json:"scheduler_cpu_startup_s"`
	PeakRSSMiB   float64 `json:"scheduler_peak_rss_mib"`
	Procs        int     `json:"scheduler_processes"`
	APIServer    CPU     `json:"apiserver_cpu"`
	Etcd         CPU     `json:"etcd_cpu"`
	APIRSSMiB    float64 `json:"apiserver_peak_rss_mib"`
	BenchCPU     float64 `json:"bench_cpu_s"`
	ForeignCPU   float64 `json:"foreign_cpu_s"` // other processes of the machine, and the kernel
	ForeignCores float64 `json:"foreign_cores"`
	StealCPU     float64 `json:"steal_cpu_s"`
	CalibMs      float64 `json:"calib_ms"`     // CPU ms of a fixed piece of work, mean of before and after
	Busy         float64 `json:"machine_busy"` // share of all cores, 0..1
	Saturated    string  `json:"most_cpu"`

	FailedAttempts int      `json:"failed_attempts"` // PodScheduled=False updates of measured pods
	Placement      Place    `json:"placement"`
	Victims        int      `json:"victims"`
	ExcessVictims  int      `json:"excess_victims"`
	PendingBound   int      `json:"pending_bound"`
	Violations     []string `json:"violations"`
	NViolations    int      `json:"n_violations"`
	Notes          []string `json:"notes,omitempty"`

	Metrics map[string]float64 `json:"scheduler_metrics,omitempty"`
}

// CPU is the CPU of a process in the measured phase.
type CPU struct {
	User  float64 `json:"user_s"`
	Sys   float64 `json:"sys_s"`
	Total float64 `json:"total_s"`
	Cores float64 `json:"cores"` // total over the duration
}

// Dist is a distribution.
type Dist struct {
	Min, P50, P90, P99, Max, Mean float64
}

// Place sums up where the measured pods lie.
type Place struct {
	NodesUsed     int            `json:"nodes_used"`
	PerNodeMin    int            `json:"per_node_min"` // measured pods per node, over all nodes
	PerNodeMax    int            `json:"per_node_max"`
	PerNodeMean   float64        `json:"per_node_mean"`
	PerNodeStddev float64        `json:"per_node_stddev"`
	CPUStddev     float64        `json:"node_cpu_share_stddev"` // requested share of allocatable, all pods
	Zones         map[string]int `json:"zones"`
	Preferred     float64        `json:"preferred_per_pod"` // weighted preferred (anti-)affinity partners in the own domain, per measured pod
	SoftSkew      int            `json:"soft_skew"`         // worst final skew of a ScheduleAnyway constraint
}

func (r *Result) fill(t *tracker, o RunOpts, begin, end, after snap) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var lat, latW, bounds []float64
	first, firstBind := int64(0), int64(0)
	for i := range t.pods {
		p := &t.pods[i]
		r.FailedAttempts += int(p.fails)
		if s := atomic.LoadInt64(&p.sent); s > 0 && (first == 0 || s < first) {
			first = s
		}
		if p.bound == 0 {
			continue
		}
		r.Bound++
		if firstBind == 0 || p.bound < firstBind {
			firstBind = p.bound
		}
		bounds = append(bounds, float64(p.bound))
		lat = append(lat, float64(p.bound-p.sent)/1e6)
		latW = append(latW, float64(p.bound-p.added)/1e6)
	}
	if o.Backlog { // from the start of the scheduler
		first = begin.t
	}
	r.Victims, r.PendingBound = len(t.victims), t.badBound
	r.Notes = append(r.Notes, t.errs...)
	stop := end.t
	if r.Bound > 0 {
		stop = t.lastBound
	}
	r.DurationS = float64(stop-first) / 1e9
	r.Latency, r.LatencyWatch = dist(lat), dist(latW)
	if r.Bound > 0 && r.DurationS > 0 {
		r.Throughput = float64(r.Bound) / r.DurationS
		if d := float64(stop-firstBind) / 1e9; d > 0 {
			r.BindPhaseRate = float64(r.Bound-1) / d
		}
		r.Samples = perSecond(bounds, float64(first), float64(stop))
		d := dist(r.Samples)
		r.SampleAvg, r.SampleP50, r.SampleP90, r.SampleP99 = d.Mean, d.P50, d.P90, d.P99
	}
	wall := float64(end.t-begin.t) / 1e9
	cpu := func(u0, s0, u1, s1 float64) CPU {
		c := CPU{User: u1 - u0, Sys: s1 - s0, Total: u1 - u0 + s1 - s0}
		c.Cores = c.Total / wall
		return c
	}
	r.Sched = cpu(begin.su, begin.ss, end.su, end.ss)
	r.APIServer = cpu(begin.au, begin.as, end.au, end.as)
	r.Etcd = cpu(begin.eu, begin.es, end.eu, end.es)
	r.BenchCPU = end.self - begin.self
	busy := end.busy - begin.busy
	r.ForeignCPU = max(0, busy-r.Sched.Total-r.APIServer.Total-r.Etcd.Total-r.BenchCPU)
	r.ForeignCores = r.ForeignCPU / wall
	r.StealCPU = end.stea - begin.stea
	r.Busy = busy / wall / float64(runtime.NumCPU())
	if r.Bound > 0 {
		r.SchedMsPod = 1000 * r.Sched.Total / float64(r.Bound)
		r.SettledMs = 1000 * (after.su + after.ss - begin.su - begin.ss) / float64(r.Bound)
	}
	type pc struct {
		n string
		c float64
	}
	l := []pc{{"scheduler", r.Sched.Cores}, {"apiserver", r.APIServer.Cores}, {"etcd", r.Etcd.Cores}, {"bench", r.BenchCPU / wall}, {"other", r.ForeignCPU / wall}}
	sort.SliceStable(l, func(i, j int) bool { return l[i].c > l[j].c })
	var s []string
	for _, x := range l {
		s = append(s, fmt.Sprintf("%s %.2f", x.n, x.c))
	}
	r.Saturated = strings.Join(s, ", ")
}

func (r *Result) print(w *os.File) {
	state := "ok"
	if !r.Complete || r.Bound < r.Expected {
		state = "INCOMPLETE"
	}
	if r.NViolations > 0 {
		state += fmt.Sprintf(", %d VIOLATIONS", r.NViolations)
	}
	fmt.Fprintf(w, "%s %s: %d nodes, %d init, %d pods, %d pending, %s: %d/%d bound, %s\n", r.Label, r.Workload,
		r.Params.Nodes, r.Params.InitPods, r.Params.Pods, r.Params.Pending, r.Mode, r.Bound, r.Expected, state)
	fmt.Fprintf(w, "  throughput   %.1f pods/s over %.2f s (bind phase %.1f); per second avg %.1f p50 %.0f p90 %.0f p99 %.0f; created at %.0f/s\n",
		r.Throughput, r.DurationS, r.BindPhaseRate, r.SampleAvg, r.SampleP50, r.SampleP90, r.SampleP99, r.CreateRPS)
	fmt.Fprintf(w, "  latency ms   create to bind p50 %.0f p90 %.0f p99 %.0f max %.0f; added to bind p50 %.0f p90 %.0f p99 %.0f\n",
		r.Latency.P50, r.Latency.P90, r.Latency.P99, r.Latency.Max, r.LatencyWatch.P50, r.LatencyWatch.P90, r.LatencyWatch.P99)
	fmt.Fprintf(w, "  scheduler    CPU %.2f s (user %.2f sys %.2f) = %.3f ms/pod (%.3f with the %s after), start %.2f s, peak RSS %.0f MiB, %d process(es), ready in %.1f s\n",
		r.Sched.Total, r.Sched.User, r.Sched.Sys, r.SchedMsPod, r.SettledMs, "settling", r.StartCPU, r.PeakRSSMiB, r.Procs, r.ReadyS)
	fmt.Fprintf(w, "  control      apiserver CPU %.2f s, peak RSS %.0f MiB; etcd %.2f s; bench %.2f s; other %.2f s; steal %.2f s; machine %.0f%% busy; calibration %.1f ms\n",
		r.APIServer.Total, r.APIRSSMiB, r.Etcd.Total, r.BenchCPU, r.ForeignCPU, r.StealCPU, 100*r.Busy, r.CalibMs)
	fmt.Fprintf(w, "  cores        %s\n", r.Saturated)
	p := r.Placement
	fmt.Fprintf(w, "  placement    %d nodes used, per node min %d max %d stddev %.2f, CPU share stddev %.4f, zones %v, preferred partners per pod %.2f, soft skew %d\n",
		p.NodesUsed, p.PerNodeMin, p.PerNodeMax, p.PerNodeStddev, p.CPUStddev, p.Zones, p.Preferred, p.SoftSkew)
	if r.Victims > 0 || r.FailedAttempts > 0 || r.PendingBound > 0 {
		fmt.Fprintf(w, "  attempts     failed %d, victims %d (excess %d), pending pods bound %d\n", r.FailedAttempts, r.Victims, r.ExcessVictims, r.PendingBound)
	}
	for _, v := range r.Violations {
		fmt.Fprintln(w, "  VIOLATION    "+v)
	}
	for _, v := range r.Notes {
		fmt.Fprintln(w, "  note         "+v)
	}
	var ks []string
	for k := range r.Metrics {
		ks = append(ks, k)
	}
	sort.Strings(ks)
	for _, k := range ks {
		fmt.Fprintf(w, "  metric       %s %.6g\n", k, r.Metrics[k])
	}
}

func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}
