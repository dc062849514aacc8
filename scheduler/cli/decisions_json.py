"""The decisions of `berth simulate` as JSON, written piece by piece.

With 5,000 nodes a decision comes to a third of a megabyte, nearly all of it a few hundred values by node of which few
differ. Each of them is put into words once, and no more than one decision is there as text at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from scheduler.app.decisions import PodDecision

_STEP: Final = b"  "
_DECISION: Final = _STEP * 2
_FIELD: Final = _STEP * 3
_NODE: Final = _STEP * 4


def json_texts(
    decisions: Sequence[PodDecision], changes: Sequence[str], value: Callable[[PodDecision], dict[str, Any]]
) -> Iterator[bytes]:
    """The pieces of a document of the changes, where there are any, and the decisions.

    `value` makes a decision one of plain dicts and lists, with the nodes in `feasible` and `infeasible`.
    """
    writer = _Writer(value)
    yield b"{\n"
    if changes:
        yield b'%s"changes": %s,\n' % (_STEP, _text(list(changes), _STEP))
    yield b'%s"decisions": [' % _STEP
    between = b"\n"
    for decision in decisions:
        yield between
        yield from writer.decision(decision)
        between = b",\n"
    yield b"\n%s]\n}\n" % _STEP if decisions else b"]\n}\n"


class _Writer:
    """Keeps the texts of node names, and of the values that are the same object for many nodes and decisions."""

    def __init__(self, value: Callable[[PodDecision], dict[str, Any]]) -> None:
        self._value = value
        self._names: dict[str, bytes] = {}
        self._texts: dict[int, bytes] = {}

    def decision(self, decision: PodDecision) -> Iterator[bytes]:
        """One decision, without a line break at the end."""
        record = decision.record
        rest = self._value(replace(decision, record=replace(record, feasible={}, infeasible={})))
        by_node: dict[str, Mapping[str, Any]] = {"feasible": record.feasible, "infeasible": record.infeasible}
        before = b"%s{\n" % _DECISION
        for name, item in rest.items():
            yield b'%s%s"%s": ' % (before, _FIELD, name.encode())
            nodes = by_node.get(name)
            yield _text(item, _FIELD) if not nodes else self._by_node(nodes)
            before = b",\n"
        yield b"\n%s}" % _DECISION

    def _by_node(self, values: Mapping[str, Any]) -> bytes:
        parts: list[bytes] = [b""] * (2 * len(values))
        parts[::2] = self._heads(values)
        parts[1::2] = self._items(values.values())
        parts[0] = b"{%s" % parts[0].removeprefix(b",")
        parts.append(b"\n%s}" % _FIELD)
        return b"".join(parts)

    def _heads(self, names: Iterable[str]) -> list[bytes]:
        """What comes before the value of each node."""
        known = self._names
        try:
            return list(map(known.__getitem__, names))
        except KeyError:
            for name in names:
                known[name] = b",\n%s%s: " % (_NODE, _text(name, b""))
            return list(map(known.__getitem__, names))

    def _items(self, items: Collection[Any]) -> list[bytes]:
        known = self._texts
        try:
            return list(map(known.__getitem__, map(id, items)))
        except KeyError:
            for item in items:
                if id(item) not in known:
                    known[id(item)] = _text(item, _NODE)
            return list(map(known.__getitem__, map(id, items)))


def _text(value: Any, indent: bytes) -> bytes:
    """A value as it stands behind its key, where the line that it begins in is indented so far."""
    text = msgspec.json.format(msgspec.json.encode(value), indent=len(_STEP))
    return text.replace(b"\n", b"\n%s" % indent)
