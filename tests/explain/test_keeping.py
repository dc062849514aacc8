"""What is kept of a decision's nodes while it is fresh: what stays anyway is shared, what does not is packed.

That a decision is restored to the last point is held by the tests of what is kept.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.cache.versions import Ledger
from scheduler.explain.keeping import details, held_by
from scheduler.explain.packing import Packer
from tests.builders import node, pod
from tests.cycle.rig import Rig

if TYPE_CHECKING:
    from scheduler.cycle.journal import Attempted
    from scheduler.explain.kept import Details
    from tests.builders import PodBuilder

ZONE = "topology.kubernetes.io/zone"
WEB = {"matchLabels": {"app": "web"}}


class Keeper:
    """A journal that keeps the nodes of each decision, and nothing else."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.packer = Packer(self.ledger)
        self.kept: list[Details] = []
        self.shared: list[int] = []
        """The bytes that the ledger has after each."""

    def attempted(self, attempt: Attempted) -> None:
        assert attempt.decision is not None
        self.kept.append(details(attempt, attempt.decision, self.ledger, self.packer))
        self.shared.append(self.ledger.bytes)


def copies(template: PodBuilder, number: int) -> list[PodBuilder]:
    return [template.set("metadata.name", f"p{each}").uid(f"u{each}") for each in range(number)]


async def kept(*pods: PodBuilder, nodes: int = 500, bare: int = 0, **rig: int) -> Keeper:
    """What is kept of the attempts on these pods, one after the other; `bare` of the nodes are in no zone."""
    keeper = Keeper()
    made = Rig(journal=keeper, **rig)
    made.put(*(node(f"bare{number}").capacity(cpu="4", pods="10") for number in range(bare)))
    made.put(*(node(f"n{number}").zone(f"z{number % 3}").capacity(cpu="4", pods="10") for number in range(nodes)))
    for one in pods:
        made.put(one)
        await made.run()
    return keeper


async def test_pods_of_one_template_share_the_plan_of_their_scores() -> None:
    keeper = await kept(*copies(pod("").cpu("1"), 3))
    assert keeper.kept[0].plan is not None
    assert all(one.plan is keeper.kept[0].plan for one in keeper.kept)


async def test_another_template_has_a_plan_of_its_own() -> None:
    keeper = await kept(pod("a").cpu("1"), pod("b").cpu("2"))
    assert keeper.kept[0].plan is not keeper.kept[1].plan


async def test_one_more_pod_of_a_template_takes_far_less_than_its_vectors() -> None:
    """500 nodes with nine scores of eight bytes each would be 36,000 bytes."""
    keeper = await kept(*copies(pod("").cpu("1"), 40))
    per_pod = (keeper.shared[-1] - keeper.shared[9]) / 30
    assert per_pod + keeper.kept[-1].bytes < 4_000


async def test_who_fits_follows_from_the_verdicts_unless_some_nodes_were_left_out() -> None:
    everywhere = await kept(pod("p").cpu("1"))
    assert (everywhere.kept[0].feasible, everywhere.kept[0].evaluated) == (None, None)
    sampled = await kept(pod("p").cpu("1"), percentage=30)
    assert sampled.kept[0].feasible is not None
    assert sampled.kept[0].evaluated is not None
    assert sampled.kept[0].bytes > everywhere.kept[0].bytes


async def test_a_pod_that_fits_nowhere_has_verdicts_and_no_scores() -> None:
    one = (await kept(pod("p").cpu("9"), nodes=3)).kept[0]
    assert [name for name, _, _ in one.verdicts] == ["NodeResourcesFit"]
    assert (one.scored, one.plan, one.made, one.versions) == (False, None, [], [])


async def test_codes_are_kept_with_their_words() -> None:
    """The plugin words them by the cycle, which is over when somebody asks."""
    ((_, words, _),) = (await kept(pod("p").cpu("9"), nodes=3)).kept[0].verdicts
    assert {status.reasons for status in words.values()} == {("Insufficient cpu",)}
    assert {status.plugin for status in words.values()} == {"NodeResourcesFit"}


async def test_a_filter_that_let_all_pass_leaves_nothing_if_it_is_asked_in_each_cycle() -> None:
    spread = pod("p").label(app="web").spreads(ZONE, 1, labelSelector=WEB)
    assert "PodTopologySpread" not in [name for name, _, _ in (await kept(spread)).kept[0].verdicts]


async def test_scores_that_follow_from_the_pods_around_are_made_for_each_cycle() -> None:
    soft = pod("p").label(app="web").spreads(ZONE, 1, soft=True, labelSelector=WEB)
    one = (await kept(soft)).kept[0]
    assert "PodTopologySpread" in [scores[0] for scores in one.made]
    assert one.plan is not None
    assert "PodTopologySpread" not in [name for name, _, _ in one.plan.kept]
    assert "PodTopologySpread" in one.plan.order


async def test_what_a_normalizer_holds_on_to_counts_for_the_decision() -> None:
    """Soft spreading remembers which nodes lack the label."""
    soft = pod("p").label(app="web").spreads(ZONE, 1, soft=True, labelSelector=WEB)
    without = (await kept(soft)).kept[0].bytes
    (with_mask,) = (await kept(soft, bare=1)).kept
    (normalizer,) = [scores[3] for scores in with_mask.made if scores[0] == "PodTopologySpread"]
    assert held_by(normalizer) > 0
    assert with_mask.bytes == without + held_by(normalizer)


@pytest.mark.parametrize(
    ("normalizer", "size"),
    [
        (None, 0),
        (abs, 0),
        (partial(np.add, 3), 0),
        (partial(np.add, np.zeros(10, np.int64)), 80),
        (partial(np.add, np.zeros(10, np.int64), np.zeros(4, np.int32)), 96),
    ],
)
def test_arrays_that_a_normalizer_holds_on_to_are_counted(normalizer, size: int) -> None:
    overhead = held_by(partial(np.add, np.zeros(0, np.int64)))
    arrays = len([each for each in getattr(normalizer, "args", ()) if isinstance(each, np.ndarray)])
    assert held_by(normalizer) == size + overhead * arrays
