"""Which nodes count for a constraint."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.api.nodeaffinity import required_node_affinity
from scheduler.api.objects import NodeSelectorRequirement
from scheduler.cache.nodes import NodeTable, NodeView
from scheduler.plugins.podtopologyspread.inclusion import Inclusion, affinity_mask
from tests.builders import expression, node, pod, term
from tests.plugins import clusters
from tests.plugins.clusters import ZONE

NODES = [
    node("plain").zone("z1"),
    node("tainted").zone("z1").taint("gpu"),
    node("rated").zone("z2").taint("sla", "3"),
    node("evicting").zone("z2").taint("gpu", effect="NoExecute"),
    node("discouraging").zone("z2").taint("gpu", effect="PreferNoSchedule"),
    node("cordoned").zone("z3").unschedulable(),
    node("ssd").zone("z3").label(disk="ssd"),
    node("nowhere"),
]


def table_of(nodes) -> NodeTable:
    table = NodeTable()
    for item in nodes:
        table.set(item.build())
    return table


def included(built, *, keys=(), honor_affinity=True, **policies) -> set[str]:
    table = table_of(NODES)
    inclusion = Inclusion(
        keys, built.build().spec, **{"honor_affinity": honor_affinity, "honor_taints": False} | policies
    )
    inclusion.refresh(table)
    mask = inclusion.mask
    return {name for name, row in table.rows.items() if mask is None or mask[row]}


ALL = {item.build().metadata.name for item in NODES}


@pytest.mark.parametrize(
    ("what", "built", "options", "left_out"),
    [
        ("nothing asked", pod("p"), {}, set()),
        ("a key", pod("p"), {"keys": (ZONE,)}, {"nowhere"}),
        ("taints", pod("p"), {"honor_taints": True}, {"tainted", "rated", "evicting"}),
        ("tolerated taints", pod("p").tolerates("gpu"), {"honor_taints": True}, {"rated"}),
        (
            "taints tolerated by comparison",
            pod("p").tolerates("gpu").tolerates("sla", operator="Lt", value="9"),
            {"honor_taints": True, "comparing": True},
            set(),
        ),
        (
            "without the gate for comparing",
            pod("p").tolerates("gpu").tolerates("sla", operator="Lt", value="9"),
            {"honor_taints": True},
            {"rated"},
        ),
        ("a node selector", pod("p").node_selector(disk="ssd"), {}, ALL - {"ssd"}),
        ("a node selector ignored", pod("p").node_selector(disk="ssd"), {"honor_affinity": False}, set()),
        ("node affinity", pod("p").requires_node(term(expression(ZONE, "NotIn", "z1"))), {}, {"plain", "tainted"}),
    ],
)
def test_inclusion_policies(what, built, options, left_out):
    assert included(built, **options) == ALL - left_out


def test_follows_labels_and_taints():
    table = table_of(NODES)
    inclusion = Inclusion((ZONE,), pod("p").build().spec, honor_affinity=True, honor_taints=True)
    inclusion.refresh(table)
    before = inclusion.version
    table.set(node("nowhere").zone("z9").build())
    table.set(node("plain").zone("z1").taint("gpu").build())
    inclusion.refresh(table)
    assert (bool(inclusion.mask[table.rows["nowhere"]]), bool(inclusion.mask[table.rows["plain"]])) == (True, False)
    assert inclusion.version != before
    assert [table.labels(ZONE).values[i] for i in inclusion.domains(table.labels(ZONE))] == ["z2", "z3", "z9"]


@given(nodes=st.lists(clusters.nodes(), max_size=6), incoming=clusters.plain_pods())
@settings(max_examples=100, deadline=None)
def test_affinity_by_distinct_values_agrees_with_affinity_by_node(nodes, incoming):
    table = NodeTable()
    for item in nodes:
        table.set(item)
    spec = incoming.spec
    affinity = required_node_affinity(spec.node_selector, spec.affinity)
    mask = affinity_mask(affinity, NodeView(table))
    for row, item in enumerate(table.objects):
        assert mask[row] == affinity.matches(item.metadata.labels, item.metadata.name)


@pytest.mark.parametrize(
    ("requirement", "names"),
    [
        (NodeSelectorRequirement(key="metadata.name", operator="In", values=("ssd",)), {"ssd"}),
        (NodeSelectorRequirement(key="metadata.name", operator="NotIn", values=("ssd",)), ALL - {"ssd"}),
        (NodeSelectorRequirement(key="metadata.name", operator="In", values=("unknown",)), set()),
        (NodeSelectorRequirement(key="metadata.uid", operator="In", values=("",)), ALL),
        (NodeSelectorRequirement(key="metadata.name", operator="Near", values=("ssd",)), set()),
    ],
)
def test_match_fields(requirement, names):
    field = {"key": requirement.key, "operator": requirement.operator, "values": list(requirement.values)}
    assert included(pod("p").requires_node(term(fields=[field]))) == names


def test_domains_follow_a_node_that_goes_on_counting_in_another_one():
    table = table_of([node("a").zone("x"), *(node(f"other-{number}").zone("z") for number in range(5))])
    inclusion = Inclusion((ZONE,), pod("p").build().spec, honor_affinity=False, honor_taints=False)

    def zones() -> list[str | None]:
        inclusion.refresh(table)
        column = table.labels(ZONE)
        return sorted(str(column.values[domain]) for domain in inclusion.domains(column))

    assert zones() == ["x", "z"]
    table.set(node("a").zone("y").build())
    assert zones() == ["y", "z"]
