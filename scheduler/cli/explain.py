"""`berth explain`: why a pod is where it is, or why it is nowhere and what would help."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Final

from scheduler.cli.parsers import add_command
from scheduler.cli.problems import FAILED, OK, complain

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from scheduler.app.asking import Asking
    from scheduler.cli.parsers import SubParsers
    from scheduler.client.auth import Connection
    from scheduler.explain.explanation import PodExplanation
    from scheduler.explain.views import Decision, Evaluation, NodeComparison, PodView

_EPILOG: Final = """\
examples:
  berth explain pod web-1 -n shop                why is it there: the winner beside the next best node
  berth explain pod web-1 -n shop --node c2      ... and beside c2
  berth explain pod big -n shop                  why is it pending, and what would help
  berth explain pod big -n shop --fresh          what would be decided now, leaving out what was recorded
  berth explain pod web-1 --attempt 4711 -o json one attempt on record, all of it
  berth explain pod web-1 --from-cluster         ask no scheduler: decide here, from what you may read
  berth explain node c2                          the pods on a node
  kubectl berth explain pod web-1 -n shop        the same as a kubectl plugin

A pod that has a node is explained by the attempt that placed it. For one that has none, what was recorded and what a
fresh evaluation says now are told apart; each change that would help was tried before it is printed. Where no Berth is
found, the decision is taken here, by the same code, from the objects that you may read; it says so.

Exit status: 0 if there was something to say, 1 if not (nothing known, no way, no right), 2 for unusable flags.
"""


def add_parser(subparsers: SubParsers) -> None:
    """Add the command to those of `berth`."""
    from scheduler.cli.reaching import RIGHTS, add_flags

    parser = add_command(
        subparsers,
        "explain",
        help="why a pod is where it is, or why it is pending and what would help",
        description="Ask the running scheduler what it decided, and why.",
        epilog=_EPILOG + "\n" + RIGHTS,
    )
    parser.add_argument("kind", choices=("pod", "node"), help="what to explain")
    parser.add_argument("name", metavar="NAME", help="its name; a pod's may be NAMESPACE/NAME")
    parser.add_argument("-n", "--namespace", default="", metavar="NAME", help="the pod's (default: your context's)")
    parser.add_argument(
        "-o", "--output", default="table", choices=("table", "json", "yaml"), help="table (default), json or yaml"
    )
    parser.add_argument(
        "--node", action="append", default=[], metavar="NAME", help="compare with this node, too (may be repeated)"
    )
    parser.add_argument("--attempt", type=int, default=None, metavar="ID", help="explain this attempt on record")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--recorded", action="store_true", help="only what was recorded")
    which.add_argument("--fresh", action="store_true", help="only what would be decided now")
    which.add_argument("--from-cluster", action="store_true", help="decide here, from what you may read")
    add_flags(parser)


def main(namespace: argparse.Namespace) -> int:
    """Run the command; its exit status."""
    from scheduler.app.manifests import ManifestError
    from scheduler.app.reach import ReachError
    from scheduler.client.auth import AuthError

    if problem := _unusable(namespace):
        return complain(problem)
    try:
        return asyncio.run(_explain_node(namespace) if namespace.kind == "node" else _explain_pod(namespace))
    except AuthError as problem:
        return complain(problem)
    except (ReachError, ManifestError) as problem:
        return complain(problem, code=FAILED)


def _unusable(namespace: argparse.Namespace) -> str:
    if namespace.kind == "node" and (namespace.node or namespace.attempt is not None or namespace.from_cluster):
        return "--node, --attempt and --from-cluster go with explain pod"
    if namespace.attempt is not None and (namespace.fresh or namespace.from_cluster):
        return "--attempt is one on record: leave out --fresh and --from-cluster"
    return ""


async def _explain_node(namespace: argparse.Namespace) -> int:
    from scheduler.cli.reaching import asking, connection_of
    from scheduler.cli.structured import as_json, as_yaml
    from scheduler.explain.grid import show
    from scheduler.explain.node_text import node_parts

    async with asking(namespace, await connection_of(namespace)) as scheduler:
        node = await scheduler.node(namespace.name)
        if namespace.output != "table":
            sys.stdout.write(as_json(node) if namespace.output == "json" else as_yaml(node))
        else:
            show(sys.stdout, node_parts(node, await scheduler.nodes()))
    return OK


async def _explain_pod(namespace: argparse.Namespace) -> int:
    from scheduler.app.reach import NoSchedulerError
    from scheduler.cli.reaching import asking, connection_of

    connection = await connection_of(namespace)
    where, name = _names(namespace, connection)
    if namespace.from_cluster:
        return _print(namespace, await _here(namespace, where, name))
    try:
        async with asking(namespace, connection) as scheduler:
            explanation = await _asked(scheduler, namespace, where, name)
    except NoSchedulerError as problem:
        if namespace.recorded or namespace.attempt is not None:
            raise
        print(f"{problem}\nDeciding here instead, from what you may read of the cluster.\n", file=sys.stderr)
        explanation = await _here(namespace, where, name)
    return _print(namespace, explanation)


def _names(namespace: argparse.Namespace, connection: Connection) -> tuple[str, str]:
    within, slash, name = namespace.name.rpartition("/")
    return (within if slash else namespace.namespace or connection.namespace or "default"), name


async def _asked(scheduler: Asking, namespace: argparse.Namespace, where: str, name: str) -> PodExplanation:
    """What the scheduler says."""
    from scheduler.app.reach import ReachError
    from scheduler.explain.explanation import explain

    pod = await scheduler.pod(where, name)
    if pod is None:
        raise ReachError(f"the scheduler knows no pod {where}/{name}: -n NAMESPACE says where it is")
    decision = await _recorded(scheduler, namespace, pod)
    evaluation = await _fresh(scheduler, namespace, pod, decision, where, name)
    time = evaluation.time if evaluation is not None else (await scheduler.overview()).time
    compared = await _compared(scheduler, decision, namespace.node)
    return explain(pod, time=time, decision=decision, evaluation=evaluation, asked=namespace.node, compared=compared)


async def _compared(scheduler: Asking, decision: Decision | None, asked: Sequence[str]) -> list[NodeComparison]:
    """The node of a record against the next best and those that were asked for, in the scheduler's words."""
    if decision is None or not decision.summary.node or not decision.summary.id:
        return []
    found = [await scheduler.comparison(decision.summary.id, other) for other in dict.fromkeys(["", *asked])]
    known = {one.other: one for one in found if one is not None}
    return list(known.values())


