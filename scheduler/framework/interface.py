"""The extension points that a plugin may implement; nothing here does any work.

A plugin subclasses one class for each extension point that it takes part in. Filter and Score answer for all nodes of
a `NodeView` at once, as vectors. The order of calls, and what Skip, Unschedulable, UnschedulableAndUnresolvable, Wait
and Error mean at each point, are kube-scheduler's (k8s.io/kube-scheduler/framework/interface.go).
"""

from __future__ import annotations

import abc
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from scheduler.cache.changes import Change

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence
    from collections.abc import Set as AbstractSet

    import numpy as np
    import numpy.typing as npt

    from scheduler.cache.nodes import NodeView
    from scheduler.cache.pods import PodInfo
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.events import EventHint
    from scheduler.framework.status import Status

    Codes = npt.NDArray[np.unsignedinteger[Any]]
    Scores = npt.NDArray[np.int64]


class Plugin(abc.ABC):
    """What all plugins have: the name that configuration and metrics know them by."""

    name: ClassVar[str]

    sees_labels: ClassVar[bool] = True
    """Whether what it says for good (`pre_filter_settled`, `pre_score_settled`) or by row (without `per_cycle`) may
    depend on the labels of the pod. Where none of a profile's plugins sees them, pods that differ in nothing else, as
    those of an indexed Job, share all that is kept by shape. Of others nothing is kept, so they may see labels."""

    def take_over(self, former: Plugin) -> None:  # noqa: B027 (most have nothing to take over)
        """Go on with what `former` is in the middle of: this plugin replaces it, with other arguments.

        Called before the new one is asked anything, when a profile is changed while the scheduler runs. A plugin whose
        arguments stay the same is not made anew. Pods that `former` has reserved something for, or made wait, are seen
        through by `former`.
        """


class PreEnqueuePlugin(Plugin):
    """Holds a pod back before it is queued."""

    @abc.abstractmethod
    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """None lets the pod in; a refusal keeps it gated until an event that the plugin hints at."""

    def let_go(self, held: AbstractSet[str]) -> AbstractSet[str] | None:
        """Of pods that it holds back, by uid, those that it may let go by now; None if each is to be asked for.

        It would turn down the others as UnschedulableAndUnresolvable, in the words that it has used before.
        """
        del held
        return None


class QueueSortPlugin(Plugin):
    """Orders the active queue; all profiles share one."""

    @abc.abstractmethod
    def sort_key(self, pod: PodInfo, enqueued: float) -> Any:
        """A key that compares as the pod should be ordered; smaller comes first.

        `enqueued` is when the pod (last) entered the queue, in seconds.
        """


class NodeNames(msgspec.Struct, frozen=True):
    """A PreFilter's answer that only the named nodes need be looked at."""

    names: frozenset[str]


class PreFilterPlugin(Plugin):
    """Looks at the pod once before its nodes are filtered."""

    @abc.abstractmethod
    def pre_filter(self, cycle: Cycle) -> Status | NodeNames | None:
        """None: go on; SKIP: leave my Filter out; NodeNames: only those; a refusal ends the attempt.

        What is found here is handed on to Filter in `cycle.data` under the plugin's name.
        """

    def pre_filter_settled(self, cycle: Cycle) -> bool:
        """Whether every pod of the shape will get the answer that this one just got, whatever becomes of the cluster.

        Then the runtime need not ask again: it hands what was left in `cycle.data` on to all of them. Shapes that are
        pinned to different nodes (`PinnedShape`) count as one here: whoever goes by the pin has not settled.
        """
        return False


