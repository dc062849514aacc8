"""The server as its clients see it: real TLS on loopback."""

from __future__ import annotations

import asyncio
import json
import socket

import aiohttp
import pytest

from scheduler.server.endpoints import Endpoints
from scheduler.server.health import Check
from scheduler.server.identity import AuthenticationError, AuthorizationError
from scheduler.server.options import ServerOptions
from scheduler.server.secure import Access, SecureServer, ServerError

FORBIDDEN = {
    "kind": "Status",
    "apiVersion": "v1",
    "metadata": {},
    "status": "Failure",
    "message": 'forbidden: User "system:anonymous" cannot get path "/metrics"',
    "reason": "Forbidden",
    "details": {},
    "code": 403,
}
UNAUTHORIZED = {
    "kind": "Status",
    "apiVersion": "v1",
    "metadata": {},
    "status": "Failure",
    "message": "Unauthorized",
    "reason": "Unauthorized",
    "code": 401,
}
OPEN = ServerOptions(authorization_always_allow_paths=("/*",))


def endpoints(**parts):
    return Endpoints(metrics=lambda: b"m 1\n", **parts)


class TestAccess:
    async def test_without_reviewers_only_the_open_paths_answer(self, serve):
        _, client = await serve()
        assert (await client.get("/healthz"))[:2] == (200, "ok")
        assert (await client.get("/livez"))[:2] == (200, "ok")
        status, body, headers = await client.get("/metrics")
        assert (status, json.loads(body)) == (403, FORBIDDEN)
        assert headers["Content-Type"] == "application/json"
        assert headers["Cache-Control"] == "no-cache, private"

    async def test_without_a_reviewer_a_token_is_not_looked_at(self, serve):
        _, client = await serve()
        status, body, _ = await client.get("/metrics", token="anything")
        assert (status, json.loads(body)) == (403, FORBIDDEN)

    async def test_paths_that_do_not_exist_are_told_to_those_only_who_may_see_them(self, serve):
        _, client = await serve()
        assert (await client.get("/nope"))[0] == 403
        _, client = await serve(OPEN)
        assert (await client.get("/nope"))[:2] == (404, "404 page not found\n")

    async def test_token_of_an_allowed_user(self, serve, reviewers):
        _, client = await serve(access=Access(tokens=reviewers, authorizer=reviewers))
        assert (await client.get("/metrics", token="good"))[:2] == (200, "m 1\n")
        assert reviewers.asked == ["good", ("prometheus", "get", "/metrics")]

    async def test_token_of_a_user_who_may_not(self, serve, reviewers):
        _, client = await serve(access=Access(tokens=reviewers, authorizer=reviewers))
        status, body, _ = await client.get("/configz", token="good")
        assert status == 403
        assert json.loads(body)["message"] == 'forbidden: User "prometheus" cannot get path "/configz"'

    async def test_invalid_token_is_unauthorized_even_where_nobody_needs_one(self, serve, reviewers):
        _, client = await serve(access=Access(tokens=reviewers, authorizer=reviewers))
        status, body, _ = await client.get("/healthz", token="bad")
        assert (status, json.loads(body)) == (401, UNAUTHORIZED)

    async def test_group_of_masters_is_not_asked_about(self, serve, reviewers):
        _, client = await serve(access=Access(tokens=reviewers, authorizer=reviewers))
        assert (await client.get("/configz", token="root"))[0] == 200
        assert reviewers.asked == ["root"]

    async def test_client_certificate_names_user_and_groups(self, serve, authorities, client_ca_file):
        options = ServerOptions(client_ca_file=client_ca_file)
        _, client = await serve(options, context=authorities.client("alice", "system:masters"))
        assert (await client.get("/metrics"))[0] == 200
        _, client = await serve(options, context=authorities.client("bob", "staff"))
        status, body, _ = await client.get("/metrics")
        assert status == 403
        assert 'User "bob" cannot get' in json.loads(body)["message"]

    async def test_certificate_comes_before_token(self, serve, reviewers, authorities, client_ca_file):
        options = ServerOptions(client_ca_file=client_ca_file)
        access = Access(tokens=reviewers, authorizer=reviewers)
        _, client = await serve(options, access=access, context=authorities.client("alice", "system:masters"))
        assert (await client.get("/metrics", token="bad"))[0] == 200
        assert reviewers.asked == []

    async def test_certificate_of_an_unknown_authority_ends_the_handshake(self, serve, authorities, client_ca_file):
        options = ServerOptions(client_ca_file=client_ca_file)
        _, client = await serve(options, context=authorities.stranger("alice", "system:masters"))
        with pytest.raises(aiohttp.ClientError):
            await client.get("/healthz")

    async def test_without_a_client_ca_a_certificate_is_not_asked_for(self, serve, authorities):
        _, client = await serve(context=authorities.client("alice", "system:masters"))
        assert json.loads((await client.get("/metrics"))[1]) == FORBIDDEN

    async def test_clusters_client_ca_is_used(self, serve, authorities):
        async def cluster_client_ca():
            return authorities.client_pem

        access = Access(cluster_client_ca=cluster_client_ca)
        _, client = await serve(access=access, context=authorities.client("alice", "system:masters"))
        assert (await client.get("/metrics"))[0] == 200

    async def test_reviews_that_fail_refuse_the_request(self, serve):
        class Down:
            async def review_token(self, token):
                raise AuthenticationError("no route to host")

            async def authorize(self, user, verb, path):
                raise AuthorizationError("<no route>")

        _, client = await serve(access=Access(tokens=Down(), authorizer=Down()))
        assert (await client.get("/metrics", token="good"))[0] == 401
        status, body, _ = await client.get("/metrics?a=b")
        assert status == 500
        assert body == 'Internal Server Error: "/metrics?a=b": &lt;no route&gt;\n'

    async def test_errors_are_indented_for_people_only(self, serve):
        _, client = await serve()
        assert (await client.get("/metrics", **{"User-Agent": "curl/8"}))[1].startswith('{\n  "kind"')
        assert (await client.get("/metrics", **{"User-Agent": "go"}))[1].startswith('{"kind"')

    @pytest.mark.parametrize("path", ["//metrics", "/healthz/../metrics", "/metrics/", "/Metrics", "/%6Detrics"])
    async def test_other_spellings_of_a_path_do_not_pass(self, serve, reviewers, path):
        options = ServerOptions(authorization_always_allow_paths=("/healthz*",))
        _, client = await serve(options, access=Access(tokens=reviewers, authorizer=reviewers))
        reader, writer = await asyncio.open_connection("127.0.0.1", client.base.rpartition(":")[2], ssl=client.context)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        assert answer.split(b" ", 2)[1] in (b"403", b"404")


