"""The page of a made-up cluster, opened; and what tests ask of it."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from e2e.page.browser import Page, new_page
from e2e.page.data import World
from e2e.page.serving import Api, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

VIEWS = {
    "": "document.querySelectorAll('.group').length === 4",
    "decisions": "document.querySelector('.decisions tbody tr')",
    "decision/400": "document.querySelector('.heat .grid-row')",
    "decision/399": "document.querySelector('.message')",
    "pod/ml/trainer-0": "document.querySelector('.history')",
    "cluster": "document.querySelector('.packing-canvas').height > 10 && document.querySelector('.grid-row')",
    "node/pool-a-0003": "document.querySelectorAll('.figure').length > 2 && document.querySelector('h2')",
}
"""Each view with what is there once it stands."""
FAINT = (Path(__file__).parent / "contrast.js").read_text()
"""Texts with too little contrast."""
PUT_OFF = "[...window.timers.values()].filter((delay) => delay > 1000)"
"""What the page means to do later."""
SETTLED = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
HEAT_ROWS = """[...document.querySelectorAll('.heat .grid-row')]
  .sort((a, b) => a.dataset.row - b.dataset.row)
  .map((row) => [...row.children].map((cell) => cell.textContent))"""
"""The texts of the heat map's rows in sight."""


class Opened:
    """The page with the API that it asks."""

    def __init__(self, page: Page, api: Api, address: str) -> None:
        self.page = page
        self.api = api
        self.address = address

    def __getattr__(self, name: str) -> Any:
        return getattr(self.page, name)

    async def show(self, view: str, ready: str = "") -> None:
        """Go to a view, as a link would."""
        await self.page.run(f"location.hash = {Page.quoted('#/' + view)}")
        await self.page.until(ready or VIEWS[view])

    async def polled(self, times: int = 4) -> list[int]:
        """Wait until the API was asked so often again; the statuses that it gave."""
        before = len(self.api.asked)
        while len(self.api.asked) < before + times:
            await self.page.run(SETTLED)
        return [status for _, status in self.api.asked[before:]]

    async def focused(self) -> str:
        """The name of what has the focus."""
        active = "document.activeElement"
        return str(await self.page.run(f"{active}.getAttribute('aria-label') || {active}.textContent.trim()"))


@contextlib.asynccontextmanager
async def opened(browser: str, world: World, view: str = "", ready: str = "") -> AsyncIterator[Opened]:
    """The page with a view of it shown. In the end nothing may have gone wrong in it."""
    api = Api(world)
    async with serving(api) as address, new_page(browser) as page:
        await page.go(f"{address}#/{view}")
        await page.until(ready or VIEWS[view])
        yield Opened(page, api, address)
        assert page.problems == []
        assert await page.violations() == []


def small() -> World:
    """A cluster that is quickly made."""
    return World(nodes=60, pods=600)
