"""Block YAML as kubectl and people write it, read line by line.

A large input consists of some hundred thousand different lines: each is taken apart once. The few entries that are more
than a key and a scalar in one line go to a parser of all YAML, one by one. Where a text cannot be read in this way
`Unusual` is raised, and it is to be given to that parser as a whole, which also tells what is wrong with it.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_BLOCK: Final = 2**20
_MOST_KNOWN: Final = 200_000
_LINE: Final = re.compile(
    r"""(?P<indent>[ ]*)
        (?P<dash>-[ ]+(?=[^ ]))?
        (?:(?P<key>[A-Za-z0-9_./$][A-Za-z0-9_./$-]*|'[^']*'|"[^"\\]*"):(?:[ ]+(?P<of_key>.*))?|(?P<alone>.*))""",
    re.VERBOSE,
)
_SINGLE_QUOTED: Final = re.compile(r"'(?:[^']|'')*'")
_DOUBLE_QUOTED: Final = re.compile(r'"[^"\\]*"')
_INDICATORS: Final = frozenset("?:-,[]{}#&*!|>'\"%@`")
_INDICATORS_ALONE: Final = frozenset("?:-")
"""Those that a word may begin with."""
_OTHER_ENDS: Final = ("\r", "\x85", "\u2028", "\u2029")
"""What YAML takes for the end of a line as well."""
_BETWEEN_DOCUMENTS: Final = "---"

_SCALAR, _OPEN, _MAP, _LIST, _MORE, _ODD, _MARK = range(7)
"""What is known of a line's value: it is given, comes in the lines below, is {} or [], is for the parser of all YAML,
cannot be read here, or the line is the mark between documents."""


class Unusual(Exception):  # noqa: N818 - not an error: another reader takes over
    """A text that is not made of lines that can be read one by one."""


class _Line(NamedTuple):
    """`dash` and `column` are where a list's item (-1: there is none) and the key begin; `key` is None for a scalar."""

    dash: int
    column: int
    key: str | None
    kind: int
    value: Any = None


_MARK_LINE: Final = _Line(-1, 0, None, _MARK)
_UNKNOWN: Final = _Line(-1, -1, None, _ODD)


def line_documents(text: str, scalar: Callable[[str], Any], parse: Callable[[str], Any]) -> Iterator[tuple[int, Any]]:
    """(line at which it begins, value) of each document, empty ones included.

    `scalar` says what a plain scalar means, `parse` reads a small text that may be any YAML. Raises Unusual, at the
    latest when all documents have been read, and whatever these raise.
    """
    if not text.endswith("\n") or any(end in text for end in _OTHER_ENDS):
        raise Unusual
    reader = _Reader(text, scalar, parse)
    is_marked = False
    while True:
        begin, value, ended = reader.document()
        if begin or is_marked:
            yield begin or reader.place + ended, value
        if ended:
            return
        is_marked = True


