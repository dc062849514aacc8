"""Which codes there are among those of many nodes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.framework.codes import codes_in


@pytest.mark.parametrize("dtype", [np.uint8, np.uint64, np.bool_])
def test_of_no_nodes_there_are_none(dtype):
    assert codes_in(np.zeros(0, dtype)) == []
    assert codes_in(np.zeros(1000, dtype)) == []


@given(st.lists(st.sampled_from([0, 0, 1, 3, 64, 65, 2**40]), max_size=300))
def test_each_is_told_once_in_ascending_order_but_0(codes):
    assert codes_in(np.array(codes, np.uint64)) == sorted(set(codes) - {0})
