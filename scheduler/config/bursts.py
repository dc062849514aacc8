"""What a burst of pods is, and how it is dealt with unless something else is asked for."""

from __future__ import annotations

from typing import Final

BUSY: Final = 160
"""Pods tried in a second that make a burst: with fewer than two a round, waiting would bring nothing together."""
INTERVAL: Final = 0.02
"""The most seconds from one round of work to the next."""
LONGEST: Final = 0.1
"""Seconds: between two rounds the process does nothing, and answers nobody."""
