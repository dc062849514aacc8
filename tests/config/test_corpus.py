"""Our reading of each configuration of the corpus against kube-scheduler's, recorded by record.py."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from scheduler.config.errors import ConfigError
from scheduler.config.load import load_config
from scheduler.config.plugins import expand
from scheduler.config.render import to_yaml

CORPUS = Path(__file__).parent / "corpus"
ACCEPTED = sorted(path.stem for path in CORPUS.glob("accepted/*.yaml") if "." not in path.stem)
REFUSED = sorted(path.stem for path in CORPUS.glob("refused/*.yaml"))

# kube-scheduler stops decoding at the first error, and doesn't say where it is. Ours has the path and goes on.
IN_OUR_WORDS = {
    "added-affinity-type": (
        'profiles[0].pluginConfig[0].args.addedAffinity: Invalid value: ["a"]: cannot unmarshal array into an object',
    ),
    "args-of-another-kind": (
        'profiles[0].pluginConfig[0].args.kind: Invalid value: "InterPodAffinityArgs": '
        "args for plugin NodeAffinity were not of type NodeAffinityArgs of kubescheduler.config.k8s.io/v1",
    ),
    "duplicate-key": ('line 4: key "parallelism" already set in map',),
    "duplicate-key-json": ('duplicate field "parallelism"',),
    "duration-number": (
        'leaderElection.leaseDuration: Invalid value: 15: cannot unmarshal number into a duration such as "15s"',
    ),
    "duration-unit": (
        'leaderElection.leaseDuration: Invalid value: "15 minutes": '
        'time: unknown unit " minutes" in duration "15 minutes"',
    ),
    "duration-without-unit": (
        'leaderElection.leaseDuration: Invalid value: "15": time: missing unit in duration "15"',
    ),
    "empty-file": (
        "kind: Object 'Kind' is missing; "
        "expected apiVersion kubescheduler.config.k8s.io/v1 and kind KubeSchedulerConfiguration",
    ),
    "extender-data": (
        'extenders[0].tlsConfig.caData: Invalid value: "<omitted>": not base64: Only base64 data is allowed',
    ),
    "no-kind": (
        "kind: Object 'Kind' is missing; "
        "expected apiVersion kubescheduler.config.k8s.io/v1 and kind KubeSchedulerConfiguration",
    ),
    "no-version": (
        "apiVersion: Object 'apiVersion' is missing; "
        "expected apiVersion kubescheduler.config.k8s.io/v1 and kind KubeSchedulerConfiguration",
    ),
    "not-an-object": (
        "not a configuration: expected apiVersion kubescheduler.config.k8s.io/v1 and kind KubeSchedulerConfiguration",
    ),
    "number-too-large": ("parallelism: Invalid value: 4294967296: cannot unmarshal number into int32",),
    "other-kind": (
        'kind: no kind "NodeAffinityArgs" is registered for version "kubescheduler.config.k8s.io/v1"; '
        "expected apiVersion kubescheduler.config.k8s.io/v1 and kind KubeSchedulerConfiguration",
    ),
    "unknown-field-in-args": (
        'unknown field "profiles[0].pluginConfig[0].args.hardPodAfinityWeight", did you mean "hardPodAffinityWeight"?',
        'unknown field "profiles[0].pluginConfig[1].args.addedAffinity.required"',
    ),
    "unknown-fields": (
        'unknown field "paralellism", did you mean "parallelism"?',
        'unknown field "profiles[0].schedulerNames", did you mean "schedulerName"?',
        'unknown field "profiles[0].plugins.filtr", did you mean "filter"?',
        'unknown field "profiles[0].plugins.score.enabled[0].wait"',
    ),
    "unknown-kind": (
        'kind: no kind "SchedulerConfiguration" is registered for version "kubescheduler.config.k8s.io/v1"; '
        "expected apiVersion kubescheduler.config.k8s.io/v1 and kind KubeSchedulerConfiguration",
    ),
    "unknown-plugin": (
        'profiles[0].plugins.filter.enabled[0].name: Invalid value: "NodeNames": '
        'plugin "NodeNames" does not exist, did you mean "NodeName"?',
    ),
    "unknown-plugin-multi-point": (
        'profiles[0].plugins.multiPoint.enabled[0].name: Invalid value: "Nonsense": plugin "Nonsense" does not exist',
    ),
    "unknown-version": (
        'apiVersion: no kind "KubeSchedulerConfiguration" is registered for version '
        '"kubescheduler.config.k8s.io/v1beta3"; '
        "expected apiVersion kubescheduler.config.k8s.io/v1 and kind KubeSchedulerConfiguration",
    ),
    "weight-text": (
        'profiles[0].plugins.score.enabled[0].weight: Invalid value: "3": cannot unmarshal string into int32',
    ),
    "weight-too-large": (
        "profiles[0].plugins.score.enabled[0].weight: Invalid value: 3000000000: cannot unmarshal number into int32",
    ),
    "wrong-type": ('parallelism: Invalid value: "four": cannot unmarshal string into int32',),
    "wrong-type-float": ("parallelism: Invalid value: 4.5: cannot unmarshal number into int32",),
    "wrong-type-profiles": ('profiles: Invalid value: {"schedulerName":"a"}: cannot unmarshal object into an array',),
}
WHEN_EXPANDED = ("no-bind", "no-queue-sort", "twice-at-a-point", "twice-in-multi-point", "wrong-point")
SYNTAX = ("not-yaml",)
BY_VALIDATION = [name for name in REFUSED if name not in {*IN_OUR_WORDS, *WHEN_EXPANDED, *SYNTAX}]


def refusal(name, gates_of):
    text = (CORPUS / "refused" / f"{name}.yaml").read_text()
    with pytest.raises(ConfigError) as caught:
        load_config(text, source="", feature_gates=gates_of(text))
    return [str(error) for error in caught.value.errors]


@pytest.mark.parametrize("name", ACCEPTED)
def test_the_effective_configuration_is_kube_schedulers_to_the_letter(name, gates_of):
    text = (CORPUS / "accepted" / f"{name}.yaml").read_text()
    config = load_config(text, source=name, feature_gates=gates_of(text))
    assert to_yaml(config) == (CORPUS / "accepted" / f"{name}.effective.yaml").read_text()


@pytest.mark.parametrize("name", ACCEPTED)
def test_plugins_run_in_kube_schedulers_order_with_its_weights(name, gates_of, implements):
    text = (CORPUS / "accepted" / f"{name}.yaml").read_text()
    config = load_config(text, source=name, feature_gates=gates_of(text))
    recorded = json.loads((CORPUS / "accepted" / f"{name}.plugins.json").read_text())
    assert len(config.profiles) == len(recorded)
    for profile, expected in zip(config.profiles, recorded, strict=True):
        expanded = expand(profile.plugins, implements, scheduler_name=profile.scheduler_name)
        assert {point: list(plugins) for point, plugins in expanded.points.items()} == {
            point: list(plugins) for point, plugins in expected.items() if point != "multiPoint"
        }
        assert expanded.score_weights == expected["score"]
        assert expanded.placement_score_weights == expected["placementScore"]


@pytest.mark.parametrize("name", BY_VALIDATION)
def test_validation_finds_exactly_what_kube_scheduler_finds(name, gates_of):
    recorded = (CORPUS / "refused" / f"{name}.error.txt").read_text()
    # kube-scheduler shows a duplicate name as an empty object, for it prints a path without exported fields.
    recorded = recorded.replace("schedulerName: Duplicate value: {}", 'schedulerName: Duplicate value: "a"')
    # NodeResourcesFit checks its arguments itself, when it is made, and then doesn't know where they came from.
    made = re.match(r'initializing profiles: .*: initializing plugin "\w+": ', recorded)
    left = recorded.removeprefix(made[0]) if made else recorded
    for error in sorted(refusal(name, gates_of), key=len, reverse=True):
        shown = error.removeprefix("profiles[0].pluginConfig[0].args.") if made else error
        assert shown in left
        left = left.replace(shown, "")
    assert left.strip("[], \n") == ""


@pytest.mark.parametrize("name", IN_OUR_WORDS)
def test_what_cannot_be_decoded_is_told_with_its_place(name, gates_of):
    assert refusal(name, gates_of) == list(IN_OUR_WORDS[name])


@pytest.mark.parametrize("name", SYNTAX)
def test_what_is_no_yaml_is_told_with_line_and_column(name, gates_of):
    (error,) = refusal(name, gates_of)
    assert error.startswith("not YAML: ")
    assert "line 1, column 1" in error


@pytest.mark.parametrize("name", WHEN_EXPANDED)
def test_plugin_lists_that_make_no_profile_are_refused_as_kube_scheduler_does(name, gates, implements):
    text = (CORPUS / "refused" / f"{name}.yaml").read_text()
    (profile,) = load_config(text, source="", feature_gates=gates).profiles
    with pytest.raises(ConfigError) as caught:
        expand(profile.plugins, implements, scheduler_name=profile.scheduler_name)
    recorded = (CORPUS / "refused" / f"{name}.error.txt").read_text().strip()
    _, _, expected = recorded.partition("creating profile for scheduler name default-scheduler: ")
    assert any(error.detail == expected for error in caught.value.errors)
