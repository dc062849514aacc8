"""What has to be equal in two decisions on one case, and where they differ.

Compared: feasible nodes with totals, raw and weighted scores; rejected nodes with plugin, code and reasons; the
best nodes; the reason and the plugins that made the pod unschedulable; the outcome of PreFilter; what PreScore
skipped; the message; and what PostFilter did: its code, plugin and message, whether the nomination is cleared,
the candidates for preemption with their victims and the budgets that they break, and which of them tie. Among
these any may be taken, so victims, deletions and cleared nominations are compared for the one that was. Of a
decision that failed with an error (``SchedulerError``) only the reason and the nodes in error count, because
which node's error is told is random. What is reserved on the best nodes is compared where the oracle tells of it:
code, plugin, reasons and volumes. Of the hints about a case's events the answer of every plugin is compared,
whether it turned the pod down or not, of sampling how many nodes each attempt looked at and found to fit, and of the
binding cycle how it ended and what it wrote.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any, NamedTuple

Decision = dict[str, Any]

SCHEDULER_ERROR = "SchedulerError"
_SORTED_LISTS = ("best", "prescore_skipped", "unschedulable_plugins")
_DEVICES = "DynamicResources"
_FLAGS = ("score_skipped", "nominated_path")


class Difference(NamedTuple):
    """One value that differs; ``path`` is where in the decision it is."""

    path: str
    expected: Any
    actual: Any


class Verdict(enum.Enum):
    """How the comparison of one case ended."""

    AGREED = "agreed"
    REFUSED = "refused by both"
    SKIPPED = "skipped: the oracle cannot decide it"
    DIFFERS = "differs"


@dataclass(frozen=True)
class Comparison:
    """A verdict, with the differences if it is DIFFERS."""

    verdict: Verdict
    differences: tuple[Difference, ...] = ()


def compare(expected: Decision, actual: Decision) -> Comparison:
    """Compare kube-scheduler's decision with ours, both as in README.md."""
    if expected.get("error"):
        return Comparison(Verdict.REFUSED if actual.get("error") else Verdict.SKIPPED)
    if actual.get("error"):
        return Comparison(Verdict.DIFFERS, (Difference("error", None, actual["error"]),))
    found = [*_differences(expected, actual), *_beside(expected, actual)]
    return Comparison(Verdict.DIFFERS, tuple(found)) if found else Comparison(Verdict.AGREED)


def _differences(expected: Decision, actual: Decision) -> list[Difference]:
    found: list[Difference] = []
    _value(found, "id", expected.get("id"), actual.get("id"))
    _value(found, "reason", expected.get("reason") or "", actual.get("reason") or "")
    if expected.get("reason") == SCHEDULER_ERROR:
        _value(found, "nodes in error", _in_error(expected), _in_error(actual))
        return found
    _nodes(found, "feasible", expected, actual, _score)
    _nodes(found, "infeasible", expected, actual, _rejection)
    for field in _SORTED_LISTS:
        _value(found, field, sorted(expected.get(field) or ()), sorted(actual.get(field) or ()))
    for field in _FLAGS:
        _value(found, field, bool(expected.get(field)), bool(actual.get(field)))
    _prefilter(found, expected.get("prefilter_status"), actual.get("prefilter_status"))
    _value(found, "message", _message(expected), _message(actual))
    _post_filter(found, expected.get("postfilter"), actual.get("postfilter"))
    _reserve(found, expected, actual)
    return found


def _beside(expected: Decision, actual: Decision) -> list[Difference]:
    """What a case asked for beside the decision: hints about its events, and what sampling looks at."""
    found: list[Difference] = []
    _value(found, "sampled", expected.get("sampled"), actual.get("sampled"))
    bound = [side.get("bound") or {} for side in (expected, actual)]
    for field in ("node", "code", "reasons", "writes"):
        _value(found, f"bound.{field}", *(side.get(field) or None for side in bound))
    wanted, had = expected.get("hints") or [], actual.get("hints") or []
    _value(found, "hints: events", len(wanted), len(had))
    for index, (want, have) in enumerate(zip(wanted, had, strict=False)):
        _value(found, f"hints.{index}: events", _labels(want), _labels(have))
        theirs, ours = _hints(want), _hints(have)
        for key in sorted(theirs.keys() | ours.keys()):
            _value(found, f"hints.{index}.{'.'.join(key)}", theirs.get(key), ours.get(key))
    return found


def _labels(heard: list[Decision]) -> list[str]:
    return sorted(event["event"] for event in heard)


def _hints(heard: list[Decision]) -> dict[tuple[str, str], str]:
    """By event and plugin, except for the plugin of devices, whose decisions are not compared either."""
    return {
        (event["event"], plugin): answer
        for event in heard
        for plugin, answer in event["hints"].items()
        if plugin != _DEVICES
    }


