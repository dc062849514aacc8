"""What every plugin's arguments have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import msgspec

if TYPE_CHECKING:
    from scheduler.config.errors import FieldError
    from scheduler.config.features import FeatureGates


class PluginArgs(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Base of arguments: immutable, JSON names, every field with the default for when it is absent.

    The JSON kind is the plugin's name followed by "Args".
    """

    def defaulted(self, gates: FeatureGates) -> Self:
        """These arguments with the defaults that depend on other fields or on feature gates."""
        del gates
        return self

    def validate(self, path: str, gates: FeatureGates) -> list[FieldError]:
        """What is wrong with these (defaulted) arguments, found at `path`; empty if nothing is."""
        del path, gates
        return []
