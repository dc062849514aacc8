"""The decisions API as its clients see it: views for paths, and refusals that teach."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from scheduler.app.reach import ReachError
from scheduler.client.answers import GarbledAnswerError, unpacked
from scheduler.explain.views import (
    Decision,
    Evaluation,
    NodeComparison,
    NodePods,
    NodesView,
    Overview,
    Pending,
    PodView,
    SummaryPage,
)

if TYPE_CHECKING:
    from scheduler.app.reach import Requests

V = TypeVar("V", bound=msgspec.Struct)

_OK, _UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND = 200, 401, 403, 404


class RefusedError(ReachError):
    """The scheduler refuses an answer. `code` is the API's."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class _Refusal(msgspec.Struct):
    """Both forms of a refusal: the decisions API's, and a metav1.Status."""

    error: str = ""
    code: str | int = ""
    message: str = ""


class Asking:
    """Asks a scheduler for what it knows. Each method raises ReachError, RefusedError if the scheduler refuses."""

    def __init__(self, requests: Requests) -> None:
        self._requests = requests

    async def overview(self) -> Overview:
        """The scheduler at a glance."""
        return await self._view("/overview", Overview)

    async def decisions(self, *, limit: int = 100, before: int | None = None, **choice: str) -> SummaryPage:
        """Attempts, the newest first; `choice`: pod, node, namespace, result."""
        query = {"limit": str(limit), **choice} | ({} if before is None else {"before": str(before)})
        return await self._view(f"/decisions?{urlencode(query)}", SummaryPage)

    async def decision(self, number: int) -> Decision:
        """One attempt, whole."""
        return await self._view(f"/decisions/{number}", Decision)

    async def comparison(self, number: int, other: str = "") -> NodeComparison | None:
        """Why the node of an attempt and not another one; None where there is nothing to compare."""
        query = f"?{urlencode({'other': other})}" if other else ""
        try:
            return await self._view(f"/decisions/{number}/comparison{query}", NodeComparison)
        except RefusedError as problem:
            if problem.code != "nothingToCompare":
                raise
            return None

    async def pod(self, namespace: str, name: str) -> PodView | None:
        """A pod and its way; None if the scheduler knows no such pod."""
        try:
            return await self._view(_pod(namespace, name), PodView)
        except RefusedError as problem:
            if problem.code != "unknownPod":
                raise
            return None

    async def evaluation(self, namespace: str, name: str) -> Evaluation:
        """What would be decided on a pod now."""
        return await self._view(f"{_pod(namespace, name)}/evaluation", Evaluation)

    async def pending(self) -> Pending:
        """All waiting pods."""
        return await self._view("/pending", Pending)

    async def nodes(self) -> NodesView:
        """All nodes."""
        return await self._view("/nodes", NodesView)

    async def node(self, name: str) -> NodePods:
        """A node and its pods."""
        return await self._view(f"/nodes/{quote(name, safe='')}", NodePods)

    async def _view(self, path: str, shown: type[V]) -> V:
        path = f"/explain/v1{path}"
        answer = await self._requests.get(path)
        try:
            body = unpacked(answer)
            if answer.status != _OK:
                raise _refusal(answer.status, body, path.partition("?")[0])
            return msgspec.json.decode(body, type=shown)
        except (msgspec.MsgspecError, GarbledAnswerError) as problem:
            raise ReachError(f"{path}: the answer is not understood: {problem}") from problem


def _pod(namespace: str, name: str) -> str:
    return f"/pods/{quote(namespace, safe='')}/{quote(name, safe='')}"


def _refusal(status: int, body: bytes, path: str) -> ReachError:
    try:
        told = msgspec.json.decode(body, type=_Refusal)
    except msgspec.MsgspecError:
        told = _Refusal()
    if status == _UNAUTHORIZED:
        what = (
            "the scheduler does not take the credentials of your kubeconfig: it asks the API server whose token it is "
            "(TokenReview), and takes client certificates of the cluster's authority"
        )
    elif status == _FORBIDDEN:
        what = (
            f"the scheduler may not show you this: {told.message}\n"
            "it takes a ClusterRole (bound by a ClusterRoleBinding) with the rule\n"
            '  {nonResourceURLs: ["/explain/v1/*"], verbs: [get]}\n'
            "or, for the pods of one namespace only, /explain/v1/pods/NAMESPACE/*; the chart makes it for whom "
            "rbac.explain.subjects lists"
        )
    elif status == _NOT_FOUND and not told.error:
        what = "this scheduler has no decisions API: it is older than this command, or recording is off"
    else:
        what = told.error or f"the scheduler answered {path} with status {status}"
    return RefusedError(status, str(told.code), what)
