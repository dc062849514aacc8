"""Objects with nothing in them but what scheduling reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from msgspec import inspect

from scheduler.api.decode import decode_as
from scheduler.api.resources import RESOURCES
from scheduler.app.snapshot.fields import KEPT
from scheduler.app.snapshot.pseudonyms import Collected
from scheduler.app.snapshot.renames import Renames
from scheduler.app.snapshot.trimming import LEFT_OUT, Trimmer, bare_type, is_nested, struct_fields
from tests.app.whatif.worlds import read
from tests.builders import node, pod

if TYPE_CHECKING:
    from scheduler.api.objects import Node, Pod

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "web",
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "hunter2", "example.com/x": "hunter2"},
        "managedFields": [{"manager": "hunter2"}],
    },
    "spec": {
        "serviceAccountName": "hunter2",
        "imagePullSecrets": [{"name": "hunter2"}],
        "containers": [
            {
                "name": "c",
                "image": "registry.example/web:1",
                "command": ["hunter2"],
                "args": ["hunter2"],
                "env": [{"name": "PASSWORD", "value": "hunter2"}],
                "envFrom": [{"secretRef": {"name": "hunter2"}}],
                "resources": {"requests": {"cpu": "1"}},
            }
        ],
        "volumes": [
            {"name": "s", "secret": {"secretName": "hunter2"}},
            {"name": "f", "azureFile": {"secretName": "hunter2", "shareName": "hunter2"}},
        ],
    },
    "status": {"conditions": [{"type": "PodScheduled", "status": "False", "message": "hunter2"}]},
}


def test_nothing_that_scheduling_does_not_read_is_written() -> None:
    written = msgspec.json.encode(Trimmer().value(read(POD)))
    assert b"hunter2" not in written
    assert b"registry.example/web:1" in written


def test_parameters_of_storage_classes_are_left_out() -> None:
    storage_class = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "fast"},
        "provisioner": "ebs.csi.aws.com",
        "parameters": {"csi.storage.k8s.io/provisioner-secret-name": "hunter2"},
    }
    assert b"hunter2" not in msgspec.json.encode(Trimmer().value(read(storage_class)))


@pytest.mark.parametrize(
    "item",
    [
        node("n1").zone("z1").taint("a").image("x:1", size=9).condition("Ready", "True").features("F").build(),
        pod("a").spreads("zone", minDomains=0).tolerates("a", effect="NoExecute").cpu("1").build(),
        pod("b").volume("v", persistentVolumeClaim={"claimName": "c"}).gate("g").on("n").priority(0).build(),
    ],
)
def test_what_is_written_reads_back_as_it_was(item: Node | Pod) -> None:
    value = msgspec.json.decode(msgspec.json.encode(Trimmer().value(item)))
    assert decode_as(type(item), value) == item


def test_a_pointer_to_nothing_is_not_the_same_as_no_pointer() -> None:
    value = Trimmer().value(pod("a").spreads("zone", minDomains=0).build())
    assert value["spec"]["topologySpreadConstraints"][0]["minDomains"] == 0


def text_fields() -> list[str]:
    """All fields of the kinds in a snapshot that may hold a text."""
    found: list[str] = []
    seen: set[type] = set()

    def visit(type_: inspect.Type) -> None:
        bare = bare_type(type_)
        if isinstance(bare, inspect.VarTupleType):
            bare = bare_type(bare.item_type)
        assert isinstance(bare, inspect.StructType)
        if bare.cls in seen:
            return
        seen.add(bare.cls)
        for field in struct_fields(bare.cls):
            if is_nested(field.type):
                visit(field.type)
            elif not isinstance(bare_type(field.type), inspect.IntType | inspect.BoolType):
                found.append(f"{bare.cls.__name__}.{field.name}")

    for resource in RESOURCES:
        if resource.plural not in ("leases", "resourceclaims", "resourceslices"):
            visit(inspect.type_info(resource.type))
    return found


@pytest.mark.parametrize("field", text_fields())
def test_each_text_is_kept_renamed_or_left_out_and_only_one_of_these(field: str) -> None:
    renamed: dict[str, Any] = dict(Renames(Collected()).table())
    assert [field in KEPT, field in renamed, field in LEFT_OUT].count(True) == 1


def test_no_rule_is_about_a_field_that_there_is_not() -> None:
    names = {f"{cls.__name__}.{field.name}" for cls in _structs() for field in struct_fields(cls)}
    assert (KEPT | LEFT_OUT | set(Renames(Collected()).table())) - names == set()


def _structs() -> set[type[msgspec.Struct]]:
    def below(type_: type[msgspec.Struct]) -> set[type[msgspec.Struct]]:
        return {type_, *(found for each in type_.__subclasses__() for found in below(each))}

    from scheduler.api.meta import Model

    return below(Model)
