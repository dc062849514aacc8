package main

import (
	"fmt"
	"math"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// termCount counts the bound pods that match a term, by topology value.
func (v *verifier) termCount(t *v1.PodAffinityTerm, owner *v1.Pod) (map[string]int, func(*v1.Pod) bool) {
	sel, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
	if err != nil {
		sel = labels.Nothing()
	}
	var nsSel labels.Selector
	if t.NamespaceSelector != nil {
		nsSel, _ = metav1.LabelSelectorAsSelector(t.NamespaceSelector)
	}
	ns := t.Namespaces
	if len(ns) == 0 && nsSel == nil {
		ns = []string{owner.Namespace}
	}
	match := func(p *v1.Pod) bool {
		in := false
		for _, n := range ns {
			in = in || n == p.Namespace
		}
		if !in && nsSel != nil {
			in = nsSel.Matches(v.nsLbl[p.Namespace])
		}
		return in && sel.Matches(labels.Set(p.Labels))
	}
	key := strings.Join(ns, ",") + "|" + fmt.Sprint(nsSel) + "|" + sel.String() + "|" + t.TopologyKey
	c := v.count[key]
	if c == nil {
		c = map[string]int{}
		for _, p := range v.pods {
			if d, ok := v.nodes[p.Spec.NodeName].Labels[t.TopologyKey]; ok && match(p) {
				c[d]++
			}
		}
		v.count[key] = c
	}
	return c, match
}

func (v *verifier) podRules(p *v1.Pod, init string) {
	a := p.Spec.Affinity
	if a == nil {
		return
	}
	n := v.nodes[p.Spec.NodeName]
	if a.PodAntiAffinity != nil {
		for i := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			t := &a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[i]
			c, match := v.termCount(t, p)
			d, ok := n.Labels[t.TopologyKey]
			others := c[d]
			if match(p) {
				others--
			}
			if ok && others > 0 {
				v.bad("anti-affinity of %s: %d other matching pods in %s=%s", p.Name, others, t.TopologyKey, d)
			}
		}
	}
	if a.PodAffinity != nil {
		for i := range a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			t := &a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[i]
			c, match := v.termCount(t, p)
			d, ok := n.Labels[t.TopologyKey]
			if !ok {
				v.bad("affinity of %s: node %s has no label %s", p.Name, n.Name, t.TopologyKey)
				continue
			}
			if !match(p) {
				if c[d] < 1 {
					v.bad("affinity of %s: no matching pod in %s=%s", p.Name, t.TopologyKey, d)
				}
				continue
			}
			// The pods match their own term: each may only join a domain that was
			// seeded, by a pod that the bench placed or that lacks the term; where
			// there is no seed at all, the first pod founds one domain.
			seeds, used := map[string]bool{}, map[string]bool{}
			key := termKey(t, p)
			if s, ok := v.seeds[key]; ok {
				seeds, used = s[0], s[1]
			} else {
				for _, q := range v.pods {
					qd, ok := v.nodes[q.Spec.NodeName].Labels[t.TopologyKey]
					if !ok || !match(q) {
						continue
					}
					used[qd] = true
					if !v.byScheduler(q, init) || !hasTerm(q, key) {
						seeds[qd] = true
					}
				}
				v.seeds[key] = [2]map[string]bool{seeds, used}
				if len(seeds) == 0 && len(used) > 1 {
					v.bad("affinity: pods with the term %s are in %d domains without a pod to join", key, len(used))
				}
			}
			if len(seeds) > 0 && !seeds[d] {
				v.bad("affinity of %s: no matching pod was in %s=%s before its kind", p.Name, t.TopologyKey, d)
			}
		}
	}
}

func termKey(t *v1.PodAffinityTerm, owner *v1.Pod) string {
	ns := owner.Namespace
	if len(t.Namespaces) > 0 {
		ns = strings.Join(t.Namespaces, ",")
	}
	return ns + "|" + metav1.FormatLabelSelector(t.LabelSelector) + "|" + metav1.FormatLabelSelector(t.NamespaceSelector) + "|" + t.TopologyKey
}

func hasTerm(p *v1.Pod, key string) bool {
	if p.Spec.Affinity == nil || p.Spec.Affinity.PodAffinity == nil {
		return false
	}
	l := p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	for i := range l {
		if termKey(&l[i], p) == key {
			return true
		}
	}
	return false
}

// spread checks the final skew of each hard constraint; soft ones are reported.
func (v *verifier) spread(p *v1.Pod) {
	for _, c := range p.Spec.TopologySpreadConstraints {
		key := fmt.Sprintf("spread|%s|%s|%d|%s|%s|%v", p.Namespace, c.TopologyKey, c.MaxSkew, c.WhenUnsatisfiable, metav1.FormatLabelSelector(c.LabelSelector), p.Spec.NodeSelector)
		if a := p.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
			key += a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.String()
		}
		if v.count[key] != nil {
			continue
		}
		sel, err := metav1.LabelSelectorAsSelector(c.LabelSelector)
		if err != nil {
			continue
		}
		cnt := map[string]int{}
		for _, n := range v.nodes {
			d, ok := n.Labels[c.TopologyKey]
			if !ok {
				continue
			}
			if c.NodeAffinityPolicy == nil || *c.NodeAffinityPolicy == v1.NodeInclusionPolicyHonor {
				if ok, _ := nodeaffinity.GetRequiredNodeAffinity(p).Match(n); !ok {
					continue
				}
			}
			cnt[d] += 0
		}
		for _, q := range v.pods {
			if d, ok := v.nodes[q.Spec.NodeName].Labels[c.TopologyKey]; ok && q.Namespace == p.Namespace && sel.Matches(labels.Set(q.Labels)) {
				if _, in := cnt[d]; in {
					cnt[d]++
				}
			}
		}
		v.count[key] = cnt
		lo, hi := math.MaxInt, 0
		for _, x := range cnt {
			lo, hi = min(lo, x), max(hi, x)
		}
		if c.MinDomains != nil && len(cnt) < int(*c.MinDomains) {
			lo = 0
		}
		if c.WhenUnsatisfiable == v1.DoNotSchedule {
			if hi-lo > int(c.MaxSkew) {
				v.bad("spreading over %s: skew %d is above %d: %v", c.TopologyKey, hi-lo, c.MaxSkew, cnt)
			}
		} else if hi-lo > v.r.Placement.SoftSkew {
			v.r.Placement.SoftSkew = hi - lo
		}
	}
}
