"""An HTTP extender on loopback, in a thread of its own, that answers what a test tells it to."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable
    from types import TracebackType


class FakeExtender:
    """A server; a context manager that ends it.

    `answers` maps verbs to what they answer: a function of the request's JSON, or a value. A value or result may be
    bytes (sent as they are), an int (a status without a body), or anything that is JSON; `CUT` cuts the connection.
    `asked` has (verb, request) of each call, in order; `connections` counts the connections made.
    """

    CUT = object()

    def __init__(self, *, tls: ssl.SSLContext | None = None, **answers: Any) -> None:
        self.answers: dict[str, Any] = answers
        self.asked: list[tuple[str, Any]] = []
        self.delay = 0.0
        self.connections = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                outer.connections += 1

            def do_POST(self) -> None:
                outer._answer(self)

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: Any) -> None:
                pass

        self._server = Server(("127.0.0.1", 0), Handler)
        self._scheme = "https" if tls is not None else "http"
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"{self._scheme}://127.0.0.1:{self._server.server_address[1]}"

    def requests(self, verb: str) -> list[Any]:
        """What it was sent for a verb."""
        return [request for asked, request in self.asked if asked == verb]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        verb = handler.path.rpartition("/")[2]
        request = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        self.asked.append((verb, request))
        time.sleep(self.delay)
        answer: Any = self.answers.get(verb, 404)
        if callable(answer):
            answer = answer(request)
        if answer is self.CUT:
            handler.close_connection = True
            return
        status = answer if isinstance(answer, int) else 200
        body = b"" if isinstance(answer, int) else answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)


def names_of(request: Any) -> list[str]:
    """The names of the nodes that a filter or prioritize request is about."""
    if request["NodeNames"] is not None:
        return list(request["NodeNames"])
    return [node["metadata"]["name"] for node in request["Nodes"]["items"]]


def keeping(keep: Callable[[str], bool], reason: str = "", *, unresolvable: bool = False) -> Callable[[Any], Any]:
    """A filter that keeps the nodes whose names `keep` holds for; the others fail for a reason, if there is one."""

    def answer(request: Any) -> Any:
        kept = [name for name in names_of(request) if keep(name)]
        failed = {name: reason for name in names_of(request) if not keep(name) and reason}
        result: dict[str, Any] = {"FailedAndUnresolvableNodes" if unresolvable else "FailedNodes": failed}
        if request["NodeNames"] is not None:
            return {**result, "NodeNames": kept}
        items = [node for node in request["Nodes"]["items"] if node["metadata"]["name"] in kept]
        return {**result, "Nodes": {"items": items}}

    return answer
