package main

import (
	"fmt"
	"math/rand"
	"sort"
	"strings"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// gen makes the steps of a seed. It looks at the state of the recording run to
// choose things worth doing; replays take the recorded steps.
type gen struct {
	r      *rand.Rand
	theme  theme
	nodes  map[string]*nodeM
	npod   int
	steps  int
	nvol   int
	svcs   map[string]bool
	pdbs   map[string]bool
	shared map[string]bool // claims that several pods use
	rooms  map[string]bool // zones for which it is told how much can be provisioned
	nsLab  map[string]string
	later  bool     // there is a storage class "later"
	claims []string // claims that pods had, as ns/name
	owners map[string]bool
	class  map[string]bool // priority classes that come and go
	t      *tracker
}

func newGen(seed int64) *gen {
	return &gen{r: rand.New(rand.NewSource(seed*7919 + 17)), theme: themeOf(seed), nodes: map[string]*nodeM{}, svcs: map[string]bool{}, pdbs: map[string]bool{}, shared: map[string]bool{}, rooms: map[string]bool{},
		nsLab: map[string]string{"s1": "a", "s2": "b"}, owners: map[string]bool{}, class: map[string]bool{}}
}

func (g *gen) p(x float64) bool        { return g.r.Float64() < x }
func (g *gen) pick(s ...string) string { return s[g.r.Intn(len(s))] }

func (g *gen) setup() []Op {
	ops := []Op{}
	for _, n := range []string{"s1", "s2"} {
		ops = append(ops, post("namespace "+n, "/api/v1/namespaces", &v1.Namespace{TypeMeta: tm("v1", "Namespace"),
			ObjectMeta: metav1.ObjectMeta{Name: n, Labels: map[string]string{"team": g.nsLab[n]}}}))
	}
	for _, c := range []struct {
		n string
		v int32
		p v1.PreemptionPolicy
	}{{"low", 10, ""}, {"mid", 100, ""}, {"high", 1000, ""}, {"never", 500, v1.PreemptNever}} {
		pc := &schedulingv1.PriorityClass{TypeMeta: tm("scheduling.k8s.io/v1", "PriorityClass"), ObjectMeta: metav1.ObjectMeta{Name: c.n}, Value: c.v}
		if c.p != "" {
			pc.PreemptionPolicy = &c.p
		}
		ops = append(ops, post("priority class "+c.n, "/apis/scheduling.k8s.io/v1/priorityclasses", pc))
	}
	wffc, imm := storagev1.VolumeBindingWaitForFirstConsumer, storagev1.VolumeBindingImmediate
	for _, c := range []struct {
		n, prov string
		m       *storagev1.VolumeBindingMode
	}{{"static", "kubernetes.io/no-provisioner", &wffc}, {dynClass, driverName, &wffc}, {"imm", "kubernetes.io/no-provisioner", &imm}} {
		ops = append(ops, post("storage class "+c.n, "/apis/storage.k8s.io/v1/storageclasses", &storagev1.StorageClass{TypeMeta: tm("storage.k8s.io/v1", "StorageClass"),
			ObjectMeta: metav1.ObjectMeta{Name: c.n}, Provisioner: c.prov, VolumeBindingMode: c.m}))
	}
	if g.theme.name == "volumes" {
		ops = append(ops, g.volumeSetup()...)
	}
	n := 4 + g.r.Intn(3)
	for i := 0; i < n; i++ {
		ops = append(ops, g.addNode()...)
	}
	return ops
}

// view is what the generator sees of the pods, in a fixed order.
type view struct{ bound, pending, gated, terminating []string }

func (g *gen) look() (v view, m map[string]*v1.Pod) {
	g.t.mu.Lock()
	defer g.t.mu.Unlock()
	m = map[string]*v1.Pod{}
	for k, p := range g.t.pods {
		if g.t.gone[k] || p.Spec.SchedulerName != g.t.name {
			continue
		}
		m[k] = p
		switch {
		case p.DeletionTimestamp != nil:
			v.terminating = append(v.terminating, k)
		case p.Spec.NodeName != "":
			v.bound = append(v.bound, k)
		case len(p.Spec.SchedulingGates) > 0:
			v.gated = append(v.gated, k)
		default:
			v.pending = append(v.pending, k)
		}
	}
	for _, l := range [][]string{v.bound, v.pending, v.gated, v.terminating} {
		sort.Slice(l, func(i, j int) bool { return podNumber(nameOf(l[i])) < podNumber(nameOf(l[j])) })
	}
	return
}

func (g *gen) step() []Op {
	if g.steps++; g.steps <= 3 { // fill the cluster a bit
		var ops []Op
		n := 5
		if g.theme.crowd {
			n = 12
		}
		for range n + g.r.Intn(3) {
			feature := g.pick("plain", "plain", "podanti", "softpod", "affinity")
			if g.theme.crowd {
				feature = g.pick("small", "small", "small", "softpod")
			}
			p, _, note := g.pod(feature)
			p.Spec.PriorityClassName = "low"
			ops = append(ops, g.podOp(p, note+" (fill, priority low)"))
		}
		return ops
	}
	for {
		v, m := g.look()
		if ops := g.try(v, m); len(ops) > 0 {
			return ops
		}
	}
}

func (g *gen) one(l []string) string { return l[g.r.Intn(len(l))] }

func (g *gen) try(v view, m map[string]*v1.Pod) []Op {
	most := 28
	if g.theme.crowd {
		most = 50
	}
	if len(v.pending) > 4 || len(v.bound) > most || len(v.gated) > 4 {
		if len(v.pending) > 4 {
			k := v.pending[0]
			return []Op{del("delete pending "+k, podPath(k), 0)}
		}
		if len(v.gated) > 4 {
			return g.ungate(v.gated[0], m)
		}
		k := g.one(v.bound)
		return []Op{del("delete "+k, podPath(k), 0)}
	}
	if len(v.terminating) > 0 && g.p(0.4) {
		k := g.one(v.terminating)
		return []Op{del("finish terminating "+k, podPath(k), 0)}
	}
	if len(v.pending) > 0 && g.p(0.45) {
		k := g.one(v.pending)
		if g.p(0.5) {
			k = v.pending[len(v.pending)-1] // the youngest: the old ones may be hopeless
		}
		if ops := g.help(k, m[k], v, m); len(ops) > 0 {
			return ops
		}
	}
	if len(v.gated) > 0 && g.p(0.25) {
		return g.ungate(g.one(v.gated), m)
	}
	if g.themed() {
		if ops := g.theme.step(g, v, m); len(ops) > 0 {
			return ops
		}
	}
	x := g.r.Intn(100)
	switch {
	case x < 52:
		p, before, note := g.pod("")
		return append(before, g.podOp(p, note))
	case x < 63:
		p, before, note := g.pod(g.pick("plain", "spread", "podanti", "big", "port", "softpod"))
		if g.p(0.8) { // several pods that preempt at the same time seldom do it twice in the same way
			p.Spec.PriorityClassName, note = "", note+", of no priority"
		}
		ops := append(before, g.podOp(p, note+" (burst)"))
		for i := 1 + g.r.Intn(3); i > 0; i-- {
			g.npod++
			c := p.DeepCopy()
			c.Name = fmt.Sprintf("p%d", g.npod)
			ops = append(ops, g.podOp(c, fmt.Sprintf("pod %s/%s, the same", c.Namespace, c.Name)))
		}
		return ops
	case x < 68:
		if len(v.bound) == 0 {
			return nil
		}
		k := g.one(v.bound)
		if g.p(0.3) {
			return []Op{del("delete "+k+" (own grace period)", podPath(k), -1)}
		}
		return []Op{del("delete "+k, podPath(k), 0)}
	case x < 70:
		if len(v.bound) == 0 {
			return nil
		}
		k := g.one(v.bound)
		return []Op{g.relabel(k, g.pick("web", "db", "job"))}
	case x < 72:
		return g.addNode()
	case x < 74:
		if len(g.nodes) < 5 {
			return nil
		}
		n := g.someNode()
		delete(g.nodes, n)
		return []Op{del("delete node "+n, nodePath(n), 0), del("delete CSINode "+n, "/apis/storage.k8s.io/v1/csinodes/"+n, 0)}
	case x < 84:
		return g.nodeChange(g.someNode(), "")
	case x < 86:
		k := g.pick("s1", "s2") + "/" + g.pick("web", "db", "job")
		ns, app, _ := strings.Cut(k, "/")
		base := "/api/v1/namespaces/" + ns + "/services"
		if g.svcs[k] {
			delete(g.svcs, k)
			return []Op{del("delete service "+k, base+"/"+app, -1)}
		}
		g.svcs[k] = true
		return []Op{post("service "+k, base, &v1.Service{TypeMeta: tm("v1", "Service"), ObjectMeta: metav1.ObjectMeta{Name: app, Namespace: ns},
			Spec: v1.ServiceSpec{ClusterIP: "None", Selector: map[string]string{"app": app}, Ports: []v1.ServicePort{{Port: 80}}}})}
	case x < 91:
		k := g.pick("s1", "s2") + "/" + g.pick("web", "db", "job")
		ns, app, _ := strings.Cut(k, "/")
		base := "/apis/policy/v1/namespaces/" + ns + "/poddisruptionbudgets"
		if g.pdbs[k] {
			if g.p(0.5) {
				delete(g.pdbs, k)
				return []Op{del("delete budget "+k, base+"/"+app, -1)}
			}
			n := g.r.Intn(3)
			return []Op{patch(fmt.Sprintf("budget %s allows %d", k, n), base+"/"+app+"/status", M{"status": M{"disruptionsAllowed": n}})}
		}
		g.pdbs[k] = true
		min, n := intstr.FromInt32(1), g.r.Intn(2)
		pd := &policyv1.PodDisruptionBudget{TypeMeta: tm("policy/v1", "PodDisruptionBudget"), ObjectMeta: metav1.ObjectMeta{Name: app, Namespace: ns},
			Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: &min, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}}
		// a high-priority pod right after it, to try it out
		p, before, note := g.pod("preempt")
		ops := []Op{post("budget "+k, base, pd), patch(fmt.Sprintf("budget %s allows %d", k, n), base+"/"+app+"/status", M{"status": M{"disruptionsAllowed": n, "observedGeneration": 1}})}
		ops[1].Settle = true
		return append(append(ops, before...), g.podOp(p, note))
	case x < 92:
		p, _, note := g.pod(g.pick("plain", "port"))
		p.Spec.NodeName, p.Spec.NodeSelector, p.Annotations = g.someNode(), nil, map[string]string{"sessions.dev/direct": "yes"}
		return []Op{g.podOp(p, note+" created on "+p.Spec.NodeName)}
	case x < 94:
		if len(v.pending) > 0 && g.p(0.6) {
			return []Op{g.relabel(g.one(v.pending), g.pick("web", "db", "job", "cache"))}
		}
		ns := g.pick("s1", "s2")
		g.nsLab[ns] = g.pick("a", "b", "c")
		return []Op{patch("namespace "+ns+" team="+g.nsLab[ns], "/api/v1/namespaces/"+ns, M{"metadata": M{"labels": M{"team": g.nsLab[ns]}}})}
	case x < 95:
		return []Op{g.pv("static", "")}
	case x < 97:
		if len(v.pending) == 0 {
			return nil
		}
		k, n := g.one(v.pending), g.someNode()
		return []Op{patch("nominate "+k+" to "+n, podPath(k)+"/status", M{"status": M{"nominatedNodeName": n}})}
	default:
		if len(v.bound) == 0 {
			return nil
		}
		return g.resize(g.one(v.bound), m)
	}
}
