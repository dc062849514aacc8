"""Reviews against a stand-in for the API server: what is asked, what is made of answers, how long they hold."""

from __future__ import annotations

import asyncio

import pytest

from scheduler.server.identity import AuthenticationError, AuthorizationError, Decision, User
from scheduler.server.reviews import KubernetesReviews, TtlCache, client_ca_of_cluster

ALICE = User("alice", ("a", "b"), "1", {"scope": ("x",)})
AUTHENTICATED = {
    "status": {
        "authenticated": True,
        "user": {"username": "alice", "uid": "1", "groups": ["a", "b"], "extra": {"scope": ["x"]}},
    }
}


class Server:
    """Gives the same answer to every review; raises it if it is an exception."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = []
        self.now = 0.0

    async def post(self, path, body):
        self.asked.append((path, body))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def reviews(self, **options):
        return KubernetesReviews(self.post, clock=lambda: self.now, **options)


class TestTokens:
    async def test_request_and_user(self):
        server = Server(AUTHENTICATED)
        assert await server.reviews().review_token("t") == ALICE
        assert server.asked == [
            (
                "/apis/authentication.k8s.io/v1/tokenreviews",
                {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": "t"}},
            )
        ]

    async def test_user_without_groups(self):
        server = Server({"status": {"authenticated": True, "user": {"username": "a", "groups": None}}})
        assert await server.reviews().review_token("t") == User("a")

    @pytest.mark.parametrize("answer", [{}, {"status": {}}, {"status": {"authenticated": False, "error": "old"}}])
    async def test_not_authenticated(self, answer):
        assert await Server(answer).reviews().review_token("t") is None

    @pytest.mark.parametrize(
        "answer", [OSError("refused"), None, [], {"status": 1}, {"status": {"authenticated": "yes"}}]
    )
    async def test_no_answer_or_a_strange_one_is_an_error_and_not_kept(self, answer):
        server = Server(answer)
        reviews = server.reviews()
        for _ in range(2):
            with pytest.raises(AuthenticationError, match="token review failed"):
                await reviews.review_token("t")
        assert len(server.asked) == 2

    @pytest.mark.parametrize("answer", [AUTHENTICATED, {"status": {}}])
    async def test_answers_hold_for_their_time(self, answer):
        server = Server(answer)
        reviews = server.reviews(token_ttl=10)
        await reviews.review_token("t")
        server.now = 9.9
        await reviews.review_token("t")
        assert len(server.asked) == 1
        server.now = 10.0
        await reviews.review_token("t")
        await reviews.review_token("other")
        assert len(server.asked) == 3

    async def test_slow_answer_is_given_up(self):
        async def post(path, body):
            await asyncio.Event().wait()

        with pytest.raises(AuthenticationError, match="TimeoutError"):
            await KubernetesReviews(post, timeout=0.01).review_token("t")

    async def test_no_more_reviews_run_at_a_time_than_allowed(self):
        running = []
        release = asyncio.Event()

        async def post(path, body):
            running.append(path)
            await release.wait()
            return {}

        reviews = KubernetesReviews(post, in_flight=2)
        asked = [asyncio.create_task(reviews.review_token(str(i))) for i in range(5)]
        await asyncio.sleep(0.01)
        assert len(running) == 2
        release.set()
        assert await asyncio.gather(*asked) == [None] * 5


class TestAccess:
    async def test_request_and_decision(self):
        server = Server({"status": {"allowed": True, "reason": "RBAC: allowed"}})
        assert await server.reviews().authorize(ALICE, "get", "/metrics") == Decision(True, "RBAC: allowed")
        assert server.asked == [
            (
                "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                {
                    "apiVersion": "authorization.k8s.io/v1",
                    "kind": "SubjectAccessReview",
                    "spec": {
                        "user": "alice",
                        "groups": ["a", "b"],
                        "uid": "1",
                        "extra": {"scope": ["x"]},
                        "nonResourceAttributes": {"path": "/metrics", "verb": "get"},
                    },
                },
            )
        ]

    @pytest.mark.parametrize("answer", [{}, {"status": {}}, {"status": {"denied": True}}])
    async def test_anything_but_allowed_is_no(self, answer):
        assert not (await Server(answer).reviews().authorize(ALICE, "get", "/metrics")).allowed

    @pytest.mark.parametrize(
        "answer",
        [OSError("refused"), None, {"status": {"allowed": "yes"}}, {"status": {"allowed": True, "denied": True}}],
    )
    async def test_no_answer_or_a_strange_one_is_an_error(self, answer):
        with pytest.raises(AuthorizationError, match="access review failed"):
            await Server(answer).reviews().authorize(ALICE, "get", "/metrics")

    @pytest.mark.parametrize(("allowed", "ttl"), [(True, 20), (False, 5)])
    async def test_yes_and_no_hold_for_times_of_their_own(self, allowed, ttl):
        server = Server({"status": {"allowed": allowed}})
        reviews = server.reviews(authorized_ttl=20, unauthorized_ttl=5)
        await reviews.authorize(ALICE, "get", "/metrics")
        server.now = ttl - 0.1
        await reviews.authorize(ALICE, "get", "/metrics")
        assert len(server.asked) == 1
        server.now = ttl
        await reviews.authorize(ALICE, "get", "/metrics")
        assert len(server.asked) == 2

    @pytest.mark.parametrize(
        "other",
        [
            (User("bob", ALICE.groups, ALICE.uid, ALICE.extra), "get", "/metrics"),
            (User("alice", ("a",), ALICE.uid, ALICE.extra), "get", "/metrics"),
            (User("alice", ALICE.groups, "2", ALICE.extra), "get", "/metrics"),
            (User("alice", ALICE.groups, ALICE.uid), "get", "/metrics"),
            (ALICE, "post", "/metrics"),
            (ALICE, "get", "/configz"),
        ],
    )
    async def test_answer_holds_for_the_very_question_only(self, other):
        server = Server({"status": {"allowed": True}})
        reviews = server.reviews()
        await reviews.authorize(ALICE, "get", "/metrics")
        await reviews.authorize(*other)
        assert len(server.asked) == 2


class TestClientCA:
    PATH = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"

    @pytest.mark.parametrize(
        ("config_map", "authorities"),
        [({"data": {"client-ca-file": "PEM"}}, "PEM"), ({"data": {}}, ""), ({"data": None}, ""), ({}, "")],
    )
    async def test_is_read_from_the_config_map(self, config_map, authorities):
        async def get(path):
            assert path == self.PATH
            return config_map

        assert await client_ca_of_cluster(get)() == authorities


class TestTtlCache:
    def test_oldest_makes_room(self):
        cache = TtlCache(size=2, clock=lambda: 0.0)
        for key in "abc":
            cache.put(key, key.upper(), 1)
        assert [cache.get(key) for key in "abc"] == [None, "B", "C"]

    def test_time_of_zero_keeps_nothing(self):
        cache = TtlCache(clock=lambda: 0.0)
        cache.put("a", "A", 0)
        assert cache.get("a") is None
