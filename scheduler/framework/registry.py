"""Finding the plugins of users: installed packages name theirs in the entry-point group `berth.plugins`.

A package's pyproject.toml says

    [project.entry-points."berth.plugins"]
    LowPrice = "berth_low_price:make"

where `make(args, handle)` is a factory as in `scheduler.framework.handle`, and the name is the one that the
configuration uses. The package is imported only once a profile enables the plugin.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from scheduler.framework.interface import Plugin

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scheduler.framework.handle import Factory, Handle

GROUP: Final = "berth.plugins"

T = TypeVar("T")


def discover(in_tree: Mapping[str, Factory], found: Iterable[EntryPoint] | None = None) -> dict[str, Factory]:
    """The plugins in tree and those of installed packages (`found`, or all there are), by name.

    Raises ValueError where two plugins have one name.
    """
    factories = dict(in_tree)
    sources: dict[str, EntryPoint] = {}
    for entry in entry_points(group=GROUP) if found is None else found:
        if entry.name in in_tree:
            raise ValueError(f'{_origin(entry)}: plugin "{entry.name}" has the name of one of Berth\'s own; rename it')
        other = sources.get(entry.name)
        if other is not None and (other.value, _package(other)) != (entry.value, _package(entry)):
            raise ValueError(
                f'plugin "{entry.name}" is there twice, from {_origin(other)} and from {_origin(entry)}; uninstall one'
            )
        sources[entry.name] = entry
        factories[entry.name] = _factory(entry)
    return factories


def arguments(args: Any, kind: type[T]) -> T:
    """The arguments of a plugin as its own type, with that type's defaults where the configuration gives none.

    `args` is what a factory is given. Raises ValueError that names the field; give the type `forbid_unknown_fields`
    to refuse those.
    """
    try:
        return msgspec.convert({} if args is None else args, kind)
    except msgspec.ValidationError as problem:
        raise ValueError(f"args: {problem}") from problem


def _factory(entry: EntryPoint) -> Factory:
    def make(args: Any, handle: Handle) -> Plugin:
        try:
            factory = entry.load()
        except (ImportError, AttributeError) as problem:
            raise ValueError(f"{_origin(entry)} can't be loaded: {problem}") from problem
        if not callable(factory):
            raise ValueError(f"{_origin(entry)} is not a function that makes the plugin")
        plugin = factory(args, handle)
        if not isinstance(plugin, Plugin):
            raise ValueError(f"{_origin(entry)} made a {type(plugin).__name__}, which is no plugin")
        if plugin.name != entry.name:
            raise ValueError(f'{_origin(entry)} made a plugin that calls itself "{plugin.name}"')
        return plugin

    return make


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else ""


def _origin(entry: EntryPoint) -> str:
    package = _package(entry)
    where = f" of package {package}" if package else ""
    return f'entry point "{entry.name} = {entry.value}" (group {GROUP}){where}'
