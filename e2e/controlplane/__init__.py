"""A real Kubernetes control plane on loopback: etcd and kube-apiserver, with certificates, RBAC and admission."""

from __future__ import annotations

from e2e.controlplane.api import ApiClient, ApiError, wait_until
from e2e.controlplane.cluster import ControlPlane
from e2e.controlplane.hollow import HollowKubelet
from e2e.controlplane.nodes import node
from e2e.controlplane.options import Options
from e2e.controlplane.process import Process, ProcessError

__all__ = [
    "ApiClient",
    "ApiError",
    "ControlPlane",
    "HollowKubelet",
    "Options",
    "Process",
    "ProcessError",
    "node",
    "wait_until",
]
