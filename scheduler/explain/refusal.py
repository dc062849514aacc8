"""What was recorded of an attempt that found no node, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.explain.grid import Styled
from scheduler.explain.whynot.text import rejections

if TYPE_CHECKING:
    from scheduler.explain.grid import Part
    from scheduler.explain.views import Decision


def refused(decision: Decision) -> list[Part]:
    """The message of the attempt, the nodes by reason, the largest group first, and who has to go for the pod."""
    parts: list[Part] = [Styled(decision.summary.message)] if decision.summary.message else []
    if decision.rejected:
        groups = sorted(decision.rejected, key=lambda group: (-len(group.nodes), group.plugin, group.reasons))
        parts.append(rejections(groups))
    made_room = decision.post_filter
    if made_room is not None and made_room.victims:
        place = f" on {made_room.nominated_node}" if made_room.nominated_node else ""
        have = "has" if len(made_room.victims) == 1 else "have"
        parts.append(Styled(f"preemption{place}: {', '.join(made_room.victims)} {have} to go"))
    elif made_room is not None and made_room.message:
        parts.append(Styled(made_room.message, "dim"))
    return parts
