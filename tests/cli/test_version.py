"""`berth version`."""

from __future__ import annotations

import json
import platform

from scheduler.cli.main import main
from scheduler.version import KUBERNETES_VERSION, __version__


def test_text(capsys):
    assert main(["version"]) == 0
    text = f"berth {__version__}, kube-scheduler {KUBERNETES_VERSION}, Python {platform.python_version()}"
    assert capsys.readouterr().out == f"{text}, compiled kernels\n"


def test_json(capsys):
    assert main(["version", "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "berth": __version__,
        "kubernetes": KUBERNETES_VERSION,
        "python": platform.python_version(),
        "compiled": True,
    }


def test_where_nothing_is_compiled_it_says_so(capsys, monkeypatch):
    monkeypatch.setattr("scheduler.cli.version.find_spec", lambda name: None)
    assert main(["version"]) == 0
    assert capsys.readouterr().out.endswith(", kernels not compiled\n")
