"""What came of trying a node is kept for the next preemptor like it, until something about the node changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.framework.status import Code
from scheduler.plugins.defaultpreemption.budgets import Budgets
from scheduler.plugins.defaultpreemption.candidates import DryRun
from scheduler.plugins.defaultpreemption.columns import select_victims_by_columns
from scheduler.plugins.defaultpreemption.orders import KnownOrders
from tests.builders import info, state
from tests.plugins.defaultpreemption.attempts import (
    NO_BUDGETS,
    NOW,
    budget,
    profile_of,
    rejected,
    small,
    there,
    wanting,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.cache.state import ClusterState
    from scheduler.framework.profile import Profile
    from tests.builders import PodBuilder

NAMES = ("n0", "n1", "n2", "n3")


def outcomes(
    cluster: ClusterState,
    profile: Profile,
    known: KnownOrders | None,
    incoming: PodBuilder | None = None,
    budgets: Budgets = NO_BUDGETS,
) -> Any:
    """What comes of trying all nodes: candidates and refusals."""
    cycle, rejections = rejected(cluster, incoming or wanting("1"), profile)
    run = DryRun(cycle, rejections, budgets, NOW + 3600, known)
    run.run(rejections.rows_with(Code.UNSCHEDULABLE), len(cluster.nodes))
    return [(one.node, [pod.name for pod in one.victims], one.violations) for one in run.candidates], dict(run.tried)


class Trying:
    """A cluster whose nodes are tried again and again; `asked`: those that the filters looked at the last time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.cluster = state([small(name) for name in NAMES], [there(f"p-{name}", name, cpu="2") for name in NAMES])
        self.known = KnownOrders(self.cluster)
        self.profile = profile_of(self.cluster)
        self.asked: set[str] = set()
        select = select_victims_by_columns

        def noting(cycle: Any, filters: Any, rows: Any, *rest: Any) -> Any:
            self.asked |= {self.cluster.nodes.name(row) for row in rows.tolist()}
            return select(cycle, filters, rows, *rest)

        monkeypatch.setattr("scheduler.plugins.defaultpreemption.outcomes.select_victims_by_columns", noting)

    def again(self, incoming: PodBuilder | None = None, budgets: Budgets = NO_BUDGETS) -> set[str]:
        """The nodes looked at; what comes of it is what would come of it had nothing been tried before."""
        self.asked = set()
        found = outcomes(self.cluster, self.profile, self.known, incoming, budgets)
        asked = set(self.asked)
        assert found == outcomes(self.cluster, self.profile, None, incoming, budgets)
        return asked

    def nominate(self, name: str, on: str, cpu: str = "1", priority: int = 100) -> None:
        """Let another pod have a node in prospect."""
        rival = info(wanting(cpu, priority=priority).uid(name), self.cluster)
        self.cluster.nominations.add(rival, on)


@pytest.fixture
def trying(monkeypatch: pytest.MonkeyPatch) -> Trying:
    found = Trying(monkeypatch)
    assert found.again() == set(NAMES)
    return found


def test_a_pod_like_the_one_before_finds_all_known(trying: Trying):
    assert trying.again() == set()
    assert trying.again(wanting("1").uid("another")) == set()


def test_one_that_asks_for_more_or_matters_more_does_not(trying: Trying):
    assert trying.again(wanting("2")) == set(NAMES)
    assert trying.again(wanting("1", priority=200)) == set(NAMES)
    assert trying.again() == set()


def test_a_node_is_tried_again_when_a_pod_comes_goes_or_changes(trying: Trying):
    trying.cluster.set_pod(info(there("new", "n1", cpu="100m"), trying.cluster))
    assert trying.again() == {"n1"}
    trying.cluster.set_pod(info(there("new", "n1", cpu="100m", started=9), trying.cluster))
    assert trying.again() == {"n1"}
    trying.cluster.remove_pod(info(there("new", "n1")).uid)
    assert trying.again() == {"n1"}


def test_a_node_is_tried_again_when_it_changes(trying: Trying):
    trying.cluster.set_node(small("n2").capacity(cpu="1", memory="8Gi").build())
    assert trying.again() == {"n2"}
    trying.cluster.set_node(small("n2").capacity(cpu="1", memory="8Gi").taint("gpu").build())
    trying.again()
    trying.cluster.set_node(small("n2").capacity(cpu="1", memory="8Gi").build())
    assert trying.again() == {"n2"}


