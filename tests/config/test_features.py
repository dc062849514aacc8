from __future__ import annotations

import pytest

from scheduler.config.features import (
    SCHEDULER_GATES,
    SWITCHABLE_GATES,
    FeatureGateError,
    FeatureGates,
    known_gates,
)


def test_defaults_are_those_in_force_and_not_those_of_the_source_alone():
    gates = FeatureGates()
    assert gates.enabled("StorageCapacityScoring")
    assert gates.enabled("DynamicResourceAllocation")
    assert not gates.enabled("GenericWorkload")
    # Its default is true from compatibility version 1.37 on; that version is 1.36 by default.
    assert not gates.enabled("DRAFractionalCapacityRange")


def test_all_gates_of_the_scheduler_are_known():
    assert set(known_gates()) >= SCHEDULER_GATES >= SWITCHABLE_GATES


def test_defaults_satisfy_their_own_dependencies():
    gates = FeatureGates()
    for gate in known_gates().values():
        if gates.enabled(gate.name):
            assert all(gates.enabled(needed) for needed in gate.requires)


def test_parse_takes_lists_of_switches():
    gates = FeatureGates.parse("GenericWorkload=true,StorageCapacityScoring=F", "OpportunisticBatching=0")
    assert gates.enabled("GenericWorkload")
    assert not gates.enabled("StorageCapacityScoring")
    assert not gates.enabled("OpportunisticBatching")


def test_parse_takes_the_component_kube_as_a_prefix():
    assert FeatureGates.parse("kube:GenericWorkload=true").enabled("GenericWorkload")


def test_a_later_switch_wins_and_empty_entries_are_passed_over():
    assert not FeatureGates.parse("GenericWorkload=true,,", "GenericWorkload=false").enabled("GenericWorkload")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Nope=true", "unrecognized feature gate: Nope"),
        ("GenericWorkloads=true", 'unrecognized feature gate: GenericWorkloads, did you mean "GenericWorkload"?'),
        ("Nope", "missing bool value for Nope"),
        (
            "OpenAPIEnums=maybe",
            'invalid value of OpenAPIEnums=maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax',
        ),
        (
            "DynamicResourceAllocation=false",
            "cannot set feature gate DynamicResourceAllocation to false, feature is locked to true",
        ),
        (
            "TopologyAwareWorkloadScheduling=true",
            "TopologyAwareWorkloadScheduling is enabled, but depends on features that are disabled: [GenericWorkload]",
        ),
        (
            "CompositePodGroup=true",
            "CompositePodGroup is enabled, but depends on features that are disabled: "
            "[GenericWorkload TopologyAwareWorkloadScheduling]",
        ),
        ("Nope=true,Neither=true", "[unrecognized feature gate: Nope, unrecognized feature gate: Neither]"),
        ("wardle:Nope=true", "component not registered: wardle"),
        (
            "kube:GenericWorkload=true,OpenAPIEnums=true",
            "set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use",
        ),
    ],
)
def test_parse_refuses_in_kube_schedulers_words(text, message):
    with pytest.raises(FeatureGateError) as caught:
        FeatureGates.parse(text)
    assert str(caught.value) == message


def test_all_beta_switches_beta_gates_that_are_not_named():
    gates = FeatureGates.parse("AllBeta=true,StorageCapacityScoring=false")
    assert gates.enabled("GenericWorkload")
    assert not gates.enabled("StorageCapacityScoring")
    assert not gates.enabled("InterPodAffinityHostnameFastPath")


def test_unsupported_lists_gates_that_would_change_decisions():
    gates = FeatureGates.parse("GenericWorkload=true,InterPodAffinityHostnameFastPath=true,OpenAPIEnums=false")
    assert gates.unsupported() == ["GenericWorkload=true"]
    assert FeatureGates().unsupported() == []


@pytest.mark.parametrize("name", sorted(SCHEDULER_GATES - SWITCHABLE_GATES))
def test_a_gate_of_the_scheduler_that_is_known_at_its_default_only_is_refused_the_other_way(name):
    known = known_gates()
    other = not known[name].default
    if known[name].locked:
        with pytest.raises(FeatureGateError, match=f"cannot set feature gate {name} to "):
            FeatureGates({name: other})
        return
    assert f"{name}={str(other).lower()}" in FeatureGates(closure(name, on=other)).unsupported()


@pytest.mark.parametrize("name", sorted(SWITCHABLE_GATES))
def test_a_gate_that_can_be_switched_is_accepted_both_ways(name):
    for on in (True, False):
        assert FeatureGates(closure(name, on=on)).unsupported() == []


def closure(name: str, *, on: bool) -> dict[str, bool]:
    """A gate with those that must be switched with it: what it needs, or what needs it."""
    known = known_gates()
    values = {name: on}
    while True:
        if on:
            more = {needed for gate in values for needed in known[gate].requires if not known[needed].default}
        else:
            more = {
                gate.name for gate in known.values() if gate.default and not values.keys().isdisjoint(gate.requires)
            }
        if more <= values.keys():
            return values
        values |= dict.fromkeys(more, on)


def test_setting_a_gate_that_is_on_its_way_out_is_warned_of():
    assert FeatureGates.parse("DynamicResourceAllocation=true,OpenAPIEnums=true").warnings() == [
        "setting GA feature gate. It will be removed in a future release. DynamicResourceAllocation=true"
    ]


def test_the_listing_has_each_gate_of_the_scheduler_with_stage_default_and_use():
    lines = FeatureGates.parse("OpportunisticBatching=false").listing().splitlines()
    assert len(lines) == len(SCHEDULER_GATES)
    assert "OpportunisticBatching=false (BETA - default=true)" in lines
    assert "GenericWorkload=false (BETA - default=false) default only" in lines
    assert "DynamicResourceAllocation=true (GA - default=true) locked" in lines
