"""Running a table: row by row, seed by seed, each finished cell kept, so that a run that is cut off goes on later."""

from __future__ import annotations

import json
import sys
import time
import warnings
from hashlib import sha256
from pathlib import Path
from typing import Any

from .._version import __version__
from ..durable import append, make_folder, write_file
from ..types import Progress
from .measures import confusion, samples
from .results import summed_up
from .sources import Sources
from .tables import Found, PeerFailed, Row, Scale, Table, Task, Trace

__all__ = ["Cells", "make_folders", "run_table", "slug"]

_MOST_POINTS = 200
"""Of a curve of one run."""


def slug(paper: str, table: Table, scale: Scale) -> str:
    """The name of the files of a run."""
    words = [paper, table.kind, table.number, table.on, scale.protocol, *(["quick"] if scale.quick else [])]
    return "-".join(words).replace(" ", "-").lower()


class Cells:
    """The finished cells of a run, one JSON object a line behind a line that says what they are of.

    Where that line is another (other data, another version), the file begins anew; a line that was cut off is left out.
    """

    def __init__(self, path: Path | None, identity: dict[str, Any]) -> None:
        self.path = path
        self.found: dict[tuple[str, int], dict[str, Any]] = {}
        if path is None:
            return
        lines = _lines(path)
        if lines and lines[0] == identity:
            self.found = {(cell["row"], cell["seed"]): cell for cell in lines[1:]}
        make_folders(path.parent)
        # written whole once, so that nothing is put behind half a line
        written = [identity, *self.found.values()]
        write_file(path, [b"".join(_line(one) for one in written)])

    def add(self, cell: dict[str, Any]) -> None:
        """Keep one."""
        self.found[cell["row"], cell["seed"]] = cell
        if self.path is not None:
            append(self.path, _line(cell))


def make_folders(folder: Path) -> None:
    """A folder, and those it lies in."""
    for one in (*reversed(folder.parents), folder):
        if not one.is_dir():
            make_folder(one)


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


def _lines(path: Path) -> list[dict[str, Any]]:
    found = []
    if path.is_file():
        for line in path.read_bytes().splitlines():
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
    return found


def run_table(
    paper: str,
    table: Table,
    sources: Sources,
    scale: Scale,
    folder: Path | None = None,
    report: Progress | None = None,
    *,
    fresh: bool = False,
) -> tuple[dict[str, Any], Task]:
    """Run what is not yet done, and sum up: the summary (all of it plain numbers and words), and the data it is of.

    folder : where cells are kept; None keeps nothing
    fresh : forget cells of earlier runs
    """
    task = table.load(sources, scale)
    rows = table.rows(task, scale)
    n_seeds = table.n_seeds(scale)
    name = slug(paper, table, scale)
    path = folder / "cells" / f"{name}.jsonl" if folder else None
    if path is not None and fresh:
        path.unlink(missing_ok=True)
    cells = Cells(path, {"run": name, "version": __version__, "code": _code(table), "data": task.words})
    wanted = [(row, seed) for row in rows for seed in range(min(n_seeds, row.seeds or n_seeds))]
    for done, (row, seed) in enumerate(wanted):
        if report is not None:
            report(f"{table.name} on {table.on}", done, len(wanted))
        if (row.name, seed) not in cells.found:
            cells.add(_run(table, task, row, seed))
    return summed_up(paper, table, task, rows, wanted, cells.found, scale), task


def _code(table: Table) -> str:
    """A digest of the code behind a table: cells of an older edition are not mixed with new ones."""
    own = Path(sys.modules[table.rows.__module__].__file__ or "")
    here = Path(__file__).parent
    room = [] if own.parent == here else [path for path in sorted(own.parent.glob("*.py")) if path != own]
    content = b"".join(
        path.read_bytes() for path in (own, *room, *sorted((here / "rivals").glob("*.py"))) if path.is_file()
    )
    return sha256(content).hexdigest()[:16]


def _run(table: Table, task: Task, row: Row, seed: int) -> dict[str, Any]:
    started, worked = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a paper's setting may be one that we warn of
        try:
            found = row.run(seed)
        except PeerFailed as failure:
            found = Found(failed=(str(failure),))
    cell: dict[str, Any] = {
        "row": row.name,
        "seed": seed,
        "seconds": time.perf_counter() - started,
        "cpu_seconds": time.process_time() - worked,
        "figures": _figures(table, task, found),
    }
    if found.failed:
        cell["failed"] = list(found.failed)
    if found.traces:
        cell["traces"] = {name: _trace(one) for name, one in found.traces.items()}
    if found.labels is not None and task.y is not None:
        if "confusion" in row.shows:
            y, labels = (task.y, found.labels) if found.judged is None else _judged(task.y, found)
            cell["confusion"] = confusion(y, labels, len(task.class_names)).tolist()
        if "samples" in row.shows and seed == 0:
            cell["samples"] = samples(task, found.labels, found.judged)
    return cell


def _trace(one: Trace) -> dict[str, Any]:
    values = [round(float(value), 6) for value in one.values]
    at = range(1, len(values) + 1) if one.at is None else one.at
    thin = max(1, len(values) // _MOST_POINTS)
    return {"x": one.x, "points": [[float(x), y] for x, y in zip(at, values, strict=True)][::thin]}


def _judged(y: Any, found: Found) -> tuple[Any, Any]:
    return y[found.judged], found.labels[found.judged]  # type: ignore[index]


def _figures(table: Table, task: Task, found: Found) -> dict[str, float]:
    judged = table.judge(task, found.labels, found.judged) if found.labels is not None else {}
    return {**judged, **{name: float(value) for name, value in found.figures.items()}}
