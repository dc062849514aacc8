from __future__ import annotations

import pytest

from scheduler.config.args.inter_pod_affinity import InterPodAffinityArgs


@pytest.mark.parametrize(("weight", "valid"), [(-1, False), (0, True), (100, True), (101, False)])
def test_the_hard_weight_is_0_to_100(gates, weight, valid):
    errors = InterPodAffinityArgs(hard_pod_affinity_weight=weight).validate("a", gates)
    expected = f"a.hardPodAffinityWeight: Invalid value: {weight}: not in valid range [0, 100]"
    assert [str(error) for error in errors] == ([] if valid else [expected])
