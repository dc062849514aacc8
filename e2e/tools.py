"""The programs that the end-to-end tests run, built from their Go modules and cached outside the tree.

``binary("kube-apiserver")`` is the path of a program that can be run. It is looked for

1. in ``$KUBEBUILDER_ASSETS``, if that is set (etcd, the control plane and kubectl);
2. on ``PATH``, for programs whose version does not matter (kubectl, kind);
3. in the cache, ``$BERTH_TOOLS_CACHE`` or ``${XDG_CACHE_HOME:-~/.cache}/berth/tools``, in a folder named after the
   version and a hash of everything that the program is built from;

and else it is built there with ``go build``. All builds use one set of flags, so that Go's build cache is shared
between them, and a file lock lets only one run at a time: a cold build of the control plane is about
20 CPU minutes and 6 GB of caches.

    python -m e2e.tools build [NAME...]    build what is missing (everything unless named)
    python -m e2e.tools path NAME          print the path, building if need be
    python -m e2e.tools list               print what there is
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

HERE = Path(__file__).resolve().parent
KUBERNETES = "k8s.io/kubernetes"
_BUILT_FROM = (".go", ".yaml")
_CLUSTER = HERE / "controlplane" / "local"
"""What Go programs bring up a control plane with."""


class ToolError(RuntimeError):
    """A program can be neither found nor built; the message says what to install."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One program and where it comes from.

    ``module`` is the folder of its go.mod, ``package`` what to build in it, ``versioned_by`` the required module
    whose version is the program's. ``sources`` are folders of our own Go code that go into it. ``on_path`` says
    that any version found on PATH will do. ``flags`` are given to ``go build`` besides those that all share;
    ``on_demand`` says that it is not among what is built unless asked for.
    """

    package: str
    versioned_by: str = KUBERNETES
    module: Path = HERE
    sources: tuple[Path, ...] = ()
    in_assets: bool = False
    on_path: bool = False
    takes: str = "a minute"
    flags: tuple[str, ...] = ()
    on_demand: bool = False


TOOLS: dict[str, Tool] = {
    "etcd": Tool(
        package="./controlplane/etcd",
        versioned_by="go.etcd.io/etcd/server/v3",
        sources=(HERE / "controlplane" / "etcd",),
        in_assets=True,
    ),
    "kube-apiserver": Tool(package=f"{KUBERNETES}/cmd/kube-apiserver", in_assets=True, takes="some ten minutes"),
    "kube-controller-manager": Tool(
        package=f"{KUBERNETES}/cmd/kube-controller-manager", in_assets=True, takes="some minutes"
    ),
    "kube-scheduler": Tool(package=f"{KUBERNETES}/cmd/kube-scheduler", in_assets=True, takes="some minutes"),
    "kubectl": Tool(package=f"{KUBERNETES}/cmd/kubectl", in_assets=True, on_path=True),
    "oracle": Tool(package="./oracle/cmd/oracle", sources=(HERE / "oracle" / "cmd" / "oracle",)),
    # The package of main is among those that are measured, as a program writes no counters otherwise.
    "oracle-cover": Tool(
        package="./oracle/cmd/oracle",
        sources=(HERE / "oracle" / "cmd" / "oracle",),
        flags=(
            "-cover",
            "-covermode=set",
            f"-coverpkg=berth/e2e/oracle/cmd/oracle,{KUBERNETES}/pkg/scheduler/framework/plugins/...",
        ),
        on_demand=True,
    ),
    "bench": Tool(package="./perf/bench", sources=(HERE / "perf" / "bench", _CLUSTER)),
    "sessions": Tool(package="./sessions/cmd/sessions", sources=(HERE / "sessions" / "cmd" / "sessions", _CLUSTER)),
    "kubelet": Tool(
        package=".",
        versioned_by="k8s.io/cri-streaming",
        module=HERE / "kubelet",
        sources=(HERE / "kubelet",),
    ),
    "helm": Tool(
        package="helm.sh/helm/v4/cmd/helm",
        versioned_by="helm.sh/helm/v4",
        module=HERE / "helm",
        takes="minutes",
    ),
    "kind": Tool(package="sigs.k8s.io/kind", versioned_by="sigs.k8s.io/kind", module=HERE / "kind", on_path=True),
}
CONTROL_PLANE = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")


def binary(name: str) -> Path:
    """The path of a program by its name, built first if it is nowhere to be found. Raises ToolError."""
    tool = _tool(name)
    if found := _installed(name, tool):
        return found
    target = cached(name)
    if not target.exists():
        _build(name, tool, target)
    return target


def ensure(names: Iterable[str]) -> dict[str, Path]:
    """``binary`` of each name."""
    return {name: binary(name) for name in names}


def version(name: str) -> str:
    """The version that go.mod requires, for example ``v1.37.2``."""
    tool = _tool(name)
    text = (tool.module / "go.mod").read_text()
    match = re.search(rf"^(?:require)?\s*{re.escape(tool.versioned_by)} (v\S+)", text, re.MULTILINE)
    if match is None:
        raise ToolError(f"{tool.module / 'go.mod'} does not require {tool.versioned_by}")
    return match[1]


def cached(name: str) -> Path:
    """Where the built program is, or would be, in the cache."""
    tool = _tool(name)
    digest = hashlib.sha256()
    digest.update("\0".join([*_flags(name), tool.package, platform.system(), platform.machine()]).encode())
    files = [tool.module / "go.mod", tool.module / "go.sum"]
    for folder in tool.sources:
        files += sorted(file for file in folder.rglob("*") if file.suffix in _BUILT_FROM)
    for file in files:
        digest.update(file.relative_to(HERE).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return cache_root() / f"{name}-{version(name)}-{digest.hexdigest()[:12]}" / name


def cache_root() -> Path:
    """The folder under which built programs and other derived files are kept."""
    if explicit := os.environ.get("BERTH_TOOLS_CACHE"):
        return Path(explicit)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "berth" / "tools"


def _tool(name: str) -> Tool:
    try:
        return TOOLS[name]
    except KeyError:
        raise ToolError(f"there is no tool {name!r}; the tools are {', '.join(TOOLS)}") from None


def _installed(name: str, tool: Tool) -> Path | None:
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    if tool.in_assets and assets and os.access(candidate := Path(assets) / name, os.X_OK):
        if tool.versioned_by == KUBERNETES and not tool.on_path:
            _require_version(name, candidate)
        return candidate
    if tool.on_path and (on_path := shutil.which(name)):
        return Path(on_path)
    return None


def _require_version(name: str, path: Path) -> None:
    """Decisions are compared with one release, so another one in $KUBEBUILDER_ASSETS would mislead."""
    told = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    if told != f"Kubernetes {version(name)}":
        raise ToolError(
            f"{path} says {told or 'nothing'!r} to --version, but {version(name)} is needed: "
            "put that release into $KUBEBUILDER_ASSETS, or unset it to have it built with Go"
        )


def _flags(name: str) -> list[str]:
    stamp = "k8s.io/component-base/version"
    release = version(name)
    major, minor = release.removeprefix("v").split(".")[:2]
    ldflags = f"-s -w -X {stamp}.gitVersion={release} -X {stamp}.gitMajor={major} -X {stamp}.gitMinor={minor}"
    return ["-trimpath", "-buildvcs=false", "-ldflags", ldflags, *_tool(name).flags]


def _build(name: str, tool: Tool, target: Path) -> None:
    go = shutil.which("go")
    if go is None:
        wanted = re.search(r"^go (\S+)", (tool.module / "go.mod").read_text(), re.MULTILINE)
        ways = f"install Go {wanted[1] if wanted else ''} or newer from https://go.dev/dl/ and put it on PATH"
        if tool.in_assets:
            ways += f", or set KUBEBUILDER_ASSETS to a folder that holds {name} {version(name)}"
        raise ToolError(f"{name} {version(name)} has to be built and there is no Go here: {ways}")
    with _only_one_build():
        if target.exists():  # the build that we waited for was this one
            return
        _say(f"building {name} {version(name)} (the first time: {tool.takes})")
        start = time.monotonic()
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(f".{name}.{os.getpid()}")
        try:
            done = subprocess.run(
                [go, "build", *_flags(name), "-o", partial, tool.package],
                cwd=tool.module,
                env={**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"},
                check=False,
            )
            if done.returncode != 0:
                raise ToolError(f"building {name} failed: see above (in {tool.module}: go build {tool.package})")
            partial.rename(target)
        finally:
            partial.unlink(missing_ok=True)
        _say(f"built {name} in {time.monotonic() - start:.0f} s: {target}")


@contextmanager
def _only_one_build() -> Iterator[None]:
    root = cache_root()
    root.mkdir(parents=True, exist_ok=True)
    with (root / "build.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("waiting for another build to end")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m e2e.tools", description="Build the programs of the tests.")
    commands = parser.add_subparsers(dest="command", required=True)
    build = commands.add_parser("build", help="build what is missing")
    build.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(TOOLS)} (default: all)")
    commands.add_parser("path", help="print the path of a program").add_argument("name")
    commands.add_parser("list", help="print what there is")
    options = parser.parse_args(arguments)
    try:
        if options.command == "build":
            always = [name for name, tool in TOOLS.items() if not tool.on_demand]
            for name, path in ensure(options.names or always).items():
                print(f"{name:24} {path}")
        elif options.command == "path":
            print(binary(options.name))
        else:
            for name, tool in TOOLS.items():
                there = _installed(name, tool) or cached(name)
                print(f"{name:24} {version(name):10} {there if there.exists() else 'not built'}")
    except ToolError as error:
        _say(f"error: {error}")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
