"""SchedulerProfiles on a fake API server."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from tests.fakes.apiserver import reply

if TYPE_CHECKING:
    from aiohttp import web

    from tests.fakes.apiserver import FakeApiServer

GROUP_VERSION = "berth.dev/v1alpha1"


def listing(*bodies: dict[str, Any]) -> Any:
    """A list of SchedulerProfiles."""
    return reply({"kind": "SchedulerProfileList", "metadata": {"resourceVersion": "5"}, "items": list(bodies)})


def served(listed: Any, *watches: Any) -> Any:
    """Lists and watches of one path, told apart; the last watch is given again and again."""
    left = deque(watches)

    async def answer(request: web.Request) -> web.StreamResponse:
        if "watch" not in request.query:
            return await listed(request)
        return await (left.popleft() if len(left) > 1 else left[0])(request)

    return answer


def watchable(server: FakeApiServer) -> None:
    """Answer discovery, so that kopf finds the resource."""
    version = {"groupVersion": GROUP_VERSION, "version": "v1alpha1"}
    group = {"name": "berth.dev", "versions": [version], "preferredVersion": version}
    verbs = ["get", "list", "watch", "patch"]

    def known(name: str, kind: str) -> dict[str, Any]:
        return {"name": name, "singularName": "", "kind": kind, "namespaced": False, "verbs": verbs}

    core = [known("namespaces", "Namespace"), known("events", "Event")]
    server.on("GET", "/api", reply({"versions": ["v1"]}))
    server.on("GET", "/api/v1", reply({"resources": core}))
    server.on("GET", "/apis", reply({"groups": [group]}))
    server.on("GET", f"/apis/{GROUP_VERSION}", reply({"resources": [known("schedulerprofiles", "SchedulerProfile")]}))
