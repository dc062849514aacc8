"""Claims that could be bound where the pod goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from scheduler.api.claims import WAIT_FOR_FIRST_CONSUMER, class_of_claim
from scheduler.explain.whynot.change import Change, Option
from scheduler.explain.whynot.helps.evict import removal
from scheduler.explain.whynot.volumes import claims_of, is_exclusive, users
from scheduler.framework.names import VOLUME_BINDING, VOLUME_RESTRICTIONS, VOLUME_ZONE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scheduler.api.objects import StorageClass
    from scheduler.explain.whynot.survey import Survey

_WAIT: Final = 35


def options(survey: Survey) -> Iterator[Option]:
    """Classes that wait for the pod; the pods gone that have claims of one pod at a time."""
    plugin = survey.refusal.plugin if survey.refusal is not None else ""
    if plugin in (VOLUME_BINDING, VOLUME_ZONE):
        for name in dict.fromkeys(class_of_claim(c.claim) for c in claims_of(survey) if c.claim and not c.volume):
            storage_class = survey.state.objects.get("StorageClass", "", name) if name else None
            if storage_class is not None and storage_class.volume_binding_mode != WAIT_FOR_FIRST_CONSUMER:
                yield (_waiting(storage_class),)
    if VOLUME_RESTRICTIONS in survey.codes:
        for claim in claims_of(survey):
            holders = users(survey, claim.name) if is_exclusive(claim) else []
            if holders:
                yield (removal(holders, solves=(VOLUME_RESTRICTIONS,)),)


def _waiting(storage_class: StorageClass) -> Change:
    name = storage_class.metadata.name
    words = (
        f"a StorageClass like {name} with volumeBindingMode: {WAIT_FOR_FIRST_CONSUMER} for its claim, so that the "
        "volume follows the pod,"
    )
    return Change(
        kind="waitForFirstConsumer",
        details={"storageClass": name, "volumeBindingMode": WAIT_FOR_FIRST_CONSUMER},
        cost=_WAIT,
        what=lambda _: words,
        solves=frozenset((VOLUME_BINDING, VOLUME_ZONE)),
        objects=(("StorageClass", replace(storage_class, volume_binding_mode=WAIT_FOR_FIRST_CONSUMER)),),
    )
