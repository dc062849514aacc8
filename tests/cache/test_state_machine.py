"""Whatever happens, in whatever order: the state equals one that is built from scratch."""

from __future__ import annotations

import msgspec
import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from scheduler.api.objects import ContainerStatus, Namespace, Node, Pod, PodStatus, Taint
from scheduler.cache.changes import Change
from scheduler.cache.counters import PREFERRED, REQUIRED, REQUIRED_ANTI, DomainTally
from scheduler.cache.nodes import NodeView
from scheduler.cache.state import ClusterState
from scheduler.framework.row_cache import RowCache
from tests.builders import NodeBuilder, node, pod, pod_term

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
NODE_NAMES = [f"n{i}" for i in range(3)]
POD_NAMES = [f"p{i}" for i in range(5)]
NAMESPACES = ["default", "other"]

RULES = {
    "app a": lambda c: c.labels.get("app") == "a",
    "default": lambda c: c.namespace == "default",
    "nothing": lambda c: False,
}

RESIZED = PodStatus(container_statuses=(ContainerStatus(name="main", allocated_resources={"cpu": "3"}),))

_choice = st.sampled_from
names = _choice(NODE_NAMES)


def _zones(view: NodeView) -> np.ndarray:
    return view.label_ids(ZONE).copy()


def _tainted(view: NodeView) -> np.ndarray | None:
    taints = np.array([bool(value) for value in view.table.taints.values])
    return taints[view.taint_ids] if taints.any() else None


def _free(view: NodeView) -> np.ndarray:
    return view.allocatable(0) - view.requested(0)


def _requested(view: NodeView) -> np.ndarray:
    return view.requested(0).copy()


ROW_RULES = {
    "requested": (Change.REQUESTED, _requested),
    "zones": (Change.LABELS, _zones),
    "tainted": (Change.TAINTS, _tainted),
    "free": (Change.ALLOCATABLE | Change.REQUESTED, _free),
}


@st.composite
def nodes(draw) -> Node:
    built: NodeBuilder = node(draw(names)).capacity(cpu=draw(_choice(["4", "8"])), memory="8Gi")
    zone = draw(_choice(["z0", "z1", None]))
    if zone:
        built = built.zone(zone)
    if draw(st.booleans()):
        built = built.taint("gpu")
    if draw(st.booleans()):
        built = built.image(draw(_choice(["a:1", "b:1"])), size=1000)
    if draw(st.booleans()):
        built = built.features("F")
    return built.build()


@st.composite
def pods(draw) -> Pod:
    """A pod on a node that may not be there, in one of a few shapes."""
    built = pod(draw(_choice(POD_NAMES))).namespace(draw(_choice(NAMESPACES))).label(app=draw(_choice(["a", "b"])))
    built = built.on(draw(names)).cpu(draw(_choice(["100m", "1"])))
    if draw(st.booleans()):
        built = built.host_port(draw(_choice([80, 443])))
    if draw(st.booleans()):
        blue = {"matchLabels": {"team": "blue"}}
        built = built.requires_pods(
            pod_term(ZONE, {"app": "a"}, namespaceSelector=draw(_choice([None, blue]))), anti=True
        )
    if draw(st.booleans()):
        built = built.prefers_pods(draw(_choice([1, 7])), pod_term(HOST, {"app": "b"}))
    if draw(_choice([False, False, False, True])):
        built = built.terminating()
    return built.build()


def fresh(pod: Pod) -> Pod:
    """The pod as it is before it has a node."""
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, node_name=""))


