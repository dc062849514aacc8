"""What a scheduler process is to do, read and checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from scheduler.app.configuration import own_document
from scheduler.config.recording import BYTES, RECORDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.config.options import Options
    from scheduler.config.types import KubeSchedulerConfiguration
    from scheduler.framework.handle import Factory


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration, what the command line says besides it, and the plugins there are.

    `document` is what the configuration was read from, as JSON values, before any defaults, and `source` its file (""
    without one); `warnings` are for the log. `random_seed` None breaks ties differently in each process. `records`
    attempts are recorded in at most `record_bytes`, none if either is 0; with `annotate` what is recorded is written to
    the pods' annotations. `grace` is the seconds that binds under way
    get when the process is stopped. `scheduler_profiles`: whether SchedulerProfiles change profiles.
    """

    config: KubeSchedulerConfiguration
    options: Options
    registry: Mapping[str, Factory]
    document: Mapping[str, Any] = msgspec.field(default_factory=own_document)
    source: str = ""
    warnings: tuple[str, ...] = ()
    self_check: bool = False
    random_seed: int | None = None
    records: int = RECORDS
    record_bytes: int = BYTES
    annotate: bool = False
    grace: float = 20.0
    scheduler_profiles: bool = False
