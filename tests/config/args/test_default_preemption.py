from __future__ import annotations

import pytest

from scheduler.config.args.default_preemption import DefaultPreemptionArgs


@pytest.mark.parametrize(
    ("percentage", "absolute", "errors"),
    [
        (10, 100, []),
        (0, 1, []),
        (1, 0, []),
        (100, 2**31 - 1, []),
        (101, 1, ["a.minCandidateNodesPercentage: Invalid value: 101: not in valid range [0, 100]"]),
        (1, -1, ["a.minCandidateNodesAbsolute: Invalid value: -1: not in valid range [0, inf)"]),
        (
            0,
            0,
            [
                "a.minCandidateNodesPercentage: Invalid value: 0: "
                "cannot be zero at the same time as minCandidateNodesAbsolute",
                "a.minCandidateNodesAbsolute: Invalid value: 0: "
                "cannot be zero at the same time as minCandidateNodesPercentage",
            ],
        ),
    ],
)
def test_both_numbers_have_a_range_and_not_both_are_zero(gates, percentage, absolute, errors):
    args = DefaultPreemptionArgs(min_candidate_nodes_percentage=percentage, min_candidate_nodes_absolute=absolute)
    assert [str(error) for error in args.validate("a", gates)] == errors
