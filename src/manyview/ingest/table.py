"""A table as items: one row is one item."""

from __future__ import annotations

import itertools
import json
import math
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..collection.items import NewItem, Problem
from ..collection.safety.journal import Journal
from ..errors import ParameterError, ViewError
from ..files import HEAD, BadFile, FileFacts, inside, open_regular
from ..types import Progress
from .documents import LONGEST_TEXT
from .folder import recognise
from .keywords import in_brackets, tidy
from .moves import check_places, is_place_key, place_key
from .report import Report
from .rows import MARKS, NOTHING, Row, table_rows
from .source import Columns, Source

if TYPE_CHECKING:
    from ..collection.store import Store

__all__ = ["read_table"]

_USUAL = {
    "id": ("id", "item_id", "key", "identifier"),
    "image": ("image", "file", "filename", "file_name", "path", "image_path", "picture", "photo"),
    "text": ("text", "caption", "captions", "description", "title"),
    "tags": ("tags", "keywords", "tag", "keyword"),
}
_DECIMAL = re.compile(r"[+-]?(0?,\d+|\d+,(\d{1,2}|\d{4,})|\d{4,},\d+|0,\d+)")
"""A number with a comma that cannot stand between thousands."""
_SURROGATE = re.compile("[\ud800-\udc7f\udd00-\udfff]")
_BATCH = 5000


def read_table(collection: Store, source_id: int, source: Source, progress: Progress | None) -> Report:
    """Bring the collection up to date with a table. Rows that cannot be used are named by their number."""
    report = Report(source.path)
    names, rows = table_rows(source.path)
    head = list(itertools.islice(rows, 1000))
    columns = _choose(source.columns, names, head)
    wanted = [column for part in source.views.values() for column in part]
    if unknown := [column for column in wanted if column not in names]:
        raise ParameterError(f"{source.path} has no column {unknown[0]!r}; it has {_listing(names)}.")
    reader = _RowReader(source, columns, names, set(wanted), collection.journal)
    report.columns = {role: name for role in _USUAL if (name := getattr(columns, role)) is not None}
    report.other_columns = list(reader.others)
    report.number_columns = _number_columns(report.other_columns, head)
    known = collection.items.known(source_id)
    said = collection.contents(source_id)
    numbers: list[int] = []
    with collection.transaction():
        collection.items.put_problems(source_id, [], replace=True)
        for batch in _batched(itertools.chain(head, rows), _BATCH):
            kept = [item for row in batch if (item := reader.item(row)) is not None]
            numbers += collection.put_items(source_id, kept)
            if progress is not None:
                progress("reading", batch[-1].number, batch[-1].number)
        gone = {known[key].id for key in known} - set(numbers)
        collection.items.gone(gone)
        here = {row: content for row, content in collection.contents(source_id).items() if content.is_here}
        if reader.n_by_place and known:
            places = {was.id: key for key, was in collection.items.known(source_id).items() if is_place_key(key)}
            check_places(collection, source.path, places, said, here)
        problems = reader.problems()
        if not reader.n_rows:
            problems.append(Problem(os.path.basename(source.path), "empty", "the table has no rows."))
        collection.items.put_problems(source_id, problems)
        other_files = {known[key].id for key in reader.changed({key: was.facts for key, was in known.items()})}
        collection.items.forget_file(other_files)
        other_texts = {row for row, was in said.items() if row in here and was.text != here[row].text}
        collection.segments.drop_rows(sorted(other_files | other_texts))
        _add_views(collection, source, reader, np.array(numbers, dtype=np.int64))
        collection.items.finish_source(source_id)
    collection.journal.finish()
    before = {was.id for was in known.values() if was.state != "gone"}
    report.n_new = len(set(numbers) - {was.id for was in known.values()})
    report.n_gone = len(gone & before)
    report.n_back = len(numbers) - report.n_new - len(before.intersection(numbers))
    other_words = {row for row in said if row in here and said[row][:3] != here[row][:3]}
    report.changed = (other_files | other_words) & before
    report.n_changed = len(report.changed)
    report.n_same = len(numbers) - report.n_new - report.n_back - report.n_changed
    if reader.n_by_place:
        report.by_place = "rows without a file" if columns.image else "rows"
    report.formats.update(reader.formats)
    report.problems = [problem for problem in collection.items.problems() if problem.stage == "ingest"]
    return report


def _choose(asked: Columns, names: Sequence[str], head: Sequence[Row]) -> Columns:
    """The columns to use: those asked for, which must be there, and those with usual names."""
    folded = {name.strip().lower(): name for name in reversed(names)}
    chosen: dict[str, str | None] = {}
    for role, usual in _USUAL.items():
        column = getattr(asked, role)
        if column is not None and column not in names:
            raise ParameterError(f"the table has no column {column!r} for {role}; it has {_listing(names)}.")
        found = next((folded[name] for name in usual if name in folded and folded[name] not in chosen.values()), None)
        chosen[role] = column if column is not None else found
    sep = asked.tag_sep
    if sep is None and chosen["tags"]:
        cells = [row.values.get(chosen["tags"]) for row in head]
        text = "\n".join(cell for cell in cells if isinstance(cell, str))
        sep = next((mark for mark in MARKS if mark in text), MARKS[0])
    return Columns(chosen["id"], chosen["image"], chosen["text"], chosen["tags"], sep)


