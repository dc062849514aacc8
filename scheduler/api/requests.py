"""What pods request, as the scheduler counts it.

Amounts add up as exact decimals and are rounded up once, at the end. Results are in milli-CPU for cpu and
whole units for all else. All functions raise QuantityError if a quantity of the pod doesn't parse.

An API server never shows an empty resource list, so an empty one counts as absent here.

Source: k8s.io/component-helpers/resource/helpers.go; k8s.io/kubernetes pkg/scheduler/framework/types.go
(CalculateResource), pkg/scheduler/framework/plugins/noderesources.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from scheduler.api.conditions import is_resize_infeasible
from scheduler.api.meta import ResourceRequirements
from scheduler.api.pod import Container, ContainerStatus, Pod
from scheduler.api.quantity import Quantity, parse
from scheduler.api.resource_names import CPU, EPHEMERAL_STORAGE, MEMORY, is_pod_level, is_scalar

#: What a container without a request counts as for scoring: milli-CPU and bytes.
DEFAULT_MILLI_CPU: Final = 100
DEFAULT_MEMORY: Final = 200 * 1024 * 1024

Amounts = dict[str, Quantity]
_Texts = Mapping[str, str]
# Of a container's requests in its spec, its status, and what counts if the status says nothing.
_Choice = Callable[[_Texts, ContainerStatus | None, _Texts], _Texts]

_DEFAULTS: Final[Mapping[str, Quantity]] = {
    CPU: parse(f"{DEFAULT_MILLI_CPU}m"),
    MEMORY: parse(str(DEFAULT_MEMORY)),
}
_NO_DEFAULTS: Final[Mapping[str, Quantity]] = {}


class PodUsage(NamedTuple):
    """What an existing pod takes of its node.

    ``thousandths`` has the requests in thousandths of their units where that is not a thousand times the request, which
    is rounded up, or is too large for an int64. Not for cpu, whose requests are in thousandths as they are.
    """

    requests: dict[str, int]
    nonzero_cpu: int
    nonzero_memory: int
    thousandths: dict[str, int]


def incoming_requests(pod: Pod) -> dict[str, int]:
    """Return what a pod asks of a node when it is filtered (``computePodResourceRequest``).

    Only names that the scheduler counts are in it. An amount can be 0 and is never negative.
    """
    amounts = _pod_requests(pod, use_status=False, pod_level=True)
    return {name: max(0, amount) for name, amount in _counted(amounts).items()}


def existing_requests(pod: Pod) -> PodUsage:
    """Return what an assigned pod takes, with an in-place resize of it (``PodInfo.CalculateResource``)."""
    amounts = _pod_requests(pod, use_status=True, pod_level=True)
    defaults = _DEFAULTS
    if _has_pod_level_requests(pod):
        defaults = {name: amount for name, amount in _DEFAULTS.items() if name not in amounts}
    nonzero = amounts
    if defaults:
        nonzero = _pod_requests(pod, use_status=True, pod_level=True, defaults=defaults)
    requests = _counted(amounts)
    exact = {name: amounts[name].milli_value() for name in requests if name != CPU}
    thousandths = {name: amount for name, amount in exact.items() if amount != 1000 * requests[name]}
    return PodUsage(requests, _number(CPU, nonzero), _number(MEMORY, nonzero), thousandths)


def scored_requests(pod: Pod, *, nonzero: bool, pod_level: bool) -> dict[str, int]:
    """Return what a pod asks of each resource when nodes are scored (``calculatePodResourceRequest``).

    NodeResourcesFit takes ``nonzero=True, pod_level=False``: containers without a request for cpu or memory
    get the defaults. ``nonzero=False, pod_level=True``, NodeResourcesBalancedAllocation's, includes the pod's
    status: of the resources that the scheduler counts, that is what ``existing_requests`` has. A resource that
    isn't in the result counts as 0.
    """
    defaults = _DEFAULTS if nonzero else _NO_DEFAULTS
    amounts = _pod_requests(pod, use_status=pod_level, pod_level=pod_level, defaults=defaults)
    return {name: _number(name, amounts) for name in amounts}


def _pod_requests(
    pod: Pod, *, use_status: bool, pod_level: bool, defaults: Mapping[str, Quantity] = _NO_DEFAULTS
) -> Amounts:
    """``PodRequests`` of the component helpers."""
    if use_status and _is_resized(pod):
        amounts = _resized_requests(pod, defaults)
    else:
        amounts = _aggregated(pod, _spec_requests, use_status=False, defaults=defaults)
    if pod_level and _has_pod_level_requests(pod):
        amounts.update(_pod_level_requests(pod, use_status=use_status))
    if pod.spec.overhead:
        _add(amounts, _parsed(pod.spec.overhead))
    return amounts


def _is_resized(pod: Pod) -> bool:
    """Say whether the status can lead to other requests than the spec."""
    status = pod.status
    if status.allocated_resources is not None or is_resize_infeasible(pod):
        return True
    spec = {c.name: c.resources.requests for c in (*pod.spec.containers, *pod.spec.init_containers)}
    for container in (*status.container_statuses, *status.init_container_statuses):
        requests = spec.get(container.name)
        if requests is None:
            continue
        if container.allocated_resources is not None and container.allocated_resources != requests:
            return True
        in_force = container.resources.requests if container.resources is not None else None
        if in_force is not None and in_force != requests:
            return True
    return False


def _resized_requests(pod: Pod, defaults: Mapping[str, Quantity]) -> Amounts:
    """Return the largest of the sums of what the spec says, what was allocated and what is in force."""
    status = pod.status
    in_force = status.resources.requests if status.resources is not None else None
    if status.allocated_resources is not None and in_force is not None:
        allocated, actuated = _parsed(status.allocated_resources), _parsed(in_force)
    else:
        allocated = _aggregated(pod, _allocated_requests, use_status=True, defaults=defaults)
        actuated = _aggregated(pod, _actuated_requests, use_status=True, defaults=defaults)
    if is_resize_infeasible(pod):
        return _largest(actuated, allocated)
    spec = _aggregated(pod, _spec_requests, use_status=True, defaults=defaults)
    return _largest(spec, actuated, allocated)


def _pod_level_requests(pod: Pod, *, use_status: bool) -> Amounts:
    spec = pod.spec.resources or ResourceRequirements()
    requests = _parsed(spec.requests)
    if use_status and pod.status.resources is not None:
        if is_resize_infeasible(pod):
            requests = {}
        in_force = _parsed(pod.status.resources.requests or {})
        requests = _largest(requests, in_force, _parsed(pod.status.allocated_resources or {}))
    return {name: amount for name, amount in requests.items() if is_pod_level(name)}


def _has_pod_level_requests(pod: Pod) -> bool:
    return pod.spec.resources is not None and any(is_pod_level(name) for name in pod.spec.resources.requests)


def _aggregated(pod: Pod, choice: _Choice, *, use_status: bool, defaults: Mapping[str, Quantity]) -> Amounts:
    """Sum up containers and sidecars, and let each init container raise it, with the sidecars before it."""
    statuses: dict[str, ContainerStatus] = {}
    if use_status:
        for status in (*pod.status.container_statuses, *pod.status.init_container_statuses):
            statuses.setdefault(status.name, status)
    infeasible = use_status and is_resize_infeasible(pod)

    def requests_of(container: Container) -> Amounts:
        spec = container.resources.requests
        requests = _parsed(choice(spec, statuses.get(container.name), {} if infeasible else spec))
        return {**defaults, **requests} if defaults else requests

    total: Amounts = {}
    for container in pod.spec.containers:
        _add(total, requests_of(container))
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in pod.spec.init_containers:
        requests = requests_of(container)
        if container.restart_policy == "Always":
            _add(total, requests)
            _add(sidecars, requests)
            requests = sidecars
        else:
            _add(requests, sidecars)
        _raise_to(peak, requests)
    _raise_to(total, peak)
    return total


def _spec_requests(spec: _Texts, _status: ContainerStatus | None, _fallback: _Texts) -> _Texts:
    return spec


def _allocated_requests(_spec: _Texts, status: ContainerStatus | None, fallback: _Texts) -> _Texts:
    allocated = status.allocated_resources if status is not None else None
    return fallback if allocated is None else allocated


def _actuated_requests(spec: _Texts, status: ContainerStatus | None, fallback: _Texts) -> _Texts:
    if status is not None and status.resources is not None and status.resources.requests is not None:
        return status.resources.requests
    return _allocated_requests(spec, status, fallback)


def _parsed(resources: _Texts) -> Amounts:
    return {name: parse(text) for name, text in resources.items()}


def _add(total: Amounts, more: Mapping[str, Quantity]) -> None:
    for name, amount in more.items():
        present = total.get(name)
        total[name] = amount if present is None else present + amount


def _raise_to(total: Amounts, more: Mapping[str, Quantity]) -> None:
    for name, amount in more.items():
        present = total.get(name)
        if present is None or amount > present:
            total[name] = amount


def _largest(*amounts: Mapping[str, Quantity]) -> Amounts:
    result: Amounts = {}
    for each in amounts:
        _raise_to(result, each)
    return result


def _number(name: str, amounts: Mapping[str, Quantity]) -> int:
    amount = amounts.get(name)
    if amount is None:
        return 0
    return amount.milli_value() if name == CPU else amount.value()


def _counted(amounts: Mapping[str, Quantity]) -> dict[str, int]:
    return {
        name: _number(name, amounts) for name in amounts if name in (CPU, MEMORY, EPHEMERAL_STORAGE) or is_scalar(name)
    }
