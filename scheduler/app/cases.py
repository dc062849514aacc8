"""Single decisions, one case a line: the format of the differential tests' oracle.

A case is {"id", "config": KubeSchedulerConfiguration or null, "objects": [...], "pod": Pod}. All nodes are scored,
whatever percentage the configuration says. With "sampling": true the answer also has "sampled", how many nodes some
attempts under the configured percentage look at; with "events": [{"old", "new"}] it has "hints", what the plugins make
of them; with "binding": a behaviour of the volume controllers it has "bound", how the binding cycle ends.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec.structs import replace

from scheduler.api.decode import DecodeError, decode_as
from scheduler.api.defaults import apply_defaults
from scheduler.api.objects import Pod
from scheduler.api.resources import KINDS
from scheduler.app.case_binding import BEHAVIORS, CaseWriters, end_of
from scheduler.app.case_events import hints_of
from scheduler.app.case_history import fill, rehearsal
from scheduler.app.profiles import build_profiles
from scheduler.app.reservations import reservations
from scheduler.cache.state import ClusterState
from scheduler.config.errors import ConfigError
from scheduler.config.load import default_config, load_config
from scheduler.cycle import outcome
from scheduler.cycle.algorithm import Algorithm, Decision, FitError, NoNodesError
from scheduler.cycle.outcome import Failure
from scheduler.explain.record import DecisionRecord, failed, gated, record
from scheduler.framework.handle import Handle
from scheduler.framework.post_filter import run_post_filters
from scheduler.framework.status import PluginError
from scheduler.metrics.scheduler_metrics import SchedulerMetrics

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scheduler.cache.pods import PodInfo
    from scheduler.config.features import FeatureGates
    from scheduler.config.types import KubeSchedulerConfiguration
    from scheduler.framework.handle import Factory
    from scheduler.framework.profile import Profile

log = logging.getLogger(__name__)

_SAMPLING_ATTEMPTS = 3
"""Each begins where the one before left off."""


class CaseError(ValueError):
    """A case that can't be read."""


class _Read(NamedTuple):
    """A case as it was read."""

    state: ClusterState
    profile: Profile
    pod: PodInfo
    writers: CaseWriters
    percentage: int
    """percentageOfNodesToScore, where the profile has none of its own."""


class CaseRunner:
    """Decides cases. `checked` is told of each decision (the self-check hooks in there).

    With `warm` decisions are taken on the way to the case's state as well, so that there is something kept from them
    when the one that counts is taken.
    """

    def __init__(
        self,
        registry: Mapping[str, Factory],
        gates: FeatureGates,
        *,
        checked: Callable[[Profile, PodInfo, Decision], None] | None = None,
        warm: bool = False,
    ) -> None:
        self._warm = warm
        self._registry = registry
        self._gates = gates
        self._checked = checked
        self._metrics = SchedulerMetrics(gates=gates.enabled)

    def run_line(self, line: str | bytes) -> dict[str, Any]:
        """The decision on one line of JSON, as what is to be printed; what can't be read is in its "error"."""
        try:
            case = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError) as problem:
            return {"id": None, "error": f"case: {problem}"}
        if not isinstance(case, dict):
            return {"id": None, "error": "case: not a JSON object"}
        decision: dict[str, Any] = {"id": case.get("id"), "feasible": {}, "infeasible": {}, "best": []}
        try:
            read = self._read(case)
            return {**decision, **msgspec.to_builtins(self._decide(read)), **_extras(case, read)}
        except (CaseError, ConfigError) as problem:
            return {**decision, "error": str(problem)}
        except Exception as problem:  # one case that can't be decided must not keep the others from it
            log.exception("Case %s failed", case.get("id"))
            return {**decision, "error": f"{type(problem).__name__}: {problem}"}

    def run(self, case: Mapping[str, Any]) -> DecisionRecord:
        """The decision on a case. Raises CaseError or ConfigError if it can't be read."""
        return self._decide(self._read(case))

    def _read(self, case: Mapping[str, Any]) -> _Read:
        state = ClusterState()
        config = self._config(case.get("config"))
        writers = _writers(state, case.get("binding"))
        handle = Handle(state, writers, self._gates.enabled, metrics=self._metrics, volume_writer=writers)
        profiles = build_profiles(config, self._registry, handle, source="config")
        decoded = [_decoded(f"objects[{index}]", value) for index, value in enumerate(_list(case, "objects"))]
        pod = _decoded("pod", _named(case.get("pod")))
        if not isinstance(pod, Pod):
            raise CaseError("pod: not a Pod")
        info = state.info(pod)
        profile = profiles.get(info.scheduler_name)
        if profile is None:
            raise CaseError(f'pod: no profile for schedulerName "{info.scheduler_name}"')
        rehearse = partial(rehearsal, state, profile, info) if self._warm else None
        fill(state, decoded, profiles, rehearse, ordered=case.get("sampling") is True)
        if info.nominated_node_name:
            state.nominations.add(info, info.nominated_node_name)
        return _Read(state, profile, info, writers, config.percentage_of_nodes_to_score or 0)

    def _config(self, config: Any) -> KubeSchedulerConfiguration:
        if config is None:
            loaded = default_config(feature_gates=self._gates)
        else:
            loaded = load_config(config, source="config", known_plugins=self._registry, feature_gates=self._gates)
        if loaded.extenders:
            raise CaseError("config: extenders have no place in a case")
        return loaded

    def _decide(self, read: _Read) -> DecisionRecord:
        state, profile, pod = read.state, read.profile, read.pod
        for gate in profile.pre_enqueue:
            status = gate.pre_enqueue(pod)
            if status is not None:
                return gated(status.by(gate.name))
        begun: list[Decision] = []
        algorithm = Algorithm(state, all_nodes=True)
        try:
            algorithm.decide(profile, pod, details=True, observe=begun.append)
            failure = None
        except NoNodesError as problem:
            return failed(Failure(outcome.UNSCHEDULABLE, str(problem)))
        except FitError as problem:
            plugins = frozenset(problem.rejections.rejecting_plugins())
            message = problem.rejections.message(_post_filter_message(profile, begun[0]))
            failure = Failure(outcome.UNSCHEDULABLE, message, plugins)
        except PluginError as problem:
            failure = outcome.error(str(problem))
        # An attempt that failed came to no decision that could be compared.
        if begun and self._checked is not None and (failure is None or failure.rejected):
            self._checked(profile, pod, begun[0])
            if failure is None:  # and as in a cluster, where nobody asks for details: a shorter way to the same
                self._checked(profile, pod, Algorithm(state, all_nodes=True).decide(profile, pod))
        if not begun:
            return failed(failure or outcome.error(""))
        held = reservations(profile, begun[0]) if failure is None else {}
        return replace(record(begun[0], failure), reserve=held)


