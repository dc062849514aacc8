"""Requests of pods against component-helpers' own answers (golden_requests.json), and the rules one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scheduler.api.decode import decode_as
from scheduler.api.objects import Pod
from scheduler.api.quantity import QuantityError
from scheduler.api.requests import (
    PodUsage,
    existing_requests,
    incoming_requests,
    scored_requests,
)
from scheduler.api.resource_names import is_scalar

GOLDEN = json.loads((Path(__file__).parent / "golden_requests.json").read_text())["pods"]
MI = 2**20
DEFAULT_MEMORY = 200 * MI


def pod(
    *containers: dict[str, Any],
    init: list[dict[str, Any]] | None = None,
    status: dict[str, Any] | None = None,
    **spec: Any,
) -> Pod:
    named = [{"name": f"c{i}", **c} for i, c in enumerate(containers)]
    inits = [{"name": f"i{i}", **c} for i, c in enumerate(init or [])]
    return decode_as(Pod, {"spec": {"containers": named, "initContainers": inits, **spec}, "status": status or {}})


def asks(*, sidecar: bool = False, **requests: str) -> dict[str, Any]:
    container: dict[str, Any] = {"resources": {"requests": requests}}
    return {**container, "restartPolicy": "Always"} if sidecar else container


def nonzero_requests(pod: Pod) -> tuple[int, int]:
    usage = existing_requests(pod)
    return usage.nonzero_cpu, usage.nonzero_memory


def counted(amounts: dict[str, int]) -> dict[str, int]:
    known = ("cpu", "memory", "ephemeral-storage")
    return {name: amount for name, amount in amounts.items() if name in known or is_scalar(name)}


def test_what_filter_asks_for_is_component_helpers_result() -> None:
    for row in GOLDEN:
        assert incoming_requests(decode_as(Pod, row["pod"])) == counted(row["want"]["incoming"]), row["pod"]


def test_what_an_existing_pod_takes_is_component_helpers_result() -> None:
    for row in GOLDEN:
        nonzero = row["want"]["nonzero"]
        found = existing_requests(decode_as(Pod, row["pod"]))
        want = PodUsage(counted(row["want"]["existing"]), nonzero["cpu"], nonzero["memory"], found.thousandths)
        assert found == want, row["pod"]


def test_thousandths_are_told_where_they_are_no_whole_units_or_too_many() -> None:
    found = existing_requests(
        pod(asks(cpu="1500u", memory="1500m", **{"ephemeral-storage": "10P", "example.com/a": "2"}))
    )
    assert found.requests == {"cpu": 2, "memory": 2, "ephemeral-storage": 10**16, "example.com/a": 2}
    assert found.thousandths == {"memory": 1500, "ephemeral-storage": 0}, "as Go has what is too large"


def test_what_is_scored_is_component_helpers_result() -> None:
    for row in GOLDEN:
        decoded = decode_as(Pod, row["pod"])
        assert scored_requests(decoded, nonzero=True, pod_level=False) == row["want"]["fit"], row["pod"]
        assert scored_requests(decoded, nonzero=False, pod_level=True) == row["want"]["balanced"], row["pod"]


def test_amounts_are_summed_up_exactly_and_rounded_once() -> None:
    assert incoming_requests(pod(asks(memory="100m"), asks(memory="100m"))) == {"memory": 1}
    assert incoming_requests(pod(asks(cpu="0.0004"), asks(cpu="0.0004"))) == {"cpu": 1}


def test_an_init_container_raises_the_request_only_beyond_the_sum() -> None:
    assert incoming_requests(pod(asks(cpu="1"), asks(cpu="1"), init=[asks(cpu="1500m")])) == {"cpu": 2000}
    assert incoming_requests(pod(asks(cpu="1"), init=[asks(cpu="1500m"), asks(cpu="3")])) == {"cpu": 3000}


def test_a_sidecar_counts_beside_containers_and_beside_later_init_containers() -> None:
    sidecar = asks(cpu="1", sidecar=True)
    assert incoming_requests(pod(asks(cpu="2"), init=[sidecar])) == {"cpu": 3000}
    assert incoming_requests(pod(asks(cpu="2"), init=[sidecar, asks(cpu="4")])) == {"cpu": 5000}
    assert incoming_requests(pod(asks(cpu="2"), init=[asks(cpu="4"), sidecar])) == {"cpu": 4000}


def test_pod_level_requests_replace_and_overhead_is_added() -> None:
    whole = pod(
        asks(cpu="1", memory="1Gi"), resources={"requests": {"cpu": "500m"}}, overhead={"cpu": "10m", "memory": "1Mi"}
    )
    assert incoming_requests(whole) == {"cpu": 510, "memory": 1025 * MI}


def test_other_resources_cannot_be_requested_for_the_whole_pod() -> None:
    assert incoming_requests(pod(asks(cpu="1"), resources={"requests": {"nvidia.com/gpu": "1"}})) == {"cpu": 1000}


def test_an_explicit_zero_stays_and_a_missing_request_gets_a_default() -> None:
    assert nonzero_requests(pod(asks(cpu="0", memory="0"))) == (0, 0)
    assert nonzero_requests(pod(asks())) == (100, DEFAULT_MEMORY)
    assert nonzero_requests(pod(asks(cpu="1"), asks(memory="1Mi"))) == (1100, DEFAULT_MEMORY + MI)


def test_init_containers_get_defaults_too() -> None:
    assert nonzero_requests(pod(asks(cpu="10m", memory="1Mi"), init=[asks()])) == (100, DEFAULT_MEMORY)


def test_with_pod_level_requests_only_what_neither_level_requests_gets_a_default() -> None:
    assert nonzero_requests(pod(asks(), resources={"requests": {"cpu": "2"}})) == (2000, DEFAULT_MEMORY)
    assert nonzero_requests(pod(asks(memory="1Mi"), asks(), resources={"requests": {"cpu": "2"}})) == (2000, MI)


def test_fit_scores_a_pod_with_pod_level_requests_by_its_containers() -> None:
    whole = pod(asks(), resources={"requests": {"cpu": "2", "memory": "4Gi"}})
    assert scored_requests(whole, nonzero=True, pod_level=False) == {"cpu": 100, "memory": DEFAULT_MEMORY}
    assert scored_requests(whole, nonzero=False, pod_level=True) == {"cpu": 2000, "memory": 4096 * MI}


@pytest.mark.parametrize(
    ("containers", "init", "overhead", "expected"),
    [
        ([], [], {"cpu": "1", "memory": "1Mi"}, (1000, MI)),
        ([asks()], [], {}, (100, DEFAULT_MEMORY)),
        ([asks(), asks()], [], {}, (200, 2 * DEFAULT_MEMORY)),
        ([asks(cpu="1", memory="1Mi"), asks()], [], {}, (1100, DEFAULT_MEMORY + MI)),
        ([asks(cpu="1", memory="1Mi"), asks()], [], {"cpu": "1", "memory": "1Mi"}, (2100, DEFAULT_MEMORY + 2 * MI)),
        (
            [asks(cpu="1", memory="1Mi"), asks()],
            [asks(cpu="3")],
            {"cpu": "1", "memory": "1Mi"},
            (4000, DEFAULT_MEMORY + 2 * MI),
        ),
    ],
    ids=[
        "overhead only",
        "one without",
        "two without",
        "one with, one without",
        "and overhead",
        "and an init container",
    ],
)
def test_defaults_are_for_each_container_and_overhead_gets_none(containers, init, overhead, expected) -> None:
    asked = pod(*containers, init=init, overhead=overhead)
    cpu, memory = expected
    assert scored_requests(asked, nonzero=True, pod_level=False) == {"cpu": cpu, "memory": memory}
    assert nonzero_requests(asked) == expected


def resized(**status: Any) -> dict[str, Any]:
    return {"containerStatuses": [{"name": "c0", **status}]}


def test_a_resized_pod_takes_the_largest_of_spec_allocation_and_what_is_in_force() -> None:
    shrinking = resized(allocatedResources={"cpu": "2"}, resources={"requests": {"cpu": "3"}})
    assert existing_requests(pod(asks(cpu="1"), status=shrinking)).requests == {"cpu": 3000}
    assert existing_requests(pod(asks(cpu="4"), status=shrinking)).requests == {"cpu": 4000}


def test_an_infeasible_resize_does_not_count_by_its_spec() -> None:
    refused = {"type": "PodResizePending", "reason": "Infeasible"}
    status = {**resized(allocatedResources={"cpu": "2"}), "conditions": [refused]}
    assert existing_requests(pod(asks(cpu="4"), status=status)).requests == {"cpu": 2000}


def test_an_empty_list_in_a_status_says_nothing_is_allocated_where_none_says_nothing() -> None:
    in_force = {"requests": {"cpu": "1", "memory": "100m"}}
    silent = pod(asks(cpu="100m", memory="0"), status={"containerStatuses": [{"name": "c0", "resources": in_force}]})
    empty = {"containerStatuses": [{"name": "c0", "resources": {"requests": {}}, "allocatedResources": {}}]}
    assert existing_requests(silent).requests == {"cpu": 1000, "memory": 1}
    # Neither counts where both are empty, but the scoring defaults then stand in for what is missing.
    assert existing_requests(pod(asks(cpu="100m", memory="0"), status=empty)).nonzero_memory == DEFAULT_MEMORY


def test_the_pods_own_status_replaces_that_of_its_containers() -> None:
    status = {
        **resized(allocatedResources={"cpu": "9"}),
        "allocatedResources": {"cpu": "2"},
        "resources": {"requests": {"cpu": "3"}},
    }
    assert existing_requests(pod(asks(cpu="1"), status=status)).requests == {"cpu": 3000}


def test_an_incoming_pod_counts_by_its_spec_only() -> None:
    assert incoming_requests(pod(asks(cpu="1"), status=resized(allocatedResources={"cpu": "2"}))) == {"cpu": 1000}


def test_names_that_the_scheduler_does_not_count_are_left_out() -> None:
    named = {"foo": "1", "pods": "3", "requests.x.io/y": "1", "hugepages-2Mi": "4Mi"}
    assert incoming_requests(pod(asks(**named))) == {"hugepages-2Mi": 4 * MI}


def test_a_negative_request_counts_as_nothing_for_an_incoming_pod() -> None:
    negative = pod(asks(cpu="-1"))
    assert incoming_requests(negative) == {"cpu": 0}
    assert existing_requests(negative).requests == {"cpu": -1000}


def test_a_request_that_is_no_quantity_is_refused() -> None:
    with pytest.raises(QuantityError, match=r"^quantities must match"):
        incoming_requests(pod(asks(cpu="many")))
