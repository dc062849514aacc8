"""Feature gates of kube-scheduler v1.37.2: stage, effective default, lock, dependencies; parsing `--feature-gates`.

Source: kubernetes pkg/features/kube_features.go and its neighbours, component-base featuregate/feature_gate.go.
A gate whose default asks for a compatibility version above 1.36 (DRAFractionalCapacityRange) is off, as it is in
kube-scheduler unless that version is raised.
"""

from __future__ import annotations

import functools
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import msgspec

from scheduler.config.errors import closest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ALL_ALPHA: Final = "AllAlpha"
ALL_BETA: Final = "AllBeta"

#: Gates that kube-scheduler's own code (pkg/scheduler) asks about; the others concern other components only.
SCHEDULER_GATES: Final = frozenset(
    {
        "CompositePodGroup",
        "DRAAdminAccess",
        "DRAConsumableCapacity",
        "DRADerivedAttributes",
        "DRADeviceBindingConditions",
        "DRADeviceCompatibilityGroups",
        "DRADeviceTaintRules",
        "DRADeviceTaints",
        "DRAExtendedResource",
        "DRAFractionalCapacityRange",
        "DRAListTypeAttributes",
        "DRANodeAllocatableResources",
        "DRAOptionalNodeOperations",
        "DRAPartitionableDevices",
        "DRAPrioritizedList",
        "DRAResourceClaimDeviceStatus",
        "DRASchedulerFilterTimeout",
        "DRAWorkloadResourceClaims",
        "DynamicResourceAllocation",
        "GenericWorkload",
        "InPlacePodLevelResourcesVerticalScaling",
        "InPlacePodVerticalScaling",
        "InPlacePodVerticalScalingSchedulerPreemption",
        "InterPodAffinityHostnameFastPath",
        "MatchLabelKeysInPodTopologySpread",
        "NodeDeclaredFeatures",
        "NodeInclusionPolicyInPodTopologySpread",
        "NominatedNodeNameForExpectation",
        "OpportunisticBatching",
        "PodGroupPreemptionPolicy",
        "PodLevelResources",
        "SchedulerAsyncAPICalls",
        "SchedulerAsyncPreemption",
        "SchedulerPopFromBackoffQ",
        "SchedulerPreQueueingHints",
        "StorageCapacityScoring",
        "TaintTolerationComparisonOperators",
        "TopologyAwareWorkloadScheduling",
        "VolumeAttributesClass",
        "VolumeLimitScaling",
    }
)

#: Scheduler gates that may be set either way here: what they change is there both ways, or changes how kube-scheduler
#: works inside without changing what it decides.
SWITCHABLE_GATES: Final = frozenset(
    {
        "InterPodAffinityHostnameFastPath",
        "MatchLabelKeysInPodTopologySpread",
        "NominatedNodeNameForExpectation",
        "OpportunisticBatching",
        "SchedulerAsyncAPICalls",
        "SchedulerAsyncPreemption",
        "SchedulerPopFromBackoffQ",
        "SchedulerPreQueueingHints",
        "StorageCapacityScoring",
        "TaintTolerationComparisonOperators",
        "VolumeLimitScaling",
    }
)


class FeatureGateError(ValueError):
    """`--feature-gates` can't be accepted; the text is kube-scheduler's."""


class FeatureGate(msgspec.Struct, frozen=True, gc=False):
    """One gate: `stage` is ALPHA, BETA, GA or DEPRECATED; a locked gate can't leave its default."""

    name: str
    stage: str
    default: bool
    locked: bool
    requires: tuple[str, ...]


@functools.cache
def known_gates() -> Mapping[str, FeatureGate]:
    """All gates that kube-scheduler v1.37.2 accepts, by name, in alphabetical order."""
    text = resources.files("scheduler.config").joinpath("feature_gates.txt").read_text(encoding="utf-8")
    gates = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, stage, default, lock, requires = line.split()
        needed = tuple(requires.split(",")) if requires != "-" else ()
        gates[name] = FeatureGate(name, stage, default == "true", lock == "locked", needed)
    return MappingProxyType(gates)


