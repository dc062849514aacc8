"""Keeps a process that leads no more from writing, however late it learns of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scheduler.client.dispatcher import Dispatcher
from scheduler.client.errors import BindError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence

    from scheduler.api.objects import PodCondition
    from scheduler.client.http import Session


class NotLeadingError(BindError):
    """The pod is the next leader's to bind."""

    def __init__(self) -> None:
        super().__init__("this process does not hold the lease any more")


async def _refuse() -> Any:
    raise NotLeadingError


class FencedDispatcher(Dispatcher):
    """A dispatcher that begins no bind, deletion or patch of a pod unless `leads` says yes at that moment.

    A process that was suspended for longer than its lease goes on where it stopped, before any timer tells it that
    the lease is lost. `leads` compares clocks, so it knows.
    """

    def __init__(self, session: Session, *, leads: Callable[[], bool], **settings: Any) -> None:
        super().__init__(session, **settings)
        self._leads = leads

    def bind(self, namespace: str, name: str, uid: str, node: str) -> Coroutine[Any, Any, None]:
        """Bind a pod. Raises NotLeadingError, and what Dispatcher raises."""
        return super().bind(namespace, name, uid, node) if self._leads() else _refuse()

    def delete_pod(self, namespace: str, name: str, uid: str) -> Coroutine[Any, Any, bool]:
        """Delete a pod; whether it was there. Raises NotLeadingError, and what Dispatcher raises."""
        return super().delete_pod(namespace, name, uid) if self._leads() else _refuse()

    def patch_pod_status(
        self,
        namespace: str,
        name: str,
        uid: str,
        *,
        conditions: Sequence[PodCondition] = (),
        nominated_node_name: str | None = None,
    ) -> None:
        """Patch a pod's status; dropped where this process does not lead."""
        if self._leads():
            super().patch_pod_status(
                namespace, name, uid, conditions=conditions, nominated_node_name=nominated_node_name
            )

    async def annotate_pod(
        self, namespace: str, name: str, uid: str, change: Callable[[Mapping[str, str]], Mapping[str, str | None]]
    ) -> bool:
        """Change a pod's annotations; False, with nothing written, where this process does not lead."""
        return self._leads() and await super().annotate_pod(namespace, name, uid, change)