class StateMachine(RuleBasedStateMachine):
    """Drives a `ClusterState`, and keeps plain records of what it should hold."""

    def __init__(self) -> None:
        super().__init__()
        self.state = ClusterState()
        self.nodes: dict[str, Node] = {}
        self.pods: dict[str, Pod] = {}
        self.assumed: dict[str, str] = {}
        self.namespaces: dict[str, dict[str, str]] = {}
        counters = self.state.counters
        self.counters = {
            (name, terminating): counters.match(name, picks, terminating=terminating)
            for name, picks in RULES.items()
            for terminating in (False, True)
        }
        zone = self.state.nodes.labels(ZONE)
        self.masked = {key: DomainTally(counter, zone) for key, counter in self.counters.items()}
        self.mask = RowCache(Change.TAINTS)
        self.caches = {name: RowCache(depends) for name, (depends, _) in ROW_RULES.items()}
        self.classes = [
            self.state.shapes.label_class(namespace, {"app": app}) for namespace in NAMESPACES for app in ("a", "b")
        ]

    # what happens

    @initialize(first=st.lists(nodes(), min_size=2, max_size=4), bound=st.lists(pods(), min_size=2, max_size=5))
    def start(self, first: list[Node], bound: list[Pod]) -> None:
        for added in first:
            self.set_node(added)
        for there in bound:
            self.set_pod(there)

    @rule(added=nodes())
    def set_node(self, added: Node) -> None:
        self.state.set_node(added)
        self.nodes[added.metadata.name] = added

    @rule(name=names, tainted=st.booleans())
    def taint_node(self, name: str, tainted: bool) -> None:
        if name in self.nodes:
            there = self.nodes[name]
            spec = msgspec.structs.replace(there.spec, taints=(Taint(key="x", effect="NoSchedule"),) if tainted else ())
            self.set_node(msgspec.structs.replace(there, spec=spec))

    @rule(name=names)
    def remove_node(self, name: str) -> None:
        self.state.remove_node(name)
        self.nodes.pop(name, None)

    @rule(bound=pods())
    def set_pod(self, bound: Pod) -> None:
        """A pod is bound, changes, moves, starts to end, or an assumption is confirmed."""
        self.state.set_pod(self.state.info(bound))
        self.pods[bound.metadata.uid] = bound
        self.assumed.pop(bound.metadata.uid, None)

    @rule(data=st.data(), how=_choice(["ends", "resized", "moved"]), to=names)
    def change_pod(self, data, how: str, to: str) -> None:
        """A known pod starts to end, is resized in place, or turns up on another node."""
        if self.pods:
            there = self.pods[data.draw(_choice(sorted(self.pods)))]
            if how == "ends":
                meta = msgspec.structs.replace(there.metadata, deletion_timestamp="2026-01-01T00:00:00Z")
                there = msgspec.structs.replace(there, metadata=meta)
            elif how == "resized":
                there = msgspec.structs.replace(there, status=RESIZED)
            else:
                there = msgspec.structs.replace(there, spec=msgspec.structs.replace(there.spec, node_name=to))
            self.set_pod(there)

    @rule(uid=_choice([pod(name).build().metadata.uid for name in POD_NAMES]))
    def remove_pod(self, uid: str) -> None:
        removed = self.state.remove_pod(uid)
        assert (removed is not None) == (uid in self.pods or uid in self.assumed)
        self.pods.pop(uid, None)
        self.assumed.pop(uid, None)

    @rule(waiting=pods())
    def assume(self, waiting: Pod) -> None:
        uid = waiting.metadata.uid
        if uid not in self.pods:
            self.state.assume(self.state.info(fresh(waiting)), waiting.spec.node_name)
            self.pods[uid] = waiting
            self.assumed[uid] = waiting.spec.node_name

    @rule(data=st.data())
    def forget(self, data) -> None:
        if self.assumed:
            uid = data.draw(_choice(sorted(self.assumed)))
            assert self.state.is_assumed(uid)
            self.state.forget(uid)
            del self.assumed[uid], self.pods[uid]

    @rule(name=_choice(NAMESPACES), labels=_choice([{}, {"team": "blue"}]))
    def set_namespace(self, name: str, labels: dict[str, str]) -> None:
        document = {"metadata": {"name": name, "labels": labels}}
        self.state.set_namespace(msgspec.convert(document, Namespace))
        self.namespaces[name] = labels

    @rule(name=_choice(NAMESPACES))
    def remove_namespace(self, name: str) -> None:
        self.state.remove_namespace(name)
        self.namespaces.pop(name, None)

    @rule(added=st.lists(pods(), max_size=3), emptied=names, look=st.booleans())
    def what_if(self, added: list[Pod], emptied: str, look: bool) -> None:
        before = facts(self.state)
        with self.state.what_if() as trial:
            removed = self.state.pods.on_node(emptied)
            for there in removed:
                trial.remove(there)
            for index, extra in enumerate(added):
                meta = msgspec.structs.replace(extra.metadata, uid=f"extra-{index}")
                extra = msgspec.structs.replace(fresh(extra), metadata=meta)
                trial.add(self.state.info(extra), NODE_NAMES[index])
            for there in removed[:1]:
                trial.restore(there)
            if look:
                self.vectors_equal_a_full_computation()
                self.sums_equal_a_walk()
        assert facts(self.state) == before

    @rule(changed=nodes(), added=nodes(), extra=pods(), look=st.booleans())
    def what_if_nodes(self, changed: Node, added: Node, extra: Pod, look: bool) -> None:
        before, order = facts(self.state), self.state.nodes.order.rows().tolist()
        new = msgspec.structs.replace(added, metadata=msgspec.structs.replace(added.metadata, name="tried"))
        with self.state.what_if_nodes() as trial, self.state.what_if() as pods_trial:
            if changed.metadata.name in self.state.nodes:
                trial.set(msgspec.structs.replace(changed, status=msgspec.structs.replace(changed.status, images=())))
            trial.set(new)
            meta = msgspec.structs.replace(extra.metadata, uid="extra")
            pods_trial.add(self.state.info(msgspec.structs.replace(fresh(extra), metadata=meta)), "tried")
            if look:
                self.vectors_equal_a_full_computation()
                self.sums_equal_a_walk()
        assert facts(self.state) == before
        assert self.state.nodes.order.rows().tolist() == order

    # what must hold

    @invariant()
    def columns_and_counts_equal_a_rebuild(self) -> None:
        assert facts(self.state) == facts(self.rebuilt())
        assert {uid: info.node_name for uid, info in self.state.assumed.items()} == self.assumed

    @invariant()
    def sums_equal_a_walk(self) -> None:
        """The tallies, masked and not, are what one gets by walking the pods."""
        table = self.state.nodes
        mask = self.mask.refresh(table, lambda view: view.taint_ids != 0)
        for (name, terminating), counter in self.counters.items():
            counted = [
                info
                for info in self.state.pods
                if info.row >= 0 and RULES[name](info.shape.label_class) and (terminating or not info.terminating)
            ]
            zones = [(table.node(info.row).metadata.labels.get(ZONE), bool(mask[info.row])) for info in counted]
            plain = self.state.counters.tally(counter, ZONE).sums(table.size)
            masked = self.masked[name, terminating].sums(table.size, mask, self.mask.version)
            assert counter.total == len(counted)
            assert by_value(table.labels(ZONE), plain) == tallied(zone for zone, _ in zones)
            assert by_value(table.labels(ZONE), masked) == tallied(zone for zone, included in zones if included)

    @invariant()
    def vectors_equal_a_full_computation(self) -> None:
        table = self.state.nodes
        for name, (_, compute) in ROW_RULES.items():
            kept = self.caches[name].refresh(table, compute)
            whole = compute(NodeView(table))
            zeros = np.zeros(table.size)
            assert np.array_equal(zeros if kept is None else kept, zeros if whole is None else whole)

    @invariant()
    def terms_of_others_match_as_a_walk_says(self) -> None:
        for found in self.classes:
            labels = self.namespaces.get(found.namespace, {})
            for kind in (REQUIRED, REQUIRED_ANTI, PREFERRED):
                held = self.state.counters.held_matching(kind, found)
                pairs = {(item.term, item.weight): item.counter.total for item in held}
                assert pairs == walked_terms(self.state, kind, found.namespace, labels, found.labels)

    @invariant()
    def rows_without_a_node_are_blank(self) -> None:
        table = self.state.nodes
        dead = ~table.live[: table.size]
        for column in (table.labels(ZONE), table.labels(HOST), table.taints, table.features):
            assert not column.ids[: table.size][dead].any()
        for numbers in (table.allocatable, table.requested, table.nonzero, table.pod_count, table.unschedulable):
            assert not numbers[..., : table.size][..., dead].any()

    def rebuilt(self) -> ClusterState:
        """A state that was told only how things are now."""
        state = ClusterState()
        for name, labels in self.namespaces.items():
            state.set_namespace(msgspec.convert({"metadata": {"name": name, "labels": labels}}, Namespace))
        for added in self.nodes.values():
            state.set_node(added)
        for uid, there in self.pods.items():
            if uid in self.assumed:
                state.assume(state.info(fresh(there)), there.spec.node_name)
            else:
                state.set_pod(state.info(there))
        return state


