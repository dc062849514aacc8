"""Codes and statuses."""

from __future__ import annotations

import pytest

from scheduler.framework.status import SKIP, Code, Status, error, unresolvable, unschedulable


@pytest.mark.parametrize(
    ("code", "text", "rejected"),
    [
        (Code.SUCCESS, "Success", False),
        (Code.ERROR, "Error", False),
        (Code.UNSCHEDULABLE, "Unschedulable", True),
        (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "UnschedulableAndUnresolvable", True),
        (Code.WAIT, "Wait", False),
        (Code.SKIP, "Skip", False),
        (Code.PENDING, "Pending", True),
    ],
)
def test_codes_have_the_names_and_numbers_of_kube_scheduler(code, text, rejected):
    assert str(code) == text
    assert Status(code).rejected is rejected
    assert list(Code)[code] is code


def test_reasons_are_joined_by_commas():
    assert unschedulable("Insufficient cpu", "Insufficient memory").message == "Insufficient cpu, Insufficient memory"
    assert SKIP.message == ""


def test_the_short_forms():
    assert unschedulable("a").code is Code.UNSCHEDULABLE
    assert unresolvable("a").code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    assert error("a") == Status(Code.ERROR, ("a",))


def test_a_status_takes_its_plugins_name():
    status = unschedulable("a")
    named = status.by("NodePorts")
    assert (named.plugin, named.reasons, named.code) == ("NodePorts", ("a",), Code.UNSCHEDULABLE)
    assert named.by("NodePorts") is named
    assert status.plugin == ""
