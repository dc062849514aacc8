"""How long filters take, told to the metrics by what became of the nodes that they were asked about."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from scheduler.framework.codes import codes_in
from scheduler.framework.recorder import FILTER
from scheduler.framework.status import Code

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import ParamSpec

    from scheduler.framework.diagnosis import Codes, Rejections
    from scheduler.framework.interface import FilterPlugin

    P = ParamSpec("P")


def ask_filter(
    rejections: Rejections,
    plugin: FilterPlugin,
    call: Callable[P, Codes | None],
    *args: P.args,
    **kwargs: P.kwargs,
) -> Codes | None:
    """The filter's verdicts, timed if this cycle is one of those.

    kube-scheduler times each node by itself. Here the time for all is split among the statuses that they got, by the
    number of nodes; those that an earlier filter refused don't count.
    """
    recorder = rejections.cycle.recorder
    if recorder is None or not rejections.cycle.sampled:
        return call(*args, **kwargs)
    start = time.perf_counter()
    try:
        codes = call(*args, **kwargs)
    except BaseException:
        recorder.plugin(FILTER, plugin.name, Code.ERROR, time.perf_counter() - start)
        raise
    seconds = time.perf_counter() - start
    nodes = nodes_by_status(rejections, plugin, codes)
    for code, number in nodes.items():
        recorder.plugin(FILTER, plugin.name, code, seconds * number / sum(nodes.values()))
    return codes


def nodes_by_status(rejections: Rejections, plugin: FilterPlugin, codes: Codes | None) -> dict[Code, int]:
    """How many nodes got which status, of those that the filters before it let pass."""
    left = rejections.evaluated & rejections.live
    for other, earlier in rejections.verdicts:
        if other is plugin:
            break
        left &= earlier == 0
    found: dict[Code, int] = {}
    if codes is None:
        number = int(np.count_nonzero(left))
        return {Code.SUCCESS: number} if number else found
    verdicts = codes[left]
    passed = len(verdicts) - int(np.count_nonzero(verdicts))
    if passed:
        found[Code.SUCCESS] = passed
    for verdict in codes_in(verdicts):
        code = plugin.status(rejections.cycle, verdict).code
        found[code] = found.get(code, 0) + int(np.count_nonzero(verdicts == verdict))
    return found
