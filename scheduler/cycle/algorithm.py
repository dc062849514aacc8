"""The scheduling algorithm: from a pod to the nodes that tie for it (schedulePod in pkg/scheduler/schedule_one.go).

A plain synchronous function of the live state: nothing else runs while it decides.
"""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Self

import numpy as np
import numpy.typing as npt

from scheduler.cycle.extending import extender_scores, pass_extenders
from scheduler.cycle.sampling import Places, nodes_to_find
from scheduler.framework.course import Course
from scheduler.framework.cycle import Cycle
from scheduler.framework.diagnosis import Rejections
from scheduler.framework.filtering import (
    Selection,
    active_filters,
    count_evaluations,
    filter_nodes,
    in_turn,
    raise_for_errors,
    select,
)
from scheduler.framework.pre_filter import NOTHING_SAID, run_pre_filters
from scheduler.framework.recorder import FILTER, PRE_FILTER, PRE_SCORE, SCORE
from scheduler.framework.scoring import PluginScores, detailed_scores, run_pre_scores, total_scores, view_of
from scheduler.framework.standing import Standing
from scheduler.framework.status import Code, PluginError, unresolvable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scheduler.cache.pods import PodInfo
    from scheduler.cache.state import ClusterState
    from scheduler.framework.interface import FilterPlugin
    from scheduler.framework.profile import Profile
    from scheduler.framework.shape_cache import ShapeCache
    from scheduler.framework.status import Status

log = logging.getLogger(__name__)

Rows = npt.NDArray[np.intp]
Int64s = npt.NDArray[np.int64]

NO_NODES = "no nodes available to schedule pods"
ALL_NODES = 100
_POINTS: Final = (PRE_FILTER, FILTER, PRE_SCORE, SCORE)


_NO_ROWS: Final[Rows] = np.empty(0, np.intp)


class NoNodesError(Exception):
    """There is not a single node."""

    def __init__(self) -> None:
        super().__init__(NO_NODES)


class FitError(Exception):
    """The pod fits on no node; `rejections` say why."""

    def __init__(self, rejections: Rejections) -> None:
        super().__init__(rejections)
        self.rejections = rejections

    def __str__(self) -> str:
        return self.rejections.message()


class Decision:
    """How one attempt came out before a node is picked.

    - `feasible`: rows that fit.
    - `leaders`: those of them with the highest total, any of which may be picked; `best`: the same as an array.
    - `rejections`: why the other nodes were turned down.
    - `derived`: whether the feasible rows are just those that all filters let pass, in ascending order.
    - `evaluated`: how many nodes were looked at. `scores`: by plugin, where details were asked for.
    - `start`: where in the order of nodes the search began, before it is taken modulo the number of candidates;
      `percentage`: the percentageOfNodesToScore in force, None where every node is looked at whatever it says.
    - `timings`: (extension point, code, seconds) of the points that were reached.
    """

    __slots__ = (
        "_standing",
        "_totals",
        "cycle",
        "derived",
        "evaluated",
        "feasible",
        "leaders",
        "nominated",
        "percentage",
        "pre_filter",
        "pre_score_skipped",
        "rejections",
        "scores",
        "start",
        "timings",
    )

    def __init__(self, cycle: Cycle, start: int, percentage: int | None) -> None:
        self.cycle = cycle
        self.start = start
        self.percentage = percentage
        self.pre_filter = NOTHING_SAID
        self.rejections = Rejections(cycle)
        self.feasible: Rows = _NO_ROWS
        self.leaders: Sequence[int] | Rows = ()
        self._standing: Standing | None = None
        self._totals: Int64s | None = None
        self.derived = not cycle.extenders
        self.evaluated = 0
        self.nominated = False
        self.pre_score_skipped: frozenset[str] = frozenset()
        self.scores: list[PluginScores] = []
        self.timings: list[tuple[str, Code, float]] = []

    def take_scores(self, scores: Standing | Int64s) -> None:
        """The totals of the feasible nodes, in their order, or how they stand."""
        if isinstance(scores, Standing):
            self._standing = scores
            self.leaders = scores.leaders
        else:
            self._totals = scores
            self.leaders = self.feasible[(scores == np.maximum.reduce(scores)).nonzero()[0]]

    @property
    def scored(self) -> bool:
        """Whether there are totals."""
        return self._totals is not None or self._standing is not None

    @property
    def totals(self) -> Int64s | None:
        """The total of each feasible node, int64 in their order; None where scoring was not needed.

        To be asked before the next decision is taken, as is `best`: raises RuntimeError afterwards.
        """
        if self._totals is None and self._standing is not None:
            self._totals = self._standing.totals()
        return self._totals

    @property
    def best(self) -> Rows:
        """The rows of the highest total, intp."""
        if self._standing is not None:
            return self._standing.best()
        return np.asarray(self.leaders, np.intp)

    @property
    def begun(self) -> bool:
        """Whether the PreFilter plugins have answered; if not, there is nothing in here but timings."""
        return self.pre_filter is not NOTHING_SAID

    @property
    def filtered(self) -> bool:
        """Whether the PreFilter plugins let the pod in."""
        return self.begun and self.pre_filter.status is None


