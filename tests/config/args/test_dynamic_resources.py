from __future__ import annotations

from scheduler.config.args.dynamic_resources import DynamicResourcesArgs
from scheduler.config.duration import Duration
from scheduler.config.features import FeatureGates

OFF = FeatureGates.parse("DRASchedulerFilterTimeout=false,DRADeviceBindingConditions=false")


def test_the_timeouts_have_defaults_while_their_gates_are_on(gates):
    args = DynamicResourcesArgs().defaulted(gates)
    assert (str(args.filter_timeout), str(args.binding_timeout)) == ("10s", "10m0s")
    assert DynamicResourcesArgs().defaulted(OFF) == DynamicResourcesArgs()


def test_a_filter_timeout_of_zero_is_one_and_stays(gates):
    args = DynamicResourcesArgs(filter_timeout=Duration()).defaulted(gates)
    assert args.filter_timeout == Duration()
    assert args.validate("a", gates) == []


def test_the_timeouts_have_lower_bounds(gates):
    args = DynamicResourcesArgs(filter_timeout=Duration(-1), binding_timeout=Duration.parse("999ms"))
    assert [str(error) for error in args.validate("a", gates)] == [
        'a.filterTimeout: Invalid value: "-1ns": must be zero or positive',
        'a.bindingTimeout: Invalid value: "999ms": must be at least 1 second',
    ]


def test_a_timeout_without_its_gate_is_forbidden():
    args = DynamicResourcesArgs(filter_timeout=Duration(), binding_timeout=Duration.of_seconds(1))
    assert [str(error) for error in args.validate("a", OFF)] == [
        "a.filterTimeout: Forbidden: DRASchedulingFilterTimeout feature gate is disabled",
        "a.bindingTimeout: Forbidden: DRADeviceBindingConditions or DRAResourceClaimDeviceStatus "
        "feature gate is disabled",
    ]
