from __future__ import annotations

import pytest

from scheduler.metrics.labels import attempts_label


@pytest.mark.parametrize(("attempts", "label"), [(1, "1"), (14, "14"), (15, "15+"), (99, "15+")])
def test_attempts_are_told_apart_up_to_fourteen(attempts, label):
    assert attempts_label(attempts) == label
