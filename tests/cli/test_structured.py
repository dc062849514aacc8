"""JSON and YAML of structs."""

from __future__ import annotations

import json

import yaml

from scheduler.cli.structured import as_json, as_yaml
from tests.fakes.decisions import DECISION


def test_both_hold_the_same():
    text = as_json(DECISION)
    assert text.endswith("}\n")
    assert json.loads(text) == yaml.safe_load(as_yaml(DECISION))


def test_equal_values_are_written_out():
    same = ["a"]
    assert as_yaml({"one": same, "two": same}) == "one:\n- a\ntwo:\n- a\n"
