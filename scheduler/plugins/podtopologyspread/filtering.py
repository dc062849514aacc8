"""Which nodes keep the skew of all DoNotSchedule constraints within bounds.

Source: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from scheduler.cache.nodes import NodeView
    from scheduler.cache.what_if import WhatIf
    from scheduler.plugins.podtopologyspread.counts import CountedConstraint, SpreadCounts

Codes = npt.NDArray[np.uint8]

TOO_SKEWED: Final = 1
"""The pod would make the skew of a constraint larger than its maxSkew."""
MISSING_LABEL: Final = 2
"""The node lacks the topology key of a constraint."""

_NO_MINIMUM: Final = 2**31 - 1
_FEW_DOMAINS: Final = 64
"""With more, how they come out is hardly ever the same again."""


def spread_codes(counts: SpreadCounts, nodes: NodeView, trial: WhatIf | None = None) -> Codes:
    """uint8, one a row of the view: 0, or the code for the first constraint that the node fails; read only.

    For all rows it is the same array again where the same domains come out as they did before. `trial` are the changes
    that the state is tried with, if it is.
    """
    table = nodes.table
    counts.refresh(table)
    verdicts = []
    for item in counts.items:
        sums = item.sums(table.size)
        if trial is not None:
            sums = sums + item.uncounted(trial, table, len(sums))
        verdicts.append(verdict_by_domain(item, sums))
    if trial is not None or not isinstance(nodes.rows, slice) or sum(map(len, verdicts)) > _FEW_DOMAINS:
        return _by_row(counts, verdicts, nodes)
    return counts.codes.of(
        (nodes.size, *[item.column.version for item in counts.items]),
        tuple([verdict.tobytes() for verdict in verdicts]),
        lambda: _by_row(counts, verdicts, nodes),
    )


def _by_row(counts: SpreadCounts, verdicts: list[Codes], nodes: NodeView) -> Codes:
    codes: Codes | None = None
    for item, verdict in zip(counts.items, verdicts, strict=True):
        found = verdict[item.column.ids[nodes.rows]]
        if codes is None:
            codes = found
        else:
            np.copyto(codes, found, where=codes == 0)
    assert codes is not None
    return codes


def verdict_by_domain(item: CountedConstraint, sums: npt.NDArray[np.int64]) -> Codes:
    """uint8 over ids of the topology key, as `sums` is: 0 for the domains that the pod may join.

    The skew of a domain is its count, with the pod itself if it matches, less the minimum over all domains that count.
    """
    too_skewed = sums > item.constraint.max_skew - item.self_match + global_minimum(item, sums)
    codes = too_skewed.view(np.uint8)
    codes[0] = MISSING_LABEL
    return codes


def global_minimum(item: CountedConstraint, sums: npt.NDArray[np.int64]) -> int:
    """The smallest count of any domain with a node that counts; 0 if there are fewer domains than minDomains."""
    domains = item.domains()
    if len(domains) < item.constraint.min_domains:
        return 0
    if not len(domains):
        return _NO_MINIMUM
    counts = sums[1:] if len(domains) == len(sums) - 1 else sums[domains]
    return int(np.minimum.reduce(counts))
