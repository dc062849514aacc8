"""A report for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scheduler.app.observing.report import Outcome
from scheduler.explain.grid import Grid, Styled

if TYPE_CHECKING:
    from scheduler.app.observing.report import Percentiles, Report
    from scheduler.explain.grid import Part

_MEANING: Final = {
    Outcome.AGREED: "the node is among Berth's best, or no node fits for either",
    Outcome.OTHER_ORDER: "it is, once binds that crossed on their way are counted in another order",
    Outcome.SAMPLED: "it is, among a sample of the nodes such as the other scheduler looks at",
    Outcome.DIFFERENT: "none of this",
}
_STYLES: Final = {Outcome.AGREED: "green", Outcome.DIFFERENT: "yellow"}


def report_parts(report: Report, *, limit: int) -> list[Part]:
    """A sentence, counts, times, the plugins behind differences and the last `limit` of these."""
    parts: list[Part] = [Styled(_sentence(report), "bold")]
    if not report.observed:
        return parts
    counts = [
        (
            Styled(str(outcome), _STYLES.get(outcome, "")),
            str(count),
            f"{count / report.observed:.2%}",
            _MEANING[outcome],
        )
        for outcome in Outcome
        if (count := report.outcomes.get(str(outcome), 0))
    ]
    parts += [Styled(""), Grid(("OUTCOME", "DECISIONS", "SHARE", "MEANING"), counts, frozenset({1, 2}))]
    times = [
        ("seen waiting until bound", *_times(report.observed_latency)),
        ("Berth's decision, every node scored", *_times(report.decision_time)),
    ]
    parts += [Styled(""), Grid(("MILLISECONDS", "P50", "P90", "P99", "MAX"), times, frozenset({1, 2, 3, 4}))]
    if report.behind:
        rows = [(plugin, str(count)) for plugin, count in report.behind.items()]
        parts += [Styled(""), Grid(("BEHIND DIFFERENCES", "DECISIONS"), rows, frozenset({1}))]
    shown = report.differences[-limit:]
    if shown:
        parts.append(Styled(f"\nThe last {len(shown)} differences:", "bold"))
        parts += [Styled(f"  {observation}") for observation in shown]
    if report.skipped or report.failed:
        notes = f"{report.skipped} pods were bound before they were seen waiting, {report.failed} could not be compared"
        parts.append(Styled(f"\nNot compared: {notes}.", "dim"))
    return parts


def _sentence(report: Report) -> str:
    names = ", ".join(report.schedulers)
    if not report.observed:
        return f"No decision of {names} was seen."
    different = report.outcomes.get(str(Outcome.DIFFERENT), 0)
    return (
        f"{report.agreement:.2%} of {report.observed} decisions of {names} agree "
        f"({report.placed} placed, {report.refused} refused; {different} differ)."
    )


def _times(seconds: Percentiles) -> tuple[str, str, str, str]:
    p50, p90, p99, most = (f"{value * 1000:.2f}" for value in (seconds.p50, seconds.p90, seconds.p99, seconds.max))
    return p50, p90, p99, most
