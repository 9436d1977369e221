"""``manyview init``: make a collection from a folder, a table or feature files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..figures import counted
from .talk import SOME_BAD, given, print_bad, print_json, progress, safe, say, spoken

if TYPE_CHECKING:
    from ..ingest.report import Report

_ROLES = ("id", "image", "text", "tags")
OUTPUT = typer.Option(
    "-o", "--output", metavar="PATH", help="The collection to make. Default: NAME.manyview beside the source."
)


@spoken
def init(
    source: Annotated[
        Path, typer.Argument(metavar="SOURCE", help="A folder, a table (.csv .tsv .jsonl .parquet), or .npz .npy .mat.")
    ],
    output: Annotated[Path | None, OUTPUT] = None,
    id: Annotated[str | None, typer.Option(metavar="COLUMN", help="Table: the column that names an item.")] = None,
    image: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Table: the column with the path of a picture or clip.")
    ] = None,
    text: Annotated[str | None, typer.Option(metavar="COLUMN", help="Table: the column with text.")] = None,
    tags: Annotated[str | None, typer.Option(metavar="COLUMN", help="Table: the column with tags.")] = None,
    tag_sep: Annotated[str | None, typer.Option(metavar="TEXT", help="Table: the separator between tags.")] = None,
    root: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Table: the folder that picture paths are relative to.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Make a collection from a folder, a table or feature files.

    Nothing in the source is changed, and nothing is computed yet. Run again with the same source, it notices what is
    new, changed or gone.
    """
    from ..workflow.reading.inventory import take_inventory
    from ..workflow.start import start_collection

    path = output or _beside(source.resolve())
    options = {"id": id, "image": image, "text": text, "tags": tags, "tag_sep": tag_sep, "root": root}
    with progress() as bar:
        with start_collection(path, source, progress=bar, **given(options)) as collection:
            report = collection.last_report
            found = take_inventory(collection)
    bad = [] if report is None else report.bad
    if as_json:
        told = {"columns": report.columns} if report is not None and report.columns else {}
        left_out = {} if report is None else dict(report.left_out)
        print_json(
            {
                "collection": str(path),
                **found.to_dict(),
                **told,
                "not_read": left_out,
                "bad": [problem._asdict() for problem in bad],
            }
        )
    else:
        say(f"{safe(path)}: {counted(found.n_items, 'item')}")
        if report is not None and (report.n_same or report.differences):
            parts = [f"{report.n_new} new"] * bool(report.n_new) + report.differences
            say("  since the last time: " + (", ".join(parts) or "nothing new"))
        notes, passed_over = ([], []) if report is None else (report.notes, report.left_out_sentences)
        for line in (*_columns(report), *notes, *found.sentences(), *passed_over):
            say(f"  {safe(line)}")
        if found.n_items and found.can_fit:
            say(f"\nNext: manyview fit {safe(path)}")
    print_bad(bad)
    if bad:
        raise typer.Exit(SOME_BAD)


def _columns(report: Report | None) -> list[str]:
    """Which columns of a table are what, and how to say so for the others."""
    if report is None or not (report.columns or report.other_columns):
        return []
    used = ", ".join(f"{role} {name!r}" for role, name in report.columns.items())
    lines = [f"columns: {used or 'none has a usual name'}"]
    if report.other_columns and len(report.columns) < len(_ROLES):
        others = ", ".join(map(repr, report.other_columns[:8])) + (", ..." if len(report.other_columns) > 8 else "")
        options = ", ".join(f"--{role}" for role in _ROLES if role not in report.columns)
        lines.append(f"only shown with the items: {others}; say what a column is with {options}")
    if report.number_columns:
        some = ", ".join(map(repr, report.number_columns[:3])) + ", ..." * (len(report.number_columns) > 3)
        lines.append(f"numbers become a view in Python only: Collection.create(..., views={{'numbers': [{some}]}})")
    return lines


def _beside(source: Path) -> Path:
    """Where the collection of a source goes: a dot in the name of a folder is no ending."""
    return source.with_name(f"{source.name if source.is_dir() else source.stem}.manyview")
