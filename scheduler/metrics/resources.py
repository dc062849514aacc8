"""What the pods of the cluster request and may use, for /metrics/resources.

Names, labels and selection of pods as in pkg/scheduler/metrics/resources/resources.go; the amounts are those
of PodRequests and PodLimits without status in k8s.io/component-helpers/resource/helpers.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from scheduler.api.conditions import is_terminal
from scheduler.api.quantity import parse as parse_quantity
from scheduler.api.resource_names import is_huge_pages, is_pod_level
from scheduler.metrics.exposition import go_float, header, label_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from scheduler.api.objects import Container, Pod, ResourceRequirements
    from scheduler.api.quantity import Quantity

Kind = Literal["request", "limit"]

_HELP = (
    "[STABLE] {} workloads on the cluster, broken down by pod. This shows the resource usage the scheduler "
    "and kubelet expect per pod for resources along with the unit for the resource if any."
)
_FAMILIES: tuple[tuple[Kind, str, str], ...] = (
    ("request", "kube_pod_resource_request", _HELP.format("Resources requested by")),
    ("limit", "kube_pod_resource_limit", _HELP.format("Resources limit for")),
)
_UNITS = {"cpu": "cores", "memory": "bytes", "storage": "bytes", "ephemeral-storage": "bytes"}


def pod_resource_metrics(pods: Sequence[Pod], *, pods_per_chunk: int = 200) -> Iterator[bytes]:
    """The whole response in pieces small enough to let the event loop run between two of them."""
    for kind, name, text in _FAMILIES:
        head = header(name, text, "gauge")
        for start in range(0, len(pods), pods_per_chunk):
            lines = "".join(_lines(kind, name, pods[start : start + pods_per_chunk]))
            if lines:
                yield (head + lines).encode()
                head = ""


def pod_total(pod: Pod, kind: Kind) -> dict[str, Quantity]:
    """The pod's requests or limits by resource, with overhead (which counts only for limits that are set)."""
    total: dict[str, Quantity] = {}
    for container in pod.spec.containers:
        _add(total, _amounts(container.resources, kind))
    started: dict[str, Quantity] = {}
    peak: dict[str, Quantity] = {}
    for container in pod.spec.init_containers:
        amounts = _amounts(container.resources, kind)
        if _keeps_running(container):
            _add(total, amounts)
            _add(started, amounts)
            _raise(peak, started)
        else:
            _add(amounts, started)
            _raise(peak, amounts)
    _raise(total, peak)
    if pod.spec.resources is not None and _sets_pod_level(pod.spec.resources, kind):
        amounts = _amounts(pod.spec.resources, kind)
        total.update({name: amount for name, amount in amounts.items() if is_pod_level(name)})
    overhead = {name: parse_quantity(text) for name, text in pod.spec.overhead.items()}
    if kind == "limit":
        overhead = {name: amount for name, amount in overhead.items() if name in total and total[name].sign}
    _add(total, overhead)
    return total


def _lines(kind: Kind, metric: str, pods: Iterable[Pod]) -> Iterator[str]:
    for pod in pods:
        if pod.spec.node_name and is_terminal(pod):
            continue
        labels = {
            "namespace": pod.metadata.namespace,
            "pod": pod.metadata.name,
            "node": pod.spec.node_name,
            "scheduler": pod.spec.scheduler_name,
            "priority": "" if pod.spec.priority is None else str(pod.spec.priority),
        }
        for resource, amount in sorted(pod_total(pod, kind).items()):
            if amount.sign:
                labels["resource"] = resource
                labels["unit"] = _unit(resource)
                yield f"{metric}{label_text(labels)} {go_float(_approximate(amount))}\n"


def _approximate(amount: Quantity) -> float:
    """Quantity.AsApproximateFloat64 (k8s.io/apimachinery/pkg/api/resource/quantity.go)."""
    return float(amount.unscaled) * float(10.0**amount.scale) if amount.scale else float(amount.unscaled)


def _unit(resource: str) -> str:
    if is_huge_pages(resource):
        return "bytes"
    if resource.startswith("attachable-volumes-"):
        return "integer"
    return _UNITS.get(resource, "")


def _amounts(resources: ResourceRequirements, kind: Kind) -> dict[str, Quantity]:
    texts = resources.requests if kind == "request" else resources.limits
    return {name: parse_quantity(text) for name, text in texts.items()}


def _add(total: dict[str, Quantity], amounts: Mapping[str, Quantity]) -> None:
    for name, amount in amounts.items():
        known = total.get(name)
        total[name] = amount if known is None else known + amount


def _raise(total: dict[str, Quantity], amounts: Mapping[str, Quantity]) -> None:
    for name, amount in amounts.items():
        known = total.get(name)
        if known is None or amount.compare(known) > 0:
            total[name] = amount


def _keeps_running(container: Container) -> bool:
    return container.restart_policy == "Always"


def _sets_pod_level(resources: ResourceRequirements, kind: Kind) -> bool:
    named = resources.requests if kind == "request" else {**resources.requests, **resources.limits}
    return any(map(is_pod_level, named))
