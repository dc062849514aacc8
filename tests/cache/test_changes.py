"""The log by which cached vectors find what changed."""

from __future__ import annotations

from scheduler.cache.changes import Change, ChangeLog


def test_names_the_rows_that_changed_in_what_is_asked_for():
    log = ChangeLog()
    log.append(1, Change.LABELS)
    start = log.end
    log.append(2, Change.TAINTS)
    log.append(3, Change.LABELS | Change.REQUESTED)
    log.append(3, Change.LABELS)
    assert sorted(log.rows(start, Change.LABELS)) == [3]
    assert sorted(log.rows(start, Change.LABELS | Change.TAINTS)) == [2, 3]
    assert log.rows(log.end, Change.ALL).tolist() == []


def test_gives_the_entries_since_a_position():
    log = ChangeLog()
    log.append(1, 1)
    start = log.end
    log.append(2, -1)
    assert log.entries(start) == ([2], [-1])
    assert log.entries(log.end) == ([], [])


def test_whoever_is_far_behind_is_told_to_start_over():
    log = ChangeLog()
    for row in range(200_000):
        log.append(row % 7, Change.LABELS)
    assert log.end == 200_000
    assert log.rows(0, Change.LABELS) is None
    assert log.entries(0) is None
    assert sorted(log.rows(log.end - 3, Change.LABELS)) == sorted({row % 7 for row in range(199_997, 200_000)})
