"""Host ports in use."""

from __future__ import annotations

import pytest

from scheduler.cache.ports import HostPort, PortTable

HTTP = HostPort("TCP", 80, "0.0.0.0")


@pytest.mark.parametrize(
    ("taken", "wanted", "conflict"),
    [
        (HTTP, HTTP, True),
        (HTTP, HTTP._replace(port=81), False),
        (HTTP, HTTP._replace(protocol="UDP"), False),
        (HTTP, HTTP._replace(address="10.0.0.1"), True),
        (HTTP._replace(address="10.0.0.1"), HTTP, True),
        (HTTP._replace(address="10.0.0.1"), HTTP._replace(address="10.0.0.1"), True),
        (HTTP._replace(address="10.0.0.1"), HTTP._replace(address="10.0.0.2"), False),
        (HTTP._replace(address="::"), HTTP._replace(address="10.0.0.1"), False),
        (HTTP._replace(address="::"), HTTP, True),
    ],
)
def test_conflicts_on_the_same_node_only(taken, wanted, conflict):
    table = PortTable()
    table.add(20, (taken,), 1)
    assert table.conflicts((wanted,), 22).tolist() == [*[False] * 20, conflict, False]


def test_a_port_is_free_when_its_last_user_goes():
    table = PortTable()
    table.add(0, (HTTP,), 1)
    table.add(0, (HTTP,), 1)
    table.add(0, (HTTP,), -1)
    assert table.used() == {(HTTP, 0): 1}
    table.add(0, (HTTP,), -1)
    assert table.used() == {}
    assert not table.conflicts((HTTP,), 1).any()
