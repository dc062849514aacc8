package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"sort"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Op is one API write, replayed to the letter; {scheduler} in the body is the scheduler's name.
type Op struct {
	Note   string          `json:"note"`
	Method string          `json:"method"`
	Path   string          `json:"path"`
	Body   json.RawMessage `json:"body,omitempty"`
	Settle bool            `json:"settle,omitempty"` // wait a moment for rest before the next op of the step
}

const maxNodes = 9

type nodeM struct {
	i, cpu, mem, pods int // cpu in 500m, mem in GiB
	labels            map[string]string
	taints            []v1.Taint
	cordoned          bool
}

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

func js(o any) json.RawMessage {
	b, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return b
}

func post(note, path string, o any) Op {
	return Op{Note: note, Method: "POST", Path: path, Body: js(o)}
}
func patch(note, path string, o any) Op {
	return Op{Note: note, Method: "PATCH", Path: path, Body: js(o)}
}
func del(note, path string, grace int64) Op {
	o := Op{Note: note, Method: "DELETE", Path: path}
	if grace >= 0 {
		o.Body = js(map[string]any{"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": grace})
	}
	return o
}

type M = map[string]any

func newGen(seed int64) *gen {
	return &gen{r: rand.New(rand.NewSource(seed*7919 + 17)), theme: themeOf(seed), nodes: map[string]*nodeM{}, svcs: map[string]bool{}, pdbs: map[string]bool{}, shared: map[string]bool{}, rooms: map[string]bool{},
		nsLab: map[string]string{"s1": "a", "s2": "b"}, owners: map[string]bool{}, class: map[string]bool{}}
}

func (g *gen) p(x float64) bool        { return g.r.Float64() < x }
func (g *gen) pick(s ...string) string { return s[g.r.Intn(len(s))] }
func q(s string) resource.Quantity     { return resource.MustParse(s) }
func nodePath(n string) string         { return "/api/v1/nodes/" + n }
func podPath(k string) string {
	ns, n, _ := strings.Cut(k, "/")
	return "/api/v1/namespaces/" + ns + "/pods/" + n
}

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

func tm(v, k string) metav1.TypeMeta { return metav1.TypeMeta{APIVersion: v, Kind: k} }

func (g *gen) addNode() []Op {
	var free []int
	for i := 0; i < maxNodes; i++ {
		if g.nodes[fmt.Sprintf("n%d", i)] == nil {
			free = append(free, i)
		}
	}
	if len(free) == 0 || len(g.nodes) >= 8 {
		return nil
	}
	i := free[g.r.Intn(len(free))]
	name := fmt.Sprintf("n%d", i)
	m := &nodeM{i: i, cpu: 3 + g.r.Intn(5), mem: 3 + g.r.Intn(5), pods: 4 + g.r.Intn(6), labels: map[string]string{"kubernetes.io/hostname": name}}
	if g.theme.crowd {
		m.cpu, m.mem, m.pods = m.cpu+5, m.mem+5, m.pods+8
	}
	m.labels["disk"] = g.pick("ssd", "hdd", "hdd")
	m.labels["pool"] = g.pick("a", "b")
	if g.p(0.9) {
		m.labels[zoneLabel] = g.pick("z0", "z1", "z2")
	}
	if g.p(0.3) {
		m.labels["gen"] = fmt.Sprint(1 + g.r.Intn(5))
	}
	if g.p(0.15) {
		m.taints = []v1.Taint{{Key: "dedicated", Value: g.pick("x", "y"), Effect: v1.TaintEffectNoSchedule}}
	} else if g.p(0.15) {
		m.taints = []v1.Taint{{Key: "slow", Value: "yes", Effect: v1.TaintEffectPreferNoSchedule}}
	}
	g.nodes[name] = m
	nd := m.object(name)
	ops := []Op{}
	if g.p(0.7) { // the limit of volumes comes first, so that the node never is without it
		two := int32(1 + g.r.Intn(2))
		ops = append(ops, post("CSINode "+name, "/apis/storage.k8s.io/v1/csinodes", &storagev1.CSINode{TypeMeta: tm("storage.k8s.io/v1", "CSINode"),
			ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{
				Name: driverName, NodeID: name, TopologyKeys: []string{"kubernetes.io/hostname"}, Allocatable: &storagev1.VolumeNodeResources{Count: &two}}}}}))
		ops[0].Settle = true
	}
	return append(ops, post("node "+name+" added", "/api/v1/nodes", nd))
}

