"""``manyview``: from a folder or a table to named clusters."""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

from .._version import __version__
from . import (
    add,
    apply,
    bench,
    bring,
    compare,
    copy,
    decide,
    demo,
    doctor,
    duplicates,
    edit,
    estimate,
    evaluate,
    export_site,
    features,
    fit,
    init,
    map,
    papers,
    report,
    serve,
    show,
    suggest,
    tags,
    undo,
)
from .numbers import in_our_words
from .stopping import INTERRUPTED, leave_at_once
from .talk import settings

app = typer.Typer(
    name="manyview",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Group pictures, clips and documents described in several ways at once, and say why.",
    epilog="Start with `manyview demo`, or with your own: `manyview init FOLDER`. "
    "Exit codes: 0 fine, 1 failed, 2 used wrongly, 3 finished but some files were bad, 130 interrupted.",
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"manyview {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    settings.debug = debug


for _command in (
    demo.demo,
    init.init,
    estimate.estimate,
    features.features,
    fit.fit,
    show.show,
    add.add,
    edit.edit,
    edit.history,
    compare.compare,
    copy.copy,
    suggest.suggest,
    decide.accept,
    decide.reject,
    tags.tags,
    bring.bring,
    duplicates.duplicates,
    apply.apply,
    undo.undo,
    report.report,
    map.map,
    serve.serve,
    export_site.export_site,
    bench.bench,
    papers.papers,
    doctor.doctor,
):
    app.command()(in_our_words(_command))
app.command(name="eval")(in_our_words(evaluate.evaluate))


def main() -> None:
    """What the installed command calls."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # letters that a terminal or pipe cannot have are named, not refused
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except SystemExit as ended:
        if ended.code == INTERRUPTED:
            leave_at_once()
        raise