class FilterPlugin(Plugin):
    """Decides which nodes the pod fits on."""

    depends: ClassVar[Change] = Change.NONE
    """Row-wise dependence: after which changes of a node its verdict must be made anew. The runtime keeps the
    verdicts of a shape and asks for the changed rows only."""

    per_cycle: ClassVar[bool] = False
    """True for verdicts that depend on more than the node's own row (topology): asked for all nodes in each cycle."""

    feasible_only: ClassVar[bool] = False
    """True to be asked, in each cycle, about those nodes only that all filters before it let pass."""

    may_fail: ClassVar[bool] = False
    """True where `status` may answer Error for some code: such a node ends the attempt."""

    @abc.abstractmethod
    def filter(self, cycle: Cycle, nodes: NodeView) -> Codes | None:
        """Unsigned ints, one a row of `nodes`: 0 fits, anything else is a code that `status` words.

        None means that the pod fits on all of them. The array is the caller's afterwards.
        """

    def code_at(self, cycle: Cycle, row: int) -> int | None:
        """What `filter` says of one node, where plain numbers are quicker; None where they are not."""
        return None

    def filter_key(self, cycle: Cycle) -> Hashable:
        """All that the verdicts by row depend on of the pod: shapes with equal keys share them, and their epochs.

        None (the default) stands for anything: then each shape has its own.
        """
        return None

    @abc.abstractmethod
    def status(self, cycle: Cycle, code: int) -> Status:
        """What a code means: Unschedulable or UnschedulableAndUnresolvable (or Error) and its reasons."""

    def can_fail(self, cycle: Cycle) -> bool:
        """Whether a code may mean Error in this very cycle; asked only of filters that turned nodes down."""
        return self.may_fail

    def epoch(self, cycle: Cycle) -> Hashable:
        """A value that changes when the verdicts of all rows must be made anew, beyond what `depends` says."""
        return None

    def epoch_settled(self, cycle: Cycle) -> bool:
        """Whether the epoch is the same for every pod of the shape, whatever becomes of the cluster."""
        return False


class PostFilterPlugin(Plugin):
    """Tries to make room for a pod that fits nowhere."""

    @abc.abstractmethod
    def post_filter(self, cycle: Cycle) -> PostFilterResult:
        """Asked when no node fits; `cycle.rejections` has each node's status."""


@dataclass(frozen=True, slots=True)
class Eviction:
    """A node that would have room without some of its pods: these by importance, and how many break a budget.

    In `memo` others remember what they make of it: attempt by attempt, mostly the same ones are chosen among.
    """

    node: str
    victims: tuple[PodInfo, ...]
    violations: int = 0
    memo: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)


class PostFilterResult(msgspec.Struct, frozen=True):
    """A PostFilter's answer. `nominated_node`: a name, "" to clear the nomination, None to leave it as it is.

    To explain a choice of victims: `candidates` are the nodes that it was made among, `ties` those of them that are as
    good as the one chosen; pods of `cleared` lose their nominations to it.
    """

    status: Status
    nominated_node: str | None = None
    victims: tuple[PodInfo, ...] = ()
    candidates: tuple[Eviction, ...] = ()
    ties: tuple[Eviction, ...] = ()
    cleared: tuple[PodInfo, ...] = ()


class PreScorePlugin(Plugin):
    """Looks at the feasible nodes once before they are scored."""

    @abc.abstractmethod
    def pre_score(self, cycle: Cycle, feasible: NodeView) -> Status | None:
        """None: go on; SKIP: leave my Score out (it adds nothing); anything else fails the attempt."""

    def pre_score_settled(self, cycle: Cycle) -> bool:
        """As `pre_filter_settled`: whether the answer is for good, whichever nodes are feasible."""
        return False