class TestContent:
    async def test_scrape_has_prometheus_type(self, serve):
        _, client = await serve(OPEN)
        status, body, headers = await client.get("/metrics")
        assert (status, body) == (200, "m 1\n")
        assert headers["Content-Type"].startswith("text/plain; version=0.0.4; charset=utf-8")

    async def test_only_reading_is_possible(self, serve, reviewers):
        _, client = await serve(access=Access(tokens=reviewers, authorizer=reviewers))
        status, _, headers = await client.get("/metrics", method="POST", token="good")
        assert (status, headers["Allow"]) == (405, "GET, HEAD")
        assert (await client.get("/metrics", method="DELETE", token="good"))[0] == 403

    async def test_what_fails_to_render_is_an_error_of_the_server(self, serve):
        def broken():
            raise RuntimeError("no figures")

        _, client = await serve(OPEN, Endpoints(metrics=broken))
        status, body, _ = await client.get("/metrics")
        assert (status, body) == (500, 'Internal Server Error: "/metrics": no figures\n')

    async def test_probe_that_fails(self, serve):
        checks = [Check("shutdown", lambda: None), Check("sched-handler-sync", lambda: "not synchronized")]
        _, client = await serve(OPEN, endpoints(readyz=checks))
        status, body, headers = await client.get("/readyz")
        assert status == 500
        assert body == "[+]shutdown ok\n[-]sched-handler-sync failed: reason withheld\nreadyz check failed\n"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Content-Type"] == "text/plain; charset=utf-8"


