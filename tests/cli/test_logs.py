"""The log's levels and formats."""

from __future__ import annotations

import json
import logging
import re

import pytest

from scheduler.cli import logs


def record(level=logging.INFO, *, message="bound %s", args=("a",), error=None):
    made = logging.LogRecord("scheduler.x", level, "/x/file.py", 12, message, args, error)
    made.created = 1800000000.25
    made.process = 4711
    return made


def failure():
    try:
        raise ValueError("broken")
    except ValueError as problem:
        return type(problem), problem, problem.__traceback__


@pytest.mark.parametrize(
    ("level", "letter"),
    [(logging.DEBUG, "I"), (logging.INFO, "I"), (logging.WARNING, "W"), (logging.ERROR, "E"), (logging.CRITICAL, "F")],
)
def test_text_is_klogs(level, letter):
    line = logs.KlogFormatter().format(record(level))
    assert re.fullmatch(letter + r"\d{4} \d\d:\d\d:\d\d\.250000    4711 file\.py:12\] bound a", line)


def test_a_traceback_follows_on_lines_of_its_own():
    head, *trace = logs.KlogFormatter().format(record(error=failure())).splitlines()
    assert head.endswith("] bound a")
    assert trace[0].startswith("Traceback")
    assert trace[-1] == "ValueError: broken"


def test_json_is_one_object_a_line():
    line = logs.JsonFormatter().format(record())
    expected = {"ts": 1800000000250.0, "caller": "file/file.py:12", "msg": "bound a", "v": 0}
    assert json.loads(line) == expected
    assert "\n" not in line


def test_json_of_an_error_has_its_level_and_stack():
    entry = json.loads(logs.JsonFormatter().format(record(logging.ERROR, error=failure())))
    assert entry["level"] == "error"
    assert entry["stacktrace"].endswith("ValueError: broken")


@pytest.mark.parametrize(("verbosity", "level"), [(0, 20), (1, 19), (2, 18), (3, 17), (4, 10), (10, 10), (-1, 20)])
def test_verbosity_lowers_the_level(verbosity, level):
    assert logs.level(verbosity) == level


@pytest.mark.parametrize(("level", "verbosity"), [(20, 0), (18, 2), (10, 4), (40, 0)])
def test_a_level_has_a_verbosity(level, verbosity):
    assert logs.verbosity(level) == verbosity


@pytest.fixture
def restored():
    root, own = logging.getLogger(), logging.getLogger("scheduler")
    before = root.handlers[:], root.level, own.level
    yield
    root.handlers[:], root.level, own.level = before
    logging.captureWarnings(False)


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize(("verbosity", "heard"), [(2, False), (6, True)])
def test_libraries_are_heard_from_six_on(verbosity, heard, capsys):
    logs.set_up(style="json", verbosity=verbosity)
    logging.getLogger("aiohttp").info("chatter")
    logging.getLogger("scheduler.cycle").info("bound")
    logs.flush()
    messages = [json.loads(line)["msg"] for line in capsys.readouterr().err.splitlines()]
    assert messages == (["chatter", "bound"] if heard else ["bound"])
