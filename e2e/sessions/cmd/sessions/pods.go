package main

import (
	"fmt"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pod makes a pod with a feature or two; ops are what must exist before it, after what may come later.
func (g *gen) pod(feature string) (p *v1.Pod, before []Op, note string) {
	g.npod++
	name := fmt.Sprintf("p%d", g.npod)
	ns := g.pick("s1", "s1", "s2")
	app := g.pick("web", "db", "job")
	grace := int64(0)
	if g.p(0.3) {
		grace = 30
	}
	cpu, mem := 300+100*g.r.Intn(7), 256+128*g.r.Intn(6)
	p = &v1.Pod{TypeMeta: tm("v1", "Pod"), ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns, Labels: map[string]string{"app": app, "v": g.pick("1", "2")}},
		Spec: v1.PodSpec{SchedulerName: "{scheduler}", TerminationGracePeriodSeconds: &grace, PriorityClassName: g.pick("", "low", "low", "mid")}}
	for i := 0; i < maxNodes; i++ {
		p.Spec.InitContainers = append(p.Spec.InitContainers, v1.Container{Name: fmt.Sprintf("i%d", i), Image: fmt.Sprintf("tie.example/n%d:v", i)})
	}
	c := v1.Container{Name: "c", Image: "app:1", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{}}}
	notes := []string{}
	feats := []string{feature}
	if feature == "" && g.themed() {
		feats[0] = g.pick(g.theme.features...)
	} else if feature == "" {
		feats[0] = g.pick("plain", "plain", "big", "selector", "selector", "affinity", "tolerate", "spread", "spread", "podaffinity", "podanti", "podanti", "softpod", "port", "port",
			"gated", "gated", "nominate", "pvc", "pvc", "pvc", "gpu", "preempt", "preempt", "preempt", "preempt", "preempt", "preempt", "preempt", "preempt", "never")
		if g.p(0.3) {
			feats = append(feats, g.pick("selector", "affinity", "tolerate", "spread", "podanti", "softpod", "port", "gated"))
		}
	}
	topo := func() string { return g.pick("kubernetes.io/hostname", zoneLabel) }
	lsel := func() *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": g.pick("web", "db", "job", "cache")}}
	}
	term := func() v1.PodAffinityTerm {
		t := v1.PodAffinityTerm{TopologyKey: topo(), LabelSelector: lsel()}
		switch g.r.Intn(5) {
		case 0:
			t.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": g.pick("a", "b", "c")}}
		case 1:
			t.Namespaces = []string{"s1", "s2"}
		case 2:
			if g.p(0.5) {
				t.MatchLabelKeys = []string{"v"}
			} else {
				t.MismatchLabelKeys = []string{"v"}
			}
		}
		return t
	}
	aff := func() *v1.Affinity {
		if p.Spec.Affinity == nil {
			p.Spec.Affinity = &v1.Affinity{}
		}
		return p.Spec.Affinity
	}
	for _, f := range feats {
		if rare := g.rare(p, f); rare != nil {
			more, told := rare(&cpu)
			before, f = append(before, more...), told
			notes = append(notes, f)
			continue
		}
		switch f {
		case "big":
			cpu = 1500 + 500*g.r.Intn(8)
		case "preempt":
			cpu, p.Spec.PriorityClassName = 1000+250*g.r.Intn(8), g.pick("high", "high", "mid")
		case "never":
			cpu, p.Spec.PriorityClassName = 1000+250*g.r.Intn(6), "never"
		case "gpu":
			n := *resource.NewQuantity(int64(1+g.r.Intn(2)), resource.DecimalSI)
			c.Resources.Requests["example.com/gpu"] = n
			c.Resources.Limits = v1.ResourceList{"example.com/gpu": n}
			p.Spec.PriorityClassName = g.pick("low", "mid", "high")
		case "selector":
			p.Spec.NodeSelector = map[string]string{"disk": g.pick("ssd", "ssd", "nvme")}
			if g.p(0.3) {
				p.Spec.NodeSelector = map[string]string{"pool": g.pick("a", "c")}
			}
		case "affinity":
			na := &v1.NodeAffinity{}
			if g.p(0.6) {
				e := []v1.NodeSelectorRequirement{{Key: "disk", Operator: v1.NodeSelectorOpIn, Values: []string{"ssd", "nvme"}},
					{Key: "disk", Operator: v1.NodeSelectorOpNotIn, Values: []string{"hdd"}}, {Key: "gen", Operator: v1.NodeSelectorOpGt, Values: []string{fmt.Sprint(2 + g.r.Intn(4))}},
					{Key: "gen", Operator: v1.NodeSelectorOpExists}, {Key: "pool", Operator: v1.NodeSelectorOpIn, Values: []string{"c"}}}[g.r.Intn(5)]
				nt := v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{e}}
				if g.p(0.2) {
					nt = v1.NodeSelectorTerm{MatchFields: []v1.NodeSelectorRequirement{{Key: "metadata.name", Operator: v1.NodeSelectorOpIn, Values: []string{fmt.Sprintf("n%d", g.r.Intn(maxNodes))}}}}
				}
				na.RequiredDuringSchedulingIgnoredDuringExecution = &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{nt}}
			}
			if g.p(0.6) || na.RequiredDuringSchedulingIgnoredDuringExecution == nil {
				na.PreferredDuringSchedulingIgnoredDuringExecution = []v1.PreferredSchedulingTerm{{Weight: int32(1 + g.r.Intn(90)),
					Preference: v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{{Key: "pool", Operator: v1.NodeSelectorOpIn, Values: []string{g.pick("a", "b")}}}}}}
			}
			aff().NodeAffinity = na
		case "tolerate":
			p.Spec.Tolerations = append(p.Spec.Tolerations, []v1.Toleration{{Key: "dedicated", Operator: v1.TolerationOpEqual, Value: g.pick("x", "y"), Effect: v1.TaintEffectNoSchedule},
				{Key: "dedicated", Operator: v1.TolerationOpExists}, {Key: "node.kubernetes.io/unschedulable", Operator: v1.TolerationOpExists},
				{Key: "slow", Operator: v1.TolerationOpExists}}[g.r.Intn(4)])
		case "spread":
			s := v1.TopologySpreadConstraint{MaxSkew: int32(1 + g.r.Intn(2)), TopologyKey: topo(), WhenUnsatisfiable: v1.DoNotSchedule,
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}
			if g.p(0.3) {
				s.WhenUnsatisfiable = v1.ScheduleAnyway
			} else if g.p(0.3) {
				md := int32(2 + g.r.Intn(4))
				s.MinDomains = &md
			}
			if g.p(0.3) {
				h := v1.NodeInclusionPolicyHonor
				s.NodeTaintsPolicy = &h
			}
			if g.p(0.2) {
				s.MatchLabelKeys = []string{"v"}
			}
			p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, s)
		case "podaffinity":
			aff().PodAffinity = &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term()}}
		case "podanti":
			aff().PodAntiAffinity = &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term()}}
		case "softpod":
			aff().PodAffinity = &v1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{{Weight: int32(1 + g.r.Intn(99)), PodAffinityTerm: term()}}}
			if g.p(0.5) {
				aff().PodAntiAffinity = &v1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{{Weight: int32(1 + g.r.Intn(99)), PodAffinityTerm: term()}}}
			}
		case "port":
			hp := int32(8080 + g.r.Intn(2))
			c.Ports = []v1.ContainerPort{{ContainerPort: 80, HostPort: hp, HostIP: g.pick("", "", "127.0.0.1")}}
			if g.p(0.6) {
				p.Spec.NodeSelector = map[string]string{"kubernetes.io/hostname": g.someNode()}
			}
		case "gated", "nominate":
			p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "sessions.dev/one"}}
			if g.p(0.3) {
				p.Spec.SchedulingGates = append(p.Spec.SchedulingGates, v1.PodSchedulingGate{Name: "sessions.dev/two"})
			}
			if f == "nominate" {
				p.Annotations = map[string]string{"sessions.dev/nominate": g.someNode()}
			}
		case "pvc":
			claim := "c-" + name
			kind := g.pick("dyn", "dyn", "dynfail", "zonal", "static", "static", "imm", "missing", "noclass", "bound")
			if g.theme.name == "volumes" {
				kind = g.pick("dyn", "dynfail", "zonal", "static", "imm", "missing", "noclass", "bound", "boundzone", "allowed", "allowed", "shared", "once", "two", "ephemeral", "ephemeral", "notowned", "room", "room", "room")
			}
			switch kind {
			case "boundzone": // a volume with the zone as its label, not as its affinity
				before = append(before, g.pvc(ns, claim, "imm", nil), g.zonePV(ns+"/"+claim))
			case "allowed":
				before = append(before, g.pvc(ns, claim, "allowed", nil))
			case "shared", "once":
				claim = kind + "-" + ns
				if !g.shared[ns+"/"+claim] {
					g.shared[ns+"/"+claim] = true
					before = append(before, g.claim(ns, claim, dynClass, nil, map[string]v1.PersistentVolumeAccessMode{"shared": v1.ReadWriteOnce, "once": v1.ReadWriteOncePod}[kind]))
				}
			case "room":
				before = append(before, g.pvc(ns, claim, capacityClass, nil))
			case "notowned":
				before = append(before, g.pvc(ns, name+"-v", dynClass, nil))
			case "two":
				before = append(before, g.pvc(ns, claim+"-b", dynClass, nil), g.pvc(ns, claim, "static", nil))
				p.Spec.Volumes = []v1.Volume{claimVolume("w", claim+"-b")}
			case "dyn":
				before = append(before, g.pvc(ns, claim, dynClass, nil))
			case "zonal":
				before = append(before, g.pvc(ns, claim, dynClass, map[string]string{"sessions.dev/zonal": "yes"}))
			case "dynfail":
				before = append(before, g.pvc(ns, claim, dynClass, map[string]string{labelFailOnce: "yes"}))
			case "static":
				if g.p(0.6) {
					before = append(before, g.pv("static", ""))
				}
				before = append(before, g.pvc(ns, claim, "static", nil))
			case "imm":
				before = append(before, g.pvc(ns, claim, "imm", nil))
			case "noclass":
				before = append(before, g.pvc(ns, claim, "later", nil))
			case "bound":
				o := g.pv("imm", ns+"/"+claim)
				o.Settle = true
				before = append(before, o, g.pvc(ns, claim, "imm", nil))
			}
			if kind == "bound" { // the claim first: the fake volume controller acts on the volume
				before[len(before)-2], before[len(before)-1] = before[len(before)-1], before[len(before)-2]
			}
			if kind != "ephemeral" && kind != "notowned" {
				g.claims = append(g.claims, ns+"/"+claim)
			}
			volume := claimVolume("v", claim)
			if kind == "ephemeral" || kind == "notowned" {
				volume = ephemeralVolume("v", g.pick(dynClass, "static"))
			}
			p.Spec.Volumes = append([]v1.Volume{volume}, p.Spec.Volumes...)
			f = "pvc " + kind
		}
		notes = append(notes, f)
	}
	c.Resources.Requests["cpu"] = *resource.NewMilliQuantity(int64(cpu), resource.DecimalSI)
	c.Resources.Requests["memory"] = *resource.NewQuantity(int64(mem)<<20, resource.BinarySI)
	p.Spec.Containers = []v1.Container{c}
	pr := p.Spec.PriorityClassName
	if pr == "" {
		pr = "0"
	}
	return p, before, fmt.Sprintf("pod %s/%s [%s] app=%s cpu=%dm priority=%s", ns, name, strings.Join(notes, "+"), app, cpu, pr)
}

