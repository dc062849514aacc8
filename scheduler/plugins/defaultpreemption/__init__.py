"""DefaultPreemption: evict pods of lower priority for one that fits nowhere."""
