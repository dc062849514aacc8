from __future__ import annotations

import json

import pytest

from scheduler.client.errors import ApiError, error_from_status


def status(**fields):
    return json.dumps({"kind": "Status"} | fields).encode()


def test_a_status_body_tells_code_reason_message_and_when_to_come_back():
    error = error_from_status(
        status(code=429, reason="TooManyRequests", message="slow down", details={"retryAfterSeconds": 7})
    )
    assert (error.status, error.reason, error.message, error.retry_after) == (429, "TooManyRequests", "slow down", 7)
    assert str(error) == "slow down"


def test_the_http_status_and_header_come_before_the_bodys():
    error = error_from_status(status(code=500, details={"retryAfterSeconds": 7}), status=503, retry_after=1.0)
    assert (error.status, error.retry_after) == (503, 1.0)


@pytest.mark.parametrize("body", [b"", b"<html>Bad gateway</html>", b"[]", b'{"code": "x"}', b"\xff", b"[" * 99999])
def test_what_is_no_status_is_an_error_all_the_same(body):
    error = error_from_status(body, status=502)
    assert error.status == 502
    assert error.outcome_unknown
    assert "the request from succeeding" in str(error)
    assert len(str(error)) <= 300


def test_what_is_no_status_is_told_with_what_was_asked_for():
    error = error_from_status(b"busy", status=429, method="POST", path="/api/v1/namespaces/ns/pods/a/binding")
    told = "the server has received too many requests and has asked us to try again later (post pods a)"
    assert str(error) == told


def test_nulls_are_absent():
    error = error_from_status(status(code=404, reason=None, message=None, details=None))
    assert error.is_not_found
    assert str(error) == "the server answered with status 404"


@pytest.mark.parametrize(
    ("error", "what"),
    [
        (ApiError(409, "Conflict"), "is_conflict"),
        (
            ApiError(409, "Conflict", "Precondition failed: UID in precondition: a, UID in object meta: b"),
            "is_replaced",
        ),
        (ApiError(409, "AlreadyExists"), "already_exists"),
        (ApiError(404, "NotFound"), "is_not_found"),
        (ApiError(410, "Gone"), "is_expired"),
        (ApiError(500, "Expired"), "is_expired"),
        (ApiError(504, "Timeout", causes=("ResourceVersionTooLarge",)), "is_expired"),
        (ApiError(504, "Timeout", "Too large resource version: 7, current: 3"), "is_expired"),
        (ApiError(504, "Timeout"), "outcome_unknown"),
    ],
)
def test_errors_say_what_they_mean(error, what):
    kinds = {"is_conflict", "is_replaced", "already_exists", "is_not_found", "is_expired"}
    assert getattr(error, what)
    assert {kind for kind in kinds if getattr(error, kind)} <= {what, "is_conflict" if what == "is_replaced" else what}
