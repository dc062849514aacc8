"""The page in Chromium: usable by keyboard, legible in both themes, and on a phone."""

from __future__ import annotations

import pytest

from e2e.page.data import World
from e2e.page.shown import FAINT, HEAT_ROWS, SETTLED, VIEWS, opened, small


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
async def test_texts_stand_out_enough_in_both_themes(browser, view, theme):
    async with opened(browser, small(), view) as page:
        await page.media(prefers_color_scheme=theme)
        await page.until(f"document.documentElement.dataset.theme === '{theme}'")
        await page.run(SETTLED)
        assert await page.run(FAINT) == []


@pytest.mark.parametrize("view", VIEWS)
async def test_a_phone_shows_each_view_without_scrolling_sideways(browser, view):
    async with opened(browser, World(nodes=500, pods=5000), view) as page:
        await page.viewport(360, 740, scale=2, phone=True)
        await page.run(SETTLED)
        assert await page.run("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("view", VIEWS)
async def test_everything_that_takes_focus_has_a_name(browser, view):
    async with opened(browser, small(), view) as page:
        tree = (await page.send("Accessibility.getFullAXTree"))["nodes"]
        roles = ("button", "link", "textbox", "searchbox", "grid", "radio", "combobox")
        nameless = [
            node["role"]["value"]
            for node in tree
            if not node["ignored"] and node["role"]["value"] in roles and not node.get("name", {}).get("value")
        ]
        assert nameless == []


async def test_the_tab_key_leads_through_the_page_in_the_order_that_is_seen(browser):
    async with opened(browser, small(), "decision/400") as page:
        order = []
        for _ in range(9):
            await page.press("Tab")
            order.append(await page.focused())
        assert order[:8] == [
            "Skip to content",
            "Berth: the queue",
            "Queue",
            "Decisions",
            "Cluster",
            "Search/",
            "Colours: as the system has it. Change",
            "Keys",
        ]
        assert await page.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"


async def test_keys_open_views_search_and_help(browser):
    async with opened(browser, small()) as page:
        await page.press("3")
        await page.until(VIEWS["cluster"])
        assert await page.focused() == "Cluster"
        await page.press("2")
        await page.until(VIEWS["decisions"])
        await page.press("?")
        await page.until("document.querySelector('dialog.keys').open")
        await page.press("Escape")
        await page.until("!document.querySelector('dialog.keys').open")
        await page.press("t", "t")
        await page.until("document.documentElement.dataset.theme === 'dark'")
        await page.go(f"{page.address}#/decisions")
        await page.until("document.documentElement.dataset.theme === 'dark'")


async def test_the_heat_map_is_walked_sorted_and_opened_by_keys(browser):
    async with opened(browser, small(), "decision/400") as page:
        await page.run("document.querySelector('.heat .grid').focus()")
        await page.press("ArrowRight", "ArrowRight", "ArrowRight")
        said = await page.text("#announce")
        assert "NodeAffinity" in said
        assert "raw" in said
        assert "normalized" in said
        await page.press("ArrowUp", "Enter")
        await page.until("document.querySelector('[aria-sort=descending]')?.textContent.startsWith('NodeAffinity')")
        await page.run(SETTLED)  # the rows follow the heading
        shown = [int(row[3]) for row in await page.run(HEAT_ROWS)]
        assert shown == sorted(shown, reverse=True)
        await page.press("Enter")
        await page.until("document.querySelector('[aria-sort=ascending]')?.textContent.startsWith('NodeAffinity')")
        await page.press("End", ctrl=True)
        last = "document.getElementById(document.querySelector('.heat .grid').getAttribute('aria-activedescendant'))"
        assert await page.run(f"Number({last}.parentElement.getAttribute('aria-rowindex'))") == await page.run(
            "Number(document.querySelector('.heat .grid').getAttribute('aria-rowcount'))"
        )
        await page.press("Home", "Enter")
        await page.until("location.hash.startsWith('#/node/')")


async def test_the_map_of_the_cluster_is_walked_by_keys(browser):
    async with opened(browser, small(), "cluster") as page:
        await page.run("document.querySelector('.packing-canvas').focus()")
        first = await page.text("#announce")
        assert "requested" in first
        await page.press("ArrowRight", "ArrowDown")
        assert await page.text("#announce") != first
        await page.press("End", "Enter")
        await page.until("location.hash.startsWith('#/node/')")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1360])
async def test_the_search_is_legible_in_both_themes_at_any_width(browser, theme, width):
    async with opened(browser, small()) as page:
        await page.media(prefers_color_scheme=theme)
        await page.viewport(width, 740, phone=width < 500)
        await page.press("/")
        await page.type("a")
        await page.until("document.querySelectorAll('.found [role=option]').length > 10")
        await page.run(SETTLED)
        assert await page.run(FAINT) == []
        found = "document.querySelector('.found')"
        assert await page.run(f"{found}.scrollWidth <= {found}.clientWidth")
        assert await page.run("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("view", VIEWS)
async def test_nothing_moves_by_itself(browser, view):
    async with opened(browser, small(), view) as page:
        assert await page.run("document.getAnimations().length") == 0
        moving = "[...document.querySelectorAll('*')].map((element) => getComputedStyle(element))"
        assert await page.run(f"{moving}.filter((style) => style.transitionDuration !== '0s').length") == 0
        assert await page.run(f"{moving}.filter((style) => style.scrollBehavior !== 'auto').length") == 0
