from __future__ import annotations

import msgspec
import pytest

from scheduler.api.objects import ObjectMeta, Pod, PodSpec
from scheduler.client.informer import Informer, KeepPolicy
from scheduler.client.kinds import PODS


def pod(name, version, uid=""):
    meta = ObjectMeta(namespace="ns", name=name, uid=uid or f"uid-{name}", resource_version=str(version))
    return Pod(metadata=meta)


def short(obj):
    return obj and f"{obj.metadata.name}{obj.metadata.resource_version}"


def informer_with_log(keep=KeepPolicy.WHOLE):
    informer, log = Informer(PODS, keep), []
    informer.add_handler(lambda old, new: log.append((short(old), short(new))))
    return informer, log


def test_handlers_hear_of_coming_changing_and_going():
    informer, log = informer_with_log()
    informer.upsert(pod("a", 1))
    informer.upsert(pod("a", 2))
    informer.remove(("ns", "a"), pod("a", 3))
    assert log == [(None, "a1"), ("a1", "a2"), ("a2", None)]
    assert len(informer) == 0


def test_the_same_version_again_is_no_news():
    informer, log = informer_with_log()
    informer.upsert(pod("a", 1))
    informer.upsert(pod("a", 1))
    assert log == [(None, "a1")]


def test_another_object_of_the_same_name_is_a_going_and_a_coming():
    informer, log = informer_with_log()
    informer.upsert(pod("a", 1))
    informer.upsert(pod("a", 5, uid="another"))
    assert log == [(None, "a1"), ("a1", None), (None, "a5")]
    assert informer.uid("ns", "a") == "another"


def test_going_of_what_was_never_there_is_no_news():
    informer, log = informer_with_log()
    informer.remove(("ns", "a"))
    assert log == []


def test_a_full_list_removes_what_it_lacks():
    informer, log = informer_with_log()
    for name in "abc":
        informer.upsert(pod(name, 1))
    del log[:]
    informer.begin_replace()
    informer.upsert(pod("a", 1))
    informer.mark_seen(("ns", "b"))
    assert not informer.has_synced
    informer.end_replace()
    assert informer.has_synced
    assert log == [("c1", None)]
    assert sorted(informer.keys()) == [("ns", "a"), ("ns", "b")]


def test_a_list_that_was_given_up_removes_nothing():
    informer, _ = informer_with_log()
    informer.upsert(pod("a", 1))
    informer.begin_replace()
    informer.begin_replace()
    informer.upsert(pod("a", 1))
    informer.end_replace()
    assert ("ns", "a") in informer


def test_a_late_handler_hears_first_of_what_is_there():
    informer, _ = informer_with_log()
    informer.upsert(pod("a", 1))
    late = []
    informer.add_handler(lambda old, new: late.append((short(old), short(new))))
    informer.upsert(pod("a", 2))
    assert late == [(None, "a1"), ("a1", "a2")]


class TestIndexOnly:
    def test_objects_are_let_go_and_changes_come_without_the_old_state(self):
        informer, log = informer_with_log(KeepPolicy.INDEX)
        informer.upsert(pod("a", 1))
        informer.upsert(pod("a", 2))
        assert log == [(None, "a1"), (None, "a2")]
        assert informer.get("ns", "a") is None
        assert list(informer.objects()) == []
        assert informer.uid("ns", "a") == "uid-a"

    def test_a_going_that_was_seen_brings_the_last_state(self):
        informer, log = informer_with_log(KeepPolicy.INDEX)
        informer.upsert(pod("a", 1))
        informer.remove(("ns", "a"), pod("a", 3))
        assert log[-1] == ("a3", None)

    def test_a_going_that_was_not_seen_brings_name_uid_and_version(self):
        informer, _ = informer_with_log(KeepPolicy.INDEX)
        gone = []
        informer.add_handler(lambda old, new: gone.append(old) if new is None else None)
        informer.upsert(pod("a", 1))
        informer.upsert(pod("a", 9, uid="another"))
        assert gone == [Pod(metadata=pod("a", 1).metadata)]

    def test_a_handler_that_comes_too_late_is_refused(self):
        informer, _ = informer_with_log(KeepPolicy.INDEX)
        informer.upsert(pod("a", 1))
        with pytest.raises(ValueError, match="a handler for pods was added after objects had been let go"):
            informer.add_handler(lambda old, new: None)


class TestWholeObjects:
    def raw(self, name, extra):
        return msgspec.Raw(
            msgspec.json.encode({"kind": "Pod", "metadata": {"name": name, "managedFields": []}, "spec": extra})
        )

    def kept(self, keep=KeepPolicy.INDEX):
        informer, _ = informer_with_log(keep)
        informer.keep_whole(lambda pod: not pod.spec.node_name, leave_out=["managedFields"])
        return informer

    def test_are_not_kept_unless_somebody_wants_them(self):
        informer, _ = informer_with_log()
        informer.upsert(pod("a", 1), self.raw("a", {}))
        assert informer.whole("ns", "a") is None

    def test_are_kept_to_the_letter_for_as_long_as_they_are_wanted(self):
        informer = self.kept()
        informer.upsert(pod("a", 1), self.raw("a", {"unknown": 1}))
        assert informer.whole("ns", "a") == b'{"metadata":{"name":"a"},"spec":{"unknown":1}}'
        bound = msgspec.structs.replace(pod("a", 2), spec=PodSpec(node_name="node"))
        informer.upsert(bound, self.raw("a", {}))
        assert informer.whole("ns", "a") is None

    def test_go_with_the_object(self):
        informer = self.kept()
        informer.upsert(pod("a", 1), self.raw("a", {}))
        informer.remove(("ns", "a"))
        assert informer.whole("ns", "a") is None

    def test_are_made_of_the_struct_where_there_is_no_json(self):
        informer = self.kept()
        informer.upsert(pod("a", 1))
        assert msgspec.json.decode(informer.whole("ns", "a"))["metadata"]["name"] == "a"

    def test_are_there_when_handlers_are_called(self):
        informer = self.kept()
        seen = []
        informer.add_handler(lambda _, new: seen.append(informer.whole("ns", new.metadata.name)))
        informer.upsert(pod("a", 1), self.raw("a", {}))
        assert seen == [b'{"metadata":{"name":"a"},"spec":{}}']

    def test_are_kept_for_anyone_who_wants_them(self):
        informer = self.kept()
        informer.keep_whole(lambda _: True)
        informer.upsert(msgspec.structs.replace(pod("a", 2), spec=PodSpec(node_name="node")), self.raw("a", {}))
        assert informer.whole("ns", "a") is not None

    def test_can_not_be_had_of_objects_that_came_before(self):
        informer, _ = informer_with_log(KeepPolicy.INDEX)
        informer.upsert(pod("a", 1))
        with pytest.raises(ValueError, match="whole pods were asked for after objects had been let go"):
            informer.keep_whole(lambda _: True)
