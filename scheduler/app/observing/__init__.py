"""Another scheduler's decisions, taken once more: how far Berth would agree, without binding anything.

`observer` hears of the cluster's changes and decides on each pod as the other scheduler places it; `orders` finds out
whether a difference goes back to what the other scheduler did not know yet, or to the nodes that it did not look at;
`report` counts, and `service` runs it all on a cluster.
"""
