"""A profile: one configured set of plugins, and how it filters and scores the nodes for a pod."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from scheduler.framework.interface import (
    BindPlugin,
    EnqueueExtensions,
    FilterPlugin,
    PermitPlugin,
    Plugin,
    PostBindPlugin,
    PostFilterPlugin,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    PreScorePlugin,
    QueueSortPlugin,
    ReservePlugin,
    ScorePlugin,
)
from scheduler.framework.shape_cache import ShapeCaches

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from scheduler.cache.state import ClusterState
    from scheduler.client.extender.interface import Extender

P = TypeVar("P", bound=Plugin)

_SHAPES: Final = 512
"""Shapes whose vectors a profile keeps; some 0.2 MB each at 5,000 nodes."""


class Profile:
    """The plugins of one profile at each extension point, in the order in which they are asked.

    `points` maps the extension points of the configuration to plugin names in order; `weights` has the weights of the
    score plugins; `extenders` are asked besides, in order; `arguments` are what the plugins were made with, by name.
    Raises ValueError for a name without a plugin, or one that
    does not implement its point.
    """

    def __init__(
        self,
        name: str,
        *,
        plugins: Mapping[str, Plugin],
        points: Mapping[str, Sequence[str]],
        weights: Mapping[str, int],
        percentage_of_nodes_to_score: int | None = None,
        extenders: Sequence[Extender] = (),
        arguments: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.arguments = dict(arguments or {})
        self.percentage_of_nodes_to_score = percentage_of_nodes_to_score
        self.extenders = extenders
        self.plugins = dict(plugins)

        def at(point: str, kind: type[P]) -> list[P]:
            return [self._plugin(point, plugin, kind) for plugin in points.get(point, ())]

        self.pre_enqueue = at("preEnqueue", PreEnqueuePlugin)
        self.queue_sort = at("queueSort", QueueSortPlugin)
        self.pre_filter = at("preFilter", PreFilterPlugin)
        self.filter = at("filter", FilterPlugin)
        self.post_filter = at("postFilter", PostFilterPlugin)
        self.pre_score = at("preScore", PreScorePlugin)
        self.score: list[tuple[ScorePlugin, int]] = [
            (plugin, weights[plugin.name]) for plugin in at("score", ScorePlugin)
        ]
        self.reserve = at("reserve", ReservePlugin)
        self.permit = at("permit", PermitPlugin)
        self.pre_bind = at("preBind", PreBindPlugin)
        self.bind = at("bind", BindPlugin)
        self.post_bind = at("postBind", PostBindPlugin)
        self.enqueue_extensions = [p for p in self.plugins.values() if isinstance(p, EnqueueExtensions)]
        deciding: list[Plugin] = [
            *self.pre_filter,
            *self.filter,
            *self.pre_score,
            *(scorer for scorer, _ in self.score),
        ]
        self._sees_labels = any(plugin.sees_labels and _is_remembered(plugin) for plugin in deciding)
        self.caches = ShapeCaches(_SHAPES, sees_labels=self._sees_labels)
        self.remake: Callable[[ClusterState], Profile] | None = None
        """Makes the same profile with new plugins on another state; whoever builds profiles may set it."""

    def _plugin(self, point: str, name: str, kind: type[P]) -> P:
        plugin = self.plugins.get(name)
        if plugin is None:
            raise ValueError(f'profile "{self.name}": {point} plugin "{name}" does not exist')
        if not isinstance(plugin, kind):
            raise ValueError(f'profile "{self.name}": plugin "{name}" does not extend {point} plugin')
        return plugin

    def on(self, state: ClusterState) -> Profile:
        """The same profile for another state, with nothing remembered.

        Its plugins are made anew where that is possible, since they may hold on to the state that they were made with.
        """
        return self.remake(state) if self.remake is not None else self.aside()

    def aside(self) -> Profile:
        """The same plugins on the same state, with nothing remembered: what is tried with it leaves no trace here."""
        twin = object.__new__(Profile)
        twin.__dict__.update(self.__dict__)
        twin.caches = ShapeCaches(_SHAPES, sees_labels=self._sees_labels)
        return twin


def _is_remembered(plugin: Plugin) -> bool:
    """Whether anything that it says may be kept for other pods."""
    if isinstance(plugin, FilterPlugin | ScorePlugin) and not plugin.per_cycle:
        return True
    kind = type(plugin)
    return (
        issubclass(kind, PreFilterPlugin) and kind.pre_filter_settled is not PreFilterPlugin.pre_filter_settled
    ) or (issubclass(kind, PreScorePlugin) and kind.pre_score_settled is not PreScorePlugin.pre_score_settled)
