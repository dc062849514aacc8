"""Header blocks of HTTP/2 (RFC 7541), as far as requests to an API server and its answers need them.

No dynamic table is used in either direction: requests are literals, and the server is told to keep none. So every block
stands for itself, and nothing of an answer need be decoded but its status and when to come back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["HeaderError", "path_field", "read_head", "request_fields"]

_METHODS: Final = {"GET": b"\x82", "POST": b"\x83"}
_HTTPS: Final = b"\x87"
_AUTHORITY, _METHOD, _PATH = 1, 2, 4
_STATUSES: Final = range(8, 15)
"""Indices of ":status" in the static table."""
_INDEXED_STATUSES: Final = (200, 204, 206, 304, 400, 404, 500)
_RETRY_AFTER: Final = 53
_LAST_STATIC: Final = 61
_NEVER_INDEXED: Final = 0x10
_HUFFMAN: Final = 0x80
_DIGITS: Final = ("00000", "00001", "00010", "011001", "011010", "011011", "011100", "011101", "011110", "011111")
_REFUSED: Final = 400


class HeaderError(Exception):
    """What came is no header block, or one that needs a table."""


def request_fields(method: str, authority: str, headers: Mapping[str, str]) -> tuple[bytes, bytes]:
    """What comes before a request's path and what comes after it.

    Raises ValueError for a value that doesn't belong into a header.
    """
    before = (_METHODS.get(method) or _literal(_METHOD, method)) + _HTTPS + _literal(_AUTHORITY, authority)
    after = b""
    for name, value in headers.items():
        if not value.isprintable():
            raise ValueError(f"the value of the header {name} holds characters that don't belong there")
        after += bytes((_NEVER_INDEXED,)) + _string(name.lower()) + _string(value)
    return before, after


def path_field(path: str) -> bytes:
    """The path of a request."""
    return _literal(_PATH, path)


def read_head(block: bytes) -> tuple[int, str]:
    """The status of an answer, and its Retry-After if that is a number and the answer a refusal. Raises HeaderError."""
    try:
        if block[:1] == b" ":  # the dynamic table's size is zero from now on
            block = block[1:]
        status = _QUICK.get(block[:1]) or _QUICK.get(block[: 2 + (block[1] & ~_HUFFMAN)])
        if status is not None and status < _REFUSED:
            return status, ""
        fields = list(_fields(block))
    except IndexError as error:
        raise HeaderError("a header block ends too early") from error
    status = next((_number(value) for name, value in fields if name in _STATUSES), None)
    if status is None:
        raise HeaderError("the answer has no status")
    after = next((_number(value) for name, value in fields if name == _RETRY_AFTER), None)
    return status, "" if after is None else str(after)


def _fields(block: bytes) -> Iterator[tuple[int, bytes | int]]:
    """(index of the name, value): the index is 0 for any other name, the value as it came, or an int."""
    at = 0
    while at < len(block):
        first = block[at]
        if first & 0x80:
            index, at = _integer_at(block, at, 7)
            if index > _LAST_STATIC or not index:
                raise HeaderError(f"the header {index} is in no table")
            yield index, _INDEXED_STATUSES[index - _STATUSES[0]] if index in _STATUSES else b""
            continue
        if first & 0xE0 == 0x20:
            size, at = _integer_at(block, at, 5)
            if size:
                raise HeaderError("the server keeps a table that it was told not to keep")
            continue
        index, at = _integer_at(block, at, 6 if first & 0x40 else 4)
        if not index:
            name, at = _string_at(block, at)
            index = _RETRY_AFTER if name in _RETRY_AFTER_NAMES else 0
        elif index > _LAST_STATIC:
            raise HeaderError(f"the header {index} is in no table")
        value, at = _string_at(block, at)
        yield index, value


def _literal(name: int, value: str) -> bytes:
    return bytes((name,)) + _string(value)


def _string(text: str) -> bytes:
    raw = text.encode("latin-1")
    size = len(raw)
    if size < 0x7F:
        return bytes((size,)) + raw
    length = bytearray((0x7F,))
    size -= 0x7F
    while size >= 0x80:
        length.append(size & 0x7F | 0x80)
        size >>= 7
    length.append(size)
    return bytes(length) + raw


def _integer_at(block: bytes, at: int, bits: int) -> tuple[int, int]:
    """An integer and where it ends (RFC 7541, 5.1)."""
    most = (1 << bits) - 1
    value = block[at] & most
    at += 1
    if value < most:
        return value, at
    for shift in range(0, 35, 7):
        more = block[at]
        at += 1
        value += (more & 0x7F) << shift
        if not more & 0x80:
            return value, at
    raise HeaderError("an integer in a header block is too large")


def _string_at(block: bytes, at: int) -> tuple[bytes, int]:
    """A string as it came, with a first byte of its own if it is in Huffman's code, and where it ends."""
    coded = block[at] & _HUFFMAN
    size, at = _integer_at(block, at, 7)
    if at + size > len(block):
        raise IndexError
    raw = block[at : at + size]
    return (b"\xff" + raw if coded else raw), at + size


def _number(value: bytes | int) -> int | None:
    """A number, plain or in Huffman's code; None for anything else."""
    if isinstance(value, int):
        return value
    if value[:1] != b"\xff":
        return int(value) if value.isdigit() else None
    bits = f"{int.from_bytes(value[1:], 'big'):0{8 * len(value) - 8}b}" if len(value) > 1 else ""
    digits, at = "", 0
    while len(bits) - at >= 5:
        code = bits[at : at + 5]
        if code not in _DIGITS:
            code = bits[at : at + 6]
        if code not in _DIGITS:
            break
        digits += str(_DIGITS.index(code))
        at += len(code)
    padding = bits[at:]
    return int(digits) if digits and len(padding) < 8 and "0" not in padding else None


def _coded(digits: str) -> bytes:
    bits = "".join(_DIGITS[int(digit)] for digit in digits)
    bits += "1" * (-len(bits) % 8)
    return int(bits, 2).to_bytes(len(bits) // 8, "big")


def _quick() -> dict[bytes, int]:
    """Whole fields for a status, in all forms in which a server may write them."""
    quick = {bytes((0x80 | index,)): code for index, code in zip(_STATUSES, _INDEXED_STATUSES, strict=True)}
    for status in range(100, 600):
        plain, coded = str(status).encode(), _coded(str(status))
        for kind in (0, 0x10, 0x40):
            for index in _STATUSES:
                if kind != 0x40 and index >= 0x0F:
                    continue
                quick[bytes((kind | index, len(plain))) + plain] = status
                quick[bytes((kind | index, _HUFFMAN | len(coded))) + coded] = status
    return quick


_QUICK: Final = _quick()
_RETRY_AFTER_NAMES: Final = (b"retry-after", b"\xff" + bytes.fromhex("b0a9b3d2c39525b3"))