def facts(state: ClusterState) -> dict[str, object]:
    """All that a state says, by the names of nodes instead of rows."""
    table = state.nodes
    rows = table.rows
    used = {(port, table.name(row)): count for (port, row), count in table.ports.used().items()}
    held = {
        (kind, *key): {
            table.name(int(row)): int(count) for row, count in enumerate(item.counter.per_node(table.size)) if count
        }
        for kind, terms in state.counters.held.items()
        for key, item in terms.items()
        if item.counter.total
    }
    return {
        "nodes": {name: node_facts(state, row) for name, row in rows.items()},
        "count": (len(table), int(table.live.sum())),
        "order": sorted(table.order.rows().tolist()) == sorted(rows.values()),
        "pods": {info.uid: (info.node_name, info.row >= 0, info.terminating, info.shape.key) for info in state.pods},
        "ports": used,
        "held": held,
        "images": {name: {table.name(row) for row in image.rows} for name, image in table.images.states.items()},
    }


def node_facts(state: ClusterState, row: int) -> dict[str, object]:
    table = state.nodes
    return {
        "object": table.node(row),
        "allocatable": {
            name: int(table.allocatable[i, row]) for name, i in table.resources.items() if table.allocatable[i, row]
        },
        "requested": {
            name: int(table.requested[i, row]) for name, i in table.resources.items() if table.requested[i, row]
        },
        "nonzero": table.nonzero[:, row].tolist(),
        "pods": (int(table.pod_count[row]), int(table.allowed_pods[row])),
        "taints": table.taints.values[table.taints.ids[row]],
        "features": table.features.values[table.features.ids[row]],
        "zone": table.labels(ZONE).values[table.labels(ZONE).ids[row]],
    }


def by_value(column, sums) -> dict[str, int]:
    return {column.values[i]: int(count) for i, count in enumerate(sums) if count}


def tallied(zones) -> dict[str, int]:
    counts: dict[str, int] = {}
    for zone in zones:
        if zone is not None:
            counts[zone] = counts.get(zone, 0) + 1
    return counts


def walked_terms(state: ClusterState, kind: str, namespace, namespace_labels, labels) -> dict:
    found: dict = {}
    for info in state.pods:
        terms = info.shape.terms
        carried = {
            REQUIRED: [(term, 1) for term in terms.required],
            REQUIRED_ANTI: [(term, 1) for term in terms.required_anti],
            PREFERRED: list(terms.preferred),
        }[kind]
        for term, weight in carried:
            if info.row >= 0 and term.matches(namespace, namespace_labels, labels):
                found[term, weight] = found.get((term, weight), 0) + 1
    return found


TestStateMachine = StateMachine.TestCase
TestStateMachine.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
