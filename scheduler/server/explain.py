"""The decisions API: what there is at which path below /explain/v1, and how a request is read.

Who may read it is decided before a request comes here, by path as for /metrics.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from scheduler.server import documents, openapi
from scheduler.server.endpoints import USER

if TYPE_CHECKING:
    from collections.abc import Iterator

    import msgspec
    from aiohttp import web

    from scheduler.explain.views import (
        Decision,
        Evaluation,
        Found,
        NodeComparison,
        NodePods,
        NodesView,
        Overview,
        Pending,
        PodView,
        SummaryPage,
    )

ROOT: Final = "/explain/v1"
LEADER_HEADER: Final = "Berth-Leader"
RESULTS: Final = ("Scheduled", "Unschedulable", "Error", "Gated")

_MOST: Final = 1000
_MOST_FOUND: Final = 100
_LONGEST: Final = 317
"""Characters of the longest namespace/name (63 + 1 + 253)."""
_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
_RETRY: Final = {"Retry-After": "1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which attempts are asked for: at most `limit`, older than `before`, of this pod ("namespace/name"), node, ...

    "" (or None) does not restrict.
    """

    limit: int = 100
    before: int | None = None
    pod: str = ""
    node: str = ""
    namespace: str = ""
    result: str = ""


class Provider(Protocol):
    """Who knows the answers: the scheduler of this process. None stands for what is not known."""

    @property
    def leads(self) -> bool:
        """Whether this process is the one that schedules."""
        ...

    @property
    def synced(self) -> bool:
        """Whether the cluster has been read."""
        ...

    def overview(self) -> Overview:
        """The scheduler at a glance."""
        ...

    def decisions(self, choice: Choice) -> SummaryPage:
        """Attempts, the newest first."""
        ...

    def decision(self, number: int) -> Decision | None:
        """One attempt, whole."""
        ...

    def comparison(self, number: int, other: str) -> NodeComparison | None:
        """Why the node of an attempt and not `other` ("": the next best)."""
        ...

    def pod(self, namespace: str, name: str) -> PodView | None:
        """A pod and its way through the scheduler."""
        ...

    async def evaluate(self, namespace: str, name: str) -> Evaluation | None:
        """What would be decided on a pod now; takes turns with scheduling."""
        ...

    def pending(self) -> Pending:
        """All waiting pods by cause."""
        ...

    def nodes(self) -> NodesView:
        """All nodes."""
        ...

    def node(self, name: str) -> NodePods | None:
        """A node and its pods."""
        ...

    def find(self, text: str, limit: int) -> Found:
        """Pods and nodes by a part of their names, at most `limit` of each."""
        ...


