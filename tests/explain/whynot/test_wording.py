"""Numbers, amounts and lists as people write them."""

from __future__ import annotations

import pytest

from scheduler.api.objects import Taint
from scheduler.api.quantity import parse
from scheduler.explain.whynot.wording import (
    any_of,
    count,
    key_word,
    listed,
    open_,
    opens,
    quantity,
    rounded_up,
    taint_text,
)

MIB = 2**20


@pytest.mark.parametrize(
    ("resource", "amount", "text"),
    [
        ("cpu", 2000, "2"),
        ("cpu", 300, "300m"),
        ("cpu", 0, "0"),
        ("memory", 2**30, "1Gi"),
        ("memory", 1536 * MIB, "1536Mi"),
        ("memory", 100 * MIB + 1, "100Mi"),
        ("memory", 1000, "1000"),
        ("memory", 0, "0"),
        ("hugepages-2Mi", 4 * MIB, "4Mi"),
        ("nvidia.com/gpu", 3, "3"),
    ],
)
def test_amounts_are_quantities(resource: str, amount: int, text: str) -> None:
    assert quantity(resource, amount) == text


@pytest.mark.parametrize("amount", [1, 1000, 20_000, 17 * MIB + 1, 3 * 2**30 + 5, 2**40 + 1])
def test_what_is_rounded_up_is_what_is_written(amount: int) -> None:
    written = parse(quantity("memory", amount, up=True)).value()
    assert written == rounded_up("memory", amount)
    assert amount <= written
    assert parse(quantity("memory", amount)).value() <= amount


@pytest.mark.parametrize(
    ("items", "text"),
    [
        ([], "none"),
        (["a"], "a"),
        (["a", "b"], "a and b"),
        (["a", "b", "c", "d"], "a, b, c and d"),
        (["a", "b", "c", "d", "e"], "a, b, c, d and e"),
        (["a", "b", "c", "d", "e", "f"], "a, b, c, d and 2 more"),
    ],
)
def test_long_lists_are_cut(items: list[str], text: str) -> None:
    assert listed(items) == text


def test_nodes_of_which_any_will_do() -> None:
    assert any_of(["n1"]) == "n1"
    assert any_of(["n1", "n2"]) == "n1 or n2"
    assert any_of(["n1", "n2", "n3", "n4"]) == "any of 4 nodes (n1, n2, n3, ...)"


def test_nodes_that_are_opened() -> None:
    assert opens(["n1", "n2"]) == "opens n1 and n2"
    assert opens(["n1", "n2", "n3", "n4"]) == "opens 4 nodes (n1, n2, n3, ...)"
    assert open_(["n1"]) == "open n1"


def test_small_words() -> None:
    assert [count(1, "node"), count(2, "node")] == ["1 node", "2 nodes"]
    assert [key_word("topology.kubernetes.io/zone"), key_word("rack")] == ["zone", "rack"]
    assert taint_text(Taint(key="a", value="b", effect="NoSchedule")) == "a=b:NoSchedule"
    assert taint_text(Taint(key="a", effect="NoExecute")) == "a:NoExecute"
