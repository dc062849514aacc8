"""What the page costs a browser with a large cluster: `python -m e2e.page.measure`.

Times are in milliseconds. `cpu` is the CPU time of the page's process, whatever else the machine does;
`wait` is on the clock, from the step to the frame after which it is seen.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from typing import TYPE_CHECKING

from e2e.page.browser import new_page, running_browser
from e2e.page.data import World
from e2e.page.serving import Api, serving
from e2e.page.shown import SETTLED, VIEWS

if TYPE_CHECKING:
    from e2e.page.browser import Page

_FIRST = "document.querySelector('.heat .grid-row')"
# What is done, how, and when it is there.
_STEPS = (
    ("open the queue", "location.hash = '#/'", VIEWS[""]),
    ("open the decisions", "location.hash = '#/decisions'", VIEWS["decisions"]),
    ("open a decision", "location.hash = '#/decision/400'", VIEWS["decision/400"]),
    ("sort it by a plugin", "document.querySelectorAll('.heat .cell.head')[3].click()", _FIRST),
    ("scroll it by 1,000 rows", "document.querySelector('.heat .grid').scrollTop += 28000", _FIRST),
    ("show raw values", "document.querySelector('input[value=raw]').click()", _FIRST),
    ("open the cluster", "location.hash = '#/cluster'", VIEWS["cluster"]),
    ("colour it by memory", "document.querySelector('input[value=memory]').click()", VIEWS["cluster"]),
    ("group it by taint", "document.querySelector('input[value=taint]').click()", VIEWS["cluster"]),
    ("sort its table", "document.querySelectorAll('.cell.head')[0].click()", VIEWS["cluster"]),
    ("let it be polled unchanged", "new Promise((done) => setTimeout(done, 2500))", VIEWS["cluster"]),
)


async def _step(page: Page, name: str, script: str, ready: str) -> None:
    before = await page.metrics()
    cpu, start = await page.cpu_seconds(), time.perf_counter()
    await page.run(script)
    await page.until(ready)
    await page.run(SETTLED)
    waited = time.perf_counter() - start
    spent = f"{(await page.cpu_seconds() - cpu) * 1e3:9.0f}"
    after = await page.metrics()
    layouts = after["LayoutCount"] - before["LayoutCount"]
    print(f"{name:28}{spent}{waited * 1e3:9.0f}{layouts:9.0f}{after['Nodes']:9.0f}{after['JSHeapUsedSize'] / 1e6:9.1f}")


async def _main(nodes: int, pods: int) -> None:
    print(f"{nodes:,} nodes, {pods:,} pods")
    print(f"{'':28}" + "".join(f"{name:>9}" for name in ("cpu", "wait", "layouts", "nodes", "MB")))
    with running_browser() as browser:
        async with serving(Api(World(nodes=nodes, pods=pods))) as address, new_page(browser) as page:
            await page.go(address)
            await page.run("window.haste = 1")
            for name, script, ready in _STEPS:
                await _step(page, name, script, ready)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure the page.")
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=50_000)
    given = parser.parse_args()
    asyncio.run(_main(given.nodes, given.pods))
