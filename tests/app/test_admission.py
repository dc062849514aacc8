"""What an API server makes of a Pod when it is created."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from scheduler.api.objects import Namespace, Pod, PriorityClass
from scheduler.app.admission import AdmissionError, admitted
from tests.builders import PodBuilder, expression, node, pod

SELECTOR = {"matchLabels": {"app": "a"}}


def priority_class(name: str, value: int, **fields: Any) -> PriorityClass:
    return msgspec.convert({"metadata": {"name": name}, "value": value, **fields}, PriorityClass)


def admit(builder: PodBuilder, *others: Any) -> Pod:
    """The pod as it is stored in a cluster with these other objects."""
    (found,) = (item for item in admitted([*others, builder.build()]) if isinstance(item, Pod))
    return found


def of_class(name: str) -> PodBuilder:
    return pod("p").set("spec.priorityClassName", name)


class TestPriority:
    def test_comes_from_the_class(self) -> None:
        high = priority_class("high", 1000, preemptionPolicy="Never")
        spec = admit(of_class("high"), high).spec
        assert (spec.priority, spec.preemption_policy) == (1000, "Never")

    def test_comes_from_the_default_class_where_none_is_named(self) -> None:
        spec = admit(pod("p"), priority_class("usual", 5, globalDefault=True), priority_class("high", 9)).spec
        assert (spec.priority, spec.priority_class_name) == (5, "usual")

    def test_of_several_default_classes_the_lowest_counts(self) -> None:
        classes = [priority_class(f"c{value}", value, globalDefault=True) for value in (7, 3, 5)]
        assert admit(pod("p"), *classes).spec.priority == 3

    def test_stays_unset_without_any_class(self) -> None:
        assert admit(pod("p"), priority_class("high", 9)).spec.priority is None

    @pytest.mark.parametrize(
        ("name", "value"), [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)]
    )
    def test_classes_of_the_system_are_always_there(self, name: str, value: int) -> None:
        assert admit(of_class(name)).spec.priority == value

    def test_that_a_pod_has_itself_is_kept(self) -> None:
        assert admit(of_class("high").priority(3), priority_class("high", 1000)).spec.priority == 3

    def test_policy_of_the_pod_itself_is_kept(self) -> None:
        spec = admit(of_class("high").set("spec.preemptionPolicy", "Never"), priority_class("high", 1)).spec
        assert spec.preemption_policy == "Never"

    def test_a_class_that_is_not_there_is_an_error_that_names_pod_and_field(self) -> None:
        with pytest.raises(AdmissionError) as caught:
            admit(of_class("hi"))
        assert "Pod default/p: spec.priorityClassName: no PriorityClass with name hi was found" in str(caught.value)


class TestLabelKeys:
    """matchLabelKeys and mismatchLabelKeys become requirements of the selector."""

    def term(self, **fields: Any) -> dict[str, Any]:
        return {"topologyKey": "zone", "labelSelector": SELECTOR, **fields}

    @pytest.mark.parametrize("anti", [False, True])
    def test_of_required_terms(self, anti: bool) -> None:
        term = self.term(matchLabelKeys=["rev"], mismatchLabelKeys=["team"])
        stored = admit(pod("p").label(rev="2", team="x").requires_pods(term, anti=anti)).spec.affinity
        assert stored is not None
        affinity = stored.pod_anti_affinity if anti else stored.pod_affinity
        assert affinity is not None
        (found,) = affinity.required_during_scheduling_ignored_during_execution
        assert requirements(found) == [("rev", "In", ("2",)), ("team", "NotIn", ("x",))]

    @pytest.mark.parametrize("anti", [False, True])
    def test_of_preferred_terms(self, anti: bool) -> None:
        wanted = pod("p").label(rev="2").prefers_pods(5, self.term(matchLabelKeys=["rev"]), anti=anti)
        stored = admit(wanted).spec.affinity
        assert stored is not None
        affinity = stored.pod_anti_affinity if anti else stored.pod_affinity
        assert affinity is not None
        (found,) = affinity.preferred_during_scheduling_ignored_during_execution
        assert (found.weight, requirements(found.pod_affinity_term)) == (5, [("rev", "In", ("2",))])

    def test_of_spread_constraints(self) -> None:
        wanted = pod("p").label(rev="2").spreads("zone", labelSelector=SELECTOR, matchLabelKeys=["rev"])
        (found,) = admit(wanted).spec.topology_spread_constraints
        assert requirements(found) == [("rev", "In", ("2",))]

    def test_that_the_pod_has_no_label_of_are_left_out(self) -> None:
        wanted = pod("p").spreads("zone", labelSelector=SELECTOR, matchLabelKeys=["rev"])
        (found,) = admit(wanted).spec.topology_spread_constraints
        assert requirements(found) == []

    def test_without_a_selector_do_nothing(self) -> None:
        wanted = pod("p").label(rev="2").spreads("zone", matchLabelKeys=["rev"])
        (found,) = admit(wanted).spec.topology_spread_constraints
        assert found.label_selector is None

    def test_that_are_merged_already_are_not_merged_again(self) -> None:
        selector = {"matchExpressions": [expression("rev", "In", "2")]}
        wanted = pod("p").label(rev="2").spreads("zone", labelSelector=selector, matchLabelKeys=["rev"])
        (found,) = admit(wanted).spec.topology_spread_constraints
        assert requirements(found) == [("rev", "In", ("2",))]


class TestPodLevelRequests:
    def test_are_what_the_containers_request_where_the_pod_has_limits(self) -> None:
        wanted = pod("p").requests(cpu="300m", memory="1Gi").container(resources={"requests": {"cpu": "0.2"}})
        stored = admit(wanted.set("spec.resources", {"limits": {"cpu": "2", "memory": "4Gi"}}))
        assert stored.spec.resources is not None
        assert stored.spec.resources.requests == {"cpu": "500m", "memory": str(2**30)}

    def test_are_the_limits_where_no_container_requests_anything(self) -> None:
        stored = admit(pod("p").set("spec.resources", {"limits": {"cpu": "2", "hugepages-2Mi": "4Mi", "x.io/y": "1"}}))
        assert stored.spec.resources is not None
        assert stored.spec.resources.requests == {"cpu": "2", "hugepages-2Mi": "4Mi"}

    def test_that_the_pod_has_itself_are_kept(self) -> None:
        wanted = pod("p").cpu("1").set("spec.resources", {"limits": {"cpu": "2"}, "requests": {"cpu": "1500m"}})
        stored = admit(wanted)
        assert stored.spec.resources is not None
        assert stored.spec.resources.requests == {"cpu": "1500m"}

    def test_leave_the_overhead_out(self) -> None:
        wanted = pod("p").cpu("1").set("spec.overhead", {"cpu": "1"}).set("spec.resources", {"limits": {"cpu": "2"}})
        stored = admit(wanted)
        assert stored.spec.resources is not None
        assert stored.spec.resources.requests == {"cpu": "1000m"}

    def test_are_not_made_up_without_limits_of_the_pod(self) -> None:
        assert admit(pod("p").cpu("1")).spec.resources is None


def test_other_objects_pass_as_they_are() -> None:
    n1 = node("n1").build()
    assert admitted([n1]) == [n1]


class TestNamespaces:
    def test_those_that_pods_are_in_exist_with_their_label(self) -> None:
        wanted = [pod("a").namespace("team").build(), pod("b").set("metadata.namespace", "").build()]
        found = [item for item in admitted(wanted) if isinstance(item, Namespace)]
        assert {item.metadata.name: item.metadata.labels for item in found} == {
            "default": {"kubernetes.io/metadata.name": "default"},
            "team": {"kubernetes.io/metadata.name": "team"},
        }

    def test_those_that_are_given_stay_as_they_are(self) -> None:
        team = msgspec.convert({"metadata": {"name": "team", "labels": {"a": "b"}}}, Namespace)
        found = admitted([team, pod("a").namespace("team").build()])
        assert [item for item in found if isinstance(item, Namespace)] == [team]


def requirements(item: Any) -> list[tuple[str, str, tuple[str, ...]]]:
    """The expressions of an item's selector."""
    return [(found.key, found.operator, found.values) for found in item.label_selector.match_expressions]