class ExplainError(Exception):
    """A request that can't be answered: HTTP status, a code for programs, and what to do."""

    def __init__(self, status: int, code: str, what: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(what)
        self.status = status
        self.code = code
        self.headers = dict(headers or {})


Handler: TypeAlias = Callable[["web.BaseRequest", tuple[str, ...]], Awaitable["msgspec.Struct"]]


class ExplainApi:
    """The handler of everything below /explain/v1.

    A fresh evaluation takes at most `patience` seconds; a client has one at a time, all together `evaluations`.
    """

    def __init__(self, provider: Provider, *, version: str, patience: float = 10.0, evaluations: int = 4) -> None:
        self._provider = provider
        self._version = version
        self._patience = patience
        self._evaluations = evaluations
        self._evaluating: set[str] = set()
        self._routes: dict[tuple[str, ...], Handler] = {
            ("overview",): self._overview,
            ("decisions",): self._decisions,
            ("decisions", "*"): self._decision,
            ("decisions", "*", "comparison"): self._comparison,
            ("pods", "*", "*"): self._pod,
            ("pods", "*", "*", "evaluation"): self._evaluation,
            ("pending",): self._pending,
            ("nodes",): self._nodes,
            ("nodes", "*"): self._node,
            ("search",): self._search,
        }

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a request whose sender may read this path."""
        leader = {LEADER_HEADER: str(self._provider.leads).lower()}
        parts = tuple(request.path.removeprefix(f"{ROOT}/").split("/"))
        if parts == ("openapi.json",):
            return await documents.raw(request, openapi.description(self._version), headers=leader)
        try:
            handler, arguments = self._route(parts)
            if not self._provider.synced:
                what = "this scheduler is still reading the cluster: ask again in a moment"
                raise ExplainError(503, "notReady", what, _RETRY)
            view = await handler(request, arguments)
        except ExplainError as problem:
            headers = {**leader, **problem.headers}
            return documents.error(problem.status, problem.code, str(problem), headers=headers)
        return await documents.document(request, view, headers=leader)

    def _route(self, parts: tuple[str, ...]) -> tuple[Handler, tuple[str, ...]]:
        for pattern, handler in self._routes.items():
            if len(pattern) == len(parts) and all(p in ("*", part) for p, part in zip(pattern, parts, strict=True)):
                return handler, tuple(part for p, part in zip(pattern, parts, strict=True) if p == "*")
        raise ExplainError(404, "noSuchPath", f"there is nothing at this path: {ROOT}/openapi.json lists all paths")

    # One method a path.

    async def _overview(self, request: web.BaseRequest, _: tuple[str, ...]) -> Overview:
        _parameters(request)
        return self._provider.overview()

    async def _decisions(self, request: web.BaseRequest, _: tuple[str, ...]) -> SummaryPage:
        return self._provider.decisions(choice_of(_parameters(request, *Choice.__slots__)))

    async def _decision(self, request: web.BaseRequest, arguments: tuple[str, ...]) -> Decision:
        _parameters(request)
        number = _number("the id of a decision", arguments[0])
        found = self._provider.decision(number)
        if found is None:
            what = f"decision {number} is not known (any more): {ROOT}/decisions lists those that are"
            raise ExplainError(404, "unknownDecision", what)
        return found

    async def _comparison(self, request: web.BaseRequest, arguments: tuple[str, ...]) -> NodeComparison:
        other = _parameters(request, "other").get("other", "")
        number = _number("the id of a decision", arguments[0])
        found = self._provider.comparison(number, _name(other) if other else "")
        if found is None:
            what = f"decision {number} is not known (any more), chose no node, or knows no other one called {other!r}"
            raise ExplainError(404, "nothingToCompare", what)
        return found

    async def _pod(self, request: web.BaseRequest, arguments: tuple[str, ...]) -> PodView:
        _parameters(request)
        namespace, name = map(_name, arguments)
        found = self._provider.pod(namespace, name)
        if found is None:
            raise _unknown_pod(namespace, name)
        return found

    async def _evaluation(self, request: web.BaseRequest, arguments: tuple[str, ...]) -> Evaluation:
        _parameters(request)
        namespace, name = map(_name, arguments)
        with self._turn(request[USER].name):
            try:
                async with asyncio.timeout(self._patience):
                    found = await self._provider.evaluate(namespace, name)
            except TimeoutError:
                what = f"the evaluation took longer than {self._patience:g} s and was given up: ask again later"
                raise ExplainError(504, "tooSlow", what) from None
        if found is None:
            raise _unknown_pod(namespace, name)
        return found

    async def _pending(self, request: web.BaseRequest, _: tuple[str, ...]) -> Pending:
        _parameters(request)
        return self._provider.pending()

    async def _nodes(self, request: web.BaseRequest, _: tuple[str, ...]) -> NodesView:
        _parameters(request)
        return self._provider.nodes()

    async def _node(self, request: web.BaseRequest, arguments: tuple[str, ...]) -> NodePods:
        _parameters(request)
        name = _name(arguments[0])
        found = self._provider.node(name)
        if found is None:
            raise ExplainError(404, "unknownNode", f"the scheduler knows no node {name!r}: {ROOT}/nodes lists all")
        return found

    async def _search(self, request: web.BaseRequest, _: tuple[str, ...]) -> Found:
        parameters = _parameters(request, "text", "limit")
        text = parameters.get("text", "")
        if not 1 <= len(text) <= _LONGEST:
            what = f"text: a part of a name is needed, of 1 to {_LONGEST} characters"
            raise ExplainError(400, "badParameter", what)
        return self._provider.find(text, _limit(parameters, 20, _MOST_FOUND))

    @contextmanager
    def _turn(self, user: str) -> Iterator[None]:
        """Room for one evaluation."""
        if user in self._evaluating:
            raise ExplainError(429, "busy", "an evaluation of yours is still running: ask again when it ended", _RETRY)
        if len(self._evaluating) >= self._evaluations:
            what = f"{self._evaluations} evaluations are running, which is the most: ask again in a moment"
            raise ExplainError(429, "busy", what, _RETRY)
        self._evaluating.add(user)
        try:
            yield
        finally:
            self._evaluating.discard(user)


def choice_of(parameters: Mapping[str, str]) -> Choice:
    """The attempts that a query asks for. Raises ExplainError."""
    limit = _limit(parameters, 100, _MOST)
    pod, result = parameters.get("pod", ""), parameters.get("result", "")
    if pod and pod.count("/") != 1:
        raise ExplainError(400, "badParameter", f"pod: {pod!r} is not of the form namespace/name")
    if result and result not in RESULTS:
        raise ExplainError(400, "badParameter", f"result: {result!r} is none of {', '.join(RESULTS)}")
    return Choice(
        limit=limit,
        before=_number("before", parameters["before"]) if "before" in parameters else None,
        pod=pod,
        node=parameters.get("node", ""),
        namespace=parameters.get("namespace", ""),
        result=result,
    )


def _parameters(request: web.BaseRequest, *known: str) -> dict[str, str]:
    for name in request.query:
        if name not in known:
            takes = f"those of this path are {', '.join(known)}" if known else "this path takes none"
            raise ExplainError(400, "badParameter", f"{name!r} is no parameter here: {takes}")
    return dict(request.query)


def _limit(parameters: Mapping[str, str], usual: int, most: int) -> int:
    limit = _number("limit", parameters.get("limit", str(usual)))
    if not 1 <= limit <= most:
        raise ExplainError(400, "badParameter", f"limit: {limit} is not between 1 and {most}")
    return limit


def _number(what: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise ExplainError(400, "badParameter", f"{what}: {text!r} is not a number")
    return int(text)


def _name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ExplainError(400, "badName", f"{text!r} can't be the name of an object")
    return text


def _unknown_pod(namespace: str, name: str) -> ExplainError:
    what = f"the scheduler knows no pod {namespace}/{name}: does it exist (kubectl get pod -n {namespace} {name})?"
    return ExplainError(404, "unknownPod", what)
