"""Objects as the API server has them, less what client-go leaves out."""

import json

import msgspec
import pytest

from scheduler.client.whole import whole_json

RAW = (
    b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","managedFields":[{"manager":"kubectl"}]},'
    b'"spec":{"unknown":[1.50,null]}}'
)


def test_kind_and_version_are_left_out():
    whole = json.loads(whole_json(RAW))
    assert whole == {
        "metadata": {"name": "web", "managedFields": [{"manager": "kubectl"}]},
        "spec": {"unknown": [1.5, None]},
    }


def test_fields_of_the_metadata_can_be_left_out():
    assert json.loads(whole_json(RAW, ["managedFields"]))["metadata"] == {"name": "web"}
    assert whole_json(b'{"spec":{}}', ["managedFields"]) == b'{"spec":{}}'


def test_what_is_not_known_here_is_kept_to_the_letter():
    assert b'"spec":{"unknown":[1.50,null]}' in whole_json(RAW, ["managedFields"])


def test_what_is_no_object_is_refused():
    with pytest.raises(msgspec.MsgspecError):
        whole_json(b"[]")
