"""`berth page`: the page of the running scheduler, in a browser on this machine."""

from __future__ import annotations

import asyncio
import os
import sys
import webbrowser
from typing import TYPE_CHECKING, Final

from scheduler.cli.parsers import add_command, port
from scheduler.cli.problems import FAILED, OK, complain

if TYPE_CHECKING:
    import argparse

    from scheduler.cli.parsers import SubParsers

_EPILOG: Final = """\
examples:
  berth page                          open it, with the cluster and the credentials of your kubeconfig
  berth page --no-browser             only print its address
  berth page --port 8080              at this port of 127.0.0.1, for a tunnel to the machine that you sit at
  berth page --server https://host:10259 --certificate-authority ca.crt

The page is served on 127.0.0.1 below a secret path, and asks the scheduler with your rights: treat its address as you
would treat a password. It ends with Ctrl-C.

Exit status: 0 once it is ended, 1 if the scheduler can't be asked, 2 for unusable flags.
"""


def add_parser(subparsers: SubParsers) -> None:
    """Add the command to those of `berth`."""
    from scheduler.cli.reaching import RIGHTS, add_flags

    parser = add_command(
        subparsers,
        "page",
        help="the queue, every decision and the cluster in a browser",
        description="Show the running scheduler's page in a browser on this machine.",
        epilog=_EPILOG + "\n" + RIGHTS,
    )
    parser.add_argument("--no-browser", action="store_true", help="print the address, and open nothing")
    parser.add_argument("--port", type=port, default=0, metavar="PORT", help="of 127.0.0.1 (default: any that is free)")
    add_flags(parser)


def main(namespace: argparse.Namespace) -> int:
    """Run the command; its exit status."""
    from scheduler.app.reach import ReachError
    from scheduler.client.auth import AuthError

    try:
        asyncio.run(_serve(namespace))
    except KeyboardInterrupt:
        return OK
    except AuthError as problem:
        return complain(problem)
    except ReachError as problem:
        return complain(problem, code=FAILED)
    except OSError as problem:
        return complain(f"--port {namespace.port}: {problem.strerror or problem}", code=FAILED)
    return OK


async def _serve(namespace: argparse.Namespace) -> None:
    from scheduler.app.asking import Asking
    from scheduler.app.page_proxy import PageProxy, Reconnecting
    from scheduler.cli.reaching import connection_of, way_of

    connection = await connection_of(namespace)
    requests = Reconnecting(lambda: way_of(namespace, connection))
    try:
        await Asking(requests).overview()  # whoever may not see it is told here and not in the browser
        proxy = PageProxy(requests)
        async with proxy.serving(namespace.port):
            print(proxy.address, flush=True)
            print("Whoever has this address can ask the scheduler with your rights. Ctrl-C ends it.", file=sys.stderr)
            if not namespace.no_browser and _has_screen():
                await _open(proxy.address_once)
            await asyncio.Event().wait()
    finally:
        await requests.close()


def _has_screen() -> bool:
    """Whether a browser would have a window; one in the terminal would only be in the way."""
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


async def _open(address: str) -> None:
    if not await asyncio.to_thread(webbrowser.open, address):
        print("No browser could be started: open the address yourself.", file=sys.stderr)
