package main

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
