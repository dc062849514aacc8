"""Outcomes of attempts are written to pods once they are over, and never in the way of others."""

from __future__ import annotations

import json
import logging

import pytest
from msgspec.structs import replace

from scheduler.app import annotating
from scheduler.app.annotating import Annotator
from scheduler.client.errors import ApiError
from scheduler.client.kinds import PODS
from scheduler.explain.simulator_schema import HISTORY, PREFIX
from scheduler.explain.store import RecordStore
from scheduler.metrics.scheduler_metrics import SchedulerMetrics
from tests.builders import node, pod
from tests.cycle.rig import Rig
from tests.framework.stubs import Filter, StubExtender, passing


class Annotated(Rig):
    """A rig whose cluster takes annotations, and says so to the scheduler as an API server would."""

    def __init__(self, *plugins, waiting=100, **more):
        self.busy = False
        self.refusal = None
        self.records = RecordStore()
        self.counter = SchedulerMetrics().decision_annotations
        self.annotator = Annotator(
            self.records, self.records, self, self.counter, busy=lambda: self.busy, waiting=waiting
        )
        super().__init__(*plugins, journal=self.annotator, **more)
        self.records.watch(self.scheduler)

    async def annotate_pod(self, namespace, name, uid, change):
        if self.refusal is not None:
            raise self.refusal
        found = self.cluster.get(PODS, namespace, name)
        if found is None or found.metadata.uid != uid:
            return False
        changed = change(found.metadata.annotations)
        kept = {**found.metadata.annotations, **changed}
        annotations = {key: text for key, text in kept.items() if text is not None}
        self.cluster.put(replace(found, metadata=replace(found.metadata, annotations=annotations)))
        return bool(changed)

    def of(self, name):
        found = self.cluster.get(PODS, "default", name).metadata.annotations
        return {key.removeprefix(PREFIX): text for key, text in found.items() if key.startswith(PREFIX)}

    def count(self, outcome):
        return self.counter.labels(outcome).value


@pytest.fixture
async def rig():
    rig = Annotated()
    rig.put(node("n").capacity(cpu="4"))
    return rig


async def test_a_bound_pod_tells_of_its_decision(rig):
    rig.put(pod("p").cpu("1"))
    await rig.run()
    assert rig.of("p") == {}
    await rig.annotator.write()
    found = rig.of("p")
    assert found["selected-node"] == "n"
    assert json.loads(found["bind-result"]) == {"DefaultBinder": "success"}
    assert json.loads(found["filter-result"])["n"]["NodeResourcesFit"] == "passed"
    assert rig.count("written") == 1
    await rig.annotator.write()
    assert rig.count("written") == 1


async def test_nothing_is_written_before_the_binding_cycle_has_ended(rig):
    rig.put(pod("p").cpu("1"))
    rig.scheduler.schedule_next()
    await rig.annotator.write()
    assert rig.of("p") == {}
    await rig.scheduler.settle()
    await rig.annotator.write()
    assert rig.of("p")["selected-node"] == "n"


async def test_attempts_come_first(rig):
    rig.put(pod("p").cpu("1"))
    await rig.run()
    rig.busy = True
    await rig.annotator.write()
    assert rig.of("p") == {}
    rig.annotator.yield_to(lambda: False)
    await rig.annotator.write()
    assert rig.of("p")["selected-node"] == "n"


REASONS = {
    "resources": lambda pod: pod.cpu("9"),
    "selector": lambda pod: pod.set("spec.nodeSelector", {"disk": "ssd"}),
    "anti-affinity": lambda pod: pod.set("metadata.labels", {"app": "a"}).set(
        "spec.affinity",
        {
            "podAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {"labelSelector": {"matchLabels": {"app": "b"}}, "topologyKey": "zone"}
                ]
            }
        },
    ),
    "spread": lambda pod: pod.set("metadata.labels", {"app": "a"}).set(
        "spec.topologySpreadConstraints",
        [
            {
                "maxSkew": 1,
                "topologyKey": "zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": "a"}},
            }
        ],
    ),
}


