from __future__ import annotations

import pytest

from scheduler.api.objects import Int32, Int64  # noqa: TC001 - msgspec resolves annotations
from scheduler.config.args.base import PluginArgs
from scheduler.config.decode import decode_struct
from scheduler.config.duration import Duration


class Inner(PluginArgs, frozen=True, kw_only=True):
    name: str = ""
    size: Int32 = 7


class Outer(PluginArgs, frozen=True, kw_only=True):
    count: Int64 = 1
    ratio: float = 0.5
    is_on: bool = True
    wait: Duration = Duration()
    maybe: Int32 | None = None
    inner: Inner = Inner()
    pointer: Inner | None = None
    items: tuple[Inner, ...] = ()
    names: tuple[str, ...] = ()
    labels: dict[str, str] = {}  # noqa: RUF012 - msgspec copies an empty default
    data: bytes = b""


def decoded(value):
    errors = []
    result = decode_struct(Outer, value, path="x", errors=errors)
    return result, [str(error) for error in errors]


def test_absent_and_null_fields_have_their_defaults():
    assert decoded({}) == (Outer(), [])
    assert decoded({"count": None, "inner": None, "items": None, "wait": None}) == (Outer(), [])


def test_values_of_all_kinds():
    result, errors = decoded(
        {
            "count": 2**40,
            "ratio": 3,
            "isOn": False,
            "wait": "1m",
            "maybe": 0,
            "inner": {"size": 1},
            "pointer": {},
            "items": [{"name": "a"}, None],
            "names": ["b", None],
            "labels": {"k": "v"},
            "data": "aGk=",
        }
    )
    assert errors == []
    assert result == Outer(
        count=2**40,
        ratio=3.0,
        is_on=False,
        wait=Duration.of_seconds(60),
        maybe=0,
        inner=Inner(size=1),
        pointer=Inner(),
        items=(Inner(name="a"), Inner()),
        names=("b", ""),
        labels={"k": "v"},
        data=b"hi",
    )


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"Count": 1}, 'unknown field "x.Count", did you mean "count"?'),
        ({"items": [{"nam": ""}]}, 'unknown field "x.items[0].nam", did you mean "name"?'),
        ({"count": True}, "x.count: Invalid value: true: cannot unmarshal bool into int64"),
        ({"count": 2**63}, f"x.count: Invalid value: {2**63}: cannot unmarshal number into int64"),
        ({"maybe": -(2**31) - 1}, "x.maybe: Invalid value: -2147483649: cannot unmarshal number into int32"),
        ({"ratio": float("inf")}, "x.ratio: Invalid value: null: cannot unmarshal number into float32"),
        ({"ratio": float("nan")}, "x.ratio: Invalid value: null: cannot unmarshal number into float32"),
        ({"ratio": "1"}, 'x.ratio: Invalid value: "1": cannot unmarshal string into float32'),
        ({"isOn": 1}, "x.isOn: Invalid value: 1: cannot unmarshal number into bool"),
        ({"names": ["a", 1]}, "x.names[1]: Invalid value: 1: cannot unmarshal number into string"),
        ({"names": "a"}, 'x.names: Invalid value: "a": cannot unmarshal string into an array'),
        ({"labels": {"k": 1}}, "x.labels.k: Invalid value: 1: cannot unmarshal number into string"),
        ({"labels": [1]}, "x.labels: Invalid value: [1]: cannot unmarshal array into an object"),
        ({"inner": []}, "x.inner: Invalid value: []: cannot unmarshal array into an object"),
        ({"wait": "1"}, 'x.wait: Invalid value: "1": time: missing unit in duration "1"'),
        ({"data": 1}, "x.data: Invalid value: 1: cannot unmarshal number into base64 text"),
        ([], "x: Invalid value: []: cannot unmarshal array into an object"),
    ],
)
def test_what_does_not_fit_is_reported_with_its_path_and_left_at_the_default(value, message):
    result, errors = decoded(value)
    assert errors == [message]
    assert result.count == 1


def test_all_errors_are_collected_and_later_elements_keep_their_index():
    result, errors = decoded({"items": [3, {"size": "x"}, {"name": "c"}], "odd": 1})
    assert [error.partition(":")[0] for error in errors] == ["x.items[0]", "x.items[1].size", 'unknown field "x.odd"']
    assert result.items == (Inner(), Inner(), Inner(name="c"))


def test_ignored_names_are_passed_over_at_the_top_only():
    errors = []
    decode_struct(Outer, {"kind": "Outer", "inner": {"kind": 1}}, path="", errors=errors, ignore=frozenset({"kind"}))
    assert [str(error) for error in errors] == ['unknown field "inner.kind"']
