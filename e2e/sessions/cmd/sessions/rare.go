package main

import (
	"fmt"
	"sort"
	"strings"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// rareSeeds is the first seed with themes of what the others reach too seldom; those below it stay as they are.
const rareSeeds = 1300

func rareThemes() []theme {
	return []theme{
		{name: "victims", features: []string{"small", "small", "roomy", "roomy", "spread", "podanti"}, step: victimStep, crowd: true},
		{name: "stateful", features: []string{"claimed", "claimed", "pvc", "owned", "owned", "preempt"}, step: statefulStep},
		{name: "changes", features: []string{"selector", "spread", "podaffinity", "podanti", "tolerate", "owned", "preempt"}, step: changeStep},
		{name: "classes", features: []string{"classy", "classy", "classy", "small", "preempt", "never"}, step: classStep},
	}
}

// rare gives a pod a feature of these themes, if it is one; what it returns says what must exist before and the note.
func (g *gen) rare(p *v1.Pod, feature string) func(cpu *int) ([]Op, string) {
	switch feature {
	case "small": // one of four that start at the same time
		return func(cpu *int) ([]Op, string) {
			p.Annotations = map[string]string{annStart: fmt.Sprint(podNumber(p.Name) / 4 * 4)}
			*cpu = 100 + 100*g.r.Intn(3)
			return nil, "small"
		}
	case "roomy": // needs the room of many
		return func(cpu *int) ([]Op, string) {
			p.Spec.PriorityClassName = g.pick("high", "high", "mid", "never")
			*cpu = 2000 + 500*g.r.Intn(6)
			return nil, "roomy"
		}
	case "claimed": // takes over the claim of a pod before it, as a pod of a StatefulSet does
		return func(*int) ([]Op, string) { return g.claimed(p) }
	case "owned":
		return func(*int) ([]Op, string) { return g.owned(p) }
	case "classy":
		return func(cpu *int) ([]Op, string) {
			p.Spec.PriorityClassName = g.pick("late", "late", "least", "least", "usual", "system-cluster-critical", "")
			*cpu = 500 + 250*g.r.Intn(8)
			return nil, "classy"
		}
	}
	return nil
}

func (g *gen) claimed(p *v1.Pod) ([]Op, string) {
	var l []string
	for _, c := range g.claims {
		if strings.HasPrefix(c, p.Namespace+"/") {
			l = append(l, nameOf(c))
		}
	}
	if len(l) == 0 {
		claim := "c-" + p.Name
		g.claims = append(g.claims, p.Namespace+"/"+claim)
		p.Spec.Volumes = []v1.Volume{claimVolume("v", claim)}
		return []Op{g.pvc(p.Namespace, claim, g.pick(dynClass, dynClass, "static"), nil)}, "claimed, new"
	}
	claim := g.one(l)
	p.Spec.Volumes = []v1.Volume{claimVolume("v", claim)}
	return nil, "claimed " + claim
}

var ownerKinds = map[string]struct{ version, path string }{
	"StatefulSet":           {"apps/v1", "/apis/apps/v1/namespaces/%s/statefulsets"},
	"ReplicaSet":            {"apps/v1", "/apis/apps/v1/namespaces/%s/replicasets"},
	"ReplicationController": {"v1", "/api/v1/namespaces/%s/replicationcontrollers"},
}

// owned makes a pod one of a set of pods, which may be there or not; nobody acts on the sets.
func (g *gen) owned(p *v1.Pod) ([]Op, string) {
	kind, yes := g.pick("StatefulSet", "ReplicaSet", "ReplicationController"), true
	name := p.Labels["app"]
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: ownerKinds[kind].version, Kind: kind, Name: name,
		UID: types.UID("00000000-0000-0000-0000-000000000001"), Controller: &yes}}
	return nil, "owned by " + kind + " " + name
}

