"""What a SchedulerProfile is told of itself."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from scheduler.app.profile_status import Accepted, Outcome, Standing, status_of
from scheduler.app.shadowing import Shadow
from scheduler.explain.agreement import Agreement, Verdict
from tests.cycle.rig import profile_of
from tests.framework.stubs import Filter

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LATER = datetime(2026, 1, 1, 13, tzinfo=UTC)
PROFILE = {"schedulerName": "berth"}


def accepted(generation: int = 1, mode: str = "Active") -> Accepted:
    return Accepted("u", generation, mode, PROFILE)


def told(outcome: Outcome, before: Any = None, shadow: Shadow | None = None, now: datetime = NOON) -> dict[str, Any]:
    return status_of(outcome, "berth", before or {}, shadow, now=now)


def conditions(status: dict[str, Any]) -> dict[str, tuple[str, str, str]]:
    return {one["type"]: (one["status"], one["reason"], one["message"]) for one in status["conditions"]}


class TestConditions:
    @pytest.mark.parametrize(
        ("outcome", "is_accepted", "is_active"),
        [
            (
                Outcome(1, Standing.VALID, accepted=accepted()),
                ("True", "Valid", "generation 1 is valid"),
                ("True", "Running", 'profile "berth" is this one'),
            ),
            (
                Outcome(2, Standing.VALID, accepted=accepted(2, "Shadow")),
                ("True", "Valid", "generation 2 is valid"),
                ("False", "Shadow", 'profile "berth" goes on as it was; this one is tried in shadow'),
            ),
            (
                Outcome(1, Standing.INVALID, problems=("spec.a: bad", "spec.b: worse")),
                ("False", "Invalid", "spec.a: bad\nspec.b: worse"),
                ("False", "NotAccepted", 'profile "berth" goes on as it was'),
            ),
            (
                Outcome(3, Standing.INVALID, problems=("spec.a: bad",), accepted=accepted(2)),
                ("False", "Invalid", "spec.a: bad"),
                ("True", "LastAccepted", 'profile "berth" goes on by generation 2, the last one that was valid'),
            ),
            (
                Outcome(1, Standing.CONFLICT, other="first"),
                (
                    "False",
                    "Conflict",
                    'spec.schedulerName: SchedulerProfile "first", which is older, is about profile "berth"',
                ),
                ("False", "NotAccepted", 'profile "berth" goes on as it was'),
            ),
        ],
    )
    def test_what_each_outcome_is_told_as(self, outcome: Outcome, is_accepted: Any, is_active: Any) -> None:
        assert conditions(told(outcome)) == {"Accepted": is_accepted, "Active": is_active}

    def test_a_transition_has_the_time_at_which_the_status_changed(self) -> None:
        first = told(Outcome(1, Standing.VALID, accepted=accepted()))
        second = told(Outcome(2, Standing.INVALID, problems=("x",), accepted=accepted()), first, now=LATER)
        assert {one["type"]: one["lastTransitionTime"] for one in second["conditions"]} == {
            "Accepted": "2026-01-01T13:00:00Z",
            "Active": "2026-01-01T12:00:00Z",
        }
        assert {one["observedGeneration"] for one in second["conditions"]} == {2}
        assert second["observedGeneration"] == 2

    def test_a_message_is_not_longer_than_the_api_takes(self) -> None:
        status = told(Outcome(1, Standing.INVALID, problems=tuple("x" * 100 for _ in range(1000))))
        message = status["conditions"][0]["message"]
        assert (len(message), message[-4:]) == (4096, " ...")

    def test_nonsense_in_the_present_status_does_no_harm(self) -> None:
        status = told(Outcome(1, Standing.VALID, accepted=accepted()), {"conditions": ["x", {"type": 3}]})
        assert status["conditions"][0]["lastTransitionTime"] == "2026-01-01T12:00:00Z"


def test_what_was_accepted_is_kept_for_the_next_process() -> None:
    status = told(Outcome(3, Standing.INVALID, problems=("x",), accepted=accepted(2, "Shadow")))
    assert Accepted.of_status("u", status) == accepted(2, "Shadow")


class TestShadow:
    def test_counts_plugins_and_the_last_examples_the_latest_first(self) -> None:
        shadow = Shadow(profile_of(Filter("A")), draw=lambda: 0.0, examples=2)
        tally = shadow.tally
        tally.observed, tally.failed, tally.last_failure = 9, 1, "default/p: boom"
        tally.add("default/same", Agreement(verdict=Verdict.SAME, chosen="a", ties=1), 0.0)
        for number in range(3):
            found = Agreement(
                verdict=Verdict.ELSEWHERE, chosen="a", best=("b",), ties=1, lead=5, points={"S": 5}, behind=("S",)
            )
            tally.add(f"default/p{number}", found, 1767225600.0 + number)
        status = told(Outcome(1, Standing.VALID, accepted=accepted(mode="Shadow")), shadow=shadow)
        assert conditions(status)["Shadowing"][:2] == ("True", "Comparing")
        part = status["shadow"]
        examples = part.pop("examples")
        assert part == {
            "observed": 9,
            "compared": 4,
            "failed": 1,
            "same": 1,
            "different": 3,
            "verdicts": {"Elsewhere": 3, "Same": 1},
            "differences": [{"plugin": "S", "decisions": 3}],
            "lastFailure": "default/p: boom",
        }
        assert [example["pod"] for example in examples] == ["default/p2", "default/p1"]
        assert examples[0] == {
            "time": "2026-01-01T00:00:02Z",
            "pod": "default/p2",
            "message": "b instead of a, by 5 points: S +5",
            "verdict": "Elsewhere",
            "chosen": "a",
            "best": ["b"],
            "ties": 1,
            "lead": 5,
            "points": {"S": 5},
            "behind": ["S"],
        }
        assert msgspec.json.decode(msgspec.json.encode(status)) == status
