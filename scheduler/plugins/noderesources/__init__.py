"""NodeResourcesFit and NodeResourcesBalancedAllocation: room on the nodes, and how it is best used."""
