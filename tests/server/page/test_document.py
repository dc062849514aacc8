from __future__ import annotations

import base64
import gzip
import hashlib
import json
from html.parser import HTMLParser
from importlib.resources import files

import pytest

from scheduler.server.page.document import packed, page, report

HOSTILE = '</script><script>alert(1)</script><!--<script>"\u2028&amp;'


class Elements(HTMLParser):
    """The elements of a document: name, attributes, and the text right in them."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self._inside = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes), []))
        self._inside = True

    def handle_endtag(self, tag):
        self._inside = False

    def handle_data(self, data):
        if self._inside:
            self.found[-1][2].append(data)


def elements(made, tag):
    found = Elements(made.html.decode()).found
    return [(attributes, "".join(texts)) for name, attributes, texts in found if name == tag]


def digest(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_the_page_brings_all_it_needs():
    assert [attributes for attributes, _ in elements(page(), "script") if "src" in attributes] == []
    assert [attributes["rel"] for attributes, _ in elements(page(), "link")] == ["icon"]
    assert elements(page(), "link")[0][0]["href"].startswith("data:")
    assert "url(" not in elements(page(), "style")[0][1]
    assert "@import" not in elements(page(), "style")[0][1]


@pytest.mark.parametrize("made", [page(), report("r", {"overview": packed(b"{}")})], ids=["page", "report"])
def test_the_policy_lets_nothing_run_but_the_parts_by_their_hash(made):
    rules = dict(rule.split(" ", 1) for rule in made.policy.split("; "))
    [(_, style)] = elements(made, "style")
    script = next(text for attributes, text in elements(made, "script") if attributes["type"] == "module")
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == f"'{digest(script)}'"
    assert rules["style-src"] == f"'{digest(style)}'"
    assert rules["require-trusted-types-for"] == "'script'"
    assert rules["trusted-types"] == "'none'"
    assert rules["base-uri"] == "'none'"
    assert rules["form-action"] == "'none'"
    policies = [a["content"] for a, _ in elements(made, "meta") if a.get("http-equiv") == "Content-Security-Policy"]
    assert policies == [made.policy]


def test_only_the_page_asks_and_only_its_own_server():
    assert "connect-src 'self'" in page().policy
    assert "connect-src 'none'" in report("r", {}).policy


def test_no_element_or_attribute_holds_code_or_style():
    for tag, attributes, _ in Elements(page().html.decode()).found:
        assert not [name for name in attributes if name.startswith("on") or name == "style"], tag


def test_the_sources_make_no_markup_of_strings():
    folder = files("scheduler.server.page") / "assets" / "script"
    for source in folder.iterdir():
        text = source.read_text("utf-8")
        for word in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
            "DOMParser",
        ):
            assert word not in text, f"{source.name}: {word}"


def test_a_report_has_the_answers_in_it_whatever_is_in_them():
    answers = {"overview": json.dumps({"version": HOSTILE}).encode(), "decisions/1": b'{"summary":{}}'}
    made = report(f"what if {HOSTILE}", {path: packed(body) for path, body in answers.items()}, notes=[HOSTILE])
    scripts = elements(made, "script")
    assert len(scripts) == 2
    [text] = [text for attributes, text in scripts if attributes.get("id") == "data"]
    data = json.loads(text)
    assert data["title"] == f"what if {HOSTILE}"
    assert data["notes"] == [HOSTILE]
    assert {path: gzip.decompress(base64.b64decode(text)) for path, text in data["answers"].items()} == answers


def test_a_report_is_the_same_every_time():
    assert report("r", {"overview": packed(b"{}")}).html == report("r", {"overview": packed(b"{}")}).html


def test_a_page_carries_no_data():
    [text] = [text for attributes, text in elements(page(), "script") if attributes.get("id") == "data"]
    assert text == ""
