"""The page as one document: its parts joined, a strict policy that names them by hash, and data for a report."""

from __future__ import annotations

import base64
import gzip
import hashlib
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Final

import msgspec

from scheduler.server.page.bundle import bundle

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ENTRY: Final = "main.js"
_LEVEL: Final = 4
_STYLES: Final = ("base.css", "parts.css", "views.css")
# What ends a script element or starts a comment in one, whatever else is in the text (WHATWG HTML, 4.12.1.3).
_IN_SCRIPT: Final = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


@dataclass(frozen=True, kw_only=True)
class Document:
    """An HTML document and the content security policy that goes with it, which is also in its head."""

    html: bytes
    policy: str

    @cached_property
    def tag(self) -> str:
        """Names what is in it, however it is packed."""
        return f'W/"{hashlib.blake2b(self.html, digest_size=16).hexdigest()}"'

    @cached_property
    def packed(self) -> bytes:
        """The same compressed (gzip)."""
        return gzip.compress(self.html, mtime=0)


@cache
def page() -> Document:
    """The page that asks the decisions API next to it for what it shows."""
    return _document(data="", connect="'self'")


def packed(body: bytes) -> str:
    """An answer as a report holds it: compressed until it is looked at."""
    return base64.b64encode(gzip.compress(body, _LEVEL, mtime=0)).decode()


def unpacked(text: str) -> bytes:
    """What was packed."""
    return gzip.decompress(base64.b64decode(text))


def report(title: str, answers: Mapping[str, str], *, notes: Sequence[str] = ()) -> Document:
    """The page with all that it can show inside, for a file: it asks nobody.

    `answers` are the API's answers (JSON, `packed`) by path under /explain/v1/. `notes` are shown first.
    """
    data = {"title": title, "answers": answers, "notes": notes}
    return _document(data=msgspec.json.encode(data).decode().translate(_IN_SCRIPT), connect="'none'")


def _document(*, data: str, connect: str) -> Document:
    style, script = _style(), _script()
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_digest(script)}'",
            f"style-src '{_digest(style)}'",
            f"connect-src {connect}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )
    parts = {"POLICY": policy, "STYLE": style, "SCRIPT": script, "DATA": data}
    # Split once, so that nothing within a part is taken for the place of another.
    pieces = _asset("index.html").split("@@")
    html = "".join(parts[piece] if index % 2 else piece for index, piece in enumerate(pieces))
    return Document(html=html.encode(), policy=policy)


@cache
def _style() -> str:
    return "\n".join(_asset(f"style/{name}").strip() for name in _STYLES)


@cache
def _script() -> str:
    folder = files(__package__) / "assets" / "script"
    modules = {item.name: item.read_text("utf-8") for item in folder.iterdir() if item.name.endswith(".js")}
    return bundle(modules, _ENTRY)


def _asset(path: str) -> str:
    return (files(__package__) / "assets" / path).read_text("utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
