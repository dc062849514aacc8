"""Where the programs come from, and what is said when one can't be had."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from e2e import tools

if TYPE_CHECKING:
    from pathlib import Path

VERSION = "v1.37.2"


@pytest.fixture(autouse=True)
def empty(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Nothing on PATH, nothing in the cache, no assets."""
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setenv("BERTH_TOOLS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    return tmp_path


def program(path: Path, text: str = "exit 0") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


class TestWhere:
    def test_assets_come_first(self, empty: Path, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("KUBEBUILDER_ASSETS", str(empty / "assets"))
        program(tools.cached("kube-apiserver"))
        there = program(empty / "assets" / "kube-apiserver", f"echo Kubernetes {VERSION}")
        assert tools.binary("kube-apiserver") == there

    def test_what_the_assets_lack_is_looked_for_elsewhere(self, empty: Path, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("KUBEBUILDER_ASSETS", str(empty / "assets"))
        there = program(tools.cached("kube-scheduler"))
        assert tools.binary("kube-scheduler") == there

    def test_assets_of_another_release_are_refused(self, empty: Path, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("KUBEBUILDER_ASSETS", str(empty / "assets"))
        program(empty / "assets" / "kube-apiserver", "echo Kubernetes v1.31.0")
        with pytest.raises(tools.ToolError, match=rf"says 'Kubernetes v1.31.0' .* but {VERSION} is needed"):
            tools.binary("kube-apiserver")

    def test_kubectl_of_any_version_on_the_path_will_do(self, empty: Path):
        there = program(empty / "path" / "kubectl")
        assert tools.binary("kubectl") == there

    def test_kube_apiserver_on_the_path_will_not(self, empty: Path):
        program(empty / "path" / "kube-apiserver")
        with pytest.raises(tools.ToolError, match="no Go here"):
            tools.binary("kube-apiserver")

    def test_a_built_program_is_used_again(self):
        there = program(tools.cached("etcd"))
        assert tools.binary("etcd") == there


class TestBuild:
    def test_without_go_the_message_says_what_to_install(self):
        with pytest.raises(tools.ToolError) as refused:
            tools.binary("kube-apiserver")
        text = str(refused.value)
        assert f"kube-apiserver {VERSION} has to be built and there is no Go here" in text
        assert "install Go 1.26.0 or newer from https://go.dev/dl/" in text
        assert "set KUBEBUILDER_ASSETS to a folder that holds kube-apiserver" in text

    def test_go_is_told_package_and_output(self, empty: Path, capfd: pytest.CaptureFixture[str]):
        fake = 'while [ "$1" != -o ]; do shift; done; echo "#!/bin/sh" > "$2"; /bin/chmod +x "$2"; echo "built $3"'
        program(empty / "path" / "go", fake)
        path = tools.binary("kube-scheduler")
        assert path == tools.cached("kube-scheduler")
        told = capfd.readouterr()
        assert told.out == "built k8s.io/kubernetes/cmd/kube-scheduler\n"
        assert f"building kube-scheduler {VERSION}" in told.err
        assert list(path.parent.iterdir()) == [path]

    def test_a_failed_build_leaves_nothing_in_the_cache(self, empty: Path):
        program(empty / "path" / "go", "exit 2")
        with pytest.raises(tools.ToolError, match="building oracle failed"):
            tools.binary("oracle")
        assert list(tools.cached("oracle").parent.iterdir()) == []


class TestCacheName:
    def test_holds_the_version(self):
        assert tools.cached("etcd").parent.name.startswith(f"etcd-{tools.version('etcd')}-")

    def test_changes_with_the_sources(self, empty: Path, monkeypatch: pytest.MonkeyPatch):
        folder = empty / "module"
        for name, text in (("go.mod", "require x.example/y v1.2.3\n"), ("go.sum", ""), ("main.go", "package main")):
            folder.mkdir(exist_ok=True)
            (folder / name).write_text(text)
        tool = tools.Tool(package=".", versioned_by="x.example/y", module=folder, sources=(folder,))
        monkeypatch.setitem(tools.TOOLS, "mine", tool)
        monkeypatch.setattr(tools, "HERE", empty)
        before = tools.cached("mine")
        assert tools.cached("mine") == before
        (folder / "main.go").write_text("package main // changed")
        assert tools.cached("mine") != before


def test_an_unknown_name_is_an_error_that_lists_the_known():
    with pytest.raises(tools.ToolError, match=r"no tool 'kube-proxy'; the tools are etcd, kube-apiserver"):
        tools.binary("kube-proxy")


@pytest.mark.parametrize("name", tools.TOOLS)
def test_every_tool_has_a_version(name: str):
    assert tools.version(name).startswith("v")


@pytest.mark.parametrize("name", sorted(tools.TOOLS))
def test_a_program_is_built_anew_when_any_of_our_own_code_that_is_in_it_changes(name: str):
    """The folders that its key is made of hold every package of ours that it imports, and those that these import."""
    tool = tools.TOOLS[name]
    imported = {
        tools.HERE / package
        for folder in tool.sources
        for file in folder.rglob("*.go")
        for package in re.findall(r'^\s*(?:import )?(?:\w+ )?"berth/e2e/(.+)"$', file.read_text(), re.MULTILINE)
    }
    assert imported <= set(tool.sources)
