"""The configuration that a scheduler runs by, which may change meanwhile: with its file, or profile by profile.

Every change is checked by what checks the file at start (`load_config`, then the plugins themselves), and takes effect
whole or not at all.
"""

from __future__ import annotations

import hashlib
import logging
import time
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec.structs import replace

from scheduler.app.profiles import build_profiles
from scheduler.cache.state import ClusterState
from scheduler.client.memory import MemoryCluster, MemoryWriter
from scheduler.config.errors import ConfigError, FieldError, plain
from scheduler.config.load import load_config
from scheduler.config.render import to_json_value
from scheduler.config.types import DEFAULT_SCHEDULER_NAME
from scheduler.framework.handle import Handle

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scheduler.app.settings import Settings
    from scheduler.config.types import KubeSchedulerConfiguration
    from scheduler.cycle.scheduler import Scheduler
    from scheduler.framework.profile import Profile

log = logging.getLogger(__name__)

LIVE: Final = ("profiles", "percentageOfNodesToScore")
"""The fields that can change while a scheduler runs; all others are read at its start."""
FILE: Final = "file"
RESOURCE: Final = "resource"
SPEC: Final = "spec"
"""Where a profile of its own lies, for the paths of errors."""

_NONE: Final = MappingProxyType[str, "Profile"]({})
_SUCCESS: Final = "success"
_REJECTED: Final = "rejected"


class Change(msgspec.Struct, frozen=True):
    """What came of a new configuration: the profiles that are others than before, and what waits for the next start."""

    profiles: tuple[str, ...] = ()
    restart: tuple[str, ...] = ()


