"""Counts of pods that affinity and spread read: kept up to date with every pod that comes and goes.

kube-scheduler walks all pods for these in each cycle. Here a `PodCounter` holds how many pods of one kind each node
has, with a log of changes, and a `DomainTally` sums them over the values of a label key, reading only what changed
since it was last asked.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from scheduler.cache.changes import ChangeLog
from scheduler.cache.rolls import Found, Roll
from scheduler.cache.terms import NO_TERMS

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

    from scheduler.api.selectors import Label
    from scheduler.cache.labels import LabelColumn
    from scheduler.cache.nodes import NodeTable
    from scheduler.cache.pods import PodInfo
    from scheduler.cache.shapes import LabelClass
    from scheduler.cache.terms import PodTerm, PodTerms

Int64s = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class PodCounter:
    """How many pods of one kind each node has; `per_node` is int64 over rows, `total` their sum."""

    __slots__ = ("__weakref__", "_counts", "log", "tallies", "total")

    def __init__(self) -> None:
        self._counts: Int64s = np.zeros(16, np.int64)
        self.tallies: dict[str, DomainTally] = {}
        self.log = ChangeLog()
        self.total = 0

    def add(self, row: int, difference: int) -> None:
        """Count pods that came to a row, or left it."""
        if row >= len(self._counts):
            self._grow(row + 1)
        self._counts[row] += difference
        self.total += difference
        self.log.append(row, difference)

    def begin(self, pods: Mapping[int, int], size: int) -> None:
        """Count the pods that there are, by row, before anybody has asked; `size` rows are in use."""
        self._counts = np.zeros(size, np.int64)
        self._counts[np.fromiter(pods.keys(), np.intp, len(pods))] = np.fromiter(pods.values(), np.int64, len(pods))
        self.total = sum(pods.values())

    def per_node(self, size: int) -> Int64s:
        """The counts of rows 0..size; a view, to be read only."""
        if size > len(self._counts):
            self._grow(size)
        return self._counts[:size]

    def _grow(self, size: int) -> None:
        longer = np.zeros(size + size // 2, np.int64)
        longer[: len(self._counts)] = self._counts
        self._counts = longer


class DomainTally:
    """The sum of a counter over the nodes of each value of a label key, of those nodes that a mask lets count.

    A tally belongs to whoever asks it with one and the same mask (or none); with `mask_version` it is told of changes
    to the mask. Index 0 of the sums stands for nodes without the label and is always 0.
    """

    __slots__ = ("_column_version", "_mask_version", "_position", "_sums", "column", "counter")

    def __init__(self, counter: PodCounter, column: LabelColumn) -> None:
        self.counter = counter
        self.column = column
        self._sums: Int64s = np.zeros(1, np.int64)
        self._position = -1
        self._column_version = -1
        self._mask_version: Hashable = None

    def sums(self, size: int, mask: Mask | None = None, mask_version: Hashable = None) -> Int64s:
        """int64 over ids of the column; read only. `size` is the number of rows of the table."""
        counter, column = self.counter, self.column
        domains = len(column.values)
        entries = None
        if self._column_version == column.version and self._mask_version == mask_version:
            entries = counter.log.entries(self._position)
        if entries is None:
            ids = column.ids[:size]
            counts = counter.per_node(size)
            if mask is not None:
                ids, counts = ids[mask[:size]], counts[mask[:size]]
            sums = np.bincount(ids, weights=counts, minlength=domains).astype(np.int64)
            sums[0] = 0
            self._sums = sums
            self._column_version = column.version
            self._mask_version = mask_version
        else:
            if domains > len(self._sums):
                self._sums = np.concatenate([self._sums, np.zeros(domains - len(self._sums), np.int64)])
            sums, ids = self._sums, column.ids
            for row, difference in zip(*entries, strict=True):
                domain = ids[row]
                if domain and (mask is None or mask[row]):
                    sums[domain] += difference
        self._position = counter.log.end
        return self._sums


class MatchCounter(PodCounter):
    """Counts the pods whose namespace and labels a rule matches; terminating ones only if `terminating` says so.

    All that it matches have the `label`, unless that is None.
    """

    __slots__ = ("label", "matches", "terminating")

    def __init__(self, matches: Callable[[LabelClass], bool], label: Label | None, *, terminating: bool) -> None:
        super().__init__()
        self.matches = matches
        self.label = label
        self.terminating = terminating


class HeldTerm:
    """A term that pods of the cluster carry, with its weight if it is a preferred one, and how many carry it where."""

    __slots__ = ("counter", "term", "weight")

    def __init__(self, term: PodTerm, weight: int) -> None:
        self.term = term
        self.weight = weight
        self.counter = PodCounter()


_FEW: Final = 64
"""Terms that nobody carries any more, and counters that nobody holds, are dropped once there are more than this."""

REQUIRED: Final = "required"
REQUIRED_ANTI: Final = "requiredAnti"
PREFERRED: Final = "preferred"


class Counters:
    """All counters in use, and which of them a pod counts in.

    Match counters are made on demand and live as long as somebody holds on to them. Held terms are those of the pods
    that are there.
    """

    def __init__(self, table: NodeTable) -> None:
        self._table = table
        self._there: dict[LabelClass, tuple[dict[int, int], dict[int, int]]] = {}
        """How many pods of each class a row has: those that stay, and those that are terminating. Whoever makes a
        counter would otherwise go through all pods."""
        self._by_key: dict[str, dict[str, dict[LabelClass, None]]] = {}
        """The classes that are there by the values of a label, of keys that somebody wanted a value of."""
        self._match: weakref.WeakValueDictionary[Hashable, MatchCounter] = weakref.WeakValueDictionary()
        self._made: Roll[weakref.ref[MatchCounter], LabelClass] = Roll(_counts, _label)
        self.held: dict[str, dict[tuple[PodTerm, int], HeldTerm]] = {
            REQUIRED: {},
            REQUIRED_ANTI: {},
            PREFERRED: {},
        }
        self._terms: dict[str, Roll[HeldTerm, LabelClass]] = {
            kind: Roll(self._concerns, _label_of_term) for kind in self.held
        }
        self._prune_at = _FEW
        self.namespace_labels: Mapping[str, Mapping[str, str]] = {}
        self.namespaces_version = 0

    def match(
        self,
        key: Hashable,
        matches: Callable[[LabelClass], bool],
        *,
        terminating: bool,
        label: Label | None = None,
    ) -> MatchCounter:
        """The counter of pods that `matches` picks; these all have the `label`, if there is one.

        `key` names the rule: equal keys must mean equal rules.
        """
        full_key = (key, terminating)
        counter = self._match.get(full_key)
        if counter is None:
            counter = MatchCounter(matches, label, terminating=terminating)
            there: dict[int, int] = {}
            for label_class in self._there if label is None else self._having(*label):
                if matches(label_class):
                    staying, ending = self._there[label_class]
                    for row, pods in (*staying.items(), *(ending.items() if terminating else ())):
                        there[row] = there.get(row, 0) + pods
            counter.begin(there, self._table.size)
            self._match[full_key] = counter
            if len(self._made.items) >= max(_FEW, 2 * len(self._match)):
                self._made.renew([made for made in self._made.items if made() is not None])
            self._made.add(weakref.ref(counter))
        return counter

    def tally(self, counter: PodCounter, topology_key: str) -> DomainTally:
        """The counter summed over all nodes of each value of a label key; shared by all who ask."""
        tally = counter.tallies.get(topology_key)
        if tally is None:
            tally = counter.tallies[topology_key] = DomainTally(counter, self._table.labels(topology_key))
        return tally

    def count(self, pod: PodInfo, row: int, sign: int) -> None:
        """A pod came to (sign 1) or left (-1) a row."""
        label_class = pod.shape.label_class
        self._note(label_class, row, sign, terminating=pod.terminating)
        self._add(label_class.counters.of(self._made, label_class), row, sign, terminating=pod.terminating)
        self._count_terms(pod.shape.terms, row, sign)

    def recount(self, old: PodInfo, new: PodInfo, row: int) -> None:
        """A pod on a row has other labels, or other terms; whether it is terminating has not changed."""
        before, after = old.shape.label_class, new.shape.label_class
        if before is not after:
            self._note(before, row, -1, terminating=old.terminating)
            self._note(after, row, 1, terminating=new.terminating)
            left, joined = before.counters.of(self._made, before), after.counters.of(self._made, after)
            self._add([made for made in left if made not in joined], row, -1, terminating=old.terminating)
            self._add([made for made in joined if made not in left], row, 1, terminating=new.terminating)
        if old.shape.terms != new.shape.terms:
            self._count_terms(old.shape.terms, row, -1)
            self._count_terms(new.shape.terms, row, 1)

    def _add(self, counters: list[weakref.ref[MatchCounter]], row: int, sign: int, *, terminating: bool) -> None:
        for made in counters:
            counter = made()
            if counter is not None and (counter.terminating or not terminating):
                counter.add(row, sign)

    def _count_terms(self, terms: PodTerms, row: int, sign: int) -> None:
        if terms is NO_TERMS:  # as of most pods
            return
        for term in terms.required:
            self._hold(REQUIRED, term, 1).counter.add(row, sign)
        for term in terms.required_anti:
            self._hold(REQUIRED_ANTI, term, 1).counter.add(row, sign)
        for term, weight in terms.preferred:
            self._hold(PREFERRED, term, weight).counter.add(row, sign)

    def _note(self, label_class: LabelClass, row: int, sign: int, *, terminating: bool) -> None:
        there = self._there.get(label_class)
        if there is None:
            there = self._there[label_class] = ({}, {})
            for key, by_value in self._by_key.items():
                _enter(by_value, label_class, key)
        rows = there[terminating]
        pods = rows.get(row, 0) + sign
        if pods:
            rows[row] = pods
            return
        del rows[row]
        if not there[0] and not there[1]:
            self._leave(label_class)

    def _leave(self, label_class: LabelClass) -> None:
        """No pod of the class is left."""
        del self._there[label_class]
        for key, by_value in self._by_key.items():
            value = label_class.labels.get(key)
            if value is not None:
                del by_value[value][label_class]
                if not by_value[value]:
                    del by_value[value]

    def _having(self, key: str, value: str) -> Iterable[LabelClass]:
        """The classes with that label which are there."""
        by_value = self._by_key.get(key)
        if by_value is None:
            by_value = self._by_key[key] = {}
            for label_class in self._there:
                _enter(by_value, label_class, key)
        return by_value.get(value, ())

    def _hold(self, kind: str, term: PodTerm, weight: int) -> HeldTerm:
        terms = self.held[kind]
        held = terms.get((term, weight))
        if held is None:
            if len(terms) >= self._prune_at:
                for key in [key for key, old in terms.items() if not old.counter.total]:
                    del terms[key]
                self._terms[kind].renew(list(terms.values()))
                self._prune_at = max(_FEW, 2 * len(terms))
            held = terms[term, weight] = HeldTerm(term, weight)
            self._terms[kind].add(held)
        return held

    def held_matching(self, kind: str, label_class: LabelClass) -> list[HeldTerm]:
        """The terms of one kind, carried by pods that are there, that match pods of a label class."""
        found = label_class.held.get(kind)
        if found is None:
            found = label_class.held[kind] = Found()
        matching = found.of(self._terms[kind], label_class, self.namespaces_version)
        return [held for held in matching if held.counter.total]

    def _concerns(self, held: HeldTerm, label_class: LabelClass) -> bool:
        labels = self.namespace_labels.get(label_class.namespace, {})
        return held.term.matches(label_class.namespace, labels, label_class.labels)

    def snapshot(self) -> dict[Hashable, dict[int, int]]:
        """All counts that aren't zero, for comparison with a count from scratch."""
        counters: dict[Hashable, PodCounter] = dict(self._match.items())
        for kind, terms in self.held.items():
            counters.update({(kind, *key): held.counter for key, held in terms.items()})
        size = self._table.size
        counts = {key: counter.per_node(size) for key, counter in counters.items()}
        return {key: {int(r): int(c[r]) for r in np.flatnonzero(c)} for key, c in counts.items()}


def _enter(by_value: dict[str, dict[LabelClass, None]], label_class: LabelClass, key: str) -> None:
    value = label_class.labels.get(key)
    if value is not None:
        by_value.setdefault(value, {})[label_class] = None


def _label(made: weakref.ref[MatchCounter]) -> Label | None:
    counter = made()
    return None if counter is None else counter.label


def _label_of_term(held: HeldTerm) -> Label | None:
    return held.term.selector.label


def _counts(made: weakref.ref[MatchCounter], label_class: LabelClass) -> bool:
    counter = made()
    return counter is not None and counter.matches(label_class)
