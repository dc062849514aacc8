"""The choices for a control plane."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a control plane consists of. The defaults are etcd and kube-apiserver as a cluster has them.

    ``feature_gates`` and ``runtime_config`` go to kube-apiserver (``{"GenericWorkload": True}``,
    ``{"scheduling.k8s.io/v1beta1": "true"}``), the gates to the other components, too.
    ``disable_admission`` names admission plugins to leave out. By default that is one: with no kubelet and no
    node controller nobody would ever take away the taint ``not-ready`` that TaintNodesByCondition puts on every
    new node. ServiceAccount stays on, for it is part of what a pod's creation is; it refuses pods in a namespace
    without the ServiceAccount ``default``, which kube-controller-manager makes, or
    ``ControlPlane.create_namespace``.
    ``directory`` gets configuration and logs and is kept; without it they go into a temporary folder that is
    removed in the end. ``start_timeout`` is in seconds, for each component.
    """

    kube_controller_manager: bool = False
    kube_scheduler: bool = False
    feature_gates: Mapping[str, bool] = field(default_factory=dict)
    runtime_config: Mapping[str, str] = field(default_factory=dict)
    disable_admission: tuple[str, ...] = ("TaintNodesByCondition",)
    apiserver_arguments: tuple[str, ...] = ()
    etcd_arguments: tuple[str, ...] = ()
    directory: Path | None = None
    start_timeout: float = 60.0
