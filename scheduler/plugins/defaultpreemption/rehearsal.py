"""What an attempt to make room would come to, found out by the same dry run, with nothing begun by it."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - msgspec resolves annotations at run time

import msgspec

from scheduler.framework.interface import Eviction  # noqa: TC001 - likewise
from scheduler.framework.status import Status  # noqa: TC001 - likewise
from scheduler.plugins.defaultpreemption.choice import Cost  # noqa: TC001 - likewise


class Rehearsal(msgspec.Struct, frozen=True, kw_only=True):
    """How it would come out.

    - `message`: what the attempt would say, in kube-scheduler's words.
    - `ineligible`: why the pod must not preempt (now); nothing was tried then.
    - `might_help`: on how many nodes an eviction may change something; `tried`: how many of them were tried, which ends
      with enough candidates.
    - `candidates`: what each of those would cost that help, the cheapest first. Those that cost as little as the first
      are equally good: chance takes one of them.
    - `refused`: by why they do not help, how many of the nodes that were tried; `errors`: what went wrong on some.
    - `cleared`: by candidate, the names ("namespace/name") of the pods that would lose their nomination to it.
    """

    message: str
    ineligible: str = ""
    might_help: int = 0
    tried: int = 0
    candidates: tuple[tuple[Cost, Eviction], ...] = ()
    refused: Mapping[Status, int] = {}
    errors: tuple[str, ...] = ()
    cleared: Mapping[str, tuple[str, ...]] = {}
