"""`berth explain`."""

from __future__ import annotations

import json

import pytest
import yaml

from scheduler.app.asking import Asking
from scheduler.app.reach import NoSchedulerError, ReachError
from scheduler.cli import reaching
from scheduler.cli.main import main
from scheduler.client.auth import Connection
from tests.fakes.decisions import BIG, WEB, FakeDecisions


class FakeScheduler(Asking):
    """Answers without a network; `asked` are the names of what it was asked for."""

    def __init__(self):
        self.decisions_known = FakeDecisions()
        self.asked = []
        self.views = {WEB.pod: WEB, BIG.pod: BIG}

    async def overview(self):
        return self.decisions_known.overview()

    async def pod(self, namespace, name):
        self.asked.append("pod")
        return self.views.get(f"{namespace}/{name}")

    async def decision(self, number):
        self.asked.append("decision")
        return self.decisions_known.decision(number)

    async def comparison(self, number, other=""):
        self.asked.append("comparison")
        return self.decisions_known.comparison(number, other)

    async def evaluation(self, namespace, name):
        self.asked.append("evaluation")
        return await self.decisions_known.evaluate("shop", "big")

    async def pending(self):
        return self.decisions_known.pending()

    async def node(self, name):
        found = self.decisions_known.node(name)
        if found is None:
            raise ReachError(f"the scheduler knows no node '{name}'")
        return found

    async def nodes(self):
        return self.decisions_known.nodes()


@pytest.fixture
def scheduler(monkeypatch):
    """A scheduler that is reached, however it is looked for; the kubeconfig's namespace is shop."""
    fake = FakeScheduler()

    class Way:
        async def __aenter__(self):
            return fake

        async def __aexit__(self, *error):
            return None

    async def connection_of(namespace):
        return Connection("https://cluster.example.com", namespace="shop")

    monkeypatch.setattr(reaching, "asking", lambda namespace, connection: Way())
    monkeypatch.setattr(reaching, "connection_of", connection_of)
    return fake


