"""``manyview serve``: the gallery."""

from __future__ import annotations

import os
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from .talk import safe, say, spoken


@spoken
def serve(
    collection: Annotated[Path, typer.Argument(help="NAME.manyview")],
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="8765, or a free one where that is taken, when not given.")
    ] = None,
    host: Annotated[str, typer.Option(help="Another address than this machine's own. Read the warning first.")] = (
        "127.0.0.1"
    ),
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
        say(f"{safe(collection)}: {serving.address}")
        say("Keep the address to yourself; it is the key. Ctrl-C ends the gallery.")
        if not (no_browser or os.environ.get("MANYVIEW_NO_BROWSER")):
            webbrowser.open(serving.address)

    serving.run(ready)
