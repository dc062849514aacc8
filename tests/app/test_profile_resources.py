"""SchedulerProfiles: which of them is in force, which is tried in shadow, and what each is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from scheduler.app.profile_resources import ProfileResources
from scheduler.app.profile_status import Accepted, Standing
from tests.app.running import Live, weights
from tests.builders import node, pod

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.app.profile_status import Outcome

HEAVY, LIGHT = weights(ImageLocality=8), weights(ImageLocality=2)
WRONG = weights(ImageLocalit=8)


def body(name: str, *, generation: int = 1, created: str = "", status: Any = None, **spec: Any) -> dict[str, Any]:
    """A SchedulerProfile about "berth"; without a time, those of later letters are younger."""
    return {
        "metadata": {
            "name": name,
            "uid": f"uid-{name}",
            "generation": generation,
            "creationTimestamp": created or f"2026-01-01T00:00:{ord(name[0]) % 60:02}Z",
        },
        "spec": {"schedulerName": "berth", **spec},
        "status": status,
    }


class World(Live):
    """A scheduler whose profiles follow resources."""

    def __init__(self, *profiles: dict[str, Any]) -> None:
        super().__init__(*profiles)
        self.told: Mapping[str, Outcome] = {}
        self.resources = ProfileResources(self.scheduler, self.running, self._tell)

    def _tell(self, outcomes: Mapping[str, Outcome]) -> None:
        self.told = outcomes

    @property
    def standings(self) -> dict[str, str]:
        return {name: outcome.standing.name for name, outcome in self.told.items()}


class TestActive:
    def test_a_resource_is_in_force_from_its_coming_to_its_going(self) -> None:
        world = World()
        world.resources.set(body("a", plugins=HEAVY))
        assert (world.weight("ImageLocality"), world.standings) == (8, {"a": "VALID"})
        world.resources.set(body("a", generation=2, plugins=LIGHT))
        assert world.weight("ImageLocality") == 2
        world.resources.remove("a")
        assert (world.weight("ImageLocality"), world.standings) == (1, {})

    def test_a_refused_change_leaves_what_was_accepted(self, caplog: pytest.LogCaptureFixture) -> None:
        world = World()
        world.resources.set(body("a", plugins=HEAVY))
        world.resources.set(body("a", generation=2, plugins=WRONG))
        assert world.weight("ImageLocality") == 8
        outcome = world.told["a"]
        assert (outcome.standing, outcome.generation) == (Standing.INVALID, 2)
        assert outcome.problems[0].startswith("spec.plugins.score.enabled[0].name: Invalid value")
        assert outcome.accepted is not None
        assert outcome.accepted.generation == 1
        assert "SchedulerProfile a (generation 2) is refused" in caplog.text

    def test_what_was_accepted_by_an_earlier_process_stays_too(self) -> None:
        accepted = {"generation": 1, "mode": "Active", "profile": {"schedulerName": "berth", "plugins": HEAVY}}
        world = World()
        world.resources.set(body("a", generation=2, plugins=WRONG, status={"accepted": accepted}))
        assert world.weight("ImageLocality") == 8

    @pytest.mark.parametrize(
        "accepted",
        [
            "nonsense",
            {"generation": 1},
            {"generation": 1, "mode": "Active", "profile": {"schedulerName": "another"}},
            {"generation": 1, "mode": "Dry", "profile": {"schedulerName": "berth", "plugins": HEAVY}},
            {"generation": 1, "mode": "Active", "profile": {"schedulerName": "berth", "plugins": WRONG}},
        ],
    )
    def test_unless_that_makes_no_sense_any_more(self, accepted: Any) -> None:
        world = World()
        world.resources.set(body("a", generation=2, plugins=WRONG, status={"accepted": accepted}))
        assert (world.weight("ImageLocality"), world.told["a"].accepted) == (1, None)

    def test_the_status_of_a_valid_resource_is_not_asked(self) -> None:
        accepted = {"generation": 1, "mode": "Active", "profile": {"schedulerName": "berth", "plugins": HEAVY}}
        world = World()
        world.resources.set(body("a", generation=2, plugins=LIGHT, status={"accepted": accepted}))
        assert world.weight("ImageLocality") == 2

    @pytest.mark.parametrize(
        ("spec", "problem"),
        [
            ({"mode": "Dry"}, 'spec.mode: Unsupported value: "Dry": supported values: "Active", "Shadow"'),
            ({"plugins": "all"}, "spec.plugins"),
        ],
    )
    def test_nothing_is_taken_for_granted_that_the_schema_holds(self, spec: Any, problem: str) -> None:
        world = World()
        world.resources.set(body("a", **spec))
        assert world.standings == {"a": "INVALID"}
        assert problem in world.told["a"].problems[0]

    def test_changes_of_status_alone_are_no_changes(self) -> None:
        world = World()
        world.resources.set(body("a", plugins=HEAVY))
        before = world.scheduler.profiles["berth"]
        world.resources.set(body("a", plugins=HEAVY, status={"observedGeneration": 1}))
        assert world.scheduler.profiles["berth"] is before
        assert world.metrics.config_reloads.labels("resource", "success").value == 1

    def test_of_other_schedulers_resources_no_notice_is_taken(self) -> None:
        world = World()
        world.resources.set(body("a", schedulerName="another"))
        world.resources.set({"metadata": {"name": "b"}})
        assert world.told == {}

    def test_a_list_says_what_is_gone(self) -> None:
        world = World()
        world.resources.set(body("a", plugins=HEAVY))
        world.resources.replace([])
        assert world.weight("ImageLocality") == 1

    def test_one_that_was_deleted_and_made_again_is_judged_again(self) -> None:
        world = World()
        world.resources.set(body("a", plugins=HEAVY))
        again = body("a", plugins=WRONG)
        again["metadata"]["uid"] = "another"
        world.resources.set(again)
        assert (world.weight("ImageLocality"), world.standings) == (1, {"a": "INVALID"})


class TestConflicts:
    def test_the_older_stays_and_the_newer_is_told_of_it(self) -> None:
        world = World()
        world.resources.set(body("b", plugins=LIGHT))
        world.resources.set(body("a", plugins=HEAVY))
        assert world.weight("ImageLocality") == 8
        assert world.standings == {"a": "VALID", "b": "CONFLICT"}
        assert world.told["b"].other == "a"

    def test_the_newer_takes_over_when_the_older_goes(self) -> None:
        world = World()
        world.resources.replace([body("a", plugins=HEAVY), body("b", plugins=LIGHT)])
        world.resources.remove("a")
        assert (world.weight("ImageLocality"), world.standings) == (2, {"b": "VALID"})

    def test_of_the_same_second_the_first_by_name_stays(self) -> None:
        world = World()
        at = "2026-01-01T00:00:00Z"
        world.resources.replace([body("y", created=at, plugins=LIGHT), body("x", created=at, plugins=HEAVY)])
        assert world.standings == {"x": "VALID", "y": "CONFLICT"}

    def test_one_that_never_was_valid_stands_in_nobodys_way(self) -> None:
        world = World()
        world.resources.replace([body("a", plugins=WRONG), body("b", plugins=LIGHT)])
        assert (world.weight("ImageLocality"), world.standings) == (2, {"a": "INVALID", "b": "VALID"})

    def test_profiles_do_not_stand_in_each_others_way(self) -> None:
        world = World({"schedulerName": "berth"}, {"schedulerName": "other"})
        world.resources.replace([body("a", plugins=HEAVY), body("b", schedulerName="other", plugins=LIGHT)])
        assert world.standings == {"a": "VALID", "b": "VALID"}
        assert (world.weight("ImageLocality"), world.weight("ImageLocality", "other")) == (8, 2)


class TestShadow:
    def test_it_leaves_the_running_profile_alone_and_ends_with_the_resource(self) -> None:
        world = World()
        world.resources.set(body("a", mode="Shadow", plugins=HEAVY))
        assert world.weight("ImageLocality") == 1
        assert dict(world.told) == {"a": world.told["a"]}
        assert world.resources.shadow_of("a") is world.scheduler.shadows["berth"]
        world.resources.remove("a")
        assert world.scheduler.shadows == {}

    def test_it_is_tried_beside_one_that_is_active(self) -> None:
        world = World()
        world.resources.replace([body("a", plugins=LIGHT), body("b", mode="Shadow", plugins=HEAVY)])
        assert world.standings == {"a": "VALID", "b": "VALID"}
        assert world.weight("ImageLocality") == 2
        assert (world.resources.shadow_of("a"), world.resources.shadow_of("b")) == (
            None,
            world.scheduler.shadows["berth"],
        )

    def test_turning_it_active_brings_it_into_force(self) -> None:
        world = World()
        world.resources.set(body("a", mode="Shadow", plugins=HEAVY))
        world.resources.set(body("a", generation=2, plugins=HEAVY))
        assert (world.weight("ImageLocality"), world.scheduler.shadows) == (8, {})

    async def test_it_counts_until_it_or_the_running_profile_changes(self) -> None:
        world = World()
        world.resources.set(body("a", mode="Shadow", plugins=HEAVY))
        world.put(node("n1"), pod("p").scheduler("berth"))
        await world.run()
        first = world.resources.shadow_of("a")
        assert first is not None
        assert first.tally.compared == 1
        world.resources.set(body("z", schedulerName="another"))
        assert world.resources.shadow_of("a") is first
        world.resources.set(body("b", plugins=LIGHT))
        second = world.resources.shadow_of("a")
        assert second is not first
        world.resources.set(body("a", generation=2, mode="Shadow", plugins=LIGHT))
        assert world.resources.shadow_of("a") is not second

    def test_a_refused_change_leaves_the_shadow(self) -> None:
        world = World()
        world.resources.set(body("a", mode="Shadow", plugins=HEAVY))
        before = world.resources.shadow_of("a")
        world.resources.set(body("a", generation=2, mode="Shadow", plugins=WRONG))
        assert world.resources.shadow_of("a") is before

    def test_how_it_is_tried(self) -> None:
        world = World()
        world.resources.set(body("a", mode="Shadow", shadow={"samplePercentage": 5, "examples": 2}))
        shadow = world.resources.shadow_of("a")
        assert shadow is not None
        assert (shadow._share, shadow.tally.examples.maxlen) == (0.05, 2)


def test_what_a_status_says_was_accepted() -> None:
    status = {"accepted": {"generation": 3, "mode": "Shadow", "profile": {"schedulerName": "berth"}}}
    assert Accepted.of_status("u", status) == Accepted("u", 3, "Shadow", {"schedulerName": "berth"})
    assert Accepted.of_status("u", {}) is None
