"""What a SchedulerProfile is told of itself: conditions, what was accepted of it, and what its shadow has come to."""

from __future__ import annotations

import enum
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import msgspec

from scheduler.explain.agreement import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scheduler.app.shadowing import Shadow

ACCEPTED: Final = "Accepted"
ACTIVE: Final = "Active"
SHADOWING: Final = "Shadowing"

_LONGEST: Final = 4096
"""Characters of a condition's message; the API allows 32768."""


class Standing(enum.Enum):
    """What a scheduler makes of a resource."""

    VALID = enum.auto()
    INVALID = enum.auto()
    CONFLICT = enum.auto()


class Accepted(msgspec.Struct, frozen=True):
    """A generation of a resource that was valid: the profile as a configuration file would have it, and its mode."""

    uid: str
    generation: int
    mode: str
    profile: Mapping[str, Any]

    @classmethod
    def of_status(cls, uid: str, status: Mapping[str, Any]) -> Accepted | None:
        """What a status says was accepted last, None if it says nothing of use."""
        given = status.get("accepted")
        if not isinstance(given, dict) or not isinstance(given.get("profile"), dict):
            return None
        generation = given.get("generation")
        return cls(uid, generation if isinstance(generation, int) else 0, str(given.get("mode", "")), given["profile"])


class Outcome(msgspec.Struct, frozen=True):
    """What is to be told to a resource of a generation.

    `problems` say what is wrong with it, `other` which older one stands in its way. `accepted` is what holds of it.
    """

    generation: int
    standing: Standing
    problems: tuple[str, ...] = ()
    other: str = ""
    accepted: Accepted | None = None


def status_of(
    outcome: Outcome, name: str, before: Mapping[str, Any], shadow: Shadow | None, *, now: datetime
) -> dict[str, Any]:
    """The status of a resource about profile `name`. Conditions that don't change keep the time of their transition."""
    conditions = [_accepted(outcome, name), _active(outcome, name)]
    if shadow is not None:
        conditions.append(_shadowing(name))
    accepted = outcome.accepted
    dated = _dated(conditions, before.get("conditions"), outcome.generation, now)
    status: dict[str, Any] = {"observedGeneration": outcome.generation, "conditions": dated}
    if accepted is not None:
        status["accepted"] = _accepted_part(accepted)
    if shadow is not None:
        status["shadow"] = shadow_part(shadow)
    return status


def shadow_part(shadow: Shadow) -> dict[str, Any]:
    """What a shadow has come to, for the status."""
    tally = shadow.tally
    failure = {"lastFailure": tally.last_failure} if tally.last_failure else {}
    return {
        "observed": tally.observed,
        "compared": tally.compared,
        "failed": tally.failed,
        "same": tally.verdicts[Verdict.SAME],
        "different": tally.different,
        "verdicts": {str(verdict): count for verdict, count in sorted(tally.verdicts.items()) if count},
        "differences": [{"plugin": plugin, "decisions": count} for plugin, count in tally.behind.most_common()],
        "examples": [
            {
                "time": rfc3339(datetime.fromtimestamp(example.time, tz=UTC)),
                "pod": example.pod,
                "message": str(example.agreement),
                **msgspec.json.decode(msgspec.json.encode(example.agreement)),
            }
            for example in reversed(tally.examples)
        ],
        **failure,
    }


def rfc3339(moment: datetime) -> str:
    """A time as the API has it, in whole seconds."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _accepted(outcome: Outcome, name: str) -> dict[str, str]:
    if outcome.standing is Standing.CONFLICT:
        message = f'spec.schedulerName: SchedulerProfile "{outcome.other}", which is older, is about profile "{name}"'
        return _condition(ACCEPTED, "False", "Conflict", message)
    if outcome.standing is Standing.INVALID:
        return _condition(ACCEPTED, "False", "Invalid", "\n".join(outcome.problems))
    return _condition(ACCEPTED, "True", "Valid", f"generation {outcome.generation} is valid")


def _active(outcome: Outcome, name: str) -> dict[str, str]:
    accepted = outcome.accepted
    if accepted is None:
        return _condition(ACTIVE, "False", "NotAccepted", f'profile "{name}" goes on as it was')
    if accepted.mode != "Active":
        return _condition(ACTIVE, "False", "Shadow", f'profile "{name}" goes on as it was; this one is tried in shadow')
    if accepted.generation != outcome.generation:
        message = f'profile "{name}" goes on by generation {accepted.generation}, the last one that was valid'
        return _condition(ACTIVE, "True", "LastAccepted", message)
    return _condition(ACTIVE, "True", "Running", f'profile "{name}" is this one')


def _shadowing(name: str) -> dict[str, str]:
    message = f'decides on the pods of profile "{name}" besides it, without binding them'
    return _condition(SHADOWING, "True", "Comparing", message)


def _condition(type_: str, status: str, reason: str, message: str) -> dict[str, str]:
    if len(message) > _LONGEST:
        message = message[: _LONGEST - 4] + " ..."
    return {"type": type_, "status": status, "reason": reason, "message": message}


def _dated(
    conditions: Sequence[dict[str, str]], before: object, generation: int, now: datetime
) -> list[dict[str, Any]]:
    known = {old.get("type"): old for old in before if isinstance(old, dict)} if isinstance(before, list) else {}
    dated: list[dict[str, Any]] = []
    for condition in conditions:
        old = known.get(condition["type"], {})
        same = old.get("status") == condition["status"] and old.get("lastTransitionTime")
        since = old["lastTransitionTime"] if same else rfc3339(now)
        dated.append({**condition, "observedGeneration": generation, "lastTransitionTime": since})
    return dated


def _accepted_part(accepted: Accepted) -> dict[str, Any]:
    return {"generation": accepted.generation, "mode": accepted.mode, "profile": accepted.profile}
