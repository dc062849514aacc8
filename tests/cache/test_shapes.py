"""What pods of one template share."""

from __future__ import annotations

import gc

import msgspec
import pytest

from scheduler.api.objects import ContainerStatus, PodCondition, PodStatus
from scheduler.cache.shapes import ShapeTable, host_ports
from tests.builders import expression, pod, pod_term, term


def key_of(built):
    """What identifies the shape of a pod."""
    return ShapeTable().shape(built).key


BASE = pod("a").label(app="web", tier="front").cpu("100m")


@pytest.mark.parametrize(
    ("what", "other"),
    [
        ("name and uid", pod("b").label(app="web", tier="front").cpu("100m")),
        ("node", BASE.on("n")),
        ("nomination", BASE.nominated("n")),
        ("priority", BASE.priority(7)),
        ("end", BASE.terminating()),
        ("status", BASE.condition("PodScheduled", "False")),
    ],
)
def test_pods_that_differ_in_nothing_but_this_share_a_shape(what, other):
    assert key_of(BASE.build()) == key_of(other.build())


@pytest.mark.parametrize(
    ("what", "other"),
    [
        ("namespace", BASE.namespace("other")),
        ("labels", BASE.label(app="db")),
        ("requests", BASE.cpu("200m")),
        ("image", BASE.image("other:1")),
        ("tolerations", BASE.tolerates("gpu")),
        ("node selector", BASE.node_selector(disk="ssd")),
        ("affinity", BASE.requires_pods(pod_term("zone", {"app": "web"}))),
        ("spread", BASE.spreads("zone")),
        ("ports", BASE.host_port(80)),
        ("owner", BASE.owned_by("ReplicaSet", "r")),
        ("gates", BASE.gate("g")),
    ],
)
def test_pods_that_scheduling_tells_apart_have_shapes_of_their_own(what, other):
    assert key_of(BASE.build()) != key_of(other.build())


def test_the_token_that_each_pod_mounts_under_a_name_of_its_own_does_not_tell_pods_apart():
    def with_token(name):
        token = pod("a").volume(name, projected={"sources": [{"serviceAccountToken": {"path": "token"}}]})
        return token.no_containers().container(volumeMounts=[{"name": name, "mountPath": "/var/run/secrets"}]).build()

    assert key_of(with_token("kube-api-access-2x7kq")) == key_of(with_token("kube-api-access-9wz4m"))


def test_a_shape_lives_as_long_as_someone_holds_it():
    shapes = ShapeTable()
    first = shapes.shape(BASE.build())
    first.memo["x"] = 1
    assert shapes.shape(BASE.build()) is first
    del first
    gc.collect()
    assert len(shapes) == 0
    assert shapes.shape(BASE.build()).memo == {}


def named(name, *requirements):
    """A pod that is pinned to a node, and wants other things of it."""
    return BASE.requires_node(term(*requirements, fields=[expression("metadata.name", "In", name)]))


class TestPinned:
    def test_what_pods_of_a_daemon_set_have_in_common_is_there_once(self):
        shapes = ShapeTable()
        one, other = shapes.shape(named("n1").build()), shapes.shape(named("n2").build())
        assert one is not other
        assert one.key != other.key
        assert len(shapes) == 1
        assert one.template is other.template
        assert (one.usage, one.terms, one.label_class) == (other.usage, other.terms, other.label_class)
        assert one.common is other.common
        assert one.memo is not other.memo

    def test_those_of_one_node_share_a_shape(self):
        shapes = ShapeTable()
        assert shapes.shape(named("n1").build()) is shapes.shape(named("n1").build())

    @pytest.mark.parametrize("requirements", [(), (expression("disk", "In", "ssd"),)])
    def test_each_tells_where_it_is_pinned_to(self, requirements):
        shapes = ShapeTable()
        for name in ("n1", "n2"):
            built = named(name, *requirements).build()
            assert shapes.shape(built).pod.spec.affinity == built.spec.affinity

    def test_other_templates_are_told_apart(self):
        shapes = ShapeTable()
        plain, selective = named("n1"), named("n1", expression("disk", "In", "ssd"))
        assert shapes.shape(plain.build()).template is not shapes.shape(selective.build()).template
        assert shapes.shape(plain.build()).template is not shapes.shape(plain.label(app="db").build()).template

    def test_one_that_wants_the_same_of_any_node_has_memos_of_its_own(self):
        shapes = ShapeTable()
        anywhere = shapes.shape(BASE.requires_node(term(expression("disk", "In", "ssd"))).build())
        pinned = shapes.shape(named("n1", expression("disk", "In", "ssd")).build())
        assert anywhere is not pinned
        assert pinned.memo is not anywhere.memo

    def test_where_spreading_goes_by_the_affinity_all_is_its_own(self):
        shapes = ShapeTable()
        one, other = (shapes.shape(named(name).spreads("zone").build()) for name in ("n1", "n2"))
        assert one.common is not other.common

    def test_it_lives_as_long_as_someone_holds_it(self):
        shapes = ShapeTable()
        one, other = shapes.shape(named("n1").build()), shapes.shape(named("n2").build())
        one.memo["x"] = 1
        gc.disable()
        try:
            del one
            assert shapes.shape(named("n1").build()).memo == {}
            assert len(shapes) == 1
            del other
            assert len(shapes) == 0
        finally:
            gc.enable()


