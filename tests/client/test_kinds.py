from __future__ import annotations

import pytest

from scheduler.api.objects import Model, Pod, PodStatus
from scheduler.client.kinds import NODES, PODS, STATEFUL_SETS, UNFINISHED_PODS, resource


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (PODS.path(), "/api/v1/pods"),
        (PODS.path("ns", "a"), "/api/v1/namespaces/ns/pods/a"),
        (PODS.path("ns", "a", "binding"), "/api/v1/namespaces/ns/pods/a/binding"),
        (NODES.path("", "n1"), "/api/v1/nodes/n1"),
        (STATEFUL_SETS.path(), "/apis/apps/v1/statefulsets"),
        (PODS.path("ns", "a/../b?c"), "/api/v1/namespaces/ns/pods/a%2F..%2Fb%3Fc"),
    ],
)
def test_paths_are_the_api_servers_with_names_escaped(path, expected):
    assert path == expected


@pytest.mark.parametrize(
    ("phase", "selected"),
    [("Pending", True), ("Running", True), ("", True), ("Succeeded", False), ("Failed", False)],
)
def test_finished_pods_are_not_selected(phase, selected):
    assert UNFINISHED_PODS.matches(Pod(status=PodStatus(phase=phase))) is selected


def test_a_type_that_is_no_object_has_no_resource():
    assert resource(Pod) == PODS
    with pytest.raises(KeyError):
        resource(Model)
