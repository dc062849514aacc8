"""Defaults against those of the API server's own code (golden_defaults.json)."""

from __future__ import annotations

import copy
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from scheduler.api.decode import DecodeError, decode_as, decode_object
from scheduler.api.defaults import apply_defaults
from scheduler.api.objects import Pod

GOLDEN = json.loads((Path(__file__).parent / "golden_defaults.json").read_text())


@pytest.mark.parametrize("row", GOLDEN, ids=lambda row: f"{row['given']['kind']}-{row['given']['metadata']['name']}")
def test_an_object_is_read_as_the_api_server_would_store_it(row: dict[str, Any]) -> None:
    assert decode_object(apply_defaults(row["given"])) == decode_object(row["stored"])


@pytest.mark.parametrize("row", GOLDEN, ids=lambda row: f"{row['given']['kind']}-{row['given']['metadata']['name']}")
def test_defaults_are_given_once(row: dict[str, Any]) -> None:
    once = apply_defaults(row["given"])
    assert apply_defaults(once) == once


def test_the_given_object_is_left_as_it_is() -> None:
    for row in GOLDEN:
        before = copy.deepcopy(row["given"])
        apply_defaults(row["given"])
        assert row["given"] == before


def test_a_uid_is_made_up_of_kind_namespace_and_name() -> None:
    made = apply_defaults({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "b"}})["metadata"]
    assert (made["uid"], made["resourceVersion"]) == ("Pod/b/a", "1")
    kept = apply_defaults({"apiVersion": "v1", "kind": "Pod", "metadata": {"uid": "u", "resourceVersion": "9"}})
    assert kept["metadata"] == {"uid": "u", "resourceVersion": "9"}


def test_an_object_of_another_kind_is_only_named() -> None:
    assert apply_defaults({"apiVersion": "x/v1", "kind": "Y", "spec": {"z": 1}})["spec"] == {"z": 1}


def test_times_that_yaml_has_parsed_become_text_again() -> None:
    moment = datetime(2026, 11, 30, 7, 48, 6, tzinfo=UTC)
    pod = apply_defaults({"apiVersion": "v1", "kind": "Pod", "metadata": {"creationTimestamp": moment}})
    assert decode_as(Pod, pod).metadata.creation_timestamp == "2026-11-30T07:48:06Z"


def test_a_quantity_that_does_not_parse_is_named() -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "spec": {"containers": [{}, {"resources": {"limits": {"cpu": "many"}}}]},
    }
    with pytest.raises(DecodeError) as caught:
        apply_defaults(pod)
    assert caught.value.path == "spec.containers[1].resources.limits.cpu"


@pytest.mark.parametrize(
    "spec",
    [
        [],
        "x",
        {"containers": {}},
        {"containers": ["x", None]},
        {"containers": [{"resources": [], "ports": ["x"]}]},
        {"containers": [{"resources": {"limits": {"cpu": True}, "requests": 5}}]},
        {"volumes": [{"rbd": [], "azureDisk": 1, "ephemeral": "x"}]},
        {"terminationGracePeriodSeconds": "x", "overhead": []},
    ],
)
def test_fields_of_the_wrong_type_are_left_for_decoding_to_refuse(spec: Any) -> None:
    filled = apply_defaults({"apiVersion": "v1", "kind": "Pod", "spec": spec})
    with pytest.raises(DecodeError, match=r"^spec"):
        decode_object(filled)


def test_what_cannot_be_json_is_an_error() -> None:
    with pytest.raises(DecodeError, match="can't be written as JSON"):
        apply_defaults({"kind": object()})
