"""The flags by which commands find a running scheduler, and the way that they mean."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from scheduler.app import direct, reach
from scheduler.app.reach import Place
from scheduler.cli.main import build_parser
from scheduler.cli.reaching import asking, connection_of, way_of
from scheduler.client.answers import Answer
from scheduler.client.auth import AuthError
from tests.fakes.decisions import FakeDecisions

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator
    from pathlib import Path

CONNECTION: Any = object()


def flags(*arguments: str) -> argparse.Namespace:
    return build_parser().parse_args(["pending", *arguments])


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The ways that were taken."""
    taken: list[Any] = []

    def through(connection: Any, place: Place) -> Any:
        taken.append(("API server", connection, place))
        return scheduler()

    def at(connection: Any, address: str, **tls: Any) -> Any:
        taken.append(("address", connection, address, tls))
        return scheduler()

    monkeypatch.setattr(reach, "through_api_server", through)
    monkeypatch.setattr(direct, "at_address", at)
    return taken


@asynccontextmanager
async def scheduler() -> AsyncIterator[Any]:
    class Requests:
        async def get(self, path: str) -> Answer:
            return Answer(200, msgspec.json.encode(FakeDecisions().overview()))

    yield Requests()


def test_without_flags_it_is_the_leader_where_the_chart_puts_it(ways: list[Any]) -> None:
    way_of(flags(), CONNECTION)
    assert ways == [("API server", CONNECTION, Place(namespace="kube-system", lease="berth", port=0))]


def test_flags_say_where_else_it_is(ways: list[Any]) -> None:
    way_of(flags("--scheduler-namespace", "sched", "--lease-name", "mine", "--scheduler-port", "10260"), CONNECTION)
    assert ways == [("API server", CONNECTION, Place(namespace="sched", lease="mine", port=10260))]


@pytest.mark.parametrize(
    ("more", "tls"),
    [
        ([], {"authority": "", "unverified": False}),
        (["--certificate-authority", "ca.crt"], {"authority": "ca.crt", "unverified": False}),
        (["--insecure-skip-tls-verify"], {"authority": "", "unverified": True}),
    ],
)
def test_an_address_is_asked_directly(ways: list[Any], more: list[str], tls: dict[str, Any]) -> None:
    way_of(flags("--server", "https://127.0.0.1:10259", *more), CONNECTION)
    assert ways == [("address", CONNECTION, "https://127.0.0.1:10259", tls)]


@pytest.mark.parametrize("command", [["pending"], ["page"], ["explain", "pod", "web-1"]])
def test_all_commands_that_ask_have_the_same_flags(command: list[str]) -> None:
    given = build_parser().parse_args([*command, "--context", "c", "--lease-name", "l", "--server", "https://x"])
    assert (given.context, given.lease_name, given.server) == ("c", "l", "https://x")


async def test_whoever_is_found_is_asked(ways: list[Any]) -> None:
    async with asking(flags(), CONNECTION) as found:
        assert (await found.overview()).kubernetes_version == "v1.37.2"
    assert len(ways) == 1


async def test_a_kubeconfig_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(AuthError, match="nowhere"):
        await connection_of(flags("--kubeconfig", str(tmp_path / "nowhere")))


async def test_a_context_that_the_kubeconfig_does_not_have(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text("apiVersion: v1\nkind: Config\nclusters: []\ncontexts: []\nusers: []\n")
    with pytest.raises(AuthError, match="elsewhere"):
        await connection_of(flags("--kubeconfig", str(path), "--context", "elsewhere"))


@pytest.mark.parametrize("given", [("--certificate-authority", "ca.crt"), ("--insecure-skip-tls-verify",)])
async def test_flags_about_a_certificate_that_nobody_would_look_at_are_refused(given: tuple[str, ...]) -> None:
    with pytest.raises(AuthError, match=f"{given[0]} is about the certificate of --server"):
        await connection_of(flags(*given))
