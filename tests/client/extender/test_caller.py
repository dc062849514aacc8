"""Calls that can be waited for: answers, limits, and failures in Go's words."""

import socket
import ssl
import threading

import pytest
import trustme

from scheduler.client.extender.caller import Caller
from scheduler.client.extender.interface import ExtenderError
from tests.fakes.extender import FakeExtender


@pytest.fixture
def call():
    callers = []

    def post(url, body=b"{}", *, timeout=5.0, tls=None, server_name=""):
        caller = Caller(timeout=timeout, tls=tls or ssl.create_default_context(), server_name=server_name)
        callers.append(caller)
        return caller.post(url, body).result()

    yield post
    for caller in callers:
        caller.close()


@pytest.fixture
def caller():
    made = Caller(timeout=5.0, tls=ssl.create_default_context())
    yield made
    made.close()


def test_an_answer_has_status_and_body(call):
    with FakeExtender(filter={"NodeNames": ["a"]}) as server:
        assert call(f"{server.url}/filter", b'{"Pod": null}') == (200, b'{"NodeNames": ["a"]}')
        assert server.asked == [("filter", {"Pod": None})]
        assert call(f"{server.url}/other").status == 404


def test_connections_are_kept(caller):
    with FakeExtender(filter={}) as server:
        for _ in range(3):
            caller.post(f"{server.url}/filter", b"{}").result()
        assert server.connections == 1


def test_after_a_failure_the_server_is_connected_to_anew(caller):
    with FakeExtender(filter=FakeExtender.CUT) as server:
        with pytest.raises(ExtenderError):
            caller.post(f"{server.url}/filter", b"{}").result()
        server.answers["filter"] = {}
        assert caller.post(f"{server.url}/filter", b"{}").result().status == 200
        assert server.connections == 2


def test_nobody_listens(call):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        url = f"http://127.0.0.1:{port}/filter"
        with pytest.raises(ExtenderError) as caught:
            call(url)
    assert str(caught.value) == f'Post "{url}": dial tcp 127.0.0.1:{port}: connect: connection refused'


def test_a_cut_connection(call):
    with FakeExtender(filter=FakeExtender.CUT) as server, pytest.raises(ExtenderError) as caught:
        call(f"{server.url}/filter")
    assert str(caught.value) == f'Post "{server.url}/filter": EOF'


def test_a_server_that_takes_too_long(call):
    with FakeExtender(filter={}) as server:
        server.delay = 0.5
        with pytest.raises(ExtenderError) as caught:
            call(f"{server.url}/filter", timeout=0.05)
    assert str(caught.value) == (
        f'Post "{server.url}/filter": context deadline exceeded (Client.Timeout exceeded while awaiting headers)'
    )


def test_the_limit_holds_for_a_server_that_trickles(call):
    """Each byte comes well within the limit, the whole answer never does."""
    over = threading.Event()

    def trickle(listener):
        connection, _ = listener.accept()
        with connection:
            connection.recv(4096)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
            while not over.wait(0.01):
                try:
                    connection.sendall(b" ")
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=trickle, args=(listener,))
        thread.start()
        with pytest.raises(ExtenderError, match=r"Client\.Timeout or context cancellation while reading body"):
            call(f"http://127.0.0.1:{listener.getsockname()[1]}/filter", timeout=0.2)
        over.set()
        thread.join()


def test_no_limit():
    caller = Caller(timeout=0.0, tls=ssl.create_default_context())
    with FakeExtender(filter={}) as server:
        assert caller.post(f"{server.url}/filter", b"{}").result().status == 200
    caller.close()


def test_what_is_no_url_for_http(call):
    with pytest.raises(ExtenderError) as caught:
        call("gopher://127.0.0.1/filter")
    assert str(caught.value) == 'Post "gopher://127.0.0.1/filter": unsupported protocol scheme "gopher"'


def test_closing_ends_calls_under_way(caller):
    with FakeExtender(filter={}) as server:
        server.delay = 1.0
        future = caller.post(f"{server.url}/filter", b"{}")
        while not server.asked:
            pass
        caller.close()
        assert future.cancelled() or future.exception() is not None


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


@pytest.fixture(scope="module")
def server_tls(authority):
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("extender.example.com").configure_cert(context)
    return context


class TestTLS:
    def trusting(self, authority):
        context = ssl.create_default_context()
        authority.configure_trust(context)
        return context

    def test_the_name_in_the_certificate_may_be_configured(self, call, authority, server_tls):
        with FakeExtender(tls=server_tls, filter={}) as server:
            answer = call(f"{server.url}/filter", tls=self.trusting(authority), server_name="extender.example.com")
        assert answer.status == 200

    def test_another_name_is_refused(self, call, authority, server_tls):
        with (
            FakeExtender(tls=server_tls, filter={}) as server,
            pytest.raises(ExtenderError, match=r"tls: failed to verify certificate: x509: .*127\.0\.0\.1"),
        ):
            call(f"{server.url}/filter", tls=self.trusting(authority))

    def test_an_unknown_authority_is_refused(self, call, server_tls):
        with (
            FakeExtender(tls=server_tls, filter={}) as server,
            pytest.raises(ExtenderError, match=r"x509: certificate signed by unknown authority$"),
        ):
            call(f"{server.url}/filter")