def _listing(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")


def _number_columns(names: Sequence[str], head: Sequence[Row]) -> list[str]:
    """Those columns that hold something, and nothing but numbers."""
    held: dict[str, list[Any]] = {name: [] for name in names}
    for row in head:
        for name, value in row.values.items():
            if name in held and _word(value):
                held[name].append(value)
    return [name for name, cells in held.items() if cells and all(map(math.isfinite, _numbers(cells)))]


class _RowReader:
    """Turns rows into items, and remembers what was wrong and which rows were kept."""

    def __init__(
        self, source: Source, columns: Columns, names: Sequence[str], view_columns: set[str], journal: Journal
    ) -> None:
        self._source, self._columns, self._journal = source, columns, journal
        self._root = source.root
        roles = {columns.id, columns.image, columns.text, columns.tags}
        self.others = dict.fromkeys(name for name in names if name not in roles and name not in view_columns)
        self._seen: set[str] = set()
        self._view_columns = view_columns
        self._problems: list[Problem] = []
        self._unusable: defaultdict[tuple[str, str, str], list[int]] = defaultdict(list)
        self.kept: list[int] = []
        self.n_rows = self.n_by_place = 0
        self.formats: list[str] = []
        self.values: dict[str, list[Any]] = {column: [] for column in view_columns}
        self._facts: dict[str, Any] = {}

    def item(self, row: Row) -> NewItem | None:
        place = self.n_rows
        self.n_rows += 1
        if row.trouble is not None:
            self._bad(row, "bad row", row.trouble)
            return None
        values = row.values
        key = _word(values.get(self._columns.id)) if self._columns.id else ""
        if not key and self._columns.id:
            self._bad(row, "bad row", f"column {self._columns.id!r} is empty.")
            return None
        image = _path(values.get(self._columns.image)) if self._columns.image else ""
        is_placed = not (key or image)
        key = key or image or place_key(place)
        if key in self._seen:
            self._bad(row, "duplicate id", f"{key!r} was there before; the first one counts.")
            return None
        item = self._make(row, key, image)
        if item is None:
            return None
        self._seen.add(key)
        self.kept.append(place)
        self.n_by_place += is_placed
        for column in self._view_columns:
            self.values[column].append(values.get(column))
        self.formats.append(item.format or "row")
        self._facts[key] = item.facts
        return item

    def _make(self, row: Row, key: str, image: str) -> NewItem | None:
        text = _plain(_word(row.values.get(self._columns.text))) if self._columns.text else ""
        notes: list[tuple[str, str]] = []
        words = tidy(_words(row.values.get(self._columns.tags or ""), self._columns.tag_sep), [], notes).tags
        for reason, sentence in notes:
            self._bad(row, reason, sentence, is_bad=False)
        # by what the row has: of rows of JSON each may have names of its own
        fields = {name: _plain(value) for name, value in row.values.items() if name in self.others}
        path = facts = kind = None
        if image:
            try:
                real = self._place(image)
                self._journal.opening(image)
                with open_regular(real) as (file, facts):
                    kind = recognise(file.read(HEAD), image)
                if kind is None or kind.kind == "document":
                    raise BadFile("unsupported", "it is not a picture or a video.")
                path = os.path.relpath(real, self._root)
            except BadFile as error:
                sentence = _missing(image) if error.reason == "missing" else error.sentence
                if isinstance(row.values.get(self._columns.image or ""), dict):
                    sentence += " Pictures inside a table are not read; write them to files first."
                self._unusable[image, error.reason, sentence].append(row.number)
                if not (text or words or self._view_columns or self._source.features):
                    return None
                facts = kind = None
            finally:
                self._journal.done(image)
        return NewItem(
            key=key,
            kind=kind.kind if kind else "document" if text else "row",
            path=path,
            facts=facts,
            format=kind.format if kind else None,
            text=text,
            fields={name: value for name, value in fields.items() if value not in (None, "")} or None,
            tags={"table": words},
        )

    def _place(self, image: str) -> str:
        """The file that a cell names, which may have been written where strokes lean the other way."""
        real = inside(self._root, image)
        return inside(self._root, image.replace("\\", "/")) if "\\" in image and not os.path.lexists(real) else real

    def _bad(self, row: Row, reason: str, sentence: str, is_bad: bool = True) -> None:
        name = f"{os.path.basename(self._source.path)}:{row.number}"
        self._problems.append(Problem(name, reason, f"row {row.number}: {sentence}", is_bad))

    def problems(self) -> list[Problem]:
        """What was wrong: rows that cannot be used, and files, each once, with the rows that name it."""
        files = [
            Problem(image, reason, f"{_rows(numbers)}: {sentence}")
            for (image, reason, sentence), numbers in self._unusable.items()
        ]
        return [*self._problems, *files]

    def changed(self, before: dict[str, Any]) -> list[str]:
        """Known items whose picture is another one than before."""
        return [key for key, facts in self._facts.items() if key in before and _differs(before[key], facts)]

    def matrix(self, name: str, columns: Sequence[str]) -> NDArray[np.float64]:
        """A view of the kept rows: columns of numbers, or one column of lists; a row with a gap lacks the view."""
        if len(columns) == 1 and any(isinstance(value, (list, tuple)) for value in self.values[columns[0]]):
            lists = self.values[columns[0]]
            width = next(len(value) for value in lists if isinstance(value, (list, tuple)))
            rows = [
                [_number(part) for part in value]
                if isinstance(value, (list, tuple)) and len(value) == width
                else [math.nan] * width
                for value in lists
            ]
        else:
            rows = list(map(list, zip(*(_numbers(self.values[column]) for column in columns), strict=True)))
            width = len(columns)
        matrix = np.array(rows, dtype=np.float64).reshape(-1, width)
        matrix[~np.isfinite(matrix).all(axis=1)] = np.nan
        if matrix.size and np.isnan(matrix).all():
            raise ViewError(f"view {name!r}: column {columns[0]!r} of the table holds no numbers.")
        return matrix


def _missing(image: str) -> str:
    if image.lower().startswith(("http://", "https://")):
        return "it is an address, and nothing is fetched; name a file."
    return "there is no such file."


def _rows(numbers: Sequence[int]) -> str:
    """Rows as a person would name them: all of a few, of many how many there are and the first ones."""
    if len(numbers) == 1:
        return f"row {numbers[0]}"
    return f"{len(numbers)} rows ({', '.join(map(str, numbers[:5]))}{', ...' if len(numbers) > 5 else ''})"


def _differs(before: FileFacts | None, now: FileFacts | None) -> bool:
    return (before and before[:2]) != (now and now[:2])


def _add_views(collection: Store, source: Source, reader: _RowReader, numbers: NDArray[np.int64]) -> None:
    if not (source.views or source.features) or not numbers.size:
        return
    from .ready import open_npy

    order = np.argsort(numbers)
    for name, columns in source.views.items():
        collection.segments.add(name, "table", numbers[order], reader.matrix(name, columns)[order])
    for name, path in source.features.items():
        matrix = open_npy(path)
        if matrix.shape[0] != reader.n_rows:
            raise ViewError(
                f"view {name!r} has {matrix.shape[0]} rows ({path}) but the table has {reader.n_rows}; it needs one "
                "row for each row of the table, also for those that could not be used."
            )
        kept = np.array(reader.kept)[order]
        rows = matrix if np.array_equal(kept, np.arange(matrix.shape[0])) else matrix[kept]
        collection.segments.add(name, "file", numbers[order], rows)


def _batched(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    rows = iter(rows)
    while batch := list(itertools.islice(rows, size)):
        yield batch


def _word(value: Any) -> str:
    """A cell as text; nothing for an empty one."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)  # whole numbers become 7.0 in a column that has gaps
    if isinstance(value, (date, time)):
        value = value.isoformat()
    text = (value if isinstance(value, str) else str(value)).replace("\0", "").strip()
    # the escapes of names that are not UTF-8 stay; other lone surrogates cannot be written anywhere
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _path(value: Any) -> str:
    """The path in a cell, which may be that of a picture kept in the table itself: a path and bytes."""
    return _word(value.get("path") if isinstance(value, dict) else value)


def _words(value: Any, sep: str | None) -> list[str]:
    if isinstance(value, (list, tuple)):
        return [_word(part) for part in value]
    text = _word(value)
    if text in NOTHING:
        return []
    if text.startswith("[") and text.endswith("]"):  # a list as programs write it
        return in_brackets(text)
    return [word for line in text.splitlines() for word in line.split(sep or ";")]


def _plain(value: Any) -> Any:
    """A cell as JSON can hold it."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return _word(value)[:LONGEST_TEXT].encode("utf-8", "replace").decode()
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value[:1000]]
    if isinstance(value, dict):
        return json.dumps({str(name): _plain(part) for name, part in value.items()}, ensure_ascii=False)[:1000]
    if isinstance(value, bytes):
        try:
            return value[:1000].decode()
        except UnicodeDecodeError:  # nothing to read
            return None
    return _word(value)[:1000]


def _numbers(cells: Sequence[Any]) -> list[float]:
    """The numbers of a column, in which a comma is that of decimals where no other reading makes sense."""
    has_commas = any(isinstance(cell, str) and _DECIMAL.fullmatch(cell.strip()) for cell in cells)
    return [_number(cell.replace(",", ".") if has_commas and isinstance(cell, str) else cell) for cell in cells]


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan
