"""Labels of a volume against those of a node, one by one."""

from __future__ import annotations

import pytest

from scheduler.framework.status import SKIP, unresolvable
from scheduler.plugins.volumezone.plugin import REASON, make
from tests.builders import node, pod, state
from tests.plugins.harness import cycle_of, filtered, verdicts
from tests.plugins.storage import claim, handle, put, uses, volume

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
BETA_ZONE, BETA_REGION = "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"
PLUGIN = make(None, handle(state()))


@pytest.mark.parametrize(
    ("of_volume", "of_node", "fits"),
    [
        ({BETA_ZONE: "a"}, {}, True),
        ({BETA_ZONE: "a"}, {BETA_ZONE: "a"}, True),
        ({BETA_ZONE: "a"}, {BETA_ZONE: "b"}, False),
        ({BETA_REGION: "r"}, {BETA_REGION: "r"}, True),
        ({BETA_REGION: "r"}, {BETA_REGION: "s"}, False),
        ({BETA_REGION: "r"}, {REGION: "r"}, True),
        ({ZONE: "a"}, {ZONE: "a"}, True),
        ({ZONE: "a"}, {ZONE: "b"}, False),
        ({REGION: "r"}, {REGION: "r"}, True),
        ({REGION: "r"}, {REGION: "s"}, False),
        ({ZONE: "a", REGION: "r"}, {ZONE: "a", REGION: "r"}, True),
        ({ZONE: "a", REGION: "r"}, {ZONE: "a"}, False),
        ({ZONE: "a"}, {BETA_ZONE: "a"}, False),
        ({BETA_ZONE: "a"}, {ZONE: "a"}, True),
        ({BETA_ZONE: "a"}, {ZONE: "b"}, False),
        ({BETA_ZONE: "c__a"}, {}, True),
        ({BETA_ZONE: "c__a"}, {BETA_ZONE: "a"}, True),
        ({BETA_ZONE: "c__a"}, {BETA_ZONE: "b"}, False),
        ({ZONE: "c__a"}, {ZONE: "a"}, True),
        ({ZONE: "c__a"}, {ZONE: "b"}, False),
    ],
)
def test_which_nodes_a_volume_allows(of_volume: dict[str, str], of_node: dict[str, str], fits: bool) -> None:
    labelled = node("n").label({**of_node, "rack": "7"} if of_node else {})
    bound = volume("v", labels={**of_volume, "tier": "gold"})
    cluster = put(state([labelled]), claim("c", volume="v"), bound)
    cycle = cycle_of(cluster, pod("p").set("spec.volumes", uses("c")))
    assert verdicts(PLUGIN, cycle) == {"n": None if fits else unresolvable(REASON)}


def test_a_pod_without_volumes_goes_to_any_zone() -> None:
    cycle = cycle_of(state([node("n").zone("a")]), pod("p"))
    assert PLUGIN.pre_filter(cycle) is SKIP
    assert filtered(PLUGIN, cycle) == {"n": None}
