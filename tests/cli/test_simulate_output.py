"""The forms in which `berth simulate` prints what came out."""

from __future__ import annotations

import json

import pytest
import yaml

from scheduler.cli.main import build_parser
from scheduler.cli.simulate_output import OUTPUTS, Outcome
from tests.cli.test_decisions import DECISIONS


def printed(form: str, outcome: Outcome, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    OUTPUTS[form](outcome)
    return capsys.readouterr()


def test_each_form_can_be_asked_for() -> None:
    for form in OUTPUTS:
        assert build_parser().parse_args(["simulate", "-f", "x", "-o", form]).output == form


@pytest.mark.parametrize("form", ["table", "wide"])
def test_tables_begin_with_what_was_changed(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = printed(form, Outcome(DECISIONS, ["drained n3"]), capsys)
    assert out.index("drained n3") < out.index("default/a")


def test_only_the_wide_one_has_scores(capsys: pytest.CaptureFixture[str]) -> None:
    assert "TaintToleration" not in printed("table", Outcome(DECISIONS), capsys)[0]
    assert "TaintToleration" in printed("wide", Outcome(DECISIONS), capsys)[0]


@pytest.mark.parametrize("form", ["table", "wide"])
def test_no_pods_are_a_remark_and_no_table(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(form, Outcome([]), capsys) == ("", "No pods to schedule.\n")


@pytest.mark.parametrize(("form", "read"), [("json", json.loads), ("yaml", yaml.safe_load)])
def test_for_programs_no_pods_are_an_empty_list(form: str, read, capsys: pytest.CaptureFixture[str]) -> None:
    out, err = printed(form, Outcome([]), capsys)
    assert (read(out), err) == ({"decisions": []}, "")


@pytest.mark.parametrize(("form", "read"), [("json", json.loads), ("yaml", yaml.safe_load)])
def test_for_programs_everything_is_in_one_document(form: str, read, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = printed(form, Outcome(DECISIONS, ["drained n3"]), capsys)
    document = read(out)
    assert document["changes"] == ["drained n3"]
    assert [decision["pod"] for decision in document["decisions"]] == ["default/a", "default/b"]


def test_a_page_is_written_to_the_byte_and_its_size_told_beside_it(capfdbinary) -> None:
    OUTPUTS["html"](Outcome(DECISIONS, html=b"<html>\xc3\xa9</html>"))
    out, err = capfdbinary.readouterr()
    assert out == b"<html>\xc3\xa9</html>"
    assert err == b"A report of 2 pods, 0.0 MB: open it in a browser.\n"
