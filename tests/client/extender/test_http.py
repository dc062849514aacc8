"""An extender over HTTP: what it is sent, when it is asked, and how its answers are taken."""

import json
import ssl
from types import SimpleNamespace

import msgspec
import pytest
import trustme

from scheduler.api.decode import decode_as
from scheduler.api.objects import Node, ObjectMeta, Pod
from scheduler.client.extender.http import HttpExtender
from scheduler.client.extender.interface import CandidateVictims, ExtenderError, HostScore, VictimUIDs
from scheduler.client.informer import KeepPolicy
from scheduler.client.kinds import NODES, PODS
from scheduler.client.memory import MemoryCluster
from scheduler.config.duration import Duration
from scheduler.config.types import Extender, ExtenderManagedResource, ExtenderTLSConfig
from tests.fakes.extender import FakeExtender, keeping, names_of

GPU = "example.com/gpu"


def identity(name):
    return SimpleNamespace(namespace="ns", name=name, uid=f"uid-{name}")


WEB = identity("web")


@pytest.fixture
def server():
    with FakeExtender() as running:
        yield running


@pytest.fixture
def make(server):
    """An extender, and what it reads whole objects from: pods web (pending) and old (on a), nodes a and b."""
    made = []

    def build(*, managed=(), web=None, **config):
        resources = tuple(ExtenderManagedResource(name=name) for name in managed)
        config = {"url_prefix": server.url, "http_timeout": Duration.of_seconds(5), **config}
        extender = HttpExtender(Extender(managed_resources=resources, **config))
        made.append(extender)
        source = MemoryCluster()
        pods, nodes = source.informer(PODS, keep=KeepPolicy.INDEX), source.informer(NODES, keep=KeepPolicy.INDEX)
        extender.read_from(source)
        for name in "ab":
            feed(nodes, Node, name, {"status": {"unknown": name}}, namespace="")
        feed(pods, Pod, "web", web or {"spec": {"containers": [{"unknown": 1}]}})
        feed(pods, Pod, "old", {"spec": {"nodeName": "a"}})
        extender.pods, extender.nodes = pods, nodes
        return extender

    yield build
    for extender in made:
        extender.close()


def feed(informer, type_, name, document, namespace="ns"):
    metadata = {"name": name, "namespace": namespace, "uid": f"uid-{name}", "managedFields": [{}]}
    raw = msgspec.json.encode({"kind": type_.__name__, "apiVersion": "v1", "metadata": metadata, **document})
    informer.upsert(decode_as(type_, msgspec.Raw(raw)), msgspec.Raw(raw))


class TestWhatIsSent:
    def test_names_to_one_that_keeps_nodes_itself(self, make, server):
        server.answers["filter"] = keeping(lambda name: name == "a")
        extender = make(filter_verb="filter", node_cache_capable=True)
        assert extender.filter(WEB, ["a", "b"]).kept == ["a"]
        (request,) = server.requests("filter")
        assert request["NodeNames"] == ["a", "b"]
        assert request["Nodes"] is None

    def test_whole_nodes_to_one_that_does_not(self, make, server):
        server.answers["filter"] = keeping(lambda name: name == "a")
        answer = make(filter_verb="filter").filter(WEB, ["a", "b"])
        assert answer.kept == ["a"]
        assert answer.whole
        (request,) = server.requests("filter")
        assert [node["status"] for node in request["Nodes"]["items"]] == [{"unknown": "a"}, {"unknown": "b"}]
        # client-go leaves managedFields in nodes, and kube-scheduler takes them out of pods.
        assert "managedFields" in request["Nodes"]["items"][0]["metadata"]
        assert request["NodeNames"] is None

    def test_the_pod_as_the_api_server_has_it(self, make, server):
        server.answers["filter"] = keeping(lambda _: True)
        make(filter_verb="filter", node_cache_capable=True).filter(WEB, ["a"])
        assert server.requests("filter")[0]["Pod"] == {
            "metadata": {"name": "web", "namespace": "ns", "uid": "uid-web"},
            "spec": {"containers": [{"unknown": 1}]},
        }

    def test_slashes_at_the_end_of_the_url_do_not_matter(self, make, server):
        server.answers["filter"] = keeping(lambda _: True)
        extender = make(url_prefix=f"{server.url}/base//", filter_verb="filter", node_cache_capable=True)
        assert extender.filter(WEB, ["a"]).kept == ["a"]
        assert extender.name == f"{server.url}/base//"

    def test_a_pod_or_node_that_is_gone_can_not_be_sent(self, make):
        extender = make(filter_verb="filter", prioritize_verb="prioritize")
        with pytest.raises(ExtenderError, match=r'^pod "ns/gone" is gone: it can\'t be sent to extender'):
            extender.filter(identity("gone"), ["a"])
        with pytest.raises(ExtenderError, match=r'^node "c" is gone'):
            extender.prioritize(WEB, ["c"]).result()


