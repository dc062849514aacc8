"""Berth beside others, killed, stopped and replaced: every pod gets one node, and no node more than it has."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest

from e2e.berth import Berth, configuration, events, overcommitted, placements, pod
from e2e.beside import Beside
from e2e.controlplane import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from e2e.controlplane import ControlPlane

LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/berth"
QUICK = {
    "leaderElect": True,
    "resourceName": "berth",
    "leaseDuration": "4s",
    "renewDeadline": "3s",
    "retryPeriod": "500ms",
}
pytestmark = pytest.mark.usefixtures("rights")


class Bindings(Beside):
    """Watches the pods of a namespace while the context lasts, and notes every node that each of them is given."""

    def __init__(self, control_plane: ControlPlane, namespace: str) -> None:
        super().__init__("watch over bindings")
        self._api = control_plane.api
        self._path = f"/api/v1/namespaces/{namespace}/pods"
        self._seen: dict[str, list[str]] = defaultdict(list)
        self._version = self._api.get(self._path)["metadata"]["resourceVersion"]

    def changed(self) -> dict[str, list[str]]:
        """The pods that were seen on more than one node; to be asked once every pod has been seen bound."""
        return {uid: nodes for uid, nodes in self._seen.items() if len(nodes) != 1}

    def number(self) -> int:
        """How many pods were seen bound."""
        return len(self._seen)

    def work(self) -> None:
        while not self.stop.is_set():
            for event in self._api.watch(self._path, seconds=1, resourceVersion=self._version):
                meta = event["object"]["metadata"]
                self._version = meta["resourceVersion"]
                node = event["object"]["spec"].get("nodeName", "")
                nodes = self._seen[meta["uid"]] if node else []
                if node and (not nodes or nodes[-1] != node):
                    nodes.append(node)


def bound(control_plane: ControlPlane, namespace: str) -> int:
    """How many pods of a namespace have a node."""
    return sum(1 for node in placements(control_plane, namespace).values() if node)


def wait_bound(control_plane: ControlPlane, namespace: str, number: int, timeout: float = 60.0) -> None:
    wait_until(f"{number} pods are bound", lambda: bound(control_plane, namespace) >= number, timeout=timeout)


def assigned_twice(control_plane: ControlPlane, namespace: str) -> list[str]:
    """Pods that were reported as assigned more than once."""
    names = [event["regarding"]["name"] for event in events(control_plane, namespace) if event["reason"] == "Scheduled"]
    return sorted({name for name in names if names.count(name) > 1})


def throttled(qps: int) -> dict[str, Any]:
    """A configuration under which binding takes its time."""
    return configuration(clientConnection={"qps": qps, "burst": 50})


class TestBesideKubeScheduler:
    @pytest.fixture(autouse=True)
    def schedulers(self, control_plane: ControlPlane) -> Iterator[None]:
        control_plane.start_kube_scheduler()
        with Berth(control_plane, name="beside"):
            yield
        control_plane.stop_component("kube-scheduler")

    def test_both_fill_the_same_nodes_and_neither_overcommits(
        self, control_plane: ControlPlane, add_nodes: Callable[..., list[str]], emptied: str
    ) -> None:
        own = add_nodes(4, cpu="4")
        names = {"berth": "ours", "default-scheduler": "theirs"}
        control_plane.api.create_all(
            pod(f"{names[of]}-{number}", emptied, scheduler=of, cpu="100m") for number in range(50) for of in names
        )
        wait_bound(control_plane, emptied, 100)
        assert set(placements(control_plane, emptied).values()) == set(own)
        assert overcommitted(control_plane) == {}
        # 16 CPUs, 10 of them taken: Berth fills up what is left to the last, knowing what the other one has placed.
        control_plane.api.create_all(pod(f"more-{number}", emptied, cpu="100m") for number in range(70))
        wait_bound(control_plane, emptied, 160)
        wait_until(
            "the others were turned down",
            lambda: len(turned_down(control_plane, emptied)) == 10,
        )
        assert bound(control_plane, emptied) == 160
        assert overcommitted(control_plane) == {}


def turned_down(control_plane: ControlPlane, namespace: str) -> set[str]:
    """Pods without a node that were told why."""
    waiting = {name for name, node in placements(control_plane, namespace).items() if not node}
    told = {e["regarding"]["name"] for e in events(control_plane, namespace) if e["reason"] == "FailedScheduling"}
    return waiting & told


class TestKilled:
    def test_every_pod_is_bound_once_though_berth_was_killed_in_the_middle(
        self, control_plane: ControlPlane, add_nodes: Callable[..., list[str]], emptied: str
    ) -> None:
        add_nodes(10, cpu="5")  # room for 500 pods and not one more
        with Bindings(control_plane, emptied) as seen:
            with Berth(control_plane, name="killed", config=throttled(150)) as first:
                control_plane.api.create_all(pod(f"web-{number}", emptied) for number in range(500))
                wait_bound(control_plane, emptied, 150)
                first.kill()
            assert 150 <= bound(control_plane, emptied) < 500
            with Berth(control_plane, name="killed"):
                wait_bound(control_plane, emptied, 500)
                assert overcommitted(control_plane) == {}
            wait_until("all bindings were seen", lambda: seen.number() == 500)
        assert seen.changed() == {}
        assert assigned_twice(control_plane, emptied) == []

    def test_pods_are_bound_once_though_the_api_server_was_killed_in_the_middle(
        self, control_plane: ControlPlane, add_nodes: Callable[..., list[str]], emptied: str
    ) -> None:
        add_nodes(5, cpu="4")
        with Berth(control_plane, name="bereft", config=throttled(100)) as running:
            control_plane.api.create_all(pod(f"web-{number}", emptied) for number in range(200))
            wait_bound(control_plane, emptied, 60)
            control_plane.restart_apiserver()
            wait_bound(control_plane, emptied, 200)
            assert running.running
        assert overcommitted(control_plane) == {}
        assert assigned_twice(control_plane, emptied) == []


class TestStopped:
    def test_sigterm_ends_it_in_order_and_the_next_one_goes_on(
        self, control_plane: ControlPlane, add_nodes: Callable[..., list[str]], emptied: str
    ) -> None:
        add_nodes(4, cpu="5")
        with Bindings(control_plane, emptied) as seen:
            with Berth(control_plane, name="stopped", config=throttled(100)) as first:
                control_plane.api.create_all(pod(f"web-{number}", emptied) for number in range(200))
                wait_bound(control_plane, emptied, 60)
                assert first.stop() == 0
            assert "binding cycles did not end" not in first.log
            assert "Traceback" not in first.log
            with Berth(control_plane, name="stopped-next"):
                wait_bound(control_plane, emptied, 200)
            wait_until("all bindings were seen", lambda: seen.number() == 200)
        assert seen.changed() == {}
        assert overcommitted(control_plane) == {}
        assert assigned_twice(control_plane, emptied) == []


class TestStandby:
    @pytest.fixture(autouse=True)
    def no_lease(self, control_plane: ControlPlane) -> Iterator[None]:
        yield
        control_plane.api.delete(LEASE)

    def holder(self, control_plane: ControlPlane) -> str:
        found: str = control_plane.api.get(LEASE)["spec"].get("holderIdentity", "")
        return found

    def start(self, control_plane: ControlPlane, name: str) -> Berth:
        return Berth(control_plane, name=name, config=configuration(leaderElection=dict(QUICK)))

    def leads(self, scheduler: Berth) -> bool:
        return "Scheduling pods of berth" in scheduler.log

    def test_a_standby_takes_over_from_a_leader_that_was_killed(
        self, control_plane: ControlPlane, nodes: list[str], emptied: str
    ) -> None:
        with self.start(control_plane, "leader") as leader:
            wait_until("the first one leads", lambda: self.leads(leader))
            with self.start(control_plane, "standby") as standby:
                control_plane.api.create(pod("before-0", emptied))
                wait_bound(control_plane, emptied, 1)
                assert not self.leads(standby)
                leader.kill()
                control_plane.api.create(pod("after-0", emptied))
                wait_bound(control_plane, emptied, 2)
                assert self.leads(standby)

    def test_a_leader_that_is_stopped_hands_over_at_once(
        self, control_plane: ControlPlane, nodes: list[str], emptied: str
    ) -> None:
        with self.start(control_plane, "first") as first:
            wait_until("the first one leads", lambda: self.leads(first))
            held = control_plane.api.get(LEASE)["spec"]["leaseTransitions"]
            assert first.stop() == 0
        assert self.holder(control_plane) == ""
        with self.start(control_plane, "second") as second:
            control_plane.api.create(pod("web-0", emptied))
            wait_bound(control_plane, emptied, 1)
            assert self.leads(second)
        assert control_plane.api.get(LEASE)["spec"]["leaseTransitions"] == held + 1

    def test_a_leader_that_loses_its_lease_ends_with_code_1(
        self, control_plane: ControlPlane, nodes: list[str]
    ) -> None:
        with self.start(control_plane, "robbed") as leader:
            wait_until("it leads", lambda: self.leads(leader))

            def robbed() -> bool:
                lease = control_plane.api.get(LEASE)
                lease["spec"] |= {"holderIdentity": "somebody else", "leaseDurationSeconds": 60}
                control_plane.api.replace(lease)
                return True

            retried(robbed)
            assert leader.wait() == 1
        assert "leaderelection lost" in leader.log
        assert self.holder(control_plane) == "somebody else"


def retried(write: Callable[[], bool]) -> None:
    """Repeat a write that meets another one of the same object."""
    from e2e.controlplane import ApiError

    def attempt() -> bool:
        try:
            return write()
        except ApiError as error:
            if error.code != 409:
                raise
            return False

    wait_until("the write goes through", attempt)
