"""JSON text to values, with the stored objects of a list decoded."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scheduler.api.objects import Node
from scheduler.app.json_text import json_values

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "uid": "u", "resourceVersion": "7"}}


def read(value: Any) -> list[Any] | None:
    return json_values(json.dumps(value, indent=4).encode())


def listed(*items: Any, **named: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "items": list(items), "kind": "List", "metadata": {"resourceVersion": ""}, **named}


def items(value: Any) -> list[Any]:
    values = read(value)
    assert values is not None
    found: list[Any] = values[0]["items"]
    return found


def test_an_item_as_the_api_server_stores_it_is_an_object() -> None:
    (found,) = items(listed(NODE))
    assert isinstance(found, Node)
    assert found.metadata.name == "n"


@pytest.mark.parametrize("item", [{**NODE, "metadata": {"name": "n"}}, {**NODE, "kind": "Other"}, {}, [], "x", 5, None])
def test_other_items_stay_values(item: Any) -> None:
    assert items(listed(NODE, item))[1] == item


def test_the_list_says_what_its_items_are_where_these_do_not() -> None:
    unnamed = {"metadata": NODE["metadata"]}
    assert isinstance(items(listed(unnamed, kind="NodeList"))[0], Node)
    assert items(listed(unnamed)) == [unnamed]
    assert items(listed({**unnamed, "kind": "Node"})) == [{**unnamed, "kind": "Node"}]


def test_what_an_item_says_of_itself_holds() -> None:
    claimed = {**NODE, "kind": "Pod"}
    assert items(listed(claimed, kind="NodeList")) == [claimed]
    assert items(listed({**NODE, "kind": 5}, kind="NodeList")) == [{**NODE, "kind": 5}]


@pytest.mark.parametrize("value", [NODE, [NODE], listed(kind="Node"), {"kind": "List", "items": None}, 5])
def test_what_is_no_list_is_a_value(value: Any) -> None:
    assert read(value) == [value]


def test_values_may_follow_one_another() -> None:
    assert json_values(json.dumps(NODE).encode() + b'\n{"a": 1}  [2]\n') == [NODE, {"a": 1}, [2]]


def test_escapes_that_stand_for_no_character_are_read_as_python_reads_them() -> None:
    text = json.dumps(listed(NODE, {"a": "\ud800"})).encode()
    assert json_values(text) == [listed(NODE, {"a": "\ud800"})]


@pytest.mark.parametrize("text", [b"{a: b}", b"[a, b]", b'{"a": 1', b'{"a": 1} x', b'{"kind": "List", "items": [{]}'])
def test_what_is_not_json_is_none(text: bytes) -> None:
    assert json_values(text) is None
