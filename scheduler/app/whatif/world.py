"""The objects of a cluster while changes are made to them."""

from __future__ import annotations

import difflib
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from scheduler.api.objects import Node, Pod
from scheduler.api.resources import resource_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scheduler.api.meta import Model
    from scheduler.app.whatif.workloads import Workload

    ModelT = TypeVar("ModelT", bound=Model)

Key = tuple[str, str]
"""Namespace ("" for kinds that have none) and name."""


class ChangeError(ValueError):
    """A change that can't be made to this cluster; the text says why, and what was perhaps meant."""


class Change(Protocol):
    """One change of a cluster."""

    def apply(self, world: World) -> str:
        """Make it; what was done, in a few words. Raises ChangeError, and then nothing was changed."""


class World:
    """Objects by kind and name, in the order of their coming, with the workloads that pods can be made from.

    `now` is the time as seconds since the epoch, for what goes by age.
    """

    def __init__(self, objects: Iterable[Model], workloads: Iterable[Workload] = (), *, now: float = 0.0) -> None:
        self._kinds: dict[type[Model], dict[Key, Any]] = {}
        self.workloads = list(workloads)
        self.now = now
        self._made = 0
        self._numbers: dict[tuple[type[Model], str, str], int] = {}
        for item in objects:
            self.put(item)

    @property
    def nodes(self) -> Mapping[Key, Node]:
        """The nodes; their namespace is ""."""
        return self.of(Node)

    @property
    def pods(self) -> Mapping[Key, Pod]:
        """All pods."""
        return self.of(Pod)

    def of(self, kind: type[ModelT]) -> dict[Key, ModelT]:
        """The objects of a kind."""
        return self._kinds.setdefault(kind, {})

    def objects(self) -> list[Model]:
        """All objects, kind by kind."""
        return [item for kind in self._kinds.values() for item in kind.values()]

    def put(self, item: Model) -> None:
        """Add an object, or put it in the place of the one of its name."""
        self.of(type(item))[key_of(item)] = item

    def put_last(self, item: Model) -> None:
        """Add an object behind all others of its kind, where it will be looked at last."""
        kind = self.of(type(item))
        kind.pop(key_of(item), None)
        kind[key_of(item)] = item

    def drop(self, item: Model) -> None:
        """Remove an object."""
        del self.of(type(item))[key_of(item)]

    def uid(self) -> str:
        """A uid that no other object has."""
        self._made += 1
        return f"what-if-{self._made:06}"

    def free_name(self, kind: type[Model], namespace: str, stem: str) -> str:
        """A name that no object of the kind has: the stem with the next number that is free."""
        taken = self.of(kind)
        number = self._numbers.get((kind, namespace, stem), 0) + 1
        while (namespace, f"{stem}-{number}") in taken:
            number += 1
        self._numbers[kind, namespace, stem] = number
        return f"{stem}-{number}"


def key_of(item: Model) -> Key:
    """Where an object is kept."""
    metadata: Any = item.metadata  # type: ignore[attr-defined]  # every kind has it; their base class does not say so
    return ((metadata.namespace or "default") if resource_of(type(item)).namespaced else "", metadata.name)


def find_nodes(world: World, pattern: str) -> list[Node]:
    """The nodes of this name, or those whose names a glob ("pool-a-*") matches.

    Raises ChangeError where there are none, with the names that come near.
    """
    if (node := world.nodes.get(("", pattern))) is not None:
        return [node]
    found = [node for (_, name), node in world.nodes.items() if fnmatchcase(name, pattern)]
    if not found:
        names = [name for _, name in world.nodes]
        is_glob = any(sign in pattern for sign in "*?[")
        problem = f"no node's name matches {pattern!r}" if is_glob else f"there is no node {pattern!r}"
        raise ChangeError(problem + near(pattern, names))
    return found


def near(name: str, known: Iterable[str]) -> str:
    """A question about the names that come near ("; did you mean a, b or c?"), else what there is, or ""."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    close = close or [each for each in names if name.strip("*") and name.strip("*") in each][:3]
    if close:
        listed = ", ".join(close[:-1]) + (" or " if len(close) > 1 else "") + close[-1]
        return f"; did you mean {listed}?"
    if not names:
        return "; there is none at all"
    shown = ", ".join(names[:5])
    return f"; there is {shown}" if len(names) <= 5 else f"; there is {shown}, and {len(names) - 5} more"