// owner is a set of pods that comes or goes.
func (g *gen) owner() []Op {
	kind, ns, app := g.pick("StatefulSet", "ReplicaSet", "ReplicationController"), g.pick("s1", "s2"), g.pick("web", "db", "job")
	k, path := kind+" "+ns+"/"+app, fmt.Sprintf(ownerKinds[kind].path, ns)
	if g.owners[k] {
		delete(g.owners, k)
		return []Op{del("delete "+k, path+"/"+app, -1)}
	}
	g.owners[k] = true
	labels := M{"app": app}
	var selector any = M{"matchLabels": labels}
	if kind == "ReplicationController" {
		selector = labels
	}
	spec := M{"replicas": 0, "selector": selector, "template": M{"metadata": M{"labels": labels}, "spec": M{"containers": []any{M{"name": "c", "image": "c"}}}}}
	return []Op{post(k, path, M{"apiVersion": ownerKinds[kind].version, "kind": kind, "metadata": M{"name": app, "namespace": ns}, "spec": spec})}
}

func victimStep(g *gen, v view, m map[string]*v1.Pod) []Op {
	switch g.r.Intn(6) {
	case 0, 1:
		p, before, note := g.pod("roomy")
		return append(before, g.podOp(p, note))
	case 2: // several more to be victims
		var ops []Op
		for range 2 + g.r.Intn(3) {
			p, _, note := g.pod("small")
			p.Spec.PriorityClassName = g.pick("", "low")
			ops = append(ops, g.podOp(p, note))
		}
		return ops
	case 3: // a budget for pods that started at the same time
		return g.budget("v", g.pick("1", "2"))
	case 4: // other importance among equals
		if len(v.bound) > 0 {
			return []Op{del("delete "+v.bound[0], podPath(v.bound[0]), 0)}
		}
	case 5:
		return g.nodeChange(g.someNode(), g.pick("cpu", "pods", "cordon"))
	}
	return nil
}

// budget is one over a label of any value, which comes, allows another number, or goes.
func (g *gen) budget(label, value string) []Op {
	ns := g.pick("s1", "s2")
	name := label + "-" + value
	k, base := ns+"/"+name, "/apis/policy/v1/namespaces/"+ns+"/poddisruptionbudgets"
	n := g.r.Intn(4)
	status := func(allowed int) Op {
		return patch(fmt.Sprintf("budget %s allows %d", k, allowed), base+"/"+name+"/status", M{"status": M{"disruptionsAllowed": allowed, "observedGeneration": 1}})
	}
	if g.pdbs[k] {
		if g.p(0.4) {
			delete(g.pdbs, k)
			return []Op{del("delete budget "+k, base+"/"+name, -1)}
		}
		return []Op{status(n)}
	}
	g.pdbs[k] = true
	min := intstr.FromInt32(1)
	pd := &policyv1.PodDisruptionBudget{TypeMeta: tm("policy/v1", "PodDisruptionBudget"), ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns},
		Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: &min, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{label: value}}}}
	return []Op{post("budget "+k, base, pd), status(n)}
}

func statefulStep(g *gen, v view, m map[string]*v1.Pod) []Op {
	switch g.r.Intn(6) {
	case 0, 1: // a pod goes, and its successor comes for the same claim
		l := withVolumes(v.bound, m)
		if len(l) == 0 {
			return nil
		}
		k := g.one(l)
		o := del("delete "+k+" (has a volume)", podPath(k), 0)
		o.Settle = g.p(0.5)
		old := m[k]
		p, before, note := g.pod("plain")
		p.Namespace, p.Labels = old.Namespace, old.Labels
		p.Spec.Volumes = nil
		for _, w := range old.Spec.Volumes {
			if w.PersistentVolumeClaim != nil {
				p.Spec.Volumes = append(p.Spec.Volumes, claimVolume(w.Name, w.PersistentVolumeClaim.ClaimName))
			}
		}
		return append(append([]Op{o}, before...), g.podOp(p, note+", successor of "+k))
	case 2:
		return g.owner()
	case 3: // a claim that nobody uses any more, or somebody does
		if len(g.claims) > 3 {
			i := g.r.Intn(len(g.claims))
			ns, n, _ := strings.Cut(g.claims[i], "/")
			g.claims = append(g.claims[:i], g.claims[i+1:]...)
			return []Op{del("delete claim "+ns+"/"+n, "/api/v1/namespaces/"+ns+"/persistentvolumeclaims/"+n, 0)}
		}
	case 4: // several replicas at once, each with a claim of its own
		var ops, pods []Op
		for range 2 {
			p, _, note := g.pod("plain")
			claim := "c-" + p.Name
			g.claims = append(g.claims, p.Namespace+"/"+claim)
			p.Spec.Volumes = []v1.Volume{claimVolume("v", claim)}
			ops, pods = append(ops, g.pvc(p.Namespace, claim, dynClass, nil)), append(pods, g.podOp(p, note+" with a claim (replica)"))
		}
		return append(ops, pods...)
	case 5: // the node that holds volumes is closed, or opened again
		return g.nodeChange(g.someNode(), g.pick("cordon", "taint", "zone"))
	}
	return nil
}