class _Reader:
    """Reads one document after another.

    `stack` has the containers that are open, each with the column of its keys or dashes; the last one is being filled.
    `open_key` is the key there whose value is still to come; `place` counts lines up to the one read last.
    """

    def __init__(self, text: str, scalar: Callable[[str], Any], parse: Callable[[str], Any]) -> None:
        self._scalar = scalar
        self._parse = parse
        self._lines = _split(text)
        self._known: dict[str, _Line | None] = {}
        self.place = 0
        self._stack: list[tuple[int, Any]] = []
        self._open_key: str | None = None

    def document(self) -> tuple[int, Any, bool]:
        """The line of the first entry (0 if there is none), the value, and whether the text ended with it."""
        self._stack, self._open_key = [], None
        begin, root = 0, None
        # The map that is being filled; where it is a list that is, the column is none that a line can have.
        column: int = -1
        top: Any = None
        before: list[str] = []
        known, lines = self._known, self._lines
        line = next(lines, None)
        while line is not None:
            self.place += 1
            parsed = known.get(line, _UNKNOWN)
            if parsed is _UNKNOWN:
                parsed = self._remembered(line)
            if parsed is None:
                before.append(line)
                line = next(lines, None)
                continue
            dash, own, key, kind, value = parsed
            if own == column and kind == _SCALAR and dash < 0:  # nearly half of all lines
                top[key] = value
                self._open_key = None
                before = [line]
                line = next(lines, None)
                continue
            if kind == _MARK:
                return begin, root, False
            is_first, place = not self._stack, self.place
            following = self._enter(line, parsed, before)
            if is_first:
                begin, root = place, self._stack[0][1]
            column, top = self._stack[-1]
            if type(top) is list:
                column = -1
            before = [line]
            line = following
        return begin, root, True

    def _enter(self, line: str, parsed: _Line, before: list[str]) -> str | None:
        """Take in an entry of any kind; the line that follows. `before`: the last entry's line, and what came since."""
        dash, own, key, kind, value = parsed
        if self._goes_on(parsed):
            column, top = self._stack[-1]
            if type(top) is list:
                top.pop()
            return self._entry_of_more(before[0], [*before[1:], line], column)
        self._find_place(dash if dash >= 0 else own, is_item=dash >= 0)
        self._open_key = None
        column, top = self._stack[-1]
        if dash >= 0 and key is not None:
            item: dict[str, Any] = {}
            top.append(item)
            self._stack.append((own, item))
            column, top = own, item
        if kind == _MORE:
            return self._entry_of_more(line, [], column)
        if kind == _MAP:
            value = {}
        elif kind == _LIST:
            value = []
        if key is None:
            top.append(value)
        else:
            top[key] = value
            if kind == _OPEN:
                self._open_key = key
        return next(self._lines, None)

    def _goes_on(self, parsed: _Line) -> bool:
        """Whether a line belongs to the entry before it. Raises Unusual for what is no entry here."""
        first = parsed.dash if parsed.dash >= 0 else parsed.column
        is_below = bool(self._stack) and first > self._stack[-1][0]
        if is_below and (self._open_key is None or parsed.kind == _ODD):
            return True
        if parsed.kind == _ODD:
            raise Unusual
        return False

    def _find_place(self, first: int, *, is_item: bool) -> None:
        """Make the container that an entry in this column is in the last one of the stack."""
        stack = self._stack
        column, top = stack[-1] if stack else (-1, {})
        is_of_open_key = self._open_key is not None and (first > column or (first == column and is_item))
        if not stack or is_of_open_key:
            made: Any = [] if is_item else {}
            top[self._open_key] = made
            stack.append((first, made))
            return
        while first < column and len(stack) > 1:
            stack.pop()
            column, top = stack[-1]
        if not is_item and type(top) is list and len(stack) > 1:
            # The items of a list may stand in the column of the key that it is the value of.
            stack.pop()
            column, top = stack[-1]
        if first != column or type(top) is not (list if is_item else dict):
            raise Unusual

    def _entry_of_more(self, line: str, more: list[str], column: int) -> str | None:
        """Have the entry that begins in a column read by the parser of all YAML, with all lines that belong to it."""
        following = next(self._lines, None)
        while following is not None:
            rest = following.lstrip(" ")
            if rest and rest[0] != "#" and len(following) - len(rest) <= column:
                break
            more.append(following)
            self.place += 1
            following = next(self._lines, None)
        found = self._parse("".join(f"{_without_indent(each, column)}\n" for each in (line, *more)))
        top = self._stack[-1][1]
        if type(found) is not type(top) or len(found) != 1:
            raise Unusual
        if type(top) is list:
            top += found
        else:
            top.update(found)
        self._open_key = None
        return following

    def _remembered(self, line: str) -> _Line | None:
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        found = self._known[line] = self._parsed(line)
        return found

    def _parsed(self, line: str) -> _Line | None:
        """What a line says; None if it is empty or a comment."""
        rest = line.lstrip(" ")
        if not rest or rest[0] == "#":
            return None
        if rest.rstrip(" ") == _BETWEEN_DOCUMENTS and rest == line:
            return _MARK_LINE
        match = _LINE.fullmatch(line)
        if match is None:
            return _Line(-1, len(line) - len(rest), None, _ODD)
        indent, dash, key, of_key, alone = match.groups()
        column = len(indent) + len(dash or "")
        kind, value = self._value((alone if key is None else of_key or "").rstrip(" "))
        if not line.isprintable() and kind != _ODD:
            kind = _MORE
        if key is not None:
            name = key[1:-1] if key[0] in "'\"" else self._scalar(key)
            kind = kind if isinstance(name, str) else _MORE
            return _Line(len(indent) if dash else -1, column, str(name), kind, value)
        if not dash or kind == _OPEN:
            kind = _ODD
        return _Line(len(indent) if dash else -1, column, None, kind, value)

    def _value(self, text: str) -> tuple[int, Any]:
        """Kind and value of what is written behind a key or a dash."""
        if not text:
            return _OPEN, None
        if text in ("{}", "[]"):
            return (_MAP if text == "{}" else _LIST), None
        first = text[0]
        if first == "'" and _SINGLE_QUOTED.fullmatch(text):
            return _SCALAR, text[1:-1].replace("''", "'")
        if first == '"' and _DOUBLE_QUOTED.fullmatch(text):
            return _SCALAR, text[1:-1]
        if first in "&*":
            return _ODD, None  # an alias may be of another entry
        if first in _INDICATORS and (first not in _INDICATORS_ALONE or text[1:2] in ("", " ")):
            return _MORE, None
        if ": " in text or " #" in text or text[-1] == ":":
            return _MORE, None
        value = self._scalar(text)
        return (_MORE, None) if isinstance(value, float) and not math.isfinite(value) else (_SCALAR, value)


def _without_indent(line: str, columns: int) -> str:
    """The line from a column on, or all of it where it begins before, as comments may."""
    rest = line.lstrip(" ")
    return line[columns:] if len(line) - len(rest) >= columns or not rest or rest[0] != "#" else rest


def _split(text: str) -> Iterator[str]:
    """The lines of a text, all of which are ended, without their ends; they are never all there at the same time."""
    begin = 0
    while begin < len(text):
        end = text.find("\n", begin + _BLOCK)
        end = end if end >= 0 else len(text) - 1
        yield from text[begin:end].split("\n")
        begin = end + 1
