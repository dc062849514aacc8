"""The command lines of the control plane's components.

The flags are those that work on loopback with neither kubelets nor cloud provider, every listener on 127.0.0.1.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from e2e.controlplane.options import Options

# Nobody sends the heartbeats that it waits for, so it would declare every node dead after 40 s.
_WITHOUT_CONTROLLERS = ("node-lifecycle-controller",)


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Folders and ports of one control plane. ``data`` is for etcd and may be tmpfs."""

    directory: Path
    data: Path
    etcd_port: int
    etcd_peer_port: int
    server_port: int

    @property
    def etcd_url(self) -> str:
        """Where etcd serves clients."""
        return f"http://127.0.0.1:{self.etcd_port}"

    @property
    def server(self) -> str:
        """Where kube-apiserver serves."""
        return f"https://127.0.0.1:{self.server_port}"

    def file(self, name: str) -> Path:
        """A file of the configuration."""
        return self.directory / name


def etcd(layout: Layout, options: Options) -> list[str]:
    """etcd of one member that does not wait for the disk."""
    peer = f"http://127.0.0.1:{layout.etcd_peer_port}"
    return [
        "--name=berth",
        f"--data-dir={layout.data / 'etcd'}",
        f"--listen-client-urls={layout.etcd_url}",
        f"--advertise-client-urls={layout.etcd_url}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=berth={peer}",
        "--unsafe-no-fsync",
        "--quota-backend-bytes=8589934592",
        "--log-level=warn",
        *options.etcd_arguments,
    ]


def kube_apiserver(layout: Layout, options: Options) -> list[str]:
    """kube-apiserver with RBAC and client certificates."""
    arguments = [
        f"--etcd-servers={layout.etcd_url}",
        "--bind-address=127.0.0.1",
        f"--secure-port={layout.server_port}",
        "--advertise-address=127.0.0.1",
        "--endpoint-reconciler-type=none",
        f"--tls-cert-file={layout.file('server.crt')}",
        f"--tls-private-key-file={layout.file('server.key')}",
        f"--client-ca-file={layout.file('ca.crt')}",
        f"--kubelet-client-certificate={layout.file('kubelet-client.crt')}",
        f"--kubelet-client-key={layout.file('kubelet-client.key')}",
        f"--kubelet-certificate-authority={layout.file('ca.crt')}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={layout.file('service-accounts.key')}",
        f"--service-account-signing-key-file={layout.file('service-accounts.key')}",
        "--service-cluster-ip-range=10.0.0.0/24",
        "--authorization-mode=RBAC",
        "--allow-privileged=true",
    ]
    if options.disable_admission:
        arguments.append(f"--disable-admission-plugins={','.join(options.disable_admission)}")
    if options.runtime_config:
        pairs = [f"{name}={value}" for name, value in options.runtime_config.items()]
        arguments.append(f"--runtime-config={','.join(pairs)}")
    return [*arguments, *_gates(options), *options.apiserver_arguments]


def kube_controller_manager(layout: Layout, options: Options, kubeconfig: Path, port: int) -> list[str]:
    """kube-controller-manager, each controller under its own ServiceAccount."""
    return [
        *_client(kubeconfig, port),
        f"--kubeconfig={kubeconfig}",
        "--leader-elect=false",
        "--use-service-account-credentials=true",
        f"--service-account-private-key-file={layout.file('service-accounts.key')}",
        f"--root-ca-file={layout.file('ca.crt')}",
        f"--controllers={','.join(['*', *('-' + name for name in _WITHOUT_CONTROLLERS)])}",
        *_gates(options),
    ]


def kube_scheduler(options: Options, configuration: Path, kubeconfig: Path, port: int) -> list[str]:
    """kube-scheduler; with ``--config`` it reads the kubeconfig from there."""
    return [*_client(kubeconfig, port), f"--config={configuration}", *_gates(options)]


def scheduler_configuration(kubeconfig: Path, overrides: Mapping[str, Any]) -> str:
    """A KubeSchedulerConfiguration (JSON) with the API's rate limit off, and the given top-level fields."""
    return json.dumps(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "leaderElection": {"leaderElect": False},
            "clientConnection": {"kubeconfig": str(kubeconfig), "qps": 5000, "burst": 5000},
            **overrides,
        },
        indent=2,
    )


def _client(kubeconfig: Path, port: int) -> list[str]:
    return [
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
    ]


def _gates(options: Options) -> list[str]:
    gates = [f"{name}={str(on).lower()}" for name, on in options.feature_gates.items()]
    return [f"--feature-gates={','.join(gates)}"] if gates else []
