"""An extender that is asked over HTTP (HTTPExtender in pkg/scheduler/extender.go)."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from typing import TYPE_CHECKING, TypeVar

import msgspec

from scheduler.client.extender import wire
from scheduler.client.extender.caller import Caller
from scheduler.client.extender.interface import Extender, ExtenderError
from scheduler.client.extender.tls import tls_context
from scheduler.client.kinds import NODES, PODS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from scheduler.api.objects import Node, Pod
    from scheduler.client.extender.caller import Answer
    from scheduler.client.extender.interface import (
        CandidateVictims,
        FilterAnswer,
        HostScore,
        PodIdentity,
        VictimUIDs,
    )
    from scheduler.client.informer import Informer
    from scheduler.client.interface import Source
    from scheduler.config.types import Extender as ExtenderConfig

__all__ = ["HttpExtender"]

T = TypeVar("T")

_OK = 200


class _Resources(msgspec.Struct):
    requests: dict[str, msgspec.Raw] | None = None
    limits: dict[str, msgspec.Raw] | None = None


class _Container(msgspec.Struct):
    resources: _Resources | None = None


class _Spec(msgspec.Struct, rename="camel"):
    containers: list[_Container] | None = None
    init_containers: list[_Container] | None = None


class _Pod(msgspec.Struct):
    spec: _Spec = msgspec.field(default_factory=_Spec)


class HttpExtender(Extender):
    """One extender of the configuration.

    Pods, and nodes where the extender keeps none itself, are sent as the API server has them; `read_from` must have
    been called before the first question. Raises ExtenderTLSError for certificates that can't be used.
    """

    def __init__(self, config: ExtenderConfig) -> None:
        self._config = config
        self.name = config.url_prefix
        self.weight = config.weight
        self.ignorable = config.ignorable
        self.filters = bool(config.filter_verb)
        self.prioritizes = bool(config.prioritize_verb)
        self.binds = bool(config.bind_verb)
        self.preempts = bool(config.preempt_verb)
        self._by_name = config.node_cache_capable
        self._managed = frozenset(resource.name for resource in config.managed_resources)
        server_name = config.tls_config.server_name if config.tls_config is not None else ""
        self._caller = Caller(timeout=config.http_timeout.seconds, tls=tls_context(config), server_name=server_name)
        self._pods: Informer[Pod] | None = None
        self._nodes: Informer[Node] | None = None

    def read_from(self, source: Source) -> None:
        """Have whole pods and nodes kept, as far as this extender is sent any. Must come before the first object."""
        victims = self.preempts and not self._by_name
        self._pods = source.informer(PODS)
        self._pods.keep_whole(lambda pod: victims or not pod.spec.node_name, leave_out=("managedFields",))
        if (self.filters or self.prioritizes) and not self._by_name:
            self._nodes = source.informer(NODES)
            self._nodes.keep_whole(lambda _: True)

    def interested(self, pod: PodIdentity) -> bool:
        """Whether a container requests or limits a resource that the extender manages; always where it manages none."""
        if not self._managed:
            return True
        spec = msgspec.json.decode(self._whole_pod(pod), type=_Pod).spec
        for container in (*(spec.containers or ()), *(spec.init_containers or ())):
            resources = container.resources or _Resources()
            if self._managed & {*(resources.requests or ()), *(resources.limits or ())}:
                return True
        return False

    def filter(self, pod: PodIdentity, nodes: Sequence[str]) -> FilterAnswer:
        """Which of the nodes the pod may go to; see `Extender`.

        A node that was not asked about fails the call: kube-scheduler goes on with such a node where nodes are sent
        whole, although it may not exist.
        """
        body = self._send(self._config.filter_verb, self._about(pod, nodes), lambda body: body).result()
        answer = wire.filter_answer(body, names=self._by_name)
        known = frozenset(nodes)
        for name in answer.kept:
            if name not in known:
                raise ExtenderError(
                    f'extender "{self.name}" claims a filtered node "{name}" which is not found in the input node list'
                )
        return answer

    def prioritize(self, pod: PodIdentity, nodes: Sequence[str]) -> Future[Sequence[HostScore]]:
        """Ask for scores; see `Extender`."""
        try:
            body = self._about(pod, nodes)
        except ExtenderError as problem:
            failed: Future[Sequence[HostScore]] = Future()
            failed.set_exception(problem)
            return failed
        return self._send(self._config.prioritize_verb, body, wire.priority_answer)

    async def bind(self, pod: PodIdentity, node: str) -> None:
        """Let the extender bind; see `Extender`."""
        await asyncio.wrap_future(self._send(self._config.bind_verb, wire.binding(pod, node), wire.bind_answer))

    def preempt(self, pod: PodIdentity, candidates: Mapping[str, CandidateVictims]) -> Mapping[str, VictimUIDs]:
        """Which victims the extender agrees to; see `Extender`."""
        whole = None
        if not self._by_name:
            whole = {node: [self._whole_pod(one) for one in victims.pods] for node, victims in candidates.items()}
        body = wire.about_victims(self._whole_pod(pod), candidates, whole)
        return self._send(self._config.preempt_verb, body, wire.preemption_answer).result()

    def close(self) -> None:
        """Close the connections."""
        self._caller.close()

    def _about(self, pod: PodIdentity, names: Sequence[str]) -> bytes:
        whole = self._whole_pod(pod)
        if self._by_name:
            return wire.about_nodes(whole, names=names, nodes=None)
        return wire.about_nodes(whole, names=None, nodes=map(self._whole_node, names))

    def _whole_pod(self, pod: PodIdentity) -> bytes:
        found = self._pods.whole(pod.namespace, pod.name) if self._pods is not None else None
        return self._there(found, f'pod "{pod.namespace}/{pod.name}"')

    def _whole_node(self, name: str) -> bytes:
        found = self._nodes.whole("", name) if self._nodes is not None else None
        return self._there(found, f'node "{name}"')

    def _there(self, found: bytes | None, what: str) -> bytes:
        if found is None:
            raise ExtenderError(f'{what} is gone: it can\'t be sent to extender "{self.name}"')
        return found

    def _send(self, verb: str, body: bytes, read: Callable[[bytes], T]) -> Future[T]:
        url = f"{self.name.rstrip('/')}/{verb}"
        result: Future[T] = Future()

        def answered(call: Future[Answer]) -> None:
            try:
                answer = call.result()
                if answer.status != _OK:
                    raise ExtenderError(f"failed {verb} with extender at URL {url}, code {answer.status}")
                result.set_result(read(answer.body))
            except BaseException as problem:
                result.set_exception(problem)

        self._caller.post(url, body).add_done_callback(answered)
        return result
