"""The pictures of the documentation: `python -m e2e.page.screenshots docs/images`.

They are taken with the fonts that this machine has for system-ui, or with the font named by --font.
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from e2e.page.browser import new_page, running_browser
from e2e.page.data import World
from e2e.page.serving import Api, serving
from e2e.page.shown import SETTLED, VIEWS

# Name, view, theme, width and height, scale, phone.
_PICTURES = (
    ("page-decision", "decision/400", "light", (1240, 1240), 1, False),
    ("page-cluster", "cluster", "dark", (1240, 900), 1, False),
    ("page-phone", "", "light", (390, 780), 1.5, True),
)


async def _take(folder: Path, font: str) -> None:
    with running_browser() as browser:
        async with serving(Api(World())) as address, new_page(browser) as page:
            for name, view, theme, (width, height), scale, phone in _PICTURES:
                await page.media(prefers_color_scheme=theme)
                await page.viewport(width, height, scale=scale, phone=phone)
                await page.go(f"{address}#/{view}")
                await page.until(VIEWS[view])
                if font:
                    await page.run(f"document.documentElement.style.setProperty('--sans', {page.quoted(font)})")
                    await page.press("t", "t", "t")  # what is on a canvas is drawn anew
                await page.run(f"document.fonts.ready.then(() => {SETTLED})")
                await page.screenshot(folder / f"{name}.png")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Take the pictures of the documentation.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--font", default="", help="instead of system-ui")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(_take(given.folder, given.font))
