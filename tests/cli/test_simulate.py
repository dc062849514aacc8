"""`berth simulate` from end to end, but for the terminal."""

from __future__ import annotations

import asyncio
import io
import json
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from scheduler.app.assembly import LOOKED_UP
from scheduler.client import kinds
from tests.app.live import write_kubeconfig
from tests.cli.runs import CONFIG, DEPLOYMENT, Run, small_cluster
from tests.fakes.apiserver import FakeApiServer, reply

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CLUSTER = """
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Pod
metadata: {name: small}
spec: {containers: [{name: main, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: big}
spec: {schedulerName: other, containers: [{name: main, resources: {requests: {cpu: "9"}}}]}
"""


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    return Run(tmp_path, capsys)


class TestOutput:
    def test_table(self, run: Run) -> None:
        assert run("-f", run.write("c.yaml", CLUSTER)) == 0
        lines = run.out.splitlines()
        assert lines[0].split() == ["POD", "NODE", "STATUS", "MESSAGE"]
        assert lines[1].split() == ["default/small", "n1", "Scheduled"]
        assert lines[2].startswith(
            "default/big     -      Unschedulable   0/1 nodes are available: 1 Insufficient cpu."
        )

    def test_wide(self, run: Run) -> None:
        assert run("-f", run.write("c.yaml", CLUSTER), "-o", "wide") == 0
        assert "NodeResourcesFit" in run.out
        assert "TURNED DOWN BY" in run.out

    def test_json_and_yaml_hold_the_same(self, run: Run) -> None:
        path = run.write("c.yaml", CLUSTER)
        decisions = run.decisions("-f", path)
        assert [(d["pod"], d["node"], d["status"]) for d in decisions] == [
            ("default/small", "n1", "Scheduled"),
            ("default/big", None, "Unschedulable"),
        ]
        assert run("-f", path, "-o", "yaml") == 0
        assert yaml.safe_load(run.out)["decisions"] == decisions

    def test_html_is_one_document_on_standard_output(self, run: Run) -> None:
        assert run("-f", run.write("c.yaml", CLUSTER), "-o", "html") == 0
        assert run.out.startswith("<!doctype html>")
        assert run.out.rstrip().endswith("</html>")
        assert run.err.startswith("A report of 2 pods, ")

    def test_nothing_to_schedule_is_told_on_standard_error(self, run: Run) -> None:
        assert run("-f", run.write("c.yaml", "")) == 0
        assert (run.out, run.err) == ("", "No pods to schedule.\n")

    def test_nothing_to_schedule_is_an_empty_list_in_json(self, run: Run) -> None:
        assert run.decisions("-f", run.write("c.yaml", "")) == []

    def test_what_was_left_out_is_told_on_standard_error(self, run: Run) -> None:
        deployment = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}}"
        assert run("-f", run.write("c.yaml", f"{CLUSTER}\n---\n{deployment}\n")) == 0
        assert run.err == "Left out, as scheduling does not read them: 1 Deployment.\n"

    def test_the_same_input_comes_out_the_same(self, run: Run) -> None:
        nodes = [
            f"{{apiVersion: v1, kind: Node, metadata: {{name: n{i}}}, status: {{capacity: {{pods: 9}}}}}}"
            for i in "abcdef"
        ]
        pods = [f"{{apiVersion: v1, kind: Pod, metadata: {{name: p{i}}}}}" for i in "abcdef"]
        path = run.write("c.yaml", "\n---\n".join([*nodes, *pods]))
        assert run.decisions("-f", path) == run.decisions("-f", path)


