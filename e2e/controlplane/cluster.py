"""Start a control plane, use it, and stop it."""

from __future__ import annotations

import http.client
import os
import ssl
import subprocess
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from e2e import tools
from e2e.controlplane import components
from e2e.controlplane.api import ApiClient, ApiError, wait_until
from e2e.controlplane.components import Layout
from e2e.controlplane.credentials import ADMIN, Credentials
from e2e.controlplane.folders import OwnedFolder
from e2e.controlplane.nodes import node
from e2e.controlplane.options import Options
from e2e.controlplane.process import Process, free_port

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

_NAMESPACES = ("default", "kube-system")
_GRACE = 3.0  # kube-apiserver waits for watches to end, but its data is thrown away


class ControlPlane:
    """etcd and kube-apiserver on loopback, with certificates, RBAC and admission; more if the options say so.

    A context manager: entered, it is up and ready; left, all its processes have ended. They are also killed when
    the process ends otherwise (on Linux). Start it from the main thread. Raises tools.ToolError if a program can't
    be had and ProcessError, with the end of its log, if one does not come up.

        with ControlPlane(Options(kube_scheduler=True)) as cluster:
            cluster.add_nodes(3)
            cluster.kubectl("get", "nodes")
    """

    def __init__(self, options: Options | None = None) -> None:
        self.options = options or Options()
        self.started_in = 0.0
        self._binaries = tools.ensure(self._programs())
        self._folder = OwnedFolder()
        self.directory = self.options.directory or self._folder.path
        self.directory.mkdir(parents=True, exist_ok=True)
        self._layout = Layout(
            directory=self.directory.resolve(),
            data=self._folder.path,
            etcd_port=free_port(),
            etcd_peer_port=free_port(),
            server_port=free_port(),
        )
        self._credentials = Credentials(self._layout)
        self._processes: dict[str, Process] = {}
        self._clients: list[ApiClient] = []

    @property
    def server(self) -> str:
        """The URL of kube-apiserver."""
        return self._layout.server

    @property
    def ca_path(self) -> Path:
        """The certificate authority, PEM."""
        return self._credentials.ca_path

    @property
    def processes(self) -> Mapping[str, Process]:
        """What is running, by component."""
        return self._processes

    def __enter__(self) -> Self:
        start = time.monotonic()
        try:
            self._credentials.write_server_files()
            self._admin = self._remember(ApiClient(self.server, self._credentials.admin_context()))
            self._start_etcd()
            self._start_apiserver()
            if self.options.kube_controller_manager:
                self.start_kube_controller_manager()
            if self.options.kube_scheduler:
                self.start_kube_scheduler()
            self._prepare_namespaces()
        except BaseException:
            self.stop()
            raise
        self.started_in = time.monotonic() - start
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """End all processes, last started first, and remove the temporary folder."""
        for client in self._clients:
            client.close()
        while self._processes:
            _, process = self._processes.popitem()
            process.stop(grace=_GRACE)
        self._folder.remove()

    # Credentials

    def kubeconfig(self, user: str = ADMIN, groups: Sequence[str] = ()) -> Path:
        """A kubeconfig with a client certificate of a user: ``admin`` may do all, others what RBAC lets them."""
        return self._credentials.user_kubeconfig(user, groups)

    def kubeconfig_for_service_account(self, namespace: str, name: str, *, token_file: bool = False) -> Path:
        """A kubeconfig with a token of a ServiceAccount, in the file itself or in one that it refers to."""
        token = self.service_account_token(namespace, name)
        return self._credentials.token_kubeconfig(f"{namespace}-{name}", token, in_file=token_file)

    def service_account_token(self, namespace: str, name: str, *, seconds: int = 24 * 3600) -> str:
        """A token through the TokenRequest API, as a pod of that ServiceAccount would get."""
        request = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": seconds},
        }
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
        token: str = self.api.request("POST", path, request)["status"]["token"]
        return token

    # Use

    @property
    def api(self) -> ApiClient:
        """A client as admin."""
        return self._admin

    def client(self, *, token: str | None = None) -> ApiClient:
        """A client with a bearer token, or anonymous; it is closed with the control plane."""
        return self._remember(ApiClient(self.server, self._credentials.context(), token=token))

    def kubectl(self, *arguments: str, stdin: str | None = None, user: str = ADMIN) -> str:
        """The output of kubectl; raises CalledProcessError, whose text has kubectl's message, if it fails."""
        command = [str(tools.binary("kubectl")), *arguments]
        env = {**os.environ, "KUBECONFIG": str(self.kubeconfig(user)), "HOME": str(self._folder.path)}
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, env=env, check=False)
        if done.returncode != 0:
            error = subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
            error.add_note(done.stderr)
            raise error
        return done.stdout

    def add_nodes(self, count: int, *, prefix: str = "node", first: int = 0, zones: int = 3, **like: Any) -> list[str]:
        """Create Ready nodes ``node-0``, ``node-1``, ... in turn in zones ``zone-0``, ...; returns the names.

        ``like`` are arguments of ``e2e.controlplane.nodes.node``.
        """
        bodies = [
            node(f"{prefix}-{number}", zone=f"zone-{number % zones}" if zones else None, **like)
            for number in range(first, first + count)
        ]
        return [created["metadata"]["name"] for created in self.api.create_all(bodies)]

    def create_namespace(self, name: str, labels: Mapping[str, str] | None = None) -> str:
        """Create a namespace and wait until pods can be created in it; returns its name."""
        metadata = {"name": name, "labels": dict(labels or {})}
        self.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
        self._default_account(name)
        return name

    # Components

    def start_kube_controller_manager(self) -> Process:
        """Start kube-controller-manager and wait until it is healthy."""
        name = "kube-controller-manager"
        port, credentials = free_port(), self.kubeconfig(f"system:{name}")
        arguments = components.kube_controller_manager(self._layout, self.options, credentials, port)
        return self._start_client(name, arguments, port)

    def start_kube_scheduler(self, configuration: Mapping[str, Any] | None = None) -> Process:
        """Start the real kube-scheduler with these fields of a KubeSchedulerConfiguration."""
        name = "kube-scheduler"
        port, credentials = free_port(), self.kubeconfig(f"system:{name}")
        file = self._layout.file(f"{name}.config")
        file.write_text(components.scheduler_configuration(credentials, configuration or {}))
        return self._start_client(name, components.kube_scheduler(self.options, file, credentials, port), port)

    def stop_component(self, name: str) -> None:
        """End one component."""
        self._processes.pop(name).stop()

    def restart_apiserver(self) -> None:
        """Kill kube-apiserver (-9) and start it again at the same address with the same data."""
        self._processes.pop("kube-apiserver").kill()
        self._start_apiserver()

    def _programs(self) -> list[str]:
        optional = {
            "kube-controller-manager": self.options.kube_controller_manager,
            "kube-scheduler": self.options.kube_scheduler,
        }
        return ["etcd", "kube-apiserver", *(name for name, wanted in optional.items() if wanted)]

    def _start(self, name: str, arguments: list[str]) -> Process:
        if name not in self._binaries:
            self._binaries[name] = tools.binary(name)
        log = self._layout.file(f"{name}.log")
        process = self._processes[name] = Process(name, [self._binaries[name], *arguments], log)
        return process

    def _start_etcd(self) -> None:
        process = self._start("etcd", components.etcd(self._layout, self.options))
        process.wait_ready(lambda: _answers(self._layout.etcd_port, "/health"), self.options.start_timeout)

    def _start_apiserver(self) -> None:
        process = self._start("kube-apiserver", components.kube_apiserver(self._layout, self.options))
        process.wait_ready(self.api.ready, self.options.start_timeout)

    def _start_client(self, name: str, arguments: list[str], port: int) -> Process:
        process = self._start(name, arguments)
        unverified = ssl._create_unverified_context()
        process.wait_ready(lambda: _answers(port, "/healthz", unverified), self.options.start_timeout)
        return process

    def _prepare_namespaces(self) -> None:
        for name in _NAMESPACES:
            wait_until(f"the namespace {name}", partial(self._exists, f"/api/v1/namespaces/{name}"))
            self._default_account(name)

    def _default_account(self, namespace: str) -> None:
        """Make the ServiceAccount without which no pod is admitted, if its controller has not done so."""
        account = {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": "default", "namespace": namespace},
        }
        try:
            self.api.create(account)
        except ApiError as error:
            if error.reason != "AlreadyExists":
                raise

    def _exists(self, path: str) -> bool:
        try:
            self.api.get(path)
        except ApiError as error:
            if error.code == http.client.NOT_FOUND:
                return False
            raise
        return True

    def _remember(self, client: ApiClient) -> ApiClient:
        self._clients.append(client)
        return client


def _answers(port: int, path: str, context: ssl.SSLContext | None = None) -> bool:
    """Whether a component on loopback answers 200."""
    if context is None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    else:
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=5, context=context)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        response.read()
    except (OSError, http.client.HTTPException):
        return False
    else:
        return response.status == http.client.OK
    finally:
        connection.close()
