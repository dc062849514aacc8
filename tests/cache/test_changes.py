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


def test_tells_all_that_has_changed_since_a_position():
    log = ChangeLog()
    log.append(1, Change.LABELS)
    start = log.end
    assert log.kinds(start) == 0
    log.append(2, Change.TAINTS)
    log.append(3, Change.REQUESTED)
    assert log.kinds(start) == Change.TAINTS | Change.REQUESTED
    assert log.kinds(-1) == Change.TAINTS | Change.REQUESTED | Change.LABELS


def test_names_the_only_row_that_changed():
    log = ChangeLog()
    log.append(1, Change.LABELS)
    start = log.end
    for row, change in ((2, Change.TAINTS), (3, Change.LABELS), (3, Change.LABELS)):
        log.append(row, change)
    assert log.only_row(start, int(Change.LABELS)) == 3
    assert log.only_row(start, int(Change.LABELS | Change.TAINTS)) is None
    assert log.only_row(start, int(Change.IMAGES)) is None


def test_does_not_look_for_an_only_row_where_there_are_many_entries_or_they_are_gone():
    log = ChangeLog()
    for _ in range(100):
        log.append(1, Change.LABELS)
    assert log.only_row(log.end - 1, int(Change.LABELS)) == 1
    assert log.only_row(0, int(Change.LABELS)) is None
    for _ in range(1 << 17):
        log.append(1, Change.LABELS)
    assert log.only_row(0, int(Change.LABELS)) is None


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
