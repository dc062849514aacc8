"""Objects from files: what is read, and how what can't be read is told."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from scheduler.api.quantity import milli_value
from scheduler.app.manifests import ManifestError, Manifests, read_manifests

if TYPE_CHECKING:
    from pathlib import Path

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {"capacity": {"cpu": "4"}}}
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}
CONFIG = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def read(directory: Path, text: str, name: str = "in.yaml") -> Manifests:
    """What is read from a file with this text."""
    path = directory / name
    path.write_text(text)
    return read_manifests([str(path)])


def names(found: Manifests) -> list[str]:
    objects: list[Any] = found.objects
    return [f"{type(item).__name__} {item.metadata.name}" for item in objects]


class TestFormats:
    def test_yaml_documents(self, tmp_path: Path) -> None:
        text = f"{json.dumps(NODE)}\n---\n# a comment\n---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\n"
        assert names(read(tmp_path, text)) == ["Node n1", "Pod p"]

    def test_json(self, tmp_path: Path) -> None:
        assert names(read(tmp_path, json.dumps(NODE))) == ["Node n1"]

    def test_json_values_one_after_another(self, tmp_path: Path) -> None:
        assert names(read(tmp_path, f"{json.dumps(NODE)}\n{json.dumps(POD)} ")) == ["Node n1", "Pod p"]

    def test_json_array(self, tmp_path: Path) -> None:
        assert names(read(tmp_path, json.dumps([NODE, POD]))) == ["Node n1", "Pod p"]

    def test_yaml_in_flow_style(self, tmp_path: Path) -> None:
        text = "{apiVersion: v1, kind: Pod, metadata: {name: p}}"
        assert names(read(tmp_path, text)) == ["Pod p"]

    def test_byte_order_mark(self, tmp_path: Path) -> None:
        assert names(read(tmp_path, f"\ufeff{json.dumps(NODE)}")) == ["Node n1"]

    def test_an_empty_file_has_no_objects(self, tmp_path: Path) -> None:
        assert read(tmp_path, "# nothing\n").objects == []


class TestLists:
    def test_list_of_anything(self, tmp_path: Path) -> None:
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [NODE, POD]})
        assert names(read(tmp_path, text)) == ["Node n1", "Pod p"]

    def test_items_of_a_list_of_one_kind_need_not_say_what_they_are(self, tmp_path: Path) -> None:
        text = json.dumps({"apiVersion": "v1", "kind": "PodList", "items": [{"metadata": {"name": "p"}}]})
        assert names(read(tmp_path, text)) == ["Pod p"]

    @pytest.mark.parametrize("items", [None, []])
    def test_empty_list(self, tmp_path: Path, items: object) -> None:
        found = read(tmp_path, json.dumps({"apiVersion": "v1", "kind": "PodList", "items": items}))
        assert (found.objects, found.skipped.total()) == ([], 0)


class TestSources:
    def test_directory_without_what_lies_below(self, tmp_path: Path) -> None:
        (tmp_path / "b.json").write_text(json.dumps(POD))
        (tmp_path / "a.yml").write_text(json.dumps(NODE))
        (tmp_path / "notes.txt").write_text("not a manifest: [")
        (tmp_path / "below").mkdir()
        (tmp_path / "below" / "c.yaml").write_text("not a manifest: [")
        assert names(read_manifests([str(tmp_path)])) == ["Node n1", "Pod p"]

    def test_standard_input(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(NODE).encode())))
        assert names(read_manifests(["-"])) == ["Node n1"]

    def test_order_is_that_of_the_paths(self, tmp_path: Path) -> None:
        (tmp_path / "a.yaml").write_text(json.dumps(NODE))
        (tmp_path / "b.yaml").write_text(json.dumps(POD))
        assert names(read_manifests([str(tmp_path / "b.yaml"), str(tmp_path / "a.yaml")])) == ["Pod p", "Node n1"]


class TestKinds:
    def test_a_configuration_is_set_apart(self, tmp_path: Path) -> None:
        found = read(tmp_path, f"{json.dumps(CONFIG)}\n---\n{json.dumps(NODE)}")
        assert found.config == (f"{tmp_path}/in.yaml, document 1 (line 1)", CONFIG)
        assert names(found) == ["Node n1"]

    def test_kinds_that_scheduling_does_not_read_are_counted(self, tmp_path: Path) -> None:
        deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}}
        found = read(tmp_path, json.dumps([deployment, deployment, NODE]))
        assert dict(found.skipped) == {"Deployment": 2}

    def test_the_defaults_of_an_api_server_are_there(self, tmp_path: Path) -> None:
        found = read(tmp_path, json.dumps([NODE, POD]))
        node, pod = found.objects
        assert node.status.allocatable == {"cpu": "4"}  # type: ignore[attr-defined]
        assert pod.spec.scheduler_name == "default-scheduler"  # type: ignore[attr-defined]

    def test_where_an_object_was_read(self, tmp_path: Path) -> None:
        found = read(tmp_path, json.dumps([POD]))
        (pod,) = found.objects
        assert found.place_of(pod) == f"{tmp_path}/in.yaml, item 0"
        assert Manifests().place_of(pod) == ""


class TestErrors:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("a: [", "in.yaml, line 2, column 1: "),
            ("just text", "in.yaml, document 1 (line 1): not a Kubernetes object but a text"),
            ("--- 3\n", "in.yaml, document 1 (line 1): not a Kubernetes object but a number"),
            ("[{}]", "in.yaml, item 0: apiVersion: missing"),
            ("kind: Pod", "in.yaml, document 1 (line 1): apiVersion: missing; every object needs one"),
            ("{apiVersion: v1, kind: 1}", "in.yaml, document 1 (line 1): kind: not a name"),
            ("\n\n---\napiVersion: v1\nkind: Pod\n", "in.yaml, document 1 (line 4): Pod: metadata.name: missing"),
            (
                "{apiVersion: v1, kind: Pod, metadata: {name: n}}",
                "Pod: metadata.name: Expected `str`, got `bool`; put it in",
            ),
            (
                "{apiVersion: v1, kind: Pod, metadata: {name: 0}}",
                "Pod: metadata.name: Expected `str`, got `int`; put it in",
            ),
            ("{apiVersion: v1, kind: List, items: [1]}", "items[0]: not a Kubernetes object but a number"),
        ],
    )
    def test_what_is_no_object(self, tmp_path: Path, text: str, message: str) -> None:
        with pytest.raises(ManifestError) as caught:
            read(tmp_path, text)
        assert message in str(caught.value)

    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            ("spec: {priority: high}", "Pod web: spec.priority: Expected `int | null`, got `str`"),
            ("spec: {containers: [{name: 1}]}", "Pod web: spec.containers[0].name: Expected `str`, got `int`"),
            ("spec: {nodeSelector: {ssd: true}}", "Pod web: spec.nodeSelector[ssd]: Expected `str`, got `bool`"),
            ("spec: {nodeSelector: {cores: 8}}", "Pod web: spec.nodeSelector[cores]: Expected `str`, got `int`"),
            ("spec: {hostNetwork: 'no'}", "Pod web: spec.hostNetwork: Expected `bool`, got `str`"),
            (
                "spec: {containers: [{name: a, resources: {requests: {cpu: lots}}}]}",
                "Pod web: spec.containers[0].resources.requests.cpu: quantities must match the regular expression",
            ),
            (
                "spec: {containers: [{name: a, resources: {requests: {cpu: yes}}}]}",
                "Pod web: spec.containers[0].resources.requests",
            ),
        ],
    )
    def test_a_wrong_field_is_named(self, tmp_path: Path, fields: str, message: str) -> None:
        with pytest.raises(ManifestError) as caught:
            read(tmp_path, f"apiVersion: v1\nkind: Pod\nmetadata: {{name: web}}\n{fields}\n")
        assert f"{tmp_path}/in.yaml, document 1 (line 1): {message}" in str(caught.value)

    def test_an_object_may_be_there_once_only(self, tmp_path: Path) -> None:
        second = {**POD, "metadata": {"name": "p", "namespace": "default"}}
        with pytest.raises(ManifestError, match=r"item 1: Pod default/p is there twice; it is in .*item 0 as well"):
            read(tmp_path, json.dumps([POD, second]))

    def test_two_configurations(self, tmp_path: Path) -> None:
        with pytest.raises(ManifestError, match="a second KubeSchedulerConfiguration; the first is in"):
            read(tmp_path, json.dumps([CONFIG, CONFIG]))

    def test_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(ManifestError, match=r"nowhere\.yaml: No such file or directory"):
            read_manifests([str(tmp_path / "nowhere.yaml")])

    def test_directory_without_manifests(self, tmp_path: Path) -> None:
        with pytest.raises(ManifestError, match=r"no \.yaml, \.yml, \.json files in this directory"):
            read_manifests([str(tmp_path)])

    def test_bytes_that_are_no_text(self, tmp_path: Path) -> None:
        (tmp_path / "in.yaml").write_bytes(b"a: \xff")
        with pytest.raises(ManifestError, match=r"in\.yaml: not UTF-8 text: invalid start byte at byte 3"):
            read_manifests([str(tmp_path / "in.yaml")])


class TestQuantities:
    """Unquoted numbers are quantities, as they are for kubectl."""

    @pytest.mark.parametrize(
        ("text", "quantity"),
        [("1", "1"), ("0.5", "500m"), ("1e3", "1000"), ("0100", "64"), ("1_000", "1000"), ("2.0", "2"), ("null", "0")],
    )
    def test_number(self, tmp_path: Path, text: str, quantity: str) -> None:
        pod = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {{overhead: {{cpu: {text}}}}}\n"
        (found,) = read(tmp_path, pod).objects
        assert milli_value(found.spec.overhead["cpu"]) == milli_value(quantity)  # type: ignore[attr-defined]
