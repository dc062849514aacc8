"""The feature gates are kube-scheduler's: the same names, stages and defaults, and none of its own is left out."""

from __future__ import annotations

import re
import subprocess

import pytest

from e2e import tools
from scheduler.config.features import SCHEDULER_GATES, known_gates

ELSEWHERE = {
    "MatchLabelKeysInPodAffinity",
    "MatchLabelKeysInPodTopologySpreadSelectorMerge",
    "MutableCSINodeAllocatableCount",
    "PodReadyToStartContainersCondition",
    "PodSchedulingReadiness",
    "WorkloadWithJob",
}
"""What the oracle lists besides: gates of other components, or that nothing depends on any more."""
_HELP = re.compile(r"kube:(\w+)=true\|false \((ALPHA|BETA) - default=(true|false)\)")
_LISTED = re.compile(r"^  (\w+) +(GA|BETA|ALPHA|DEPRECATED)( locked)?$", re.MULTILINE)


def printed(program: str, flag: str) -> str:
    return subprocess.run([tools.binary(program), flag], stdout=subprocess.PIPE, check=True, text=True).stdout


@pytest.mark.usefixtures("with_help")
def test_those_that_its_help_lists_are_the_same() -> None:
    theirs = {
        name: (stage, default == "true") for name, stage, default in _HELP.findall(printed("kube-scheduler", "--help"))
    }
    ours = {gate.name: (gate.stage, gate.default) for gate in known_gates().values() if gate.stage in ("ALPHA", "BETA")}
    assert len(theirs) > 100
    assert ours == theirs


@pytest.mark.usefixtures("oracle")
def test_so_are_all_that_its_code_asks_about() -> None:
    on, off = printed("oracle", "-features").split("off by default:")
    known = known_gates()
    listed = {
        (name, stage, default, bool(locked))
        for text, default in ((on, True), (off, False))
        for name, stage, locked in _LISTED.findall(text)
    }
    assert {(name, known[name].stage, known[name].default, known[name].locked) for name, *_ in listed} == listed
    assert {name for name, *_ in listed} - SCHEDULER_GATES == ELSEWHERE
    assert len(listed) > 30
