"""Lower requests: the least that must go so that the pod fits beside what is on a node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec.structs import replace

from scheduler.api.quantity import milli_value, value
from scheduler.api.requests import incoming_requests
from scheduler.api.resource_names import CPU
from scheduler.explain.whynot.change import Change, Option
from scheduler.explain.whynot.resources import full, needs_of, short
from scheduler.explain.whynot.wording import any_of, listed, quantity, resource_word, rounded_up
from scheduler.framework.names import NODE_RESOURCES_FIT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy.typing as npt

    from scheduler.api.objects import Container, Pod
    from scheduler.explain.whynot.survey import Survey
    from scheduler.plugins.noderesources.fit import Need

    Rows = npt.NDArray[np.intp]

_COST: Final = 25
_SPAN: Final = 50


def options(survey: Survey) -> Iterator[Option]:
    """The smallest cuts for nodes that lack nothing but resources, and for those that one more plugin turns down."""
    rows = survey.rows(NODE_RESOURCES_FIT)
    rows = rows[~full(survey)[rows]]
    alone = rows[survey.obstacles[rows] == 1]
    parts = [alone]
    for name, codes in survey.codes.items():
        if name != NODE_RESOURCES_FIT:
            parts.append(rows[(survey.obstacles[rows] == 2) & (codes[rows] != 0)])
    seen = set()
    for part in parts:
        for cut in _cuts(survey, part):
            key = tuple(sorted(cut.items()))
            if key not in seen:
                seen.add(key)
                yield (_change(survey, cut),)


def _cuts(survey: Survey, rows: Rows) -> Iterator[dict[str, int]]:
    """By resource how much less: one resource alone where that is enough on some node, else all on the best node."""
    needs = needs_of(survey)
    if not len(rows) or not needs:
        return
    missing = np.array([short(survey, need)[rows] for need in needs])
    kinds = (missing > 0).sum(axis=0)
    found = False
    for need, amounts in zip(needs, missing, strict=True):
        single = amounts[(kinds == 1) & (amounts > 0)]
        if len(single):
            found = True
            yield from _cut({need: int(single.min())})
    if not found:
        wanted = np.array([[need.amount] for need in needs])
        best = int((missing / wanted).sum(axis=0).argmin())
        yield from _cut({need: int(amounts[best]) for need, amounts in zip(needs, missing, strict=True)})


def _cut(amounts: Mapping[Need, int]) -> Iterator[dict[str, int]]:
    cut = {need.name: rounded_up(need.name, amount) for need, amount in amounts.items() if amount}
    # Nothing is short where the node is kept free for others; and something must be left to request.
    if cut and all(cut.get(need.name, 0) < need.amount for need in amounts):
        yield cut


def _change(survey: Survey, cut: Mapping[str, int]) -> Change:
    wanted = {need.name: need.amount for need in needs_of(survey)}
    targets = {name: wanted[name] - less for name, less in cut.items()}
    less = listed([f"{quantity(name, amount, up=True)} less {resource_word(name)}" for name, amount in cut.items()])
    instead = listed([f"{quantity(name, targets[name])} instead of {quantity(name, wanted[name])}" for name in cut])

    return Change(
        kind="lowerRequests",
        details={name: quantity(name, target) for name, target in targets.items()},
        cost=_COST + int(_SPAN * max(less / wanted[name] for name, less in cut.items())),
        what=lambda _: f"{less} ({instead})",
        effect=lambda nodes: f"fits on {any_of(nodes)}",
        solves=frozenset((NODE_RESOURCES_FIT,)),
        pod=lambda pod: lowered(pod, targets),
    )


def lowered(pod: Pod, targets: Mapping[str, int]) -> Pod:
    """The pod with its requests as a whole brought down to these amounts, from the largest container first."""
    for name, target in targets.items():
        pod = _lowered(pod, name, target)
    return pod


def _lowered(pod: Pod, name: str, target: int) -> Pod:
    spec = pod.spec
    if spec.resources is not None and name in spec.resources.requests:
        requests = {**spec.resources.requests, name: quantity(name, target)}
        spec = replace(spec, resources=replace(spec.resources, requests=requests))
    started = tuple(_at_most(container, name, target) for container in spec.init_containers)
    pod = replace(pod, spec=replace(spec, init_containers=started))
    excess = incoming_requests(pod).get(name, 0) - target
    containers = list(pod.spec.containers)
    for place in sorted(range(len(containers)), key=lambda place: -_requested(containers[place], name)):
        if excess <= 0:
            break
        own = _requested(containers[place], name)
        containers[place] = _at_most(containers[place], name, max(own - excess, 0))
        excess -= own - _requested(containers[place], name)
    return replace(pod, spec=replace(pod.spec, containers=tuple(containers)))


def _requested(container: Container, name: str) -> int:
    text = container.resources.requests.get(name)
    if text is None:
        return 0
    return milli_value(text) if name == CPU else value(text)


def _at_most(container: Container, name: str, amount: int) -> Container:
    if _requested(container, name) <= amount:
        return container
    resources = container.resources
    requests = {**resources.requests, name: quantity(name, amount)}
    return replace(container, resources=replace(resources, requests=requests))
