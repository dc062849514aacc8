"""Binding one pod, to a certain end: a bind whose answer was lost is resolved by reading the pod."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from scheduler.client.backoff import Backoff
from scheduler.client.errors import (
    ApiError,
    BindConflictError,
    BindTimeoutError,
    ConnectError,
    PodGoneError,
    TransportError,
)
from scheduler.client.kinds import PODS

if TYPE_CHECKING:
    import random
    from collections.abc import Awaitable

    from scheduler.client.http import Session

__all__ = ["BindSettings", "Binder", "binding_body"]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BindSettings:
    """Seconds for a request and for a whole bind; how often a bind is sent (as by kube-scheduler); delays between."""

    request_timeout: float = 30.0
    deadline: float = 120.0
    attempts: int = 4
    backoff_base: float = 0.05
    backoff_cap: float = 5.0


class _Meta(msgspec.Struct, rename="camel"):
    uid: str | None = ""


class _Spec(msgspec.Struct, rename="camel"):
    node_name: str | None = ""


class _Pod(msgspec.Struct):
    metadata: _Meta
    spec: _Spec = msgspec.field(default_factory=_Spec)


_pods = msgspec.json.Decoder(_Pod)


def binding_body(namespace: str, name: str, uid: str, node: str) -> bytes:
    """The Binding object. Its uid is a precondition: no other pod of the name is bound by mistake."""
    meta = {"name": name, "namespace": namespace, "uid": uid}
    target = {"kind": "Node", "name": node}
    return msgspec.json.encode({"apiVersion": "v1", "kind": "Binding", "metadata": meta, "target": target})


class Binder:
    """Sends binds and finds out what became of them. Holds no state between binds."""

    def __init__(
        self, session: Session, settings: BindSettings | None = None, *, rng: random.Random | None = None
    ) -> None:
        self._session = session
        self._settings = settings or BindSettings()
        self._rng = rng

    async def bind(self, namespace: str, name: str, uid: str, node: str) -> None:
        """Return when the pod is bound to ``node``; see ``interface.Writer.bind`` for the errors.

        While it is unknown whether the pod is bound (no request gets an answer) the call goes on, beyond the
        deadline if need be: giving up then would free room on a node that the pod may occupy.
        """
        settings = self._settings
        clock = asyncio.get_running_loop().time
        deadline = clock() + settings.deadline
        backoff: Backoff | None = None
        body = binding_body(namespace, name, uid, node)
        lost = False
        for attempt in range(1, settings.attempts + 1):
            try:
                await self._send(namespace, name, body)
                return
            except ConnectError as error:
                problem: Exception = error
            except TransportError as error:
                problem, lost = error, True
            except ApiError as error:
                if not (error.outcome_unknown or (lost and error.is_conflict)):
                    raise _refusal(error) from error
                problem, lost = error, lost or error.outcome_unknown
            if backoff is None:
                backoff = Backoff(settings.backoff_base, settings.backoff_cap, rng=self._rng)
            log.info("bind of %s/%s to %s, attempt %d: %s", namespace, name, node, attempt, problem)
            if lost and await self._is_bound(namespace, name, uid, node, backoff):
                return
            if attempt < settings.attempts and clock() < deadline:
                await asyncio.sleep(backoff.next())
                continue
            if isinstance(problem, ApiError):
                raise problem
            raise BindTimeoutError(f"pod {namespace}/{name} is not bound after {attempt} attempts: {problem}")

    def _send(self, namespace: str, name: str, body: bytes) -> Awaitable[bytes]:
        path = PODS.path(namespace, name, "binding")
        return self._session.request("POST", path, body=body, within=self._settings.request_timeout)

    async def _is_bound(self, namespace: str, name: str, uid: str, node: str, backoff: Backoff) -> bool:
        """Read the pod until an answer comes: True if it is bound to ``node``, False if it is unbound."""
        while True:
            try:
                body = await self._session.request(
                    "GET", PODS.path(namespace, name), within=self._settings.request_timeout
                )
                pod = _pods.decode(body)
                break
            except ApiError as error:
                if error.is_not_found:
                    raise PodGoneError(f'pods "{name}" not found') from error
                problem: Exception = error
            except (TransportError, msgspec.MsgspecError) as error:
                problem = error
            log.warning("pod %s/%s may be bound to %s, reading it failed: %s", namespace, name, node, problem)
            await asyncio.sleep(backoff.next())
        if pod.metadata.uid != uid:
            raise PodGoneError(f"pod {namespace}/{name} was replaced by another of its name")
        if not pod.spec.node_name:
            return False
        if pod.spec.node_name != node:
            raise BindConflictError(f'pod {name} is already assigned to node "{pod.spec.node_name}"')
        return True


def _refusal(error: ApiError) -> Exception:
    """The API server's definite refusal of a bind, as the error that callers tell apart."""
    if error.is_not_found or error.is_replaced:
        return PodGoneError(str(error))
    return BindConflictError(str(error)) if error.is_conflict else error
