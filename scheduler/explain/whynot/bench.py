"""Where changes are tried: on the state itself, each for the length of one call, by the filters that decide."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from scheduler.explain.whynot.survey import Survey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from scheduler.api.objects import Pod
    from scheduler.cache.pods import PodInfo
    from scheduler.cache.state import ClusterState
    from scheduler.explain.whynot.change import Change, Option
    from scheduler.framework.profile import Profile


class Bench:
    """A pod on a cluster. What the filters remember of trials is kept apart from what they remember of decisions.

    `tried`: how many changes have been tried.
    """

    def __init__(self, state: ClusterState, profile: Profile, pod: PodInfo) -> None:
        self.state = state
        self.profile = profile.aside()
        self.pod = pod
        self.tried = 0

    def survey(self) -> Survey:
        """What the filters say as things are, those for feasible nodes about some of the others as well."""
        survey = Survey(self.state, self.profile, self.pod)
        survey.look_closer()
        return survey

    def opened(self, change: Change) -> list[str]:
        """The nodes, by name, that take the pod once this is changed. The state is as before afterwards."""
        self.tried += 1
        with self._changed(change) as pod:
            return [] if pod is None else Survey(self.state, self.profile, pod).names

    def behind(self, change: Change, generators: Sequence[Callable[[Survey], Iterator[Option]]]) -> list[Option]:
        """What there would be to try once this is changed. The state is as before afterwards."""
        with self._changed(change) as pod:
            if pod is None:
                return []
            survey = Survey(self.state, self.profile, pod)
            survey.look_closer()
            return [option for generator in generators for option in generator(survey) if option]

    @contextmanager
    def _changed(self, change: Change) -> Iterator[PodInfo | None]:
        """The state with a change, for a while; the pod as it is then, None where a node of it is gone."""
        state = self.state
        if not all(name in state.nodes for name in change.nodes):
            yield None
            return
        with ExitStack() as stack:
            nodes = stack.enter_context(state.what_if_nodes())
            stack.enter_context(_other_objects(state, change.objects))
            for name, edit in change.nodes.items():
                nodes.set(edit(state.nodes.node(state.nodes.rows[name])))
            for node in change.new:
                nodes.set(node)
            pods = stack.enter_context(state.what_if())
            for pod in change.gone:
                there = state.pods.get(pod.uid)
                if there is not None:
                    pods.remove(there)
            for pod in change.come:
                pods.add(pod, pod.node_name)
            yield edited(self.pod, change, state)


def edited(pod: PodInfo, change: Change, state: ClusterState) -> PodInfo:
    """The record of a pod as a change would make it."""
    if change.pod is None:
        return pod
    info = state.info(change.pod(whole(pod)))
    return replace(
        pod, shape=info.shape, usage=info.usage, priority=info.priority, preemption_policy=info.preemption_policy
    )


def whole(pod: PodInfo) -> Pod:
    """The object that a record is of, as far as scheduling knows it; its status is not kept."""
    known = pod.shape.pod
    metadata = replace(known.metadata, name=pod.name, uid=pod.uid, resource_version=pod.resource_version)
    spec = replace(known.spec, priority=pod.priority, preemption_policy=pod.preemption_policy)
    return replace(known, metadata=metadata, spec=spec)


@contextmanager
def _other_objects(state: ClusterState, objects: Sequence[tuple[str, Any]]) -> Iterator[None]:
    """Let objects take the place of those of their name, or come, for a while."""
    before = []
    try:
        for kind, item in objects:
            meta = item.metadata
            before.append((kind, meta.namespace, meta.name, state.objects.get(kind, meta.namespace, meta.name)))
            state.set_object(kind, item)
        yield
    finally:
        for kind, namespace, name, item in reversed(before):
            if item is None:
                state.remove_object(kind, namespace, name)
            else:
                state.set_object(kind, item)
