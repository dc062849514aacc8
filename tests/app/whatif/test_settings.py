"""Single fields of a configuration set by their paths."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.app.whatif.settings import parse_setting, with_settings
from scheduler.app.whatif.world import ChangeError

CONFIG = {
    "profiles": [{"schedulerName": "a"}, {"schedulerName": "b", "plugins": {"score": {"enabled": [{"name": "X"}]}}}]
}


def change(config: dict[str, Any], *texts: str) -> dict[str, Any]:
    return with_settings(config, [parse_setting(text) for text in texts])


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("percentageOfNodesToScore=50", {"percentageOfNodesToScore": 50}),
        ("a.b.c=x", {"a": {"b": {"c": "x"}}}),
        ("a=[1, {b: c}]", {"a": [1, {"b": "c"}]}),
        ("a=", {"a": None}),
        ("a=b=c", {"a": "b=c"}),
        ("profiles[0].x=1", {"profiles": [{"schedulerName": "default-scheduler", "x": 1}]}),
        ("profiles[b].x=1", {"profiles": [{"schedulerName": "b", "x": 1}]}),
        (
            "profiles[0].plugins.multiPoint.enabled[NodeAffinity].weight=5",
            {
                "profiles": [
                    {
                        "schedulerName": "default-scheduler",
                        "plugins": {"multiPoint": {"enabled": [{"name": "NodeAffinity", "weight": 5}]}},
                    }
                ]
            },
        ),
    ],
)
def test_what_is_missing_is_made(text: str, result: dict[str, Any]) -> None:
    assert change({}, text) == result


@pytest.mark.parametrize("path", ["profiles[1]", "profiles[b]"])
def test_items_by_number_or_name(path: str) -> None:
    changed = change(CONFIG, f"{path}.plugins.score.enabled[X].weight=2")
    assert changed["profiles"][1]["plugins"]["score"]["enabled"] == [{"name": "X", "weight": 2}]
    assert changed["profiles"][0] == CONFIG["profiles"][0]


def test_the_configuration_itself_stays_as_it_is() -> None:
    before = {"profiles": [{"schedulerName": "a"}]}
    change(before, "profiles[0].schedulerName=b")
    assert before == {"profiles": [{"schedulerName": "a"}]}


def test_a_later_one_holds() -> None:
    assert change({}, "a=1", "a=2") == {"a": 2}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a", "--set a: write PATH=VALUE"),
        ("=1", "write PATH=VALUE"),
        ("[0]=1", "write PATH=VALUE"),
        ("a..b=1", "write PATH=VALUE"),
        ("a={", "the value is no YAML"),
        ("profiles.x=1", "profiles has no fields"),
        ("profiles[0].schedulerName[0]=1", r"profiles\[0\].schedulerName is no list"),
        ("profiles[7].x=1", r"profiles has 2 items; the next is \[2\]"),
    ],
)
def test_what_can_not_be_set(text: str, problem: str) -> None:
    with pytest.raises(ChangeError, match=problem):
        change(CONFIG, text)
