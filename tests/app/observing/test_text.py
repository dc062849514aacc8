"""The report as people read it."""

from __future__ import annotations

import io

from scheduler.app.observing.report import Observation, Outcome, Tally
from scheduler.app.observing.text import report_parts
from scheduler.explain.agreement import Agreement, Verdict
from scheduler.explain.grid import show


def text(tally: Tally) -> str:
    stream = io.StringIO()
    show(stream, report_parts(tally.report(), limit=10))
    return stream.getvalue()


def test_nothing_seen() -> None:
    assert text(Tally(["default-scheduler"])) == "No decision of default-scheduler was seen.\n"


def test_counts_times_and_what_is_behind_the_differences() -> None:
    tally = Tally(["default-scheduler"])
    same = Agreement(verdict=Verdict.SAME, chosen="n1")
    other = Agreement(
        verdict=Verdict.ELSEWHERE,
        chosen="n2",
        best=("n1",),
        ties=1,
        lead=7,
        points={"ImageLocality": 7},
        behind=("ImageLocality",),
    )
    for outcome, found in ((Outcome.AGREED, same), (Outcome.AGREED, same), (Outcome.DIFFERENT, other)):
        tally.add(
            Observation(
                time=0.0,
                pod="shop/web",
                node=found.chosen,
                scheduler="default-scheduler",
                outcome=outcome,
                agreement=found,
                observed_seconds=0.02,
                decision_seconds=0.0005,
            )
        )
    tally.skipped = 2
    lines = text(tally).splitlines()
    assert lines[0] == "66.67% of 3 decisions of default-scheduler agree (3 placed, 0 refused; 1 differ)."
    assert "Agreed              2   66.67%   the node is among Berth's best, or no node fits for either" in lines
    assert "seen waiting until bound".ljust(35) + "   20.00" * 4 in lines
    assert "ImageLocality                1" in lines
    assert "  shop/web: n1 instead of n2, by 7 points: ImageLocality +7" in lines
    assert lines[-1] == "Not compared: 2 pods were bound before they were seen waiting, 0 could not be compared."
