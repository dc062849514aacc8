"""Health endpoints with the texts and status codes of k8s.io/apiserver/pkg/server/healthz/healthz.go."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Check:
    """A named check. `run` gives what is wrong, or None or "" if all is well; raising is failing, too."""

    name: str
    run: Callable[[], str | None]


class Outcome(NamedTuple):
    """The answer to a probe."""

    healthy: bool
    text: str


PING = Check("ping", lambda: None)


class HealthEndpoint:
    """One of healthz, livez and readyz: its checks in order, `ping` if there are none.

    `record(check, endpoint, passed=…)` is told the result of every check that a request to the endpoint ran.
    """

    def __init__(self, name: str, checks: Sequence[Check], record: Callable[..., None]) -> None:
        self.name = name
        self.checks = tuple(checks) or (PING,)
        self._record = record

    def all(self, *, verbose: bool, excluded: Collection[str] = ()) -> Outcome:
        """Run all checks but the excluded ones. Why one failed is logged, not told: anybody may ask."""
        lines: list[str] = []
        failures: list[str] = []
        for check in self.checks:
            if check.name in excluded:
                lines.append(f"[+]{check.name} excluded: ok\n")
                continue
            wrong = _result(check)
            self._record(check.name, self.name, passed=not wrong)
            if wrong:
                lines.append(f"[-]{check.name} failed: reason withheld\n")
                failures.append(f"{check.name}: {wrong}")
            else:
                lines.append(f"[+]{check.name} ok\n")
        unknown = sorted(set(excluded) - {check.name for check in self.checks})
        if unknown:
            quoted = ",".join(json.dumps(name, ensure_ascii=False) for name in unknown)
            lines.append(f"warn: some health checks cannot be excluded: no matches for {quoted}\n")
        if failures:
            _log.info("%s check failed: %s", self.name, "; ".join(failures))
            return Outcome(healthy=False, text=f"{''.join(lines)}{self.name} check failed\n")
        return Outcome(healthy=True, text=f"{''.join(lines)}{self.name} check passed\n" if verbose else "ok")

    def one(self, check: Check) -> Outcome:
        """Run one check and tell what is wrong."""
        wrong = _result(check)
        if wrong:
            return Outcome(healthy=False, text=f"internal server error: {wrong}\n")
        return Outcome(healthy=True, text="ok")


def _result(check: Check) -> str:
    try:
        return check.run() or ""
    except Exception as error:
        _log.exception("health check %s raised", check.name)
        return str(error) or type(error).__name__
