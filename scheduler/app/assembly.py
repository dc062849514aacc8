"""A scheduler from a configuration: state, profiles, queue, and the informers that feed them."""

from __future__ import annotations

import random
import socket
import time
from typing import TYPE_CHECKING, Any

from scheduler.app.profiles import build_profiles
from scheduler.cache.state import ClusterState
from scheduler.client import kinds
from scheduler.client.events import EventRecorder
from scheduler.client.informer import KeepPolicy
from scheduler.cycle.handlers import EventHandlers
from scheduler.cycle.scheduler import Scheduler
from scheduler.framework.handle import Handle
from scheduler.framework.waiting import WaitingPods
from scheduler.metrics.scheduler_metrics import SchedulerMetrics
from scheduler.queue.queue import SchedulingQueue

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scheduler.client.interface import Source, Writer
    from scheduler.config.features import FeatureGates
    from scheduler.config.types import KubeSchedulerConfiguration
    from scheduler.cycle.journal import Journal
    from scheduler.cycle.scheduler import DecisionHook
    from scheduler.framework.handle import Factory

#: Resources whose objects plugins look up, by what the in-process state calls them.
LOOKED_UP: tuple[kinds.Resource[Any], ...] = (
    kinds.SERVICES,
    kinds.REPLICATION_CONTROLLERS,
    kinds.REPLICA_SETS,
    kinds.STATEFUL_SETS,
    kinds.POD_DISRUPTION_BUDGETS,
    kinds.STORAGE_CLASSES,
    kinds.CSI_DRIVERS,
    kinds.CSI_NODES,
    kinds.CSI_STORAGE_CAPACITIES,
    kinds.VOLUME_ATTACHMENTS,
    kinds.PERSISTENT_VOLUMES,
    kinds.PERSISTENT_VOLUME_CLAIMS,
    kinds.DEVICE_CLASSES,
)
#: Those that an API server need not serve.
OPTIONAL = frozenset({kinds.DEVICE_CLASSES.kind})


def assemble(
    config: KubeSchedulerConfiguration,
    *,
    registry: Mapping[str, Factory],
    gates: FeatureGates,
    writer: Writer,
    source: str = "",
    metrics: SchedulerMetrics | None = None,
    random_source: random.Random | None = None,
    longest_unschedulable: float = 300.0,
    details: bool = False,
    decided: DecisionHook | None = None,
    checked: Callable[..., None] | None = None,
    journal: Journal | None = None,
    histories: bool = True,
    clock: Callable[[], float] = time.time,
    hostname: str | None = None,
) -> Scheduler:
    """A scheduler that writes to `writer` and is not fed yet. Raises ConfigError, which names `source`.

    `journal` keeps records of its attempts, and with `histories` its queue what happens to each pod there.
    """
    state = ClusterState()

    def activate(keys: list[str]) -> None:
        names = (key.partition("/") for key in keys)
        queue.activate((namespace, name) for namespace, _, name in names)

    host = hostname or socket.gethostname()
    names = [profile.scheduler_name for profile in config.profiles]
    recorders = {name: EventRecorder(writer, name, hostname=host) for name in names}
    metrics = metrics or SchedulerMetrics(gates=gates.enabled)
    waiting = WaitingPods()
    random_source = random_source or random.Random()
    handle = Handle(
        state,
        writer,
        gates.enabled,
        activate,
        evictor=writer,
        volume_writer=writer,
        turn_down=lambda uid, plugin: scheduler.turn_down(uid, plugin),
        spawn=lambda work: scheduler.spawn(work),
        recorders=recorders,
        metrics=metrics,
        waiting=waiting,
        random=random_source,
    )
    profiles = build_profiles(config, registry, handle, source=source)
    queue = SchedulingQueue(
        profiles,
        state.nominations,
        metrics,
        initial_backoff=config.pod_initial_backoff_seconds,
        maximum_backoff=config.pod_max_backoff_seconds,
        longest_unschedulable=longest_unschedulable,
        pop_early=gates.enabled("SchedulerPopFromBackoffQ"),
        clock=clock,
        histories=histories,
    )
    scheduler = Scheduler(
        state,
        profiles,
        queue,
        writer,
        recorders,
        metrics,
        percentage_of_nodes_to_score=config.percentage_of_nodes_to_score or 0,
        waiting=waiting,
        random_source=random_source,
        details=details,
        decided=decided,
        checked=checked,
        journal=journal,
        batching=gates.enabled("OpportunisticBatching"),
        nominating=gates.enabled("NominatedNodeNameForExpectation"),
    )
    scheduler.handle = handle
    return scheduler


def connect(scheduler: Scheduler, source: Source, handlers: EventHandlers | None = None) -> EventHandlers:
    """Feed a scheduler from informers, by handlers of its own unless others are given.

    Nothing is delivered before the source is told to begin.
    """
    handlers = handlers or EventHandlers(scheduler, scheduler.profiles)
    source.informer(kinds.NODES, keep=KeepPolicy.INDEX).add_handler(handlers.node)
    source.informer(kinds.NAMESPACES, keep=KeepPolicy.INDEX).add_handler(handlers.namespace)
    for resource in LOOKED_UP:
        source.informer(resource, optional=resource.kind in OPTIONAL).add_handler(_other(handlers, resource.kind))
    # Pods come last, so that the first pod finds its nodes where all lists are delivered in turn.
    source.informer(kinds.PODS, selection=kinds.UNFINISHED_PODS, keep=KeepPolicy.INDEX).add_handler(handlers.pod)
    for extender in scheduler.extenders:
        extender.read_from(source)
    return handlers


def _other(handlers: EventHandlers, kind: str) -> Callable[[Any, Any], None]:
    return lambda old, new: handlers.other(kind, old, new)