def _extras(case: Mapping[str, Any], read: _Read) -> dict[str, Any]:
    """What a case asks for beside the decision."""
    found: dict[str, Any] = {}
    if case.get("sampling") is True:
        found["sampled"] = _sampled(read)
    if changes := [_change(f"events[{index}]", value) for index, value in enumerate(_list(case, "events"))]:
        found["hints"] = hints_of(read.state, read.profile, read.pod, changes)
    if case.get("binding"):
        with suppress(NoNodesError, FitError, PluginError):
            decision = Algorithm(read.state, all_nodes=True).decide(read.profile, read.pod)
            found["bound"] = end_of(read.profile, decision, read.writers)
    return found


def _writers(state: ClusterState, behavior: Any) -> CaseWriters:
    if behavior and behavior not in BEHAVIORS:
        raise CaseError(f"binding: {behavior!r}: one of {', '.join(BEHAVIORS)} was expected")
    return CaseWriters(state, behavior or "")


def _sampled(read: _Read) -> list[dict[str, int]]:
    """How many nodes are looked at, and how many of them fit; none where the pod is turned down."""
    algorithm = Algorithm(read.state, percentage_of_nodes_to_score=read.percentage)
    found = []
    for _ in range(_SAMPLING_ATTEMPTS):
        one = {"evaluated": 0, "feasible": 0}
        with suppress(NoNodesError, FitError, PluginError):
            decision = algorithm.decide(read.profile, read.pod)
            one = {"evaluated": decision.evaluated, "feasible": len(decision.feasible)}
        found.append(one)
    return found


def _change(place: str, value: Any) -> tuple[Any, Any]:
    """An event's object before and after, either of them None."""
    if not isinstance(value, dict):
        raise CaseError(f"{place}: not an object")
    named = [(f"{place}.{key}", value.get(key)) for key in ("old", "new")]
    old, new = (None if item is None else _decoded(where, item) for where, item in named)
    if old is None and new is None:
        raise CaseError(f"{place}: neither old nor new is of a kind that scheduling reads")
    return old, new


def _list(case: Mapping[str, Any], key: str) -> list[Any]:
    value = case.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise CaseError(f"{key}: not a list")
    return value


def _post_filter_message(profile: Profile, decision: Decision) -> str:
    return run_post_filters(profile.post_filter, decision.cycle).message if profile.post_filter else ""


def _named(pod: Any) -> Any:
    """A case's pod with its apiVersion and kind, which it may leave out."""
    return {"apiVersion": "v1", "kind": "Pod", **pod} if isinstance(pod, dict) else pod


def _decoded(place: str, value: Any) -> Any:
    if not isinstance(value, dict):
        raise CaseError(f"{place}: not an object")
    type_ = KINDS.get((str(value.get("apiVersion")), str(value.get("kind"))))
    if type_ is None:
        return None
    try:
        return decode_as(type_, apply_defaults(value))
    except DecodeError as problem:
        raise CaseError(f"{place}: {value.get('kind')}: {problem}") from problem
