"""Profile binding: pods with volumes, taken to the end of the binding cycle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from e2e.oracle.cases.storage import storage
from e2e.oracle.cases.volumes import volumes

if TYPE_CHECKING:
    from e2e.oracle.cases.case import Case

BEHAVIORS = ("binds", "binds", "binds", "resets", "misplaces", "loses", "forgets", "refuses", "unbindable")
"""What the stand-in for the volume controllers may do about what is written; SLOW besides, which take a second."""
SLOW = ("lags", "dawdles", "outruns")


def binding(c: Case) -> None:
    """A case of profile volumes or storage, with one of the behaviours."""
    (storage if c.p(0.4) else volumes)(c)
    c.asks["binding"] = c.r.choice(SLOW if c.p(0.1) else BEHAVIORS)
