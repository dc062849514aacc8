"""What the end-to-end tests share. A program that can't be had fails the run; nothing is skipped."""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING, Any

import pytest

from e2e import berth, rivals, tools
from e2e.controlplane import ControlPlane, HollowKubelet
from e2e.page.browser import BrowserError, find_browser, running_browser

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_NEEDS = {
    "control_plane": ("etcd", "kube-apiserver", "kube-scheduler", "kubectl"),
    "controlled": ("etcd", "kube-apiserver", "kube-controller-manager"),
    "contested": ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"),
    "kubelet_stand_in": ("kubelet",),
    "oracle": ("oracle",),
    "with_help": ("kube-scheduler",),
    "shadowed": ("etcd", "kube-apiserver", "kube-scheduler"),
    "with_kube_scheduler": ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"),
    "session_programs": ("sessions", "etcd", "kube-apiserver"),
    "helm": ("helm",),
}
_names = itertools.count(1)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Build what the chosen tests need before the first of them starts: no test's time limit covers a build."""
    if session.config.option.collectonly:
        return
    fixtures = {name for item in session.items for name in getattr(item, "fixturenames", ())}
    needed = [program for fixture, programs in _NEEDS.items() if fixture in fixtures for program in programs]
    try:
        if "browser" in fixtures:
            find_browser()
        tools.ensure(needed)
    except (tools.ToolError, BrowserError) as error:
        pytest.exit(f"the end-to-end tests can't run: {error}", returncode=1)


@pytest.fixture(scope="session", autouse=True)
def _no_loop_of_the_main_thread() -> None:
    """Python 3.11 makes a loop when first asked for the current one, and nobody closes that."""
    asyncio.set_event_loop(None)


@pytest.fixture(scope="module")
def browser() -> Iterator[str]:
    """A Chromium without a window, for the tests of one module, as it is never quite idle; where it takes commands."""
    with running_browser() as address:
        yield address


@pytest.fixture(scope="session")
def control_plane() -> Iterator[ControlPlane]:
    """A running etcd and kube-apiserver, the same for all tests."""
    with ControlPlane() as cluster:
        yield cluster


@pytest.fixture
def hollow_kubelet(control_plane: ControlPlane) -> Iterator[HollowKubelet]:
    """Bound pods become Running, deleted ones go."""
    with HollowKubelet(control_plane.api) as kubelet:
        yield kubelet


@pytest.fixture
def namespace(control_plane: ControlPlane) -> str:
    """A namespace of the test's own."""
    return control_plane.create_namespace(f"test-{next(_names)}")


@pytest.fixture
def nodes(control_plane: ControlPlane) -> Iterator[list[str]]:
    """The names of three nodes of the test's own, which are gone after it."""
    names = control_plane.add_nodes(3, prefix=f"node-{next(_names)}")
    yield names
    for name in names:
        control_plane.api.delete(f"/api/v1/nodes/{name}")


@pytest.fixture(scope="session")
def contested() -> Iterator[ControlPlane]:
    """A control plane with the volume controller, for tests that run Berth and kube-scheduler beside each other."""
    with rivals.control_plane() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def oracle() -> None:
    """Asked for by tests that run kube-scheduler's code on single decisions, so that it is built in time."""


@pytest.fixture(scope="session")
def with_help() -> None:
    """Asked for by tests that read kube-scheduler's help, for the same reason."""


@pytest.fixture(scope="session")
def kubelet_stand_in() -> None:
    """Asked for by tests that forward ports, so that what serves them is built in time."""


@pytest.fixture(scope="session")
def session_programs() -> None:
    """Asked for by tests that go through recorded sessions, for the same reason."""


@pytest.fixture(scope="session")
def helm() -> str:
    """The path of helm."""
    return str(tools.binary("helm"))


@pytest.fixture(scope="session")
def rights(control_plane: ControlPlane) -> None:
    """The ServiceAccount that Berth runs as, with the chart's roles."""
    berth.grant(control_plane)


@pytest.fixture
def add_nodes(control_plane: ControlPlane) -> Iterator[Callable[..., list[str]]]:
    """``add_nodes(3, cpu="4")`` creates nodes of the test's own; they and the pods on them are gone after it."""
    made: list[str] = []

    def add(count: int, **like: Any) -> list[str]:
        names = control_plane.add_nodes(count, prefix=f"node-{next(_names)}", **like)
        made.extend(names)
        return names

    yield add
    for name in made:
        control_plane.api.delete(f"/api/v1/nodes/{name}")


@pytest.fixture
def emptied(control_plane: ControlPlane, namespace: str) -> Iterator[str]:
    """A namespace of the test's own whose pods are removed after it, so that no later test's scheduler sees them."""
    yield namespace
    query = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}
    control_plane.api.request("DELETE", f"/api/v1/namespaces/{namespace}/pods", query)
