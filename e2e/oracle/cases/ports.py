"""Profile ports: host ports on addresses and protocols."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from e2e.oracle.cases.case import Case


def ports(c: Case) -> None:  # noqa: C901 - independent draws, one after another
    """Host ports that differ by address and protocol."""
    r = c.r

    def port() -> Any:
        p: Any = {"containerPort": r.choice([80, 443, 8080])}
        if r.random() < 0.85:
            p["hostPort"] = r.choice([80, 443, 8080, 8080, 9000])
        if r.random() < 0.5:
            p["protocol"] = r.choice(["TCP", "UDP", "SCTP"])
        if r.random() < 0.5:
            p["hostIP"] = r.choice(["0.0.0.0", "127.0.0.1", "10.0.0.1", "::", "::1"])
        return p

    def some(n: int) -> Any:
        out, seen = [], set()
        for _ in range(n):
            p = port()
            k = (p.get("hostIP"), p.get("protocol", "TCP"), p.get("hostPort"))
            if k not in seen:
                seen.add(k)
                out.append(p)
        return out

    def on_host(spec: Any) -> None:
        spec["hostNetwork"] = True
        for ct in spec["containers"] + spec.get("initContainers", []):
            for p in ct.get("ports", []):
                if r.random() < 0.5:
                    p.pop("hostPort", None)  # defaulted
                if "hostPort" in p:
                    p["containerPort"] = p["hostPort"]
            ps = {}
            for p in ct.get("ports", []):
                ps[(p.get("hostIP"), p.get("protocol", "TCP"), p["containerPort"])] = p
            if "ports" in ct:
                ct["ports"] = list(ps.values())

    for n in c.nodes:
        for _ in range(r.choice([0, 1, 2, 3])):
            p = c.add_pod(n, {"cpu": "50m"})
            p["spec"]["containers"][0]["ports"] = some(r.randint(1, 3))
            if r.random() < 0.15:
                p["spec"]["initContainers"] = [
                    {
                        "name": "i",
                        "image": "x",
                        "ports": [port()],
                        **({"restartPolicy": "Always"} if r.random() < 0.6 else {}),
                    }
                ]
            if r.random() < 0.1:
                on_host(p["spec"])
    c.container()["ports"] = some(r.randint(1, 2))
    if r.random() < 0.2:
        c.pod["spec"]["initContainers"] = [
            {"name": "i", "image": "x", "ports": [port()], **({"restartPolicy": "Always"} if r.random() < 0.6 else {})}
        ]
    if r.random() < 0.2:
        on_host(c.pod["spec"])
    if r.random() < 0.3:
        c.pod["spec"]["priority"] = 100
