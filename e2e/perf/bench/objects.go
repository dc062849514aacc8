package main

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	schedv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func q(s string) resource.Quantity { return resource.MustParse(s) }

func baseNode(p *Params, i int) *v1.Node {
	name := nodeName(i)
	rl := v1.ResourceList{"cpu": q("4"), "memory": q("32Gi"), "pods": q("110"), "ephemeral-storage": q("100Gi")}
	return &v1.Node{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			hostKey: name, zoneKey: zoneOf(p, i), "topology.kubernetes.io/region": "bench",
			"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
			"node.kubernetes.io/instance-type": "bench.4x32",
			"bench.dev/half":                   fmt.Sprint(i % 2),
		}},
		Status: v1.NodeStatus{
			Capacity: rl, Allocatable: rl,
			Conditions: []v1.NodeCondition{{
				Type: v1.NodeReady, Status: v1.ConditionTrue, Reason: "KubeletReady",
				LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now(),
			}},
		},
	}
}

func nodeName(i int) string           { return fmt.Sprintf("bench-node-%05d", i) }
func zoneOf(p *Params, i int) string  { return fmt.Sprintf("zone-%d", i%p.Zones) }
func one(l string, v string) labelMap { return labelMap{l: v} }

type labelMap map[string]string

func (m labelMap) sel() *metav1.LabelSelector { return &metav1.LabelSelector{MatchLabels: m} }

// pod makes a pod of 100m CPU and 500Mi (limits as requests), as scheduler_perf's default.
func pod(p *Params, role, ns string, i int, labels labelMap) *v1.Pod {
	l := map[string]string{roleLabel: role}
	for k, v := range labels {
		l[k] = v
	}
	rl := v1.ResourceList{"cpu": q("100m"), "memory": q("500Mi")}
	zero := int64(0)
	return &v1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%06d", role, i), Namespace: ns, Labels: l},
		Spec: v1.PodSpec{
			SchedulerName: p.Scheduler, TerminationGracePeriodSeconds: &zero,
			Containers: []v1.Container{{
				Name: "pause", Image: "registry.k8s.io/pause:3.10.1",
				Ports:     []v1.ContainerPort{{ContainerPort: 80}},
				Resources: v1.ResourceRequirements{Requests: rl, Limits: rl.DeepCopy()},
			}},
		},
	}
}

func request(pd *v1.Pod, cpu, mem string) *v1.Pod {
	rl := v1.ResourceList{"cpu": q(cpu), "memory": q(mem)}
	pd.Spec.Containers[0].Resources = v1.ResourceRequirements{Requests: rl, Limits: rl.DeepCopy()}
	return pd
}

func plainInit(p *Params, i int) (*v1.Pod, int) {
	return pod(p, roleInit, nsInit, i, nil), i % p.Nodes
}
func plain(p *Params, i int) *v1.Pod { return pod(p, roleMeasure, nsMeasure, i, nil) }

var bothNS = []string{nsInit, nsMeasure}

func affinityTerm(color, key string) v1.PodAffinityTerm {
	return v1.PodAffinityTerm{LabelSelector: one("color", color).sel(), TopologyKey: key, Namespaces: bothNS}
}

func antiAffinity(pd *v1.Pod) *v1.Pod {
	pd.Labels["color"] = "green"
	pd.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{affinityTerm("green", hostKey)}}}
	return pd
}
func zoneAffinity(pd *v1.Pod) *v1.Pod {
	pd.Labels["color"] = "blue"
	pd.Spec.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{affinityTerm("blue", zoneKey)}}}
	return pd
}
func preferAffinity(pd *v1.Pod) *v1.Pod {
	pd.Labels["color"] = "red"
	pd.Spec.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{
			{Weight: 1, PodAffinityTerm: affinityTerm("red", hostKey)}}}}
	return pd
}
func preferAntiAffinity(pd *v1.Pod) *v1.Pod {
	pd.Labels["color"] = "yellow"
	pd.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{
			{Weight: 1, PodAffinityTerm: affinityTerm("yellow", hostKey)}}}}
	return pd
}
func spread(pd *v1.Pod, skew int32, key string, mode v1.UnsatisfiableConstraintAction) *v1.Pod {
	pd.Labels["color"] = "purple"
	pd.Spec.TopologySpreadConstraints = append(pd.Spec.TopologySpreadConstraints, v1.TopologySpreadConstraint{
		MaxSkew: skew, TopologyKey: key, WhenUnsatisfiable: mode, LabelSelector: one("color", "purple").sel()})
	return pd
}
func nodeAffinity(pd *v1.Pod, reqs ...v1.NodeSelectorRequirement) *v1.Pod {
	if pd.Spec.Affinity == nil {
		pd.Spec.Affinity = &v1.Affinity{}
	}
	pd.Spec.Affinity.NodeAffinity = &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{
		NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: reqs}}}}
	return pd
}

// inZone0 is the direct place of the i-th init pod that must lie in zone-0.
func inZone0(p *Params, i int) int {
	n := (p.Nodes + p.Zones - 1) / p.Zones
	return (i % n) * p.Zones
}

func priorityClasses(ctx context.Context, e *Env) error {
	for n, v := range map[string]int32{prioHigh: 1000, prioLow: 1} {
		pc := &schedv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: n}, Value: v}
		if _, err := e.cs.SchedulingV1().PriorityClasses().Create(ctx, pc, metav1.CreateOptions{}); ignoreExists(err) != nil {
			return err
		}
	}
	return nil
}

func deployment(p *Params, role, ns string, i int) *v1.Pod {
	t := i % p.Templates
	app := one("app", fmt.Sprintf("app-%03d", t))
	pd := pod(p, role, ns, i, app)
	request(pd, fmt.Sprintf("%dm", 50+10*(t%17)), fmt.Sprintf("%dMi", 64+32*(t%13)))
	pd.Spec.Tolerations = nil
	switch t % 10 {
	case 0, 1, 2: // plain
	case 3:
		pd.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: zoneKey, WhenUnsatisfiable: v1.ScheduleAnyway, LabelSelector: app.sel()}}
	case 4:
		if role == roleMeasure {
			pd.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{MaxSkew: 2, TopologyKey: zoneKey, WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: app.sel()}}
		}
	case 5:
		pd.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{
			{Weight: 100, PodAffinityTerm: v1.PodAffinityTerm{LabelSelector: app.sel(), TopologyKey: hostKey}}}}}
	case 6:
		if role == roleMeasure {
			pd.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{
				{LabelSelector: app.sel(), TopologyKey: hostKey}}}}
		}
	case 7:
		if role == roleMeasure {
			pd.Spec.NodeSelector = one("bench.dev/half", fmt.Sprint(t/10%2))
		}
	case 8:
		pd.Spec.Tolerations = []v1.Toleration{{Key: "bench.dev/dedicated", Operator: v1.TolerationOpExists}}
	case 9:
		pd.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []v1.PreferredSchedulingTerm{
			{Weight: 10, Preference: v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{{Key: zoneKey, Operator: v1.NodeSelectorOpIn, Values: []string{zoneOf(p, t)}}}}}}}}
	}
	return pd
}
