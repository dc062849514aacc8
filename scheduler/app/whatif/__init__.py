"""Changes that are tried on the objects of a cluster before anything is scheduled."""
