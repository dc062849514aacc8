"""How long filters take, by what became of the nodes."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler.framework.cycle import Cycle
from scheduler.framework.diagnosis import Rejections
from scheduler.framework.filter_timing import ask_filter
from scheduler.framework.recorder import PluginRecorder
from scheduler.framework.status import unresolvable, unschedulable
from scheduler.metrics.scheduler_metrics import SchedulerMetrics
from tests.builders import info, node, pod, state
from tests.framework.stubs import Filter

NAMES = ("a", "b", "c", "d")


class Timed:
    """Four nodes, one of which is not looked at, and the metrics of a filter that is asked about them."""

    def __init__(self, *, sampled=True):
        cluster = state([node(name) for name in NAMES])
        self.metrics = SchedulerMetrics()
        recorder = PluginRecorder(self.metrics, "p")
        self.cycle = Cycle(info(pod("p"), cluster), cluster, "p", recorder=recorder, sampled=sampled)
        self.rejections = Rejections(self.cycle)
        self.rejections.evaluated = np.array([True, True, True, False])

    def ask(self, plugin):
        return ask_filter(self.rejections, plugin, plugin.filter, self.cycle, self.cycle.nodes)

    @property
    def statuses(self):
        (family,) = [f for f in self.metrics.registry.collect() if f.name.endswith("plugin_execution_duration_seconds")]
        return {s.labels["status"] for s in family.samples if s.name.endswith("_count") and s.value}


@pytest.mark.parametrize(
    ("answers", "statuses"),
    [
        ({}, {"Success"}),
        ({"a": unschedulable("no")}, {"Success", "Unschedulable"}),
        (
            {"a": unschedulable("no"), "b": unresolvable("x")},
            {"Success", "Unschedulable", "UnschedulableAndUnresolvable"},
        ),
        (dict.fromkeys("abc", unresolvable("x")), {"UnschedulableAndUnresolvable"}),
        ({"d": unschedulable("no")}, {"Success"}),
    ],
    ids=["all pass", "one does not", "two do not, differently", "none passes", "one not looked at"],
)
def test_each_status_that_nodes_got_has_its_time(answers, statuses):
    timed = Timed()
    timed.ask(Filter("A", answers))
    assert timed.statuses == statuses


def test_nodes_that_an_earlier_filter_refused_do_not_count():
    timed, first = Timed(), Filter("A", {"a": unschedulable("no")})
    timed.rejections.verdicts.append((first, first.filter(timed.cycle, timed.cycle.nodes)))
    timed.ask(Filter("B", {"a": unresolvable("x")}))
    assert timed.statuses == {"Success"}


def test_a_filter_that_is_left_no_node_has_no_time():
    timed = Timed()
    timed.rejections.evaluated[:] = False
    timed.ask(Filter("A", dict.fromkeys("abc", unschedulable("no"))))
    assert timed.statuses == set()


def test_cycles_that_are_no_sample_are_not_timed():
    timed = Timed(sampled=False)
    timed.ask(Filter("A", {"a": unschedulable("no")}))
    assert timed.statuses == set()


def test_what_raises_counts_as_an_error():
    class Broken(Filter):
        def filter(self, cycle, nodes):
            raise ValueError("broken")

    timed = Timed()
    with pytest.raises(ValueError, match="broken"):
        timed.ask(Broken("A"))
    assert timed.statuses == {"Error"}
