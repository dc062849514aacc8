"""A small synchronous client for tests: JSON in, JSON out, one connection for each thread."""

from __future__ import annotations

import http.client
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, urlencode, urlsplit

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterable, Iterator, Mapping

Object = dict[str, Any]
Objects = list[Object]
T = TypeVar("T")

PATCH_TYPES = {
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "json": "application/json-patch+json",
    "apply": "application/apply-patch+yaml",
}


class ApiError(RuntimeError):
    """The API server refused a request; ``code`` is the HTTP status, ``reason`` that of its Status object."""

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(f"{code} {reason}: {message}")
        self.code = code
        self.reason = reason


class ApiClient:
    """Requests to one API server, as the user of a TLS context or of a bearer token."""

    def __init__(self, server: str, context: ssl.SSLContext, *, token: str | None = None) -> None:
        self._address = urlsplit(server).netloc
        self._context = context
        self._headers = {"Accept": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._local = threading.local()
        self._connections: list[http.client.HTTPSConnection] = []
        self._resources: dict[str, dict[str, tuple[str, bool]]] = {}

    def get(self, path: str, **parameters: object) -> Object:
        """GET a path below the server, for example ``/api/v1/nodes/a``."""
        return self.request("GET", path, parameters=parameters)

    def list(self, path: str, *, page: int = 500, **parameters: object) -> Objects:
        """All items of a collection, page by page; ``labelSelector`` and the like are keyword arguments."""
        items: Objects = []
        token = ""
        while True:
            answer = self.get(path, limit=page, **{"continue": token} if token else {}, **parameters)
            items += answer.get("items") or []
            token = answer["metadata"].get("continue") or ""
            if not token:
                return items

    def create(self, body: Object) -> Object:
        """POST an object to the collection of its kind and namespace."""
        return self.request("POST", self.collection(body), body)

    def create_all(self, bodies: Iterable[Object], *, threads: int = 8) -> Objects:
        """``create`` each, several at a time; the first failure is raised."""
        clone = ApiClient(f"https://{self._address}", self._context)
        clone._headers, clone._resources = self._headers, self._resources
        try:
            with ThreadPoolExecutor(threads) as pool:
                return list(pool.map(clone.create, bodies))
        finally:
            clone.close()

    def apply(self, body: Object, *, manager: str = "berth-e2e") -> Object:
        """Create or change an object by server-side apply."""
        parameters = {"fieldManager": manager, "force": "true"}
        return self.request("PATCH", self.path(body), body, parameters=parameters, patch="apply")

    def replace(self, body: Object, *, subresource: str = "") -> Object:
        """PUT an object, or its ``status``."""
        return self.request("PUT", self.path(body) + (f"/{subresource}" if subresource else ""), body)

    def patch(self, path: str, body: Any, *, kind: str = "strategic") -> Object:
        """PATCH a path; ``kind`` is one of PATCH_TYPES."""
        return self.request("PATCH", path, body, patch=kind)

    def delete(self, path: str, *, grace: int | None = None) -> Object:
        """DELETE a path. Without a kubelet a pod that is bound goes only with ``grace=0``."""
        body = None if grace is None else {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": grace}
        return self.request("DELETE", path, body)

    def path(self, body: Object) -> str:
        """The path of an object, found by discovery."""
        return f"{self.collection(body)}/{quote(body['metadata']['name'], safe='')}"

    def collection(self, body: Object) -> str:
        """The path of the collection that an object belongs into; its namespace is ``default`` unless it says so."""
        version, kind = body["apiVersion"], body["kind"]
        plural, namespaced = self._discover(version, kind)
        root = f"/api/{version}" if "/" not in version else f"/apis/{version}"
        if not namespaced:
            return f"{root}/{plural}"
        return f"{root}/namespaces/{body['metadata'].get('namespace') or 'default'}/{plural}"

    def watch(self, path: str, *, seconds: int, **parameters: object) -> Iterator[Object]:
        """The events of a watch, on a connection of its own, until the server ends it after ``seconds``."""
        connection = http.client.HTTPSConnection(self._address, context=self._context, timeout=seconds + 30)
        try:
            query = urlencode({"watch": "true", "timeoutSeconds": seconds, **parameters})
            connection.request("GET", f"{path}?{query}", headers=self._headers)
            response = connection.getresponse()
            if response.status != http.client.OK:
                raise _error(response.status, response.read())
            for line in response:
                if line.strip():
                    yield json.loads(line)
        finally:
            connection.close()

    def ready(self) -> bool:
        """Whether ``/readyz`` answers 200."""
        try:
            self.raw("GET", "/readyz")
        except (OSError, http.client.HTTPException, ApiError):
            return False
        return True

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        parameters: Mapping[str, object] | None = None,
        patch: str | None = None,
    ) -> Object:
        """One request with JSON both ways. Raises ApiError for a status of 400 and above."""
        headers = {"Content-Type": PATCH_TYPES[patch] if patch else "application/json"}
        target = f"{path}?{urlencode(parameters)}" if parameters else path
        answer: Object = json.loads(self.raw(method, target, json.dumps(body) if body is not None else None, headers))
        return answer

    def raw(self, method: str, target: str, body: str | None = None, headers: Mapping[str, str] | None = None) -> bytes:
        """One request; a kept connection that the server has closed in the meantime is opened anew."""
        for attempt in range(2):
            connection, reused = self._connection()
            try:
                connection.request(method, target, body, {**self._headers, **(headers or {})})
                response = connection.getresponse()
                data = response.read()
            except (OSError, http.client.HTTPException):
                connection.close()
                if reused and attempt == 0:
                    continue
                raise
            if response.status >= http.client.BAD_REQUEST:
                raise _error(response.status, data)
            return data
        raise AssertionError("unreachable: the second attempt returns or raises")

    def close(self) -> None:
        """Close the connections of all threads."""
        for connection in self._connections:
            connection.close()
        self._connections.clear()

    def _connection(self) -> tuple[http.client.HTTPSConnection, bool]:
        connection: http.client.HTTPSConnection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = http.client.HTTPSConnection(self._address, context=self._context, timeout=60)
            self._local.connection = connection
        if connection not in self._connections:
            self._connections.append(connection)
        return connection, connection.sock is not None

    def _discover(self, version: str, kind: str) -> tuple[str, bool]:
        if kind not in self._resources.get(version, {}):
            path = f"/api/{version}" if "/" not in version else f"/apis/{version}"
            found = self.get(path)["resources"]
            self._resources[version] = {
                one["kind"]: (one["name"], one["namespaced"]) for one in found if "/" not in one["name"]
            }
        try:
            return self._resources[version][kind]
        except KeyError:
            raise ApiError(404, "NotFound", f"the server has no kind {kind} in {version}") from None


def wait_until(what: str, condition: Callable[[], T], *, timeout: float = 30.0, interval: float = 0.05) -> T:
    """Poll a condition until it is true and return it. Raises TimeoutError, which names ``what``."""
    end = time.monotonic() + timeout
    while not (value := condition()):
        if time.monotonic() > end:
            raise TimeoutError(f"waited {timeout:.0f} s for this: {what}")
        time.sleep(interval)
    return value


def _error(code: int, data: bytes) -> ApiError:
    try:
        status = json.loads(data)
    except ValueError:
        status = {"message": data.decode(errors="replace").strip()}
    return ApiError(code, status.get("reason") or http.client.responses.get(code, ""), status.get("message") or "")
