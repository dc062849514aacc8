"""A scheduler at a known address."""

from __future__ import annotations

import pytest
import trustme

from scheduler.app.asking import Asking
from scheduler.app.direct import at_address
from scheduler.app.reach import ReachError
from scheduler.client.auth import Connection
from tests.app.explaining import scheduler
from tests.fakes.decisions import WEB


async def authorize(*, renew=False):
    return {"Authorization": "Bearer t"}


JANE = Connection("https://unused.example.com", authorize=authorize)


@pytest.fixture
def files(tmp_path):
    authority = trustme.CA()
    leaf = authority.issue_cert("127.0.0.1")
    paths = {name: str(tmp_path / name) for name in ("ca", "crt", "key")}
    authority.cert_pem.write_to_path(paths["ca"])
    leaf.cert_chain_pems[0].write_to_path(paths["crt"])
    leaf.private_key_pem.write_to_path(paths["key"])
    return paths


async def test_its_certificate_is_verified_by_the_authority_that_is_given(files):
    async with (
        scheduler(tls_cert_file=files["crt"], tls_private_key_file=files["key"]) as (berth, _),
        at_address(JANE, f"https://127.0.0.1:{berth.port}", authority=files["ca"]) as requests,
    ):
        assert await Asking(requests).pod("shop", "web-1") == WEB


async def test_answers_come_compressed_and_what_has_not_changed_does_not_come_again():
    async with (
        scheduler() as (berth, decisions),
        at_address(JANE, f"https://127.0.0.1:{berth.port}", unverified=True) as requests,
    ):
        decisions.nodes_count = 5000
        answer = await requests.get("/explain/v1/nodes")
        assert (answer.status, answer.encoding) == (200, "gzip")
        assert (await requests.get("/explain/v1/nodes", known=answer.etag)).status == 304
        assert len((await Asking(requests).nodes()).names) == 5000


async def test_one_that_cannot_be_verified_gets_no_credentials():
    async with scheduler() as (berth, _), at_address(JANE, f"https://127.0.0.1:{berth.port}") as requests:
        with pytest.raises(ReachError, match="give --certificate-authority FILE"):
            await Asking(requests).overview()


async def test_on_this_machine_that_can_be_waived():
    async with (
        scheduler() as (berth, _),
        at_address(JANE, f"https://127.0.0.1:{berth.port}", unverified=True) as requests,
    ):
        assert (await Asking(requests).overview()).leader


@pytest.mark.parametrize(
    ("server", "flags", "problem"),
    [
        ("https://berth.example.com:10259", {"unverified": True}, "could be anybody"),
        ("http://127.0.0.1:10259", {}, "not of the form https://HOST:PORT"),
        ("127.0.0.1:10259", {}, "not of the form"),
        ("https://127.0.0.1:1", {"authority": "/nowhere/ca.crt"}, "--certificate-authority /nowhere/ca.crt"),
        ("https://127.0.0.1:1", {}, "--server https://127.0.0.1:1: "),
    ],
)
async def test_what_cannot_be_used_is_said(server, flags, problem):
    with pytest.raises(ReachError) as caught:
        async with at_address(JANE, server, **flags) as requests:
            await Asking(requests).overview()
    assert problem in str(caught.value)
