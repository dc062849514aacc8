"""A request in HTTP/2 that is under way, and what may become of it besides an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

    from scheduler.client.answers import Answer

__all__ = ["StaleError", "Stream", "UnprocessedError"]


class UnprocessedError(Exception):
    """The server has certainly not acted on a request: it may be sent again on another connection."""


class StaleError(Exception):
    """The connection had been closed by the server when it was used again."""


class Stream:
    """A request under way: its answer as far as it has come, and what of its body waits to be sent."""

    __slots__ = (
        "answer",
        "began_at",
        "deadline",
        "number",
        "pieces",
        "received",
        "retry_after",
        "status",
        "unsent",
        "window",
    )

    def __init__(
        self, number: int, answer: asyncio.Future[Answer], began_at: float, deadline: float, window: int
    ) -> None:
        self.number = number
        self.answer = answer
        self.began_at = began_at
        self.deadline = deadline
        self.window = window
        self.unsent = b""
        self.status = 0
        self.retry_after = ""
        self.pieces: list[bytes] = []
        self.received = 0

    def fail(self, problem: Exception) -> None:
        """There will be no answer."""
        if not self.answer.done():
            self.answer.set_exception(problem)