class ScorePlugin(Plugin):
    """Ranks the feasible nodes."""

    depends: ClassVar[Change] = Change.NONE
    """As for filters: the row-wise dependence of the raw score."""

    per_cycle: ClassVar[bool] = False
    """True for scores that depend on more than the node's own row: asked for the feasible nodes in each cycle."""

    normalizes: ClassVar[bool] = False
    """Whether `normalize` does anything; raw scores of plugins without it must be in 0..100 as they are."""

    by_highest: ClassVar[bool] = False
    """Of a plugin that normalizes: what becomes of a score follows from it and from the highest of all alone. So scores
    that are all the same stay so, whichever nodes are feasible."""

    bounded: ClassVar[bool] = False
    """A promise that scores are in 0..100, so that the runtime need not look; the attempt fails where they aren't."""

    @abc.abstractmethod
    def score(self, cycle: Cycle, nodes: NodeView) -> Scores:
        """int64, one a row of `nodes`: the score before normalizing. The array is the caller's afterwards."""

    def score_at(self, cycle: Cycle, row: int) -> int | None:
        """What `score` says of one node, where plain numbers are quicker; None where they are not."""
        return None

    def score_key(self, cycle: Cycle) -> Hashable:
        """As for filters: all that the raw scores by row depend on of the pod, None for anything."""
        return None

    def normalize(self, cycle: Cycle, scores: Scores) -> Scores:
        """int64 in 0..100 from the raw scores of all feasible nodes, in the order of `cycle.feasible`.

        Must not change `scores` in place.
        """
        return scores

    def normalizer(self, cycle: Cycle) -> Callable[[Scores], Scores] | None:
        """What `normalize` does in this very cycle, to be done again when the cycle is long over, for who explains it.

        It holds on to little, and to nothing that changes; of a row-wise plugin it is the same for all pods of a shape.
        None (the default) if there is no such function: then the
        normalized scores are kept with the raw ones.
        """
        return None

    def epoch(self, cycle: Cycle) -> Hashable:
        """As for filters: changes when all raw scores must be computed anew."""
        return None

    def epoch_settled(self, cycle: Cycle) -> bool:
        """As for filters."""
        return False


class ReservePlugin(Plugin):
    """Takes note of a decision before it is carried out, and takes it back if it fails."""

    @abc.abstractmethod
    def reserve(self, cycle: Cycle, node: str) -> Status | None:
        """None on success; a refusal or error unreserves all plugins and ends the attempt."""

    @abc.abstractmethod
    def unreserve(self, cycle: Cycle, node: str) -> None:
        """Undo `reserve`; called in reverse order, also for plugins whose reserve was not reached. Never fails."""


class PermitPlugin(Plugin):
    """Lets a reserved pod go on, turns it down, or makes it wait."""

    @abc.abstractmethod
    def permit(self, cycle: Cycle, node: str) -> tuple[Status | None, float]:
        """None or a refusal, or WAIT with how many seconds at most (15 minutes is the upper bound)."""


class PreBindPlugin(Plugin):
    """Work that must be done before a pod is bound, such as binding its volumes.

    With `parallel`, it may be done at the same time as that of neighbouring plugins which say so, too.
    """

    parallel: ClassVar[bool] = False

    def pre_bind_pre_flight(self, cycle: Cycle, node: str) -> Status | None:
        """None: `pre_bind` has work to do; SKIP: it has none."""
        return None

    @abc.abstractmethod
    async def pre_bind(self, cycle: Cycle, node: str) -> Status | None:
        """None on success."""


class BindPlugin(Plugin):
    """Binds the pod; the first plugin that does not skip has bound it."""

    @abc.abstractmethod
    async def bind(self, cycle: Cycle, node: str) -> Status | None:
        """None on success, SKIP to leave it to the next plugin."""


class PostBindPlugin(Plugin):
    """Is told of each bound pod."""

    @abc.abstractmethod
    def post_bind(self, cycle: Cycle, node: str) -> None:
        """Informational; never fails."""


class EnqueueExtensions(Plugin):
    """Names the events that may help a pod that this plugin rejected."""

    hints_see_labels: ClassVar[bool] = True
    """Whether what the hints say may depend on the labels of the pod that waits. Where they don't, an event is weighed
    once for all that differ in nothing else, as the pods of an indexed Job."""

    @abc.abstractmethod
    def events_to_register(self) -> Sequence[EventHint]:
        """All events of interest; an empty list means that none helps."""


POINTS: dict[str, type[Plugin]] = {
    "preEnqueue": PreEnqueuePlugin,
    "queueSort": QueueSortPlugin,
    "preFilter": PreFilterPlugin,
    "filter": FilterPlugin,
    "postFilter": PostFilterPlugin,
    "preScore": PreScorePlugin,
    "score": ScorePlugin,
    "reserve": ReservePlugin,
    "permit": PermitPlugin,
    "preBind": PreBindPlugin,
    "bind": BindPlugin,
    "postBind": PostBindPlugin,
}
"""The extension points by their names in KubeSchedulerConfiguration."""
