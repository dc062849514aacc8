"""What is counted for the constraints of a shape."""

from __future__ import annotations

import pytest

from scheduler.plugins.podtopologyspread.constraints import DO_NOT_SCHEDULE, compile_constraints
from scheduler.plugins.podtopologyspread.counts import SpreadCounts
from tests.builders import info, node, pod, state
from tests.plugins.clusters import HOST, ZONE

APP_A = {"matchLabels": {"app": "a"}}


def counted(built, *pods, require_all=True) -> list[dict[str, int]]:
    cluster = state([node("a").zone("z1"), node("b").zone("z2"), node("c")], pods)
    shape = info(built, cluster).shape
    constraints = compile_constraints(shape.pod.spec.topology_spread_constraints, shape.labels, DO_NOT_SCHEDULE)
    counts = SpreadCounts(cluster, shape, constraints, require_all=require_all)
    counts.refresh(cluster.nodes)
    return [
        {item.column.values[i]: int(n) for i, n in enumerate(item.sums(cluster.nodes.size)) if n}
        for item in counts.items
    ]


def other(name: str, on: str):
    return pod(name).label(app="a").on(on)


@pytest.mark.parametrize(
    ("what", "extra", "count"),
    [
        ("matches", other("q", "a"), 1),
        ("other labels", pod("q").label(app="b").on("a"), 0),
        ("another namespace", other("q", "a").namespace("x"), 0),
        ("terminating", other("q", "a").terminating(), 0),
    ],
)
def test_pods_of_the_namespace_that_match_and_do_not_end(what, extra, count):
    expected = {"z1": count} if count else {}
    assert counted(pod("p").spreads(ZONE, labelSelector=APP_A), extra) == [expected]


def test_an_empty_selector_counts_no_pods_at_all():
    assert counted(pod("p").spreads(ZONE, labelSelector={}), other("q", "a")) == [{}]


@pytest.mark.parametrize(("require_all", "hosts"), [(True, {"a": 1}), (False, {"a": 1, "c": 1})])
def test_a_node_without_one_of_the_keys_counts_for_none_of_them_if_all_are_required(require_all, hosts):
    built = pod("p").spreads(HOST, labelSelector=APP_A).spreads(ZONE, labelSelector=APP_A)
    pods = [other("q", "a"), other("r", "c")]
    assert counted(built, *pods, require_all=require_all) == [hosts, {"z1": 1}]


def test_inclusion_policies_are_each_constraints_own():
    built = pod("p").node_selector({ZONE: "z2"}).spreads(ZONE, labelSelector=APP_A)
    built = built.spreads(HOST, labelSelector=APP_A, nodeAffinityPolicy="Ignore")
    assert counted(built, other("q", "a"), other("r", "b")) == [{"z2": 1}, {"a": 1, "b": 1}]


def test_in_a_trial_pods_come_and_go_that_are_not_counted_otherwise():
    """As in kube-scheduler: terminating ones, and any pod for an empty selector, of the pod's namespace."""
    nodes = [node("a").zone("a"), node("b").zone("b")]
    leaving = pod("leaving").label(app="web").on("a").terminating()
    cluster = state(nodes, [leaving, pod("other").on("b")])
    changes = {}
    for name, selector in (("web", {"matchLabels": {"app": "web"}}), ("empty", {})):
        wanted = info(pod(name).spreads(ZONE, labelSelector=selector), cluster)
        constraints = compile_constraints(
            wanted.shape.pod.spec.topology_spread_constraints, wanted.shape.labels, DO_NOT_SCHEDULE
        )
        counts = SpreadCounts(cluster, wanted.shape, constraints, require_all=True)
        counts.refresh(cluster.nodes)
        (item,) = counts.items
        with cluster.what_if() as trial:
            for there in list(cluster.pods):
                trial.remove(there)
            trial.add(info(pod("elsewhere").namespace("other"), cluster), "a")
            found = item.uncounted(trial, cluster.nodes, len(item.column.values))
        changes[name] = {value: int(found[index]) for value, index in item.column.index.items() if value is not None}
    assert changes == {"web": {"a": -1, "b": 0}, "empty": {"a": -1, "b": -1}}
