"""Evictions of which some fail, come too late, or need no call at all."""

from __future__ import annotations

import msgspec
import pytest

from tests.plugins.defaultpreemption.test_executor import World


class Failing(World):
    """Deletions of pods in `undeletable` fail, and those of pods in `deleted` find nobody."""

    def __init__(self, **more):
        super().__init__(**more)
        self.undeletable = set()
        self.deleted = set()

    async def delete_pod(self, namespace, name, uid):
        if name in self.undeletable:
            raise RuntimeError("no")
        await super().delete_pod(namespace, name, uid)
        return name not in self.deleted


@pytest.fixture(params=[True, False], ids=["asynchronous", "all at once"])
def world(request):
    return Failing(asynchronous=request.param)


async def test_without_victims_nothing_happens(world):
    world.start()
    await world.finish()
    assert (world.calls, world.events, world.activated, world.holds) == ([], [], [], False)


async def test_a_victim_that_is_leaving_needs_no_call(world):
    world.start(msgspec.structs.replace(world.victim("a"), terminating=True))
    await world.finish()
    assert (world.calls, world.activated, world.holds) == ([], [], False)


@pytest.mark.parametrize("told", [False, True], ids=["first told", "told before"])
async def test_a_victim_that_can_not_be_deleted_is_a_failure(world, told):
    world.undeletable.add("a")
    world.start(msgspec.structs.replace(world.victim("a"), preempted=told))
    await world.finish()
    assert world.calls == ([] if told else ["condition a"])
    assert (world.events, world.activated, world.holds) == ([], ["default/urgent"], False)


@pytest.mark.parametrize("told", [False, True], ids=["when it is told", "when it is deleted"])
async def test_a_victim_that_turns_out_to_be_gone_is_none(world, told):
    (world.deleted if told else world.gone).add("a")
    world.start(msgspec.structs.replace(world.victim("a"), preempted=told))
    await world.finish()
    assert (world.events, world.activated, world.holds) == ([], [], world.asynchronous)
    world.sees_gone("a")
    assert not world.holds


@pytest.mark.parametrize(
    ("failing", "last_is_tried"),
    [("", True), ("a", False), ("b", False), ("ab", False), ("c", True), ("abc", False)],
    ids=["none", "first", "second", "first two", "last", "all"],
)
async def test_the_last_victim_is_tried_only_if_all_others_went(failing, last_is_tried):
    world = Failing()
    world.undeletable |= set(failing)
    world.start(*map(world.victim, "abc"))
    assert world.holds
    await world.finish()
    assert {"condition a", "condition b"} <= set(world.calls)
    assert ("condition c" in world.calls) is last_is_tried
    assert world.activated == (["default/urgent"] if failing else [])
    assert world.holds is not bool(failing)
    world.sees_gone("c")
    assert not world.holds
    assert (world.result("error"), world.result("success")) == ((1, 0) if failing else (0, 1))


@pytest.mark.parametrize(
    ("waiting", "deleted", "woken"),
    [("a", [], True), ("c", ["a", "b"], True), ("a", ["b", "c"], False), ("abc", [], True)],
    ids=["the only one", "the last", "not the last", "all"],
)
async def test_the_preemptor_is_woken_if_the_last_victim_was_still_waiting(waiting, deleted, woken):
    world = Failing()
    victims = [world.victim(name) for name in sorted({*waiting, *deleted})]
    world.waiting |= {victim.uid for victim in victims if victim.name in waiting}
    world.start(*victims)
    await world.finish()
    assert [call for call in world.calls if call.startswith("delete")] == [f"delete {name}" for name in deleted]
    assert world.activated == (["default/urgent"] if woken else [])
    notes = {name: note.endswith("(in kube-scheduler memory).") for name, _, _, _, note, _ in world.events}
    assert notes == {victim.name: victim.name in waiting for victim in victims}


async def test_other_pods_are_not_held_back():
    world = Failing()
    world.start(world.victim("a"))
    assert world.holds
    assert not world.executor.holds("another")
    await world.finish()
