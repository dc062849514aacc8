"""What scheduling reads of a cluster as one file, to be looked at elsewhere."""
