"""`berth simulate`: place the pending pods of manifests or of a live cluster, without touching anything."""

from __future__ import annotations

import asyncio
import gc
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from scheduler.cli.problems import FAILED, OK, complain
from scheduler.cli.simulate_flags import add_flags as add_parser

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from scheduler.app.decisions import PodDecision
    from scheduler.app.manifests import Manifests
    from scheduler.app.progress import Progress
    from scheduler.app.report import Report
    from scheduler.app.simulation import Simulation
    from scheduler.app.whatif.world import World
    from scheduler.cli.simulate_input import Given
    from scheduler.cli.simulate_sides import Setting
    from scheduler.config.features import FeatureGates
    from scheduler.framework.handle import Factory

__all__ = ["add_parser", "main"]

_LAZY_COLLECTION: Final = (100_000, 50, 100)


def main(namespace: argparse.Namespace) -> int:
    """Run the command; its exit status."""
    from scheduler.app.manifests import ManifestError
    from scheduler.app.whatif.world import ChangeError
    from scheduler.cli.simulate_input import UsageError
    from scheduler.config.errors import ConfigError
    from scheduler.config.features import FeatureGateError

    try:
        with _few_collections():
            return _main(namespace)
    except (UsageError, ManifestError, ChangeError, ConfigError, FeatureGateError, OSError) as problem:
        return complain(problem)


@contextmanager
def _few_collections() -> Iterator[None]:
    """Nearly all that is made here stays to the end, and the collector would look at it over and over."""
    before = gc.get_threshold()
    gc.set_threshold(*_LAZY_COLLECTION)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _main(namespace: argparse.Namespace) -> int:
    from scheduler.app.configuration import all_plugins, supported_gates
    from scheduler.cli.problems import warn
    from scheduler.cli.progress import progress_line
    from scheduler.cli.simulate_input import changed_world, check_filling, check_usage, compares, read_input
    from scheduler.cli.simulate_sides import Setting
    from scheduler.cli.simulate_snapshot import save_snapshot

    check_usage(namespace)
    check_filling(namespace)
    gates, warnings = supported_gates(namespace.feature_gates)
    for warning in warnings:
        warn(warning)
    registry = all_plugins()
    if namespace.jsonl:
        return _cases(registry, gates, self_check=namespace.self_check)
    with progress_line() as progress:
        manifests = read_input(namespace, progress)
        if namespace.snapshot:
            return save_snapshot(namespace, manifests, progress)
        setting = Setting(namespace, manifests, registry, gates)
        configs = setting.configs()
        world, changes = changed_world(namespace, manifests)
        answer = _compared if compares(namespace) else _filled if namespace.fill else _placed
        show, status = answer(setting, configs, world, changes, progress)
    show()
    _remark(manifests)
    return status


def _placed(
    setting: Setting, configs: list[Given], world: World, changes: list[str], progress: Progress
) -> tuple[Callable[[], None], int]:
    """Where the pods go."""
    from scheduler.app.expectation import differences, read_expectation
    from scheduler.cli.simulate_output import OUTPUTS, Outcome

    namespace = setting.namespace
    expected = read_expectation(namespace.expect) if namespace.expect else None
    report = _report(namespace.output)
    simulation = setting.simulation(
        world.objects(),
        configs[0],
        details=namespace.output != "table",
        observe=report.add if report is not None else None,
    )
    run = simulation.run(lambda done, total: progress("scheduling", done, total))
    decisions = asyncio.run(run)
    _note_foreign(setting.manifests, simulation)
    html = report.document(simulation, decisions, changes).html if report is not None else b""
    outcome = Outcome(decisions, changes, html)
    unexpected = differences(expected, decisions) if expected is not None else []
    setting.manifests.notes += unexpected
    status = FAILED if unexpected else _status(namespace.fail_on, decisions)
    return lambda: OUTPUTS[namespace.output](outcome), status


def _compared(
    setting: Setting, configs: list[Given], world: World, changes: list[str], progress: Progress
) -> tuple[Callable[[], None], int]:
    """Which pods come out differently on two sides."""
    from scheduler.app.comparing import compare
    from scheduler.cli.comparisons import print_comparison

    namespace = setting.namespace
    names, make = setting.sides(world, configs)
    told = asyncio.run(compare(names, make, lambda side, done, total: progress(f"scheduling ({side})", done, total)))
    happened = {
        "pending": told.a.pending + told.b.pending > 0,
        "preemption": told.a.evicted + told.b.evicted > 0,
        "moved": bool(told.moved),
    }
    status = FAILED if any(happened[name] for name in namespace.fail_on) else OK
    return lambda: print_comparison(namespace.output, told, changes), status


def _report(output: str) -> Report | None:
    """Who collects what a report needs, if one is asked for."""
    if output != "html":
        return None
    from scheduler.app.report import Report

    return Report()


def _filled(
    setting: Setting, configs: list[Given], world: World, changes: list[str], progress: Progress
) -> tuple[Callable[[], None], int]:
    """How many more pods fit, once the pending ones are placed."""
    from scheduler.app.filling import Filling, fill
    from scheduler.app.manifests import ManifestError
    from scheduler.cli.fillings import print_filling
    from scheduler.cli.simulate_input import read_pod

    namespace = setting.namespace
    pod = read_pod(namespace.fill)
    simulation = setting.simulation(world.objects(), configs[0])

    async def run() -> Filling:
        await simulation.run(lambda done, total: progress("scheduling", done, total))
        return await fill(simulation, pod, progress, limit=namespace.fill_limit)

    try:
        filling = asyncio.run(run())
    except ValueError as problem:
        raise ManifestError(f"{namespace.fill}: {problem}") from problem
    enough = namespace.at_least is None or filling.copies >= namespace.at_least
    return lambda: print_filling(namespace.output, filling, changes), OK if enough else FAILED


def _cases(registry: Mapping[str, Factory], gates: FeatureGates, *, self_check: bool) -> int:
    import msgspec

    from scheduler.app.cases import CaseRunner
    from scheduler.cli.simulate_sides import checker

    runner = CaseRunner(registry, gates, checked=checker(wanted=self_check), warm=self_check)
    encode = msgspec.json.Encoder().encode
    out = sys.stdout.buffer
    for line in sys.stdin.buffer:
        if line.strip():
            out.write(encode(runner.run_line(line)) + b"\n")
            out.flush()
    return OK


def _note_foreign(manifests: Manifests, simulation: Simulation) -> None:
    if foreign := simulation.foreign:
        pods = ", ".join(f"{count} of {name}" for name, count in sorted(foreign.items()))
        manifests.notes.append(f"Left alone, as they ask for other schedulers: {pods}.")


def _remark(manifests: Manifests) -> None:
    """Say on standard error what there is to say of the input, and what of it had no part."""
    if manifests.skipped:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(manifests.skipped.items()))
        print(f"Left out, as scheduling does not read them: {kinds}.", file=sys.stderr)
    for note in manifests.notes:
        print(note, file=sys.stderr)


def _status(fail_on: Sequence[str], decisions: Sequence[PodDecision]) -> int:
    """Whether what was to be warned of has happened."""
    from scheduler.app.decisions import GATED

    happened = {
        "pending": any(decision.node is None and decision.status != GATED for decision in decisions),
        "preemption": any(decision.victims for decision in decisions),
    }
    return FAILED if any(happened[name] for name in fail_on) else OK
