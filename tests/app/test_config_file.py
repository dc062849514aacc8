"""Following a configuration file."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
import yaml

from scheduler.app.config_file import ConfigFile, FileReload, follow
from scheduler.app.configuration import parse_config
from tests.app.running import Live, weights

if TYPE_CHECKING:
    from pathlib import Path

BERTH = {"schedulerName": "berth"}


def looks(file: ConfigFile, times: int = 2) -> list[bytes | None]:
    return [file.look() for _ in range(times)]


class TestLooking:
    def test_a_file_is_read_once_it_looks_the_same_twice(self, tmp_path: Path) -> None:
        path = tmp_path / "c.yaml"
        path.write_text("one")
        file = ConfigFile(str(path))
        assert looks(file, 3) == [None, b"one", None]
        path.write_text("half of")
        assert file.look() is None
        path.write_text("half of it")
        assert looks(file, 3) == [None, b"half of it", None]

    def test_one_that_is_renamed_into_its_place_is_seen(self, tmp_path: Path) -> None:
        path, new = tmp_path / "c.yaml", tmp_path / "c.new"
        path.write_text("one")
        file = ConfigFile(str(path))
        looks(file)
        new.write_text("two")
        new.rename(path)
        assert looks(file) == [None, b"two"]

    def test_a_mounted_configmap_changes_by_a_link_on_the_way(self, tmp_path: Path) -> None:
        for version in ("v1", "v2"):
            (tmp_path / version).mkdir()
            (tmp_path / version / "c.yaml").write_text(version)
        data, swap = tmp_path / "..data", tmp_path / "..data_tmp"
        data.symlink_to("v1")
        (tmp_path / "c.yaml").symlink_to("..data/c.yaml")
        file = ConfigFile(str(tmp_path / "c.yaml"))
        assert looks(file) == [None, b"v1"]
        swap.symlink_to("v2")
        swap.rename(data)
        assert looks(file) == [None, b"v2"]

    def test_one_that_is_gone_is_told_of_once_and_waited_for(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        path = tmp_path / "c.yaml"
        file = ConfigFile(str(path))
        assert looks(file, 3) == [None, None, None]
        assert len(caplog.messages) == 1
        assert "last good configuration stays in force" in caplog.messages[0]
        path.write_text("back")
        assert looks(file) == [None, b"back"]


class TestTakingUp:
    def test_a_valid_change_is_in_force_and_told(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level("INFO")
        live = Live()
        told: list[str] = []
        reload = FileReload("c.yaml", live.running, live.document, lambda: told.append("changed"))
        fresh = {**live.document, "parallelism": 3, "profiles": [{**BERTH, "plugins": weights(ImageLocality=4)}]}
        reload.take_up(yaml.safe_dump(fresh).encode())
        assert live.weight("ImageLocality") == 4
        assert caplog.messages == [
            "c.yaml is in force; changed profiles: berth",
            "c.yaml: takes effect at the next start only: parallelism",
        ]
        assert told == ["changed"]
        assert live.metrics.config_reloads.labels("file", "success").value == 1

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("a: [", "not YAML"),
            ("kind: Something", "Object 'apiVersion' is missing"),
            ("a: 1\na: 2", "already set in map"),
        ],
    )
    def test_a_bad_one_is_refused_with_the_reason_and_changes_nothing(
        self, text: str, why: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        live = Live()
        before = live.scheduler.profiles["berth"]
        FileReload("c.yaml", live.running, live.document).take_up(text.encode())
        assert live.scheduler.profiles["berth"] is before
        (message,) = caplog.messages
        assert message.startswith("c.yaml is refused, the last good configuration stays in force:\nc.yaml: ")
        assert why in message
        assert live.metrics.config_reloads.labels("file", "rejected").value == 1

    def test_one_that_says_the_same_is_no_change(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level("INFO")
        live = Live()
        text = yaml.safe_dump(live.document).encode()
        FileReload("c.yaml", live.running, parse_config(text, source="")).take_up(b"# a comment\n" + text)
        assert caplog.messages == []
        assert not live.metrics.config_reloads._series


def test_a_good_one_after_a_bad_one_is_told_of_also_if_it_is_the_old_one(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    live = Live()
    reload = FileReload("c.yaml", live.running, live.document)
    reload.take_up(b"a: [")
    reload.take_up(yaml.safe_dump(live.document).encode())
    assert caplog.messages[-1] == "c.yaml is in force; no profile changes"


async def test_it_is_followed_until_that_is_called_off(tmp_path: Path) -> None:
    live = Live()
    path = tmp_path / "c.yaml"
    path.write_text(yaml.safe_dump({**live.document, "profiles": [{**BERTH, "plugins": weights(ImageLocality=4)}]}))
    changed = asyncio.Event()
    task = asyncio.create_task(follow(str(path), live.running, live.document, changed=changed.set, period=0.001))
    await asyncio.wait_for(changed.wait(), 10)
    assert live.weight("ImageLocality") == 4
    task.cancel()
    await asyncio.wait({task})
