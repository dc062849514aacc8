"""One case being made: its nodes, pods, namespaces and configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from e2e.oracle.cases.quantities import whole

if TYPE_CHECKING:
    import random

ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
HOST = "kubernetes.io/hostname"
Object = dict[str, Any]
_KEYS = (("app", ["web", "db", "cache"]), ("tier", ["front", "back"]))


class Case:
    """Objects, a configuration and the pod to be placed, all drawn from one random generator."""

    def __init__(self, rng: random.Random, lo: int = 3, hi: int = 40) -> None:
        self.r = rng
        self.objs: list[Object] = []
        self.nodes: list[Object] = []
        self.pods: list[Object] = []
        self.config: Object | None = None
        self.profile: Object | None = None  # scheduler profile, made on first use
        self.asks: Object = {}  # what is to be told besides the decision
        self.clock = 0
        self.namespaces: dict[str, Object] = {}
        n = rng.choice([rng.randint(lo, min(hi, 6)), rng.randint(lo, min(hi, 12)), rng.randint(lo, hi)])
        for i in range(n):
            self.add_node(i)
        self.ns("default", {"team": "core"})
        self.pod: Object = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": "target",
                "namespace": "default",
                "uid": "uid-target",
                "labels": {"app": rng.choice(["web", "db", "cache"]), "pod-template-hash": rng.choice(["h1", "h2"])},
            },
            "spec": {"containers": [{"name": "c0", "image": "registry.example.com/app:v1", "resources": {}}]},
            "status": {"phase": "Pending"},
        }

    def p(self, prob: float) -> bool:
        """True with this probability."""
        return self.r.random() < prob

    def ns(self, name: str, labels: Object | None = None) -> Object:
        """The Namespace of that name, made on first use."""
        if name not in self.namespaces:
            o = {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": name, "labels": dict(labels or {}, **{"kubernetes.io/metadata.name": name})},
            }
            self.namespaces[name] = o
            self.objs.append(o)
        return self.namespaces[name]

    def add_node(self, i: int) -> Object:
        """A node of random size; some lack the labels that most have."""
        r = self.r
        name = f"node-{i:02d}"
        labels = {
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": r.choice(["amd64", "amd64", "arm64"]),
            "node.kubernetes.io/instance-type": r.choice(["small", "medium", "large"]),
        }
        if r.random() < 0.97:
            labels[HOST] = name
        if r.random() < 0.92:
            z = r.choice("abc")
            labels[ZONE] = "zone-" + z
            if r.random() < 0.9:
                labels[REGION] = "r1" if z in "ab" else "r2"
        if r.random() < 0.8:
            labels["disktype"] = r.choice(["ssd", "hdd", "nvme"])
        if r.random() < 0.7:
            labels["gen"] = str(r.randint(1, 9))
        if r.random() < 0.7:
            labels["rack"] = f"r{r.randint(1, 4)}"
        cpu = r.choice([1, 2, 4, 4, 8, 16])
        mem = r.choice([2, 4, 8, 16, 32])
        alloc = {
            "cpu": r.choice([str(cpu), f"{cpu * 1000 - r.randint(0, 200)}m"]),
            "memory": r.choice([f"{mem}Gi", f"{mem * 1024 * 1024 - r.randint(0, 200000)}Ki"]),
            "ephemeral-storage": r.choice(["20Gi", "100Gi", "47093746742"]),
            "pods": r.choice(["110", "110", "110", "8"]),
        }
        node: Object = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "uid": "uid-" + name, "labels": labels},
            "spec": {},
            "status": {
                "capacity": dict(alloc),
                "allocatable": alloc,
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        }
        self.nodes.append(node)
        self.objs.append(node)
        return node

    def name(self, node: Object) -> str:
        """Its name."""
        name: str = node["metadata"]["name"]
        return name

    def time(self) -> str:
        """A time later than all before."""
        self.clock += self.r.randint(1, 500)
        c = self.clock
        return f"2026-11-{1 + c // 86400:02d}T{c // 3600 % 24:02d}:{c // 60 % 60:02d}:{c % 60:02d}Z"

    def add_pod(
        self,
        node: Object | str | None,
        requests: Object | None = None,
        labels: Object | None = None,
        ns: str = "default",
        priority: int | None = None,
        **spec: Any,
    ) -> Object:
        """A pod on a node, or waiting."""
        i = len(self.pods)
        if ns not in self.namespaces:
            self.ns(ns)
        pod: Object = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"pod-{i:03d}",
                "namespace": ns,
                "uid": f"uid-pod-{i:03d}",
                "labels": dict(labels or {}),
            },
            "spec": {
                "containers": [
                    {"name": "c0", "image": "registry.example.com/side:v1", "resources": whole(requests or {})}
                ]
            },
            "status": {"phase": "Running", "startTime": self.time()},
        }
        if node is not None:
            pod["spec"]["nodeName"] = node if isinstance(node, str) else self.name(node)
        else:
            pod["status"] = {"phase": "Pending"}
        if priority is not None:
            pod["spec"]["priority"] = priority
        pod["spec"].update(spec)
        self.pods.append(pod)
        self.objs.append(pod)
        return pod

    def fill(self, lo: int = 0, hi: int = 4, labels: Any = None) -> None:
        """Pods on all nodes, ``lo`` to ``hi`` on each."""
        """Some ordinary pods on each node."""
        for n in self.nodes:
            for _ in range(self.r.randint(lo, hi)):
                req = {}
                if self.p(0.9):
                    req["cpu"] = self.r.choice(["100m", "250m", "500m", "1", "0.3"])
                if self.p(0.8):
                    req["memory"] = self.r.choice(["128Mi", "512Mi", "1Gi", "300M"])
                self.add_pod(n, req, labels=labels or {"app": self.r.choice(["web", "db", "cache"])})

    def container(self, i: int = 0) -> Object:
        """A container of the pod to be placed."""
        container: Object = self.pod["spec"]["containers"][i]
        return container

    def requests(self, **kw: str) -> None:
        """Set the requests of the pod to be placed."""
        self.container().setdefault("resources", {}).setdefault("requests", {}).update(
            {k.replace("_", "-"): v for k, v in kw.items()}
        )

    def conf(self) -> Object:
        """The scheduler profile, made on first use."""
        if self.profile is None:
            self.profile = {"schedulerName": "default-scheduler"}
            self.config = {
                "apiVersion": "kubescheduler.config.k8s.io/v1",
                "kind": "KubeSchedulerConfiguration",
                "profiles": [self.profile],
            }
        return self.profile

    def plugin_args(self, name: str, args: Object) -> None:
        """Configure a plugin."""
        prof = self.conf()
        pcs = prof.setdefault("pluginConfig", [])
        for pc in pcs:
            if pc["name"] == name:
                pc["args"].update(args)
                return
        pcs.append({"name": name, "args": dict(args, apiVersion="kubescheduler.config.k8s.io/v1", kind=name + "Args")})

    def done(self, cid: str) -> Object:
        """The case."""
        return {"id": cid, "config": self.config, "objects": self.objs, "pod": self.pod, **self.asks}


def selector(c: Case, keys: Any = _KEYS, empty: float = 0.03) -> Object:
    """A label selector."""
    r = c.r
    if r.random() < empty:
        return {}
    s: Object = {}
    if r.random() < 0.65:
        k, vs = r.choice(keys)
        s["matchLabels"] = {k: r.choice(vs)}
    if not s or r.random() < 0.3:
        k, vs = r.choice(keys)
        op = r.choice(["In", "NotIn", "Exists", "DoesNotExist"])
        e = {"key": k, "operator": op}
        if op in ("In", "NotIn"):
            e["values"] = sorted(r.sample(vs, r.randint(1, len(vs))))
        s["matchExpressions"] = [e]
    return s
