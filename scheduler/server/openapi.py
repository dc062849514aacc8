"""The description of the decisions API in OpenAPI 3.1, made from the views that it shows."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import msgspec

from scheduler.explain import views

_INTRODUCTION: Final = """\
What Berth decided on pods, and why. Read-only. The API server decides by path who may read it: a ClusterRole with
nonResourceURLs /explain/v1/* and the verb get, or /explain/v1/pods/NAMESPACE/* for the pods of one namespace.

Fields may be added within a version; none is removed or changes its meaning. A field whose value is its default is left
out. Large answers are compressed for clients that accept gzip, and carry an ETag. The header Berth-Leader says whether
the process that answered is the one that schedules; a standby knows the cluster, but no decisions but its own."""

_PATHS: Final[tuple[tuple[str, str, type[msgspec.Struct]], ...]] = (
    ("/explain/v1/overview", "The scheduler at a glance", views.Overview),
    ("/explain/v1/decisions", "Attempts, the newest first", views.SummaryPage),
    ("/explain/v1/decisions/{id}", "One attempt, whole", views.Decision),
    ("/explain/v1/decisions/{id}/comparison", "Why that node and not another one", views.NodeComparison),
    ("/explain/v1/pods/{namespace}/{name}", "A pod and its way through the scheduler", views.PodView),
    ("/explain/v1/pods/{namespace}/{name}/evaluation", "What would be decided on a pod now", views.Evaluation),
    ("/explain/v1/pending", "All waiting pods by cause and shape", views.Pending),
    ("/explain/v1/nodes", "All nodes in columns", views.NodesView),
    ("/explain/v1/nodes/{node}", "A node and the pods on it", views.NodePods),
    ("/explain/v1/search", "Pods and nodes by a part of their names, the best matches first", views.Found),
)
_QUERY: Final[tuple[tuple[str, str, dict[str, Any]], ...]] = (
    ("limit", "how many at most", {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}),
    ("before", "only attempts with a smaller id: the page's `before`", {"type": "integer", "minimum": 0}),
    ("pod", "only of this pod, as namespace/name", {"type": "string"}),
    ("node", "only with this node chosen", {"type": "string"}),
    ("namespace", "only of pods in this namespace", {"type": "string"}),
    (
        "result",
        "only with this outcome",
        {"type": "string", "enum": ["Scheduled", "Unschedulable", "Error", "Gated"]},
    ),
)
_OTHER: Final = (("other", "the other node; the next best one if it is left out", {"type": "string"}),)
_SEARCH: Final = (
    (
        "text",
        "a part of a name, or the end of a namespace, a slash and the beginning of a pod's name",
        {"type": "string", "minLength": 1, "maxLength": 317},
    ),
    (
        "limit",
        "how many pods and how many nodes at most",
        {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
    ),
)
_NEEDED: Final = frozenset({"text"})
_REFUSALS: Final = {
    "400": "A parameter or a name is not valid",
    "404": "This is not known, or not any more",
    "429": "Too many evaluations are running",
    "503": "The cluster has not been read yet",
    "504": "The evaluation took too long",
}


class Refusal(msgspec.Struct, frozen=True):
    """Why there is no answer, and what to do. `code` is for programs."""

    error: str
    code: str


@cache
def description(version: str) -> bytes:
    """The document, as JSON."""
    shown = [view for _, _, view in _PATHS]
    _, schemas = msgspec.json.schema_components([*shown, Refusal], ref_template="#/components/schemas/{name}")
    paths = {path: {"get": _operation(path, summary, view)} for path, summary, view in _PATHS}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Berth decisions API", "version": "v1", "description": _INTRODUCTION},
        "x-berth-version": version,
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "a token that the API server knows"},
                "certificate": {"type": "mutualTLS", "description": "a client certificate that the cluster signed"},
            },
        },
        "security": [{"token": []}, {"certificate": []}],
    }
    return msgspec.json.encode(document)


def _operation(path: str, summary: str, view: type[msgspec.Struct]) -> dict[str, Any]:
    names = [part[1:-1] for part in path.split("/") if part.startswith("{")]
    parameters: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "integer" if name == "id" else "string"}}
        for name in names
    ]
    query = {views.SummaryPage: _QUERY, views.NodeComparison: _OTHER, views.Found: _SEARCH}.get(view, ())
    parameters += [
        {"name": name, "in": "query", "description": told, "schema": schema, "required": name in _NEEDED}
        for name, told, schema in query
    ]
    answers: dict[str, Any] = {
        "200": {
            "description": summary,
            "headers": {
                "Berth-Leader": {
                    "description": "whether the process that answered schedules",
                    "schema": {"type": "boolean"},
                },
                "ETag": {"description": "for If-None-Match", "schema": {"type": "string"}},
            },
            "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{view.__name__}"}}},
        },
        "304": {"description": "Nothing has changed since the answer with the tag in If-None-Match"},
        **{status: _refusal(told) for status, told in _REFUSALS.items()},
        **{
            status: {"description": f"{told} (a metav1.Status, as of the API server)"}
            for status, told in (("401", "The credentials are not valid"), ("403", "The user may not read this path"))
        },
    }
    operation: dict[str, Any] = {"summary": summary, "operationId": _identifier(view), "responses": answers}
    return {**operation, "parameters": parameters} if parameters else operation


def _refusal(told: str) -> dict[str, Any]:
    return {"description": told, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}}}


def _identifier(view: type[msgspec.Struct]) -> str:
    return f"get{view.__name__}"
