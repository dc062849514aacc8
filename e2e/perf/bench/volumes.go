package main

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func claimName(i int) string { return fmt.Sprintf("claim-%06d", i) }
func pvName(i int) string    { return fmt.Sprintf("bench-pv-%06d", i) }

func withPVC(pd *v1.Pod, i int) *v1.Pod {
	pd.Spec.Volumes = []v1.Volume{{Name: "data", VolumeSource: v1.VolumeSource{
		PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: claimName(i)}}}}
	return pd
}

func pvNodeAffinity(key, val string) *v1.VolumeNodeAffinity {
	return &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
		MatchExpressions: []v1.NodeSelectorRequirement{{Key: key, Operator: v1.NodeSelectorOpIn, Values: []string{val}}}}}}}
}

func claim(i int, sc string) *v1.PersistentVolumeClaim {
	return &v1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: claimName(i), Namespace: nsMeasure},
		Spec: v1.PersistentVolumeClaimSpec{
			AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}, StorageClassName: &sc,
			Resources: v1.VolumeResourceRequirements{Requests: v1.ResourceList{"storage": q("1Gi")}}},
	}
}

func setupBoundPVs(ctx context.Context, e *Env) error {
	attach := false
	d := &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: csiName}, Spec: storagev1.CSIDriverSpec{AttachRequired: &attach}}
	if _, err := e.cs.StorageV1().CSIDrivers().Create(ctx, d, metav1.CreateOptions{}); ignoreExists(err) != nil {
		return err
	}
	count := int32(39)
	if err := e.parallel(ctx, e.P.Nodes, func(i int) error {
		n := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: nodeName(i)}, Spec: storagev1.CSINodeSpec{
			Drivers: []storagev1.CSINodeDriver{{Name: csiName, NodeID: nodeName(i), Allocatable: &storagev1.VolumeNodeResources{Count: &count}}}}}
		_, err := e.cs.StorageV1().CSINodes().Create(ctx, n, metav1.CreateOptions{})
		return ignoreExists(err)
	}); err != nil {
		return err
	}
	return e.parallel(ctx, e.P.Pods, func(i int) error {
		c := claim(i, "")
		c.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
		c.Spec.VolumeName = pvName(i)
		c, err := e.cs.CoreV1().PersistentVolumeClaims(nsMeasure).Create(ctx, c, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		pv := &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: pvName(i)}, Spec: v1.PersistentVolumeSpec{
			Capacity: v1.ResourceList{"storage": q("1Gi")}, AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce},
			PersistentVolumeReclaimPolicy: v1.PersistentVolumeReclaimRetain,
			PersistentVolumeSource:        v1.PersistentVolumeSource{CSI: &v1.CSIPersistentVolumeSource{Driver: csiName, VolumeHandle: pvName(i)}},
			NodeAffinity:                  pvNodeAffinity(zoneKey, zoneOf(&e.P, i)),
			ClaimRef:                      &v1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: nsMeasure, Name: c.Name, UID: c.UID},
		}}
		if pv, err = e.cs.CoreV1().PersistentVolumes().Create(ctx, pv, metav1.CreateOptions{}); err != nil {
			return err
		}
		pv.Status.Phase = v1.VolumeBound
		if _, err = e.cs.CoreV1().PersistentVolumes().UpdateStatus(ctx, pv, metav1.UpdateOptions{}); err != nil {
			return err
		}
		c.Status.Phase = v1.ClaimBound
		c.Status.AccessModes, c.Status.Capacity = c.Spec.AccessModes, pv.Spec.Capacity
		_, err = e.cs.CoreV1().PersistentVolumeClaims(nsMeasure).UpdateStatus(ctx, c, metav1.UpdateOptions{})
		return err
	})
}

func setupLocalPVs(ctx context.Context, e *Env) error {
	wait := storagev1.VolumeBindingWaitForFirstConsumer
	sc := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: scLocal}, Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: &wait}
	if _, err := e.cs.StorageV1().StorageClasses().Create(ctx, sc, metav1.CreateOptions{}); ignoreExists(err) != nil {
		return err
	}
	return e.parallel(ctx, e.P.Pods, func(i int) error {
		if _, err := e.cs.CoreV1().PersistentVolumeClaims(nsMeasure).Create(ctx, claim(i, scLocal), metav1.CreateOptions{}); err != nil {
			return err
		}
		pv := &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: pvName(i)}, Spec: v1.PersistentVolumeSpec{
			Capacity: v1.ResourceList{"storage": q("1Gi")}, AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce},
			PersistentVolumeReclaimPolicy: v1.PersistentVolumeReclaimRetain, StorageClassName: scLocal,
			PersistentVolumeSource: v1.PersistentVolumeSource{Local: &v1.LocalVolumeSource{Path: "/mnt/" + pvName(i)}},
			NodeAffinity:           pvNodeAffinity(hostKey, nodeName(i%e.P.Nodes)),
		}}
		pv, err := e.cs.CoreV1().PersistentVolumes().Create(ctx, pv, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		pv.Status.Phase = v1.VolumeAvailable // the scheduler matches only Available ones
		_, err = e.cs.CoreV1().PersistentVolumes().UpdateStatus(ctx, pv, metav1.UpdateOptions{})
		return err
	})
}
