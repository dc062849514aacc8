"""What stands behind the difference between two nodes' points, as the cluster is now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scheduler.api.requests import scored_requests
from scheduler.api.resource_names import CPU, MEMORY
from scheduler.api.selectors import SelectorError
from scheduler.api.tolerations import count_intolerable, prefer_no_schedule_tolerations
from scheduler.explain.whynot.wording import count, key_word, listed, resource_word, selector_text
from scheduler.framework import names
from scheduler.plugins.image_locality import images_of
from scheduler.plugins.podtopologyspread.constraints import SCHEDULE_ANYWAY
from scheduler.plugins.podtopologyspread.counts import matching_pods
from scheduler.plugins.podtopologyspread.plugin import PodTopologySpread

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.cache.pods import PodInfo
    from scheduler.cache.state import ClusterState
    from scheduler.framework.profile import Profile

_SCORED: Final = (CPU, MEMORY)
_MIB: Final = 1 << 20


class Differences:
    """Words for what plugins make of two nodes, about a pod that waits or is on one of them.

    What is told is of the cluster as it is now, which is not as it was when a recorded decision was taken.
    """

    def __init__(self, state: ClusterState, profile: Profile, pod: PodInfo) -> None:
        self._state = state
        self._profile = profile
        self._pod = pod
        self._tellers: dict[str, Callable[[int, int, tuple[int, int]], str]] = {
            names.NODE_RESOURCES_FIT: self._requested,
            names.NODE_RESOURCES_BALANCED_ALLOCATION: self._balance,
            names.TAINT_TOLERATION: self._taints,
            names.NODE_AFFINITY: self._node_affinity,
            names.INTER_POD_AFFINITY: self._pod_affinity,
            names.IMAGE_LOCALITY: self._images,
            names.POD_TOPOLOGY_SPREAD: self._spread,
        }

    def __call__(self, plugin: str, node: str, other: str, raw: tuple[int, int]) -> str:
        """What makes the difference, "" where nothing is known of it; `raw` is what the plugin gave to each."""
        rows = self._state.nodes.rows
        teller = self._tellers.get(plugin)
        if teller is None or node not in rows or other not in rows:
            return ""
        return teller(rows[node], rows[other], raw)

    def _shares(self, row: int) -> dict[str, int]:
        """By resource, how much of a node would be requested with the pod on it, in percent."""
        table = self._state.nodes
        wanted = scored_requests(self._pod.shape.pod, nonzero=True, pod_level=False)
        there = self._state.pods.get(self._pod.uid)
        counted = there is not None and there.row == row
        shares = {}
        for index, resource in enumerate(_SCORED):
            allocatable = int(table.allocatable[index, row])
            if allocatable:
                taken = int(table.nonzero[index, row]) + (0 if counted else wanted.get(resource, 0))
                shares[resource] = round(100 * taken / allocatable)
        return shares

    def _requested(self, row: int, other: int, raw: tuple[int, int]) -> str:
        del raw
        one, two = self._shares(row), self._shares(other)
        parts = [
            f"{one[name]}% against {two[name]}% of {resource_word(name)}"
            for name in _SCORED
            if name in one and name in two
        ]
        return f"{listed(parts)} requested" if parts else ""

    def _balance(self, row: int, other: int, raw: tuple[int, int]) -> str:
        del raw
        one, two = self._shares(row), self._shares(other)
        if len(one) < 2 or len(two) < 2:
            return ""
        apart = [abs(shares[CPU] - shares[MEMORY]) for shares in (one, two)]
        return f"CPU and memory are requested {apart[0]} against {apart[1]} percent points apart"

    def _taints(self, row: int, other: int, raw: tuple[int, int]) -> str:
        del raw
        soft = prefer_no_schedule_tolerations(self._pod.shape.pod.spec.tolerations)
        one, two = (count_intolerable(self._state.nodes.node(place).spec.taints, soft) for place in (row, other))
        return f"{one} against {count(two, 'taint')} that it would rather not tolerate"

    def _node_affinity(self, row: int, other: int, raw: tuple[int, int]) -> str:
        del row, other
        return f"preferred node affinity of weight {raw[0]} against {raw[1]} is met"

    def _pod_affinity(self, row: int, other: int, raw: tuple[int, int]) -> str:
        del row, other
        return f"affinity to the pods nearby weighs {raw[0]} against {raw[1]}"

    def _images(self, row: int, other: int, raw: tuple[int, int]) -> str:
        del raw
        states = self._state.nodes.images.states
        wanted = list(dict.fromkeys(images_of(self._pod.shape)))
        sizes = [
            sum(states[name].size for name in wanted if name in states and place in states[name].rows)
            for place in (row, other)
        ]
        return f"{sizes[0] // _MIB} against {sizes[1] // _MIB} MiB of its images are there"

    def _spread(self, row: int, other: int, raw: tuple[int, int]) -> str:
        del raw
        plugin = self._profile.plugins.get(names.POD_TOPOLOGY_SPREAD)
        if not isinstance(plugin, PodTopologySpread):
            return ""
        try:
            constraints = plugin.constraints(self._pod.shape, SCHEDULE_ANYWAY)
        except SelectorError:
            return ""
        table = self._state.nodes
        parts = []
        for constraint in constraints:
            column = table.labels(constraint.topology_key)
            counter = matching_pods(self._state, self._pod.namespace, constraint.selector)
            counts, ids = counter.per_node(table.size), column.ids[: table.size]
            one, two = (int(counts[ids == ids[place]].sum()) for place in (row, other))
            if one != two:
                what = f"pods with {selector_text(str(constraint.selector))}"
                parts.append(f"{one} against {two} {what} in its {key_word(constraint.topology_key)}")
        return listed(parts)