func changeStep(g *gen, v view, m map[string]*v1.Pod) []Op {
	switch g.r.Intn(9) {
	case 0, 1:
		return g.nodeChange(g.someNode(), g.pick("zone", "disk", "pool", "gen", "retired", "taint", "prefer", "cordon", "noexec"))
	case 2: // a node goes and comes back at once, its pods on it
		var l []string
		for n := range g.nodes {
			l = append(l, n)
		}
		sort.Strings(l)
		n := g.one(l)
		o := del("delete node "+n, nodePath(n), 0)
		o.Settle = g.p(0.5)
		return []Op{o, post("node "+n+" is back", "/api/v1/nodes", g.nodes[n].object(n))}
	case 3:
		if len(v.bound) > 0 {
			k, value := g.one(v.bound), g.pick("1", "2", "3")
			return []Op{patch("label "+k+" v="+value, podPath(k), M{"metadata": M{"labels": M{"v": value}}})}
		}
	case 4:
		if len(v.pending) > 0 {
			return []Op{g.relabel(g.one(v.pending), g.pick("web", "db", "job", "cache"))}
		}
	case 5:
		if len(v.pending) > 0 {
			k := g.one(v.pending)
			t := v1.Toleration{Key: g.pick("dedicated", "broken", "slow", "node.kubernetes.io/unschedulable"), Operator: v1.TolerationOpExists}
			return []Op{patch("toleration of "+t.Key+" for "+k, podPath(k), M{"spec": M{"tolerations": append(append([]v1.Toleration{}, m[k].Spec.Tolerations...), t)}})}
		}
	case 6: // the kubelet's heartbeat, or a node that is not ready
		n, ready := g.someNode(), g.pick("True", "True", "False", "Unknown")
		return []Op{patch("node "+n+" ready="+ready, nodePath(n)+"/status", M{"status": M{"conditions": []any{M{"type": "Ready", "status": ready, "reason": "Kubelet"}}}})}
	case 7:
		return g.owner()
	case 8:
		ns := g.pick("s1", "s2")
		g.nsLab[ns] = g.pick("a", "b", "c")
		return []Op{patch("namespace "+ns+" team="+g.nsLab[ns], "/api/v1/namespaces/"+ns, M{"metadata": M{"labels": M{"team": g.nsLab[ns]}}})}
	}
	return nil
}

// priorityClasses come and go in the sessions of the theme classes.
var priorityClasses = map[string]schedulingv1.PriorityClass{
	"late":  {Value: 700},
	"least": {Value: -50},
	"usual": {Value: 60, GlobalDefault: true},
}

func classStep(g *gen, v view, m map[string]*v1.Pod) []Op {
	const path = "/apis/scheduling.k8s.io/v1/priorityclasses"
	switch g.r.Intn(6) {
	case 0, 1:
		n := g.pick("late", "least", "usual")
		if g.class[n] {
			delete(g.class, n)
			return []Op{del("delete priority class "+n, path+"/"+n, -1)}
		}
		g.class[n] = true
		pc := priorityClasses[n]
		pc.TypeMeta, pc.Name = tm("scheduling.k8s.io/v1", "PriorityClass"), n
		if n == "late" && g.p(0.5) {
			never := v1.PreemptNever
			pc.PreemptionPolicy = &never
		}
		return []Op{post("priority class "+n, path, &pc)}
	case 2, 3:
		p, before, note := g.pod("classy")
		return append(before, g.podOp(p, note))
	case 4:
		return g.budget("app", g.pick("web", "db", "job"))
	case 5:
		if len(v.pending) > 0 {
			k, n := g.one(v.pending), g.someNode()
			return []Op{patch("nominate "+k+" to "+n, podPath(k)+"/status", M{"status": M{"nominatedNodeName": n}})}
		}
	}
	return nil
}
