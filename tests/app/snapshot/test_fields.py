"""What becomes of each text of an anonymous snapshot, where that does not depend on what the text is.

That no field is forgotten is held by the tests of trimming.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scheduler.api.meta import Model
from scheduler.app.snapshot.fields import KEPT, SIMPLE
from scheduler.app.snapshot.pseudonyms import Collected
from scheduler.app.snapshot.renames import Renames
from scheduler.app.snapshot.trimming import LEFT_OUT

if TYPE_CHECKING:
    import msgspec

SECRET = "acme-payments"


def written(field: str) -> object:
    """What a text in a field is written as."""
    collected = Collected()
    Renames(collected).table()[field](None, SECRET)
    return Renames(collected.pseudonyms()).table()[field](None, SECRET)


@pytest.mark.parametrize("field", sorted(SIMPLE))
def test_the_name_of_something_is_not_written(field: str) -> None:
    assert "acme" not in str(written(field))
    assert "payments" not in str(written(field))


@pytest.mark.parametrize("field", sorted(SIMPLE))
def test_no_name_is_no_name(field: str) -> None:
    assert Renames(Collected()).table()[field](None, "") == ""


def test_things_of_one_kind_are_called_alike_in_all_fields() -> None:
    """A pod's claim, say, goes by one name in the pod, in the claim and in the volume that is bound to it."""
    nodes = ["PodSpec.node_name", "PodStatus.nominated_node_name", "VolumeAttachmentSpec.node_name"]
    classes = [
        "PersistentVolumeClaimSpec.storage_class_name",
        "PersistentVolumeSpec.storage_class_name",
        "CSIStorageCapacity.storage_class_name",
    ]
    volumes = ["PersistentVolumeClaimSpec.volume_name", "VolumeAttachmentSource.persistent_volume_name"]
    for fields, name in ((nodes, "node-1"), (classes, "storageclass-1"), (volumes, "persistentvolume-1")):
        assert {written(field) for field in fields} == {name}


def test_what_other_objects_are_named_by_is_what_refers_to_them() -> None:
    """The kinds of names are those of metadata.name, so that references still lead somewhere."""
    for field, kind in (
        ("PodSpec.node_name", "Node"),
        ("ObjectMeta.namespace", "Namespace"),
        ("PersistentVolumeClaimVolumeSource.claim_name", "PersistentVolumeClaim"),
        ("PersistentVolumeSpec.storage_class_name", "StorageClass"),
        ("PersistentVolumeClaimSpec.volume_name", "PersistentVolume"),
    ):
        collected = Collected()
        renames = Renames(collected)
        renames.kind = kind
        renames.table()["ObjectMeta.name"](None, SECRET)
        known = Renames(collected.pseudonyms())
        known.kind = kind
        assert known.table()[field](None, SECRET) == known.table()["ObjectMeta.name"](None, SECRET)


def test_what_stays_is_words_that_mean_the_same_everywhere() -> None:
    """Kinds, operators, phases, amounts, times and drivers; nothing that users name."""
    named = [field for field in KEPT if field.rpartition(".")[2] in ("name", "namespace", "uid", "node_name")]
    assert named == ["CSINodeDriver.name"]


def test_the_three_ways_exclude_each_other() -> None:
    assert not KEPT & SIMPLE.keys()
    assert not KEPT & LEFT_OUT
    assert not SIMPLE.keys() & LEFT_OUT


def test_each_field_is_one_that_there_is() -> None:
    def below(type_: type[msgspec.Struct]) -> set[type[msgspec.Struct]]:
        return {type_, *(found for each in type_.__subclasses__() for found in below(each))}

    there = {f"{struct.__name__}.{name}" for struct in below(Model) for name in struct.__struct_fields__}
    assert there >= KEPT
    assert SIMPLE.keys() <= there
