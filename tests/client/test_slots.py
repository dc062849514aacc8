from __future__ import annotations

import asyncio

import pytest

from scheduler.client.slots import Rank, Slots


async def settle():
    for _ in range(5):
        await asyncio.sleep(0)


class Holders:
    """Tasks that hold a slot until they are let go; ``order`` says who got one when."""

    def __init__(self, slots):
        self.slots = slots
        self.order = []
        self.gates = {}
        self.tasks = {}

    def ask(self, name, rank):
        self.gates[name] = asyncio.Event()

        async def hold():
            async with self.slots.slot(rank):
                self.order.append(name)
                await self.gates[name].wait()

        self.tasks[name] = asyncio.create_task(hold())

    async def let_go(self, *names):
        for name in names:
            self.gates[name].set()
        await settle()


async def test_no_more_than_the_limit_hold_slots_at_once():
    holders = Holders(Slots(2))
    for name in "abc":
        holders.ask(name, Rank.BIND)
    await settle()
    assert holders.order == ["a", "b"]
    await holders.let_go("a")
    assert holders.order == ["a", "b", "c"]
    await holders.let_go("b", "c")
    assert holders.slots.held == 0


async def test_a_freed_slot_goes_to_a_bind_before_older_events_and_patches():
    holders = Holders(Slots(1))
    for name, rank in [("first", Rank.EVENT), ("event", Rank.EVENT), ("patch", Rank.STATUS), ("bind", Rank.BIND)]:
        holders.ask(name, rank)
    await settle()
    await holders.let_go("first", "bind", "patch", "event")
    assert holders.order == ["first", "bind", "patch", "event"]


async def test_reserved_slots_are_for_binds_only():
    holders = Holders(Slots(2, reserved=1))
    for name, rank in [("e1", Rank.EVENT), ("e2", Rank.EVENT), ("b", Rank.BIND)]:
        holders.ask(name, rank)
    await settle()
    assert holders.order == ["e1", "b"]
    await holders.let_go("e1", "b", "e2")
    assert holders.order == ["e1", "b", "e2"]


@pytest.mark.parametrize("at", ["while waiting", "as the slot is handed over"])
async def test_whoever_is_cancelled_leaves_no_slot_held(at):
    slots = Slots(1)
    holders = Holders(slots)
    for name in "abc":
        holders.ask(name, Rank.BIND)
    await settle()
    if at == "while waiting":
        holders.tasks["b"].cancel()
        await settle()
        await holders.let_go("a")
    else:
        holders.gates["a"].set()
        await asyncio.sleep(0)  # a goes on: b's turn is set, and b has not run yet
        holders.tasks["b"].cancel()
        await settle()
    assert holders.order == ["a", "c"]
    await holders.let_go("c")
    assert slots.held == 0


def test_reserving_all_slots_is_refused():
    with pytest.raises(ValueError, match="of 4 slots, 4 can't be reserved"):
        Slots(4, reserved=4)
