"""Pods as compact records."""

from __future__ import annotations

from scheduler.cache.pods import NO_ROW, PodTable
from tests.builders import info, node, pod, state


def test_a_record_has_what_differs_between_pods_of_a_template():
    built = pod("p").on("n").nominated("m").priority(7).scheduler("berth").terminating().gate("g")
    record = info(built.set("metadata.creationTimestamp", "1970-01-01T00:01:00Z").condition("PodScheduled", "False"))
    assert (record.key, record.node_name, record.nominated_node_name) == ("default/p", "n", "m")
    assert (record.priority, record.scheduler_name, record.terminating) == (7, "berth", True)
    assert (record.created, record.gates, record.scheduled_condition.status) == (60.0, ("g",), "False")


def test_only_a_preemption_by_a_scheduler_counts_as_one():
    assert info(pod("p").condition("DisruptionTarget", "True", "PreemptionByScheduler")).preempted
    assert not info(pod("p").condition("DisruptionTarget", "True", "EvictionByEvictionAPI")).preempted


def test_of_several_conditions_of_a_type_the_first_counts():
    twice = (
        pod("p")
        .condition("PodScheduled", "False")
        .condition("PodScheduled", "True")
        .condition("DisruptionTarget", "True", "EvictionByEvictionAPI")
        .condition("DisruptionTarget", "True", "PreemptionByScheduler")
    )
    record = info(twice)
    assert (record.scheduled_condition.status, record.preempted) == ("False", False)


def test_the_order_of_conditions_is_kept_in_one_tuple_for_all_pods_that_have_it():
    one, other = (info(pod(name).condition("Ready", "True").condition("PodScheduled", "True")) for name in "ab")
    assert one.condition_types == ("Ready", "PodScheduled")
    assert one.condition_types is other.condition_types


def test_a_pod_without_priority_has_priority_zero():
    assert info(pod("p")).priority == 0


def test_a_placed_record_is_another_one_of_the_same_shape():
    record = info(pod("p"))
    placed = record.on("n")
    assert (placed.node_name, record.node_name, placed.row) == ("n", "", NO_ROW)
    assert placed.shape is record.shape


def test_the_table_finds_pods_by_uid_and_by_node():
    table = PodTable()
    records = [info(pod(name).on(on)) for name, on in (("a", "n"), ("b", "m"), ("c", "n"))]
    for record in records:
        table.add(record)
    assert table.get(records[1].uid) is records[1]
    assert table.on_node("n") == [records[0], records[2]]
    table.remove(records[0])
    assert (table.on_node("n"), len(table), list(table)) == ([records[2]], 2, records[1:])
    assert (table.get(records[0].uid), table.on_node("unknown")) == (None, [])


class TestOrder:
    """Of pods on one node, as kube-scheduler's lists have it."""

    def filled(self, names="abcd"):
        table = PodTable()
        records = {name: info(pod(name).on("n")) for name in names}
        for record in records.values():
            table.add(record)
        return table, records

    def order(self, table):
        return "".join(record.name for record in table.on_node("n"))

    def test_new_ones_come_last(self):
        table, _ = self.filled()
        table.add(info(pod("e").on("n")))
        assert self.order(table) == "abcde"

    def test_the_last_takes_the_place_of_one_that_goes(self):
        table, records = self.filled()
        table.remove(records["b"])
        assert self.order(table) == "adc"
        table.remove(records["d"])
        assert self.order(table) == "ac"
        table.remove(records["c"])
        assert self.order(table) == "a"

    def test_one_that_changes_becomes_the_last(self):
        table, records = self.filled()
        table.remove(records["a"])
        table.add(records["a"])
        assert self.order(table) == "dbca"

    def test_an_order_can_be_brought_back(self):
        table, records = self.filled()
        before = table.on_node("n")
        for name in "ca":
            table.remove(records[name])
            table.add(records[name])
        table.arrange("n", before)
        assert self.order(table) == "abcd"
        table.remove(records["b"])
        assert self.order(table) == "adc"

    def test_no_order_of_no_pods(self):
        table = PodTable()
        table.arrange("n", [])
        assert table.on_node("n") == []


def test_whoever_follows_is_told_of_the_nodes_whose_pods_change():
    cluster = state([node("a"), node("b")], [pod("p").on("a"), pod("q").on("b")])
    touched, others = cluster.pods.follow(), cluster.pods.follow()
    assert touched == set()
    cluster.set_pod(info(pod("p").on("a").cpu("1"), cluster))
    assert touched == {"a"}
    touched.clear()
    cluster.remove_pod(info(pod("q")).uid)
    assert (touched, others) == ({"b"}, {"a", "b"})
    with cluster.what_if() as trial:
        touched.clear()
        trial.add(info(pod("r"), cluster), "a")
    assert touched == {"a"}


def test_those_of_some_pods_that_are_assigned():
    cluster = state([node("a")], [pod("p").on("a")])
    p, q = info(pod("p")).uid, info(pod("q")).uid
    assert cluster.pods.among({p, q}) == {p}