class TestLife:
    async def test_port_zero_means_not_to_serve(self):
        server = SecureServer(ServerOptions(secure_port=0), endpoints())
        await server.start()
        assert server.port is None
        await server.stop()

    async def test_port_that_is_taken_names_the_flags(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            server = SecureServer(ServerOptions(bind_address="127.0.0.1", secure_port=port), endpoints())
            with pytest.raises(ServerError, match=rf"--bind-address 127.0.0.1 --secure-port {port}: can't listen"):
                await server.start()

    async def test_own_port_is_bound_and_given_back(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        options = ServerOptions(bind_address="127.0.0.1", secure_port=port)
        for _ in range(2):
            server = SecureServer(options, endpoints())
            await server.start()
            assert server.port == port
            await server.stop()
        assert server.port is None

    async def test_stop_lets_a_request_finish(self, serve):
        began = asyncio.Event()
        go_on = asyncio.Event()

        async def slow(request):
            began.set()
            await go_on.wait()
            return aiohttp.web.Response(text="done")

        server, client = await serve(OPEN, endpoints(extra={"/slow": slow}))
        request = asyncio.create_task(client.get("/slow"))
        await began.wait()
        stopping = asyncio.create_task(server.stop())
        await asyncio.sleep(0.01)
        assert not stopping.done()
        go_on.set()
        assert (await request)[:2] == (200, "done")
        await stopping
        with pytest.raises(aiohttp.ClientError):
            await client.get("/healthz")

    async def test_stop_does_not_wait_beyond_its_deadline(self, serve):
        began = asyncio.Event()

        async def endless(request):
            began.set()
            await asyncio.Event().wait()

        options = ServerOptions(authorization_always_allow_paths=("/*",), shutdown_timeout=0.05)
        server, client = await serve(options, endpoints(extra={"/endless": endless}))
        request = asyncio.create_task(client.get("/endless"))
        await began.wait()
        async with asyncio.timeout(10):
            await server.stop()
        with pytest.raises(aiohttp.ClientError):
            await request

    async def test_lookup_of_the_client_ca_may_fail_if_tolerated(self, serve):
        async def fails():
            raise OSError("connection refused")

        access = Access(cluster_client_ca=fails)
        _, client = await serve(access=access)
        assert (await client.get("/healthz"))[0] == 200
        strict = ServerOptions(authentication_tolerate_lookup_failure=False)
        with pytest.raises(ServerError, match="connection refused; --authentication-tolerate-lookup-failure"):
            await serve(strict, access=access)
        skipping = ServerOptions(authentication_tolerate_lookup_failure=False, authentication_skip_lookup=True)
        await serve(skipping, access=access)

    async def test_unreadable_client_ca_file_names_the_flag(self, serve):
        with pytest.raises(ServerError, match=r"--client-ca-file /nowhere: .*No such file"):
            await serve(ServerOptions(client_ca_file="/nowhere"))


class TestCertificates:
    async def test_new_files_serve_new_connections(self, serve, authorities, tmp_path, eventually):
        certificate, key = authorities.serving_files(tmp_path)
        options = ServerOptions(tls_cert_file=certificate, tls_private_key_file=key)
        _, client = await serve(options, context=authorities.trusting())
        assert (await client.get("/healthz"))[0] == 200
        old = await client.served_certificate()
        authorities.serving_files(tmp_path)

        async def renewed():
            return await client.served_certificate() != old

        await eventually(renewed)
        assert (await client.get("/healthz"))[0] == 200

    async def test_broken_files_leave_the_old_ones_in_use(self, serve, authorities, tmp_path, eventually, caplog):
        certificate, key = authorities.serving_files(tmp_path)
        options = ServerOptions(tls_cert_file=certificate, tls_private_key_file=key)
        _, client = await serve(options, context=authorities.trusting())
        (tmp_path / "tls.crt").write_text("rubbish")

        async def noticed():
            return "keeping the certificates in use" in caplog.text

        await eventually(noticed)
        assert (await client.get("/healthz"))[0] == 200

    async def test_new_client_ca_takes_the_place_of_the_old(
        self, serve, authorities, tmp_path, client_ca_file, eventually
    ):
        options = ServerOptions(client_ca_file=client_ca_file)
        server, old = await serve(options, context=authorities.client("alice", "system:masters"))
        new = type(old)(server.port, authorities.stranger("carol", "system:masters"))
        assert (await old.get("/metrics"))[0] == 200
        assert await refused(new)
        (tmp_path / "client-ca.crt").write_text(authorities.stranger_pem)

        async def replaced():
            return await refused(old)

        await eventually(replaced)
        assert (await new.get("/metrics"))[0] == 200
        await new.session.close()


async def refused(client):
    try:
        await client.get("/metrics")
    except aiohttp.ClientError:
        return True
    return False
