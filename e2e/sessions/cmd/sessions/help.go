package main

import (
	"fmt"
	"sort"
	"strings"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
