from __future__ import annotations

import pytest

from scheduler.client.unstructured import generic_message

POD = "/api/v1/namespaces/ns/pods/web-0/binding"


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (409, b"x", "the server reported a conflict (post pods web-0)"),
        (403, b" not you\n", "not you (post pods web-0)"),
        (
            418,
            b"teapot",
            "the server responded with the status code 418 but did not return more information (post pods web-0)",
        ),
        (
            429,
            b"Too many requests, please try again later.",
            "the server has received too many requests and has asked us to try again later (post pods web-0)",
        ),
        (
            502,
            b'<a href="x">\n',
            'an error on the server ("<a href=\\"x\\">") has prevented the request from succeeding (post pods web-0)',
        ),
        (503, b"", "the server is currently unable to handle the request (post pods web-0)"),
        (
            500,
            b'{"a": 1}',
            'an error on the server ("unknown") has prevented the request from succeeding (post pods web-0)',
        ),
    ],
)
def test_the_status_code_is_put_into_words(status, body, message):
    assert generic_message(status, body, "POST", POD) == message


@pytest.mark.parametrize(
    ("path", "about"),
    [
        ("/api/v1/namespaces/ns/pods?limit=1", " (get pods)"),
        ("/api/v1/pods", " (get pods)"),
        ("/api/v1/persistentvolumes/a", " (get persistentvolumes a)"),
        ("/api/v1/namespaces/ns", " (get namespaces ns)"),
        ("/apis/coordination.k8s.io/v1/namespaces/ns/leases/berth", " (get leases.coordination.k8s.io berth)"),
        ("/apis/storage.k8s.io/v1/csinodes", " (get csinodes.storage.k8s.io)"),
        ("/readyz", ""),
        ("/api", ""),
        ("/apis", ""),
    ],
)
def test_the_path_tells_what_was_asked_about(path, about):
    assert generic_message(409, b"", "GET", path) == f"the server reported a conflict{about}"


def test_only_the_beginning_of_a_long_page_is_repeated():
    assert len(generic_message(500, b"x" * 10_000, "GET", "/readyz")) < 2200
