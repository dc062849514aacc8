"""Whatever happens to its connections, an informer ends up with what the server has, and its handlers agree."""

from __future__ import annotations

import asyncio
import json
import random

import pytest
from aiohttp import web

from scheduler.client.informer import Informer, KeepPolicy
from scheduler.client.kinds import PODS
from scheduler.client.reflector import Reflector, WatchSettings
from scheduler.client.supervise import stop_task
from tests.fakes.apiserver import bookmark, event, pod, refusal, status

PATH = "/api/v1/pods"
QUICK = WatchSettings(idle=5.0, backoff_base=0.001, backoff_cap=0.005)


class UnreliableServer:
    """Pods that come, change and go, seen through connections that break, over a history that is forgotten."""

    def __init__(self, rng, changes):
        self.rng = rng
        self.left = changes
        self.version = 1
        self.pods = {}
        self.history = []
        self.forgotten = 0

    def change(self):
        self.left -= 1
        self.version += 1
        name = f"p{self.rng.randrange(6)}"
        old = self.pods.get(name)
        if old is None:
            kind, new = "ADDED", pod(name, self.version, uid=f"{name}-{self.version}")
        elif self.rng.random() < 0.5:
            kind, new = "MODIFIED", pod(name, self.version, uid=old["metadata"]["uid"])
        else:
            kind, new = "DELETED", pod(name, self.version, uid=old["metadata"]["uid"])
        if kind == "DELETED":
            del self.pods[name]
        else:
            self.pods[name] = new
        self.history.append((self.version, event(kind, new)))
        if self.rng.random() < 0.1:
            self.forgotten = self.version

    def lines(self, since):
        """The next lines for a connection that has seen all up to ``since``; changes happen meanwhile."""
        while True:
            newer = [(version, line) for version, line in self.history if version > since]
            for version, line in newer:
                since = version
                yield line
            if newer:
                continue
            if not self.left:
                return
            if self.rng.random() < 0.2:
                yield bookmark(self.version)
            self.change()

    def stream(self, query):
        if "sendInitialEvents" in query:
            for obj in list(self.pods.values()):
                yield event("ADDED", obj)
            seen = self.version
            yield bookmark(seen, initial_end=True)
        else:
            seen = int(query["resourceVersion"])
        yield from self.lines(seen)

    async def answer(self, request):
        version = int(request.query.get("resourceVersion", self.version))
        if version < self.forgotten:
            if self.rng.random() < 0.5:
                return await status(410, "Expired")(request)
            return await self.send(request, [event("ERROR", refusal(410, "Expired"))], None)
        if self.left and self.rng.random() < 0.1:
            return await status(self.rng.choice([429, 500, 503]), headers={"Retry-After": "0"})(request)
        budget = self.rng.randrange(12) if self.left else None
        return await self.send(request, self.stream(request.query), budget)

    async def send(self, request, lines, budget):
        """Send lines; cut the connection within the line after ``budget`` lines, or stay silent at the end."""
        response = web.StreamResponse()
        await response.prepare(request)
        for number, line in enumerate(lines):
            text = json.dumps(line).encode() + b"\n"
            if number == budget:
                await response.write(text[: self.rng.randrange(len(text))])
                request.transport.close()
                return response
            await response.write(text)
            if line["type"] == "ERROR":
                return response
        if not self.left:
            await asyncio.sleep(3600)
        return response

    def truth(self):
        return {name: (obj["metadata"]["uid"], obj["metadata"]["resourceVersion"]) for name, obj in self.pods.items()}


class Mirror:
    """What a handler knows; it insists that changes fit together."""

    def __init__(self, *, whole):
        self.whole = whole
        self.known = {}

    def __call__(self, old, new):
        name = (new or old).metadata.name
        if new is None:
            assert self.known.pop(name)[0] == old.metadata.uid
            return
        before = self.known.get(name)
        if self.whole:
            assert before == (old and (old.metadata.uid, old.metadata.resource_version))
        assert before is None or before[0] == new.metadata.uid
        self.known[name] = (new.metadata.uid, new.metadata.resource_version)


@pytest.mark.parametrize("keep", KeepPolicy)
@pytest.mark.parametrize("seed", range(8))
async def test_no_object_is_lost_or_invented(server, session, eventually, seed, keep):
    unreliable = UnreliableServer(random.Random(seed), changes=150)
    server.on("GET", PATH, unreliable.answer)
    informer = Informer(PODS, keep)
    mirror = Mirror(whole=keep is KeepPolicy.WHOLE)
    informer.add_handler(mirror)
    task = asyncio.create_task(Reflector(session, PODS, informer, settings=QUICK).run())
    await eventually(lambda: task.done() or (not unreliable.left and mirror.known == unreliable.truth()))
    assert not task.done()
    assert set(informer.keys()) == {("ns", name) for name in unreliable.pods}
    assert len(server.requests) > 5
    await stop_task(task)
