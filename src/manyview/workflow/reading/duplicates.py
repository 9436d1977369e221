"""Pictures that are there twice: exact copies and near ones side by side, which would be kept, and why.

Nothing is ever deleted: a list can be written, and those that would go can be given a tag, like any other.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from ... import durable
from ...collection.history import Entry
from ...collection.reading import COPY, CopyRow
from ...collection.store import Store
from ...errors import ParameterError
from ...figures import counted
from ...writeback.cells import as_cell
from ..proposing.decide import add_tag

__all__ = ["Copy", "Duplicates", "find_duplicates", "mark_duplicates", "write_duplicates"]

_COPY_NAME = re.compile(
    r"^(copy of|kopie von|copie de|copia di) |\(\d{1,3}\)$|~\d*$|[ _-](copy|kopie|copie|copia|edited)( ?\(?\d+\)?)?$",
    re.IGNORECASE,
)
"""What programs put into the name of a copy."""


class Copy(NamedTuple):
    """One of several items that show the same."""

    id: int
    key: str
    is_exact: bool
    """Is it, byte for byte, the one that would be kept? True of that one itself."""
    width: int | None
    height: int | None
    size: int | None
    n_tags: int
    why: str
    """Why it would be kept, or would not."""


class Duplicates(NamedTuple):
    """Items that show the same, the one that would be kept first."""

    kind: str
    """exact where all are the same bytes, else near."""
    copies: tuple[Copy, ...]

    @property
    def kept(self) -> Copy:
        return self.copies[0]

    @property
    def others(self) -> tuple[Copy, ...]:
        return self.copies[1:]


def find_duplicates(collection: Store, kind: str | None = None) -> list[Duplicates]:
    """Groups of items that show the same, the largest first: exact copies, known once files were read, and near ones,
    known once pictures were looked at (``features``, ``fit``). ``kind`` is "exact" or "near".

    Of each group the one with the most pixels would be kept; of equal ones that of which more is known (tags, a real
    date, camera, position, sidecars), then the one whose name is no copy's, then the larger file, then the first name.
    One that was marked as a copy stays one.
    """
    if kind not in (None, "exact", "near"):
        raise ParameterError(f"duplicates are exact or near; got {kind!r}.")
    rows = {row.id: row for row in collection.reading.copies()}
    lead = _leads(rows)
    groups: dict[int, list[CopyRow]] = defaultdict(list)
    for number, row in rows.items():
        groups[lead[number]].append(row)
    found = [_described(group) for group in groups.values() if len(group) > 1]
    chosen = [one for one in found if kind in (None, one.kind)]
    return sorted(chosen, key=lambda one: (-len(one.copies), one.kept.key))


def _leads(rows: dict[int, CopyRow]) -> dict[int, int]:
    """Item -> the smallest number of its group: same bytes, or one repeats the other."""
    lead = {number: number for number in rows}

    def top(number: int) -> int:
        while lead[number] != number:
            number = lead[number]
        return number

    first: dict[bytes, int] = {}
    for number, row in rows.items():
        pairs = [row.duplicate_of] if row.duplicate_of in rows else []
        pairs += [first.setdefault(row.content, number)] if row.content is not None else []
        for other in pairs:
            a, b = sorted((top(number), top(other)))
            lead[b] = a
    return {number: top(number) for number in rows}


def _described(group: list[CopyRow]) -> Duplicates:
    group = sorted(group, key=_rank)
    best = group[0]
    copies = [_copy(row, best, _why_kept(best, group[1]) if row is best else _why_not(row, best)) for row in group]
    return Duplicates("exact" if all(one.is_exact for one in copies) else "near", tuple(copies))


def _copy(row: CopyRow, best: CopyRow, why: str) -> Copy:
    same = row is best or (row.content is not None and row.content == best.content)
    return Copy(row.id, row.key, same, row.width, row.height, row.size, row.n_tags, why)


def _pixels(row: CopyRow) -> int:
    return (row.width or 0) * (row.height or 0)


def _known(row: CopyRow) -> int:
    """How much is known of it: tags, and facts of its file."""
    return row.n_tags + row.n_facts


def _facts(row: CopyRow) -> str:
    counts = ((row.n_tags, "tag"), (row.n_facts, "fact"))
    return ", ".join(counted(n, word) for n, word in counts if n) or "nothing"


def _has_copy_name(row: CopyRow) -> bool:
    return bool(_COPY_NAME.search(os.path.splitext(os.path.basename(row.key))[0]))


def _rank(row: CopyRow) -> tuple[Any, ...]:
    better = -_pixels(row), -_known(row), _has_copy_name(row), -(row.size or 0), len(row.key), row.key
    return bool(row.is_marked), *better  # a mark is nothing that is known of it, and is not reversed


def _why_kept(best: CopyRow, next_best: CopyRow) -> str:
    if next_best.is_marked and not best.is_marked:
        return "the others were marked as its copies"
    if _pixels(best) > _pixels(next_best):
        return f"the largest, {best.width} x {best.height}"
    if _known(best) > _known(next_best):
        return f"more is known of it: {_facts(best)}"
    if _has_copy_name(next_best) and not _has_copy_name(best):
        return "its name is no copy's"
    if (best.size or 0) > (next_best.size or 0):
        return "the larger file"
    return "the shorter name" if len(best.key) < len(next_best.key) else "the first by name"


def _why_not(row: CopyRow, best: CopyRow) -> str:
    if row.content is not None and row.content == best.content:
        return "the same bytes"
    if row.is_marked and not best.is_marked:
        return "marked as a copy"
    if _pixels(row) < _pixels(best):
        return f"smaller, {row.width} x {row.height}"
    if _known(row) < _known(best):
        return f"less is known of it: {_facts(row)}"
    if _has_copy_name(row) and not _has_copy_name(best):
        return "its name is a copy's"
    if (row.size or 0) < (best.size or 0):
        return "the smaller file"
    return "the longer name" if len(row.key) > len(best.key) else "the later name"


def mark_duplicates(
    collection: Store, word: str = "duplicate", kind: str | None = None, *, who: str | None = None
) -> Entry:
    """Give a tag to all copies that would not be kept; one entry of the history. `apply` brings it to the sidecars,
    where any program finds them."""
    others = [copy.id for one in find_duplicates(collection, kind) for copy in one.others]
    if not others:
        raise ParameterError(
            f"no duplicates are known in {collection.path}; `manyview features` looks at the pictures."
        )
    return add_tag(collection, others, word, who=who, why=COPY)


COLUMNS = ("group", "kind", "keep", "id", "path", "exact", "width", "height", "size", "tags", "why")


def duplicate_rows(groups: list[Duplicates]) -> list[tuple[Any, ...]]:
    """Every copy as a row of ``COLUMNS``."""
    rows = []
    for number, one in enumerate(groups, 1):
        for copy in one.copies:
            facts = (copy.is_exact, copy.width, copy.height, copy.size, copy.n_tags, copy.why)
            rows.append((number, one.kind, copy is one.kept, copy.id, copy.key, *facts))
    return rows


def write_duplicates(groups: list[Duplicates], output: str | os.PathLike[str]) -> None:
    """The list as a CSV or JSON file, by its ending; it is there whole or not at all."""
    path = Path(output)
    if path.suffix.lower() not in (".csv", ".json"):
        raise ParameterError(f"a list of duplicates is a .csv or .json file; got {path.name!r}.")
    rows = duplicate_rows(groups)
    if path.suffix.lower() == ".json":
        text = json.dumps([dict(zip(COLUMNS, row, strict=True)) for row in rows], ensure_ascii=False, indent=1) + "\n"
    else:
        written = io.StringIO(newline="")
        table = csv.writer(written)
        table.writerow(COLUMNS)
        table.writerows([as_cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
        text = written.getvalue()
    durable.write_output(path, text.encode("utf-8", "backslashreplace"))
