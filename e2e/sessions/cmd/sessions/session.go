package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"berth/e2e/controlplane/local"
)

//go:embed configs/*.yaml
var configFS embed.FS

var configNames = []string{"base", "added-affinity", "base", "packing"}

// configOf takes turns within the seeds of a theme.
func configOf(seed int64) string {
	if seed >= rareSeeds {
		return []string{"base", "extender", "packing", "extender"}[seed%4]
	}
	return configNames[seed%int64(len(configNames))]
}

// Step is a step of a session and what came of it.
type Step struct {
	Ops     []Op           `json:"ops"`
	Codes   []int          `json:"codes"` // HTTP status of each op
	Delta   map[string]Obj `json:"delta"` // objects that changed; null: gone from the record
	Wake    map[string]int `json:"wake,omitempty"`
	Timeout bool           `json:"timeout,omitempty"`
	MS      int64          `json:"ms"`
}

// Session is a golden file.
type Session struct {
	Seed      int64              `json:"seed"`
	Config    string             `json:"config"` // name
	ConfigYML string             `json:"configYAML"`
	Scheduler string             `json:"recordedWith"`
	Setup     []Op               `json:"setup"`
	Steps     []Step             `json:"steps"`
	Transient map[string]bool    `json:"transient,omitempty"` // pods whose FailedScheduling events differ from run to run
	Seconds   float64            `json:"seconds"`
	Counts    map[string]int     `json:"counts"`
	Metrics   map[string]float64 `json:"metrics,omitempty"`
	Errors    []string           `json:"errors,omitempty"`
}

// Opts are the choices for one run.
type Opts struct {
	BinDir, Command, Name, MetricsURL, LogDir string
	Idle                                      Idle
	Grace                                     time.Duration // wait this much longer for the golden state
	StopAfter                                 int           // stop after so many diverging steps
	Ready                                     time.Duration
}

type runner struct {
	o   Opts
	c   *local.Cluster
	cs  *kubernetes.Clientset
	t   *tracker
	tok string
	rep *strings.Replacer
	sc  *local.Child
	ext *extender
}

func (r *runner) do(ctx context.Context, op Op) int {
	body := []byte(strings.ReplaceAll(string(op.Body), "{scheduler}", r.o.Name))
	rc := r.cs.CoreV1().RESTClient()
	q := rc.Post()
	switch op.Method {
	case "POST":
		q = rc.Post().SetHeader("Content-Type", "application/json")
	case "PATCH":
		q = rc.Patch(types.MergePatchType)
	case "STRATEGIC":
		q = rc.Patch(types.StrategicMergePatchType)
	case "DELETE":
		q = rc.Delete()
		if len(body) > 0 {
			q = q.SetHeader("Content-Type", "application/json")
		}
	default:
		panic(op.Method)
	}
	q = q.AbsPath(op.Path).SetHeader("Accept", "application/json")
	if len(body) > 0 {
		q = q.Body(body)
	}
	code := 0
	res := q.Do(ctx).StatusCode(&code)
	if err := res.Error(); err != nil {
		var se *apierrors.StatusError
		if errors.As(err, &se) {
			code = int(se.ErrStatus.Code)
			if code != 404 && code != 409 {
				r.t.note(fmt.Errorf("%s: %v", op.Note, err))
			}
		} else {
			r.t.note(fmt.Errorf("%s: %v", op.Note, err))
		}
	}
	return code
}

const (
	program = "sessions"
	// clusterGrace is how long etcd and the API server may each take to end: nothing of them is kept.
	clusterGrace = 3 * time.Second
)

