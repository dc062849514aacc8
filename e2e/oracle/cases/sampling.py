"""Profile sampling: so many nodes that not all of them are looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from e2e.oracle.cases.nodes import nodeaffinity, taints
from e2e.oracle.cases.pods import spread

if TYPE_CHECKING:
    from e2e.oracle.cases.case import Case

_PERCENTAGES = (None, None, 0, 5, 45, 70, 100)


def sampling(c: Case) -> None:
    """100 to 250 nodes of some zones, many of which fit, under all kinds of percentageOfNodesToScore."""
    r = c.r
    for number in range(len(c.nodes), r.choice([99, 100, 101, r.randint(110, 250)])):
        c.add_node(number)
    for make in r.sample([taints, nodeaffinity, spread], r.choice([0, 1, 1, 2])):
        make(c)
    c.requests(cpu=r.choice(["100m", "500m", "2", "4"]), memory=r.choice(["64Mi", "1Gi"]))
    of_profile, of_all = r.choice(_PERCENTAGES), r.choice(_PERCENTAGES)
    profile = c.conf()
    if of_profile is not None:
        profile["percentageOfNodesToScore"] = of_profile
    if of_all is not None and c.config is not None:
        c.config["percentageOfNodesToScore"] = of_all
    if c.p(0.1):
        profile.setdefault("plugins", {})["score"] = {"disabled": [{"name": "*"}]}
    if c.p(0.1):
        c.pod["status"]["nominatedNodeName"] = c.name(r.choice(c.nodes))
    c.asks["sampling"] = True
