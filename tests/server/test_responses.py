from __future__ import annotations

import json

from aiohttp.test_utils import make_mocked_request

from scheduler.server import responses
from scheduler.server.identity import User


def test_forbidden_tells_who_what_and_why():
    request = make_mocked_request("GET", "/metrics")
    answer = responses.forbidden(request, User('<"a">'), "get", 'RBAC: role "x" not found')
    assert answer.status == 403
    assert json.loads(answer.body)["message"] == (
        'forbidden: User "&lt;\\"a\\"&gt;" cannot get path "/metrics": RBAC: role "x" not found'
    )


def test_unauthorized_has_no_details():
    answer = responses.unauthorized(make_mocked_request("GET", "/metrics"))
    assert answer.status == 401
    assert answer.body == (
        b'{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",'
        b'"message":"Unauthorized","reason":"Unauthorized","code":401}\n'
    )
