package main

import (
	"sort"

	v1 "k8s.io/api/core/v1"
)

func (v *verifier) placement() {
	per := map[string]int{}
	pl := &v.r.Placement
	pl.Zones = map[string]int{}
	pairs, n := 0.0, 0
	for _, p := range v.pods {
		if p.Labels[roleLabel] != roleMeasure {
			continue
		}
		n++
		node := v.nodes[p.Spec.NodeName]
		per[node.Name]++
		pl.Zones[node.Labels[zoneKey]]++
		a := p.Spec.Affinity
		if a == nil {
			continue
		}
		score := func(l []v1.WeightedPodAffinityTerm, sign float64) {
			for i := range l {
				c, match := v.termCount(&l[i].PodAffinityTerm, p)
				x := c[node.Labels[l[i].PodAffinityTerm.TopologyKey]]
				if match(p) {
					x--
				}
				pairs += sign * float64(l[i].Weight) * float64(x)
			}
		}
		if a.PodAffinity != nil {
			score(a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution, 1)
		}
		if a.PodAntiAffinity != nil {
			score(a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution, -1)
		}
	}
	if n > 0 {
		pl.Preferred = pairs / float64(n)
	}
	var xs []float64
	for name := range v.nodes {
		xs = append(xs, float64(per[name]))
	}
	sort.Float64s(xs)
	pl.NodesUsed = len(per)
	if len(xs) > 0 {
		pl.PerNodeMin, pl.PerNodeMax = int(xs[0]), int(xs[len(xs)-1])
	}
	pl.PerNodeMean, pl.PerNodeStddev = meanStddev(xs)
}
