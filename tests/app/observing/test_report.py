"""What is counted of observed decisions."""

from __future__ import annotations

from scheduler.app.observing.report import Observation, Outcome, Tally
from scheduler.explain.agreement import Agreement, Verdict

ELSEWHERE = Agreement(verdict=Verdict.ELSEWHERE, chosen="n2", best=("n1",), ties=1, lead=3, behind=("ImageLocality",))
SAME = Agreement(verdict=Verdict.SAME, chosen="n1")


def observation(outcome: Outcome = Outcome.AGREED, *, node: str = "n1", waited: float = 0.1) -> Observation:
    return Observation(
        time=1.0,
        pod="default/a",
        node=node,
        scheduler="other",
        outcome=outcome,
        agreement=ELSEWHERE if outcome is Outcome.DIFFERENT else SAME,
        observed_seconds=waited,
        decision_seconds=0.001,
    )


def test_nothing_observed_is_full_agreement() -> None:
    report = Tally(["other"]).report()
    assert (report.observed, report.agreement, report.decision_time.count) == (0, 1.0, 0)


def test_what_differs_counts_against_agreement_and_what_is_explained_does_not() -> None:
    tally = Tally(["other"])
    for outcome in (Outcome.AGREED, Outcome.OTHER_ORDER, Outcome.SAMPLED, Outcome.DIFFERENT):
        tally.add(observation(outcome))
    report = tally.report()
    assert report.agreement == 0.75
    assert report.outcomes == {"Agreed": 1, "OtherOrder": 1, "Sampled": 1, "Different": 1}
    assert report.behind == {"ImageLocality": 1}
    assert [item.outcome for item in report.differences] == [Outcome.DIFFERENT]


def test_refusals_are_counted_apart_and_have_no_latency() -> None:
    tally = Tally(["other"])
    tally.add(observation())
    tally.add(observation(node="", waited=99.0))
    report = tally.report()
    assert (report.placed, report.refused) == (1, 1)
    assert (report.observed_latency.count, report.observed_latency.max) == (1, 0.1)
    assert report.decision_time.count == 2


def test_only_the_last_differences_are_kept() -> None:
    tally = Tally(["other"], differences=2)
    for _ in range(5):
        tally.add(observation(Outcome.DIFFERENT))
    report = tally.report()
    assert (report.outcomes["Different"], len(report.differences)) == (5, 2)


def test_whoever_wants_to_know_is_told_of_each() -> None:
    seen: list[Observation] = []
    tally = Tally(["other"], on_add=seen.append)
    tally.add(observation())
    assert seen == [observation()]


def test_an_observation_reads_as_a_sentence() -> None:
    said = observation(Outcome.DIFFERENT)
    assert str(said).startswith("default/a: n1 instead of n2, by 3 points")
