"""The cluster in columns: nodes, pods, shapes, counters, what-if."""
