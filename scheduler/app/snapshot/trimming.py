"""Objects as JSON values with nothing in them but what scheduling reads, under other names where that is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec
from msgspec import inspect

from scheduler.api.claims import BETA_CLASS, BIND_COMPLETED, BOUND_BY_CONTROLLER, SELECTED_NODE
from scheduler.api.csi_migration import MIGRATED_PLUGINS
from scheduler.app.whatif.pods import DELETION_COST, MIRROR

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.api.meta import Model

Rename: TypeAlias = Callable[[Any, Any], Any]
"""(the struct that has the field, the field's value) to the value to write."""

ANNOTATIONS: Final = frozenset(
    {BETA_CLASS, BIND_COMPLETED, BOUND_BY_CONTROLLER, SELECTED_NODE, MIGRATED_PLUGINS, DELETION_COST, MIRROR}
)
"""The annotations that decisions, or what is tried beforehand, depend on. Others may hold anything."""

LEFT_OUT: Final = frozenset(
    {
        "AzureFileVolumeSource.secret_name",
        "AzureFileVolumeSource.secret_namespace",
        "AzureFileVolumeSource.share_name",
        "CSINodeDriver.node_id",
        "ContainerPort.name",
        "NodeCondition.reason",
        "NodeSpec.provider_id",
        "ObjectMeta.resource_version",
        "ObjectReference.resource_version",
        "PodCondition.message",
        "StorageClass.parameters",
        "Taint.time_added",
        "VsphereVirtualDiskVolumeSource.storage_policy_id",
        "VsphereVirtualDiskVolumeSource.storage_policy_name",
    }
)
"""Fields ("Type.field") that are decoded, but on which no decision depends."""


class Trimmer:
    """Makes JSON values of objects. What a field holds by default is not written.

    `renames` changes values by field ("Type.field"); without it they are written as they are.
    """

    def __init__(self, renames: Mapping[str, Rename] | None = None) -> None:
        self._renames = renames or {}
        self._plans: dict[type[msgspec.Struct], list[_Step]] = {}

    def value(self, item: Model) -> dict[str, Any]:
        """The fields of an object, without apiVersion and kind."""
        return self._trimmed(item)

    def _trimmed(self, item: msgspec.Struct) -> dict[str, Any]:
        found: dict[str, Any] = {}
        plan = self._plans.get(type(item))
        for name, written, default, nested, rename in plan if plan is not None else self._plan(type(item)):
            value = getattr(item, name)
            if value == default:
                continue
            if nested:
                value = list(map(self._trimmed, value)) if type(value) is tuple else self._trimmed(value)
            elif rename is not None:
                value = rename(item, value)
                if value == default:
                    continue
            found[written] = value
        return found

    def _plan(self, type_: type[msgspec.Struct]) -> list[_Step]:
        steps = self._plans[type_] = []
        for field in struct_fields(type_):
            path = f"{type_.__name__}.{field.name}"
            if path in LEFT_OUT:
                continue
            default = field.default
            if field.default_factory is not msgspec.NODEFAULT:
                default = field.default_factory()
            rename = self._renames.get(path)
            if path == "ObjectMeta.annotations":
                rename = _only_known(rename)
            steps.append((field.name, field.encode_name, default, is_nested(field.type), rename))
        return steps


_Step: TypeAlias = "tuple[str, str, Any, bool, Rename | None]"
"""Name in Python, name in JSON, default, whether structs are in it, and what to do with its value."""


def struct_fields(type_: type[msgspec.Struct]) -> tuple[inspect.Field, ...]:
    """The fields of a struct, described."""
    description = inspect.type_info(type_)
    assert isinstance(description, inspect.StructType)
    return description.fields


def is_nested(type_: inspect.Type) -> bool:
    """Whether a field holds a struct or a tuple of them."""
    bare = bare_type(type_)
    if isinstance(bare, inspect.VarTupleType):
        bare = bare_type(bare.item_type)
    return isinstance(bare, inspect.StructType)


def bare_type(type_: inspect.Type) -> inspect.Type:
    """The type without annotations, and without None."""
    while isinstance(type_, inspect.Metadata | inspect.UnionType):
        if isinstance(type_, inspect.Metadata):
            type_ = type_.type
        else:
            type_ = next(t for t in type_.types if not isinstance(t, inspect.NoneType))
    return type_


def _only_known(rename: Rename | None) -> Rename:
    def known(meta: Any, annotations: dict[str, str]) -> dict[str, str]:
        kept = {key: value for key, value in annotations.items() if key in ANNOTATIONS}
        return rename(meta, kept) if rename is not None else kept

    return known
