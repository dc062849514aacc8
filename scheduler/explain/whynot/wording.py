"""Numbers, amounts and lists as people write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scheduler.api.resource_names import CPU, EPHEMERAL_STORAGE, MEMORY, is_huge_pages
from scheduler.api.topology_labels import HOSTNAME_LABEL, REGION_LABEL, ZONE_LABEL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.api.objects import Taint

_WORDS: Final = {CPU: "CPU", EPHEMERAL_STORAGE: "ephemeral storage"}
_UNITS: Final = ((2**40, "Ti"), (2**30, "Gi"), (2**20, "Mi"), (2**10, "Ki"))
_COARSE: Final = 16
"""From so many units on what is below them is rounded away."""
_SHORT_KEYS: Final = {
    ZONE_LABEL: "zone",
    REGION_LABEL: "region",
    HOSTNAME_LABEL: "hostname",
}
_FEW: Final = 4


def resource_word(name: str) -> str:
    """The resource in a sentence."""
    return _WORDS.get(name, name)


def quantity(resource: str, amount: int, *, up: bool = False) -> str:
    """An amount (milli-CPU, bytes, counts) as a Kubernetes quantity; odd bytes are rounded, down unless `up`."""
    if resource == CPU:
        return str(amount // 1000) if amount % 1000 == 0 else f"{amount}m"
    if resource not in (MEMORY, EPHEMERAL_STORAGE) and not is_huge_pages(resource):
        return str(amount)
    for size, unit in _UNITS:
        if amount and amount % size == 0:
            return f"{amount // size}{unit}"
        if size <= 2**20 and abs(amount) >= _COARSE * size:
            return f"{-(-amount // size) if up else amount // size}{unit}"
    return str(amount)


def rounded_up(resource: str, amount: int) -> int:
    """The amount that `quantity(..., up=True)` writes."""
    if resource not in (MEMORY, EPHEMERAL_STORAGE) and not is_huge_pages(resource):
        return amount
    for size, _ in _UNITS:
        if amount % size == 0:
            return amount
        if size <= 2**20 and amount >= _COARSE * size:
            return -(-amount // size) * size
    return amount


def count(number: int, one: str, many: str = "") -> str:
    """ "1 node", "3 nodes"."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def listed(items: Sequence[str], *, word: str = "and", most: int = _FEW) -> str:
    """ "a", "a and b", "a, b and c", "a, b, c and 7 more"."""
    shown = list(items[:most])
    more = len(items) - len(shown)
    if more == 1:  # one more takes no more room than saying so
        shown, more = list(items), 0
    if more:
        return f"{', '.join(shown)} {word} {more} more" if word == "and" else f"{', '.join(shown)} or {more} others"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {word} {shown[-1]}" if shown else "none"


def any_of(nodes: Sequence[str]) -> str:
    """ "n1", "n1 or n2", "any of 12 nodes (n1, n2, ...)"."""
    if len(nodes) <= _FEW - 1:
        return listed(nodes, word="or")
    return f"any of {len(nodes)} nodes ({', '.join(nodes[:3])}, ...)"


def opens(nodes: Sequence[str]) -> str:
    """ "opens n1", "opens n1 and n2", "opens 4 nodes (n1, n2, ...)"."""
    if len(nodes) <= _FEW - 1:
        return f"opens {listed(nodes)}"
    return f"opens {len(nodes)} nodes ({', '.join(nodes[:3])}, ...)"


def nothing(nodes: Sequence[str]) -> str:
    """What is said of the nodes where the change has named them."""
    del nodes
    return ""


def open_(nodes: Sequence[str]) -> str:
    """The same of several things: "open n1 and n2"."""
    return opens(nodes).replace("opens", "open", 1)


def taint_text(taint: Taint) -> str:
    """A taint as kubectl writes it."""
    return f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"


def key_word(topology_key: str) -> str:
    """A topology key in a sentence: the well-known ones by their last part."""
    return _SHORT_KEYS.get(topology_key, topology_key)


def selector_text(text: str) -> str:
    """What a selector picks."""
    return text or "all pods"
