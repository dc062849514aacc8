"""Who may talk to a control plane: its authority's certificates, and kubeconfigs for users and tokens."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

from e2e.controlplane import kubeconfig, pki

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from e2e.controlplane.components import Layout

ADMIN = "admin"
_ADMIN_USER, _ADMIN_GROUPS = "berth-e2e-admin", ("system:masters",)
_KUBELETS_CLIENT = "kube-apiserver-kubelet-client"


class Credentials:
    """The certificate authority of one control plane and the files that it writes for it."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._authority = pki.Authority()
        self._users: dict[str, Path] = {}

    @property
    def ca_path(self) -> Path:
        """The certificate authority, PEM."""
        return self._layout.file("ca.crt")

    def write_server_files(self) -> None:
        """Write what the components' command lines refer to."""
        server = self._authority.server()
        self.ca_path.write_bytes(self._authority.pem)
        self._secret("server.crt", server.certificate)
        self._secret("server.key", server.key)
        kubelets = self._authority.client(_KUBELETS_CLIENT, _ADMIN_GROUPS)
        self._secret("kubelet-client.crt", kubelets.certificate)
        self._secret("kubelet-client.key", kubelets.key)
        self._secret("service-accounts.key", pki.key_pem(pki.new_key()))

    def admin_context(self) -> ssl.SSLContext:
        """A TLS context with the admin's client certificate."""
        admin = self._authority.client(_ADMIN_USER, _ADMIN_GROUPS)
        context = self.context()
        context.load_cert_chain(self._secret("admin.crt", admin.certificate), self._secret("admin.key", admin.key))
        return context

    def context(self) -> ssl.SSLContext:
        """A TLS context that trusts the authority."""
        return ssl.create_default_context(cafile=str(self.ca_path))

    def user_kubeconfig(self, user: str, groups: Sequence[str]) -> Path:
        """A kubeconfig with a client certificate; the same file for the same user."""
        if user not in self._users:
            subject, groups = (_ADMIN_USER, _ADMIN_GROUPS) if user == ADMIN else (user, groups)
            credentials = kubeconfig.certificate_user(self._authority.client(subject, groups))
            self._users[user] = self._kubeconfig(user, credentials)
        return self._users[user]

    def token_kubeconfig(self, name: str, token: str, *, in_file: bool) -> Path:
        """A kubeconfig with a bearer token, in the file itself or in one that it refers to."""
        if not in_file:
            return self._kubeconfig(name, {"token": token})
        path = self._secret(f"{name}.token", token.encode())
        return self._kubeconfig(f"{name}-file", {"tokenFile": str(path)})

    def _kubeconfig(self, name: str, user: dict[str, str]) -> Path:
        file = "kubeconfig" if name == ADMIN else f"{name.replace(':', '_')}.kubeconfig"
        return kubeconfig.write(self._layout.file(file), self._layout.server, self._authority.pem, user)

    def _secret(self, name: str, content: bytes) -> Path:
        path = self._layout.file(name)
        path.touch(mode=0o600)
        path.write_bytes(content)
        return path
