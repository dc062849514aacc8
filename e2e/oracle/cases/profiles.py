"""The kinds of cases by name, and cases of them."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

from e2e.oracle.cases import nominations, resizes
from e2e.oracle.cases.binding import binding
from e2e.oracle.cases.case import Case, Object
from e2e.oracle.cases.dra import dra
from e2e.oracle.cases.events import events
from e2e.oracle.cases.nodes import basic, image, nodeaffinity, taints
from e2e.oracle.cases.pods import interpod, spread
from e2e.oracle.cases.ports import ports
from e2e.oracle.cases.preemption import preempt
from e2e.oracle.cases.resources import resources
from e2e.oracle.cases.sampling import sampling
from e2e.oracle.cases.scoring import scoring, weights
from e2e.oracle.cases.storage import storage
from e2e.oracle.cases.volumes import volumes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

PROFILES = {
    "resources": resources,
    "taints": taints,
    "nodeaffinity": nodeaffinity,
    "basic": basic,
    "ports": ports,
    "spread": spread,
    "interpod": interpod,
    "image": image,
    "volumes": volumes,
    "preemption": preempt,
    "dra": dra,
    "scoring": scoring,
}
"""How a case of each kind is made. The profile ``mixed`` joins several, ``combined`` does so without
devices, ``storage`` is volumes with what is rare there, ``binding`` takes both to the end of the binding cycle,
``sampling`` has many nodes, and ``all`` is each of this table in turn, mixed twice."""


def combined(c: Case) -> None:
    """Several kinds at once, but no devices."""
    mixed(c, [name for name in PROFILES if name != "dra"])


def mixed(c: Case, first_of: Sequence[str] = tuple(PROFILES)) -> None:
    """Several kinds at once; the first is one of these, and volumes and devices come only as that."""
    r = c.r
    first = r.choice(first_of)
    fs = [
        first,
        *r.sample(
            [p for p in PROFILES if p not in (first, "preemption", "dra", "volumes", "resources", "basic", "image")],
            r.randint(1, 3),
        ),
    ]
    order = ["resources", "basic", "image", "scoring", "preemption"]
    for f in sorted(dict.fromkeys(fs), key=lambda x: order.index(x) if x in order else 9):
        PROFILES[f](c)
    if r.random() < 0.2:
        weights(c)
    if r.random() < 0.1:
        p = c.pod["spec"].get("priority", 0)
        c.pod["spec"]["priority"] = max(p, 10)


def tidy(c: Case) -> None:
    """What two features together may break: a node's taints are unique by key and effect."""
    for n in c.nodes:
        seen = {(t["key"], t["effect"]): t for t in n["spec"].get("taints", [])}
        if seen:
            n["spec"]["taints"] = list(seen.values())


_MAKERS: dict[str, Callable[[Case], None]] = {
    **PROFILES,
    "mixed": mixed,
    "combined": combined,
    "storage": storage,
    "binding": binding,
    "sampling": sampling,
}
ALL = (*_MAKERS, "all")
"""Whatever ``generate`` takes."""


def generate(profile: str, n: int, seed: int, first: int = 0) -> Iterator[bytes]:
    """``n`` cases from number ``first`` on, as lines of JSON without the newline; a number has always the same case."""
    names = [*PROFILES, "mixed", "mixed"] if profile == "all" else [profile]
    for number in range(first, first + n):
        name = names[number % len(names)]
        yield json.dumps(_case(name, number, seed), separators=(",", ":")).encode()


def _case(name: str, number: int, seed: int) -> Object:
    rng = random.Random(f"{seed}/{name}/{number}")
    c = Case(rng, hi=20 if name in ("preemption", "dra") else 40)
    _MAKERS[name](c)
    if (
        name not in ("resources", "preemption", "scoring")
        and "requests" not in c.container().get("resources", {})
        and rng.random() < 0.6
    ):
        c.container().setdefault("resources", {})["requests"] = {
            "cpu": rng.choice(["100m", "500m", "2"]),
            "memory": rng.choice(["64Mi", "1Gi"]),
        }
    tidy(c)
    case = c.done(f"{name}-{seed}-{number}")
    if name in nominations.PROFILES:
        nominations.nominate(random.Random(f"{seed}/{name}/{number}/nominations"), case)
    if name in resizes.PROFILES:
        resizes.resize(random.Random(f"{seed}/{name}/{number}/resizes"), case)
    case["events"] = events(random.Random(f"{seed}/{name}/{number}/events"), case)
    return case
