"""The records of past attempts, as those who show them see them; `store.RecordStore` keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from scheduler.explain.views import Decision, SummaryPage
    from scheduler.queue.history import HistoryEntry


class Records(Protocol):
    """The last attempts, and the last attempt of every pending pod. `id`s grow with time."""

    @property
    def bytes(self) -> int:
        """The memory that the records take."""

    def __len__(self) -> int:
        """How many records are kept."""

    def recent(
        self,
        limit: int = 100,
        *,
        before: int | None = None,
        pod: str = "",
        node: str = "",
        result: str = "",
        plugin: str = "",
    ) -> SummaryPage:
        """The newest attempts with an id below `before`, at most `limit`; every filter that is not "" must match.

        `pod` is "namespace/name", or a part of it; `node` the node that was chosen or nominated; `result` as in
        Summary; `plugin` one that turned the pod down.
        """

    def get(self, id: int) -> Decision | None:  # noqa: A002 (the field's name)
        """An attempt, whole; None if it is not kept any more."""

    def latest(self, namespace: str, name: str) -> Decision | None:
        """The last attempt of a pod, whole; None if none is kept."""

    def history(self, namespace: str, name: str) -> list[HistoryEntry]:
        """What happened in the queue to the pod of the last attempt under that name; empty if none is kept."""
