"""What is kept of a shape and patched row by row equals what is worked out anew, whatever happens in the cluster."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.api.objects import DeviceClass, DeviceClassSpec, ObjectMeta
from scheduler.framework.cycle import Cycle
from scheduler.framework.filtering import code_of_row
from scheduler.framework.interface import FilterPlugin, PreFilterPlugin, PreScorePlugin, ScorePlugin
from scheduler.framework.shape_cache import ShapeCache, ShapeCaches
from tests.builders import expression, info, node, pod, state, term
from tests.plugins.harness import in_tree

GPU = "example.com/gpu"
PLUGINS = [
    "NodeName",
    "NodeUnschedulable",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "NodeResourcesBalancedAllocation",
    "ImageLocality",
    "NodeDeclaredFeatures",
]
INCOMING = (
    pod("p")
    .cpu("2")
    .memory("1Gi")
    .requests({GPU: "1"})
    .image("app:1")
    .host_port(80)
    .tolerates("ok")
    .requires_node(term(expression("disk", "Exists")), term(fields=[expression("metadata.name", "In", "n1")]))
    .prefers_node(5, term(expression("disk", "In", "ssd")))
    .set("spec.hostNetwork", True)
    .set("spec.hostUsers", False)
)

names = st.sampled_from([f"n{number}" for number in range(6)])


@st.composite
def nodes(draw):
    made = node(draw(names)).capacity(
        {GPU: draw(st.sampled_from("012"))}, cpu=draw(st.sampled_from("248")), memory="2Gi"
    )
    if draw(st.booleans()):
        made = made.unschedulable()
    for key in draw(st.sets(st.sampled_from(["ok", "bad"]))):
        made = made.taint(key, effect=draw(st.sampled_from(["NoSchedule", "PreferNoSchedule"])))
    if draw(st.booleans()):
        made = made.label(disk=draw(st.sampled_from(["ssd", "hdd"])))
    for image in draw(st.sets(st.sampled_from(["app:1", "other:1"]))):
        made = made.image(image, size=500 << 20)
    return made.features("UserNamespacesHostNetworkSupport") if draw(st.booleans()) else made


@st.composite
def running(draw):
    uid = draw(st.sampled_from(["q1", "q2", "q3"]))
    made = pod(uid).uid(uid).cpu(draw(st.sampled_from(["0", "1", "3"]))).on(draw(names))
    return made.host_port(80) if draw(st.booleans()) else made


events = st.lists(
    st.one_of(
        st.tuples(st.just("set node"), nodes()),
        st.tuples(st.just("remove node"), names),
        st.tuples(st.just("set pod"), running()),
        st.tuples(st.just("remove pod"), st.sampled_from(["q1", "q2", "q3"])),
        st.tuples(st.just("device class"), st.sampled_from([GPU, "example.com/other"])),
    ),
    min_size=1,
    max_size=12,
)


def happen(cluster, kind, what):
    if kind == "set node":
        cluster.set_node(what.build())
    elif kind == "remove node":
        cluster.remove_node(what)
    elif kind == "set pod":
        cluster.set_pod(info(what, cluster))
    elif kind == "remove pod":
        cluster.remove_pod(what)
    else:
        spec = DeviceClassSpec(extended_resource_name=what)
        cluster.set_object("DeviceClass", DeviceClass(metadata=ObjectMeta(name="c"), spec=spec))


def prepared(plugin, waiting, cluster):
    """The cycle of an attempt, in which the plugin has looked at the pod."""
    cycle = Cycle(waiting, cluster, "default-scheduler")
    if isinstance(plugin, PreFilterPlugin):
        plugin.pre_filter(cycle)
    if isinstance(plugin, PreScorePlugin):
        plugin.pre_score(cycle, cycle.nodes)
    return cycle


def compare(plugin, cache, cycle):
    live = np.flatnonzero(cycle.state.nodes.live[: cycle.nodes.size])
    if isinstance(plugin, FilterPlugin):
        fresh = plugin.filter(cycle, cycle.nodes)
        kept = cache.verdicts(plugin, cycle)
        expected = np.zeros(cycle.nodes.size) if fresh is None else fresh
        found = np.zeros(cycle.nodes.size) if kept is None else kept
        assert found[live].tolist() == expected[live].tolist()
        assert [code_of_row(plugin, cycle, row) for row in live.tolist()] == expected[live].tolist()
    if isinstance(plugin, ScorePlugin):
        fresh = plugin.score(cycle, cycle.nodes)
        assert cache.raw_scores(plugin, cycle)[live].tolist() == fresh[live].tolist()
        for row in live.tolist():
            assert plugin.score_at(cycle, row) in (None, fresh[row])


@pytest.mark.parametrize("name", PLUGINS)
@settings(max_examples=40, deadline=None)
@given(happenings=events)
def test_kept_vectors_follow_the_cluster(name, happenings):
    cluster = state([node(f"n{number}") for number in range(4)])
    plugin = in_tree(name, cluster)
    waiting = info(INCOMING, cluster)
    cache = ShapeCache()
    for kind, what in happenings:
        happen(cluster, kind, what)
        cycle = prepared(plugin, waiting, cluster)
        compare(plugin, cache, cycle)


ALIKE = [
    INCOMING.label(app="a"),
    INCOMING.label(app="b"),
    INCOMING.cpu("1"),
    INCOMING.requests({GPU: "2"}),
    INCOMING.image("other:1"),
    INCOMING.host_port(443),
    INCOMING.tolerates("bad"),
    INCOMING.prefers_node(7, term(expression("disk", "In", "hdd"))),
    INCOMING.set("spec.nodeSelector", {"disk": "ssd"}),
    INCOMING.set("spec.hostNetwork", False),
    pod("p").cpu("2").memory("1Gi"),
    pod("p").cpu("2").memory("1Gi").label(app="a"),
    pod("p").cpu("2"),
    pod("p"),
    pod("p").label(app="a"),
    pod("p").tolerates("node.kubernetes.io/unschedulable"),
]


@pytest.mark.parametrize("sees_labels", [True, False])
@pytest.mark.parametrize("name", PLUGINS)
@settings(max_examples=40, deadline=None)
@given(happenings=st.lists(st.one_of(events.map(tuple), st.sampled_from(ALIKE)), min_size=2, max_size=12))
def test_what_shapes_share_is_right_for_each_of_them(name, sees_labels, happenings):
    cluster = state([node(f"n{number}") for number in range(4)])
    plugin = in_tree(name, cluster)
    caches = ShapeCaches(len(ALIKE), sees_labels=sees_labels)
    for one in [*happenings, *ALIKE]:
        if isinstance(one, tuple):
            for kind, what in one:
                happen(cluster, kind, what)
            continue
        waiting = info(one, cluster)
        cycle = prepared(plugin, waiting, cluster)
        compare(plugin, caches.of(waiting.shape), cycle)


@pytest.mark.parametrize("name", PLUGINS)
def test_pods_that_differ_in_labels_only_share_everything(name):
    cluster = state([node(f"n{number}") for number in range(4)])
    plugin = in_tree(name, cluster)
    caches = ShapeCaches(len(ALIKE))
    kept = []
    for one in ALIKE[:2]:
        waiting = info(one, cluster)
        cycle = prepared(plugin, waiting, cluster)
        cache = caches.of(waiting.shape)
        compare(plugin, cache, cycle)
        kept.append((cache.filter_cache(name), cache.score_cache(name)))
    assert kept[0] == kept[1]


def followed(name, happenings):
    """All that a plugin says row by row of pods and clusters as they become, kept vectors among it."""
    cluster = state([node(f"n{number}") for number in range(4)])
    plugin = in_tree(name, cluster)
    waiting, cache, said = info(INCOMING, cluster), ShapeCache(), []
    for kind, what in happenings:
        happen(cluster, kind, what)
        cycle = prepared(plugin, waiting, cluster)
        live = np.flatnonzero(cluster.nodes.live[: cycle.nodes.size])
        if isinstance(plugin, FilterPlugin):
            codes = cache.verdicts(plugin, cycle)
            said.append([] if codes is None else codes[live].tolist())
            said.append([code_of_row(plugin, cycle, row) for row in live.tolist()])
        if isinstance(plugin, ScorePlugin):
            said.append(cache.raw_scores(plugin, cycle)[live].tolist())
    return said


@pytest.mark.parametrize("name", ["NodeResourcesFit", "NodeResourcesBalancedAllocation"])
@settings(max_examples=60, deadline=None)
@given(happenings=events)
def test_it_is_the_same_where_nothing_is_compiled(name, happenings):
    compiled = followed(name, happenings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scheduler.kernels.formula.compiled", None)
        patch.setattr("scheduler.kernels.rows.compiled", None)
        assert followed(name, happenings) == compiled