func (m *nodeM) object(name string) *v1.Node {
	nd := &v1.Node{TypeMeta: tm("v1", "Node"), ObjectMeta: metav1.ObjectMeta{Name: name, Labels: m.labels},
		Spec: v1.NodeSpec{Taints: m.taints, Unschedulable: m.cordoned}, Status: v1.NodeStatus{
			Conditions: []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue, Reason: "KubeletReady"}},
			Images:     []v1.ContainerImage{{Names: []string{"tie.example/" + name + ":v"}, SizeBytes: int64(300+150*m.i) * int64(maxNodes-1) << 20}}}}
	nd.Status.Allocatable = m.alloc()
	if m.i%3 == 0 {
		nd.Status.Allocatable["example.com/gpu"] = *resource.NewQuantity(int64(1+m.i/3), resource.DecimalSI)
	}
	nd.Status.Capacity = nd.Status.Allocatable
	return nd
}

func (m *nodeM) alloc() v1.ResourceList {
	return v1.ResourceList{"cpu": *resource.NewMilliQuantity(int64(m.cpu)*500, resource.DecimalSI),
		"memory": *resource.NewQuantity(int64(m.mem)<<30, resource.BinarySI), "pods": *resource.NewQuantity(int64(m.pods), resource.DecimalSI),
		"ephemeral-storage": q("20Gi")}
}

func (g *gen) someNode() string {
	var l []string
	for n := range g.nodes {
		l = append(l, n)
	}
	sort.Strings(l)
	return l[g.r.Intn(len(l))]
}

func newPV(name, class string, size resource.Quantity, key, val string) *v1.PersistentVolume {
	return &v1.PersistentVolume{TypeMeta: tm("v1", "PersistentVolume"), ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1.PersistentVolumeSpec{StorageClassName: class, Capacity: v1.ResourceList{v1.ResourceStorage: size}, AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce},
			PersistentVolumeReclaimPolicy: v1.PersistentVolumeReclaimRetain,
			PersistentVolumeSource:        v1.PersistentVolumeSource{CSI: &v1.CSIPersistentVolumeSource{Driver: driverName, VolumeHandle: "h-" + name}},
			NodeAffinity: &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
				MatchExpressions: []v1.NodeSelectorRequirement{{Key: key, Operator: v1.NodeSelectorOpIn, Values: []string{val}}}}}}}},
		Status: v1.PersistentVolumeStatus{Phase: v1.VolumeAvailable}}
}

func claimVolume(name, claim string) v1.Volume {
	return v1.Volume{Name: name, VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}
}

func (g *gen) pvc(ns, name, class string, labels map[string]string) Op {
	return g.claim(ns, name, class, labels, v1.ReadWriteOnce)
}

func (g *gen) claim(ns, name, class string, labels map[string]string, mode v1.PersistentVolumeAccessMode) Op {
	c := &v1.PersistentVolumeClaim{TypeMeta: tm("v1", "PersistentVolumeClaim"), ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns, Labels: labels},
		Spec: v1.PersistentVolumeClaimSpec{StorageClassName: &class, AccessModes: []v1.PersistentVolumeAccessMode{mode},
			Resources: v1.VolumeResourceRequirements{Requests: v1.ResourceList{v1.ResourceStorage: q("1Gi")}}}}
	o := post("claim "+ns+"/"+name+" ("+class+")", "/api/v1/namespaces/"+ns+"/persistentvolumeclaims", c)
	o.Settle = true
	return o
}

func (g *gen) pv(class string, claim string) Op {
	g.nvol++
	k, v := "kubernetes.io/hostname", g.someNode()
	if z := g.nodes[v].labels[zoneLabel]; z != "" && g.p(0.5) {
		k, v = zoneLabel, z
	}
	pv := newPV(fmt.Sprintf("pv%d", g.nvol), class, *resource.NewQuantity(int64(1+g.nvol)<<30, resource.BinarySI), k, v)
	note := "volume " + pv.Name + " (" + class + ") on " + v
	if claim != "" {
		ns, n, _ := strings.Cut(claim, "/")
		pv.Spec.ClaimRef = &v1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: ns, Name: n}
		note += " for " + claim
	}
	return post(note, "/api/v1/persistentvolumes", pv)
}

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

func nameOf(k string) string { _, n, _ := strings.Cut(k, "/"); return n }

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

