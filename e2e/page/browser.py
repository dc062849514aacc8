"""Chromium without a window, driven over the DevTools protocol.

The protocol is JSON over one WebSocket, which aiohttp speaks already, and it shows what a driver in between does not:
violations of the content security policy, the number of layouts, emulated media and a network that is off.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_FLAGS = (
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--remote-debugging-port=0",
    "--remote-allow-origins=*",
)
_START = 60.0
_WITHIN = 30.0
_KEYS = {
    "Enter": (13, "\r"), "Escape": (27, ""), "Tab": (9, ""), "ArrowUp": (38, ""), "ArrowDown": (40, ""),
    "ArrowLeft": (37, ""), "ArrowRight": (39, ""), "Home": (36, ""), "End": (35, ""), "PageUp": (33, ""),
    "PageDown": (34, ""), " ": (32, " "),
}  # fmt: skip
# In place before anything of the document runs, so that nothing is missed. Time passes `haste` times as fast for what
# the page puts off, so that no test waits for what takes seconds; `timers` are the delays of what is put off now.
_WATCH = """
window.violations = [];
window.haste = 20;
window.timers = new Map();
const later = window.setTimeout;
const never = window.clearTimeout;
window.setTimeout = (call, delay = 0, ...rest) => {
  const id = later(() => { window.timers.delete(id); call(...rest); }, delay / window.haste);
  window.timers.set(id, delay);
  return id;
};
window.clearTimeout = (id) => { window.timers.delete(id); never(id); };
document.addEventListener("securitypolicyviolation", (event) => {
  window.violations.push(`${event.effectiveDirective}: ${event.blockedURI} ${event.sample}`);
});
"""


class BrowserError(RuntimeError):
    """There is no browser, or it does not do what it should; the message says what to do."""


def find_browser() -> str:
    """The path of a Chromium: $CHROMIUM, or one on PATH. Raises BrowserError."""
    if explicit := os.environ.get("CHROMIUM"):
        if not os.access(explicit, os.X_OK):
            raise BrowserError(f"$CHROMIUM is {explicit}, which can't be run")
        return explicit
    for name in _NAMES:
        if found := shutil.which(name):
            return found
    raise BrowserError(
        "there is no Chromium here: install it (Debian and Ubuntu: apt-get install chromium), "
        "or set CHROMIUM to the path of a Chromium or Chrome"
    )


@contextlib.contextmanager
def running_browser() -> Iterator[str]:
    """A browser of its own, with an empty profile; the address of its WebSocket."""
    with tempfile.TemporaryDirectory(prefix="berth-chromium-", ignore_cleanup_errors=True) as profile:
        flags = [*_FLAGS, f"--user-data-dir={profile}"]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")  # Chromium refuses to sandbox as root
        with (Path(profile) / "log").open("wb") as log:
            process = subprocess.Popen([find_browser(), *flags, "about:blank"], stdout=log, stderr=log)
        try:
            yield _address(process, Path(profile))
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _address(process: subprocess.Popen[bytes], profile: Path) -> str:
    deadline = time.monotonic() + _START
    port_file = profile / "DevToolsActivePort"
    while time.monotonic() < deadline and process.poll() is None:
        lines = port_file.read_text().splitlines() if port_file.exists() else []
        if len(lines) == 2:
            return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
        time.sleep(0.02)
    raise BrowserError(f"Chromium did not start:\n{(profile / 'log').read_text(errors='replace')[-2000:]}")


class Page:
    """A page in a context of its own: no cookies and no storage but its own."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._session = ""
        self._loaded = asyncio.Event()
        self.problems: list[str] = []
        self.requests: list[str] = []
        self._reader = asyncio.create_task(self._read(), name="browser")

    async def open(self) -> None:
        """Make the context and its page."""
        context = (await self.send("Target.createBrowserContext"))["browserContextId"]
        target = await self.send("Target.createTarget", url="about:blank", browserContextId=context)
        attached = await self.send("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Performance", "Accessibility"):
            await self.send(f"{domain}.enable")
        await self.send("Page.addScriptToEvaluateOnNewDocument", source=_WATCH)
        await self.viewport(1360, 900)

    async def close(self) -> None:
        """End the connection, and with it the page."""
        self._reader.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._reader
        await self._socket.close()

    async def send(self, method: str, **parameters: Any) -> Any:
        """One command of the protocol and its result. Raises BrowserError."""
        return await self._send(method, parameters, self._session)

    async def cpu_seconds(self) -> float:
        """CPU time that the browser's pages have taken, in seconds."""
        processes = (await self._send("SystemInfo.getProcessInfo", {}, ""))["processInfo"]
        return sum(process["cpuTime"] for process in processes if process["type"] == "renderer")

    async def _send(self, method: str, parameters: dict[str, Any], session: str) -> Any:
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_str(json.dumps(message))
        async with asyncio.timeout(_WITHIN):
            return await answer

    async def go(self, url: str) -> None:
        """Load a document, anew if it is there already, and wait until it has."""
        for place in ("about:blank", url):  # by way of nothing, as a change of the part after the # loads nothing
            self._loaded.clear()
            await self.send("Page.navigate", url=place)
            async with asyncio.timeout(_WITHIN):
                await self._loaded.wait()

    async def run(self, script: str) -> Any:
        """The value of an expression; promises are awaited. Raises BrowserError where it throws."""
        result = await self.send(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True
        )
        if details := result.get("exceptionDetails"):
            raise BrowserError(details.get("exception", {}).get("description") or details["text"])
        return result["result"].get("value")

    async def until(self, condition: str) -> None:
        """Wait until an expression is true, looking once a frame. Raises BrowserError after half a minute."""
        looking = f"""new Promise((done) => {{
          const end = performance.now() + {(_WITHIN - 2) * 1000};
          const look = () => {{
            let holds = false;
            try {{ holds = Boolean({condition}); }} catch {{ holds = false; }}
            if (holds || performance.now() > end) done(holds);
            else requestAnimationFrame(look);
          }};
          look();
        }})"""
        if not await self.run(looking):
            shown = await self.text("body")
            raise BrowserError(f"it never held that {condition}\nproblems: {self.problems}\nshown:\n{shown[:2000]}")

    async def text(self, selector: str) -> str:
        """What an element shows."""
        return str(await self.run(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''"))

    async def click(self, selector: str) -> None:
        """Click where a mouse would: in the middle of an element."""
        x, y = await self.place(selector)
        await self.move(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            await self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    async def place(self, selector: str) -> tuple[float, float]:
        """The middle of an element, once it is there, scrolled into sight."""
        await self.until(f"document.querySelector({json.dumps(selector)})")
        box = await self.run(
            f"(() => {{ const found = document.querySelector({json.dumps(selector)});"
            "found.scrollIntoView({block: 'center'}); const {x, y, width, height} = found.getBoundingClientRect();"
            "return [x + width / 2, y + height / 2]; })()"
        )
        return box[0], box[1]

    async def move(self, x: float, y: float) -> None:
        """Move the mouse."""
        await self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    @staticmethod
    def quoted(text: str) -> str:
        """A text as a literal of JavaScript."""
        return json.dumps(text)

    async def press(self, *keys: str, ctrl: bool = False) -> None:
        """Press keys, one after the other."""
        for key in keys:
            code, text = _KEYS.get(key, (ord(key.upper()) if len(key) == 1 else 0, key if len(key) == 1 else ""))
            shared = {"key": key, "windowsVirtualKeyCode": code, "modifiers": 2 if ctrl else 0}
            await self.send("Input.dispatchKeyEvent", type="keyDown", **shared, **({"text": text} if text else {}))
            await self.send("Input.dispatchKeyEvent", type="keyUp", **shared)

    async def type(self, text: str) -> None:
        """Type into what has the focus."""
        await self.send("Input.insertText", text=text)

    async def viewport(self, width: int, height: int, *, scale: float = 1, phone: bool = False) -> None:
        """The size of the window."""
        await self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=phone
        )

    async def media(self, **features: str) -> None:
        """What the system prefers, for example prefers_color_scheme="dark"."""
        listed = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        await self.send("Emulation.setEmulatedMedia", features=listed)

    async def offline(self) -> None:
        """No network from now on."""
        await self.send(
            "Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0
        )

    async def metrics(self) -> dict[str, float]:
        """Counters of the page, such as Nodes, LayoutCount and ScriptDuration; what is not used any more is gone."""
        await self.send("HeapProfiler.collectGarbage")
        return {item["name"]: item["value"] for item in (await self.send("Performance.getMetrics"))["metrics"]}

    async def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """A picture of the window, or of the whole page."""
        taken = await self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        await asyncio.to_thread(path.write_bytes, base64.b64decode(taken["data"]))

    async def violations(self) -> list[str]:
        """What the content security policy kept from happening."""
        return list(await self.run("window.violations"))

    async def _read(self) -> None:
        async for message in self._socket:
            content = json.loads(message.data)
            if "id" in content:
                self._resolve(content)
            else:
                self._note(content["method"], content.get("params", {}))

    def _resolve(self, content: dict[str, Any]) -> None:
        answer = self._answers.pop(content["id"])
        if answer.done():
            return
        if "error" in content:
            answer.set_exception(BrowserError(content["error"]["message"]))
        else:
            answer.set_result(content["result"])

    def _note(self, method: str, parameters: dict[str, Any]) -> None:
        if method == "Page.loadEventFired":
            self._loaded.set()
        elif method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            entry = parameters["entry"]
            self.problems.append(f"{entry['source']}: {entry['text']} {entry.get('url', '')}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])


@contextlib.asynccontextmanager
async def new_page(address: str) -> AsyncIterator[Page]:
    """A page of the browser that listens at `address`."""
    async with aiohttp.ClientSession() as session, session.ws_connect(address, max_msg_size=0) as socket:
        page = Page(socket)
        try:
            await page.open()
            yield page
        finally:
            await page.close()
