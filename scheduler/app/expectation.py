"""Placements as they were written before, to be held against those of today."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from scheduler.app.problems import ManifestError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scheduler.app.decisions import PodDecision


class _Decision(msgspec.Struct):
    pod: str
    node: str | None = None


class _Output(msgspec.Struct):
    decisions: list[_Decision]


def read_expectation(path: str) -> dict[str, str | None]:
    """The node of each pod (None for none) in what `berth simulate -o json` wrote. Raises ManifestError."""
    try:
        with open(path, "rb") as file:
            found = msgspec.json.decode(file.read(), type=_Output)
    except OSError as problem:
        raise ManifestError(f"{path}: {problem.strerror or problem}") from problem
    except msgspec.DecodeError as problem:
        raise ManifestError(f"{path}: not what `berth simulate -o json` writes: {problem}") from problem
    return {decision.pod: decision.node for decision in found.decisions}


def differences(expected: Mapping[str, str | None], decisions: Iterable[PodDecision]) -> list[str]:
    """A sentence for each pod that is elsewhere than expected, for each that is missing, and for each that is new."""
    found = {decision.pod: decision.node for decision in decisions}
    told = []
    for pod in dict.fromkeys((*expected, *found)):
        if pod not in found:
            told.append(f"{pod} was expected {_on(expected[pod])}, and is not among the pods to schedule.")
        elif pod not in expected:
            told.append(f"{pod} was not expected, and is {_on(found[pod])}.")
        elif found[pod] != expected[pod]:
            told.append(f"{pod} was expected {_on(expected[pod])}, and is {_on(found[pod])}.")
    return told


def _on(node: str | None) -> str:
    return f"on {node}" if node else "on no node"
