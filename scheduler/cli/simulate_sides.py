"""The sides that `berth simulate` places pods on: one, or two to compare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from scheduler.cli.simulate_input import Given, base_world, read_config

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping

    from scheduler.app.manifests import Manifests
    from scheduler.app.simulation import Simulation
    from scheduler.app.whatif.world import World
    from scheduler.config.features import FeatureGates
    from scheduler.cycle.scheduler import DecisionHook
    from scheduler.framework.handle import Factory

AS_IT_IS = "as it is"
CHANGED = "changed"


class Setting(msgspec.Struct, frozen=True):
    """What the simulations of one command have in common."""

    namespace: Any
    manifests: Manifests
    registry: Mapping[str, Factory]
    gates: FeatureGates

    def simulation(
        self,
        objects: list[Any],
        given: Given,
        *,
        details: bool = False,
        scores: bool = False,
        observe: DecisionHook | None = None,
    ) -> Simulation:
        """A simulation. Raises ManifestError for pods that an API server would not store, ConfigError."""
        from scheduler.app.admission import AdmissionError
        from scheduler.app.manifests import ManifestError
        from scheduler.app.simulation import Simulation

        try:
            return Simulation(
                objects,
                given.config,
                registry=self.registry,
                gates=self.gates,
                source=given.source,
                takes_all=given.takes_all,
                details=details,
                scores=scores,
                observe=observe,
                seed=self.namespace.seed,
                checked=checker(wanted=self.namespace.self_check),
            )
        except AdmissionError as problem:
            raise ManifestError(f"{self.manifests.place_of(problem.pod) or 'cluster'}: {problem}") from problem

    def configs(self) -> list[Given]:
        """The configurations: one, or two to compare. Raises ConfigError, ManifestError."""
        namespace: argparse.Namespace = self.namespace
        paths = namespace.configs or [""]
        settings = [namespace.settings] * len(paths)
        if namespace.compare:
            paths, settings = paths * 2, [[], namespace.settings]
        return [
            read_config(path, self.manifests, each, self.registry, self.gates)
            for path, each in zip(paths, settings, strict=True)
        ]

    def sides(self, changed: World, configs: list[Given]) -> tuple[tuple[str, str], tuple[_Side, _Side]]:
        """What the two sides are called, and how their simulations are made."""
        first, second = configs
        if not self.namespace.compare:
            objects = changed.objects()
            return (first.source, second.source), (_Side(self, objects, first), _Side(self, objects, second))
        before = base_world(self.manifests)[0].objects()
        return (AS_IT_IS, CHANGED), (_Side(self, before, first), _Side(self, changed.objects(), second))


class _Side(msgspec.Struct, frozen=True):
    setting: Setting
    objects: list[Any]
    given: Given

    def __call__(self, watch: DecisionHook | None) -> Simulation:
        return self.setting.simulation(self.objects, self.given, scores=watch is not None, observe=watch)


def checker(*, wanted: bool) -> Callable[..., None] | None:
    """What compares each decision with one made from scratch, if that is wanted."""
    if not wanted:
        return None
    from scheduler.cycle.self_check import check

    return check