func (g *gen) nodeChange(n, what string) []Op {
	m := g.nodes[n]
	if what == "" {
		what = g.pick("zone", "disk", "pool", "gen", "taint", "taint", "taint", "prefer", "cordon", "cordon", "cpu", "cpu", "pods", "mem", "annotate", "retired", "noexec")
	}
	label := func(k string, v any) []Op {
		if s, ok := v.(string); ok {
			m.labels[k] = s
		} else {
			delete(m.labels, k)
		}
		return []Op{patch(fmt.Sprintf("node %s label %s=%v", n, k, v), nodePath(n), M{"metadata": M{"labels": M{k: v}}})}
	}
	taints := func(l []v1.Taint) []Op {
		m.taints = l
		var x any = l
		if len(l) == 0 {
			x = nil
		}
		return []Op{patch(fmt.Sprintf("node %s taints %v", n, l), nodePath(n), M{"spec": M{"taints": x}})}
	}
	status := func() []Op {
		a := m.alloc()
		return []Op{patch(fmt.Sprintf("node %s allocatable cpu=%dm mem=%dGi pods=%d", n, m.cpu*500, m.mem, m.pods), nodePath(n)+"/status", M{"status": M{"allocatable": a, "capacity": a}})}
	}
	switch what {
	case "zone":
		if g.p(0.2) {
			return label(zoneLabel, nil)
		}
		return label(zoneLabel, g.pick("z0", "z1", "z2", "z3"))
	case "disk":
		return label("disk", g.pick("ssd", "hdd", "nvme"))
	case "pool":
		return label("pool", g.pick("a", "b", "c"))
	case "gen":
		return label("gen", fmt.Sprint(1+g.r.Intn(6)))
	case "retired":
		if m.labels["retired"] != "" {
			return label("retired", nil)
		}
		return label("retired", "yes")
	case "taint":
		if len(m.taints) > 0 {
			return taints(nil)
		}
		return taints([]v1.Taint{{Key: "dedicated", Value: g.pick("x", "y"), Effect: v1.TaintEffectNoSchedule}})
	case "noexec":
		return taints([]v1.Taint{{Key: "broken", Effect: v1.TaintEffectNoExecute}})
	case "prefer":
		return taints([]v1.Taint{{Key: "slow", Value: "yes", Effect: v1.TaintEffectPreferNoSchedule}})
	case "untaint":
		return taints(nil)
	case "cordon":
		m.cordoned = !m.cordoned
		var x any
		if m.cordoned {
			x = true
		}
		return []Op{patch(fmt.Sprintf("node %s unschedulable=%v", n, m.cordoned), nodePath(n), M{"spec": M{"unschedulable": x}})}
	case "cpu":
		m.cpu = max(1, m.cpu-2+g.r.Intn(6))
		return status()
	case "morecpu":
		m.cpu += 3 + g.r.Intn(5)
		return status()
	case "mem":
		m.mem = max(1, m.mem-2+g.r.Intn(6))
		return status()
	case "pods":
		m.pods = max(1, m.pods-2+g.r.Intn(5))
		return status()
	case "morepods":
		m.pods += 3
		return status()
	}
	return []Op{patch("node "+n+" annotated", nodePath(n), M{"metadata": M{"annotations": M{"note": fmt.Sprint(g.r.Intn(1000))}}})}
}