class TestInput:
    def test_files_directories_and_standard_input(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        (run.directory / "d").mkdir()
        run.write("d/node.yaml", CLUSTER.split("---")[0])
        run.write("pod.yaml", CLUSTER.split("---")[1])
        stdin = io.TextIOWrapper(io.BytesIO(CLUSTER.split("---")[2].encode()))
        monkeypatch.setattr(sys, "stdin", stdin)
        found = run.decisions("-f", str(run.directory / "d"), "-f", str(run.directory / "pod.yaml"), "-f", "-")
        assert [decision["pod"] for decision in found] == ["default/small", "default/big"]

    def test_without_a_configuration_pods_of_all_schedulers_count(self, run: Run) -> None:
        assert len(run.decisions("-f", run.write("c.yaml", CLUSTER))) == 2

    def test_a_configuration_among_the_documents(self, run: Run) -> None:
        found = run.decisions("-f", run.write("c.yaml", f"{CLUSTER}\n---\n{CONFIG}"))
        assert [decision["pod"] for decision in found] == ["default/big"]

    def test_a_configuration_of_its_own(self, run: Run) -> None:
        path = run.write("config.yaml", CONFIG)
        found = run.decisions("-f", run.write("c.yaml", CLUSTER), "--config", path)
        assert [decision["pod"] for decision in found] == ["default/big"]
        assert run.err == "Left alone, as they ask for other schedulers: 1 of default-scheduler.\n"

    def test_label_keys_are_merged_as_an_api_server_does(self, run: Run) -> None:
        """Old and new revision repel their own kind only."""
        text = """
{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {host: n1}}, status: {allocatable: {pods: 9}}}
---
apiVersion: v1
kind: Pod
metadata: {name: old, labels: {app: a, rev: "1"}}
spec: {nodeName: n1}
---
apiVersion: v1
kind: Pod
metadata: {name: new, labels: {app: a, rev: "2"}}
spec:
  affinity:
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        - {topologyKey: host, matchLabelKeys: [rev], labelSelector: {matchLabels: {app: a}}}
"""
        (decision,) = run.decisions("-f", run.write("c.yaml", text))
        assert decision["status"] == "Scheduled"


class TestErrors:
    """Exit status 2, and nothing on standard output."""

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("a: [", "c.yaml, line 2, column 1"),
            ("{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {priority: x}}", "Pod p: spec.priority: Expected"),
            (
                "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {priorityClassName: x}}",
                "spec.priorityClassName",
            ),
            (CONFIG.replace("other", "''"), "profiles[0].schedulerName"),
            (CONFIG.replace("profiles", "profile"), 'unknown field "profile", did you mean "profiles"?'),
        ],
    )
    def test_input_that_can_not_be_used(self, run: Run, text: str, message: str) -> None:
        path = run.write("c.yaml", text)
        assert run("-f", path) == 2
        assert run.out == ""
        assert run.err.startswith("berth: error: ")
        assert message in run.err
        assert path in run.err

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ([], "nothing to read: give -f FILE, --from-cluster or --jsonl"),
            (["--jsonl", "-f", "x"], "--jsonl reads whole cases on standard input"),
            (["-f", "x", "--context", "y"], "--kubeconfig and --context go with --from-cluster"),
            (["-f", "nowhere.yaml"], "nowhere.yaml: No such file or directory"),
            (["-f", "-", "--feature-gates", "Nonsense=true"], "Nonsense"),
        ],
    )
    def test_flags_that_can_not_be_used(self, run: Run, arguments: list[str], message: str) -> None:
        assert run(*arguments) == 2
        assert run.out == ""
        assert message in run.err

    def test_two_configurations(self, run: Run) -> None:
        path = run.write("config.yaml", CONFIG)
        assert run("-f", path, "--config", path) == 2
        assert "a KubeSchedulerConfiguration, while --config names another one" in run.err

    def test_a_broken_file_after_a_good_one_leaves_nothing_half_done(self, run: Run) -> None:
        assert run("-f", run.write("a.yaml", CLUSTER), "-f", run.write("b.yaml", "kind: Pod")) == 2
        assert run.out == ""


NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"capacity": {"pods": "9"}}}


