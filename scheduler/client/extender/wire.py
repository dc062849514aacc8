"""The JSON that goes to extenders and comes back (k8s.io/kube-scheduler/extender/v1/types.go).

Go takes the names of fields in any case, and extenders rely on that. What comes back is read as hostile input.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec

from scheduler.api.int64 import fits64
from scheduler.client.extender.interface import ExtenderError, FilterAnswer, HostScore, VictimUIDs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from scheduler.client.extender.interface import CandidateVictims, PodIdentity

__all__ = [
    "about_nodes",
    "about_victims",
    "bind_answer",
    "binding",
    "filter_answer",
    "preemption_answer",
    "priority_answer",
]


def about_nodes(pod: bytes, *, names: Sequence[str] | None, nodes: Iterable[bytes] | None) -> bytes:
    """ExtenderArgs: a whole pod, and nodes by name or whole."""
    listed = None if nodes is None else {"metadata": {}, "items": [msgspec.Raw(node) for node in nodes]}
    return msgspec.json.encode({"Pod": msgspec.Raw(pod), "Nodes": listed, "NodeNames": names})


def about_victims(
    pod: bytes, candidates: Mapping[str, CandidateVictims], whole: Mapping[str, Sequence[bytes]] | None
) -> bytes:
    """ExtenderPreemptionArgs: by node the victims' uids, or the victims themselves where `whole` has them."""
    by_name = meta = None
    if whole is None:
        meta = {
            node: _victims(({"UID": victim.uid} for victim in victims.pods), victims)
            for node, victims in candidates.items()
        }
    else:
        by_name = {node: _victims(map(msgspec.Raw, whole[node]), victims) for node, victims in candidates.items()}
    return msgspec.json.encode({"Pod": msgspec.Raw(pod), "NodeNameToVictims": by_name, "NodeNameToMetaVictims": meta})


def binding(pod: PodIdentity, node: str) -> bytes:
    """ExtenderBindingArgs."""
    return msgspec.json.encode({"PodName": pod.name, "PodNamespace": pod.namespace, "PodUID": pod.uid, "Node": node})


def filter_answer(body: bytes, *, names: bool) -> FilterAnswer:
    """ExtenderFilterResult. `names`: names of nodes come before whole ones, where there are both.

    An answer with neither lets no node pass. Raises ExtenderError, also for an error in the answer.
    """
    result = _Fields(_first_value(body), "ExtenderFilterResult")
    if problem := result.text("Error"):
        raise ExtenderError(problem)
    listed = result.texts("NodeNames")
    nodes = result.object("Nodes")
    kept: list[str] = []
    whole = False
    if names and listed is not None:
        kept = listed
    elif nodes is not None:
        kept = [_node_name(node) for node in nodes.items("items")]
        whole = True
    return FilterAnswer(kept, result.text_map("FailedNodes"), result.text_map("FailedAndUnresolvableNodes"), whole)


def priority_answer(body: bytes) -> list[HostScore]:
    """HostPriorityList. Raises ExtenderError."""
    value = _first_value(body)
    if value is None:
        return []
    if not isinstance(value, list):
        raise ExtenderError(f"json: cannot unmarshal {_kind(value)} into Go value of type v1.HostPriorityList")
    entries = (_Fields(entry, "HostPriority") for entry in value)
    return [HostScore(entry.text("Host"), entry.integer("Score")) for entry in entries]


def bind_answer(body: bytes) -> None:
    """ExtenderBindingResult. Raises ExtenderError where the extender did not bind."""
    if problem := _Fields(_first_value(body), "ExtenderBindingResult").text("Error"):
        raise ExtenderError(problem)


def preemption_answer(body: bytes) -> dict[str, VictimUIDs]:
    """ExtenderPreemptionResult: the victims' uids by node. Raises ExtenderError."""
    by_node = _Fields(_first_value(body), "ExtenderPreemptionResult").mapping("NodeNameToMetaVictims")
    answer = {}
    for node, value in by_node.items():
        victims = _Fields(value, "MetaVictims")
        uids = [_Fields(pod, "MetaPod").text("UID") for pod in victims.items("Pods")]
        answer[node] = VictimUIDs(uids, victims.integer("NumPDBViolations"))
    return answer