class _Timed:
    """Times a part of a decision; one that raises counts as failed."""

    __slots__ = ("_decision", "_point", "_start", "code")

    def __init__(self, decision: Decision, point: str) -> None:
        self._decision = decision
        self._point = point
        self._start = time.perf_counter()
        self.code = Code.SUCCESS

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        code = self.code if kind is None else Code.ERROR
        self._decision.timings.append((self._point, code, time.perf_counter() - self._start))


def _off_course(decision: Decision) -> bool:
    """Forget what a course has come to."""
    cycle = decision.cycle
    cycle.data.clear()
    cycle.feasible = None
    decision.feasible = _NO_ROWS
    decision.derived = True
    if cycle.trace is not None:
        cycle.trace.forget_scores()
    decision.rejections = Rejections(cycle)
    return False


class Algorithm:
    """Takes decisions on a cluster state.

    `percentage_of_nodes_to_score` holds where a profile has none of its own; with `all_nodes` every node is looked at
    whatever is configured.
    """

    def __init__(self, state: ClusterState, *, percentage_of_nodes_to_score: int = 0, all_nodes: bool = False) -> None:
        self.state = state
        self._all_nodes = all_nodes
        self.percentage_of_nodes_to_score = percentage_of_nodes_to_score
        self.next_start = 0
        self.extenders_scored = False
        """Whether extenders have been asked for scores."""

    def decide(
        self,
        profile: Profile,
        pod: PodInfo,
        *,
        details: bool = False,
        cycle: Cycle | None = None,
        observe: Callable[[Decision], None] | None = None,
    ) -> Decision:
        """Filter and score the nodes for a pod.

        With `details` scores are kept plugin by plugin, and a single feasible node is scored as well. `observe` is
        handed the decision as it begins, so that what there is of it is known also where the attempt fails. Raises
        NoNodesError, FitError, PluginError.
        """
        cycle = cycle or Cycle(pod, self.state, profile.name, extenders=profile.extenders)
        self.state.nodes.order.rows()  # looked at in each cycle, however it ends
        if not len(self.state.nodes):
            raise NoNodesError
        decision = Decision(cycle, self.next_start, self._percentage(profile))
        if observe is not None:
            observe(decision)
        cache = profile.caches.of(cycle.shape)
        usual = not details and self._is_usual(profile, cycle)
        if usual and self._take_course(profile, cache, decision):
            return decision
        with _Timed(decision, PRE_FILTER) as timed:
            decision.pre_filter = outcome = run_pre_filters(profile.pre_filter, cycle, cache)
            if outcome.status is not None:
                timed.code = outcome.status.code
        cycle.filters = active_filters(profile, outcome.skipped)
        if outcome.status is not None:
            self._refuse(decision)
        with _Timed(decision, FILTER):
            self._filter(profile, decision)
        cycle.feasible = decision.feasible
        cycle.rejections = decision.rejections
        if not len(decision.feasible):
            raise FitError(decision.rejections.settle())
        self._score(profile, decision, details=details)
        if usual and decision.scored:
            Course.learn(profile, cycle, cache, outcome, decision.pre_score_skipped)
        return decision

    def _is_usual(self, profile: Profile, cycle: Cycle) -> bool:
        """Whether a `Course` may be taken: see there."""
        return not (
            cycle.extenders
            or len(self.state.nominations)
            or cycle.pod.nominated_node_name in self.state.nodes.rows
            or not profile.score
        )

    def _take_course(self, profile: Profile, cache: ShapeCache, decision: Decision) -> bool:
        """Decide as for the pod of the shape before; False, and nothing has come of it, if it has to be otherwise.

        Raises FitError.
        """
        course: Course | None = cache.memo.get(Course)
        if course is None:
            return False
        cycle, rejections, clock = decision.cycle, decision.rejections, time.perf_counter
        times = [clock()]
        try:
            if not course.let_in(cycle):
                return _off_course(decision)
            times.append(clock())
            cycle.filters = course.filters
            selection = course.select(cycle, rejections)
            if selection is None:
                return _off_course(decision)
            wanted = self._wanted(profile, cycle, len(self.state.nodes))
            selection = self._narrow(decision, self.state.nodes.order.rows(), selection, wanted, cache)
            feasible = cycle.feasible = decision.feasible
            times.append(clock())
            if len(feasible) > 1:
                view = view_of(cycle)
                if not course.prepare(cycle, view):
                    return _off_course(decision)
                times.append(clock())
                decision.take_scores(course.score(cycle, selection, view))
                decision.pre_score_skipped = course.skipped
                times.append(clock())
            else:
                decision.leaders = feasible
        except Exception:  # it comes again in general, and is told of there by the point at which it did
            return _off_course(decision)
        cycle.rejections = rejections
        decision.pre_filter = course.outcome
        self._go_on_from(decision)
        decision.timings = [
            (point, Code.SUCCESS, end - start) for point, start, end in zip(_POINTS, times, times[1:], strict=False)
        ]
        if cycle.recorder is not None:
            course.count(cycle.recorder, selection, sampled=cycle.sampled)
        if not len(feasible):
            raise FitError(rejections.settle())
        return True

    def _refuse(self, decision: Decision) -> None:
        outcome, rejections = decision.pre_filter, decision.rejections
        assert outcome.status is not None
        rejections.absent = outcome.status
        rejections.pre_filter_message = outcome.status.message
        rejections.unschedulable_plugins = set(outcome.restricted_by)
        if outcome.status.plugin:
            rejections.unschedulable_plugins.add(outcome.status.plugin)
        decision.cycle.rejections = rejections
        raise FitError(rejections.settle())

    def _filter(self, profile: Profile, decision: Decision) -> None:
        """A node in prospect is looked at first, and taken without a look at the others if it fits."""
        filters = decision.cycle.filters
        row = self.state.nodes.rows.get(decision.cycle.pod.nominated_node_name)
        turned_down = None
        if row is not None:
            only = np.zeros(decision.cycle.nodes.size, np.bool_)
            only[row] = True
            rejections = filter_nodes(profile, decision.cycle, filters, only)
            count_evaluations(decision.cycle, filters, in_turn(filters, rejections)[0])
            if rejections.status_of(row) is None and self._accepted(decision, rejections, row):
                decision.rejections = rejections
                decision.feasible = np.array([row], np.intp)
                decision.evaluated = 1
                decision.nominated = True
                return
            status = rejections.status_of(row)
            if status is not None and status.rejected:
                turned_down = row, status
        self._find(profile, decision, filters, turned_down)

    def _accepted(self, decision: Decision, rejections: Rejections, row: int) -> bool:
        """Whether extenders accept the node in prospect; one that fails then is asked again with all other nodes."""
        try:
            return len(pass_extenders(decision.cycle, rejections, np.array([row], np.intp))) > 0
        except PluginError as problem:
            log.error("Evaluation failed on nominated node of pod %s: %s", decision.cycle.pod.key, problem)
            return False

    def _find(
        self,
        profile: Profile,
        decision: Decision,
        filters: list[FilterPlugin],
        turned_down: tuple[int, Status] | None,
    ) -> None:
        """Look at all nodes, or at as many as it takes to find enough; `turned_down` is known not to fit."""
        cycle, outcome, nodes = decision.cycle, decision.pre_filter, self.state.nodes
        order = nodes.order.rows()
        allowed = None
        if outcome.names is not None:
            allowed = np.zeros(cycle.nodes.size, np.bool_)
            allowed[[nodes.rows[name] for name in outcome.names if name in nodes.rows]] = True
            order = order[allowed[order]]
        rejections = filter_nodes(profile, cycle, filters, allowed)
        decision.rejections = rejections
        rejections.unschedulable_plugins = set(outcome.restricted_by)
        if outcome.names is not None:
            if turned_down is not None and turned_down[1].plugin:
                # kube-scheduler notes who turned down the node in prospect in the very set that it words from here.
                rejections.unschedulable_plugins.add(turned_down[1].plugin)
            listed = sorted(rejections.unschedulable_plugins)
            reason = f"node(s) didn't satisfy plugin(s) [{' '.join(listed)}]"
            rejections.absent = unresolvable(reason).by(",".join(listed))
        cache = profile.caches.of(cycle.shape)
        selection = select(cycle, filters, rejections, cache)
        selection = self._narrow(decision, order, selection, self._wanted(profile, cycle, len(order)), cache)
        count_evaluations(cycle, filters, selection.asked)
        if turned_down is not None and not rejections.evaluated[turned_down[0]]:
            # It counts as looked at even where it is out of the question, or beyond the sample.
            rejections.evaluated[turned_down[0]] = True
            rejections.overrides[turned_down[0]] = turned_down[1]
        # A node that extenders turned down when it was in prospect counts a second time.
        before = {}
        if turned_down is not None and turned_down[0] in decision.feasible:
            before = dict((turned_down,))
        self._go_on_from(decision, len(before))
        raise_for_errors(rejections, rejections.evaluated)
        decision.feasible = pass_extenders(cycle, rejections, decision.feasible, before)

    def _narrow(
        self, decision: Decision, order: Rows, selection: Selection, wanted: int, cache: ShapeCache
    ) -> Selection:
        """Take all of the nodes in `order` that fit, or no more than are wanted: then those are left that it takes to
        find these."""
        if wanted >= len(order):
            decision.feasible = selection.feasible
            return selection
        places: Places | None = cache.memo.get(Places)
        if places is None:
            places = cache.memo[Places] = Places()
        cycle, rejections = decision.cycle, decision.rejections
        start = self.next_start % len(order)
        decision.feasible, seen = places.sample(order, start, selection.feasible, wanted)
        decision.derived = False
        rejections.evaluated = np.zeros(cycle.nodes.size, np.bool_)
        rejections.evaluated[seen] = True
        asked = in_turn(cycle.filters, rejections)[0] if rejections.verdicts else [len(seen)] * len(cycle.filters)
        return Selection([], decision.feasible, asked)

    def _go_on_from(self, decision: Decision, more: int = 0) -> None:
        """The next search begins where this one has ended, so many nodes further on."""
        evaluated = decision.rejections.evaluated
        live = decision.rejections.live
        nodes = len(self.state.nodes)
        decision.evaluated = nodes if evaluated is live else int(np.count_nonzero(evaluated))
        self.next_start = (self.next_start + decision.evaluated + more) % nodes

    def _percentage(self, profile: Profile) -> int | None:
        if self._all_nodes:
            return None
        own = profile.percentage_of_nodes_to_score
        return self.percentage_of_nodes_to_score if own is None else own

    def _wanted(self, profile: Profile, cycle: Cycle, nodes: int) -> int:
        percentage = self._percentage(profile)
        if percentage is None:
            return nodes
        if not profile.score and not cycle.extenders.prioritizes and not cycle.extenders.filters:
            return min(1, nodes)
        return nodes_to_find(percentage, nodes) if percentage < ALL_NODES else nodes

    def _score(self, profile: Profile, decision: Decision, *, details: bool) -> None:
        if len(decision.feasible) == 1:
            # One node needs no score to win; where details are asked for it gets one, if the plugins can give it.
            decision.leaders = decision.feasible
            if details:
                with suppress(PluginError):
                    self._total(profile, decision, details=True)
            return
        self._total(profile, decision, details=details)

    def _total(self, profile: Profile, decision: Decision, *, details: bool) -> None:
        cycle = decision.cycle
        if not profile.score and not cycle.extenders:
            decision.take_scores(np.ones(len(decision.feasible), np.int64))
            return
        with _Timed(decision, PRE_SCORE):
            decision.pre_score_skipped = run_pre_scores(profile, cycle, profile.caches.of(cycle.shape))
        with _Timed(decision, SCORE):
            totals = total_scores(profile, cycle, decision.pre_score_skipped)
        given = []
        if cycle.extenders and len(decision.feasible) > 1:
            given = extender_scores(cycle)
            if cycle.trace is not None:
                cycle.trace.given = given
            self.extenders_scored = self.extenders_scored or bool(cycle.extenders.interested)
            for scores in given:
                totals += scores.weighted
        decision.take_scores(totals)
        if details:
            decision.scores = [*detailed_scores(profile, cycle, decision.pre_score_skipped), *given]
