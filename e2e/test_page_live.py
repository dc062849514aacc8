"""`berth page` in Chromium, through the real API server's port forward, with nothing but a user's kubeconfig."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from e2e.berth import ROOT, Berth, placements, pod
from e2e.controlplane import wait_until
from e2e.page.browser import new_page
from e2e.test_explain import bind, explained, person  # noqa: F401 (a fixture)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from e2e.controlplane import ControlPlane

pytestmark = pytest.mark.usefixtures("rights")


@asynccontextmanager
async def berth_page(kubeconfig: Path) -> AsyncIterator[str]:
    """The command at work; the address that it printed. It must end well when it is interrupted."""
    command = [sys.executable, "-m", "scheduler", "page", "--no-browser", f"--kubeconfig={kubeconfig}"]
    process = await asyncio.create_subprocess_exec(
        *command,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        # Tests that a shell runs in the background have been told to ignore it, and would hand that on.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None
    address = (await process.stdout.readline()).decode().strip()
    try:
        yield address
    finally:
        process.send_signal(signal.SIGINT)
        assert await process.wait() == 0


async def test_the_page_shows_what_the_scheduler_did_with_a_users_rights(
    control_plane: ControlPlane,
    explained: Berth,  # noqa: F811
    emptied: str,
    nodes: list[str],
    browser: str,
) -> None:
    control_plane.api.create(pod("web-1", emptied))
    control_plane.api.create(pod("big-1", emptied, cpu="900"))
    wait_until("web-1 to be bound", lambda: placements(control_plane, emptied).get("web-1"))
    placed = placements(control_plane, emptied)["web-1"]
    bind(control_plane, person("jane"))
    async with berth_page(control_plane.kubeconfig("jane")) as address, new_page(browser) as page:
        await page.go(f"{address}#/decisions")
        await page.until("document.querySelectorAll('.decisions tbody tr').length >= 2")
        await page.run(f"location.hash = '#/pod/{emptied}/web-1'")
        await page.until(f"document.querySelector('.facts')?.innerText.includes('{placed}')")
        await page.until("document.querySelector('.recorded .sentence')")
        await page.run(f"location.hash = '#/pod/{emptied}/big-1'")
        await page.click(".help button")
        await page.until("document.querySelector('.helps')?.innerText.includes('CPU')")
        await page.run("location.hash = '#/'")
        await page.until(f"document.querySelector('.groups')?.innerText.includes('{emptied}/big-1')")
        await page.run("location.hash = '#/cluster'")
        await page.until(f"document.querySelector('.grid-body')?.innerText.includes('{placed}')")
        await page.press("/")
        await page.type("eb-1")
        await page.until(f"document.querySelector('.found')?.innerText.includes('on {placed}')")
        assert page.problems == []
        assert await page.violations() == []
