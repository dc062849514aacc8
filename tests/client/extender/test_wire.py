"""The JSON that goes to extenders, and whatever may come back."""

import contextlib
import json
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.client.extender import wire
from scheduler.client.extender.interface import CandidateVictims, ExtenderError, FilterAnswer, HostScore, VictimUIDs

POD = SimpleNamespace(namespace="default", name="web", uid="u1")


class TestRequests:
    def test_nodes_by_name(self):
        body = wire.about_nodes(b'{"metadata":{"name":"web"}}', names=["a", "b"], nodes=None)
        assert json.loads(body) == {"Pod": {"metadata": {"name": "web"}}, "Nodes": None, "NodeNames": ["a", "b"]}

    def test_whole_nodes(self):
        body = wire.about_nodes(b"{}", names=None, nodes=[b'{"metadata":{"name":"a"}}'])
        listed = {"metadata": {}, "items": [{"metadata": {"name": "a"}}]}
        assert json.loads(body) == {"Pod": {}, "Nodes": listed, "NodeNames": None}

    def test_victims_by_uid(self):
        body = wire.about_victims(b"{}", {"a": CandidateVictims([POD], 1)}, None)
        meta = {"a": {"Pods": [{"UID": "u1"}], "NumPDBViolations": 1}}
        assert json.loads(body) == {"Pod": {}, "NodeNameToVictims": None, "NodeNameToMetaVictims": meta}

    def test_victims_of_several_nodes(self):
        pods = [SimpleNamespace(namespace="default", name=f"pod{i}", uid=f"uid{i}") for i in range(4)]
        sent = {"a": CandidateVictims([pods[0], pods[2]], 1), "b": CandidateVictims([pods[1], pods[3]], 2)}
        by_node = json.loads(wire.about_victims(b"{}", sent, None))["NodeNameToMetaVictims"]
        assert by_node == {
            "a": {"Pods": [{"UID": "uid0"}, {"UID": "uid2"}], "NumPDBViolations": 1},
            "b": {"Pods": [{"UID": "uid1"}, {"UID": "uid3"}], "NumPDBViolations": 2},
        }
        answer = json.dumps({"NodeNameToMetaVictims": by_node}).encode()
        expected = {"a": VictimUIDs(["uid0", "uid2"], 1), "b": VictimUIDs(["uid1", "uid3"], 2)}
        assert wire.preemption_answer(answer) == expected

    def test_whole_victims(self):
        body = wire.about_victims(b"{}", {"a": CandidateVictims([POD], 0)}, {"a": [b'{"spec":{}}']})
        victims = {"a": {"Pods": [{"spec": {}}], "NumPDBViolations": 0}}
        assert json.loads(body) == {"Pod": {}, "NodeNameToVictims": victims, "NodeNameToMetaVictims": None}

    def test_binding(self):
        expected = {"PodName": "web", "PodNamespace": "default", "PodUID": "u1", "Node": "a"}
        assert json.loads(wire.binding(POD, "a")) == expected


