"""The part of a scheduler process that lives by SchedulerProfiles: reads them, watches them, and writes their status.

Only the process that schedules does so. Where the resource is not installed, or may not be read, the scheduler goes on
by its configuration file, says so once, and looks again every minute.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NoReturn

import msgspec

from scheduler.api.objects import ObjectReference
from scheduler.app.profile_resources import ProfileResources
from scheduler.app.profile_status import Outcome, Standing, status_of
from scheduler.app.profile_watch import GROUP, KIND, PATH, VERSION, watch_profiles
from scheduler.client.errors import ApiError, TransportError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scheduler.app.running import RunningConfiguration
    from scheduler.client.auth import Connection
    from scheduler.client.http import Session
    from scheduler.cycle.scheduler import Scheduler

log = logging.getLogger(__name__)

AGAIN: Final = 60.0
"""Seconds until the resource is looked for again, and until all are read anew while they are watched."""
BEFORE_NEXT_WATCH: Final = 1.0
"""Seconds between the end of a watch and the next read."""
STATUS_PERIOD: Final = 2.0
"""Seconds between two rounds of writing statuses."""
FIRST_READ: Final = 5.0
"""Seconds that the first read may take before scheduling begins without it."""

_JSON_PATCH: Final = "application/json-patch+json"
_LONGEST_NOTE: Final = 1024
_NOT_FOUND: Final = 404
_FORBIDDEN: Final = 403
_REASONS: Final = {
    Standing.VALID: ("Normal", "ProfileAccepted"),
    Standing.INVALID: ("Warning", "ProfileRejected"),
    Standing.CONFLICT: ("Warning", "ProfileConflict"),
}


class _List(msgspec.Struct):
    items: list[dict[str, Any]] | None = None


class ProfileOperator:
    """Keeps a scheduler's profiles equal to what SchedulerProfiles want of them.

    `leads` says whether this is the process that schedules: no other may write. `on_signals_taken` is as for
    `watch_profiles`.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        running: RunningConfiguration,
        session: Session,
        connection: Connection,
        *,
        leads: Callable[[], bool],
        on_signals_taken: Callable[[], None],
    ) -> None:
        self._leads = leads
        self.resources = ProfileResources(scheduler, running, self._changed)
        self._scheduler = scheduler
        self._session = session
        self._connection = connection
        self._on_signals_taken = on_signals_taken
        self._problem = ""
        self._outcomes: Mapping[str, Outcome] = {}
        self._told: dict[str, tuple[int, Standing]] = {}
        self._written: dict[str, Any] = {}

    async def load(self) -> bool:
        """Read all resources and go by them; False, and nothing changed, where that can't be done."""
        try:
            async with asyncio.timeout(FIRST_READ):
                answer = msgspec.json.decode(await self._session.request("GET", PATH), type=_List)
        except (ApiError, TransportError, TimeoutError, msgspec.DecodeError) as problem:
            self._trouble(problem)
            if isinstance(problem, ApiError) and problem.status == _NOT_FOUND:
                self.resources.replace([])
            return False
        if self._problem:
            log.info("SchedulerProfiles can be read now")
            self._problem = ""
        self.resources.replace(answer.items or [])
        return True

    async def run(self) -> NoReturn:
        """Watch them for ever."""
        while True:
            read = await self.load()
            if read:
                await self._watch()
            await asyncio.sleep(BEFORE_NEXT_WATCH if read else AGAIN)

    async def write_statuses(self) -> NoReturn:
        """Write what is to be told, for ever."""
        while True:
            await self.write()
            await asyncio.sleep(STATUS_PERIOD)

    async def write(self) -> None:
        """Write the statuses that have changed, as long as this is the process that schedules."""
        if not self._leads():
            return
        for name, outcome in list(self._outcomes.items()):
            resource = self.resources.get(name)
            if resource is None or resource.generation != outcome.generation:
                continue
            before = self._written.get(resource.uid, resource.status)
            shadow = self.resources.shadow_of(name)
            status = status_of(outcome, resource.profile_name, before, shadow, now=datetime.now(tz=UTC))
            if status == before:
                continue
            if await self._patch(name, resource.uid, status):
                self._written[resource.uid] = status

    # inside

    async def _watch(self) -> None:
        """Until kopf gives up. What a watch misses is made up for by reading everything once in a while."""
        reading = asyncio.create_task(self._read_again(), name="SchedulerProfiles: read again")
        try:
            await watch_profiles(self._connection, self._heard, on_signals_taken=self._on_signals_taken)
        except Exception as problem:
            log.info("the watch of SchedulerProfiles ended (%s: %s)", type(problem).__name__, problem)
        finally:
            reading.cancel()
            await asyncio.wait({reading})

    async def _read_again(self) -> NoReturn:
        while True:
            await asyncio.sleep(AGAIN)
            await self.load()

    def _heard(self, kind: str | None, body: Mapping[str, Any]) -> None:
        if kind == "DELETED":
            self.resources.remove(body["metadata"]["name"])
        else:
            self.resources.set(body)

    def _trouble(self, problem: Exception) -> None:
        """Say once what keeps the resources from being read."""
        if isinstance(problem, ApiError) and problem.status == _NOT_FOUND:
            text = "SchedulerProfiles are not installed here (the chart has their CRD); going by the configuration file"
        elif isinstance(problem, ApiError) and problem.status == _FORBIDDEN:
            text = f"SchedulerProfiles may not be read; profiles stay as they are: {problem}"
        else:
            why = f"{type(problem).__name__}: {problem}"
            text = f"SchedulerProfiles can't be read for now; profiles stay as they are: {why}"
        if text != self._problem:
            self._problem = text
            log.warning("%s", text)

    def _changed(self, outcomes: Mapping[str, Outcome]) -> None:
        self._outcomes = outcomes
        uids = set()
        for name, outcome in outcomes.items():
            resource = self.resources.get(name)
            assert resource is not None
            uids.add(resource.uid)
            told = (outcome.generation, outcome.standing)
            if self._told.get(resource.uid) != told:
                self._told[resource.uid] = told
                self._record(name, resource.uid, resource.profile_name, outcome)
        for gone in set(self._told) - uids:
            del self._told[gone]
            self._written.pop(gone, None)

    def _record(self, name: str, uid: str, profile: str, outcome: Outcome) -> None:
        """An event about the resource."""
        type_, reason = _REASONS[outcome.standing]
        texts = {
            Standing.VALID: f"generation {outcome.generation} is valid",
            Standing.INVALID: "\n".join(outcome.problems),
            Standing.CONFLICT: f'SchedulerProfile "{outcome.other}", which is older, is about profile "{profile}"',
        }
        self._scheduler.recorders[profile].record(
            ObjectReference(api_version=f"{GROUP}/{VERSION}", kind=KIND, name=name, uid=uid),
            type=type_,
            reason=reason,
            action="Configuring",
            note=texts[outcome.standing].encode()[:_LONGEST_NOTE].decode(errors="ignore"),
            version=str(outcome.generation),
        )

    async def _patch(self, name: str, uid: str, status: Mapping[str, Any]) -> bool:
        """Write a status, unless the resource was replaced meanwhile; whether that is done with."""
        patch = [
            {"op": "test", "path": "/metadata/uid", "value": uid},
            {"op": "add", "path": "/status", "value": status},
        ]
        body = msgspec.json.encode(patch)
        try:
            await self._session.request("PATCH", f"{PATH}/{name}/status", body=body, content_type=_JSON_PATCH)
        except ApiError as problem:
            log.log(
                logging.DEBUG if problem.status == _NOT_FOUND else logging.WARNING,
                "the status of SchedulerProfile %s was not written: %s",
                name,
                problem,
            )
            # It would be refused again; the next change of the resource brings the next try.
            return problem.status in (_NOT_FOUND, _FORBIDDEN)
        except TransportError as problem:
            log.warning("the status of SchedulerProfile %s can't be written: %s", name, problem)
            return False
        return True
