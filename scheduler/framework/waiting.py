"""Pods that a Permit plugin makes wait (pkg/scheduler/framework/runtime/waiting_pods_map.go)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from scheduler.config.duration import Duration
from scheduler.framework.status import Status, error, unschedulable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scheduler.cache.pods import PodInfo

LONGEST_WAIT: Final = 15 * 60.0
"""Seconds after which a pod is turned down whatever its plugins asked for."""


class WaitingPod:
    """A pod that one or more Permit plugins make wait, each for some seconds at most, from now on."""

    def __init__(self, pod: PodInfo, waits: Mapping[str, float]) -> None:
        self.pod = pod
        loop = asyncio.get_running_loop()
        self._answer: asyncio.Future[Status | None] = loop.create_future()
        self._timers = {plugin: self._timer(loop, plugin, seconds) for plugin, seconds in waits.items()}

    @property
    def pending_plugins(self) -> list[str]:
        """The plugins that have not let the pod go on yet."""
        return list(self._timers)

    def allow(self, plugin: str) -> None:
        """A plugin lets the pod go on; the last one sets it free."""
        timer = self._timers.pop(plugin, None)
        if timer is not None:
            timer.cancel()
        if not self._timers and not self._answer.done():
            self._answer.set_result(None)

    def reject(self, plugin: str, message: str) -> bool:
        """A plugin turns the pod down; False if its fate was decided before."""
        self.stop()
        if self._answer.done():
            return False
        self._answer.set_result(unschedulable(message).by(plugin))
        return True

    def preempt(self, plugin: str, message: str) -> bool:
        """Turn the pod down to make room for another one; False if its fate was decided before.

        It is tried again after its backoff, as after an error.
        """
        self.stop()
        if self._answer.done():
            return False
        self._answer.set_result(error(f"waiting on permit for pod: {message}").by(plugin))
        return True

    async def wait(self) -> Status | None:
        """Until all plugins let the pod go on (None), or one turns it down or has waited long enough."""
        try:
            return await asyncio.shield(self._answer)
        finally:
            self.stop()

    def stop(self) -> None:
        """Let no time run out any more."""
        for timer in self._timers.values():
            timer.cancel()

    def _timer(self, loop: asyncio.AbstractEventLoop, plugin: str, seconds: float) -> asyncio.TimerHandle:
        seconds = min(seconds, LONGEST_WAIT)
        waited = Duration(round(seconds * 1e9))
        message = f"rejected due to timeout after waiting {waited} at plugin {plugin}"
        return loop.call_later(seconds, self.reject, plugin, message)


class WaitingPods:
    """All waiting pods, by uid."""

    def __init__(self) -> None:
        self._pods: dict[str, WaitingPod] = {}

    def __iter__(self) -> Iterator[WaitingPod]:
        return iter(list(self._pods.values()))

    def __len__(self) -> int:
        return len(self._pods)

    def get(self, uid: str) -> WaitingPod | None:
        """The waiting pod of that uid, or None."""
        return self._pods.get(uid)

    def add(self, pod: WaitingPod) -> None:
        """Let plugins find the pod."""
        self._pods[pod.pod.uid] = pod

    def remove(self, uid: str) -> None:
        """The pod waits no more."""
        self._pods.pop(uid, None)

    def reject(self, uid: str) -> bool:
        """Turn a waiting pod down that is going away; False if there is none, or it waits no more."""
        pod = self._pods.get(uid)
        return pod is not None and pod.reject("", "removed")
