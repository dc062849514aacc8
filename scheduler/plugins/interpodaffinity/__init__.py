"""InterPodAffinity: place pods near to, or away from, other pods."""
