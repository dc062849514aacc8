"""A hollow kubelet: makes bound pods look as if they ran, and lets deleted ones go.

It watches the pods of all nodes. A pod that is bound and Pending becomes Running and ready; one that is being
deleted is removed at once. Nothing is run.
"""

from __future__ import annotations

import datetime
import http.client
import itertools
import logging
from typing import Any

from e2e.beside import Beside
from e2e.controlplane.api import ApiClient, ApiError

logger = logging.getLogger(__name__)

_PODS = "/api/v1/pods"
_BOUND = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"
_WATCH_SECONDS = 2
_GONE = (http.client.NOT_FOUND, http.client.CONFLICT)


class HollowKubelet(Beside):
    """Plays the kubelet of every node, on a thread, while the context lasts."""

    def __init__(self, api: ApiClient) -> None:
        super().__init__("hollow kubelet")
        self._api = api
        self._addresses = itertools.count(1)

    def work(self) -> None:
        """List the pods and follow them, over and over."""
        while not self.stop.is_set():
            try:
                listed = self._api.get(_PODS, fieldSelector=_BOUND)
                for pod in listed.get("items") or []:
                    self._handle(pod)
                self._follow(listed["metadata"]["resourceVersion"])
            except (OSError, http.client.HTTPException, ApiError) as error:
                if not self.stop.is_set():
                    logger.warning("the hollow kubelet lists the pods again: %s", error)
                    self.stop.wait(0.5)

    def _follow(self, version: str) -> None:
        """Handle events until the watch can't be taken up again from the last version seen."""
        while not self.stop.is_set():
            events = self._api.watch(
                _PODS,
                seconds=_WATCH_SECONDS,
                resourceVersion=version,
                fieldSelector=_BOUND,
                allowWatchBookmarks="true",
            )
            for event in events:
                pod = event["object"]
                if event["type"] == "ERROR":
                    raise ApiError(pod.get("code", 0), pod.get("reason", ""), pod.get("message", ""))
                version = pod["metadata"]["resourceVersion"]
                if event["type"] in ("ADDED", "MODIFIED"):
                    self._handle(pod)
                if self.stop.is_set():
                    return

    def _handle(self, pod: dict[str, Any]) -> None:
        metadata = pod["metadata"]
        path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
        try:
            if metadata.get("deletionTimestamp"):
                preconditions = {"preconditions": {"uid": metadata["uid"]}, "gracePeriodSeconds": 0}
                self._api.request("DELETE", path, preconditions)
            elif pod["status"].get("phase") == "Pending":
                self._api.patch(f"{path}/status", self._running(pod))
        except ApiError as error:
            if error.code not in _GONE:  # it was deleted, or replaced by another of its name
                raise

    def _running(self, pod: dict[str, Any]) -> dict[str, Any]:
        now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        number = next(self._addresses)
        address = f"10.{128 + number // 65536 % 64}.{number // 256 % 256}.{number % 256}"
        conditions = ("PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready")
        return {
            "metadata": {"uid": pod["metadata"]["uid"]},
            "status": {
                "phase": "Running",
                "startTime": now,
                "podIP": address,
                "podIPs": [{"ip": address}],
                "conditions": [{"type": kind, "status": "True", "lastTransitionTime": now} for kind in conditions],
                "containerStatuses": [
                    {
                        "name": container["name"],
                        "image": container["image"],
                        "imageID": "",
                        "ready": True,
                        "started": True,
                        "restartCount": 0,
                        "state": {"running": {"startedAt": now}},
                    }
                    for container in pod["spec"]["containers"]
                ],
            },
        }
