"""Every list as a file, or as the command that prints the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response

from ...workflow.reading.index import Index
from .. import tables
from .common import Here, RunNumber, Text, Word, command
from .items import search_for

router = APIRouter(prefix="/api", tags=["export"])

View = Literal["items", "clusters", "proposals", "tags", "compare", "runs", "history"]
Asked = dict[str, Any]
_FILE: dict[int | str, dict[str, Any]] = {200: {"content": {"text/csv": {}, "application/json": {}, "text/plain": {}}}}
_TABLES: dict[str, Callable[[Index, Asked], tables.Table]] = {
    "items": lambda index, a: tables.items_table(
        index, a["q"], a["cluster"], a["tag"], a["run"], a["sort"], a["looks"]
    ),
    "clusters": lambda index, a: tables.clusters_table(index, a["run"]),
    "proposals": lambda index, a: tables.proposals_table(index, a["tag"], a["item"]),
    "tags": lambda index, a: tables.tags_table(index),
    "compare": lambda index, a: tables.compare_table(index, a["first"], a["second"]),
    "runs": lambda index, a: tables.runs_table(index),
    "history": lambda index, a: tables.history_table(index),
}


@router.get("/export", response_class=Response, responses=_FILE)
async def export(
    here: Here,
    view: Annotated[View, Query()] = "items",
    format: Annotated[Literal["csv", "json", "command"], Query()] = "csv",
    q: Text = "",
    cluster: Annotated[int | None, Query(ge=1, le=2**53)] = None,
    tag: Word = None,
    item: Annotated[int | None, Query(ge=1, le=2**53)] = None,
    run: RunNumber = None,
    sort: Annotated[Literal["best", "id", "name", "confidence", "typical", "date", "newest"], Query()] = "id",
    looks: bool = False,
    first: RunNumber = None,
    second: RunNumber = None,
) -> Response:
    """A list, whole, as a file to keep; or the command line that prints it."""
    asked = {"q": q, "cluster": cluster, "tag": tag, "item": item, "run": run, "sort": sort, "looks": looks}
    asked |= {"first": first, "second": second}
    if format == "command":
        return Response(await here.read(command_of, view, asked), media_type="text/plain; charset=utf-8")
    table = await here.read(_TABLES[view], asked)
    name = f'attachment; filename="{view}.{format}"'
    if format == "csv":
        return Response(tables.as_csv(table), media_type="text/csv", headers={"Content-Disposition": name})
    return Response(tables.as_json(table), media_type="application/json", headers={"Content-Disposition": name})


def command_of(index: Index, view: View, asked: Asked) -> str:
    """The command line that prints a list."""
    chosen = [f"--run={asked['run']}"] if asked["run"] else []
    if view == "compare":
        return command(index, "compare", asked["first"] or 1, asked["second"] or 2)
    if view in ("runs", "history"):
        return command(index, "history")
    if view == "proposals":
        words = [part for name in ("tag", "item") if asked[name] for part in (f"--{name}", str(asked[name]))]
        return command(index, "suggest", *words)
    if view == "clusters":
        return command(index, "show", *chosen)
    query = search_for(asked["q"], asked["cluster"], asked["tag"])
    return command(index, "show", "--items", *(("--search", str(query)) if query.terms else ()), *chosen)
