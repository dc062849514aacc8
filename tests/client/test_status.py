from __future__ import annotations

import json

from scheduler.api.objects import PodCondition
from scheduler.client.status import StatusPatch


def patch(*conditions, nominated=None):
    return StatusPatch.of("ns", "a", "u1", conditions, nominated)


def condition(message, kind="PodScheduled"):
    return PodCondition(type=kind, status="False", reason="Unschedulable", message=message)


def test_a_patch_names_the_pod_by_uid_and_leaves_the_nomination_alone():
    body = json.loads(patch(condition("no room")).body())
    assert body == {
        "metadata": {"uid": "u1"},
        "status": {
            "conditions": [
                {
                    "type": "PodScheduled",
                    "status": "False",
                    "reason": "Unschedulable",
                    "message": "no room",
                    "observedGeneration": None,
                }
            ]
        },
    }


def test_a_nomination_is_set_or_cleared():
    assert json.loads(patch(nominated="n1").body())["status"] == {"nominatedNodeName": "n1"}
    assert json.loads(patch(nominated="").body())["status"] == {"nominatedNodeName": None}


def test_the_later_patch_wins_by_condition_type_and_keeps_a_nomination_it_does_not_set():
    merged = patch(condition("old"), condition("x", "Other"), nominated="n1")
    merged.merge(patch(condition("new")))
    assert {kind: c.message for kind, c in merged.conditions.items()} == {"PodScheduled": "new", "Other": "x"}
    assert merged.nominated_node_name == "n1"
    merged.merge(patch(nominated=""))
    assert merged.nominated_node_name == ""


def test_conditions_that_are_there_keep_their_order_and_a_new_one_comes_last():
    body = json.loads(patch(condition("no room")).body(["Ready", "Initialized"]))
    order = [{"type": "Ready"}, {"type": "Initialized"}, {"type": "PodScheduled"}]
    assert body["status"]["$setElementOrder/conditions"] == order


def test_a_condition_that_is_there_keeps_its_place():
    body = json.loads(patch(condition("no room")).body(["PodScheduled", "Ready"]))
    assert body["status"]["$setElementOrder/conditions"] == [{"type": "PodScheduled"}, {"type": "Ready"}]
