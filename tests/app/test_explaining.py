"""What the decisions API shows of a running scheduler."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from scheduler.app.explaining import LiveDecisions
from scheduler.explain.store import RecordStore
from scheduler.explain.views import Decision, Feasible, ScoreColumn, Summary, SummaryPage
from scheduler.server.explain import Choice
from tests.builders import node, pod
from tests.cycle.rig import Rig


def summary(number, pod):
    return Summary(id=number, time="", pod=pod, result="Scheduled", node="n")


class FewRecords:
    """Attempts, shown two at a time however many are asked for; `pod` matches in part, as in the real ones."""

    bytes = 100
    all = tuple(summary(n, "my-shop/web-1" if n % 2 else f"shop/web-{n}") for n in range(9, 0, -1))

    def __len__(self):
        return len(self.all)

    def recent(self, limit=100, *, before=None, pod="", node="", result="", plugin=""):
        older = [one for one in self.all if (before is None or one.id < before) and pod in one.pod]
        page = older[: min(limit, 2)]
        return SummaryPage(items=tuple(page), before=page[-1].id if len(older) > len(page) else None)

    def get(self, number):
        return Decision(summary=summary(number, "shop/web-1")) if number == 4 else None

    def latest(self, namespace, name):
        return self.get(4) if (namespace, name) == ("shop", "gone") else None

    def history(self, namespace, name):
        return []


def decisions(rig, records=None, *, leads=True):
    return LiveDecisions(rig.scheduler, records, leads=lambda: leads, synced=lambda: True, clock=lambda: 1000.0)


async def test_pods_nodes_and_the_whole_are_those_of_the_scheduler():
    rig = Rig()
    rig.put(node("n").capacity(cpu="1"), pod("placed").cpu("1"), pod("big").cpu("5"))
    await rig.run()
    live = decisions(rig, leads=False)
    assert live.pod("default", "placed").node == "n"
    assert live.pod("default", "stranger") is None
    assert live.pending().groups[0].example == "default/big"
    assert live.nodes().names == ("n",)
    assert (live.node("n").pods, live.node("m")) == (("default/placed",), None)
    assert [found.pod for found in live.find("B", 1).pods] == ["default/big"]
    overview = live.overview()
    assert (overview.leader, overview.recording, overview.nodes, overview.pods) == (False, False, 1, 1)
    assert (live.leads, live.synced) == (False, True)


def test_the_view_of_all_nodes_is_made_once_a_second_at_most():
    rig, now = Rig(), [1000.0]
    live = LiveDecisions(rig.scheduler, None, leads=bool, synced=bool, clock=lambda: now[0])
    rig.put(node("n"))
    assert live.nodes().names == ("n",)
    rig.put(node("m"))
    now[0] += 0.9
    assert live.nodes().names == ("n",)
    now[0] += 0.1
    assert live.nodes().names == ("m", "n")


async def test_a_comparison_has_words_while_the_pod_is_the_same():
    rig = Rig()
    rig.put(node("n").capacity(cpu="10"), node("m").capacity(cpu="20"), pod("p").cpu("5"))
    await rig.run()
    live = decisions(rig, FewRecords())
    column = ScoreColumn(plugin="NodeResourcesFit", weight=1, raw=(40, 70), normalized=(40, 70), weighted=(40, 70))
    uid = live.pod("default", "p").uid
    told = Decision(
        summary=Summary(id=1, time="", pod="default/p", uid=uid, result="Scheduled", node="n"),
        feasible=Feasible(names=("m", "n"), totals=(70, 40), columns=(column,)),
    )
    live.decision = lambda number: told if number == 1 else None
    assert "% of CPU" in live.comparison(1, "m").parts[0].words
    assert live.comparison(2, "") is None
    told = replace(told, summary=replace(told.summary, uid="another"))
    assert live.comparison(1, "").parts[0].words == ""


async def test_an_evaluation_is_fresh_and_changes_nothing():
    rig = Rig()
    rig.put(node("n").capacity(cpu="1"), pod("big").cpu("5"))
    await rig.run()
    live = decisions(rig)
    assert (await live.evaluate("default", "big")).decision.summary.result == "Unschedulable"
    rig.put(node("m").capacity(cpu="8"))
    assert (await live.evaluate("default", "big")).decision.summary.result == "Scheduled"
    assert live.pod("default", "big").node == ""
    assert await live.evaluate("default", "stranger") is None


def test_without_records_there_are_no_attempts():
    live = decisions(Rig())
    assert live.decisions(Choice()) == SummaryPage(items=())
    assert live.decision(1) is None


async def test_attempts_are_shown_as_they_were_recorded():
    store = RecordStore()
    rig = Rig(journal=store)
    store.watch(rig.scheduler)
    rig.put(node("n").capacity(cpu="1"), pod("placed").cpu("1"), pod("big").cpu("5"))
    await rig.run()
    live = decisions(rig, store)
    assert [one.pod for one in live.decisions(Choice()).items] == ["default/big", "default/placed"]
    assert [one.id for one in live.decisions(Choice(pod="default/big", result="Unschedulable")).items] == [2]
    assert live.decision(1).summary.node == "n"
    assert live.pod("default", "big").latest.rejected[0].nodes == ("n",)
    overview = live.overview()
    assert (overview.recording, overview.records, overview.bytes) == (True, 2, store.bytes)


def test_of_a_pod_that_is_gone_its_last_attempt_is_still_known():
    live = decisions(Rig(), FewRecords())
    view = live.pod("shop", "gone")
    assert (view.state, view.latest.summary.id) == ("Unknown", 4)
    assert live.decision(4).summary.id == 4


@pytest.mark.parametrize(
    ("choice", "ids", "before"),
    [
        (Choice(limit=3), [9, 8, 7], 7),
        (Choice(limit=3, before=4), [3, 2, 1], None),
        (Choice(namespace="shop"), [8, 6, 4, 2], None),
        (Choice(namespace="shop", limit=1), [8], 8),
        (Choice(pod="my-shop/web-1", limit=2), [9, 7], 7),
        (Choice(pod="shop/web-1"), [], None),
        (Choice(pod="shop/web-4", namespace="shop"), [4], None),
    ],
)
def test_attempts_are_exactly_those_of_the_pod_or_namespace(choice, ids, before):
    page = decisions(Rig(), FewRecords()).decisions(choice)
    assert ([one.id for one in page.items], page.before) == (ids, before)
