"""Frames of HTTP/2."""

from __future__ import annotations

import pytest

from scheduler.client.frames import DATA, HEADERS, PREFACE, FrameError, frame, settings_in, unpadded, window_update
from tests.fakes.h2server import split


def test_a_frame():
    assert frame(DATA, 1, 5, b"abc") == b"\x00\x00\x03\x00\x01\x00\x00\x00\x05abc"
    assert window_update(0, 258) == b"\x00\x00\x04\x08\x00\x00\x00\x00\x00\x00\x00\x01\x02"


def test_what_a_client_says_first():
    assert PREFACE.startswith(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    said, room = split(PREFACE[24:])
    assert settings_in(said.payload) == {1: 0, 2: 0, 4: 2**24}
    assert int.from_bytes(room.payload, "big") + 65_535 == 2**30


@pytest.mark.parametrize(
    ("kind", "flags", "payload", "carried"),
    [
        (DATA, 0, b"abc", b"abc"),
        (DATA, 0x8, b"\x02abc\x00\x00", b"abc"),
        (DATA, 0x8, b"\x03\x00\x00\x00", b""),
        (HEADERS, 0x20, b"\x00\x00\x00\x00\x10abc", b"abc"),
        (HEADERS, 0x28, b"\x01\x00\x00\x00\x00\x10abc\x00", b"abc"),
    ],
)
def test_what_a_frame_carries(kind, flags, payload, carried):
    assert unpadded(kind, flags, payload) == carried


@pytest.mark.parametrize("payload", [b"", b"\x04abc", b"\xff"])
def test_nothing_but_padding_breaks_the_rules(payload):
    with pytest.raises(FrameError):
        unpadded(DATA, 0x8, payload)


def test_settings_come_in_pairs():
    with pytest.raises(FrameError):
        settings_in(b"\x00\x01\x00")
