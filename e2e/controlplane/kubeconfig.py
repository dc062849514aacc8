"""kubeconfig files."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.controlplane.pki import Pair


def certificate_user(pair: Pair) -> dict[str, str]:
    """A user that authenticates with a client certificate."""
    return {"client-certificate-data": _data(pair.certificate), "client-key-data": _data(pair.key)}


def write(path: Path, server: str, authority: bytes, user: dict[str, str], *, namespace: str = "default") -> Path:
    """Write a kubeconfig with one context (as JSON, which is YAML) and return its path."""
    cluster = {"server": server, "certificate-authority-data": _data(authority)}
    context = {"cluster": "berth-e2e", "user": "user", "namespace": namespace}
    content: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "berth-e2e", "cluster": cluster}],
        "users": [{"name": "user", "user": user}],
        "contexts": [{"name": "berth-e2e", "context": context}],
        "current-context": "berth-e2e",
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.write_text(json.dumps(content, indent=2) + "\n")
    return path


def _data(content: bytes) -> str:
    return base64.b64encode(content).decode()
