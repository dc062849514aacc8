"""The extension points and what plugins need not write themselves."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler.framework.interface import POINTS, FilterPlugin, PostFilterResult
from scheduler.framework.status import unschedulable
from tests.framework.stubs import Filter, PreBind, Score


def test_the_points_have_the_names_of_the_configuration():
    assert list(POINTS) == [
        "preEnqueue",
        "queueSort",
        "preFilter",
        "filter",
        "postFilter",
        "preScore",
        "score",
        "reserve",
        "permit",
        "preBind",
        "bind",
        "postBind",
    ]


def test_a_plugin_must_implement_its_point():
    class Half(FilterPlugin):
        name = "Half"

    with pytest.raises(TypeError):
        Half()


def test_filters_and_scores_know_of_no_epochs_unless_they_say_so():
    assert Filter("A").epoch(None) is None
    assert Score("A").epoch(None) is None


def test_a_score_is_not_normalized_unless_the_plugin_does_it():
    raw = np.array([1, 2])
    assert Score("A").normalize(None, raw) is raw


def test_pre_bind_has_work_unless_its_pre_flight_skips():
    assert super(PreBind, PreBind("A")).pre_bind_pre_flight(None, "n") is None


def test_a_post_filter_result_leaves_the_nomination_as_it_is():
    result = PostFilterResult(unschedulable("no"))
    assert (result.nominated_node, result.victims) == (None, ())
