"""Joins ES modules into one script, so that a document can carry them inline.

The sources stay ordinary modules, which editors and browsers understand. They keep to a small part of the language's
module syntax: every import names what it takes from a file of the same folder, on one line; every export is a
declaration. A module becomes a function that is called once and gives what it exports, so that names stay its own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_IMPORT: Final = re.compile(r'^import \{ ([\w$, ]+) \} from "\./([\w.-]+)";$')
_EXPORT: Final = re.compile(r"^export ((?:async )?(?:function|const|class) ([\w$]+).*)$")
_ENDS_SCRIPT: Final = re.compile(r"</script|<!--|<script", re.IGNORECASE)


class BundleError(ValueError):
    """Modules that can't be joined; says which and why."""


def bundle(modules: Mapping[str, str], entry: str) -> str:
    """The modules that `entry` needs, by file name, each after those that it imports from.

    Raises BundleError for a module that is missing, that imports itself in a circle or takes what is not exported, for
    other forms of import and export, and for what would end or confuse a script element.
    """
    order: list[str] = []
    _visit(entry, modules, order, ())
    exported: dict[str, list[str]] = {}
    parts = []
    for number, name in enumerate(order):
        body, exported[name] = _body(name, modules[name], exported, order)
        given = f"  return {{ {', '.join(exported[name])} }};\n" if exported[name] else ""
        parts.append(f"// {name}\nconst module{number} = (() => {{\n{body.strip()}\n{given}}})();\n")
    return "\n".join(parts)


def _visit(name: str, modules: Mapping[str, str], order: list[str], path: tuple[str, ...]) -> None:
    if name in order:
        return
    if name in path:
        raise BundleError(f"{name} imports itself: {' -> '.join([*path, name])}")
    if name not in modules:
        raise BundleError(f"there is no module {name}" + (f", which {path[-1]} imports from" if path else ""))
    for line in modules[name].splitlines():
        if found := _IMPORT.match(line):
            _visit(found[2], modules, order, (*path, name))
    order.append(name)


def _body(name: str, text: str, exported: Mapping[str, list[str]], order: list[str]) -> tuple[str, list[str]]:
    """A module's lines with its imports as constants, and the names that it exports."""
    if found := _ENDS_SCRIPT.search(text):
        raise BundleError(f"{name}: {found[0]} can't be in a script element")
    lines: list[str] = []
    exports: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if taken := _IMPORT.match(line):
            names = [item.strip() for item in taken[1].split(",")]
            if missing := set(names).difference(exported[taken[2]]):
                raise BundleError(f"{name}:{number}: {taken[2]} does not export {', '.join(sorted(missing))}")
            lines.append(f"const {{ {', '.join(names)} }} = module{order.index(taken[2])};")
        elif given := _EXPORT.match(line):
            exports.append(given[2])
            lines.append(given[1])
        elif re.match(r"(import|export)\b", line):
            raise BundleError(f"{name}:{number}: this form can't be joined: {line}")
        else:
            lines.append(line)
    return "\n".join(lines), exports
