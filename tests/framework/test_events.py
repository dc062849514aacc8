"""What events are called."""

from __future__ import annotations

import pytest

from scheduler.framework.events import ActionType, ClusterEvent, EventResource


@pytest.mark.parametrize(
    ("resource", "action", "label"),
    [
        (EventResource.NODE, ActionType.ADD, "NodeAdd"),
        (EventResource.NODE, ActionType.UPDATE_NODE_TAINT, "NodeUpdateNodeTaint"),
        (EventResource.ASSIGNED_POD, ActionType.DELETE, "AssignedPodDelete"),
        (EventResource.UNSCHEDULED_POD, ActionType.UPDATE, "UnscheduledPodUpdate"),
        (EventResource.TARGET_POD, ActionType.UPDATE_POD_LABEL, "TargetPodUpdatePodLabel"),
        (EventResource.CSI_NODE, ActionType.ADD, "storage.k8s.io/CSINodeAdd"),
        (EventResource.WILDCARD, ActionType.ALL, "*All"),
    ],
)
def test_labels_name_the_kind_and_what_happened(resource, action, label):
    assert ClusterEvent(resource, action).label == label


def test_a_label_of_its_own_takes_the_place_of_the_composed_one():
    assert ClusterEvent(EventResource.WILDCARD, ActionType.ALL, "ForceActivate").label == "ForceActivate"


def test_update_means_any_update_but_neither_add_nor_delete():
    updates = [action for action in ActionType if action not in (ActionType.ADD, ActionType.DELETE)]
    assert all(ActionType.UPDATE & action for action in updates)
    assert not ActionType.UPDATE & (ActionType.ADD | ActionType.DELETE)
    assert ActionType.UPDATE | ActionType.ADD | ActionType.DELETE == ActionType.ALL