class TestWhatIsKept:
    def test_pending_pods_and_no_nodes_where_names_are_sent(self, make):
        extender = make(filter_verb="filter", preempt_verb="preempt", node_cache_capable=True)
        assert extender.pods.whole("ns", "web") is not None
        assert extender.pods.whole("ns", "old") is None
        assert extender.nodes.whole("", "a") is None

    def test_nodes_where_they_are_sent_whole(self, make):
        assert make(filter_verb="filter").nodes.whole("", "a") is not None
        assert make(bind_verb="bind").nodes.whole("", "a") is None

    def test_all_pods_where_victims_are_sent_whole(self, make):
        assert make(preempt_verb="preempt").pods.whole("ns", "old") is not None


class TestInterest:
    def test_one_that_manages_nothing_is_asked_about_all_pods(self, make):
        assert make().interested(identity("gone"))

    @pytest.mark.parametrize(
        ("spec", "expected"),
        [
            ({"containers": [{}, {"resources": {"requests": {GPU: "1"}}}]}, True),
            ({"containers": [{"resources": {"limits": {GPU: "1"}}}]}, True),
            ({"containers": [{}], "initContainers": [{"resources": {"limits": {GPU: "1"}}}]}, True),
            ({"containers": [{"resources": {"requests": {GPU: "0"}}}]}, True),
            ({"containers": [{"resources": {"limits": {GPU: "0"}}}]}, True),
            ({"containers": [{}], "initContainers": [{"resources": {"requests": {GPU: "0"}}}]}, True),
            ({"containers": [{}]}, False),
            ({"containers": [{"resources": {"requests": {"cpu": "1"}}}]}, False),
            ({"containers": None, "initContainers": [{"resources": None}, {"resources": {"limits": None}}]}, False),
            ({}, False),
        ],
    )
    def test_others_are_asked_about_pods_with_a_managed_resource(self, make, spec, expected):
        extender = make(managed=[GPU, "example.com/other"], web={"spec": spec})
        assert extender.interested(WEB) is expected