class FeatureGates:
    """Which gates are on. Immutable."""

    def __init__(self, values: Mapping[str, bool] = MappingProxyType({})) -> None:
        """Gates at their defaults except for `values`.

        Raises FeatureGateError if a gate is unknown or locked, or needs one that is off.
        """
        self.explicit: Mapping[str, bool] = MappingProxyType(dict(values))
        self._enabled = _resolve(self.explicit)

    @classmethod
    def parse(cls, *texts: str) -> FeatureGates:
        """Gates from values of `--feature-gates`: "A=true,B=false", names optionally prefixed with "kube:".

        Raises FeatureGateError with kube-scheduler's text.
        """
        pairs = [pair for text in texts for pair in text.split(",") if pair]
        prefixed = {":" in pair.partition("=")[0] for pair in pairs}
        if len(prefixed) > 1:
            raise FeatureGateError(
                "set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use"
            )
        return cls(dict(_parse_pair(pair) for pair in pairs))

    def enabled(self, name: str) -> bool:
        """Whether gate `name` is on. Raises KeyError if there is no such gate."""
        return self._enabled[name]

    def unsupported(self) -> list[str]:
        """The scheduler's gates that differ from their default though Berth knows the default only, as "Name=value"."""
        return [
            f"{name}={_text(value)}"
            for name, value in self._enabled.items()
            if name in SCHEDULER_GATES - SWITCHABLE_GATES and value != known_gates()[name].default
        ]

    def warnings(self) -> list[str]:
        """kube-scheduler's warnings about gates that were set though they are on their way out."""
        stages = {"GA": "GA", "DEPRECATED": "deprecated"}
        return [
            f"setting {stages[known_gates()[name].stage]} feature gate. "
            f"It will be removed in a future release. {name}={_text(value)}"
            for name, value in self.explicit.items()
            if known_gates()[name].stage in stages
        ]

    def listing(self) -> str:
        """The scheduler's gates, one a line: value, stage, default, and whether the gate may be switched here."""
        lines = []
        for gate in known_gates().values():
            if gate.name not in SCHEDULER_GATES:
                continue
            note = "locked" if gate.locked else "" if gate.name in SWITCHABLE_GATES else "default only"
            value = f"{gate.name}={_text(self._enabled[gate.name])}"
            lines.append(f"{value} ({gate.stage} - default={_text(gate.default)}) {note}".rstrip())
        return "\n".join(lines)


def _resolve(explicit: Mapping[str, bool]) -> Mapping[str, bool]:
    known = known_gates()
    problems = []
    for name, value in explicit.items():
        gate = known.get(name)
        if gate is None:
            hint = closest(name, known)
            problems.append(f"unrecognized feature gate: {name}{hint and f', {hint}'}")
        elif gate.locked and value != gate.default:
            problems.append(
                f"cannot set feature gate {name} to {_text(value)}, feature is locked to {_text(gate.default)}"
            )
    if problems:
        raise _error(problems)
    enabled = {name: gate.default for name, gate in known.items()}
    for special, stage in ((ALL_ALPHA, "ALPHA"), (ALL_BETA, "BETA")):
        if special in explicit:
            enabled |= {
                gate.name: explicit[special]
                for gate in known.values()
                if gate.stage == stage and gate.name not in {ALL_ALPHA, ALL_BETA}
            }
    enabled |= explicit
    for gate in known.values():
        missing = [name for name in sorted(gate.requires) if not enabled[name]]
        if enabled[gate.name] and missing:
            listed = " ".join(missing)
            problems.append(f"{gate.name} is enabled, but depends on features that are disabled: [{listed}]")
    if problems:
        raise _error(problems)
    return MappingProxyType(enabled)


def _error(problems: Iterable[str]) -> FeatureGateError:
    texts = list(problems)
    return FeatureGateError(texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]")


def _parse_pair(pair: str) -> tuple[str, bool]:
    key, equals, text = pair.partition("=")
    component, colon, name = key.strip().rpartition(":")
    if colon and component != "kube":
        raise FeatureGateError(f"component not registered: {component}")
    if not equals:
        raise FeatureGateError(f"missing bool value for {name}")
    value = parse_bool(text.strip())
    if value is None:
        text = text.strip()
        problem = f'strconv.ParseBool: parsing "{text}": invalid syntax'
        raise FeatureGateError(f"invalid value of {name}={text}, err: {problem}")
    return name, value


def parse_bool(text: str) -> bool | None:
    """The truth value of `text` as Go's strconv.ParseBool has it; None if it has none."""
    if text in {"1", "t", "T", "true", "TRUE", "True"}:
        return True
    if text in {"0", "f", "F", "false", "FALSE", "False"}:
        return False
    return None


def _text(value: bool) -> str:
    return "true" if value else "false"
