"""The self-check: it sees what it must see, and on random histories there is nothing to see."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from scheduler.cycle.algorithm import Algorithm, FitError
from scheduler.cycle.self_check import SelfCheckError, check
from scheduler.framework.status import unschedulable
from tests.builders import expression, info, node, pod, pod_term, state, term
from tests.cycle.rig import PROFILE, Rig, profile_of
from tests.framework.stubs import Filter, Score

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"


def decided(cluster, profile, wanted):
    """A decision on a pod, also where it fits nowhere."""
    begun = []
    with suppress(FitError):
        Algorithm(cluster).decide(profile, wanted, observe=begun.append)
    return begun[0]


class TestWhatItSees:
    def bench(self, *plugins):
        cluster = state([node("a").capacity(cpu="4"), node("b").capacity(cpu="4")])
        profile = profile_of(*plugins) if plugins else Rig().scheduler.profiles[PROFILE]
        wanted = info(pod("p").cpu("1"), cluster)
        return cluster, profile, wanted

    def test_a_decision_as_it_should_be(self):
        cluster, profile, wanted = self.bench()
        check(profile, wanted, decided(cluster, profile, wanted))

    def test_a_verdict_from_a_stale_cache(self):
        cluster, profile, wanted = self.bench()
        decided(cluster, profile, wanted)
        # A change that the log is not told of never reaches the caches.
        row = cluster.nodes.rows["a"]
        changed = node("a").capacity(cpu="0").build()
        cluster.nodes.objects[row] = changed
        with pytest.raises(SelfCheckError) as failure:
            check(profile, wanted, decided(cluster, profile, wanted))
        assert (failure.value.plugin, failure.value.node) == ("NodeResourcesFit", "a")
        assert "self-check of pod default/p: plugin NodeResourcesFit, node a: " in str(failure.value)

    def test_a_score_that_differs(self):
        cluster, profile, wanted = self.bench(Score("S", {"a": 1}))
        kept = decided(cluster, profile, wanted)
        kept.totals[0] += 1
        with pytest.raises(SelfCheckError, match="plugin total, node a: 2 from the state as kept, 1 from a rebuilt"):
            check(profile, wanted, kept)

    def test_a_feasible_node_that_was_forgotten(self):
        cluster, profile, wanted = self.bench(Score("S"))
        kept = decided(cluster, profile, wanted)
        kept.feasible = kept.feasible[:1]
        with pytest.raises(SelfCheckError, match="feasible nodes"):
            check(profile, wanted, kept)

    def test_a_misfit_is_compared_as_well(self):
        cluster, profile, wanted = self.bench(Filter("A", dict.fromkeys("ab", unschedulable("no"))))
        kept = decided(cluster, profile, wanted)
        check(profile, wanted, kept)
        kept.rejections.overrides = {0: unschedulable("else").by("B")}
        kept.rejections.settle()
        with pytest.raises(SelfCheckError, match="plugin A, node a"):
            check(profile, wanted, kept)


NODES = st.integers(0, 5)
ZONES = st.sampled_from(["", "x", "y"])
APPS = st.sampled_from(["web", "db"])


KINDS = ["plain", "spread", "soft", "near", "apart", "prefer", "select", "port", "tolerate", "pin", "index"]


class History(RuleBasedStateMachine):
    """Nodes and pods come, change and go; pods are scheduled in between, each decision being checked."""

    percentage = 0

    def __init__(self):
        super().__init__()
        logging.disable(logging.CRITICAL)
        self.loop = asyncio.new_event_loop()
        self.rig = Rig(checked=check, percentage=self.percentage)
        self.pods = {}
        self.sequence = 0

    @initialize(zones=st.lists(ZONES, min_size=3, max_size=5))
    def begin(self, zones):
        for number, zone in enumerate(zones):
            self.put_node(number, zone, 4, tainted=False, closed=False, image=number == 0)

    def teardown(self):
        self.loop.close()
        logging.disable(logging.NOTSET)

    def act(self, work):
        """Do something inside the loop, and let all binding cycles end."""

        async def run():
            work()
            await self.rig.scheduler.settle()

        self.loop.run_until_complete(run())

    @rule(
        number=NODES,
        zone=ZONES,
        cpu=st.integers(0, 4),
        tainted=st.booleans(),
        closed=st.booleans(),
        image=st.booleans(),
    )
    def change_node(self, number, zone, cpu, tainted, closed, image):
        self.put_node(number, zone, cpu, tainted=tainted, closed=closed, image=image)

    def put_node(self, number, zone, cpu, *, tainted, closed, image):
        builder = node(f"n{number}").capacity(cpu=str(cpu), memory="2Gi", pods="8")
        builder = builder.zone(zone) if zone else builder
        builder = (
            builder.taint("dedicated", "db", "PreferNoSchedule" if closed else "NoSchedule") if tainted else builder
        )
        builder = builder.unschedulable() if closed and not tainted else builder
        builder = builder.image("registry.example/main:1", size=500_000_000 + number) if image else builder
        self.act(lambda: self.rig.put(builder))

    @rule(number=NODES)
    def delete_node(self, number):
        self.act(lambda: self.rig.delete(node(f"n{number}")))

    def new_name(self):
        self.sequence += 1
        return f"p{self.sequence}"

    @rule(
        app=APPS,
        cpu=st.sampled_from(["0", "500m", "1"]),
        kind=st.sampled_from(KINDS),
        priority=st.integers(0, 2),
        replicas=st.integers(1, 3),
    )
    def schedule_pods(self, app, cpu, kind, priority, replicas):
        """Pods of one template, and all that is ready."""
        for _ in range(replicas):
            self.put_pod(app, cpu, kind, priority)
        self.schedule_all()

    def put_pod(self, app, cpu, kind, priority):
        name = self.new_name()
        builder = pod(name).label(app=app).cpu(cpu).priority(priority)
        selector = {"labelSelector": {"matchLabels": {"app": app}}}
        shapes = {
            "plain": builder,
            "spread": builder.spreads(ZONE, **selector),
            "soft": builder.spreads(HOST, soft=True, **selector),
            "near": builder.requires_pods(pod_term(ZONE, {"app": "db"})),
            "apart": builder.requires_pods(pod_term(HOST, {"app": app}), anti=True),
            "prefer": builder.prefers_pods(10, pod_term(ZONE, {"app": "web"})).prefers_node(
                5, term(expression(ZONE, "In", "x"))
            ),
            "select": builder.requires_node(term(expression(ZONE, "In", "x", "y"))),
            "port": builder.host_port(80),
            "tolerate": builder.tolerates("dedicated"),
            # Replicas have labels of their own, as those of an indexed Job have.
            "index": builder.label(index=str(self.sequence)).requires_pods(pod_term(ZONE, {"app": "db"})),
            # Replicas are pinned to one node each, as those of a DaemonSet are.
            "pin": builder.requires_node(term(fields=[expression("metadata.name", "In", f"n{self.sequence % 6}")])),
        }
        self.pods[name] = shapes[kind]
        self.act(lambda: self.rig.put(self.pods[name]))

    @rule(number=NODES, app=APPS, terminating=st.booleans())
    def put_assigned_pod(self, number, app, terminating):
        """A pod of somebody else's, on a node that need not exist."""
        name = self.new_name()
        builder = pod(name).label(app=app).cpu("250m").on(f"n{number}")
        self.pods[name] = builder.terminating() if terminating else builder
        self.act(lambda: self.rig.put(self.pods[name]))

    @rule(data=st.data())
    def delete_pod(self, data):
        if self.pods:
            name = data.draw(st.sampled_from(sorted(self.pods)))
            builder = self.pods.pop(name)
            self.act(lambda: self.rig.delete(builder))

    @rule(number=NODES)
    def nominate(self, number):
        waiting = [entry for entries in self.rig.queue.pending().values() for entry in entries]
        if waiting:
            self.rig.state.nominations.add(waiting[0].pod, f"n{number}")

    @rule()
    def schedule_all(self):
        self.rig.clock.advance(20)
        self.rig.queue.flush_backoff()
        for _ in range(len(self.rig.queue)):
            self.act(self.rig.scheduler.schedule_next)

    @invariant()
    def no_attempt_has_failed(self):
        wrong = [failure.message for _, failure, _ in self.rig.outcomes if failure and not failure.rejected]
        assert wrong == []


TestHistory = History.TestCase
TestHistory.settings = settings(
    max_examples=40, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)


class Sampled(History):
    """The same where no more than two or three of the nodes are wanted."""

    percentage = 50

    def __init__(self):
        super().__init__()
        self.few = patch("scheduler.cycle.sampling.MIN_FEASIBLE_NODES", 2)
        self.few.start()

    def teardown(self):
        self.few.stop()
        super().teardown()


TestSampled = Sampled.TestCase
TestSampled.settings = TestHistory.settings
