"""The compiled module, `_compiled.c`: None where Berth was built without a C compiler. Then the twins decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

compiled: ModuleType | None
try:
    from scheduler.kernels import _compiled
except ImportError:
    compiled = None
else:
    compiled = _compiled