// start brings up a cluster and the scheduler.
func start(ctx context.Context, o Opts, cfg string, setup []Op) (_ *runner, err error) {
	r := &runner{o: o}
	if r.c, err = local.Up(local.Options{Name: program, BinDir: o.BinDir, Grace: clusterGrace}); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			r.stop()
		}
	}()
	rc, err := clientcmd.BuildConfigFromFlags("", r.c.Kubeconfig)
	if err != nil {
		return nil, err
	}
	rc.QPS, rc.UserAgent = -1, "sessions"
	if r.cs, err = kubernetes.NewForConfig(rc); err != nil {
		return nil, err
	}
	if r.ext, err = startExtender(); err != nil {
		return nil, err
	}
	port, err := local.FreePort()
	if err != nil {
		return nil, err
	}
	r.rep = r.c.Placeholders(port, r.c.Dir, o.Name, "{extender}", r.ext.url)
	own := filepath.Join(r.c.Dir, "scheduler.yaml")
	if err = os.WriteFile(own, []byte(r.rep.Replace(cfg)), 0o600); err != nil {
		return nil, err
	}
	line, err := local.Expand(strings.ReplaceAll(o.Command, "{config}", own), r.rep, r.c.Dir)
	if err != nil {
		return nil, err
	}
	if r.t, err = newTracker(ctx, r.cs, o.Name); err != nil {
		return nil, err
	}
	for _, op := range setup {
		if code := r.do(ctx, op); code != 201 {
			return nil, fmt.Errorf("setup: %s: %d %v", op.Note, code, r.t.errs)
		}
	}
	// ready means: a canary was bound, or seen as unschedulable
	if r.sc, err = local.Start(exec.Command("sh", "-c", "exec "+line), filepath.Join(r.c.Dir, "scheduler.log")); err != nil {
		return nil, err
	}
	can := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "canary", Namespace: "s1"}, Spec: v1.PodSpec{SchedulerName: o.Name,
		NodeSelector: map[string]string{"canary": "no"}, Containers: []v1.Container{{Name: "c", Image: "c"}}}}
	if _, err = r.cs.CoreV1().Pods("s1").Create(ctx, can, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	for end := time.Now().Add(o.Ready); ; time.Sleep(50 * time.Millisecond) {
		if r.sc.Exited() || time.Now().After(end) {
			return nil, fmt.Errorf("the scheduler is not ready\n%s", r.sc.Tail(20))
		}
		r.t.mu.Lock()
		p := r.t.pods["s1/canary"]
		ok := p != nil && cond(p, v1.PodScheduled) != nil && len(r.t.events["s1/canary"]) > 0
		r.t.mu.Unlock()
		if ok {
			break
		}
	}
	zero := int64(0)
	r.cs.CoreV1().Pods("s1").Delete(ctx, "canary", metav1.DeleteOptions{GracePeriodSeconds: &zero})
	for i := 0; i < 100; i++ {
		r.t.mu.Lock()
		gone := r.t.gone["s1/canary"]
		r.t.mu.Unlock()
		if gone {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	time.Sleep(300 * time.Millisecond)
	r.t.mu.Lock()
	delete(r.t.pods, "s1/canary")
	delete(r.t.events, "s1/canary")
	r.t.mu.Unlock()
	return r, nil
}

func (r *runner) stop() {
	if r.sc != nil {
		r.sc.Stop(10 * time.Second)
	}
	if r.o.LogDir != "" && r.sc != nil {
		os.MkdirAll(r.o.LogDir, 0o755)
		if b, err := os.ReadFile(r.sc.Log); err == nil {
			os.WriteFile(filepath.Join(r.o.LogDir, fmt.Sprintf("scheduler-%d.log", time.Now().UnixNano())), b, 0o644)
		}
	}
	if r.ext != nil {
		r.ext.stop()
	}
	r.c.Down()
}

// wakes are the scheduler's counters of pods put into a queue, by event.
var wakeRE = regexp.MustCompile(`(?m)^scheduler_queue_incoming_pods_total\{event="([^"]*)",queue="([^"]*)"\} (\S+)$`)
var plainRE = regexp.MustCompile(`(?m)^(scheduler_(?:preemption_attempts_total|preemption_victims_sum|schedule_attempts_total\{[^}]*\}|unschedulable_pods\{[^}]*\})) (\S+)$`)

func (r *runner) metrics() (wake map[string]int, other map[string]float64) {
	if r.o.MetricsURL == "" {
		return
	}
	code, b, err := local.Get(r.rep.Replace(r.o.MetricsURL), r.c.Token)
	if err != nil || code != 200 {
		return
	}
	wake, other = map[string]int{}, map[string]float64{}
	for _, m := range wakeRE.FindAllStringSubmatch(string(b), -1) {
		v, _ := strconv.ParseFloat(m[3], 64)
		wake[m[1]+" -> "+m[2]] += int(v)
	}
	for _, m := range plainRE.FindAllStringSubmatch(string(b), -1) {
		v, _ := strconv.ParseFloat(m[2], 64)
		other[strings.ReplaceAll(m[1], r.o.Name, "{scheduler}")] += v
	}
	return
}

func delta(a, b State) map[string]Obj {
	d := map[string]Obj{}
	for k, o := range b {
		if !same(a[k], o) || a[k] == nil {
			d[k] = o
		}
	}
	for k := range a {
		if b[k] == nil {
			d[k] = nil
		}
	}
	return d
}

func same(a, b Obj) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if w, ok := b[k]; !ok || w != v {
			return false
		}
	}
	return true
}

func (s State) apply(d map[string]Obj) State {
	n := State{}
	for k, o := range s {
		n[k] = o
	}
	for k, o := range d {
		if o == nil {
			delete(n, k)
		} else {
			n[k] = o
		}
	}
	return n
}

// Diff is a step in which two runs differ.
type Diff struct {
	Step  int
	Lines []string
}

