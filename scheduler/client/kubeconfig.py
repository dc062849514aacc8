"""`kubernetes_asyncio`'s reading of kubeconfig files and service accounts, without its generated client.

Importing any part of that package loads its models and APIs first: a thousand modules, 35 MiB, a fifth of a second.
What reads configuration needs none of them but the class `Configuration`.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Final

__all__ = ["loaders"]

_PACKAGE: Final = "kubernetes_asyncio"
_CLIENT: Final = f"{_PACKAGE}.client"


class _NoClient:
    """Stands for `ApiClient`, which only functions use that make one; we don't call these."""


@cache
def loaders() -> tuple[Any, Any]:
    """(`kubernetes_asyncio.config`, `kubernetes_asyncio.client.Configuration`).

    Others can import the package as it is, before or after. Raises ImportError if it isn't there.
    """
    if _PACKAGE not in sys.modules:
        try:
            return _without_client()
        except (ImportError, AttributeError):
            pass  # a version of the package that is laid out in another way
    return import_module(f"{_PACKAGE}.config"), import_module(_CLIENT).Configuration


def _without_client() -> tuple[Any, Any]:
    """Import with bare packages in the place of those whose code would import everything, and put these away again."""
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ImportError(f"{_PACKAGE} is not installed")
    root = Path(spec.submodule_search_locations[0])
    client = _bare(_CLIENT, root / "client")
    try:
        sys.modules[_PACKAGE] = _bare(_PACKAGE, root)
        sys.modules[_CLIENT] = client
        configuration = import_module(f"{_CLIENT}.configuration").Configuration
        client.Configuration, client.ApiClient = configuration, _NoClient  # type: ignore[attr-defined]
        return import_module(f"{_PACKAGE}.config"), configuration
    finally:
        for name in [name for name in sys.modules if name == _PACKAGE or name.startswith(f"{_PACKAGE}.")]:
            del sys.modules[name]


def _bare(name: str, folder: Path) -> ModuleType:
    package = ModuleType(name)
    package.__path__ = [str(folder)]
    return package
