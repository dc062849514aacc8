from __future__ import annotations

import asyncio
import json
import platform
import time

from scheduler.server.pages import configz, flagz, statusz, tasks

WARNING = (
    "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees "
    "and is for debugging purposes only."
)


def test_configz_has_the_configuration_under_its_component_name():
    assert json.loads(configz({"kind": "KubeSchedulerConfiguration"})) == {
        "componentconfig": {"kind": "KubeSchedulerConfiguration"}
    }


def test_flagz_is_ordered_by_name():
    assert flagz("berth", {"v": "2", "config": ""}) == f"\nberth flagz\n{WARNING}\nconfig=\nv=2\n"


def test_statusz():
    started = time.time() - 3725.5
    lines = statusz(
        "berth",
        version="0.1.0",
        kubernetes_version="v1.37.2",
        started=started,
        paths=["/readyz/ping", "/readyz", "/metrics/slis"],
    ).splitlines()
    assert lines[:5] == ["", "berth statusz", WARNING, "", lines[4]]
    assert lines[4].startswith("Started: ")
    assert lines[4].endswith(time.strftime("%Y", time.gmtime(started)))
    assert lines[5].startswith("Up: 1 hr 02 min 0")
    assert lines[6:] == [
        f"Python version: {platform.python_version()}",
        "Binary version: 0.1.0",
        "Kubernetes version: v1.37.2",
        "Paths: /metrics /readyz",
    ]


async def test_tasks_shows_where_each_task_is():
    async def stuck_somewhere():
        await asyncio.Event().wait()

    task = asyncio.create_task(stuck_somewhere(), name="binding of ns/pod")
    await asyncio.sleep(0)
    text = tasks()
    task.cancel()
    assert "binding of ns/pod:\n" in text
    assert "in stuck_somewhere" in text
