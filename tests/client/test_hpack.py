"""Header blocks: what is written, and the little that is read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.client.hpack import HeaderError, path_field, read_head, request_fields

# Examples of RFC 7541, appendix C.6.1: ":status: 302" with Huffman's code and three more fields.
EXAMPLE = bytes.fromhex(
    "488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3"
)
LONG = "x" * 300


def test_a_request():
    before, after = request_fields("POST", "h:1", {"Accept": "a/b"})
    assert before + path_field("/p") + after == b"\x83\x87\x01\x03h:1\x04\x02/p\x10\x06accept\x03a/b"


def test_a_method_that_is_in_no_table_and_a_long_value():
    before, after = request_fields("DELETE", "h", {"Authorization": LONG})
    assert before == b"\x02\x06DELETE\x87\x01\x01h"
    assert after == b"\x10\x0dauthorization\x7f\xad\x01" + LONG.encode()


def test_no_header_can_be_smuggled_in():
    with pytest.raises(ValueError, match="Authorization"):
        request_fields("GET", "h", {"Authorization": "Bearer t\r\nX-Admin: yes"})


@pytest.mark.parametrize("size", [126, 127, 128, 254, 255, 16_000])
def test_strings_of_any_length_are_read_as_they_are_written(size):
    _, field = request_fields("GET", "h", {"x": "y" * size})
    assert read_head(field + b"\x88") == (200, "")


@pytest.mark.parametrize(
    ("block", "status"),
    [
        (b"\x88", 200),
        (b"\x89", 204),
        (b"\x20\x88", 200),
        (b"\x08\x03201", 201),
        (b"\x48\x03409", 409),
        (b"\x1e\x03503", 503),
        (b"\x0e\x82\x10\x03", 201),
        (EXAMPLE, 302),
        (b"\x00\x01a\x01b\x88", 200),
        (b"\x88\x40\x01a\x01b", 200),
        (b"\x8d\x00\x01a\x01b", 404),
    ],
)
def test_the_status_in_all_forms(block, status):
    assert read_head(block) == (status, "")


@pytest.mark.parametrize(
    "field",
    [
        b"\x0f\x26\x0212",
        b"\x75\x0212",
        b"\x0f\x26\x82\x08\xbf",
        b"\x00\x0bretry-after\x0212",
        b"\x00\x88\xb0\xa9\xb3\xd2\xc3\x95\x25\xb3\x0212",
    ],
    ids=["plain", "to be indexed", "Huffman's code", "name of its own", "name in Huffman's code"],
)
def test_when_to_come_back_is_read_from_refusals(field):
    block = b"\x0e\x03429" + field
    assert read_head(block) == (429, "12")
    assert read_head(b"\x88" + field) == (200, "")


@pytest.mark.parametrize("value", [b"\x03Wed", b"\x00", b"\x81\xff", b"\x81\x00"])
def test_a_date_or_nonsense_is_no_time_to_come_back(value):
    assert read_head(b"\x8e\x0f\x26" + value)[0] == 500


@pytest.mark.parametrize(
    "block",
    [
        b"",
        b"\x48",
        b"\x48\x03",
        b"\x48\x0340",
        b"\xbe",
        b"\x80",
        b"\x3f\xe1\x1f\x88",
        b"\x7f\x10\x01a\x88",
        b"\x00\x01a\x01b",
        b"\x08\x03abc",
        b"\x0f\xff\xff\xff\xff\xff\xff\x01a",
        b"\x8d\x0f\x26\x05a",
    ],
    ids=[
        "nothing",
        "no string",
        "no text",
        "half a text",
        "a table's entry",
        "no index",
        "a table",
        "a name in the table",
        "no status",
        "no number",
        "too large an index",
        "half a field",
    ],
)
def test_what_is_no_block_by_these_rules(block):
    with pytest.raises(HeaderError):
        read_head(block)


@given(st.binary(max_size=40))
def test_hostile_blocks_raise_nothing_else(block):
    try:
        status, after = read_head(block)
    except HeaderError:
        return
    assert isinstance(status, int)
    assert after == "" or after.isdigit()
