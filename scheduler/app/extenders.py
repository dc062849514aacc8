"""The extenders of a configuration (buildExtenders in pkg/scheduler/scheduler.go)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from msgspec.structs import replace

from scheduler.client.extender.tls import ExtenderTLSError
from scheduler.config.errors import ConfigError, plain

if TYPE_CHECKING:
    from scheduler.client.extender.interface import Extender
    from scheduler.config.types import KubeSchedulerConfiguration

log = logging.getLogger(__name__)


def build_extenders(config: KubeSchedulerConfiguration, *, source: str) -> tuple[Extender, ...]:
    """The extenders in the order in which they are asked: ignorable ones come last.

    Raises ConfigError, which names `source`, for certificates that can't be used.
    """
    if not config.extenders:
        return ()
    # Loads what speaks HTTP, which is not needed otherwise where a configuration is only read, or simulated.
    from scheduler.client.extender.http import HttpExtender

    built = []
    problems = []
    for index, extender in enumerate(config.extenders):
        try:
            built.append(HttpExtender(extender))
        except ExtenderTLSError as problem:
            problems.append(plain(f"couldn't build extenders: {problem}", f"extenders[{index}].tlsConfig"))
    if problems:
        raise ConfigError(source, problems)
    return tuple(sorted(built, key=lambda extender: extender.ignorable))


def without_binding(config: KubeSchedulerConfiguration) -> KubeSchedulerConfiguration:
    """The same configuration with extenders that bind nothing, for where nothing is to be bound in earnest."""
    extenders = tuple(replace(extender, bind_verb="") for extender in config.extenders)
    return replace(config, extenders=extenders)


def warn_of_slow_extenders(config: KubeSchedulerConfiguration) -> None:
    """Log each extender that may take as long as the lease lasts: all else waits for the cycle that waits for it."""
    election = config.leader_election
    for extender in config.extenders:
        if election.leader_elect and not 0 < extender.http_timeout.nanoseconds < election.renew_deadline.nanoseconds:
            log.warning(
                "extender %s may take %s to answer (httpTimeout), which is not less than leaderElection.renewDeadline "
                "(%s): the lease is lost if it does",
                extender.url_prefix,
                extender.http_timeout,
                election.renew_deadline,
            )
