"""The pods in the way on another node instead: nobody has to go, where room is there but in pieces."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from scheduler.explain.whynot.change import Change, Option
from scheduler.explain.whynot.survey import Survey
from scheduler.explain.whynot.wording import any_of, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scheduler.cache.pods import PodInfo
    from scheduler.explain.whynot.bench import Bench
    from scheduler.explain.whynot.helps.evict import Victims

_MOVE: Final = 40
_EACH: Final = 5
_TRIED: Final = 4
"""Nodes, at most, whose pods are looked for a place for."""


def to_try(pod: PodInfo, found: Sequence[Victims]) -> list[Victims]:
    """Whom to look for places for: the fewest and least important pods first, and none of the pod's own kind."""
    able = [one for one in found if not one.left and not one.alike(pod)]
    return sorted(able, key=lambda one: (len(one.pods), one.rank(pod)))[:_TRIED]


def options(bench: Bench, one: Victims) -> Iterator[Option]:
    """A node's pods on other nodes, if each of them finds one."""
    places = _elsewhere(bench, one.pods)
    if places:
        yield (_move(one, places),)


def _elsewhere(bench: Bench, pods: Sequence[PodInfo]) -> list[list[str]]:
    """The nodes that each of a node's pods would find once the pod is in their place; empty if one finds none.

    Those before it are on the first of theirs by then.
    """
    state, left = bench.state, pods[0].node_name
    if any(state.pods.get(pod.uid) is not pod for pod in pods):  # it has changed since, or is gone
        return []
    found = []
    with state.what_if() as trial:
        for pod in pods:
            trial.remove(pod)
        trial.add(bench.pod, left)
        for pod in pods:
            names = [name for name in Survey(state, bench.profile, pod.on("")).names if name != left]
            if not names:
                return []
            found.append(names)
            trial.add(pod, names[0])
    return found


def _move(one: Victims, places: Sequence[Sequence[str]]) -> Change:
    pods, left = one.pods, one.pods[0].node_name
    return Change(
        kind="movePods",
        details={
            "pods": ",".join(pod.key for pod in pods),
            "from": left,
            "to": ",".join(names[0] for names in places),
        },
        cost=_MOVE + _EACH * len(pods),
        what=partial(_words, [pod.key for pod in pods], left, places),
        solves=one.solves,
        gone=pods,
        come=tuple(pod.on(names[0]) for pod, names in zip(pods, places, strict=True)),
    )


def _words(keys: Sequence[str], left: str, places: Sequence[Sequence[str]], nodes: object) -> str:
    del nodes
    if len(keys) == 1:
        return f"moving {keys[0]} from {left} to {any_of(places[0])}, where it fits,"
    where = [f"{key} to {names[0]}" for key, names in zip(keys, places, strict=True)]
    return f"moving {listed(where, most=5)} from {left}, where they fit,"