class TestAnswers:
    def test_a_node_that_was_not_asked_about_fails_the_call(self, make, server):
        server.answers["filter"] = {"NodeNames": ["a", "c"]}
        extender = make(filter_verb="filter", node_cache_capable=True)
        with pytest.raises(ExtenderError) as caught:
            extender.filter(WEB, ["a", "b"])
        assert str(caught.value) == (
            f'extender "{server.url}" claims a filtered node "c" which is not found in the input node list'
        )

    def test_any_status_but_200_is_a_failure(self, make, server):
        server.answers["filter"] = 503
        with pytest.raises(ExtenderError) as caught:
            make(filter_verb="filter", node_cache_capable=True).filter(WEB, ["a"])
        assert str(caught.value) == f"failed filter with extender at URL {server.url}/filter, code 503"

    def test_scores(self, make, server):
        server.answers["rank"] = lambda request: [{"Host": name, "Score": 7} for name in names_of(request)]
        extender = make(prioritize_verb="rank", weight=3)
        assert extender.prioritize(WEB, ["b"]).result() == [HostScore("b", 7)]
        assert extender.weight == 3

    def test_scores_that_are_none_fail_when_they_are_looked_at(self, make, server):
        server.answers["rank"] = {}
        future = make(prioritize_verb="rank").prioritize(WEB, ["b"])
        with pytest.raises(ExtenderError, match="cannot unmarshal object"):
            future.result()

    async def test_bind(self, make, server):
        server.answers["bind"] = {}
        extender = make(bind_verb="bind")
        await extender.bind(WEB, "a")
        assert server.requests("bind") == [{"PodName": "web", "PodNamespace": "ns", "PodUID": "uid-web", "Node": "a"}]
        server.answers["bind"] = {"Error": "shy"}
        with pytest.raises(ExtenderError, match=r"^shy$"):
            await extender.bind(WEB, "a")

    @pytest.mark.parametrize("by_uid", [True, False])
    def test_preempt(self, make, server, by_uid):
        server.answers["preempt"] = {"NodeNameToMetaVictims": {"a": {"Pods": [{"UID": "uid-old"}]}}}
        extender = make(preempt_verb="preempt", node_cache_capable=by_uid)
        chosen = extender.preempt(WEB, {"a": CandidateVictims([identity("old")], 1)})
        assert chosen == {"a": VictimUIDs(["uid-old"], 0)}
        (request,) = server.requests("preempt")
        sent, other = ("NodeNameToMetaVictims", "NodeNameToVictims")[:: 1 if by_uid else -1]
        assert request[other] is None
        assert request[sent]["a"]["NumPDBViolations"] == 1
        (victim,) = request[sent]["a"]["Pods"]
        assert victim == {"UID": "uid-old"} if by_uid else victim["metadata"]["name"] == "old"


def test_objects_of_a_cluster_in_memory_are_sent_as_far_as_they_are_known(server):
    server.answers["filter"] = keeping(lambda _: True)
    cluster = MemoryCluster([Node(metadata=ObjectMeta(name="a"))])
    pod = cluster.put(Pod(metadata=ObjectMeta(name="web", namespace="ns", labels={"app": "web"})))
    extender = HttpExtender(Extender(url_prefix=server.url, filter_verb="filter", http_timeout=Duration.of_seconds(5)))
    cluster.informer(PODS), cluster.informer(NODES)
    extender.read_from(cluster)
    cluster.sync()
    assert extender.filter(WEB, ["a"]).kept == ["a"]
    extender.close()
    sent = json.dumps(server.requests("filter")[0])
    assert json.loads(sent)["Pod"]["metadata"]["labels"] == {"app": "web"}
    assert pod.metadata.uid in sent


def test_the_configured_certificates_are_used_both_ways(make):
    authority = trustme.CA()
    server_tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("extender.example.com").configure_cert(server_tls)
    authority.configure_trust(server_tls)
    server_tls.verify_mode = ssl.CERT_REQUIRED
    client = authority.issue_cert("client.example.com")
    tls = {
        "ca_data": authority.cert_pem.bytes(),
        "cert_data": b"".join(pem.bytes() for pem in client.cert_chain_pems),
        "key_data": client.private_key_pem.bytes(),
        "server_name": "extender.example.com",
    }
    with FakeExtender(tls=server_tls, filter=keeping(lambda _: True)) as secure:
        like = {"url_prefix": secure.url, "enable_https": True, "filter_verb": "filter"}
        assert make(**like, tls_config=ExtenderTLSConfig(**tls)).filter(WEB, ["a"]).kept == ["a"]
        unknown = make(**like, tls_config=ExtenderTLSConfig(**{**tls, "cert_data": b"", "key_data": b""}))
        with pytest.raises(ExtenderError, match=r'^Post "https://127\.0\.0\.1:\d+/filter": '):
            unknown.filter(WEB, ["a"])
