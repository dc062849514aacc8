"""Single fields of a configuration set by their paths, before it is read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import msgspec

from scheduler.app.whatif.world import ChangeError
from scheduler.app.yaml_text import YamlError, documents

if TYPE_CHECKING:
    from collections.abc import Sequence

_STEP: Final = re.compile(r"\.?([A-Za-z][A-Za-z0-9]*)|\[([^\[\]]+)\]")
_NAMES: Final = ("name", "schedulerName")
_SCHEDULER: Final = "default-scheduler"


class Setting(msgspec.Struct, frozen=True):
    """A path ("profiles[0].plugins.multiPoint.enabled[NodeAffinity].weight") and the value to be there."""

    steps: tuple[str | int, ...]
    value: Any
    text: str


def parse_setting(text: str) -> Setting:
    """PATH=VALUE, the value as YAML. Raises ChangeError."""
    path, separator, value = text.partition("=")
    steps: list[str | int] = []
    place = 0
    while place < len(path) and (match := _STEP.match(path, place)) is not None:
        name, inside = match.groups()
        steps.append(name if name is not None else int(inside) if inside.isdecimal() else f"[{inside}]")
        place = match.end()
    if not separator or not steps or place < len(path) or not isinstance(steps[0], str) or steps[0][0] == "[":
        example = "as in percentageOfNodesToScore=100 or profiles[0].plugins.multiPoint.enabled[NodeAffinity].weight=5"
        raise ChangeError(f"--set {text}: write PATH=VALUE, {example}")
    try:
        found = [item for _, item in documents(value)]
    except YamlError as problem:
        raise ChangeError(f"--set {text}: the value is no YAML: {problem.detail}") from problem
    return Setting(tuple(steps), found[0] if found else None, text)


def with_settings(config: dict[str, Any], settings: Sequence[Setting]) -> dict[str, Any]:
    """A copy of a configuration, as it is written in a file, with the fields set. Raises ChangeError."""
    changed: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(config, enc_hook=str))
    for setting in settings:
        _set(changed, setting)
    return changed


def _set(place: Any, setting: Setting) -> None:
    steps = setting.steps
    for index, step in enumerate(steps):
        last = index == len(steps) - 1
        following = None if last else steps[index + 1]
        if isinstance(step, str) and not step.startswith("["):
            if not isinstance(place, dict):
                raise ChangeError(f"--set {setting.text}: {_shown(steps[:index])} has no fields")
            if last:
                place[step] = setting.value
                return
            if place.get(step) is None:
                place[step] = {} if isinstance(following, str) and not following.startswith("[") else []
            place = place[step]
            continue
        if not isinstance(place, list):
            raise ChangeError(f"--set {setting.text}: {_shown(steps[:index])} is no list")
        number = _place(place, step, steps[:index], setting)
        if last:
            place[number] = setting.value
            return
        place = place[number]


def _place(items: list[Any], step: str | int, path: Sequence[str | int], setting: Setting) -> int:
    """Where in a list an item is; one that is missing is added, an unnamed one at the end only."""
    if isinstance(step, int):
        if step == len(items):
            items.append({"schedulerName": _SCHEDULER} if path == ("profiles",) and not items else {})
        if step >= len(items):
            raise ChangeError(
                f"--set {setting.text}: {_shown(path)} has {len(items)} items; the next is [{len(items)}]"
            )
        return step
    name = step[1:-1]
    for number, item in enumerate(items):
        if isinstance(item, dict) and name in [item.get(field) for field in _NAMES]:
            return number
    items.append({_NAMES[1] if path == ("profiles",) else _NAMES[0]: name})
    return len(items) - 1


def _shown(steps: Sequence[str | int]) -> str:
    text = "".join(f"[{s}]" if isinstance(s, int) else s if s.startswith("[") else f".{s}" for s in steps)
    return text.removeprefix(".") or "the configuration"
