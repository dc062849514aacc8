"""`berth config`: what a configuration amounts to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.cli.parsers import add_command
from scheduler.cli.problems import OK, complain, warn

if TYPE_CHECKING:
    import argparse

    from scheduler.cli.parsers import SubParsers

_EPILOG = """\
examples:
  berth config                                    what `berth run` works with if nothing is configured
  berth config --config berth.yaml                the same for a file; an error names every bad field
  berth config --config berth.yaml -o json | jq .profiles[].schedulerName
  berth config features                           all feature gates: value, stage, default

documentation: docs/configuration.md
"""


def add_parser(subparsers: SubParsers) -> None:
    """Add the subcommand's parser."""
    parser = add_command(
        subparsers,
        "config",
        help="check a configuration and print it with all defaults",
        description="Read a KubeSchedulerConfiguration as `berth run` does, check it, and print it with defaults set.",
        epilog=_EPILOG,
    )
    parser.add_argument(
        "what",
        nargs="?",
        choices=("show", "features"),
        default="show",
        help="show: the configuration (default); features: the feature gates",
    )
    parser.add_argument("--config", metavar="FILE", default="", help="the configuration (default: Berth's own)")
    parser.add_argument("--feature-gates", metavar="A=true,B=false", action="append", help="gates to switch")
    parser.add_argument("-o", "--output", choices=("yaml", "json"), default="yaml", help="format (default yaml)")


def main(namespace: argparse.Namespace) -> int:
    """Print the effective configuration, or the gates."""
    from scheduler.app.configuration import all_plugins, check_plugins, read_config, supported_gates
    from scheduler.config.render import to_json, to_yaml

    try:
        gates, warnings = supported_gates(namespace.feature_gates or ())
        if namespace.what == "features":
            text = gates.listing() + "\n"
        else:
            registry = all_plugins()
            config = read_config(namespace.config, gates=gates, registry=registry)
            check_plugins(config, gates=gates, registry=registry, source=namespace.config)
            text = (to_json if namespace.output == "json" else to_yaml)(config)
    except (ValueError, OSError) as problem:
        return complain(problem)
    for warning in warnings:
        warn(warning)
    print(text, end="")
    return OK
