"""Telling which field of an object does not decode."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.api.decode import DecodeError, decode_as
from scheduler.api.objects import Pod
from scheduler.app.fields import explained

QUOTES = "; put it in quotes if a text is meant"


def told(value: dict[str, Any]) -> str:
    """What is told about a pod that does not decode."""
    with pytest.raises(DecodeError) as caught:
        decode_as(Pod, value)
    return explained(caught.value, value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (
            {"metadata": {"labels": {"a": "b", "ssd": True}}},
            f"metadata.labels[ssd]: Expected `str`, got `bool`{QUOTES}",
        ),
        (
            {"spec": {"containers": [{}, {"resources": {"limits": {"cpu": "1", "memory": False}}}]}},
            f"spec.containers[1].resources.limits[memory]: Expected `str`, got `bool`{QUOTES}",
        ),
        ({"metadata": {"name": 5}}, f"metadata.name: Expected `str`, got `int`{QUOTES}"),
        ({"spec": {"priority": "high"}}, "spec.priority: Expected `int | null`, got `str`"),
        ({"metadata": {"labels": {"a": []}}}, "metadata.labels[...]: Expected `str`, got `array`"),
        ({"spec": []}, "spec: Expected `object`, got `array`"),
    ],
)
def test_the_field_is_named_down_to_the_key(value: dict[str, Any], text: str) -> None:
    assert told(value) == text


def test_what_concerns_the_whole_object_has_no_field() -> None:
    assert explained(DecodeError("nested too deeply"), {}) == "nested too deeply"
