"""The krew plugin: its manifest by krew's rules, and its archive."""

from __future__ import annotations

import hashlib
import io
import re
import subprocess
import zipfile
from importlib import util
from pathlib import Path

import pytest
import yaml

from scheduler.version import __version__

FOLDER = Path(__file__).resolve().parents[2] / "deploy" / "krew"


def load(name):
    spec = util.spec_from_file_location(f"krew_{name}", FOLDER / f"{name}.py")
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


release = load("release")
MANIFEST = yaml.safe_load(release.published_at((FOLDER / "berth.yaml").read_text(), release.NOWHERE))


def test_the_manifest_keeps_krews_rules():
    """Those of sigs.k8s.io/krew, internal/index/validation/validate.go, and of krew-index's naming guide."""
    assert MANIFEST["apiVersion"] == "krew.googlecontainertools.github.com/v1alpha2"
    assert MANIFEST["kind"] == "Plugin"
    assert re.fullmatch(r"[\w-]+", MANIFEST["metadata"]["name"])
    assert not MANIFEST["metadata"]["name"].startswith(("kube", "kubectl"))
    spec = MANIFEST["spec"]
    assert re.fullmatch(r"v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?", spec["version"])
    assert 0 < len(spec["shortDescription"]) <= 50
    assert not spec["shortDescription"].endswith(".")
    assert "\n" not in spec["shortDescription"]
    assert spec["homepage"].startswith("https://")
    assert spec["platforms"]


@pytest.mark.parametrize("platform", MANIFEST["spec"]["platforms"])
def test_each_platform_can_be_installed(platform):
    with zipfile.ZipFile(io.BytesIO(release.archive())) as archive:
        names = archive.namelist()
    assert platform["uri"].startswith("https://")
    assert platform["uri"].endswith(".zip")
    assert re.fullmatch(r"[0-9a-f]{64}", platform["sha256"])
    assert platform["bin"] in [file["from"] for file in platform["files"]]
    assert {file["from"] for file in platform["files"]} == set(names)
    assert all(".." not in part for file in platform["files"] for part in file.values())
    (expression,) = platform["selector"]["matchExpressions"]
    assert expression["operator"] == "In"
    assert set(expression["values"]) <= {"linux", "darwin", "windows"}


def test_version_and_checksum_are_those_of_the_tree():
    assert (
        release.manifest((FOLDER / "berth.yaml").read_text(), release.archive()) == (FOLDER / "berth.yaml").read_text()
    ), "make it again: make krew"
    assert MANIFEST["spec"]["version"] == f"v{__version__}"
    assert MANIFEST["spec"]["platforms"][0]["sha256"] == hashlib.sha256(release.archive()).hexdigest()


def test_no_address_is_kept():
    assert "https://" not in (FOLDER / "berth.yaml").read_text()


def test_the_address_of_the_project_can_be_set():
    text = release.published_at((FOLDER / "berth.yaml").read_text(), "https://git.example.org/me/berth/")
    spec = yaml.safe_load(text)["spec"]
    assert spec["homepage"] == "https://git.example.org/me/berth"
    assert spec["platforms"][0]["uri"].startswith("https://git.example.org/me/berth/releases/download/v")


@pytest.mark.parametrize(
    ("runner", "arguments"),
    [
        ("uvx", f"--quiet --from berth-scheduler=={__version__} kubectl-berth pending -A"),
        ("pipx", f"run --quiet --spec berth-scheduler=={__version__} kubectl-berth pending -A"),
    ],
)
def test_the_plugin_runs_this_version_by_what_there_is(tmp_path, runner, arguments):
    with zipfile.ZipFile(io.BytesIO(release.archive())) as archive:
        assert archive.getinfo("kubectl-berth").external_attr >> 16 & 0o777 == 0o755
        plugin = tmp_path / "kubectl-berth"
        plugin.write_bytes(archive.read("kubectl-berth"))
    fake = tmp_path / "bin" / runner
    fake.parent.mkdir()
    fake.write_text('#!/bin/sh\necho "$@"\n')
    fake.chmod(0o755)
    told = subprocess.run(
        ["/bin/sh", str(plugin), "pending", "-A"],
        env={"PATH": str(fake.parent)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.strip() == arguments


def test_without_either_it_says_what_to_install(tmp_path):
    with zipfile.ZipFile(io.BytesIO(release.archive())) as archive:
        plugin = tmp_path / "kubectl-berth"
        plugin.write_bytes(archive.read("kubectl-berth"))
    told = subprocess.run(
        ["/bin/sh", str(plugin)], env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert (told.returncode, f"pip install berth-scheduler=={__version__}" in told.stderr) == (1, True)
