from __future__ import annotations

import pytest

from scheduler.server.access import Authentication, Authorization, bearer_token, certificate_user
from scheduler.server.identity import ANONYMOUS, AuthenticationError, Decision, User


def certificate(*pairs):
    return {"subject": tuple((pair,) for pair in pairs)}


ALICE = certificate(("organizationName", "a"), ("organizationName", "b"), ("commonName", "alice"))


class TestAuthentication:
    @pytest.mark.parametrize(
        ("subject", "user"),
        [
            (ALICE, User("alice", ("a", "b"))),
            (certificate(("commonName", "x"), ("commonName", "y")), User("y")),
            (certificate(("organizationName", "a")), None),
            (certificate(("commonName", "")), None),
            ({}, None),
            (None, None),
        ],
    )
    def test_user_of_a_certificate(self, subject, user):
        assert certificate_user(subject) == user

    @pytest.mark.parametrize(
        ("header", "token"),
        [
            ("Bearer abc", "abc"),
            ("bearer abc", "abc"),
            ("  Bearer abc  ", "abc"),
            ("Bearer abc def", "abc"),
            ("Bearer  abc", ""),
            ("Bearer", ""),
            ("Basic abc", ""),
            ("", ""),
        ],
    )
    def test_token_in_a_header(self, header, token):
        assert bearer_token(header) == token

    @pytest.mark.parametrize(
        ("known", "groups"),
        [
            (User("u", ("g",)), ("g", "system:authenticated")),
            (User("u", ("system:authenticated",)), ("system:authenticated",)),
            (User("u", ("system:unauthenticated",)), ("system:unauthenticated",)),
            (User("system:anonymous"), ()),
        ],
    )
    async def test_users_are_members_of_authenticated(self, reviewers, known, groups):
        reviewers.users["t"] = known
        assert (await Authentication(reviewers).user(None, "Bearer t")).groups == groups

    async def test_nobody_is_anonymous(self, reviewers):
        assert await Authentication(reviewers).user(None, "") == ANONYMOUS
        assert await Authentication(None).user(None, "Bearer t") == ANONYMOUS

    async def test_unknown_token_is_an_error(self, reviewers):
        with pytest.raises(AuthenticationError, match="invalid bearer token"):
            await Authentication(reviewers).user(None, "Bearer t")

    async def test_certificate_goes_first(self, reviewers):
        assert (await Authentication(reviewers).user(ALICE, "Bearer bad")).name == "alice"
        assert reviewers.asked == []


class TestAuthorization:
    @pytest.mark.parametrize(
        ("open_paths", "path", "allowed"),
        [
            (("/healthz",), "/healthz", True),
            (("healthz",), "/healthz", True),
            (("/healthz",), "/healthz/", False),
            (("/healthz",), "/healthz/ping", False),
            (("/healthz/*",), "/healthz/ping", True),
            (("/healthz/*",), "/healthz", False),
            (("/healthz*",), "/healthzz", True),
            (("/*",), "/metrics", True),
            (("/",), "/", True),
            (("/",), "/metrics", False),
            (("",), "/metrics", False),
            ((), "/healthz", False),
        ],
    )
    async def test_paths_open_to_all(self, open_paths, path, allowed):
        assert (await Authorization((), open_paths, None).decide(ANONYMOUS, "get", path)).allowed is allowed

    @pytest.mark.parametrize("path", ["/a*b", "/*/b", "**"])
    def test_star_stands_at_the_end_only(self, path):
        with pytest.raises(ValueError, match="only trailing \\* allowed"):
            Authorization((), [path], None)

    async def test_groups_that_pass(self):
        rules = Authorization(["system:masters"], (), None)
        assert (await rules.decide(User("root", ("x", "system:masters")), "delete", "/any")).allowed
        assert not (await rules.decide(User("system:masters", ("x",)), "get", "/any")).allowed

    async def test_everything_else_is_asked(self, reviewers):
        rules = Authorization((), (), reviewers)
        assert await rules.decide(User("prometheus"), "get", "/metrics") == Decision(allowed=True)
        assert await rules.decide(User("prometheus"), "get", "/configz") == Decision(allowed=False)
