"""Node selectors and affinity for all nodes at once."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.api.nodeaffinity import preferred_scheduling_terms, required_node_affinity
from scheduler.cache.nodes import NodeView
from scheduler.framework.node_match import PreferredMatch, RequiredMatch
from tests.builders import expression, node, pod, state, term

VALUES = ["a", "b", "3", "12", "x y"]
KEYS = ["disk", "zone"]
expressions = st.one_of(
    st.builds(
        lambda key, operator, values: expression(key, operator, *values),
        st.sampled_from(KEYS),
        st.sampled_from(["In", "NotIn"]),
        st.lists(st.sampled_from(VALUES), min_size=1, max_size=2),
    ),
    st.builds(expression, st.sampled_from(KEYS), st.sampled_from(["Exists", "DoesNotExist"])),
    st.builds(expression, st.sampled_from(KEYS), st.sampled_from(["Gt", "Lt"]), st.sampled_from(["1", "5", "20"])),
)
fields = st.builds(
    expression,
    st.sampled_from(["metadata.name", "metadata.namespace"]),
    st.sampled_from(["In", "NotIn"]),
    st.sampled_from(["n0", "n1", "gone", ""]),
)
terms = st.builds(
    lambda expressions, fields: term(*expressions, fields=fields),
    st.lists(expressions, max_size=2),
    st.lists(fields, max_size=2),
)
labels = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES[:4]))
node_labels = st.lists(labels, min_size=1, max_size=5)


def cluster(all_labels):
    return state([node(f"n{number}").label(each) for number, each in enumerate(all_labels)])


@settings(max_examples=200, deadline=None)
@given(all_labels=node_labels, selector=labels, required=st.none() | st.lists(terms, max_size=3))
def test_required_affinity_agrees_with_one_node_at_a_time(all_labels, selector, required):
    incoming = pod("p").node_selector(selector)
    if required is not None:
        incoming = incoming.requires_node(*required)
    spec = incoming.build().spec
    scalar = required_node_affinity(spec.node_selector, spec.affinity)
    vector = RequiredMatch(scalar)
    table = cluster(all_labels).nodes
    expected = [scalar.matches(each.metadata.labels, each.metadata.name) for each in table]
    assert vector.mask(NodeView(table)).tolist() == expected
    assert vector.everything is (not selector and required is None)
    some = np.array([len(all_labels) - 1, 0])
    assert vector.mask(NodeView(table, some)).tolist() == [expected[row] for row in some]


@settings(max_examples=200, deadline=None)
@given(all_labels=node_labels, preferred=st.lists(st.tuples(st.integers(0, 100), terms), max_size=3))
def test_preferred_affinity_agrees_with_one_node_at_a_time(all_labels, preferred):
    incoming = pod("p")
    for weight, wanted in preferred:
        broken = any("x y" in each["values"] for each in wanted["matchExpressions"])
        incoming = incoming if broken else incoming.prefers_node(weight, wanted)
    affinity = incoming.build().spec.affinity
    own = affinity.node_affinity.preferred_during_scheduling_ignored_during_execution if affinity else ()
    scalar = preferred_scheduling_terms(own)
    table = cluster(all_labels).nodes
    expected = [scalar.score(each.metadata.labels, each.metadata.name) for each in table]
    assert PreferredMatch(scalar).score(NodeView(table)).tolist() == expected