def _victims(pods: Iterable[Any], victims: CandidateVictims) -> dict[str, Any]:
    return {"Pods": list(pods), "NumPDBViolations": victims.pdb_violations}


def _node_name(node: Any) -> str:
    metadata = _Fields(node, "Node").object("metadata")
    return "" if metadata is None else metadata.text("name")


class _Fields:
    """A JSON object with field names in any case, read as Go reads it: null and absent are the zero value."""

    __slots__ = ("_type", "_values")

    def __init__(self, value: Any, type_: str) -> None:
        if value is not None and not isinstance(value, dict):
            raise ExtenderError(f"json: cannot unmarshal {_kind(value)} into Go value of type v1.{type_}")
        self._type = type_
        self._values: dict[str, Any] = {}
        for key, field in (value or {}).items():
            if field is not None:
                self._values[key.lower()] = field

    def text(self, field: str) -> str:
        value = self._values.get(field.lower(), "")
        return value if isinstance(value, str) else self._refuse(field, value, "string")

    def integer(self, field: str) -> int:
        value = self._values.get(field.lower(), 0)
        if isinstance(value, bool) or not isinstance(value, int) or not fits64(value):
            self._refuse(field, value, "int64")
        return int(value)

    def items(self, field: str) -> list[Any]:
        value = self._values.get(field.lower(), [])
        return value if isinstance(value, list) else self._refuse(field, value, "[]")

    def texts(self, field: str) -> list[str] | None:
        value = self._values.get(field.lower())
        if value is None:
            return None
        if not isinstance(value, list):
            self._refuse(field, value, "[]string")
        return [item if isinstance(item, str) else self._text_of(field, item) for item in value]

    def mapping(self, field: str) -> dict[str, Any]:
        value = self._values.get(field.lower(), {})
        return value if isinstance(value, dict) else self._refuse(field, value, "map")

    def text_map(self, field: str) -> dict[str, str]:
        return {key: self._text_of(field, value) for key, value in self.mapping(field).items()}

    def object(self, field: str) -> _Fields | None:
        value = self._values.get(field.lower())
        return None if value is None else _Fields(value, field)

    def _text_of(self, field: str, value: Any) -> str:
        if value is None:
            return ""
        return value if isinstance(value, str) else self._refuse(field, value, "string")

    def _refuse(self, field: str, value: Any, wanted: str) -> Any:
        shown = f"number {value}" if _kind(value) == "number" and wanted == "int64" else _kind(value)
        raise ExtenderError(
            f"json: cannot unmarshal {shown} into Go struct field {self._type}.{field} of type {wanted}"
        )


def _kind(value: Any) -> str:
    """What Go's encoding/json calls a kind of value."""
    if value is None:
        return "null"
    return _KINDS[type(value)]


_KINDS: dict[type[Any], str] = {
    bool: "bool",
    int: "number",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}


def _constant(name: str) -> Any:
    raise ExtenderError(f"invalid character '{name[0]}' looking for beginning of value")


_DECODER = json.JSONDecoder(parse_constant=_constant)


def _first_value(body: bytes) -> Any:
    """The first JSON value of an answer; what follows it is of no interest, as to Go's decoder."""
    text = body.decode(errors="replace").lstrip(" \t\r\n")
    if not text:
        raise ExtenderError("EOF")
    try:
        return _DECODER.raw_decode(text)[0]
    except json.JSONDecodeError as problem:
        if problem.pos >= len(text) or problem.msg.startswith("Unterminated string"):
            raise ExtenderError("unexpected EOF") from problem
        character = text[problem.pos]
        if problem.msg == "Expecting value":
            raise ExtenderError(f"invalid character '{character}' looking for beginning of value") from problem
        raise ExtenderError(f"invalid character '{character}': {problem.msg}") from problem
    except (RecursionError, ValueError) as problem:
        raise ExtenderError(str(problem)) from problem
