"""Nodes picked by label selectors as kubectl writes them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from scheduler.api.selectors import DOES_NOT_EXIST, EXISTS, IN, NOT_IN, Selector, SelectorError, new_requirement
from scheduler.app.whatif.world import ChangeError, find_nodes, near

if TYPE_CHECKING:
    from scheduler.api.objects import Node
    from scheduler.app.whatif.world import World

_SET: Final = re.compile(r"\s*([^\s!=(),]+)\s+(in|notin)\s+\(([^()]*)\)\s*")
_EQUAL: Final = re.compile(r"\s*([^\s!=(),]+)\s*(==|!=|=)\s*([^\s!=(),]*)\s*")
_EXISTS: Final = re.compile(r"\s*(!?)\s*([^\s!=(),]+)\s*")
_OPERATORS: Final = {"in": IN, "notin": NOT_IN, "=": IN, "==": IN, "!=": NOT_IN}
_SIGNS: Final = re.compile(r"[=!(]")


def matches(world: World, nodes: str) -> list[Node]:
    """The nodes by name, by glob or, where there is an = or !, by label selector. Raises ChangeError for none."""
    if not _SIGNS.search(nodes):
        return find_nodes(world, nodes)
    selector = parse_selector(nodes)
    found = [node for node in world.nodes.values() if selector.matches(node.metadata.labels)]
    if not found:
        keys = {key for node in world.nodes.values() for key in node.metadata.labels}
        unknown = [requirement.key for requirement in selector.requirements if requirement.key not in keys]
        hint = near(unknown[0], sorted(keys)) if unknown else ""
        raise ChangeError(f"no node has labels that match {nodes!r}{hint}")
    return found


def parse_selector(text: str) -> Selector:
    """A selector as kubectl -l takes it: "a=b,c!=d,e in (f,g),h,!i". Raises ChangeError."""
    requirements = []
    place = 0
    while place < len(text):
        if match := _SET.match(text, place):
            key, operator, listed = match.groups()
            values = tuple(value.strip() for value in listed.split(","))
        elif match := _EQUAL.match(text, place):
            key, operator, value = match.groups()
            values = (value,)
        elif match := _EXISTS.match(text, place):
            operator, key, values = (DOES_NOT_EXIST if match[1] else EXISTS), match[2], ()
        else:
            raise ChangeError(f"{text!r} is no label selector: see {text[place:]!r}")
        place = match.end()
        if place < len(text):
            if text[place] != ",":
                raise ChangeError(f"{text!r} is no label selector: a comma is missing before {text[place:]!r}")
            place += 1
        try:
            requirements.append(new_requirement(key, _OPERATORS.get(operator, operator), values))
        except SelectorError as problem:
            raise ChangeError(f"{text!r} is no label selector: {problem}") from problem
    return Selector(tuple(requirements))