// help does what may let a pending pod in, as its message suggests.
func (g *gen) help(k string, p *v1.Pod, v view, m map[string]*v1.Pod) []Op {
	msg := ""
	if c := cond(p, v1.PodScheduled); c != nil {
		msg = c.Message
	}
	type f func() []Op
	var l []f
	has := func(s string, fs ...f) {
		if strings.Contains(msg, s) {
			l = append(l, fs...)
		}
	}
	delAny := func() []Op {
		if len(v.bound) == 0 {
			return nil
		}
		b := g.one(v.bound)
		return []Op{del("delete "+b, podPath(b), 0)}
	}
	change := func(w string) f { return func() []Op { return g.nodeChange(g.someNode(), w) } }
	target := func(f func(*nodeM) bool, w string) f {
		return func() []Op {
			var c []string
			for n, x := range g.nodes {
				if f(x) {
					c = append(c, n)
				}
			}
			if len(c) == 0 {
				return nil
			}
			sort.Strings(c)
			return g.nodeChange(c[g.r.Intn(len(c))], w)
		}
	}
	has("Insufficient", delAny, change("morecpu"), g.addNode, func() []Op {
		if len(v.bound) == 0 {
			return nil
		}
		return g.resize(g.one(v.bound), m)
	})
	has("Too many pods", delAny, change("morepods"))
	has("untolerated taint", target(func(x *nodeM) bool { return len(x.taints) > 0 }, "untaint"))
	has("untolerated taint", func() []Op {
		return []Op{patch("toleration for "+k, podPath(k), M{"spec": M{"tolerations": append(append([]v1.Toleration{}, p.Spec.Tolerations...),
			v1.Toleration{Key: g.pick("dedicated", "dedicated", "broken"), Operator: v1.TolerationOpExists})}})}
	})
	has("were unschedulable", target(func(x *nodeM) bool { return x.cordoned }, "cordon"))
	has("node affinity/selector", func() []Op {
		key, val := "disk", g.pick("nvme", "ssd")
		for a, b := range p.Spec.NodeSelector {
			key, val = a, b
		}
		if key == "kubernetes.io/hostname" {
			return nil
		}
		if p.Spec.NodeSelector == nil && g.p(0.6) {
			key, val = "gen", "6"
			if g.p(0.4) {
				key, val = "pool", "c"
			}
		}
		n := g.someNode()
		g.nodes[n].labels[key] = val
		return []Op{patch(fmt.Sprintf("node %s label %s=%s", n, key, val), nodePath(n), M{"metadata": M{"labels": M{key: val}}})}
	})
	podChange := func() []Op {
		if len(v.bound) == 0 {
			return nil
		}
		return []Op{g.relabel(g.one(v.bound), g.pick("web", "db", "job", "cache"))}
	}
	fresh := func() []Op {
		p, before, note := g.pod("plain")
		p.Labels["app"] = g.pick("web", "db", "job", "cache")
		return append(before, g.podOp(p, note+" relabelled app="+p.Labels["app"]))
	}
	has("anti-affinity", delAny, podChange, delAny)
	has("pod affinity rules", fresh, podChange, change("zone"))
	has("topology spread", delAny, podChange, fresh, change("zone"), g.addNode)
	has("free ports", func() []Op {
		for _, b := range v.bound {
			if len(m[b].Spec.Containers[0].Ports) > 0 && g.p(0.6) {
				return []Op{del("delete "+b+" (has a host port)", podPath(b), 0)}
			}
		}
		return nil
	})
	has("max volume count", func() []Op {
		n, three := g.someNode(), int32(3)
		return []Op{patch("CSINode "+n+" allows 3 volumes", "/apis/storage.k8s.io/v1/csinodes/"+n, M{"spec": M{"drivers": []storagev1.CSINodeDriver{{
			Name: driverName, NodeID: n, TopologyKeys: []string{"kubernetes.io/hostname"}, Allocatable: &storagev1.VolumeNodeResources{Count: &three}}}}})}
	})
	has("max volume count", func() []Op {
		for _, b := range v.bound {
			if len(m[b].Spec.Volumes) > 0 && g.p(0.6) {
				return []Op{del("delete "+b+" (has a volume)", podPath(b), 0)}
			}
		}
		return nil
	})
	if len(p.Spec.Volumes) > 0 && p.Spec.Volumes[0].PersistentVolumeClaim != nil {
		claim := p.Spec.Volumes[0].PersistentVolumeClaim.ClaimName
		has("not found", func() []Op {
			if strings.Contains(msg, "persistentvolumeclaim") {
				return []Op{g.pvc(p.Namespace, claim, g.pick("static", dynClass, dynClass), nil)}
			}
			w := storagev1.VolumeBindingWaitForFirstConsumer
			return []Op{post("storage class later", "/apis/storage.k8s.io/v1/storageclasses", &storagev1.StorageClass{TypeMeta: tm("storage.k8s.io/v1", "StorageClass"),
				ObjectMeta: metav1.ObjectMeta{Name: "later"}, Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: &w})}
		})
		has("unbound immediate", func() []Op { return []Op{g.pv("imm", p.Namespace+"/"+claim)} })
		has("available persistent volumes to bind", func() []Op { return []Op{g.pv("static", "")} })
		has("storageclass", func() []Op {
			w := storagev1.VolumeBindingWaitForFirstConsumer
			return []Op{post("storage class later", "/apis/storage.k8s.io/v1/storageclasses", &storagev1.StorageClass{TypeMeta: tm("storage.k8s.io/v1", "StorageClass"),
				ObjectMeta: metav1.ObjectMeta{Name: "later"}, Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: &w})}
		})
	}
	has("preemption", delAny)
	if len(l) == 0 {
		return nil
	}
	return l[g.r.Intn(len(l))]()
}

var startBase = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
