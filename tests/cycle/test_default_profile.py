"""The cycle with the default plugins, from the outside."""

from __future__ import annotations

from tests.builders import node, pod
from tests.cycle.rig import Rig


async def test_a_port_is_free_again_once_its_pod_was_bound_and_deleted():
    rig = Rig()
    first, second = pod("first").host_port(8080), pod("second").host_port(8080)
    rig.put(node("n"), first)
    await rig.step()
    assert rig.node_of("first") == "n"
    rig.put(second)
    await rig.step()
    assert rig.condition("second").message.startswith(
        "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports."
    )
    rig.delete(first)
    rig.clock.advance(10)
    await rig.run()
    assert rig.node_of("second") == "n"


async def test_a_hundred_nodes_that_are_too_small_make_a_short_message():
    rig = Rig()
    rig.put(*(node(f"n{number}").capacity(cpu="2", memory="100", pods="10") for number in range(100)))
    rig.put(pod("p").cpu("4").memory("500"))
    await rig.step()
    reasons, _, preemption = rig.condition("p").message.partition(" preemption: ")
    assert reasons == "0/100 nodes are available: 100 Insufficient cpu, 100 Insufficient memory."
    assert preemption == "0/100 nodes are available: 100 Preemption is not helpful for scheduling."