def test_a_node_is_tried_again_when_what_is_nominated_to_it_changes(trying: Trying):
    trying.nominate("rival", "n3")
    assert trying.again() == {"n3"}
    trying.nominate("twin", "n0")
    trying.nominate("rival", "n0")
    assert trying.again() == {"n0", "n3"}
    trying.cluster.nominations.remove("twin")
    assert trying.again() == {"n0"}


def test_who_takes_the_place_of_an_equal_makes_no_difference(trying: Trying):
    trying.nominate("rival", "n3")
    trying.again()
    trying.cluster.nominations.remove("rival")
    trying.nominate("other", "n3")
    assert trying.again() == set()


def test_nominated_pods_that_matter_less_do_not_count(trying: Trying):
    trying.nominate("lesser", "n3", priority=99)
    assert trying.again() == set()


def test_the_node_that_the_pod_itself_is_nominated_to_is_another_matter_for_it(trying: Trying):
    incoming = wanting("1").uid("me")
    trying.cluster.nominations.add(info(incoming, trying.cluster), "n1")
    assert trying.again() == {"n1"}
    assert trying.again(incoming) == {"n1"}


def test_a_node_whose_order_may_change_with_time_is_tried_each_time(trying: Trying):
    late = there("late", "n2", cpu="100m").set("status.startTime", "2026-01-01T02:00:00Z")
    trying.cluster.set_pod(info(late, trying.cluster))
    assert [trying.again(), trying.again()] == [{"n2"}, {"n2"}]


def test_all_are_tried_again_under_other_budgets_and_when_a_node_comes(trying: Trying):
    budgets = Budgets([budget("b", {"matchLabels": {"app": "web"}})])
    assert trying.again(budgets=budgets) == set(NAMES)
    trying.cluster.set_node(small("n4").build())
    trying.cluster.set_pod(info(there("p-n4", "n4", cpu="2"), trying.cluster))
    assert trying.again(budgets=budgets) == {*NAMES, "n4"}


def test_a_resource_that_nobody_knew_before_changes_nothing_of_the_rest(trying: Trying):
    trying.nominate("rival", "n3")
    trying.again()
    rival = info(wanting("1", priority=100).requests({"example.com/gpu": "1"}).uid("gpu"), trying.cluster)
    trying.cluster.nominations.add(rival, "n0")
    assert trying.again() == set(NAMES)


_STEPS = st.lists(
    st.tuples(
        st.sampled_from(["pod", "gone", "nominate", "unnominate", "node"]),
        st.integers(0, 3),
        st.integers(0, 5),
        st.sampled_from(["500m", "1", "2"]),
        st.sampled_from([0, 50, 100]),
    ),
    max_size=25,
)


@given(_STEPS)
def test_whatever_happens_all_is_as_if_nothing_had_been_tried_before(steps: Sequence[tuple[str, int, int, str, int]]):
    cluster = state([small(name) for name in NAMES], [there(f"p-{name}", name, cpu="2") for name in NAMES])
    known, profile = KnownOrders(cluster), profile_of(cluster)
    for what, at, number, cpu, priority in steps:
        name, node = f"x{number}", NAMES[at]
        if what == "pod":
            placed = info(there(name, node, cpu=cpu, priority=priority, started=number), cluster)
            cluster.remove_pod(placed.uid)
            cluster.set_pod(placed)
        elif what == "gone":
            cluster.remove_pod(info(there(name, node)).uid)
        elif what == "nominate":
            cluster.nominations.add(info(wanting(cpu, priority=priority).uid(name), cluster), node)
        elif what == "unnominate":
            cluster.nominations.remove(name)
        else:
            cluster.set_node(small(node).capacity(cpu=cpu, memory="8Gi").build())
        for incoming in (wanting("1"), wanting("2", priority=75).uid("x1")):
            if not fits(cluster, incoming):
                assert outcomes(cluster, profile, known, incoming) == outcomes(cluster, profile, None, incoming)


def fits(cluster: ClusterState, incoming: PodBuilder) -> bool:
    """Whether the pod would find a node if nobody else had one in prospect."""
    cpu = info(incoming, cluster).usage.requests["cpu"]
    table = cluster.nodes
    return any(table.allocatable[0, row] - table.requested[0, row] >= cpu for row in table.rows.values())
