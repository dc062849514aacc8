"""Objects that are as an API server stores them, so that nothing is left to be filled in.

Most of a large input has been read from a cluster. Decoding it at once, without the value in between that
``scheduler.api.defaults`` works on, takes a third of the time and a fraction of the memory.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from scheduler.api.node import Node
from scheduler.api.pod import Pod
from scheduler.api.quantity import QuantityError, rounded_to_milli

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from scheduler.api.meta import Model, ResourceRequirements
    from scheduler.api.pod import Container, ContainerStatus, ResourcesInForce

    T = TypeVar("T", bound=Model)


def decode_stored(type_: type[T], raw: bytes | msgspec.Raw) -> T | None:
    """The object of a type, if its JSON has all that ``apply_defaults`` would fill in, in the form it would have.

    None if it may not be, and for kinds that are few in a cluster and not looked at here: default and decode it then,
    which also says what is wrong with it.
    """
    known = _STORED.get(type_)
    if known is None:
        return None
    decoder, is_stored = known
    try:
        found: T = decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return found if is_stored(found) else None


def _is_stored_pod(pod: Pod) -> bool:
    meta, spec, status = pod.metadata, pod.spec, pod.status
    seconds = spec.termination_grace_period_seconds
    return (
        bool(meta.name and meta.uid and meta.resource_version and spec.scheduler_name and spec.restart_policy)
        and seconds is not None
        and seconds >= 0
        and all(_is_stored_container(container, host_network=spec.host_network) for container in spec.containers)
        and all(_is_stored_container(container, host_network=spec.host_network) for container in spec.init_containers)
        and all((volume.ephemeral or volume.rbd or volume.azure_disk) is None for volume in spec.volumes)
        and _are_rounded(spec.overhead)
        and _is_rounded_both(spec.resources)
        and _are_stored_statuses(status.container_statuses)
        and _are_stored_statuses(status.init_container_statuses)
        and _are_rounded(status.allocated_resources)
        and _is_rounded_both(status.resources)
    )


def _is_stored_container(container: Container, *, host_network: bool) -> bool:
    resources = container.resources
    return (
        resources.limits.keys() <= resources.requests.keys()
        and all(port.protocol and (port.host_port or not host_network) for port in container.ports)
        and _are_rounded(resources.requests)
        and _are_rounded(resources.limits)
    )


def _are_stored_statuses(statuses: Iterable[ContainerStatus]) -> bool:
    return all(_are_rounded(status.allocated_resources) and _is_rounded_both(status.resources) for status in statuses)


def _is_stored_node(node: Node) -> bool:
    meta, status = node.metadata, node.status
    return (
        bool(meta.name and meta.uid and meta.resource_version and (status.allocatable or not status.capacity))
        and _are_rounded(status.capacity)
        and _are_rounded(status.allocatable)
    )


def _is_rounded_both(resources: ResourceRequirements | ResourcesInForce | None) -> bool:
    return resources is None or (_are_rounded(resources.requests) and _are_rounded(resources.limits))


def _are_rounded(quantities: Mapping[str, str] | None) -> bool:
    return not quantities or all(map(_is_rounded, quantities.values()))


@lru_cache(maxsize=16_384)
def _is_rounded(text: str) -> bool:
    try:
        return rounded_to_milli(text) == text
    except QuantityError:
        return False


_STORED: Final[Mapping[type[Model], tuple[msgspec.json.Decoder[Any], Callable[..., bool]]]] = {
    Pod: (msgspec.json.Decoder(Pod), _is_stored_pod),
    Node: (msgspec.json.Decoder(Node), _is_stored_node),
}