def _value(found: list[Difference], path: str, expected: Any, actual: Any) -> None:
    if expected != actual:
        found.append(Difference(path, expected, actual))


def _nodes(found: list[Difference], field: str, expected: Decision, actual: Decision, fields: Any) -> None:
    """Node by node, field by field; a node that only one side has is one difference."""
    ours, theirs = actual.get(field) or {}, expected.get(field) or {}
    for node in sorted(ours.keys() | theirs.keys()):
        path = f"{field}.{node}"
        if node not in ours or node not in theirs:
            _value(found, path, theirs.get(node), ours.get(node))
            continue
        want, have = fields(theirs[node]), fields(ours[node])
        for name in sorted(want.keys() | have.keys()):
            _value(found, f"{path}.{name}", want.get(name), have.get(name))


def _score(node: dict[str, Any]) -> dict[str, Any]:
    flat = {"total": node.get("total")}
    for kind in ("plugins", "raw"):
        flat.update({f"{kind}.{plugin}": score for plugin, score in (node.get(kind) or {}).items()})
    return flat


def _rejection(node: dict[str, Any]) -> dict[str, Any]:
    return {
        "plugin": node.get("plugin") or "",
        "code": node.get("code"),
        "reasons": sorted(node.get("reasons") or ()),
        "restricted": bool(node.get("restricted")),
    }


def _prefilter(found: list[Difference], expected: Decision | None, actual: Decision | None) -> None:
    want, have = expected or {}, actual or {}
    path = "prefilter_status"
    _value(found, f"{path}.code", want.get("code"), have.get("code"))
    _value(found, f"{path}.plugin", want.get("plugin") or "", have.get("plugin") or "")
    _value(found, f"{path}.reasons", want.get("reasons") or [], have.get("reasons") or [])
    # No nodeNames means all nodes, an empty list none.
    names = [None if side.get("nodeNames") is None else sorted(side["nodeNames"]) for side in (want, have)]
    _value(found, f"{path}.nodeNames", *names)
    for field in ("restrictedBy", "skippedFilter"):
        _value(found, f"{path}.{field}", sorted(want.get(field) or ()), sorted(have.get(field) or ()))


def _post_filter(found: list[Difference], expected: Decision | None, actual: Decision | None) -> None:
    path = "postfilter"
    if expected is None or actual is None:
        _value(found, path, expected, actual)
        return
    want, have = _post_filter_fields(expected), _post_filter_fields(actual)
    if expected.get("nominatedNode") and actual.get("nominatedNode") in {tie["node"] for tie in want["ties"]}:
        chosen, node = expected["nominatedNode"], actual["nominatedNode"]
        if chosen != node:
            # Another one of the ties: what is told must be about that one.
            victims = next(tie["victims"] for tie in want["ties"] if tie["node"] == node)
            want["message"] = (expected.get("message") or "").replace(f" node {chosen},", f" node {node},")
            want.update(nominatedNode=node, victims=victims)
            for field in ("deleted", "clearedNominations"):
                del want[field], have[field]
    for field, value in want.items():
        _value(found, f"{path}.{field}", value, have[field])


def _post_filter_fields(side: Decision) -> Decision:
    return {
        "code": side.get("code"),
        "plugin": side.get("plugin") or "",
        "message": side.get("message") or "",
        "nominatedNode": side.get("nominatedNode"),
        "victims": side.get("victims") or [],
        "deleted": side.get("deleted") or [],
        "candidates": side.get("candidates") or [],
        "ties": side.get("ties") or [],
        "clearedNominations": side.get("clearedNominations") or [],
        "deallocatedClaims": side.get("deallocatedClaims") or [],
    }


def _reserve(found: list[Difference], expected: Decision, actual: Decision) -> None:
    """What is held on each of the best nodes, where the pod has anything that the Reserve plugins look at."""
    for node, want in (expected.get("reserve") or {}).items():
        have = (actual.get("reserve") or {}).get(node) or {"code": "Success"}
        for field, nothing in (("code", ""), ("plugin", ""), ("reasons", []), ("volumes", {})):
            path = f"reserve.{node}.{field}"
            _value(found, path, want.get(field) or nothing, have.get(field) or nothing)


def _in_error(decision: Decision) -> list[str]:
    nodes = decision.get("infeasible") or {}
    return sorted(name for name, status in nodes.items() if status.get("code") == "Error")


def _message(decision: Decision) -> str:
    """The message with a mark in the place of what PostFilter says, which is compared apart."""
    message: str = decision.get("message") or ""
    added = (decision.get("postfilter") or {}).get("message")
    if added and message.endswith(f" {added}"):
        return message.removesuffix(added) + "<postfilter>"
    return message
