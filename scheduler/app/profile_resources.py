"""SchedulerProfiles: which of them is in force for which profile, which is tried in shadow, and what they are told.

Everything is worked out anew from all resources there are whenever one of them comes, changes or goes, so that it does
not matter in which order that is heard of.
"""

from __future__ import annotations

import logging
import random
from typing import TYPE_CHECKING, Any, Final

from scheduler.app.profile_status import Accepted, Outcome, Standing
from scheduler.app.running import RESOURCE
from scheduler.app.shadowing import Shadow
from scheduler.config.errors import ConfigError, not_supported, required

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from scheduler.app.running import RunningConfiguration
    from scheduler.cycle.scheduler import Scheduler

log = logging.getLogger(__name__)

ACTIVE: Final = "Active"
SHADOW: Final = "Shadow"
_OWN_FIELDS: Final = frozenset({"mode", "shadow"})


class ProfileResource:
    """A SchedulerProfile as the API server has it. The schema holds for what it says, and is not relied on."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        meta = body.get("metadata") or {}
        spec = body.get("spec")
        status = body.get("status")
        self.name = str(meta.get("name", ""))
        self.uid = str(meta.get("uid", ""))
        self.resource_version = str(meta.get("resourceVersion", ""))
        self.generation = int(meta.get("generation") or 0)
        self.created = str(meta.get("creationTimestamp", ""))
        self.spec: Mapping[str, Any] = spec if isinstance(spec, dict) else {}
        self.status: Mapping[str, Any] = status if isinstance(status, dict) else {}
        self.mode = self.spec.get("mode") or ACTIVE

    @property
    def profile_name(self) -> str:
        """The scheduler name of the profile that it is about."""
        return str(self.spec.get("schedulerName", ""))

    @property
    def profile(self) -> dict[str, Any]:
        """The profile, as a configuration file would have it."""
        return {key: value for key, value in self.spec.items() if key not in _OWN_FIELDS}

    @property
    def shadow_options(self) -> dict[str, int]:
        """How to try it: `percentage` of decisions, number of `examples`; what is absent has its default."""
        given = self.spec.get("shadow")
        if not isinstance(given, dict):
            return {}
        options = {"percentage": given.get("samplePercentage"), "examples": given.get("examples")}
        return {name: value for name, value in options.items() if isinstance(value, int)}

    @property
    def age(self) -> tuple[str, str]:
        """Orders resources, the oldest first."""
        return self.created, self.name


class ProfileResources:
    """All resources that are about profiles of this scheduler.

    `changed` is called with whatever is to be told to a resource (`Outcome`), in each turn anew.
    """

    def __init__(
        self, scheduler: Scheduler, running: RunningConfiguration, changed: Callable[[Mapping[str, Outcome]], None]
    ) -> None:
        self._scheduler = scheduler
        self._running = running
        self._changed = changed
        self._resources: dict[str, ProfileResource] = {}
        self._accepted: dict[str, Accepted] = {}
        self._judged: dict[str, tuple[int, tuple[str, ...]]] = {}
        self._shadows: dict[str, tuple[Accepted, Mapping[str, int], str]] = {}

    # what is heard

    def replace(self, bodies: Sequence[Mapping[str, Any]]) -> None:
        """These are all resources there are."""
        self._resources = {resource.name: resource for resource in map(ProfileResource, bodies)}
        self.reconcile()

    def set(self, body: Mapping[str, Any]) -> None:
        """A resource came or changed. Changes of status alone are heard of as well, and change nothing."""
        resource = ProfileResource(body)
        known = self._resources.get(resource.name)
        self._resources[resource.name] = resource
        if known is None or (known.uid, known.generation) != (resource.uid, resource.generation):
            self.reconcile()

    def remove(self, name: str) -> None:
        """A resource is gone."""
        if self._resources.pop(name, None) is not None:
            self.reconcile()

    # what follows from it

    def reconcile(self) -> None:
        """Bring into force what all resources together amount to."""
        self._forget_the_gone()
        outcomes: dict[str, Outcome] = {}
        holders: dict[tuple[str, str], str] = {}
        active: dict[str, tuple[Accepted, ProfileResource]] = {}
        shadows: dict[str, tuple[Accepted, ProfileResource]] = {}
        for resource in sorted(self._resources.values(), key=lambda resource: resource.age):
            if resource.profile_name not in self._running.names:
                continue  # another scheduler's
            problems = self._judge(resource)
            accepted = self._accepted.get(resource.uid)
            if accepted is not None:
                holder = holders.setdefault((resource.profile_name, accepted.mode), resource.name)
                if holder != resource.name:
                    outcomes[resource.name] = Outcome(resource.generation, Standing.CONFLICT, other=holder)
                    continue
                if accepted.mode == ACTIVE:
                    active[resource.profile_name] = accepted, resource
                else:
                    shadows[resource.profile_name] = accepted, resource
            standing = Standing.INVALID if problems else Standing.VALID
            outcomes[resource.name] = Outcome(resource.generation, standing, problems=problems, accepted=accepted)
        self._bring_into_force(active)
        self._cast_shadows(shadows)
        self._changed(outcomes)

    def shadow_of(self, resource: str) -> Shadow | None:
        """The shadow that a resource casts, if it does."""
        found = self._resources.get(resource)
        if found is None or found.profile_name not in self._shadows:
            return None
        accepted, *_ = self._shadows[found.profile_name]
        shadow = self._scheduler.shadows.get(found.profile_name)
        return shadow if accepted.uid == found.uid and isinstance(shadow, Shadow) else None

    def get(self, name: str) -> ProfileResource | None:
        """A resource as it was last heard of."""
        return self._resources.get(name)

    def _forget_the_gone(self) -> None:
        uids = {resource.uid for resource in self._resources.values()}
        self._accepted = {uid: accepted for uid, accepted in self._accepted.items() if uid in uids}
        self._judged = {uid: judged for uid, judged in self._judged.items() if uid in uids}

    def _judge(self, resource: ProfileResource) -> tuple[str, ...]:
        """What is wrong with a resource; each generation is judged once. If anything is, what was accepted stays so."""
        judged = self._judged.get(resource.uid)
        if judged is not None and judged[0] == resource.generation:
            return judged[1]
        problems = self._problems(resource.mode, resource.profile)
        self._judged[resource.uid] = resource.generation, problems
        if not problems:
            accepted = Accepted(resource.uid, resource.generation, str(resource.mode), resource.profile)
            self._accepted[resource.uid] = accepted
            self._running.taken_up(RESOURCE)
            log.info("SchedulerProfile %s (generation %d) is accepted", resource.name, resource.generation)
            return ()
        if judged is None:
            self._remember(resource)
        self._running.refused(RESOURCE)
        listed = "\n".join(problems)
        log.error("SchedulerProfile %s (generation %d) is refused:\n%s", resource.name, resource.generation, listed)
        return problems

    def _remember(self, resource: ProfileResource) -> None:
        """Go by what the resource's status says was accepted last, by a scheduler before this one."""
        accepted = Accepted.of_status(resource.uid, resource.status)
        if accepted is None or accepted.profile.get("schedulerName") != resource.profile_name:
            return
        if not self._problems(accepted.mode, accepted.profile):
            self._accepted[resource.uid] = accepted

    def _problems(self, mode: object, profile: Mapping[str, Any]) -> tuple[str, ...]:
        problems = []
        if mode not in (ACTIVE, SHADOW):
            problems.append(str(not_supported("spec.mode", mode, (ACTIVE, SHADOW))))
        if not isinstance(profile.get("schedulerName"), str):
            problems.append(str(required("spec.schedulerName")))
        else:
            try:
                self._running.check(profile)
            except ConfigError as problem:
                problems += map(str, problem.errors)
        return tuple(problems)

    def _bring_into_force(self, active: Mapping[str, tuple[Accepted, ProfileResource]]) -> None:
        try:
            change = self._running.use({name: accepted.profile for name, (accepted, _) in active.items()})
        except ConfigError as problem:
            log.error("SchedulerProfiles can't be brought into force together: %s", problem)
            return
        for name in change.profiles:
            if name in active:
                accepted, resource = active[name]
                log.info("Profile %s is now SchedulerProfile %s (%d)", name, resource.name, accepted.generation)
            else:
                log.info("Profile %s is now the one of the configuration", name)

    def _cast_shadows(self, wanted: Mapping[str, tuple[Accepted, ProfileResource]]) -> None:
        """Begin, go on with, and end shadows. One goes on while neither it nor what it is compared with changes."""
        shadows = self._scheduler.shadows
        for name in [name for name in shadows if name not in wanted]:
            del shadows[name]
            self._shadows.pop(name, None)
        for name, (accepted, resource) in wanted.items():
            options = resource.shadow_options
            casting = (accepted, options, self._running.hash)
            if self._shadows.get(name) == casting and name in shadows:
                continue
            profile, nodes = self._running.in_shadow(accepted.profile)
            shadows[name] = Shadow(
                profile,
                draw=random.random,
                percentage=options.get("percentage", 100),
                examples=options.get("examples", 5),
                percentage_of_nodes_to_score=nodes,
                series=self._scheduler.metrics.shadow_decisions,
            )
            self._shadows[name] = casting
            log.info("Profile %s is tried in shadow as SchedulerProfile %s has it", name, resource.name)
