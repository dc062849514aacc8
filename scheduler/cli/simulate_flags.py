"""The flags of `berth simulate`, and what its help says."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, Final

from scheduler.cli.parsers import add_command, whole
from scheduler.cli.simulate_output import OUTPUTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.cli.parsers import SubParsers

_EPILOG: Final = """\
examples:
  berth simulate -f cluster.yaml -f workloads.yaml      where would these pods go?
  berth simulate -f cluster.yaml -f app.yaml -o wide    ... and with which scores?
  berth simulate -f cluster/ --config scheduler.yaml    under another configuration
  kubectl get nodes,pods,services -A -o yaml | berth simulate -f -
  berth simulate --from-cluster -f new-app.yaml         a new app on the live cluster (read-only)
  berth simulate --jsonl < cases.jsonl                  single decisions, one case a line

  berth simulate --from-cluster --snapshot c.tar.zst --anonymize    take it with you ...
  berth simulate -f c.tar.zst -f new-app.yaml                       ... and ask elsewhere

what if:
  berth simulate --from-cluster --drain node-3                      where would its pods go?
  berth simulate -f cluster.yaml --add-nodes 2=node-1 --scale deployment/web=20
  berth simulate -f cluster.yaml --without-node 'spot-*' --fail-on pending
  berth simulate -f cluster.yaml --fill web.yaml --at-least 20                      how many more would fit?

  berth simulate -f c.tar.zst --reschedule --config old.yaml --config new.yaml      which pods would land elsewhere?
  berth simulate -f c.tar.zst --reschedule --set percentageOfNodesToScore=100 --compare

A KubeSchedulerConfiguration among the inputs (or --config) is the configuration, and pods of its profiles are
scheduled. Without one, the default profile takes every pending pod whatever its schedulerName. An object of a
file takes the place of one of that name in an earlier file or in the cluster. Deployments and other workloads
that have no pod yet get those that their controller would make.

Exit status: 0 if the input could be read, whatever became of the pods; 1 if what --fail-on, --expect or --at-least
warns of has happened; 2 if the input can't be used, and then nothing was scheduled.
"""


class _Change(argparse.Action):
    """Notes a change, so that changes of all kinds are made in the order in which they are written."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002 (argparse's signature)
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Add (flag, value)."""
        namespace.changes = [*namespace.changes, (option_string, values)]


def add_flags(subparsers: SubParsers) -> None:
    """Add the command to those of `berth`."""
    parser = add_command(
        subparsers,
        "simulate",
        help="place pending pods of manifests or of a live cluster, without touching anything",
        description="Schedule the pending pods of the input by the very code that schedules in a cluster.",
        epilog=_EPILOG,
    )
    parser.set_defaults(changes=[])
    _add_input(parser.add_argument_group("what to read"))
    _add_configuration(parser.add_argument_group("configuration"))
    _add_snapshot(parser.add_argument_group("taking a snapshot"))
    _add_changes(parser.add_argument_group("what if (may be repeated, and are made in the order they are written in)"))
    _add_filling(parser.add_argument_group("how many more fit"))
    _add_output(parser.add_argument_group("output"))


def _add_input(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "-f",
        "--filename",
        action="append",
        default=[],
        metavar="FILE",
        help="what to read: a YAML or JSON file, a directory, a snapshot, or - for standard input (may be repeated)",
    )
    group.add_argument(
        "--from-cluster", action="store_true", help="begin with the objects of the cluster that kubeconfig names"
    )
    group.add_argument("--kubeconfig", default="", metavar="FILE", help="for --from-cluster ($KUBECONFIG otherwise)")
    group.add_argument("--context", default="", metavar="NAME", help="context of the kubeconfig, for --from-cluster")
    group.add_argument(
        "--jsonl", action="store_true", help="read one case a line on standard input, write one decision a line"
    )


def _add_snapshot(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--snapshot",
        default="",
        metavar="FILE.tar.zst",
        help="save what scheduling reads of the input, for -f on another day or machine; nothing is scheduled then",
    )
    group.add_argument(
        "--anonymize", action="store_true", help="give names, label values and images pseudonyms in the snapshot"
    )
    group.add_argument(
        "--pseudonyms",
        default="",
        metavar="FILE.json",
        help="write which name got which pseudonym, to keep to yourself",
    )


def _add_configuration(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--config",
        dest="configs",
        action="append",
        default=[],
        metavar="FILE",
        help="a KubeSchedulerConfiguration; two of them are compared",
    )
    group.add_argument(
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="PATH=VALUE",
        help="set a field of the configuration, as in profiles[0].plugins.multiPoint.enabled[NodeAffinity].weight=5",
    )
    group.add_argument(
        "--feature-gates", action="append", default=[], metavar="A=true,B=false", help="as kube-scheduler's"
    )
    group.add_argument("--seed", type=int, default=0, metavar="N", help="for breaking ties (default 0: reproducible)")
    group.add_argument(
        "--self-check", action="store_true", help="compare each decision with one made from scratch; slow"
    )


def _add_changes(group: argparse._ArgumentGroup) -> None:
    for flag, metavar, text in (
        ("--add-nodes", "N=NODE", "N more nodes like NODE, with its daemon and static pods"),
        ("--without-node", "NODE", "a node (or a glob of names) is gone; its pods are placed again"),
        ("--drain", "NODE", "a node is cordoned, and its pods are placed again (but daemon and static ones)"),
        ("--cordon", "NODE", "a node takes no more pods"),
        ("--uncordon", "NODE", "a node takes pods again"),
        ("--remove-taint", "NODES:KEY[:EFFECT]", "a taint is gone; NODES is a name, a glob or a label selector"),
        ("--scale", "KIND/[NAMESPACE/]NAME=N", "a Deployment, StatefulSet, ReplicaSet or Job has N pods"),
    ):
        group.add_argument(flag, action=_Change, metavar=metavar, default=argparse.SUPPRESS, help=text)
    group.add_argument(
        "--reschedule",
        action=_Change,
        nargs="?",
        const="*",
        metavar="NAMESPACE/POD",
        default=argparse.SUPPRESS,
        help="running pods (all, or those that a glob matches) are placed anew: where would they go today?",
    )

    group.add_argument(
        "--compare", action="store_true", help="compare with the input as it is: which pods land elsewhere, and why"
    )


def _add_filling(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--fill",
        default="",
        metavar="POD.yaml",
        help="how many copies of this pod fit (or of the pods of this Deployment, Job, ...), where, and what ends it",
    )
    group.add_argument("--fill-limit", type=whole(least=1), default=None, metavar="N", help="stop at so many copies")
    group.add_argument(
        "--at-least", type=whole(least=1), default=None, metavar="N", help="exit with 1 if fewer than N copies fit"
    )


def _add_output(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "-o",
        "--output",
        default="table",
        choices=tuple(OUTPUTS),
        help="table (default), wide (with scores and reasons), json or yaml (everything), html (the page, to a file)",
    )
    group.add_argument(
        "--fail-on",
        action="append",
        default=[],
        choices=("pending", "preemption", "moved"),
        help="exit with 1 if a pod stays pending, if a pod was evicted for another, or (where two are compared) if a "
        "pod comes out differently (may be repeated)",
    )
    group.add_argument(
        "--expect",
        default="",
        metavar="FILE.json",
        help="exit with 1 if a pod is elsewhere than in this file, which an earlier -o json wrote",
    )