class RunningConfiguration:
    """What is in force, and the ways to change that.

    It begins with what `settings` say. `overrides` are profiles, as a configuration file would have them, by scheduler
    name, that stand in the place of the file's.
    """

    def __init__(self, scheduler: Scheduler, settings: Settings) -> None:
        if scheduler.handle is None:
            raise ValueError("the scheduler's profiles were not built from a configuration")
        self._scheduler = scheduler
        self._handle = scheduler.handle
        self._metrics = scheduler.metrics
        self._registry = settings.registry
        self._gates = settings.options.feature_gates
        self._source = settings.source
        self._flagged = settings.config
        self._document: Mapping[str, Any] = settings.document
        self._started = self._load(settings.document)
        self._config = self._started
        self._overrides: Mapping[str, Mapping[str, Any]] = {}
        self._metrics.config_info.read(lambda: {(self.hash,): 1.0})

    @property
    def names(self) -> Sequence[str]:
        """The scheduler names of the profiles, which stay the same as long as the process runs."""
        return list(self._scheduler.profiles)

    @property
    def config(self) -> KubeSchedulerConfiguration:
        """What is in force, with what the command line says."""
        live = self._config
        nodes = live.percentage_of_nodes_to_score
        return replace(self._flagged, profiles=live.profiles, percentage_of_nodes_to_score=nodes)

    @property
    def hash(self) -> str:
        """A short digest of what is in force."""
        text = msgspec.json.encode(to_json_value(self.config), order="sorted")
        return hashlib.sha256(text).hexdigest()[:16]

    # one profile

    def check(self, given: Mapping[str, Any]) -> None:
        """Raise ConfigError, its paths beginning with "spec", unless `given` could stand in for the one of its name."""
        self._with(given)

    def in_shadow(self, given: Mapping[str, Any]) -> tuple[Profile, int]:
        """A profile to decide by besides the running one, and the percentageOfNodesToScore where it has none.

        Its plugins are its own, and nothing that they write goes anywhere. Raises ConfigError as `check` does.
        """
        config = self._with(given)
        handle = Handle(self._handle.state, MemoryWriter(MemoryCluster()), self._gates.enabled)
        return self._build(config, handle, "")[given["schedulerName"]], config.percentage_of_nodes_to_score

    def use(self, overrides: Mapping[str, Mapping[str, Any]]) -> Change:
        """Put these profiles in the place of the file's, and no others. Raises ConfigError, and changes nothing."""
        if overrides == self._overrides:
            return Change()
        changed = self._apply(self._validated(_composed(self._document, overrides), self._source))
        self._overrides = dict(overrides)
        return Change(changed)

    # the file

    def use_file(self, given: Mapping[str, Any]) -> Change:
        """Go by a new version of the file, as far as that is possible now.

        Profiles that stand in the place of the file's stay. Raises ConfigError, and then changes nothing.
        """
        fresh = self._load(given)
        waiting = self._waiting_for_restart(fresh)
        document = self._live_part(given)
        changed = self._apply(self._validated(_composed(document, self._overrides), self._source))
        self._document = document
        self._metrics.config_restart_required.labels().set(1.0 if waiting else 0.0)
        return Change(changed, waiting)

    def taken_up(self, source: str) -> None:
        """Count a configuration that is in force now; `source` is FILE or RESOURCE."""
        self._metrics.config_reloads.labels(source, _SUCCESS).inc()
        self._metrics.config_last_success.labels(source).set(time.time())

    def refused(self, source: str) -> None:
        """Count a configuration that was refused."""
        self._metrics.config_reloads.labels(source, _REJECTED).inc()

    # inside

    def _load(self, document: Mapping[str, Any]) -> KubeSchedulerConfiguration:
        return load_config(document, source=self._source, known_plugins=self._registry, feature_gates=self._gates)

    def _with(self, given: Mapping[str, Any]) -> KubeSchedulerConfiguration:
        """The configuration with a profile in place of the one of its name."""
        name = given["schedulerName"]
        place = self.names.index(name)
        composed = _composed(self._document, {**self._overrides, name: given})
        try:
            return self._validated(composed, "")
        except ConfigError as problem:
            raise ConfigError("", [_moved(error, f"profiles[{place}]") for error in problem.errors]) from problem

    def _validated(self, document: Mapping[str, Any], source: str) -> KubeSchedulerConfiguration:
        """What a document says. Plugins are made once, on an empty cluster, as only they know their arguments."""
        config = load_config(document, source=source, known_plugins=self._registry, feature_gates=self._gates)
        handle = Handle(ClusterState(), MemoryWriter(MemoryCluster()), self._gates.enabled)
        trial = self._build(config, handle, source)
        problems = []
        for place, (name, profile) in enumerate(trial.items()):
            running = self._scheduler.profiles[name]
            (sorter,), (now,) = profile.queue_sort, running.queue_sort
            if sorter.name != now.name or profile.arguments.get(now.name) != running.arguments.get(now.name):
                detail = f"the queue is sorted by {now.name} while the scheduler runs; another order needs a restart"
                problems.append(plain(detail, f"profiles[{place}].plugins.queueSort"))
        if problems:
            raise ConfigError(source, problems)
        return config

    def _build(
        self, config: KubeSchedulerConfiguration, handle: Handle, source: str, former: Mapping[str, Profile] = _NONE
    ) -> Mapping[str, Profile]:
        """Profiles with plugins. One that fails otherwise than it should makes the configuration a bad one, too."""
        extenders = self._scheduler.extenders
        try:
            return build_profiles(config, self._registry, handle, source=source, extenders=extenders, former=former)
        except ConfigError:
            raise
        except Exception as problem:
            log.exception("A plugin can't be made")
            raise ConfigError(
                source, [plain(f"a plugin can't be made: {type(problem).__name__}: {problem}")]
            ) from problem

    def _apply(self, config: KubeSchedulerConfiguration) -> tuple[str, ...]:
        """Bring a validated configuration into force; the profiles that are others than before."""
        scheduler = self._scheduler
        before = {profile.scheduler_name: profile for profile in self._config.profiles}
        changed = [p.scheduler_name for p in config.profiles if p != before[p.scheduler_name]]
        built = self._build(config, self._handle, self._source, scheduler.profiles)
        for name in changed:
            scheduler.change_profile(built[name])
        scheduler.algorithm.percentage_of_nodes_to_score = config.percentage_of_nodes_to_score
        self._config = config
        return tuple(changed)

    def _waiting_for_restart(self, fresh: KubeSchedulerConfiguration) -> tuple[str, ...]:
        """What of a file differs from the one that the process was started with, and can't change before the next."""
        fields = [field for field in msgspec.structs.fields(fresh) if field.encode_name not in LIVE]
        names = {profile.scheduler_name for profile in fresh.profiles}
        known = set(self.names)
        return (
            *(f.encode_name for f in fields if getattr(fresh, f.name) != getattr(self._started, f.name)),
            *(f'profile "{name}" (new)' for name in sorted(names - known)),
            *(f'profile "{name}" (gone)' for name in sorted(known - names)),
        )

    def _live_part(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """The document in force with the part of `given` that can change now. A profile that is gone stays as it is."""
        before, after = _profiles(self._document), _profiles(given)
        document = {key: value for key, value in self._document.items() if key not in LIVE}
        document.update({key: given[key] for key in LIVE if key in given})
        document["profiles"] = [after.get(name, before[name]) for name in self.names]
        return document


def _profiles(document: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The profiles of a valid document by scheduler name."""
    given = document.get("profiles") or [{}]
    named = [{"schedulerName": DEFAULT_SCHEDULER_NAME, **(profile or {})} for profile in given]
    return {profile["schedulerName"] or DEFAULT_SCHEDULER_NAME: profile for profile in named}


def _composed(document: Mapping[str, Any], overrides: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """A valid document with other profiles in the place of those of their names."""
    if not overrides:
        return document
    return {**document, "profiles": [overrides.get(name, given) for name, given in _profiles(document).items()]}


def _moved(error: FieldError, prefix: str) -> FieldError:
    """An error with the path that its field has in a profile of its own."""
    if not error.path.startswith(prefix):
        return error
    return replace(error, path=SPEC + error.path.removeprefix(prefix))