def test_a_placed_pod_is_explained_by_its_record_alone(scheduler, capsys):
    assert main(["explain", "pod", "web-1", "--node", "c"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("shop/web-1 is on a: 187 points, 57 more than b")
    assert "c was turned down by NodeName" in out
    assert scheduler.asked == ["pod", "comparison", "comparison"]


def test_for_a_pending_pod_what_was_recorded_and_what_is_so_now_are_both_told(scheduler, capsys):
    assert main(["explain", "pod", "shop/big", "-n", "elsewhere"]) == 0
    out = capsys.readouterr().out
    assert out.index("Attempt 3") < out.index("Now, by a fresh evaluation") < out.index("no node has 8 CPUs")
    assert out.index("no node has 8 CPUs") < out.index("Preemption would help now: it would evict shop/idle")


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_what_preemption_would_come_to_is_told_to_programs_as_well(scheduler, capsys, form):
    assert main(["explain", "pod", "big", "-o", form]) == 0
    read = json.loads if form == "json" else yaml.safe_load
    told = read(capsys.readouterr().out)["evaluation"]["preemption"]
    assert (told["helps"], told["node"]) == (True, "a")
    assert [one.get("worseBy", "") for one in told["candidates"]] == ["", "pdbViolations"]


@pytest.mark.parametrize(
    ("flag", "asked", "shown", "hidden"),
    [
        ("--recorded", ["pod"], "Attempt 3", "Now, by"),
        ("--fresh", ["pod", "evaluation"], "Now, by", "Attempt 3"),
    ],
)
def test_one_of_both_can_be_picked(scheduler, capsys, flag, asked, shown, hidden):
    assert main(["explain", "pod", "big", flag]) == 0
    out = capsys.readouterr().out
    assert (scheduler.asked, shown in out, hidden in out) == (asked, True, False)


def test_a_placed_pod_without_a_record_is_evaluated(scheduler):
    scheduler.views["shop/web-1"] = WEB.__class__(pod="shop/web-1", state="Scheduled", node="a")
    assert main(["explain", "pod", "web-1"]) == 0
    assert scheduler.asked == ["pod", "evaluation"]


def test_an_attempt_on_record_can_be_named(scheduler, capsys):
    assert main(["explain", "pod", "big", "--attempt", "7"]) == 0
    assert "187 points" in capsys.readouterr().out
    assert scheduler.asked == ["pod", "decision", "comparison"]


def test_json_and_yaml_have_everything(scheduler, capsys):
    assert main(["explain", "pod", "web-1", "-o", "json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert (value["kind"], value["pod"]["node"], value["decision"]["feasible"]["totals"]) == (
        "PodExplanation",
        "a",
        [187, 130],
    )
    assert main(["explain", "pod", "web-1", "-o", "yaml"]) == 0
    assert yaml.safe_load(capsys.readouterr().out) == value


def test_a_node_and_its_pods(scheduler, capsys):
    assert main(["explain", "node", "a"]) == 0
    assert "1 pod\n  shop/web-1\n" in capsys.readouterr().out
    assert main(["explain", "node", "a", "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"name": "a", "pods": ["shop/web-1"]}
    assert main(["explain", "node", "zzz"]) == 1


def test_a_pod_that_nobody_knows(scheduler, capsys):
    assert main(["explain", "pod", "gone"]) == 1
    assert "the scheduler knows no pod shop/gone: -n NAMESPACE says where it is" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["node", "a", "--node", "b"], "--node, --attempt and --from-cluster go with explain pod"),
        (["pod", "a", "--attempt", "3", "--fresh"], "--attempt is one on record"),
    ],
)
def test_flags_that_make_no_sense_together(capsys, arguments, problem):
    assert main(["explain", *arguments]) == 2
    assert problem in capsys.readouterr().err


class TestWithoutAScheduler:
    @pytest.fixture(autouse=True)
    def nobody(self, scheduler, monkeypatch):
        class Nobody:
            async def __aenter__(self):
                raise NoSchedulerError("no Berth in namespace kube-system")

            async def __aexit__(self, *error):
                return None

        async def read(kubeconfig, context):
            from scheduler.app.live import Live
            from tests.builders import node, pod

            pending = pod("big").namespace("shop").cpu("9").scheduler("default-scheduler").build()
            return Live([node("a").capacity(cpu="4").build(), pending], {"services": "spreading by default"})

        monkeypatch.setattr("scheduler.app.live.read_cluster", read)
        monkeypatch.setattr(reaching, "asking", lambda namespace, connection: Nobody())

    def test_the_decision_is_taken_here_and_that_is_said(self, capsys):
        assert main(["explain", "pod", "big"]) == 0
        shown = capsys.readouterr()
        assert "no Berth in namespace kube-system\nDeciding here instead" in shown.err
        assert "Left out, as you have no right to list services" in shown.err
        assert "Evaluated here, from what you may read of the cluster" in shown.out
        assert "big does not fit on the only node: a is too small for the pod's CPU" in shown.out
        assert "one more node like a but with 9 CPU" in shown.out
        assert "In the queue" not in shown.out

    def test_that_can_be_asked_for(self, capsys):
        assert main(["explain", "pod", "big", "--from-cluster", "-o", "json"]) == 0
        shown = capsys.readouterr()
        assert json.loads(shown.out)["source"] == "simulated"
        assert "no Berth" not in shown.err

    @pytest.mark.parametrize("flags", [["--recorded"], ["--attempt", "7"]])
    def test_a_record_can_only_be_had_of_a_scheduler(self, capsys, flags):
        assert main(["explain", "pod", "big", *flags]) == 1
        assert "no Berth in namespace kube-system" in capsys.readouterr().err


def test_a_kubeconfig_that_is_not_there_is_named(capsys, tmp_path):
    assert main(["explain", "pod", "big", "--kubeconfig", str(tmp_path / "none")]) == 2
    assert str(tmp_path / "none") in capsys.readouterr().err
