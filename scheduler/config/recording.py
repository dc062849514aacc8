"""How many decisions are recorded, unless the command line says otherwise."""

from __future__ import annotations

from typing import Final

RECORDS: Final = 10_000
BYTES: Final = 64 << 20
