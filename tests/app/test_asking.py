"""The decisions API as its clients see it: the paths asked for, and what is made of answers and refusals."""

from __future__ import annotations

import asyncio
import gzip
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from scheduler.app.asking import Asking, RefusedError
from scheduler.app.reach import ReachError
from scheduler.client.answers import Answer
from scheduler.explain.comparison import contrast
from scheduler.explain.views import Evaluation, WhyNot
from tests.fakes.decisions import DECISION, NOW, REFUSAL, WEB, FakeDecisions

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

known = FakeDecisions()


class Requests:
    """A scheduler that gives one answer to everything, and notes what it was asked."""

    def __init__(self, content: Any, status: int = 200) -> None:
        self.asked: list[str] = []
        self.answer = Answer(status, content if isinstance(content, bytes) else msgspec.json.encode(content))

    async def get(self, path: str, *, known: str = "") -> Answer:
        self.asked.append(path)
        return self.answer


def refusal(code: str, error: str = "no") -> dict[str, str]:
    """As the decisions API writes it."""
    return {"error": error, "code": code}


EVALUATION = Evaluation(time=NOW, decision=REFUSAL, why_not=WhyNot(sentence="no node has 8 CPUs", tried=4))
PAGE = known.decisions({})
COMPARISON = contrast(DECISION, "")
ASKED: list[tuple[Callable[[Asking], Awaitable[Any]], str, Any]] = [
    (lambda a: a.overview(), "/overview", known.overview()),
    (lambda a: a.decisions(), "/decisions?limit=100", PAGE),
    (lambda a: a.decisions(limit=5, before=9), "/decisions?limit=5&before=9", PAGE),
    (lambda a: a.decisions(limit=1, before=0), "/decisions?limit=1&before=0", PAGE),
    (lambda a: a.decisions(pod="web-1", namespace="shop"), "/decisions?limit=100&pod=web-1&namespace=shop", PAGE),
    (lambda a: a.decision(7), "/decisions/7", DECISION),
    (lambda a: a.comparison(7), "/decisions/7/comparison", COMPARISON),
    (lambda a: a.comparison(7, "b"), "/decisions/7/comparison?other=b", COMPARISON),
    (lambda a: a.pod("shop", "web-1"), "/pods/shop/web-1", WEB),
    (lambda a: a.evaluation("shop", "big"), "/pods/shop/big/evaluation", EVALUATION),
    (lambda a: a.pending(), "/pending", known.pending()),
    (lambda a: a.nodes(), "/nodes", known.nodes()),
    (lambda a: a.node("a"), "/nodes/a", known.node("a")),
]


@pytest.mark.parametrize(("ask", "path", "view"), ASKED, ids=[path for _, path, _ in ASKED])
async def test_each_view_has_its_path(ask: Callable[[Asking], Awaitable[Any]], path: str, view: Any) -> None:
    requests = Requests(view)
    assert await ask(Asking(requests)) == view
    assert requests.asked == [f"/explain/v1{path}"]


@pytest.mark.parametrize(
    ("ask", "path"),
    [
        (lambda a: a.pod("a/b", "c?d#e"), "/pods/a%2Fb/c%3Fd%23e"),
        (lambda a: a.evaluation("%2F", "a b"), "/pods/%252F/a%20b/evaluation"),
        (lambda a: a.node("n/../x"), "/nodes/n%2F..%2Fx"),
        (lambda a: a.comparison(7, "a&b=c"), "/decisions/7/comparison?other=a%26b%3Dc"),
        (lambda a: a.decisions(pod="a&limit=9"), "/decisions?limit=100&pod=a%26limit%3D9"),
    ],
)
async def test_a_name_stays_one_part_of_the_path_whatever_is_in_it(
    ask: Callable[[Asking], Awaitable[Any]], path: str
) -> None:
    requests = Requests(refusal("unknownPod"), 404)
    with suppress(RefusedError):
        await ask(Asking(requests))
    assert requests.asked == [f"/explain/v1{path}"]


async def test_what_a_newer_scheduler_tells_besides_is_passed_over() -> None:
    newer = {**msgspec.to_builtins(known.pending()), "mood": "fine"}
    assert await Asking(Requests(newer)).pending() == known.pending()


