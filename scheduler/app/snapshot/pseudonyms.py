"""Other names for all that has one, the same for the same, by kind of thing and in the order of the real ones."""

from __future__ import annotations

from collections import Counter
from typing import Final, Protocol

NODE: Final = "node"
NAMESPACE: Final = "namespace"
POD: Final = "pod"
CLAIM: Final = "claim"
DISK: Final = "vol"
IMAGE: Final = "image"
KEY: Final = "key"
REGION: Final = "region"
VALUE: Final = "value"
ZONE: Final = "zone"
ZONE_PART: Final = "zonepart"

Part = tuple[str, str]
"""A kind of thing and a name of it; or "" and a text that stays as it is."""


class Names(Protocol):
    """What a name is to be written as."""

    def name(self, kind: str, real: str) -> str:
        """The name to write; "" stays ""."""

    def made_of(self, kind: str, real: str, *parts: Part) -> str:
        """The name to write for one that others are in: it is made of theirs."""

    def number(self, key: str) -> None:
        """Integers that are values of this label are compared as numbers."""

    def keeps(self, key: str, value: str) -> bool:
        """Whether a label's value stays as it is, since it is a number that others are compared with."""

    def knows(self, kind: str, real: str) -> bool:
        """Whether there is anything of this kind and name."""


class Collected:
    """Gathers all names, and changes none; then makes pseudonyms of them."""

    def __init__(self) -> None:
        self._names: dict[str, set[str]] = {}
        self._composed: dict[tuple[str, str], tuple[Part, ...]] = {}
        self._numbers: set[str] = set()

    def name(self, kind: str, real: str) -> str:
        """Notes the name."""
        self._names.setdefault(kind, set()).add(real)
        return real

    def made_of(self, kind: str, real: str, *parts: Part) -> str:
        """Notes what the name is made of."""
        self._composed[kind, real] = parts
        for part_kind, text in parts:
            if part_kind:
                self.name(part_kind, text)
        return real

    def number(self, key: str) -> None:
        """Notes the key."""
        self._numbers.add(key)

    def keeps(self, key: str, value: str) -> bool:  # noqa: ARG002 (the protocol's)
        """None is known to stay as it is yet."""
        return False

    def knows(self, kind: str, real: str) -> bool:
        """Whether there is one so far."""
        return real in self._names.get(kind, ())

    def pseudonyms(self) -> Pseudonyms:
        """Numbered by kind in the order of the real names, so that whatever goes by name goes the same way."""
        made: dict[tuple[str, str], str] = {}
        for kind, names in self._names.items():
            width = len(str(len(names)))
            separator = "" if kind in _WITHOUT_DASH else "-"
            for number, real in enumerate(sorted(names), 1):
                made[kind, real] = f"{kind}{separator}{number:0{width}}"
        for kind, real in self._composed:
            self._compose(made, kind, real)
        return Pseudonyms(made, self._numbers)

    def _compose(self, made: dict[tuple[str, str], str], kind: str, real: str) -> str:
        parts = self._composed.get((kind, real))
        if parts is not None:
            texts = [self._compose(made, part, text) if part else text for part, text in parts]
            made[kind, real] = "".join(texts)
        return made[kind, real]


_WITHOUT_DASH: Final = frozenset({ZONE, ZONE_PART})
"""Of a zone's name the dashes are counted, to tell its region."""


class Pseudonyms:
    """Gives each name its pseudonym."""

    def __init__(self, made: dict[tuple[str, str], str], numbers: set[str]) -> None:
        self._made = made
        self._numbers = numbers

    def name(self, kind: str, real: str) -> str:
        """The pseudonym."""
        return self._made[kind, real] if real else ""

    def made_of(self, kind: str, real: str, *parts: Part) -> str:  # noqa: ARG002 (the protocol's)
        """The pseudonym."""
        return self.name(kind, real)

    def number(self, key: str) -> None:
        """Nothing is to be noted any more."""

    def keeps(self, key: str, value: str) -> bool:
        """Whether it is an integer, and the label's integers are compared."""
        return key in self._numbers and value.removeprefix("-").removeprefix("+").isdecimal()

    def knows(self, kind: str, real: str) -> bool:
        """Whether there was one."""
        return (kind, real) in self._made

    def by_kind(self) -> dict[str, dict[str, str]]:
        """Real names to pseudonyms by kind, to be kept by those whose names they are."""
        found: dict[str, dict[str, str]] = {}
        for (kind, real), pseudonym in sorted(self._made.items()):
            found.setdefault(kind, {})[real] = pseudonym
        return found

    def counts(self) -> Counter[str]:
        """How many names there are of each kind."""
        return Counter(kind for kind, _ in self._made)
