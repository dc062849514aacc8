"""Small text files that the user names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scheduler.app.texts import read_text
from scheduler.config.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfkind: x\n")
    assert read_text(str(tmp_path / "a")) == "kind: x\n"


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"/a: No such file or directory$"):
        read_text(str(tmp_path / "a"))


def test_directory(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Is a directory"):
        read_text(str(tmp_path))


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"ab\xff")
    with pytest.raises(ConfigError, match="not UTF-8 text: invalid start byte at byte 2"):
        read_text(str(tmp_path / "a"))