async def _recorded(scheduler: Asking, namespace: argparse.Namespace, pod: PodView) -> Decision | None:
    if namespace.attempt is not None:
        return await scheduler.decision(namespace.attempt)
    return None if namespace.fresh else pod.latest


async def _fresh(
    scheduler: Asking, namespace: argparse.Namespace, pod: PodView, decision: Decision | None, where: str, name: str
) -> Evaluation | None:
    """A fresh evaluation where it says more: for a pod without a node, or one of which nothing is on record."""
    if namespace.recorded or namespace.attempt is not None:
        return None
    if decision is not None and pod.state != "Pending":
        return None
    return await scheduler.evaluation(where, name)


async def _here(namespace: argparse.Namespace, where: str, name: str) -> PodExplanation:
    """What this process decides, from the cluster's objects."""
    from scheduler.app.live import read_cluster
    from scheduler.app.own_evaluation import evaluate_here

    live = await read_cluster(namespace.kubeconfig, namespace.context)
    for note in live.notes:
        print(note, file=sys.stderr)
    return evaluate_here(live.objects, where, name, asked=namespace.node)


def _print(namespace: argparse.Namespace, explanation: PodExplanation) -> int:
    from scheduler.cli.structured import as_json, as_yaml
    from scheduler.explain.explanation import story
    from scheduler.explain.grid import show

    if namespace.output != "table":
        sys.stdout.write(as_json(explanation) if namespace.output == "json" else as_yaml(explanation))
    else:
        show(sys.stdout, story(explanation, asked=namespace.node))
    known = explanation.decision is not None or explanation.evaluation is not None
    return OK if known else FAILED
