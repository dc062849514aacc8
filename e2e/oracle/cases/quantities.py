"""Resource lists as people write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from e2e.oracle.cases.case import Case

MI = 1 << 20
GI = 1 << 30
EXT = ["example.com/gpu", "example.com/fpga", "hugepages-2Mi", "vendor.io/dongle"]
CPUS = ["0", "1m", "50m", "100m", "250m", "333m", "0.5", "1", "1500m", "2", "3", "0.1001", "1e0", "1e-1"]
MEMS = ["0", "1", "64Mi", "128974848", "200M", "256Mi", "0.5Gi", "1Gi", "1.5Gi", "2Gi", "3e9", "100m"]
UNIT = {"": 1, "m": 0.001, "k": 1e3, "M": 1e6, "G": 1e9, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}


def reslist(c: Case, ext: float = 0.25) -> Any:
    """Requests of some resources, or none."""
    r = c.r
    d = {}
    if r.random() < 0.85:
        d["cpu"] = r.choice(CPUS)
    if r.random() < 0.8:
        d["memory"] = r.choice(MEMS)
    if r.random() < 0.25:
        d["ephemeral-storage"] = r.choice(["1Gi", "5Gi", "15Gi", "40Gi", "500M"])
    if r.random() < ext:
        e = r.choice(EXT)
        d[e] = {"hugepages-2Mi": r.choice(["2Mi", "64Mi", "512Mi"])}.get(e, str(r.randint(0, 4)))
    return d


def whole(req: Any) -> Any:
    """A resources field that the API server takes: what can't be overcommitted
    needs a limit, huge pages need cpu or memory."""
    req = dict(req)
    if "hugepages-2Mi" in req and not {"cpu", "memory"} & set(req):
        req["cpu"] = "10m"
    out = {"requests": req} if req else {}
    lim = {k: v for k, v in req.items() if k in EXT}
    if lim:
        out["limits"] = lim
    return out


def value(q: str) -> float:
    """The number that a quantity stands for, nearly."""
    i = len(q)
    while q[i - 1].isalpha():
        i -= 1
    if q[:i] and q[i:] in UNIT:
        return float(q[:i]) * UNIT[q[i:]]
    return float(q)
