"""The objects of a live cluster, read once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from scheduler.app.live import read_all, read_cluster
from scheduler.app.manifests import ManifestError
from scheduler.client import kinds
from tests.app.live import write_kubeconfig
from tests.fakes.apiserver import FakeApiServer, reply, status

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

READ = (
    kinds.NODES,
    kinds.NAMESPACES,
    kinds.PRIORITY_CLASSES,
    kinds.SERVICES,
    kinds.REPLICATION_CONTROLLERS,
    kinds.REPLICA_SETS,
    kinds.STATEFUL_SETS,
    kinds.POD_DISRUPTION_BUDGETS,
    kinds.STORAGE_CLASSES,
    kinds.CSI_DRIVERS,
    kinds.CSI_NODES,
    kinds.CSI_STORAGE_CAPACITIES,
    kinds.VOLUME_ATTACHMENTS,
    kinds.PERSISTENT_VOLUMES,
    kinds.PERSISTENT_VOLUME_CLAIMS,
    kinds.DEVICE_CLASSES,
    kinds.PODS,
)


@pytest.fixture
async def server() -> AsyncIterator[FakeApiServer]:
    """A server that has every resource and no object."""
    async with FakeApiServer() as fake:
        for resource in READ:
            fake.on("GET", resource.path(), reply(page()))
        yield fake


def page(*names: str, following: str = "") -> dict[str, Any]:
    """A part of a list."""
    return {"metadata": {"continue": following}, "items": [{"metadata": {"name": name}} for name in names]}


async def names(server: FakeApiServer) -> list[str]:
    objects: list[Any] = (await read_all(server.connection)).objects
    return [f"{type(item).__name__} {item.metadata.name}" for item in objects]


async def test_all_kinds_that_scheduling_reads(server: FakeApiServer) -> None:
    for resource in READ:
        server.on("GET", resource.path(), reply(page("x")))
    assert await names(server) == [f"{resource.kind} x" for resource in READ]


async def test_nothing_is_written(server: FakeApiServer) -> None:
    await names(server)
    assert {seen.method for seen in server.requests} == {"GET"}


async def test_long_lists_come_in_pages(server: FakeApiServer) -> None:
    server.on("GET", kinds.NODES.path(), reply(page("a", following="t 1")), reply(page("b")))
    assert await names(server) == ["Node a", "Node b"]
    queries = [seen.query for seen in server.seen("GET", kinds.NODES.path())]
    assert queries == [{"limit": "500"}, {"limit": "500", "continue": "t 1"}]


async def test_a_list_that_expires_half_way_is_taken_anew(server: FakeApiServer) -> None:
    pages = (reply(page("a", following="t")), status(410, "Expired", "too old"), reply(page("a", "b")))
    server.on("GET", kinds.NODES.path(), *pages)
    assert await names(server) == ["Node a", "Node b"]
    assert server.seen("GET", kinds.NODES.path())[-1].query == {"limit": "0"}


async def test_finished_pods_are_not_asked_for(server: FakeApiServer) -> None:
    await names(server)
    (seen,) = server.seen("GET", kinds.PODS.path())
    assert seen.query["fieldSelector"] == "status.phase!=Succeeded,status.phase!=Failed"


async def test_a_server_may_lack_optional_kinds(server: FakeApiServer) -> None:
    server.on("GET", kinds.DEVICE_CLASSES.path(), status(404, "NotFound", "the server could not find it"))
    assert await names(server) == []


async def test_what_is_refused_is_an_error_that_names_the_cluster(server: FakeApiServer) -> None:
    server.on("GET", kinds.PODS.path(), status(403, "Forbidden", "pods is forbidden"))
    with pytest.raises(ManifestError) as caught:
        await names(server)
    assert server.url in str(caught.value)
    assert "pods is forbidden" in str(caught.value)


async def test_an_object_that_can_not_be_read_is_an_error(server: FakeApiServer) -> None:
    broken = {"metadata": {}, "items": [{"metadata": {"name": "p"}, "spec": {"priority": "high"}}]}
    server.on("GET", kinds.PODS.path(), reply(broken))
    with pytest.raises(ManifestError, match=r"spec\.priority"):
        await names(server)


async def test_the_kubeconfig_says_which_cluster(server: FakeApiServer, tmp_path: Path) -> None:
    server.on("GET", kinds.NODES.path(), reply(page("a")))
    objects: list[Any] = (await read_cluster(write_kubeconfig(tmp_path / "kubeconfig", server), "")).objects
    assert [item.metadata.name for item in objects] == ["a"]


async def test_credentials_that_can_not_be_had(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="nowhere"):
        await read_cluster(str(tmp_path / "nowhere"), "")


class TestRights:
    """Who may do little gets what he may see."""

    async def test_kinds_that_may_not_be_listed_are_left_out_with_a_note(self, server: FakeApiServer) -> None:
        refusal = status(403, "Forbidden", "forbidden")
        for resource in READ:
            server.on("GET", resource.path(), refusal)
        server.on("GET", kinds.NODES.path(), reply(page("n")))
        server.on("GET", kinds.PODS.path(), reply(page("p")))
        live = await read_all(server.connection)
        assert [type(item).__name__ for item in live.objects] == ["Node", "Pod"]
        assert set(live.left_out) == {resource.plural for resource in READ} - {"nodes", "pods"}
        assert (
            "Left out, as you have no right to list poddisruptionbudgets in all namespaces: preemption spares nobody."
            in live.notes
        )

    async def test_nodes_and_pods_are_needed_and_the_missing_rights_are_named(self, server: FakeApiServer) -> None:
        for resource in (kinds.NODES, kinds.PODS):
            server.on("GET", resource.path(), status(403, "Forbidden", f'User "eve" cannot list {resource.plural}'))
        with pytest.raises(ManifestError) as caught:
            await read_all(server.connection)
        nodes, pods = str(caught.value).splitlines()
        assert "you have no right to list nodes in all namespaces" in nodes
        assert 'apiGroups: [""], resources: ["pods"], verbs: ["list"]' in pods
        assert 'User "eve" cannot list pods' in pods

    async def test_other_refusals_are_errors(self, server: FakeApiServer) -> None:
        server.on("GET", kinds.SERVICES.path(), status(404, "NotFound", "no such thing"))
        with pytest.raises(ManifestError, match="services: no such thing"):
            await read_all(server.connection)


async def test_how_far_it_is(server: FakeApiServer) -> None:
    first = page("a", "b", following="t")
    first["metadata"]["remainingItemCount"] = 1
    server.on("GET", kinds.NODES.path(), reply(first), reply(page("c")))
    told: list[tuple[str, int, int | None]] = []
    await read_all(server.connection, lambda *step: told.append(step))
    assert told[:2] == [("reading nodes", 2, 3), ("reading nodes", 3, None)]
