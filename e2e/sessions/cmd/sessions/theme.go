package main

import (
	"fmt"
	"sort"
	"strings"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const zoneLabel = "topology.kubernetes.io/zone"

// theme is what a session has more of than chance would give it.
type theme struct {
	name     string
	features []string // of pods
	step     func(g *gen, v view, m map[string]*v1.Pod) []Op
	crowd    bool // many small pods on large nodes
}

// themeOf takes turns: four seeds, one for each configuration, have the same theme.
func themeOf(seed int64) theme {
	if seed >= rareSeeds {
		return rareThemes()[(seed/4)%4]
	}
	return []theme{
		{name: "mixed"},
		{name: "volumes", features: []string{"pvc", "pvc", "pvc", "preempt"}, step: volumeStep},
		{name: "affinity", features: []string{"affinity", "podaffinity", "podaffinity", "podanti", "softpod", "preempt"}, step: affinityStep},
		{name: "labels", features: []string{"selector", "affinity", "spread", "spread", "podanti", "tolerate", "preempt"}, step: labelStep},
	}[(seed/4+2)%4]
}

// themed is true for half of the choices of a session that has a theme.
func (g *gen) themed() bool { return g.theme.step != nil && g.p(0.5) }

// volumeSetup are two further classes: one for some zones only, one that has room in a zone for so much.
func (g *gen) volumeSetup() []Op {
	w, yes := storagev1.VolumeBindingWaitForFirstConsumer, true
	const classes = "/apis/storage.k8s.io/v1/storageclasses"
	return []Op{
		post("storage class allowed (zones z0, z1)", classes, &storagev1.StorageClass{TypeMeta: tm("storage.k8s.io/v1", "StorageClass"),
			ObjectMeta: metav1.ObjectMeta{Name: allowedClass}, Provisioner: driverName, VolumeBindingMode: &w,
			AllowedTopologies: []v1.TopologySelectorTerm{{MatchLabelExpressions: []v1.TopologySelectorLabelRequirement{{Key: zoneLabel, Values: []string{"z0", "z1"}}}}}}),
		post("driver "+capacityName, "/apis/storage.k8s.io/v1/csidrivers", &storagev1.CSIDriver{TypeMeta: tm("storage.k8s.io/v1", "CSIDriver"),
			ObjectMeta: metav1.ObjectMeta{Name: capacityName}, Spec: storagev1.CSIDriverSpec{StorageCapacity: &yes}}),
		post("storage class capacity", classes, &storagev1.StorageClass{TypeMeta: tm("storage.k8s.io/v1", "StorageClass"),
			ObjectMeta: metav1.ObjectMeta{Name: capacityClass}, Provisioner: capacityName, VolumeBindingMode: &w}),
	}
}

func ephemeralVolume(name, class string) v1.Volume {
	return v1.Volume{Name: name, VolumeSource: v1.VolumeSource{Ephemeral: &v1.EphemeralVolumeSource{VolumeClaimTemplate: &v1.PersistentVolumeClaimTemplate{
		Spec: v1.PersistentVolumeClaimSpec{StorageClassName: &class, AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce},
			Resources: v1.VolumeResourceRequirements{Requests: v1.ResourceList{v1.ResourceStorage: q("1Gi")}}}}}}}
}

// room tells, or takes back, how much can be provisioned in a zone: enough for a claim, or not.
func (g *gen) room() []Op {
	zone := g.pick("z0", "z1", "z2")
	const path = "/apis/storage.k8s.io/v1/namespaces/s1/csistoragecapacities"
	if !g.rooms[zone] {
		g.rooms[zone] = true
		size := g.pick("100Mi", "5Gi", "5Gi")
		quantity := q(size)
		return []Op{post("room of "+size+" in "+zone, path, &storagev1.CSIStorageCapacity{TypeMeta: tm("storage.k8s.io/v1", "CSIStorageCapacity"),
			ObjectMeta: metav1.ObjectMeta{Name: zone, Namespace: "s1"}, StorageClassName: capacityClass, Capacity: &quantity,
			NodeTopology: &metav1.LabelSelector{MatchLabels: map[string]string{zoneLabel: zone}}})}
	}
	if g.p(0.3) {
		delete(g.rooms, zone)
		return []Op{del("no room told of in "+zone, path+"/"+zone, -1)}
	}
	size := g.pick("100Mi", "3Gi", "5Gi")
	return []Op{patch("room of "+size+" in "+zone, path+"/"+zone, M{"capacity": size})}
}

