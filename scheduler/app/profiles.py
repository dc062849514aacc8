"""From a configuration to profiles with live plugins (pkg/scheduler/profile, framework/runtime NewFramework)."""

from __future__ import annotations

from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec.structs import replace

from scheduler.app.extenders import build_extenders
from scheduler.config.errors import ConfigError, plain
from scheduler.config.plugins import check_common_queue_sort, enabled_names, expand
from scheduler.framework.interface import POINTS, Plugin
from scheduler.framework.profile import Profile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from scheduler.cache.state import ClusterState
    from scheduler.client.extender.interface import Extender
    from scheduler.config.types import KubeSchedulerConfiguration
    from scheduler.config.types import Profile as ProfileConfig
    from scheduler.framework.handle import Factory, Handle


def build_profiles(
    config: KubeSchedulerConfiguration,
    registry: Mapping[str, Factory],
    handle: Handle,
    *,
    source: str = "",
    extenders: Sequence[Extender] | None = None,
    former: Mapping[str, Profile] = MappingProxyType({}),
) -> dict[str, Profile]:
    """The profiles of a configuration by scheduler name; `registry` makes their plugins.

    All share the extenders, which are made anew unless they are given. A plugin that the `former` profile of the same
    name has with the same arguments is used again, as it is: it may be in the middle of something.

    Raises ConfigError for whatever kube-scheduler would refuse to start with.
    """
    if extenders is None:
        extenders = build_extenders(config, source=source)
    built = {}
    expanded = []
    for index, profile in enumerate(config.profiles):
        path = f"profiles[{index}]"
        plugins = _plugins(profile, path, registry, handle, source, former.get(profile.scheduler_name))

        def implements(name: str, point: str, plugins: Mapping[str, Plugin] = plugins) -> bool:
            kind = POINTS.get(point)
            return kind is not None and isinstance(plugins.get(name), kind)

        with _in(source):
            points = expand(profile.plugins, implements, scheduler_name=profile.scheduler_name, path=path)
        expanded.append((profile, points))
        used = {name for names in points.points.values() for name in names}
        built[profile.scheduler_name] = Profile(
            profile.scheduler_name,
            plugins={name: plugin for name, plugin in plugins.items() if name in used},
            points=points.points,
            weights=points.score_weights,
            percentage_of_nodes_to_score=profile.percentage_of_nodes_to_score,
            extenders=extenders,
            arguments={name: profile.args(name) for name in plugins if name in used},
        )
    with _in(source):
        check_common_queue_sort(expanded)
    for name, live in built.items():
        live.remake = _remake(name, config, registry, handle, extenders)
    return built


@contextmanager
def _in(source: str) -> Iterator[None]:
    """Let errors name the configuration that they are in."""
    try:
        yield
    except ConfigError as problem:
        raise ConfigError(source, problem.errors) from problem


def _remake(
    name: str,
    config: KubeSchedulerConfiguration,
    registry: Mapping[str, Factory],
    handle: Handle,
    extenders: Sequence[Extender],
) -> Callable[[ClusterState], Profile]:
    """How to make a profile once more for another state, with plugins that read that one."""
    return lambda state: build_profiles(config, registry, replace(handle, state=state), extenders=extenders)[name]


def _plugins(
    profile: ProfileConfig,
    path: str,
    registry: Mapping[str, Factory],
    handle: Handle,
    source: str,
    former: Profile | None,
) -> dict[str, Plugin]:
    """One instance of every plugin that is enabled at some point, with its arguments."""
    known = former.plugins if former is not None else {}
    plugins = {}
    problems = []
    for name in sorted(enabled_names(profile.plugins)):
        factory = registry.get(name)
        if factory is None:
            problems.append(plain(f'plugin "{name}" does not exist', f"{path}.plugins"))
            continue
        args = profile.args(name)
        if former is not None and name in known and former.arguments.get(name) == args:
            plugins[name] = known[name]
            continue
        try:
            plugins[name] = factory(args, handle)
        except ValueError as problem:
            problems.append(plain(f'initializing plugin "{name}": {problem}', f"{path}.pluginConfig"))
    if problems:
        raise ConfigError(source, problems)
    return plugins
