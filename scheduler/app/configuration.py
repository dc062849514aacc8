"""The configuration that `berth run` works with, from a file or without one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scheduler.app.profiles import build_profiles
from scheduler.cache.state import ClusterState
from scheduler.client.memory import MemoryCluster, MemoryWriter
from scheduler.config.document import parse_document
from scheduler.config.features import FeatureGateError, FeatureGates
from scheduler.config.load import load_config
from scheduler.config.types import API_VERSION, KIND
from scheduler.framework.handle import Handle
from scheduler.framework.registry import discover
from scheduler.plugins.registry import IN_TREE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scheduler.config.types import KubeSchedulerConfiguration
    from scheduler.framework.handle import Factory

NAME: Final = "berth"
"""The scheduler name of the profile where nothing is configured, and the name of the lease unless one is configured:
kube-scheduler's own names would make Berth schedule for it, or one of the two stand by for the other."""


def all_plugins() -> Mapping[str, Factory]:
    """The plugins in tree and those that installed packages bring. Raises ValueError for one that can't be loaded."""
    return discover(IN_TREE)


def supported_gates(texts: Iterable[str]) -> tuple[FeatureGates, list[str]]:
    """Feature gates from the values of --feature-gates, and warnings about them.

    Raises FeatureGateError for what kube-scheduler refuses, and for gates that are known here at their default only.
    """
    gates = FeatureGates.parse(*texts)
    if unsupported := gates.unsupported():
        listed = ", ".join(unsupported)
        raise FeatureGateError(f"--feature-gates: not supported by Berth: {listed}; `berth config features` lists all")
    return gates, gates.warnings()


def read_config(path: str, *, gates: FeatureGates, registry: Mapping[str, Factory]) -> KubeSchedulerConfiguration:
    """The configuration in the file at `path`, or Berth's own if that is empty, defaulted and validated.

    A file decides as it does for kube-scheduler, but for the lease, which is called "berth" unless the file names it.
    Raises ConfigError, and OSError if the file can't be read.
    """
    return load_config(read_document(path), source=path, known_plugins=registry, feature_gates=gates)


def read_document(path: str) -> Any:
    """What the file at `path` says, or Berth's own configuration if that is empty, as JSON values.

    Raises ConfigError if it is not even YAML, and OSError if it can't be read.
    """
    return parse_config(Path(path).read_bytes(), source=path) if path else own_document()


def parse_config(content: bytes, *, source: str) -> Any:
    """What the content of a configuration file says, as JSON values. Raises ConfigError."""
    return _with_lease(parse_document(content, source=source))


def own_document() -> Any:
    """What is run where nothing is configured."""
    return _with_lease({"apiVersion": API_VERSION, "kind": KIND, "profiles": [{"schedulerName": NAME}]})


def check_plugins(
    config: KubeSchedulerConfiguration, *, gates: FeatureGates, registry: Mapping[str, Factory], source: str
) -> None:
    """Make the plugins once, as only they know whether their arguments make sense. Raises ConfigError."""
    handle = Handle(ClusterState(), MemoryWriter(MemoryCluster()), gates.enabled)
    build_profiles(config, registry, handle, source=source)


def _with_lease(given: Any) -> Any:
    if not isinstance(given, dict):
        return given
    election = given.get("leaderElection")
    if election is None:
        election = {}
    if not isinstance(election, dict) or election.get("resourceName"):
        return given
    return {**given, "leaderElection": {**election, "resourceName": NAME}}
