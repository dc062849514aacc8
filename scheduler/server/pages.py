"""Texts of /configz, /flagz, /statusz and /debug/tasks.

Layouts of k8s.io/component-base/configz and k8s.io/apiserver/pkg/server/{flagz,statusz}/textserializer.go,
which promise nothing to parsers. Only the plain texts are served, not their JSON or YAML forms.
"""

from __future__ import annotations

import asyncio
import io
import platform
import time
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_WARNING = (
    "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees "
    "and is for debugging purposes only.\n"
)


def configz(configuration: Mapping[str, Any]) -> bytes:
    """The effective configuration as JSON, under the name that every Kubernetes component gives it."""
    return msgspec.json.encode({"componentconfig": configuration})


def flagz(component: str, flags: Mapping[str, str]) -> str:
    """All flags with their values, by name."""
    lines = "".join(f"{name}={flags[name]}\n" for name in sorted(flags))
    return f"\n{component} flagz\n{_WARNING}{lines}"


def statusz(component: str, *, version: str, kubernetes_version: str, started: float, paths: Iterable[str]) -> str:
    """Since when what is running. `started` is in seconds since 1970; `paths` are all that is served."""
    up = max(0, int(time.time() - started))
    folders = sorted({"/" + path.split("/")[1] for path in paths})
    rows = (
        ("Started", time.strftime("%a %b %e %H:%M:%S UTC %Y", time.gmtime(started))),
        ("Up", f"{up // 3600} hr {up // 60 % 60:02} min {up % 60:02} sec"),
        ("Python version", platform.python_version()),
        ("Binary version", version),
        ("Kubernetes version", kubernetes_version),
        ("Paths", " ".join(folders)),
    )
    return f"\n{component} statusz\n{_WARNING}\n" + "".join(f"{name}: {value}\n" for name, value in rows)


def tasks() -> str:
    """The stack of every asyncio task, by name: what a goroutine dump is to Go."""
    out = io.StringIO()
    for task in sorted(asyncio.all_tasks(), key=lambda task: task.get_name()):
        out.write(f"{task.get_name()}:\n")
        task.print_stack(file=out)
        out.write("\n")
    return out.getvalue()
