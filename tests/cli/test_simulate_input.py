"""What `berth simulate` is to work on: which flags make sense together, and where configuration and pods come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scheduler.app.configuration import all_plugins
from scheduler.app.manifests import ManifestError, read_manifests
from scheduler.cli.main import build_parser
from scheduler.cli.simulate_input import (
    UsageError,
    check_filling,
    check_usage,
    compares,
    read_config,
    read_pod,
)
from scheduler.config.errors import ConfigError
from scheduler.config.features import FeatureGates
from tests.cli.runs import CONFIG, DEPLOYMENT

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from pathlib import Path

    from scheduler.cli.simulate_input import Given

F = ["-f", "x"]
POD = "{apiVersion: v1, kind: Pod, metadata: {name: %s}, spec: {containers: []}}\n"


def flags(*arguments: str) -> argparse.Namespace:
    return build_parser().parse_args(["simulate", *arguments])


@pytest.mark.parametrize(
    "arguments",
    [
        F,
        ["--from-cluster", "--context", "c"],
        ["--jsonl"],
        [*F, "--snapshot", "s", "--anonymize", "--pseudonyms", "p"],
        [*F, "--config", "a", "--config", "b", "--fail-on", "moved"],
        [*F, "--compare", "--drain", "n"],
        [*F, "--compare", "--set", "percentageOfNodesToScore=5", "--config", "a"],
        [*F, "--fill", "p", "--fill-limit", "5", "--at-least", "5"],
        [*F, "-o", "html"],
        [*F, "--expect", "e"],
    ],
    ids=" ".join,
)
def test_flags_that_make_sense_together(arguments: list[str]) -> None:
    check_usage(flags(*arguments))
    check_filling(flags(*arguments))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "nothing to read"),
        (["--jsonl", *F], "--jsonl reads whole cases"),
        (["--jsonl", "--drain", "n"], "--jsonl reads whole cases"),
        ([*F, "--snapshot", "s", "--drain", "n"], "--snapshot saves the input as it is"),
        ([*F, "--snapshot", "s", "--config", "c"], "--snapshot saves the input as it is"),
        ([*F, "--anonymize"], "--anonymize goes with --snapshot"),
        ([*F, "--snapshot", "s", "--pseudonyms", "p"], "--pseudonyms with both"),
        ([*F, "--config", "a", "--config", "b", "--config", "c"], "two at a time"),
        ([*F, "--config", "a", "--config", "b", "--compare", "--drain", "n"], "two at a time"),
        ([*F, "--compare"], "--compare needs a change"),
        ([*F, "--fail-on", "moved"], "--fail-on moved goes with"),
        ([*F, "--kubeconfig", "k"], "go with --from-cluster"),
    ],
)
def test_flags_that_do_not(arguments: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        check_usage(flags(*arguments))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([*F, "--fill", "p", "--compare", "--drain", "n"], "--fill answers one question at a time"),
        ([*F, "--fill", "p", "--snapshot", "s"], "--fill answers one question at a time"),
        ([*F, "-o", "html", "--fill", "p"], "-o html shows where pods go"),
        ([*F, "--expect", "e", "--config", "a", "--config", "b"], "--expect is about where pods go"),
        ([*F, "--at-least", "5"], "go with --fill"),
        ([*F, "--fill", "p", "--fill-limit", "4", "--at-least", "5"], "it would never be enough"),
    ],
)
def test_questions_that_exclude_each_other(arguments: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        check_filling(flags(*arguments))


@pytest.mark.parametrize(
    ("arguments", "two"),
    [
        (F, False),
        ([*F, "--config", "a"], False),
        ([*F, "--config", "a", "--config", "b"], True),
        ([*F, "--compare"], True),
    ],
)
def test_two_sides_are_compared_if_there_are_two(arguments: list[str], two: bool) -> None:
    assert compares(flags(*arguments)) is two


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], str]:
    def write(name: str, text: str) -> str:
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


class TestPodToFillWith:
    def test_the_one_pod_of_a_file(self, write) -> None:
        assert read_pod(write("p.yaml", POD % "web")).metadata.name == "web"

    def test_or_one_as_its_workload_makes_them(self, write) -> None:
        made = read_pod(write("d.yaml", DEPLOYMENT))
        assert made.metadata.name == "shop"
        assert made.spec.containers[0].resources.requests == {"cpu": "1"}

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("{apiVersion: v1, kind: Node, metadata: {name: n1}}\n", "no pods and workloads; --fill takes one"),
            (POD % "a" + "---\n" + POD % "b", "2 pods and workloads; --fill takes one"),
            (POD % "a" + "---\n" + DEPLOYMENT, "2 pods and workloads; --fill takes one"),
        ],
    )
    def test_anything_else_is_no_answer_to_which(self, write, text: str, said: str) -> None:
        with pytest.raises(ManifestError, match=said):
            read_pod(write("x.yaml", text))


class TestConfiguration:
    def read(self, path: str = "", inputs: tuple[str, ...] = (), settings: tuple[str, ...] = ()) -> Given:
        return read_config(path, read_manifests(inputs), settings, all_plugins(), FeatureGates())

    def test_without_one_the_default_profile_takes_every_pod(self) -> None:
        given = self.read()
        assert (given.takes_all, given.source) == (True, "")
        assert [profile.scheduler_name for profile in given.config.profiles] == ["default-scheduler"]

    def test_a_file_is_named_by_the_flag(self, write) -> None:
        path = write("config.yaml", CONFIG)
        given = self.read(path)
        assert (given.takes_all, given.source) == (False, path)
        assert [profile.scheduler_name for profile in given.config.profiles] == ["other"]

    def test_or_one_is_among_the_inputs(self, write) -> None:
        given = self.read(inputs=(write("config.yaml", CONFIG),))
        assert not given.takes_all
        assert [profile.scheduler_name for profile in given.config.profiles] == ["other"]

    def test_but_not_both(self, write) -> None:
        path = write("config.yaml", CONFIG)
        with pytest.raises(ManifestError, match="while --config names another one"):
            self.read(path, inputs=(path,))

    @pytest.mark.parametrize("where", ["nowhere", "a file", "the inputs"])
    def test_fields_are_set_over_whatever_there_is(self, write, where: str) -> None:
        path = write("config.yaml", CONFIG)
        given = self.read(
            path if where == "a file" else "",
            inputs=(path,) if where == "the inputs" else (),
            settings=("percentageOfNodesToScore=7",),
        )
        assert given.config.percentage_of_nodes_to_score == 7
        assert given.takes_all is (where == "nowhere")

    def test_a_field_that_there_is_not_is_refused_by_where_it_was_set(self) -> None:
        with pytest.raises(ConfigError, match=r"^--set: "):
            self.read(settings=("bogus=1",))