async def test_an_answer_that_came_compressed_is_unpacked() -> None:
    requests = Requests(b"")
    requests.answer = Answer(200, gzip.compress(msgspec.json.encode(known.pending())), encoding="gzip")
    assert await Asking(requests).pending() == known.pending()
    requests.answer = Answer(200, b"no", encoding="gzip")
    with pytest.raises(ReachError, match=r"^/explain/v1/pending: the answer is not understood: the answer can't be"):
        await Asking(requests).pending()


@pytest.mark.parametrize("content", [b"<html>", b"", b"[]", b'{"items": 3}'])
async def test_an_answer_of_another_kind_is_not_understood(content: bytes) -> None:
    with pytest.raises(ReachError, match=r"^/explain/v1/pending: the answer is not understood: "):
        await Asking(Requests(content)).pending()


class TestNothingThere:
    async def test_a_pod_that_the_scheduler_does_not_know(self) -> None:
        assert await Asking(Requests(refusal("unknownPod"), 404)).pod("shop", "web-9") is None

    async def test_nothing_to_compare(self) -> None:
        assert await Asking(Requests(refusal("nothingToCompare"), 404)).comparison(8) is None

    @pytest.mark.parametrize(
        "ask",
        [
            lambda a: a.pod("shop", "web-1"),
            lambda a: a.comparison(7),
            lambda a: a.decision(7),
            lambda a: a.node("a"),
        ],
    )
    async def test_any_other_refusal_is_one(self, ask: Callable[[Asking], Awaitable[Any]]) -> None:
        with pytest.raises(RefusedError) as refused:
            await ask(Asking(Requests(refusal("standby", "this replica does not lead"), 503)))
        assert (refused.value.status, refused.value.code) == (503, "standby")
        assert str(refused.value) == "this replica does not lead"


class TestRefusals:
    """They say what to do."""

    async def told(self, status: int, content: Any) -> str:
        with pytest.raises(RefusedError) as refused:
            await Asking(Requests(content, status)).decisions(pod="web-1")
        assert isinstance(refused.value, ReachError)
        assert refused.value.status == status
        return str(refused.value)

    async def test_the_schedulers_own_words_are_passed_on(self) -> None:
        assert await self.told(400, refusal("badRequest", "limit: 'x' is no number")) == "limit: 'x' is no number"

    async def test_credentials_that_are_not_taken(self) -> None:
        text = await self.told(401, {"kind": "Status", "message": "Unauthorized", "code": 401})
        assert "does not take the credentials of your kubeconfig" in text
        assert "TokenReview" in text

    async def test_a_right_that_is_missing_comes_with_the_rule_that_gives_it(self) -> None:
        text = await self.told(403, {"kind": "Status", "message": 'User "jo" cannot get path', "code": 403})
        assert 'User "jo" cannot get path' in text
        assert '{nonResourceURLs: ["/explain/v1/*"], verbs: [get]}' in text
        assert "rbac.explain.subjects" in text

    @pytest.mark.parametrize("content", [b"404 page not found", {"kind": "Status", "message": "x", "code": 404}])
    async def test_a_scheduler_without_the_api(self, content: Any) -> None:
        assert "has no decisions API: it is older than this command, or recording is off" in await self.told(
            404, content
        )

    async def test_an_unknown_thing_of_one_with_the_api_is_told_by_it(self) -> None:
        assert await self.told(404, refusal("unknownDecision", "no attempt 9 on record")) == "no attempt 9 on record"

    @pytest.mark.parametrize("content", [b"", b"<html>bad gateway</html>", b"[]", {"message": "x"}])
    async def test_whoever_else_answers_is_named_by_path_and_status(self, content: Any) -> None:
        assert await self.told(502, content) == "the scheduler answered /explain/v1/decisions with status 502"


def test_a_way_that_fails_is_not_a_refusal() -> None:
    class Broken:
        async def get(self, path: str, *, known: str = "") -> Answer:
            raise ReachError(f"no way to {path}")

    with pytest.raises(ReachError, match="no way to /explain/v1/nodes") as problem:
        asyncio.run(Asking(Broken()).nodes())
    assert not isinstance(problem.value, RefusedError)
