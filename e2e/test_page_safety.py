"""The page in Chromium: names are only texts, nothing comes from elsewhere, and a report needs no network."""

from __future__ import annotations

import asyncio
import sys

import msgspec
import pytest
from msgspec.structs import replace

from e2e.page.browser import BrowserError, new_page
from e2e.page.data import HOSTILE
from e2e.page.shown import SETTLED, VIEWS, opened, small
from scheduler.explain.views import Rejected, SummaryPage
from scheduler.server.page.document import packed, report

CREATED = "main img, main script, #bar img, #bar script, dialog img, .tooltip img"
"""What would be there if a name had been taken for markup."""


def hostile_world():
    """A cluster in which every name and message is hostile."""
    world = small()
    world.names = (HOSTILE, *world.names[1:])
    world.view = replace(
        world.view,
        names=world.names,
        zones=(HOSTILE,) * 60,
        taints=(HOSTILE,) * 60,
        resources=("cpu", "memory", HOSTILE),
        allocatable={**world.view.allocatable, HOSTILE: (4,) * 60},
        requested={**world.view.requested, HOSTILE: (2,) * 60},
    )
    changes = {"pod": f"{HOSTILE}/{HOSTILE}", "message": HOSTILE, "profile": HOSTILE}
    world.summaries = [replace(item, **changes) for item in world.summaries]
    pending = world.pending()
    changes = {"cause": HOSTILE, "owner": HOSTILE, "example": f"a/{HOSTILE}", "pods": (f"a/{HOSTILE}",)}
    groups = tuple(replace(group, plugins=(HOSTILE,), **changes) for group in pending.groups)
    world.pending = lambda: replace(pending, groups=groups)
    decision = world.decision(400)
    columns = tuple(replace(column, plugin=HOSTILE + column.plugin) for column in decision.feasible.columns)
    feasible = replace(decision.feasible, names=(HOSTILE, *decision.feasible.names[1:]), columns=columns)
    rejected = (Rejected(plugin=HOSTILE, code=HOSTILE, reasons=(HOSTILE,), nodes=(HOSTILE,)),)
    hostile = replace(decision, rejected=rejected, feasible=feasible, incomplete=HOSTILE)
    world.decision = lambda number: hostile
    return world


@pytest.mark.parametrize("view", VIEWS)
async def test_each_view_breaks_no_rule_and_asks_nobody_else(browser, view):
    async with opened(browser, small(), view) as page:
        here = page.address.removesuffix("page")
        assert [request for request in page.requests if not request.startswith((here, "data:", "about:"))] == []


async def test_hostile_names_are_only_texts(browser):
    async with opened(browser, hostile_world()) as page:
        for view in ("", "decisions", "decision/400", "cluster", "pod/a/%3Cb%3E"):
            await page.show(view, "document.querySelector('main').innerText.includes('onerror')")
            await page.run(SETTLED)
            assert await page.run(f"document.querySelectorAll('{CREATED}').length") == 0
        await page.show("cluster")
        await page.run("document.querySelector('.packing-canvas').focus()")
        await page.until("document.querySelector('.tooltip').innerText.includes('onerror')")
        await page.press("/")
        await page.type("onerror")
        await page.until("document.querySelectorAll('.found .name').length > 1")
        assert "onerror" in await page.text(".found")
        assert await page.run(f"document.querySelectorAll('{CREATED}').length") == 0
        assert await page.run("window.hacked === undefined")


@pytest.mark.parametrize(
    "place",
    [
        "#/decision/<img src=x onerror=hacked=1>",
        "#/pod/a/%3Cscript%3Ehacked=1%3C%2Fscript%3E",
        "#/%E0%A4%A",
        "#/__proto__",
        "#/decisions?pod=<img src=x onerror=hacked=1>",
    ],
)
async def test_a_hostile_address_is_only_a_text(browser, place):
    async with opened(browser, small()) as page:
        await page.run(f"location.hash = {page.quoted(place)}")
        await page.until("document.querySelector('h1') && document.querySelectorAll('.group').length === 0")
        await page.run(SETTLED)
        assert await page.run(f"document.querySelectorAll('{CREATED}').length") == 0
        assert await page.run("window.hacked === undefined")
        page.problems.clear()  # the API does not know it, and says so by its status


async def test_markup_cant_be_made_of_strings_by_anything(browser):
    async with opened(browser, small()) as page:
        with pytest.raises(BrowserError, match="TrustedHTML"):
            await page.run("document.body.innerHTML = '<b>x</b>'")
        assert await page.violations()
        await page.run("window.violations.length = 0")
        page.problems.clear()


async def test_a_report_works_from_a_file_without_a_network(browser, tmp_path):
    world = small()
    answers = {
        "overview": world.overview(),
        "pending": world.pending(),
        "nodes": world.view,
        "decisions": SummaryPage(items=tuple(reversed(world.summaries))),
        "decisions/400": world.decision(400),
        "pods/ml/trainer-0": world.pod("ml", "trainer-0"),
        "pods/ml/trainer-0/evaluation": world.evaluation("ml", "trainer-0"),
        f"nodes/{HOSTILE}": world.node(world.names[0]),
    }
    file = tmp_path / "report.html"
    answers = {path: packed(msgspec.json.encode(view)) for path, view in answers.items()}
    file.write_bytes(report(f"what if {HOSTILE}", answers, notes=[HOSTILE]).html)
    async with new_page(browser) as page:
        await page.offline()
        await page.go(f"{file.as_uri()}#/")
        for view in ("decisions", "decision/400", "pod/ml/trainer-0", "cluster", ""):
            await page.run(f"location.hash = {page.quoted('#/' + view)}")
            await page.until(VIEWS[view])
        await page.click(".group .help button")
        await page.until("document.querySelector('.fresh')")
        await page.run("location.hash = '#/decisions?result=Error'")
        await page.until("document.querySelectorAll('.decisions .badge.bad').length > 3")
        assert "what if <img" in await page.text("#bar")
        assert await page.text(".state") == "report"
        assert [request for request in page.requests if not request.startswith(("file:", "data:", "about:"))] == []
        assert await page.run("window.hacked === undefined")
        assert page.problems == []
        assert await page.violations() == []


async def test_a_simulation_is_handed_around_as_one_file(browser, tmp_path):
    berth = [sys.executable, "-m", "scheduler", "simulate", "-f", "deploy/examples", "-o", "html"]
    process = await asyncio.create_subprocess_exec(*berth, stdout=asyncio.subprocess.PIPE)
    made, _ = await process.communicate()
    assert process.returncode == 0
    file = tmp_path / "report.html"
    await asyncio.to_thread(file.write_bytes, made)
    async with new_page(browser) as page:
        await page.offline()
        await page.go(f"{file.as_uri()}#/pod/default/cache")
        await page.until("document.querySelector('.comparison')")
        sentence = await page.text(".sentence")
        assert sentence.startswith("637 points, the most; 5 of 6 nodes fit. 176 ahead of c2: NodeAffinity +200")
        await page.run("location.hash = '#/pod/default/analytics'")
        await page.until("document.querySelector('h1').textContent.includes('analytics')")
        await page.click(".help button")
        await page.until("document.querySelectorAll('.helps li').length > 3")
        assert "1500m less CPU" in await page.text(".helps")
        await page.run("location.hash = '#/cluster'")
        await page.until("document.querySelectorAll('.grid-row').length === 6")
        await page.press("/")
        await page.type("WEB")
        await page.until("document.querySelectorAll('.found [role=option]').length === 4")
        assert "default/web-1\non c2" in await page.text(".found")
        assert page.problems == []
        assert await page.violations() == []