// outcome of a run; Late are the steps whose state came right only in the grace time.
type outcome struct {
	S     *Session
	Diffs []Diff
	Late  []int
}

// runSession runs a session: a new one of nsteps steps if want is nil, else the recorded one, compared.
func runSession(ctx context.Context, o Opts, seed int64, nsteps int, want *Session, progress func(string)) (*outcome, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t0 := time.Now()
	s := &Session{Seed: seed, Scheduler: "kube-scheduler v1.37.2"}
	var g *gen
	if want == nil {
		g = newGen(seed)
		s.Config = configOf(seed)
		b, err := configFS.ReadFile("configs/" + s.Config + ".yaml")
		if err != nil {
			return nil, err
		}
		s.ConfigYML, s.Setup = string(b), g.setup()
		if nsteps == 0 {
			nsteps = 32 + g.r.Intn(11)
		}
	} else {
		s.Config, s.ConfigYML, s.Setup, nsteps = want.Config, want.ConfigYML, want.Setup, len(want.Steps)
	}
	r, err := start(ctx, o, s.ConfigYML, s.Setup)
	if err != nil {
		return nil, err
	}
	defer func() { cancel(); r.stop() }() // first our own watches: they would keep the API server from ending
	if g != nil {
		g.t = r.t
	}
	r.t.wait(o.Idle, true)
	out := &outcome{S: s}
	prev, wprev, timeouts := State{}, State{}, 0
	wake0, _ := r.metrics()
	for i := 0; i < nsteps; i++ {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if r.sc.Exited() {
			return nil, fmt.Errorf("seed %d step %d: the scheduler ended: %v\n%s", seed, i+1, r.sc.Err(), r.sc.Tail(20))
		}
		ts := time.Now()
		st := Step{}
		if g != nil {
			st.Ops = g.step()
		} else {
			st.Ops = want.Steps[i].Ops
		}
		for j, op := range st.Ops {
			st.Codes = append(st.Codes, r.do(ctx, op))
			if op.Settle && j+1 < len(st.Ops) {
				time.Sleep(30 * time.Millisecond)
				r.t.wait(o.Idle, true)
			}
		}
		r.t.mu.Lock()
		r.t.last = time.Now()
		r.t.mu.Unlock()
		if st.Timeout = !r.t.wait(o.Idle, false); st.Timeout {
			if timeouts++; timeouts == 3 { // it never comes to rest: don't lose hours
				o.Idle.Max = min(o.Idle.Max, 5*time.Second)
			}
		}
		cur := r.t.state()
		if want != nil {
			w := wprev.apply(want.Steps[i].Delta)
			if len(compare(w, cur, want.Transient)) > 0 && o.Grace > 0 && len(out.Diffs) == 0 {
				for end := time.Now().Add(o.Grace); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
					if cur = r.t.state(); len(compare(w, cur, want.Transient)) == 0 {
						out.Late = append(out.Late, i+1)
						break
					}
				}
			}
			lines := compare(w, cur, want.Transient)
			for j, c := range want.Steps[i].Codes {
				if st.Codes[j] != c {
					lines = append(lines, fmt.Sprintf("op %q: golden HTTP %d, here %d", st.Ops[j].Note, c, st.Codes[j]))
				}
			}
			if len(lines) > 0 {
				out.Diffs = append(out.Diffs, Diff{i + 1, lines})
			}
			wprev = w
		}
		st.Delta = delta(prev, cur)
		prev = cur
		if wake, _ := r.metrics(); wake != nil {
			st.Wake = map[string]int{}
			for k, v := range wake {
				if v != wake0[k] {
					st.Wake[k] = v - wake0[k]
				}
			}
			wake0 = wake
		}
		st.MS = time.Since(ts).Milliseconds()
		s.Steps = append(s.Steps, st)
		if progress != nil {
			progress(fmt.Sprintf("step %d (%d ms): %s", i+1, st.MS, st.Ops[len(st.Ops)-1].Note))
		}
		if o.StopAfter > 0 && len(out.Diffs) >= o.StopAfter {
			break
		}
		if r.t.kubelet(startBase) > 0 {
			time.Sleep(150 * time.Millisecond)
		}
	}
	_, s.Metrics = r.metrics()
	s.Counts = counts(s)
	r.t.mu.Lock()
	for e := range r.t.errs {
		s.Errors = append(s.Errors, e)
	}
	r.t.mu.Unlock()
	s.Seconds = time.Since(t0).Seconds()
	return out, nil
}

func readSession(path string) (*Session, error) {
	b, err := readGz(path)
	if err != nil {
		return nil, err
	}
	s := &Session{}
	return s, json.Unmarshal(b, s)
}