class TestFilter:
    @pytest.mark.parametrize(
        ("body", "names", "expected"),
        [
            (b'{"NodeNames": ["a"]}', True, FilterAnswer(["a"], {}, {})),
            (b'{"nodenames": ["a"], "failedNodes": {"b": "no"}}', True, FilterAnswer(["a"], {"b": "no"}, {})),
            (b'{"FailedAndUnresolvableNodes": {"b": "no"}}', True, FilterAnswer([], {}, {"b": "no"})),
            (b'{"Nodes": {"items": [{"metadata": {"name": "a"}}]}}', False, FilterAnswer(["a"], {}, {}, whole=True)),
            (b'{"nodes": {"Items": [{"Metadata": {"Name": "a"}}]}}', True, FilterAnswer(["a"], {}, {}, whole=True)),
            (b'{"NodeNames": ["a"], "Nodes": {"items": null}}', False, FilterAnswer([], {}, {}, whole=True)),
            (b'{"NodeNames": ["a"], "Nodes": {"items": null}}', True, FilterAnswer(["a"], {}, {})),
            (b'{"NodeNames": ["a"]}', False, FilterAnswer([], {}, {})),
            (b'{"Nodes": {"items": [null, {}]}}', False, FilterAnswer(["", ""], {}, {}, whole=True)),
            (b"null", True, FilterAnswer([], {}, {})),
            (b' {"NodeNames": [null]} and more', True, FilterAnswer([""], {}, {})),
            (b'{"FailedNodes": {"b": null}, "Error": ""}', True, FilterAnswer([], {"b": ""}, {})),
        ],
    )
    def test_what_passes_and_what_does_not(self, body, names, expected):
        assert wire.filter_answer(body, names=names) == expected

    @pytest.mark.parametrize(
        ("body", "problem"),
        [
            (b'{"Error": "out of order", "NodeNames": ["a"]}', "out of order"),
            (b"", "EOF"),
            (b'{"NodeNames": [', "unexpected EOF"),
            (b'{"NodeNames": ["a', "unexpected EOF"),
            (b"<html>", "invalid character '<' looking for beginning of value"),
            (b"NaN", "invalid character 'N' looking for beginning of value"),
            (b"[]", "json: cannot unmarshal array into Go value of type v1.ExtenderFilterResult"),
            (
                b'{"NodeNames": "a"}',
                "json: cannot unmarshal string into Go struct field ExtenderFilterResult.NodeNames of type []string",
            ),
            (
                b'{"FailedNodes": {"a": 1}}',
                "json: cannot unmarshal number into Go struct field ExtenderFilterResult.FailedNodes of type string",
            ),
        ],
    )
    def test_failures(self, body, problem):
        with pytest.raises(ExtenderError) as caught:
            wire.filter_answer(body, names=True)
        assert str(caught.value) == problem


class TestOthers:
    @pytest.mark.parametrize(
        ("body", "expected"),
        [
            (b'[{"Host": "a", "Score": 3}, {"host": "b", "score": -1}]', [HostScore("a", 3), HostScore("b", -1)]),
            (b"[null, {}]", [HostScore("", 0), HostScore("", 0)]),
            (b"null", []),
        ],
    )
    def test_scores(self, body, expected):
        assert wire.priority_answer(body) == expected

    @pytest.mark.parametrize(
        "body", [b"{}", b'[{"Score": 1.5}]', b'[{"Score": true}]', b'[{"Score": 9223372036854775808}]']
    )
    def test_what_are_no_scores(self, body):
        with pytest.raises(ExtenderError, match=r"^json: cannot unmarshal"):
            wire.priority_answer(body)

    def test_a_bind_succeeds_unless_there_is_an_error(self):
        wire.bind_answer(b"{}")
        with pytest.raises(ExtenderError, match=r"^shy$"):
            wire.bind_answer(b'{"error": "shy"}')

    def test_victims(self):
        body = b'{"NodeNameToMetaVictims": {"a": {"Pods": [{"UID": "u"}], "NumPDBViolations": 2}, "b": null}}'
        assert wire.preemption_answer(body) == {"a": VictimUIDs(["u"], 2), "b": VictimUIDs([], 0)}
        assert wire.preemption_answer(b"{}") == {}


@pytest.mark.parametrize(
    "read",
    [
        lambda body: wire.filter_answer(body, names=True),
        lambda body: wire.filter_answer(body, names=False),
        wire.priority_answer,
        wire.bind_answer,
        wire.preemption_answer,
    ],
)
class TestHostileAnswers:
    @given(body=st.binary(max_size=60))
    def test_bytes(self, read, body):
        self._refused_or_read(read, body)

    @given(
        value=st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(["Nodes", "items", "NodeNames", "metadata", "name", "Error", "FailedNodes"])
                    | st.sampled_from(["NodeNameToMetaVictims", "Pods", "UID", "Host", "Score"]),
                    inner,
                    max_size=4,
                )
            ),
            max_leaves=12,
        )
    )
    def test_values(self, read, value):
        self._refused_or_read(read, json.dumps(value).encode())

    def test_depth_and_size(self, read):
        for body in (b"[" * 100_000, b"9" * 10_000, b'{"Nodes":' * 50_000):
            self._refused_or_read(read, body)

    def _refused_or_read(self, read, body):
        with contextlib.suppress(ExtenderError):
            read(body)