class TestJsonLines:
    def run_lines(self, run: Run, monkeypatch: pytest.MonkeyPatch, *lines: str) -> list[dict[str, Any]]:
        text = "".join(f"{line}\n" for line in lines)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        assert run("--jsonl") == 0
        return [json.loads(line) for line in run.out.splitlines()]

    def test_one_decision_a_line(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        lines = [json.dumps({"id": i, "objects": [NODE], "pod": {"metadata": {"name": "p"}}}) for i in (1, 2)]
        found = self.run_lines(run, monkeypatch, *lines, "")
        assert [(decision["id"], decision["best"]) for decision in found] == [(1, ["n"]), (2, ["n"])]

    def test_a_broken_line_does_not_keep_the_others_from_it(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        good = json.dumps({"id": 2, "objects": [NODE], "pod": {"metadata": {"name": "p"}}})
        broken, decided = self.run_lines(run, monkeypatch, '{"id": 1', good)
        assert broken["id"] is None
        assert broken["error"].startswith("case: ")
        assert decided["best"] == ["n"]


@contextmanager
def live_cluster(**objects: list[dict[str, Any]]) -> Iterator[FakeApiServer]:
    """An API server in a thread of its own, with lists of these objects by plural name."""
    ready = threading.Event()
    done: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []
    server = FakeApiServer()
    for resource in (kinds.NODES, kinds.NAMESPACES, kinds.PRIORITY_CLASSES, *LOOKED_UP, kinds.PODS):
        server.on("GET", resource.path(), reply({"metadata": {}, "items": objects.get(resource.plural, [])}))

    async def serve() -> None:
        async with server:
            end = asyncio.Event()
            done.append((asyncio.get_running_loop(), end))
            ready.set()
            await end.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    assert ready.wait(10)
    try:
        yield server
    finally:
        loop, end = done[0]
        loop.call_soon_threadsafe(end.set)
        thread.join()


class TestLiveCluster:
    def node(self, name: str, cpu: str) -> dict[str, Any]:
        return {"metadata": {"name": name}, "status": {"allocatable": {"cpu": cpu, "pods": "9"}}}

    def pod(self, name: str, **spec: Any) -> dict[str, Any]:
        containers = [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]
        return {"metadata": {"name": name, "namespace": "default"}, "spec": {"containers": containers, **spec}}

    def test_its_pending_pods_are_placed_and_nothing_is_written(self, run: Run) -> None:
        pods = [self.pod("running", nodeName="n1"), self.pod("waiting")]
        with live_cluster(nodes=[self.node("n1", "2")], pods=pods) as server:
            path = write_kubeconfig(run.directory / "kubeconfig", server)
            found = run.decisions("--from-cluster", "--kubeconfig", path)
        assert [(d["pod"], d["node"]) for d in found] == [("default/waiting", "n1")]
        assert {seen.method for seen in server.requests} == {"GET"}

    def test_files_add_to_it_and_take_the_place_of_its_objects(self, run: Run) -> None:
        files = run.write(
            "new.yaml",
            "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 1, pods: 9}}}\n---\n"
            "{apiVersion: v1, kind: Pod, metadata: {name: new}, spec: {containers: [{name: c, resources: "
            "{requests: {cpu: 2}}}]}}\n",
        )
        with live_cluster(nodes=[self.node("n1", "64"), self.node("n2", "2")]) as server:
            path = write_kubeconfig(run.directory / "kubeconfig", server)
            found = run.decisions("--from-cluster", "--kubeconfig", path, "-f", files)
        assert [(d["pod"], d["node"]) for d in found] == [("default/new", "n2")]

    def test_a_cluster_that_can_not_be_reached(self, run: Run) -> None:
        server = FakeApiServer(url="http://127.0.0.1:9")
        path = write_kubeconfig(run.directory / "kubeconfig", server)
        assert run("--from-cluster", "--kubeconfig", path) == 2
        assert "cluster http://127.0.0.1:9: " in run.err


class TestWhatIf:
    def places(self, run: Run, *arguments: str) -> list[tuple[str, str | None]]:
        path = run.write("c.yaml", small_cluster())
        return [(d["pod"], d["node"]) for d in run.decisions("-f", path, *arguments)]

    def test_a_node_drained(self, run: Run) -> None:
        assert self.places(run, "--drain", "n1") == [("default/web-5d-1", "n2")]

    def test_a_node_gone(self, run: Run) -> None:
        assert self.places(run, "--without-node", "n1") == [("default/web-5d-1", "n2")]

    def test_a_workload_scaled(self, run: Run) -> None:
        found = self.places(run, "--scale", "deployment/web=3")
        assert found == [("default/web-5d-new-1", "n2"), ("default/web-5d-new-2", None)]

    def test_changes_are_made_in_the_order_they_are_written_in(self, run: Run) -> None:
        cordoned = self.places(
            run, "--cordon", "n1", "--add-nodes", "1=n1", "--scale", "deploy/web=2", "--cordon", "n2"
        )
        assert cordoned == [("default/web-5d-new-1", "n1-new-1")]
        all_cordoned = self.places(run, "--add-nodes", "1=n1", "--cordon", "*", "--scale", "deploy/web=2")
        assert all_cordoned == [("default/web-5d-new-1", None)]

    def test_running_pods_placed_anew(self, run: Run) -> None:
        assert [name for name, _ in self.places(run, "--reschedule")] == ["default/web-5d-1"]

    def test_what_was_changed_is_the_first_line(self, run: Run) -> None:
        path = run.write("c.yaml", small_cluster())
        assert run("-f", path, "--add-nodes", "1=n1", "--drain", "n1") == 0
        assert run.out.splitlines()[0] == "What if: added 1 node like n1; drained n1: 1 pod to place again"
        assert run.out.splitlines()[2].split() == ["POD", "NODE", "STATUS", "MESSAGE"]

    def test_and_a_list_in_json(self, run: Run) -> None:
        assert run("-f", run.write("c.yaml", small_cluster()), "--cordon", "n1", "-o", "json") == 0
        assert json.loads(run.out)["changes"] == ["cordoned n1"]

    def test_objects_of_a_later_file_lie_over_those_of_an_earlier_one(self, run: Run) -> None:
        over = run.write("over.yaml", "{apiVersion: v1, kind: Node, metadata: {name: n2}, spec: {unschedulable: true}}")
        path = run.write("c.yaml", small_cluster())
        assert run("-f", path, "-f", over, "--drain", "n1") == 0
        assert run.out.splitlines()[0].startswith(f"What if: 1 object replaced by {over}; drained n1")
        assert "Unschedulable" in run.out

    def test_a_field_of_the_configuration(self, run: Run) -> None:
        path = run.write("c.yaml", CLUSTER)
        profile = "profiles[other].plugins.multiPoint.disabled[NodeResourcesFit].name=NodeResourcesFit"
        found = run.decisions("-f", path, "--set", profile)
        assert [(d["pod"], d["node"]) for d in found] == [("default/small", "n1"), ("default/big", "n1")]

    def test_deployments_that_have_no_pods_get_some(self, run: Run) -> None:
        found = run.decisions("-f", run.write("c.yaml", f"{small_cluster()}\n---\n{DEPLOYMENT}"))
        assert [d["pod"] for d in found] == ["default/shop-new-1", "default/shop-new-2", "default/shop-new-3"]
        assert run.err == "Made 3 pods of Deployment default/shop, which has none yet.\n"

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--drain", "n3"], "there is no node 'n3'"),
            (["--scale", "deployment/wep=1"], "there is no Deployment wep with pods or a template; did you mean web?"),
            (["--add-nodes", "n1"], "--add-nodes n1: write a number and the node that they are like"),
            (["--remove-taint", "n1:gpu"], "has a taint gpu; they have no taints"),
            (["--set", "profiles"], "--set profiles: write PATH=VALUE"),
            (["--set", "percentOfNodes=3"], '--set: unknown field "percentOfNodes"'),
        ],
    )
    def test_what_can_not_be_tried(self, run: Run, arguments: list[str], message: str) -> None:
        assert run("-f", run.write("c.yaml", small_cluster()), *arguments) == 2
        assert run.out == ""
        assert message in run.err