class TestBodies:
    def test_what_is_the_same_whatever_the_labels_is_there_once(self):
        shapes = ShapeTable()
        first, second = (shapes.shape(BASE.label(index=str(index)).build()) for index in (1, 2))
        assert first is not second
        assert first.key != second.key
        assert first.body is second.body
        assert first.common is second.common
        assert first.memo is not second.memo
        assert (first.usage, first.terms, first.volumes) == (second.usage, second.terms, second.volumes)

    def test_each_tells_its_own_labels(self):
        shapes = ShapeTable()
        for index in ("1", "2"):
            shape = shapes.shape(BASE.label(index=index).build())
            assert shape.labels == shape.pod.metadata.labels == {"app": "web", "tier": "front", "index": index}

    def test_pods_that_differ_in_more_have_bodies_of_their_own(self):
        shapes = ShapeTable()
        one, other = shapes.shape(BASE.build()), shapes.shape(BASE.label(index="1").cpu("2").build())
        assert one.body is not other.body

    def test_pods_that_are_pinned_have_one_of_their_template(self):
        shapes = ShapeTable()
        one = shapes.shape(named("n1").build())
        assert one.body is one.template.body is shapes.shape(named("n2").label(index="1").build()).body

    def test_one_lives_as_long_as_a_shape_of_it(self):
        shapes = ShapeTable()
        shape = shapes.shape(BASE.build())
        shape.common["x"] = 1
        other = shapes.shape(BASE.label(index="1").build())
        gc.disable()
        try:
            del shape
            assert other.common == {"x": 1}
            del other
            assert shapes.shape(BASE.build()).common == {}
        finally:
            gc.enable()


def test_label_classes_are_by_namespace_and_labels_in_any_order():
    shapes = ShapeTable()
    one = shapes.label_class("default", {"a": "1", "b": "2"})
    assert shapes.label_class("default", {"b": "2", "a": "1"}) is one
    assert shapes.label_class("other", {"a": "1", "b": "2"}) is not one


def placed():
    """The pod, on a node."""
    plain = BASE.build()
    return msgspec.structs.replace(plain, spec=msgspec.structs.replace(plain.spec, node_name="n"))


RESIZED = PodStatus(container_statuses=(ContainerStatus(name="main", allocated_resources={"cpu": "3"}),))


def test_an_in_place_resize_changes_what_a_pod_takes_but_not_its_shape():
    shapes = ShapeTable()
    plain = placed()
    resized = msgspec.structs.replace(plain, status=RESIZED)
    shape = shapes.shape(plain)
    assert shapes.shape(resized) is shape
    assert shapes.usage(shape, plain) is shape.usage
    assert shapes.usage(shape, resized).requests["cpu"] == 3000


def test_of_a_pod_that_waits_it_makes_a_shape_of_its_own():
    """kube-scheduler scores nodes by it."""
    shapes = ShapeTable()
    plain = BASE.build()
    resized = msgspec.structs.replace(plain, status=RESIZED)
    shape, other = shapes.shape(plain), shapes.shape(resized)
    assert other is not shape
    assert shapes.shape(other.pod) is other
    assert shapes.usage(other, resized) is other.usage
    assert (shape.usage.requests["cpu"] < 3000, other.usage.requests["cpu"]) == (True, 3000)


def test_an_infeasible_resize_leaves_what_the_status_says_also_where_that_is_nothing():
    shapes = ShapeTable()
    plain = placed()
    shape = shapes.shape(plain)

    def taken(*reasons, allocated=()):
        conditions = tuple(PodCondition(type="PodResizePending", reason=reason) for reason in reasons)
        containers = tuple(ContainerStatus(name="main", allocated_resources={"cpu": amount}) for amount in allocated)
        status = PodStatus(conditions=conditions, container_statuses=containers)
        return shapes.usage(shape, msgspec.structs.replace(plain, status=status)).requests.get("cpu", 0)

    wanted = shape.usage.requests["cpu"]
    assert wanted > 1
    assert (taken("Infeasible"), taken("Deferred", "Infeasible")) == (0, wanted)
    assert (taken("Infeasible", allocated=["1m"]), taken("Deferred", allocated=["1m"])) == (1, wanted)


def test_host_ports_of_containers_and_sidecars_count():
    port = {"ports": [{"hostPort": 1, "containerPort": 1}]}
    built = (
        pod("p").host_port(80, "UDP", "10.0.0.1").init_container(**port).init_container(restartPolicy="Always", **port)
    )
    assert host_ports(built.build()) == (("UDP", 80, "10.0.0.1"), ("TCP", 1, "0.0.0.0"))
    assert host_ports(pod("p").container(ports=[{"containerPort": 80}]).build()) == ()
