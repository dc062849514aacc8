package main

import (
	"fmt"
	"sort"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const maxNodes = 9

type nodeM struct {
	i, cpu, mem, pods int // cpu in 500m, mem in GiB
	labels            map[string]string
	taints            []v1.Taint
	cordoned          bool
}

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
