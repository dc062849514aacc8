"""The filters as a dry run asks them: anew where evictions may change the verdict, and not at all elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from scheduler.cache.changes import Change
from scheduler.framework.cycle import Cycle
from scheduler.framework.diagnosis import Rejections
from scheduler.framework.interface import FilterPlugin
from scheduler.framework.status import Code, Status, unresolvable, unschedulable
from scheduler.plugins.defaultpreemption.filters import DryRunFilters
from tests.builders import info, node, pod, pod_term, state
from tests.plugins.defaultpreemption.attempts import rejected, small, there, wanting

if TYPE_CHECKING:
    from scheduler.cache.nodes import NodeView
    from scheduler.cache.state import ClusterState
    from scheduler.framework.interface import Codes

ROWS = np.arange(3)


class Fake(FilterPlugin):
    """Answers with what `codes` says of each row, and notes for which rows it was asked."""

    def __init__(self, name: str, codes: list[int] | None, depends: Change, status: Status | None = None) -> None:
        self.name = name  # type: ignore[misc]
        self.depends = depends  # type: ignore[misc]
        self.codes = codes
        self.asked: list[list[int]] = []
        self._status = status

    def filter(self, cycle: Cycle, nodes: NodeView) -> Codes | None:
        self.asked.append(nodes.rows.tolist())
        return None if self.codes is None else np.array(self.codes, np.uint8)[nodes.rows]

    def status(self, cycle: Cycle, code: int) -> Status:
        return self._status or unschedulable(f"{self.name} {code}")


def settled(name: str, codes: list[int] | None) -> Fake:
    """One to which it does not matter which pods are on a node."""
    return Fake(name, codes, Change.LABELS)


def open_(name: str, codes: list[int] | None) -> Fake:
    """One that goes by the amounts that the pods of a node take."""
    return Fake(name, codes, Change.REQUESTED)


def asking(*plugins: Fake, filtered: bool = True) -> DryRunFilters:
    """The filters of an attempt on three nodes at which these gave their verdicts."""
    cluster: ClusterState = state([small(f"n{number}") for number in range(3)])
    cycle = Cycle(info(wanting(), cluster), cluster, "default-scheduler")
    cycle.filters = list(plugins)
    rejections = Rejections(cycle)
    if filtered:
        rejections.verdicts = [(p, np.array(p.codes, np.uint8)) for p in plugins if p.codes is not None]
    else:
        rejections.pre_filter_message = "no"
    return DryRunFilters(cycle, rejections)


def told(filters: DryRunFilters, rows: np.ndarray[Any, Any] = ROWS) -> dict[int, str]:
    return {int(rows[at]): status.reasons[0] for status, places in filters.verdicts(rows) for at in places}


class TestWhatIsAskedAnew:
    def test_a_verdict_that_no_eviction_changes_is_remembered(self) -> None:
        taints, fit = settled("Taints", [0, 1, 0]), open_("Fit", [1, 1, 1])
        filters = asking(taints, fit)
        assert told(filters) == {0: "Fit 1", 1: "Taints 1", 2: "Fit 1"}
        assert filters.verdict(1) == unschedulable("Taints 1").by("Taints")
        assert taints.asked == []
        assert fit.asked == [[0, 1, 2]]

    def test_one_that_let_all_pass_lets_them_pass_again(self) -> None:
        silent = settled("Silent", None)
        assert told(asking(silent, open_("Fit", [0, 1, 0]))) == {1: "Fit 1"}
        assert silent.asked == []

    @pytest.mark.parametrize(
        ("depends", "asked"),
        [
            (Change.TAINTS | Change.LABELS, False),
            (Change.ALLOCATABLE, False),
            (Change.REQUESTED, True),
            (Change.PORTS, True),
            (Change.PODS, True),
            (Change.ALL, True),
        ],
    )
    def test_it_goes_by_what_a_filter_says_it_depends_on(self, depends: Change, asked: bool) -> None:
        plugin = Fake("Any", [1, 1, 1], depends)
        asking(plugin).verdict(0)
        assert bool(plugin.asked) is asked

    @pytest.mark.parametrize("field", ["per_cycle", "feasible_only"])
    def test_those_that_are_asked_in_each_cycle_are_asked_here_too(self, field: str) -> None:
        plugin = settled("Topology", [1, 1, 1])
        setattr(plugin, field, True)
        assert asking(plugin).verdict(0) == unschedulable("Topology 1").by("Topology")
        assert plugin.asked == [[0]]

    def test_if_prefilter_refused_the_pod_there_is_nothing_to_go_by(self) -> None:
        taints = settled("Taints", [0, 1, 0])
        assert told(asking(taints, filtered=False)) == {1: "Taints 1"}
        assert taints.asked == [[0, 1, 2]]


class TestColumnsOnly:
    """Whether nodes may be tried many at once, by the columns of amounts alone."""

    @pytest.mark.parametrize(
        ("depends", "columns"),
        [
            ([Change.LABELS, Change.REQUESTED], True),
            ([Change.REQUESTED, Change.PORTS], False),
            ([Change.REQUESTED, Change.PODS], False),
            ([], True),
        ],
    )
    def test_only_if_nothing_else_is_at_stake(self, depends: list[Change], columns: bool) -> None:
        plugins = [Fake(f"f{place}", [1, 1, 1], each) for place, each in enumerate(depends)]
        assert asking(*plugins).columns_only is columns

    def test_not_if_nothing_was_filtered(self) -> None:
        assert not asking(open_("Fit", [1, 1, 1]), filtered=False).columns_only

    def test_the_default_profile_can_for_pods_without_ports_volumes_and_affinity(self) -> None:
        nodes, pods = [small("n")], [there("v", "n", cpu="2")]
        assert DryRunFilters(*rejected(state(nodes, pods), wanting())).columns_only
        affine = wanting().requires_pods(pod_term("kubernetes.io/hostname", {"app": "web"}), anti=True)
        assert not DryRunFilters(*rejected(state(nodes, pods), affine)).columns_only
        assert not DryRunFilters(*rejected(state(nodes, pods), wanting().host_port(80))).columns_only


class TestVerdicts:
    def test_the_first_refusal_of_a_node_counts(self) -> None:
        first, second = open_("First", [0, 2, 1]), open_("Second", [1, 1, 0])
        assert told(asking(first, second)) == {0: "Second 1", 1: "First 2", 2: "First 1"}

    def test_for_many_it_is_as_for_each(self) -> None:
        plugins = settled("A", [0, 1, 0]), open_("B", [2, 0, 0]), settled("C", [1, 1, 0]), open_("D", None)
        filters = asking(*plugins)
        each = {row: status.reasons[0] for row in range(3) if (status := filters.verdict(row)) is not None}
        assert told(filters) == each == {0: "B 2", 1: "A 1"}

    def test_rows_are_given_by_their_place_in_what_was_asked(self) -> None:
        filters = asking(open_("Fit", [0, 1, 1]))
        ((status, places),) = filters.verdicts(np.array([2, 0, 1]))
        assert (status.reasons, places.tolist()) == (("Fit 1",), [0, 2])

    def test_each_is_marked_with_who_gave_it(self) -> None:
        ((status, _),) = asking(settled("Taints", [1, 0, 0])).verdicts(ROWS)
        assert status.plugin == "Taints"

    def test_a_refusal_that_nothing_resolves_stays_one(self) -> None:
        plugin = Fake("Gone", [1, 0, 0], Change.REQUESTED, unresolvable("gone"))
        assert asking(plugin).verdict(0) == unresolvable("gone").by("Gone")

    def test_a_filter_that_fails_is_told_with_its_name(self) -> None:
        plugin = Fake("Broken", [1, 0, 0], Change.REQUESTED, Status(Code.ERROR, ("no luck",)))
        found = asking(plugin).verdict(0)
        assert found is not None
        assert (found.code, found.message) == (Code.ERROR, 'running "Broken" filter plugin: no luck')
        assert found.plugin == "Broken"


class TestMisfits:
    def test_only_filters_that_an_eviction_may_sway_are_asked(self) -> None:
        taints, fit, ports = settled("Taints", [1, 1, 1]), open_("Fit", [1, 0, 0]), Fake("P", [0, 0, 1], Change.PORTS)
        assert asking(taints, fit, ports).misfits(ROWS).tolist() == [True, False, True]
        assert taints.asked == []

    def test_those_that_let_all_pass_need_no_codes(self) -> None:
        assert asking(open_("Fit", None)).misfits(np.array([0, 2])).tolist() == [False, False]


def test_what_is_asked_sees_the_state_as_it_is_tried() -> None:
    cluster = state([node("n").capacity(cpu="2")], [there("victim", "n", cpu="2")])
    filters = DryRunFilters(*rejected(cluster, pod("urgent").cpu("2").priority(9)))
    assert filters.verdict(0) is not None
    with cluster.what_if() as trial:
        (victim,) = cluster.pods.on_node("n")
        trial.remove(victim)
        assert filters.verdict(0) is None
    assert filters.verdict(0) is not None
