"""Values printed as JSON or YAML."""

from __future__ import annotations

from typing import Any

import msgspec
import yaml

_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_DUMPER):  # type: ignore[misc]  # the quick dumper where PyYAML has it
    """Writes equal values out each time, without anchors."""

    def ignore_aliases(self, _data: Any) -> bool:
        """Never refer back."""
        return True


def as_json(value: Any) -> str:
    """A struct, or plain values, as JSON with a newline at the end."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n"


def as_yaml(value: Any) -> str:
    """The same as YAML."""
    plain = msgspec.to_builtins(value)
    text: str = yaml.dump(plain, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=2**20)
    return text