class TestFailOn:
    def test_pods_that_stay_pending(self, run: Run) -> None:
        path = run.write("c.yaml", small_cluster())
        assert run("-f", path, "--scale", "deploy/web=3") == 0
        assert run("-f", path, "--scale", "deploy/web=3", "--fail-on", "pending") == 1
        assert "default/web-5d-new-2" in run.out
        assert run("-f", path, "--scale", "deploy/web=2", "--fail-on", "pending") == 0

    def test_pods_that_are_held_back_on_purpose_do_not_count(self, run: Run) -> None:
        gated = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {schedulingGates: [{name: g}]}}"
        assert run("-f", run.write("c.yaml", f"{small_cluster()}\n---\n{gated}"), "--fail-on", "pending") == 0

    def test_pods_that_others_had_to_leave_for(self, run: Run) -> None:
        urgent = (
            "{apiVersion: v1, kind: Pod, metadata: {name: p}, "
            "spec: {priority: 9, containers: [{name: c, resources: {requests: {cpu: 4}}}]}}"
        )
        path = run.write("c.yaml", f"{small_cluster(nodes=1)}\n---\n{urgent}")
        assert run("-f", path, "--fail-on", "pending") == 0
        assert run("-f", path, "--fail-on", "pending", "--fail-on", "preemption") == 1


class TestExpect:
    def test_as_before_or_not(self, run: Run) -> None:
        path = run.write("c.yaml", small_cluster())
        assert run("-f", path, "--drain", "n1", "-o", "json") == 0
        expected = run.write("old.json", run.out)
        assert run("-f", path, "--drain", "n1", "--expect", expected) == 0
        assert run("-f", path, "--drain", "n1", "--cordon", "n2", "--expect", expected) == 1
        assert "default/web-5d-1 was expected on n2, and is on no node.\n" in run.err

    def test_what_can_not_be_expected(self, run: Run) -> None:
        path = run.write("c.yaml", small_cluster())
        assert run("-f", path, "--expect", path) == 2
        assert "not what `berth simulate -o json` writes" in run.err
        assert run("-f", path, "--expect", path, "--fill", path) == 2
        assert "--expect is about where pods go" in run.err