func (g *gen) podOp(p *v1.Pod, note string) Op {
	return post(note, "/api/v1/namespaces/"+p.Namespace+"/pods", p)
}

func (g *gen) relabel(k, app string) Op {
	return patch("label "+k+" app="+app, podPath(k), M{"metadata": M{"labels": M{"app": app}}})
}

func (g *gen) resize(k string, m map[string]*v1.Pod) []Op {
	p := m[k]
	cp := p.Spec.Containers[0].DeepCopy()
	now := cp.Resources.Requests.Cpu().MilliValue()
	to := now / 2
	if g.p(0.2) {
		to = now + 300
	}
	return []Op{{Note: fmt.Sprintf("resize %s cpu %dm to %dm", k, now, to), Method: "STRATEGIC", Path: podPath(k) + "/resize",
		Body: js(M{"spec": M{"containers": []any{M{"name": "c", "resources": M{"requests": M{"cpu": fmt.Sprintf("%dm", to)}}}}}})}}
}

func (g *gen) ungate(k string, m map[string]*v1.Pod) []Op {
	p := m[k]
	var ops []Op
	if n := p.Annotations["sessions.dev/nominate"]; n != "" && p.Status.NominatedNodeName == "" {
		ops = append(ops, patch("nominate "+k+" to "+n, podPath(k)+"/status", M{"status": M{"nominatedNodeName": n}}))
		ops[0].Settle = true
	}
	if g.p(0.2) { // a gated pod may be constrained further
		o := patch("gated "+k+" gets nodeSelector pool", podPath(k), M{"spec": M{"nodeSelector": M{"pool": g.pick("a", "b")}}})
		o.Settle = true
		ops = append(ops, o)
	}
	rest := p.Spec.SchedulingGates[1:]
	return append(ops, patch(fmt.Sprintf("take a gate from %s, %d left", k, len(rest)), podPath(k), M{"spec": M{"schedulingGates": rest}}))
}

var startBase = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
