"""Reading configuration needs little of kubernetes_asyncio, and leaves the rest to whoever imports it."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest

from scheduler.client import kubeconfig


def run(code):
    """What a fresh Python prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_the_generated_client_is_not_loaded():
    told = run(
        "import sys\n"
        "from scheduler.client.kubeconfig import loaders\n"
        "config, configuration = loaders()\n"
        "print(config.load_kube_config.__module__, configuration.__name__)\n"
        "print(sum(name.startswith('kubernetes_asyncio') for name in sys.modules))\n"
    )
    assert told == ["kubernetes_asyncio.config.kube_config", "Configuration", "0"]


def test_the_whole_package_can_be_imported_afterwards():
    told = run(
        "from scheduler.client.kubeconfig import loaders\n"
        "loaders()\n"
        "import kubernetes_asyncio.client\n"
        "print(kubernetes_asyncio.client.CoreV1Api.__name__, kubernetes_asyncio.client.ApiClient.__name__)\n"
    )
    assert told == ["CoreV1Api", "ApiClient"]


def test_the_package_as_it_is_serves_where_it_was_imported_before():
    told = run(
        "import kubernetes_asyncio.client\n"
        "from scheduler.client.kubeconfig import loaders\n"
        "print(loaders()[1] is kubernetes_asyncio.client.Configuration)\n"
    )
    assert told == ["True"]


def test_a_package_that_is_laid_out_in_another_way_is_imported_whole(monkeypatch):
    monkeypatch.setattr(kubeconfig, "_without_client", _no_such_module)
    monkeypatch.delitem(sys.modules, "kubernetes_asyncio", raising=False)
    config, configuration = kubeconfig.loaders.__wrapped__()
    assert (config.__name__, configuration.__name__) == ("kubernetes_asyncio.config", "Configuration")


def _no_such_module():
    raise ImportError


def test_what_is_missing_is_told(monkeypatch):
    monkeypatch.setattr(kubeconfig, "find_spec", lambda name: None if name == "kubernetes_asyncio" else find_spec(name))
    with pytest.raises(ImportError, match="not installed"):
        kubeconfig._without_client()