@pytest.mark.parametrize("reason", REASONS.values(), ids=REASONS.keys())
async def test_annotations_wake_no_pod_so_there_is_no_loop(rig, reason):
    rig.put(reason(pod("p").cpu("1")))
    await rig.run()
    for _ in range(3):
        attempts = len(rig.outcomes)
        await rig.annotator.write()
        assert rig.of("p")["selected-node"] == ""
        rig.clock.advance(60.0)
        rig.queue.flush_backoff()
        await rig.run()
        assert len(rig.outcomes) == attempts == 1
    assert rig.queue.place_of(("default", "p")) == "unschedulable"


async def test_annotations_of_bound_pods_wake_none_either(rig):
    rig.put(pod("placed").cpu("1"), pod("large").cpu("9"))
    await rig.run()
    assert len(rig.outcomes) == 2
    await rig.annotator.write()
    rig.clock.advance(60.0)
    await rig.run()
    assert (len(rig.outcomes), rig.queue.place_of(("default", "large"))) == (2, "unschedulable")


async def test_the_history_has_each_attempt(rig):
    rig.put(pod("p").cpu("9"))
    await rig.run()
    await rig.annotator.write()
    rig.put(node("m").capacity(cpu="10"))
    rig.clock.advance(60.0)
    await rig.run()
    await rig.annotator.write()
    history = json.loads(rig.of("p")[HISTORY.removeprefix(PREFIX)])
    assert [one[PREFIX + "selected-node"] for one in history] == ["", "m"]


async def test_of_too_many_the_first_are_dropped():
    rig = Annotated(waiting=2)
    rig.put(node("n").capacity(cpu="4"), pod("a"), pod("b"), pod("c"))
    await rig.run()
    await rig.annotator.write()
    first, *others = (name for name, _, _ in rig.outcomes)
    assert rig.of(first) == {}
    assert all(rig.of(other) for other in others)
    assert (rig.count("dropped"), rig.count("written")) == (1, 2)


async def test_a_pod_that_is_gone_is_dropped(rig):
    rig.put(pod("p"))
    await rig.run()
    rig.delete(pod("p"))
    await rig.annotator.write()
    assert (rig.count("dropped"), rig.count("written")) == (1, 0)


async def test_a_missing_right_is_told_of_once(rig, caplog):
    rig.refusal = ApiError(403, "Forbidden", "pods is forbidden")
    rig.put(pod("p"), pod("q"))
    await rig.run()
    with caplog.at_level(logging.WARNING):
        await rig.annotator.write()
    assert caplog.text.count("annotateDecisions.enabled") == 1
    assert rig.count("failed") == 2


class TestExtenders:
    """What they said goes with the attempt, under their own keys."""

    async def test_what_they_answered_is_written(self):
        one = StubExtender("http://one", filter=passing("n", failed={"m": "small"}), bind=None)
        rig = Annotated(Filter("F"), extenders=[one])
        rig.put(node("n").capacity(cpu="4"), node("m").capacity(cpu="4"), pod("p").cpu("1"))
        await rig.run()
        await rig.annotator.write()
        found = rig.of("p")
        assert json.loads(found["extender-filter-result"])["http://one"]["FailedNodes"] == {"m": "small"}
        assert json.loads(found["extender-bind-result"]) == {"http://one": {"Error": ""}}
        assert json.loads(found["bind-result"]) == {}

    async def test_pods_that_they_said_much_of_wait_in_small_numbers(self, monkeypatch):
        monkeypatch.setattr(annotating, "_MOST_HEARD", 30)
        failed = {f"m{number}": "small" for number in range(20)}
        rig = Annotated(Filter("F"), extenders=[StubExtender(filter=passing("n", failed=failed))])
        rig.put(node("n").capacity(cpu="4"), *(node(name) for name in failed), pod("p"), pod("q"))
        await rig.run()
        assert rig.count("dropped") == 1
        await rig.annotator.write()
        assert (rig.of("p") == {}, rig.of("q") == {}) == (True, False)
        rig.put(pod("r"))
        await rig.run()
        assert rig.count("dropped") == 1
