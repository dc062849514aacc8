"""An extender as the scheduler sees it: what it takes part in, what it is asked, and what it answers.

Source: k8s.io/kube-scheduler/framework/extender.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from concurrent.futures import Future

    from scheduler.client.interface import Source

__all__ = ["CandidateVictims", "Extender", "ExtenderError", "FilterAnswer", "HostScore", "PodIdentity", "VictimUIDs"]


class ExtenderError(Exception):
    """A call of an extender failed; the text is what kube-scheduler would say of it."""


class PodIdentity(Protocol):
    """What names a pod."""

    @property
    def namespace(self) -> str:
        """Its namespace."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def uid(self) -> str:
        """Its uid."""


class FilterAnswer(msgspec.Struct, frozen=True):
    """The names of the nodes that an extender lets pass, and why it turned others down, by name.

    `whole`: it sent the nodes back, instead of their names.
    """

    kept: Sequence[str]
    failed: Mapping[str, str]
    unresolvable: Mapping[str, str]
    whole: bool = False


class HostScore(msgspec.Struct, frozen=True):
    """The score of one node, 0 to 10 where the extender keeps to the rules."""

    host: str
    score: int


class CandidateVictims(msgspec.Struct, frozen=True):
    """The pods that would have to go from a node, and how many disruption budgets that would violate."""

    pods: Sequence[PodIdentity]
    pdb_violations: int


class VictimUIDs(msgspec.Struct, frozen=True):
    """An extender's choice of victims on a node; a null in its answer is a choice of nobody."""

    uids: Sequence[str]
    pdb_violations: int


class Extender(Protocol):
    """One extender. `name` identifies it in messages; an `ignorable` one does not fail an attempt by failing."""

    name: str
    weight: int
    ignorable: bool
    filters: bool
    prioritizes: bool
    binds: bool
    preempts: bool

    def read_from(self, source: Source) -> None:
        """Take from there what is sent of pods and nodes. Comes before the first object does."""

    def interested(self, pod: PodIdentity) -> bool:
        """Whether the extender is to be asked about this pod."""

    def filter(self, pod: PodIdentity, nodes: Sequence[str]) -> FilterAnswer:
        """Which of the nodes the pod may go to; waits for the answer. Raises ExtenderError."""

    def prioritize(self, pod: PodIdentity, nodes: Sequence[str]) -> Future[Sequence[HostScore]]:
        """Ask for the nodes' scores, without waiting; the future raises ExtenderError."""

    async def bind(self, pod: PodIdentity, node: str) -> None:
        """Let the extender bind the pod. Raises ExtenderError."""

    def preempt(self, pod: PodIdentity, candidates: Mapping[str, CandidateVictims]) -> Mapping[str, VictimUIDs]:
        """Which victims the extender agrees to, by node; waits for the answer. Raises ExtenderError."""

    def close(self) -> None:
        """Let go of connections; the extender is not asked again."""
