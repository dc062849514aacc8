"""What is kept of attempts, and written to pods, as the settings ask for."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from scheduler.app.recording import Recording
from scheduler.app.settings import read_settings
from scheduler.metrics.scheduler_metrics import SchedulerMetrics
from tests.builders import node, pod
from tests.cycle.rig import Rig

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

SETTINGS = read_settings(argparse.Namespace(config="", feature_gates=[]))


class Pods:
    """Takes annotations, and notes whose."""

    def __init__(self) -> None:
        self.annotated: list[str] = []

    async def annotate_pod(
        self, namespace: str, name: str, uid: str, change: Callable[[Mapping[str, str]], Mapping[str, str | None]]
    ) -> bool:
        self.annotated.append(name)
        return bool(change({}))


class Supervisor:
    """Notes what is started."""

    def __init__(self) -> None:
        self.started: list[str] = []

    def start(self, work: Coroutine[Any, Any, None], name: str) -> None:
        work.close()
        self.started.append(name)


def recording(**changes: Any) -> Recording:
    return Recording(replace(SETTINGS, **changes), Pods(), SchedulerMetrics())


@pytest.mark.parametrize("changes", [{"records": 0}, {"record_bytes": 0}, {"records": 0, "annotate": True}])
def test_without_records_there_is_nothing_to_keep_and_nothing_to_write(changes: dict[str, Any]) -> None:
    made, supervisor = recording(**changes), Supervisor()
    assert made.records is made.journal is None
    made.watch(Rig().scheduler)
    made.start(supervisor)  # type: ignore[arg-type]
    assert supervisor.started == []


async def test_the_last_attempts_are_kept_as_many_as_wanted() -> None:
    made = recording(records=2)
    rig = Rig(journal=made.journal)
    made.watch(rig.scheduler)
    rig.put(node("n"), *(pod(f"p{number}").cpu("1m") for number in range(3)))
    await rig.run()
    assert made.records is not None
    assert [one.pod for one in made.records.recent().items] == ["default/p2", "default/p1"]


async def test_the_last_attempt_of_a_pod_that_waits_is_kept_besides() -> None:
    made = recording(records=1)
    rig = Rig(journal=made.journal)
    made.watch(rig.scheduler)
    rig.put(node("n").capacity(cpu="1"), pod("waits").cpu("2").priority(1))
    await rig.run()
    rig.put(pod("placed").cpu("1m"))
    await rig.run()
    assert made.records is not None
    assert made.records.latest("default", "waits") is not None


@pytest.mark.parametrize(("annotate", "started"), [(False, []), (True, ["annotations of decisions"])])
def test_pods_are_annotated_only_if_that_is_wanted(annotate: bool, started: list[str]) -> None:
    made, supervisor = recording(annotate=annotate), Supervisor()
    made.start(supervisor)  # type: ignore[arg-type]
    assert supervisor.started == started


async def test_annotations_wait_for_a_moment_in_which_no_pod_does() -> None:
    pods = Pods()
    made = Recording(replace(SETTINGS, annotate=True), pods, SchedulerMetrics())
    rig = Rig(journal=made.journal)
    made.watch(rig.scheduler)
    rig.put(node("n"), pod("first").cpu("1m"))
    await rig.run()
    rig.put(pod("second").cpu("1m"))
    writer: Any = made.journal
    await writer.write()
    assert pods.annotated == []
    await rig.run()
    await writer.write()
    assert pods.annotated == ["first", "second"]
