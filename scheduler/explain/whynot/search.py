"""The search for what would help: single changes first, pairs of them only if no single one does."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from scheduler.explain.views import Help
from scheduler.explain.whynot.change import Change, both
from scheduler.explain.whynot.helps import (
    affinity,
    claims,
    evict,
    labels,
    moves,
    nodes,
    ports,
    requests,
    space,
    spread,
    taints,
    volumes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    from scheduler.explain.whynot.bench import Bench
    from scheduler.explain.whynot.change import Option
    from scheduler.explain.whynot.survey import Survey

    Steps = Generator[None, None, list["Found"]]

_GENERATORS: Final[tuple[Callable[[Survey], Iterator[Option]], ...]] = (
    taints.options,
    requests.options,
    labels.options,
    spread.options,
    affinity.options,
    ports.options,
    volumes.options,
    claims.options,
    space.options,
    nodes.options,
)
_SINGLES: Final = 150
_PAIRS: Final = 60
_PARTS: Final = 24
"""Options, at most, that pairs are made of."""
_FIRST: Final = 3
_BEHIND: Final = 20
"""Options, at most, that let the pod be looked at, and that are tried behind each."""
_PER_KIND: Final = 2
_ONCE: Final = frozenset(("removePods", "raisePriority"))
"""Kinds of which the smallest change is enough."""
_NAMED: Final = 10


class Found:
    """A change that was tried and lets the pod in, on these nodes: `nodes` are those that are there without it."""

    __slots__ = ("change", "nodes", "opens")

    def __init__(self, change: Change, nodes: list[str], opens: int) -> None:
        self.change = change
        self.nodes = nodes
        self.opens = opens

    def help(self) -> Help:
        """What is shown of it."""
        change = self.change
        return Help(
            kind=change.kind,
            sentence=change.sentence(self.nodes),
            change=change.details,
            opens=self.opens,
            nodes=tuple(self.nodes[:_NAMED]),
            cost=change.cost,
        )


def search(bench: Bench, shown: int) -> Steps:
    """The cheapest changes that help, `shown` at most; a step for each that is tried."""
    options: list[Option] = []
    for generator in _GENERATORS:
        options += filter(None, generator(bench.survey()))
        yield
    victims: list[evict.Victims] = []
    for node in evict.nodes_to_try(bench.survey()):
        yield
        victims += evict.victims(bench.survey(), node)
    options += evict.options(bench.survey(), victims)
    for one in moves.to_try(bench.pod, victims):
        yield
        if moved := list(moves.options(bench, one)):
            options += moved
            break
    options.sort(key=lambda option: option[0].cost)
    found = yield from _singles(bench, options, shown)
    if all(one.change.kind == "addNode" for one in found):
        found += yield from _pairs(bench, options, shown)
    if not found:
        found += yield from _behind_refusals(bench, options, shown)
    return _best(found, shown)


def _singles(bench: Bench, options: Sequence[Option], shown: int) -> Steps:
    found: list[Found] = []
    for option in options:
        if bench.tried >= _SINGLES or len(_best(found, shown)) >= shown:
            break
        one = yield from _tried(bench, option)
        if one is not None:
            found.append(one)
    return found


def _tried(bench: Bench, option: Option) -> Generator[None, None, Found | None]:
    """All ways of an option that help, as one."""
    opened: dict[str, None] = {}
    which: list[Change] = []
    for change in option:
        names = bench.opened(change)
        yield
        if names:
            which.append(change)
            opened.update(dict.fromkeys(names))
    if not which:
        return None
    first = which[0]
    new = {node.metadata.name for change in which for node in change.new}
    known = sorted(opened.keys() - new)
    return Found(first if first.merge is None else first.merge(which), known, len(opened))


def _pairs(bench: Bench, options: Sequence[Option], shown: int) -> Steps:
    """Two changes at once, where together they are about all that keeps the pod off some node."""
    survey = bench.survey()
    obstacles = _obstacle_sets(survey)
    parts = [change for option in options if option[0].kind != "addNode" for change in option[:2]][:_PARTS]
    pairs = [
        (one, other)
        for one, other in combinations(parts, 2)
        if _compatible(one, other) and any(plugins <= one.solves | other.solves for plugins in obstacles)
    ]
    pairs.sort(key=lambda pair: pair[0].cost + pair[1].cost)
    yield
    found: list[Found] = []
    for one, other in pairs[:_PAIRS]:
        change = both(one, other)
        opened = bench.opened(change)
        yield
        if opened:
            found.append(Found(change, change.known(opened), len(opened)))
            if len(_best(found, shown)) >= shown:
                break
    return found


def _behind_refusals(bench: Bench, options: Sequence[Option], shown: int) -> Steps:
    """Pairs of what would let the pod be looked at, where it isn't, and what it would find in its way then."""
    found: list[Found] = []
    for first in [option[0] for option in options][:_FIRST] if bench.survey().refusal is not None else ():
        behind = bench.behind(first, _GENERATORS)
        yield
        changes = sorted((option[0] for option in behind), key=lambda change: change.cost)
        for other in changes[:_BEHIND]:
            change = both(first, other)
            opened = bench.opened(change)
            yield
            if opened:
                found.append(Found(change, change.known(opened), len(opened)))
                if len(_best(found, shown)) >= shown:
                    return found
    return found


def _obstacle_sets(survey: Survey) -> list[frozenset[str]]:
    """What keeps the pod off nodes with few obstacles, each combination once."""
    if survey.refusal is not None:
        return [frozenset((survey.refusal.plugin,))]
    plugins = list(survey.codes)
    bits = np.zeros(len(survey.live), np.int64)
    for place, name in enumerate(plugins):
        bits |= np.where(survey.codes[name] != 0, np.int64(1) << place, 0)
    rows = survey.live & (survey.obstacles <= 3)
    return [
        frozenset(name for place, name in enumerate(plugins) if value >> place & 1)
        for value in np.unique(bits[rows]).tolist()
    ]


def _compatible(one: Change, other: Change) -> bool:
    """Whether two changes are different things."""
    if one.kind != other.kind:
        return not (one.gone and other.gone)
    return one.details != other.details and not one.nodes and not one.gone and one.kind != "lowerRequests"


def _best(found: Sequence[Found], shown: int) -> list[Found]:
    """The cheapest, not too many of a kind, and nothing twice."""
    kept: list[Found] = []
    seen: set[object] = set()
    for one in sorted(found, key=lambda one: (one.change.cost, -len(one.nodes))):
        change = one.change
        same_kind = sum(1 for other in kept if other.change.kind == change.kind)
        details = change.details.keys() if change.kind == "lowerRequests" else change.details.items()
        key = (change.kind, tuple(sorted(details)))
        if key in seen or same_kind >= (1 if change.kind in _ONCE else _PER_KIND):
            continue
        seen.add(key)
        kept.append(one)
    return kept[:shown]
