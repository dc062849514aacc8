"""What `berth simulate` is to work on: objects, changes and configuration, from its flags."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence

    from scheduler.api.objects import Pod
    from scheduler.app.manifests import Manifests
    from scheduler.app.progress import Progress
    from scheduler.app.whatif.world import Change, World
    from scheduler.config.features import FeatureGates
    from scheduler.config.types import KubeSchedulerConfiguration
    from scheduler.framework.handle import Factory

_BARE: Final = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


class UsageError(ValueError):
    """Flags that make no sense together."""


class Given(msgspec.Struct, frozen=True):
    """A configuration and where it is from. `takes_all`: there was none, and every pending pod is scheduled."""

    config: KubeSchedulerConfiguration
    source: str
    takes_all: bool


def check_usage(namespace: argparse.Namespace) -> None:
    """Raises UsageError."""
    if namespace.jsonl and (namespace.filename or namespace.from_cluster or namespace.configs or namespace.changes):
        raise UsageError("--jsonl reads whole cases on standard input: leave out all other inputs and changes")
    if not (namespace.jsonl or namespace.filename or namespace.from_cluster):
        raise UsageError("nothing to read: give -f FILE, --from-cluster or --jsonl (see berth simulate --help)")
    if namespace.snapshot and (namespace.changes or namespace.settings or namespace.configs or namespace.fail_on):
        raise UsageError("--snapshot saves the input as it is: leave out changes and configuration")
    if (namespace.anonymize or namespace.pseudonyms) and not (namespace.snapshot and namespace.anonymize):
        raise UsageError("--anonymize goes with --snapshot FILE, and --pseudonyms with both")
    if len(namespace.configs) > 2 or (len(namespace.configs) == 2 and namespace.compare):
        raise UsageError("two at a time are compared: two --config, or --compare and at most one")
    if namespace.compare and not (namespace.changes or namespace.settings):
        raise UsageError("--compare needs a change to compare with: --drain, --scale, --set or another (see --help)")
    if "moved" in namespace.fail_on and not compares(namespace):
        raise UsageError("--fail-on moved goes with two --config, or with --compare")
    if (namespace.kubeconfig or namespace.context) and not namespace.from_cluster:
        raise UsageError("--kubeconfig and --context go with --from-cluster")


def check_filling(namespace: argparse.Namespace) -> None:
    """Raises UsageError."""
    if namespace.fill and (compares(namespace) or namespace.snapshot or namespace.jsonl):
        raise UsageError("--fill answers one question at a time: leave out --compare, a second --config and --snapshot")
    if namespace.output == "html" and (namespace.fill or compares(namespace)):
        raise UsageError("-o html shows where pods go: leave out --fill, --compare and a second --config")
    if namespace.expect and (namespace.fill or compares(namespace)):
        raise UsageError("--expect is about where pods go: leave out --fill, --compare and a second --config")
    if (namespace.fill_limit or namespace.at_least) and not namespace.fill:
        raise UsageError("--fill-limit and --at-least go with --fill POD.yaml")
    if namespace.fill_limit and namespace.at_least and namespace.fill_limit < namespace.at_least:
        raise UsageError("--fill-limit is less than --at-least, so that it would never be enough")


def read_pod(path: str) -> Pod:
    """The one pod in a file, or one as its one workload makes them. Raises ManifestError."""
    from scheduler.api.objects import Pod
    from scheduler.app.manifests import ManifestError, read_manifests

    found = read_manifests([path])
    pods = [item for item in found.objects if isinstance(item, Pod)]
    pods += [workload.pod(workload.name, f"fill/{workload.name}") for workload in found.workloads.values()]
    if len(pods) != 1:
        raise ManifestError(f"{path}: {len(pods) or 'no'} pods and workloads; --fill takes one")
    return pods[0]


def compares(namespace: argparse.Namespace) -> bool:
    """Whether two sides are compared."""
    return namespace.compare or len(namespace.configs) == 2


def read_input(namespace: argparse.Namespace, progress: Progress) -> Manifests:
    """The objects of the cluster, and the files over them. Raises ManifestError."""
    from scheduler.app.manifests import Manifests, read_manifests

    found = Manifests()
    if namespace.from_cluster:
        from scheduler.app.live import read_cluster

        found.begin("the cluster")
        live = asyncio.run(read_cluster(namespace.kubeconfig, namespace.context, progress))
        for item in live.objects:
            found.add("the cluster", item)
        found.notes += live.notes
        found.left_out.update(live.left_out)
    return read_manifests(namespace.filename, over=found, progress=progress)


def base_world(manifests: Manifests) -> tuple[World, list[str]]:
    """The objects with the pods that are missing, and what is to be said of these."""
    from scheduler.app.whatif.scale import make_missing_pods
    from scheduler.app.whatif.world import World

    world = World(manifests.objects, manifests.workloads.values(), now=time.time())
    return world, make_missing_pods(world)


def changed_world(namespace: argparse.Namespace, manifests: Manifests) -> tuple[World, list[str]]:
    """The objects with the changes that were asked for, and what was done. Raises ChangeError."""
    world, notes = base_world(manifests)
    manifests.notes += notes
    told = [
        f"{count} object{'' if count == 1 else 's'} replaced by {source}"
        for source, count in manifests.replaced.items()
    ]
    for flag, value in namespace.changes:
        told.append(_change(flag, value).apply(world))
    return world, [*told, *(f"set {text}" for text in namespace.settings)]


def _change(flag: str, value: str) -> Change:
    from scheduler.app.whatif import nodes, parse

    made: Mapping[str, Callable[[str], Change]] = {
        "--add-nodes": parse.parse_add_nodes,
        "--without-node": nodes.WithoutNode,
        "--drain": nodes.Drain,
        "--cordon": nodes.Cordon,
        "--uncordon": nodes.Uncordon,
        "--remove-taint": parse.parse_remove_taint,
        "--scale": parse.parse_scale,
        "--reschedule": nodes.Reschedule,
    }
    return made[flag](value)


def read_config(
    path: str,
    manifests: Manifests,
    settings: Sequence[str],
    registry: Mapping[str, Factory],
    gates: FeatureGates,
) -> Given:
    """The configuration of a file, or of the input, or else the default, with fields set. Raises ConfigError."""
    from scheduler.app.manifests import ManifestError
    from scheduler.app.texts import read_text
    from scheduler.app.whatif.settings import parse_setting, with_settings
    from scheduler.config.document import parse_document
    from scheduler.config.load import load_config

    given: tuple[str, Any] | None = manifests.config
    if path:
        if given is not None:
            raise ManifestError(f"{given[0]}: a KubeSchedulerConfiguration, while --config names another one")
        given = (path, read_text(path))
    source, value = given if given is not None else ("", _BARE)
    if settings:
        value = parse_document(value, source=source) if isinstance(value, str) else value
        if isinstance(value, dict):
            value = with_settings(value, [parse_setting(text) for text in settings])
        source = source or "--set"
    config = load_config(value, source=source, known_plugins=registry, feature_gates=gates)
    return Given(config, source, given is None)
