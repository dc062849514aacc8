"""`python -m scheduler` is `berth`."""

from __future__ import annotations

import sys

from scheduler.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
