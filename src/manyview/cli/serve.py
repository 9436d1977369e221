"""``manyview serve``: the gallery."""

from __future__ import annotations

import asyncio
import os
import select
import sys
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from .talk import CollectionPath, safe, say, spoken

_EVERY = 0.2
"""Seconds between two looks at what was typed."""


@spoken
def serve(
    collection: CollectionPath,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, metavar="N", help="Default: 8765, or a free one if that is taken.")
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Listen on another address: others can then reach the gallery, unencrypted, and look but not change.",
        ),
    ] = ("127.0.0.1"),
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
) -> None:
    """Open the gallery in the browser, on this machine only. Ctrl-C ends it."""
    run_gallery(collection, port=port, host=host, no_browser=no_browser)


def run_gallery(
    collection: Path, *, port: int | None = None, host: str = "127.0.0.1", no_browser: bool = False
) -> None:
    """Serve until Ctrl-C."""
    from ..web.server import Serving

    serving = Serving(collection, host=host, port=port)
    if not serving.is_local:
        typer.echo(
            f"warning: everybody who can reach {safe(host)} and learns the address below can see this collection, and "
            "the connection is not encrypted. From another machine it can be looked at only; `ssh -L` is the better "
            "way.",
            err=True,
        )

    def ready() -> None:
        say(f"{safe(collection)}: {serving.new_address()}")
        say("Keep the address to yourself: it is the key, and lets one browser in.")
        if sys.stdin is not None and sys.stdin.isatty():
            say("Enter prints another one. Ctrl-C ends the gallery.")
            waiting.append(asyncio.ensure_future(_on_enter(lambda: say(serving.new_address()))))
        else:
            say("Ctrl-C ends the gallery.")
        if not (no_browser or os.environ.get("MANYVIEW_NO_BROWSER")):
            # a browser in a terminal comes back when it is closed; until then it has to be answered
            threading.Thread(target=webbrowser.open, args=(serving.invite().url,), daemon=True).start()

    waiting: list[asyncio.Future[None]] = []  # a task that nobody keeps may vanish
    serving.run(ready)


async def _on_enter(act: Callable[[], None]) -> None:
    """Call this for every line that is typed, while the terminal is ours to read."""
    terminal = sys.stdin.fileno()
    while True:
        await asyncio.sleep(_EVERY)
        try:
            if _is_in_background(terminal) or not select.select([terminal], [], [], 0)[0]:
                continue
            typed = os.read(terminal, 1024)
        except OSError:  # it is gone
            return
        if not typed:
            return
        act()


def _is_in_background(terminal: int) -> bool:
    """Does another program have the terminal? Reading from it would stop us."""
    try:
        return os.tcgetpgrp(terminal) != os.getpgrp()
    except OSError:  # it is not the one that could
        return False
