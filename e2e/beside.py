"""Work that goes on beside a test, on a thread of its own."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType

_PATIENCE = 30.0


class Beside(ABC):
    """Does its work while the context lasts: subclasses do it in ``work``, and come to an end once ``stop`` is set."""

    def __init__(self, name: str) -> None:
        self.stop = threading.Event()
        self._thread = threading.Thread(target=self.work, name=name, daemon=True)

    @abstractmethod
    def work(self) -> None:
        """The work."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop.set()
        self._thread.join(_PATIENCE)
