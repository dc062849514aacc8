"""Volumes and claims are written as patches that hold for one version only."""

from __future__ import annotations

import msgspec
import pytest

from scheduler.api.objects import PersistentVolume, PersistentVolumeClaim
from scheduler.client.dispatcher import Dispatcher
from scheduler.client.errors import ApiError, TransportError
from tests.fakes.apiserver import no_answer, reply, status

VOLUME = "/api/v1/persistentvolumes/v"
CLAIM = "/api/v1/namespaces/ns/persistentvolumeclaims/c"
REFERENCE = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": "ns", "name": "c", "uid": "u"}


def volume(version: str = "7") -> PersistentVolume:
    meta = {"name": "v", "uid": "uv", "resourceVersion": version, "annotations": {"a": "b"}}
    return msgspec.convert({"metadata": meta, "spec": {"claimRef": REFERENCE}}, PersistentVolume)


def claim(version: str = "7") -> PersistentVolumeClaim:
    meta = {"name": "c", "namespace": "ns", "uid": "u", "resourceVersion": version, "annotations": {"a": "b"}}
    return msgspec.convert({"metadata": meta}, PersistentVolumeClaim)


@pytest.fixture
async def writer(session):
    writer = Dispatcher(session)
    yield writer
    await writer.drain(5)


async def test_a_volume_gets_its_reference_and_annotations(server, writer):
    server.on("PATCH", VOLUME, reply(msgspec.to_builtins(volume("8"))))
    assert await writer.update_volume(volume()) == volume("8")
    (request,) = server.requests
    assert request.headers["Content-Type"] == "application/merge-patch+json"
    assert request.body == {
        "metadata": {"uid": "uv", "resourceVersion": "7", "annotations": {"a": "b"}},
        "spec": {"claimRef": REFERENCE},
    }


async def test_a_claim_gets_its_annotations(server, writer):
    server.on("PATCH", CLAIM, reply(msgspec.to_builtins(claim("8"))))
    assert await writer.update_claim(claim()) == claim("8")
    (request,) = server.requests
    assert request.body == {"metadata": {"uid": "u", "resourceVersion": "7", "annotations": {"a": "b"}}}


@pytest.mark.parametrize(("code", "reason"), [(409, "Conflict"), (403, "Forbidden"), (404, "NotFound"), (500, "")])
async def test_a_refusal_is_told_and_nothing_is_repeated(server, writer, code, reason):
    server.on("PATCH", VOLUME, status(code, reason, "not now"))
    with pytest.raises(ApiError, match="not now"):
        await writer.update_volume(volume())
    assert len(server.requests) == 1


async def test_an_answer_that_does_not_come_is_an_error(server, writer):
    server.on("PATCH", CLAIM, no_answer())
    with pytest.raises(TransportError):
        await writer.update_claim(claim())