// zonePV is a volume for a claim, with a zone as its label.
func (g *gen) zonePV(claim string) Op {
	g.nvol++
	name, zone := fmt.Sprintf("pv%d", g.nvol), g.pick("z0", "z1", "z2")
	ns, c, _ := strings.Cut(claim, "/")
	pv := newPV(name, "imm", *resource.NewQuantity(int64(1+g.nvol)<<30, resource.BinarySI), "", "")
	pv.Labels = map[string]string{zoneLabel: zone}
	pv.Spec.NodeAffinity = nil
	pv.Spec.ClaimRef = &v1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: ns, Name: c}
	o := post("volume "+name+" (imm) labelled "+zone+" for "+claim, "/api/v1/persistentvolumes", pv)
	o.Settle = true
	return o
}

func volumeStep(g *gen, v view, m map[string]*v1.Pod) []Op {
	switch g.r.Intn(10) {
	case 8, 9:
		return g.room()
	case 0, 1, 2:
		p, before, note := g.pod("pvc")
		return append(before, g.podOp(p, note))
	case 3: // room for volumes of a node, more or less
		n, c := g.someNode(), int32(g.r.Intn(4))
		return []Op{patch(fmt.Sprintf("CSINode %s allows %d volumes", n, c), "/apis/storage.k8s.io/v1/csinodes/"+n, M{"spec": M{"drivers": []storagev1.CSINodeDriver{{
			Name: driverName, NodeID: n, TopologyKeys: []string{"kubernetes.io/hostname"}, Allocatable: &storagev1.VolumeNodeResources{Count: &c}}}}})}
	case 4: // a class comes or goes
		const path = "/apis/storage.k8s.io/v1/storageclasses"
		if g.later = !g.later; !g.later {
			return []Op{del("delete storage class later", path+"/later", -1)}
		}
		w := storagev1.VolumeBindingWaitForFirstConsumer
		return []Op{post("storage class later", path, &storagev1.StorageClass{TypeMeta: tm("storage.k8s.io/v1", "StorageClass"),
			ObjectMeta: metav1.ObjectMeta{Name: "later"}, Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: &w})}
	case 5:
		return []Op{g.pv(g.pick("static", "static", "later"), "")}
	case 6: // free what a pod with a volume holds
		if l := withVolumes(v.bound, m); len(l) > 0 {
			k := g.one(l)
			return []Op{del("delete "+k+" (has a volume)", podPath(k), 0)}
		}
	case 7:
		return g.nodeChange(g.someNode(), "zone")
	}
	return nil
}

func withVolumes(keys []string, m map[string]*v1.Pod) (out []string) {
	for _, k := range keys {
		if len(m[k].Spec.Volumes) > 0 {
			out = append(out, k)
		}
	}
	return out
}

func affinityStep(g *gen, v view, m map[string]*v1.Pod) []Op {
	switch g.r.Intn(6) {
	case 0, 1:
		p, before, note := g.pod(g.pick("affinity", "podaffinity", "podanti", "softpod"))
		return append(before, g.podOp(p, note))
	case 2:
		ns := g.pick("s1", "s2")
		g.nsLab[ns] = g.pick("a", "b", "c")
		return []Op{patch("namespace "+ns+" team="+g.nsLab[ns], "/api/v1/namespaces/"+ns, M{"metadata": M{"labels": M{"team": g.nsLab[ns]}}})}
	case 3:
		if len(v.bound) > 0 {
			return []Op{g.relabel(g.one(v.bound), g.pick("web", "db", "job", "cache"))}
		}
	case 4:
		if len(v.pending) > 0 {
			return []Op{g.relabel(g.one(v.pending), g.pick("web", "db", "job", "cache"))}
		}
	case 5:
		return g.nodeChange(g.someNode(), g.pick("pool", "gen", "disk", "zone", "retired"))
	}
	return nil
}

func labelStep(g *gen, v view, m map[string]*v1.Pod) []Op {
	switch g.r.Intn(6) {
	case 0, 1:
		return g.nodeChange(g.someNode(), g.pick("zone", "disk", "pool", "gen", "retired"))
	case 2: // all nodes of a zone move, one by one
		zone, to := g.pick("z0", "z1", "z2"), g.pick("z0", "z1", "z2", "z3")
		var names []string
		for n, x := range g.nodes {
			if x.labels[zoneLabel] == zone {
				names = append(names, n)
			}
		}
		sort.Strings(names)
		var ops []Op
		for _, n := range names {
			g.nodes[n].labels[zoneLabel] = to
			o := patch("node "+n+" moves to zone "+to, nodePath(n), M{"metadata": M{"labels": M{zoneLabel: to}}})
			o.Settle = true
			ops = append(ops, o)
		}
		return ops
	case 3, 4:
		if len(v.bound) > 0 {
			k, version := g.one(v.bound), g.pick("1", "2", "3")
			return []Op{patch("label "+k+" v="+version, podPath(k), M{"metadata": M{"labels": M{"v": version}}})}
		}
	case 5:
		if len(v.bound) > 0 {
			return []Op{g.relabel(g.one(v.bound), g.pick("web", "db", "job", "cache"))}
		}
	}
	return nil
}
