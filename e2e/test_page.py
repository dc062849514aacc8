"""The page in Chromium: what is shown, live, and at the size of a large cluster."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from e2e.page.data import World
from e2e.page.shown import HEAT_ROWS, PUT_OFF, SETTLED, VIEWS, opened, small

HIDE = """
  Object.defineProperty(document, "hidden", {value: %s, configurable: true});
  document.dispatchEvent(new Event("visibilitychange"));
"""


async def test_decisions_run_by_until_paused(browser):
    async with opened(browser, small(), "decisions") as page:
        first = page.api.world.decide()
        await page.until(
            f"document.querySelector('.decisions tbody tr').innerText.includes('{first.pod.split('/')[1]}')"
        )
        await page.press("p")
        await page.until("document.querySelector('.state').textContent === 'paused'")
        page.api.world.decide()
        assert await page.run(PUT_OFF) == []
        assert await page.run("document.querySelector('.decisions tbody tr').dataset.key") == "401"
        await page.press("p")
        await page.until("document.querySelector('.state').textContent === 'live'")
        await page.until("document.querySelector('.decisions tbody tr').dataset.key === '402'")


async def test_what_did_not_change_is_not_sent_or_drawn_again(browser):
    async with opened(browser, small(), "decisions") as page:
        await page.run("document.querySelector('.decisions tbody tr').dataset.mark = 'mine'")
        page.api.world.decide()
        await page.until("document.querySelector('.decisions tbody tr').dataset.key === '401'")
        assert await page.run("document.querySelectorAll('.decisions tbody tr')[1].dataset.mark") == "mine"
        assert set((await page.polled())[1:]) == {304}


async def test_a_hidden_page_asks_for_nothing(browser):
    async with opened(browser, small(), "decisions") as page:
        await page.run(HIDE % "true")
        await page.until("document.querySelector('.state').title.includes('hidden')")
        assert await page.run(PUT_OFF) == []
        await page.run(HIDE % "false")
        await page.until("document.querySelector('.state').textContent === 'live'")


async def test_a_scheduler_that_does_not_answer_is_asked_less_often(browser):
    async with opened(browser, small(), "decisions") as page:
        page.api.broken = True
        await page.until("document.querySelector('.state').textContent.startsWith('no answer')")
        assert await page.run("document.querySelectorAll('.decisions tbody tr').length") == 100
        for least in (3000, 6000, 12_000, 23_000):
            await page.until(f"Math.max(...window.timers.values()) > {least}")
        page.api.broken = False
        await page.until("document.querySelector('.state').textContent === 'live'")
        page.problems.clear()


async def test_filters_are_in_the_address_and_come_from_it(browser):
    async with opened(browser, small(), "decisions?result=Unschedulable&namespace=data", VIEWS["decisions"]) as page:
        results = "[...new Set([...document.querySelectorAll('.decisions .badge')].map((badge) => badge.textContent))]"
        pods = "[...document.querySelectorAll('.decisions tbody td:nth-child(2)')].map((cell) => cell.textContent)"
        assert await page.run(results) == ["▲ Unschedulable"]
        assert all(pod.startswith("data/") for pod in await page.run(pods))
        await page.click("input[name=pod]")
        await page.type("mail")
        await page.until("location.hash.includes('pod=mail')")
        await page.until("document.querySelectorAll('.decisions tbody tr').length < 10")
        assert all("mail" in pod for pod in await page.run(pods))
        assert await page.run("location.hash") == "#/decisions?result=Unschedulable&namespace=data&pod=mail"


async def test_older_decisions_come_on_demand(browser):
    async with opened(browser, small(), "decisions") as page:
        for rows in (200, 300, 400):
            await page.click("main > button.quiet")
            await page.until(f"document.querySelectorAll('.decisions tbody tr').length === {rows}")
        assert await page.run("document.querySelector('main > button.quiet').hidden")


FOUND = "document.querySelector('.found').innerText"
"""What the search lists."""


async def test_search_finds_nodes_and_pods_by_a_part_of_their_names(browser):
    async with opened(browser, small()) as page:
        await page.press("/")
        await page.type("pool-a-000")
        await page.until(f"{FOUND}.includes('pool-a-0003')")
        await page.press("ArrowDown", "Enter")
        await page.until("location.hash === '#/node/pool-a-0003'")
        await page.until("document.querySelector('h1').textContent.includes('pool-a-0003')")
        await page.press("/")
        await page.type("trainer-1")
        await page.until(f"{FOUND}.includes('ml/trainer-1')")
        assert "pending" in await page.run(FOUND)
        await page.press("Enter")
        await page.until("document.querySelector('h1').textContent.includes('ml/trainer-1')")


async def test_search_finds_any_pod_that_runs_and_says_where(browser):
    async with opened(browser, World(nodes=5000, pods=50_000)) as page:
        await page.press("/")
        await page.type("MAILER-4321")
        await page.until(f"{FOUND}.includes('shop/mailer-4321-4')")
        assert "on pool-b-4321" in await page.run(FOUND)
        await page.run("document.querySelector('.search input').value = ''")
        await page.type("mailer")
        await page.until(f"{FOUND}.includes('more pods: a longer part finds fewer')")
        assert await page.run("document.querySelectorAll('.found [role=option]').length") == 10
        await page.press("ArrowUp")
        last = "document.getElementById(document.querySelector('.search input').getAttribute('aria-activedescendant'))"
        assert await page.run(f"{last} === [...document.querySelectorAll('.found [role=option]')].at(-1)")
        list_, item = (f"{name}.getBoundingClientRect()" for name in ("document.querySelector('.found')", last))
        assert await page.run(f"{item}.bottom <= {list_}.bottom + 1")


async def test_who_types_a_nodes_name_gets_it_before_its_own_pods(browser):
    world = small()
    pending = world.pending()
    groups = tuple(replace(group, pods=("kube-system/proxy-pool-a-0003",)) for group in pending.groups)
    world.pending = lambda: replace(pending, groups=groups)
    async with opened(browser, world) as page:
        await page.press("/")
        await page.type("pool-a-0003")
        await page.until(f"{FOUND}.includes('proxy-pool-a-0003')")
        assert (await page.run(FOUND)).split() == [
            "node", "pool-a-0003", "pod", "kube-system/proxy-pool-a-0003", "pending"
        ]  # fmt: skip


async def test_enter_opens_what_the_text_finds_as_it_is_then(browser):
    async with opened(browser, small()) as page:
        await page.press("/")
        await page.type("pool-a-000")
        await page.until(f"{FOUND}.includes('pool-a-0000')")
        await page.type("6")
        await page.press("Enter")
        await page.until("location.hash === '#/node/pool-a-0006'")
        await page.press("/")
        await page.type("kube-system/not-in-any-list")
        await page.press("Enter")
        await page.until("location.hash === '#/pod/kube-system/not-in-any-list'")


async def test_keys_are_heeded_in_the_very_moment_that_the_search_closes(browser):
    async with opened(browser, small()) as page:
        await page.press("/")
        await page.until("document.querySelector('dialog.search').open")
        # The browser takes the focus off a field that is shown no more only when it draws next.
        assert await page.run(
            """(() => {
              const dialog = document.querySelector("dialog.search");
              dialog.close();
              const key = new KeyboardEvent("keydown", { key: "/", bubbles: true });
              dialog.querySelector("input").dispatchEvent(key);
              return dialog.open;
            })()"""
        )


async def test_closing_the_search_ends_no_search_begun_since(browser):
    async with opened(browser, small()) as page:
        await page.press("/")
        await page.until("document.querySelector('dialog.search').open")
        # That a dialog has closed is told later than it happens: here, when it is open again.
        await page.run(
            """(() => {
              const dialog = document.querySelector("dialog.search");
              const press = (to, key) => to.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
              dialog.close();
              press(document.body, "/");
              const input = dialog.querySelector("input");
              input.value = "pool-a-0006";
              press(input, "Enter");
            })()"""
        )
        await page.until("location.hash === '#/node/pool-a-0006'")


async def test_scores_of_the_heat_map_multiply_and_add_up(browser):
    async with opened(browser, small(), "decision/400") as page:
        decision = page.api.world.decision(400)
        await page.run("document.querySelector('.heat .grid').focus()")
        for name, total, *points in await page.run(HEAT_ROWS):
            place = decision.feasible.names.index(name)
            assert int(total.replace(",", "")) == decision.feasible.totals[place]
            assert [int(value) for value in points] == [column.weighted[place] for column in decision.feasible.columns]
            assert int(total.replace(",", "")) == sum(int(value) for value in points)
        x, y = await page.place(".heat .grid-row .cell:nth-child(4)")
        await page.move(x, y)
        await page.until("!document.querySelector('.tooltip').hidden")
        tip = (await page.text(".tooltip")).split()
        assert "raw" in tip
        assert "normalized" in tip
        assert "weight" in tip


@pytest.mark.parametrize("width", [360, 900, 1900])
@pytest.mark.parametrize("view", ["decision/400", "cluster"])
async def test_columns_of_a_grid_are_in_line_with_their_heads(browser, view, width):
    async with opened(browser, small(), view) as page:
        await page.viewport(width, 800)
        await page.run(SETTLED)
        lefts = "[...%s.children].map((cell) => Math.round(cell.getBoundingClientRect().left))"
        heads = await page.run(lefts % "document.querySelector('.grid-head')")
        assert len(heads) == len(set(heads))
        assert await page.run(lefts % "document.querySelector('.grid-row')") == heads


async def test_the_winner_is_compared_with_any_node_asked_for(browser):
    async with opened(browser, small(), "decision/400") as page:
        decision = page.api.world.decision(400)
        asked = decision.feasible.names[5]
        assert decision.feasible.names[1] in await page.text(".comparison thead")
        await page.click(".verdict input")
        await page.type(asked)
        await page.press("Enter")
        await page.until(f"document.querySelector('.comparison thead').innerText.includes('{asked}')")
        assert await page.run("location.hash") == f"#/decision/400?node={asked}"
        turned_down = decision.rejected[0].nodes[0]
        await page.run("document.querySelector('.verdict input').value = ''")
        await page.type(turned_down)
        await page.press("Enter")
        await page.until("document.querySelector('.verdict').innerText.includes('turned down by NodeResourcesFit')")


async def test_what_would_help_comes_on_demand_and_says_that_it_is_fresh(browser):
    async with opened(browser, small()) as page:
        await page.click(".group .help button")
        await page.until("document.querySelector('.fresh')")
        text = await page.text(".fresh")
        for part in (
            "Evaluated anew", "300m less CPU", "opens 12 nodes", "5 + 1 − 1 = 5 > 1", "Nearest miss",
            "Preemption would help now: it would evict", "a victim of priority 50 instead of 0", "and 10 more",
        ):  # fmt: skip
            assert part in text
        await page.polled()
        assert await page.run("document.querySelector('.fresh') !== null"), "a later answer must not take it away"


async def test_the_map_is_grouped_and_coloured_as_asked(browser):
    async with opened(browser, small(), "cluster?resource=memory&group=taint", VIEWS["cluster"]) as page:
        await page.run("document.querySelector('.packing-canvas').focus()")
        assert "dedicated=gpu:NoSchedule" in await page.text("#announce")
        assert await page.run("document.querySelector('input[name=resource]:checked').value") == "memory"
        await page.run("document.querySelector('input[name=group][value=zone]').click()")
        assert await page.run("location.hash") == "#/cluster?resource=memory&group=zone"


async def test_a_large_cluster_is_drawn_a_screen_at_a_time(browser):
    async with opened(browser, World(nodes=5000, pods=50_000), "decision/400") as page:
        rows = "document.querySelectorAll('.heat .grid-row').length"
        assert await page.run("document.querySelector('.heat .grid').getAttribute('aria-rowcount')") == "3751"
        assert await page.run(rows) < 50
        before = await page.metrics()
        for step in range(1, 21):
            await page.run(f"document.querySelector('.heat .grid').scrollTop = {step} * 4000; {SETTLED}")
        after = await page.metrics()
        assert await page.run(rows) < 60
        assert after["Nodes"] - before["Nodes"] < 500
        # Two a frame at most: one for the new rows, one for what scrolling itself does. Anything that reads and writes
        # in turns comes to hundreds.
        assert after["LayoutCount"] - before["LayoutCount"] <= 80
