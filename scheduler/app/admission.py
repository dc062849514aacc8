"""What an API server makes of a Pod when it is created: for Pods that come from files instead.

Defaults that it gives whenever it reads an object are in `scheduler.api.defaults`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from scheduler.api.objects import LabelSelectorRequirement, Namespace, ObjectMeta, Pod, PriorityClass
from scheduler.api.requests import scored_requests

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scheduler.api.objects import LabelSelector
    from scheduler.api.pod import PodAffinity, PodAffinityTerm, TopologySpreadConstraint

_SYSTEM_PRIORITIES: Final = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
_CPU: Final = "cpu"
_OVERCOMMITTED: Final = (_CPU, "memory")
_HUGE_PAGES: Final = "hugepages-"


class AdmissionError(ValueError):
    """A Pod that an API server would refuse; the text names Pod and field."""

    def __init__(self, pod: Pod, field: str, detail: str) -> None:
        super().__init__(f"Pod {pod.metadata.namespace or 'default'}/{pod.metadata.name}: {field}: {detail}")
        self.pod = pod


def admitted(objects: Iterable[Any]) -> list[Any]:
    """The objects, Pods among them as they would be stored, and the namespaces that they must be in.

    Raises AdmissionError.
    """
    items = list(objects)
    priorities = _Priorities(item for item in items if isinstance(item, PriorityClass))
    pods = [_admitted(item, priorities) if isinstance(item, Pod) else item for item in items]
    return [*_missing_namespaces(items), *pods]


def _missing_namespaces(objects: list[Any]) -> list[Namespace]:
    """Namespaces that Pods are in and that are not among the objects, with the label that every namespace has."""
    there = {item.metadata.name for item in objects if isinstance(item, Namespace)}
    used = {item.metadata.namespace or "default" for item in objects if isinstance(item, Pod)}
    return [
        Namespace(metadata=ObjectMeta(name=name, labels={"kubernetes.io/metadata.name": name}))
        for name in sorted(used - there)
    ]


def _admitted(pod: Pod, priorities: _Priorities) -> Pod:
    spec = pod.spec
    if spec.priority is None:
        pod = priorities.resolved(pod)
    if spec.affinity is not None:
        pod = _with_affinity_keys(pod)
    if any(constraint.match_label_keys for constraint in spec.topology_spread_constraints):
        constraints = tuple(_with_keys(item, pod.metadata.labels) for item in spec.topology_spread_constraints)
        pod = replace(pod, spec=replace(pod.spec, topology_spread_constraints=constraints))
    if spec.resources is not None and spec.resources.limits:
        pod = _with_pod_requests(pod)
    return pod


class _Priorities:
    """Priorities by class (plugin/pkg/admission/priority/admission.go). A Pod that names a priority itself keeps it."""

    def __init__(self, classes: Iterable[PriorityClass]) -> None:
        self._classes = {item.metadata.name: item for item in classes}
        defaults = (item for item in self._classes.values() if item.global_default)
        self._default = min(defaults, key=lambda item: item.value, default=None)

    def resolved(self, pod: Pod) -> Pod:
        """The Pod with the priority and preemption policy of its class. Raises AdmissionError if there is none."""
        name = pod.spec.priority_class_name
        found = self._classes.get(name) if name else self._default
        if found is not None:
            name, priority, policy = found.metadata.name, found.value, found.preemption_policy
        elif not name:
            return pod
        elif name in _SYSTEM_PRIORITIES:
            priority, policy = _SYSTEM_PRIORITIES[name], None
        else:
            detail = f"no PriorityClass with name {name} was found; add it to the input, or set spec.priority"
            raise AdmissionError(pod, "spec.priorityClassName", detail)
        spec = replace(
            pod.spec,
            priority=priority,
            priority_class_name=name,
            preemption_policy=pod.spec.preemption_policy or policy,
        )
        return replace(pod, spec=spec)


def _with_affinity_keys(pod: Pod) -> Pod:
    """matchLabelKeys and mismatchLabelKeys as requirements (mutatePodAffinity, pkg/registry/core/pod/strategy.go)."""
    affinity, labels = pod.spec.affinity, pod.metadata.labels
    assert affinity is not None
    merged = replace(
        affinity,
        pod_affinity=_with_term_keys(affinity.pod_affinity, labels),
        pod_anti_affinity=_with_term_keys(affinity.pod_anti_affinity, labels),
    )
    return pod if merged == affinity else replace(pod, spec=replace(pod.spec, affinity=merged))


def _with_term_keys(affinity: PodAffinity | None, labels: Mapping[str, str]) -> PodAffinity | None:
    if affinity is None:
        return None
    preferred = affinity.preferred_during_scheduling_ignored_during_execution
    return replace(
        affinity,
        required_during_scheduling_ignored_during_execution=tuple(
            _with_both(term, labels) for term in affinity.required_during_scheduling_ignored_during_execution
        ),
        preferred_during_scheduling_ignored_during_execution=tuple(
            replace(item, pod_affinity_term=_with_both(item.pod_affinity_term, labels)) for item in preferred
        ),
    )


def _with_both(term: PodAffinityTerm, labels: Mapping[str, str]) -> PodAffinityTerm:
    selector = _with_requirements(term.label_selector, term.match_label_keys, "In", labels)
    selector = _with_requirements(selector, term.mismatch_label_keys, "NotIn", labels)
    return replace(term, label_selector=selector)


def _with_keys(constraint: TopologySpreadConstraint, labels: Mapping[str, str]) -> TopologySpreadConstraint:
    """matchLabelKeys as requirements (mutateTopologySpreadConstraints, pkg/registry/core/pod/strategy.go)."""
    selector = _with_requirements(constraint.label_selector, constraint.match_label_keys, "In", labels)
    return replace(constraint, label_selector=selector)


def _with_requirements(
    selector: LabelSelector | None, keys: Iterable[str], operator: str, labels: Mapping[str, str]
) -> LabelSelector | None:
    """The selector with a requirement for each key that the Pod has a label of, unless it is there already."""
    if selector is None:
        return None
    wanted = (
        LabelSelectorRequirement(key=key, operator=operator, values=(labels[key],)) for key in keys if key in labels
    )
    more = tuple(requirement for requirement in wanted if requirement not in selector.match_expressions)
    return replace(selector, match_expressions=(*selector.match_expressions, *more)) if more else selector


def _with_pod_requests(pod: Pod) -> Pod:
    """Requests of the Pod as a whole where only its limits are given: what its containers request, or else the limits.

    Source: defaultPodRequests in pkg/apis/core/v1/defaults.go.
    """
    resources = pod.spec.resources
    assert resources is not None
    containers = scored_requests(
        replace(pod, spec=replace(pod.spec, overhead={}, resources=None)), nonzero=False, pod_level=False
    )
    requests = dict(resources.requests)
    for name in _OVERCOMMITTED:
        if name in containers:
            requests.setdefault(name, f"{containers[name]}{'m' if name == _CPU else ''}")
    for name, limit in resources.limits.items():
        if name in _OVERCOMMITTED or name.startswith(_HUGE_PAGES):
            requests.setdefault(name, limit)
    return replace(pod, spec=replace(pod.spec, resources=replace(resources, requests=requests)))
