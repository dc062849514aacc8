"""kind needs Docker, and says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from e2e.kind.__main__ import main

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_without_docker_it_says_what_to_do(path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["up"]) == 1
    assert capsys.readouterr().err == (
        "error: kind needs Docker and there is no docker on PATH: "
        "install it, or use `make cluster`, which needs no Docker\n"
    )


def test_without_its_daemon_it_says_what_docker_says(path: Path, capsys: pytest.CaptureFixture[str]):
    docker = path / "docker"
    docker.write_text("#!/bin/sh\necho 'Cannot connect to the Docker daemon' >&2\nexit 1\n")
    docker.chmod(0o755)
    assert main(["up"]) == 1
    assert "`docker info` fails (Cannot connect to the Docker daemon): start it" in capsys.readouterr().err
