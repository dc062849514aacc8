"""`berth pending`."""

from __future__ import annotations

import json

import pytest

from scheduler.app.reach import ReachError
from scheduler.cli import reaching
from scheduler.cli.main import main
from tests.cli.test_explain import FakeScheduler, scheduler  # noqa: F401 (a fixture)


def test_the_waiting_pods_of_the_contexts_namespace(scheduler, capsys):  # noqa: F811
    assert main(["pending"]) == 0
    out = capsys.readouterr().out
    assert "1 pod is waiting" in out
    assert "berth explain pod -n shop big" in out


@pytest.mark.parametrize(("flags", "total"), [(["-A"], 1), (["-n", "lab"], 0), (["-n", "shop"], 1)])
def test_of_another_namespace_or_all(scheduler, capsys, flags, total):  # noqa: F811
    assert main(["pending", *flags, "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["total"] == total


def test_a_scheduler_that_refuses_is_quoted(scheduler, capsys, monkeypatch):  # noqa: F811
    async def refuse(self):
        raise ReachError("the scheduler may not show you this")

    monkeypatch.setattr(FakeScheduler, "pending", refuse)
    assert main(["pending"]) == 1
    assert capsys.readouterr().err == "berth: error: the scheduler may not show you this\n"


def test_the_flags_lead_to_the_scheduler(monkeypatch):
    places = []

    class Way:
        async def __aenter__(self):
            raise ReachError("enough")

        async def __aexit__(self, *error):
            return None

    def through(connection, place):
        places.append(place)
        return Way()

    async def connection_of(namespace):
        return None

    monkeypatch.setattr("scheduler.app.reach.through_api_server", through)
    monkeypatch.setattr(reaching, "connection_of", connection_of)
    flags = ["--scheduler-namespace", "sched", "--lease-name", "mine", "--scheduler-port", "4433"]
    assert main(["pending", *flags]) == 1
    assert (places[0].namespace, places[0].lease, places[0].port) == ("sched", "mine", 4433)
