"""The rows of a table: CSV, TSV, JSON lines, and Parquet with the extra."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..errors import MissingExtra, StoreError
from ..files import BadFile, open_regular
from .documents import LONGEST_TEXT, decode_text
from .source import TABLES

__all__ = ["MARKS", "NOTHING", "Row", "separator", "table_rows"]

MARKS = (";", "|", ",")
"""What may stand between the tags of a cell: the first of these that there is in the column."""
NOTHING = frozenset({"NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None", "<NA>"})
"""What programs write into a cell that holds nothing."""

_SEPARATOR = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)
_LARGEST = 2 * 2**30
_LONGEST_LINE = 16 * 2**20
_LONGEST_NAME = 10_000


class Row(NamedTuple):
    """One row of a table, or what is wrong with it."""

    number: int
    """The line it stands on, or its number."""
    values: dict[str, Any]
    trouble: str | None = None


def table_rows(path: str) -> tuple[list[str], Iterator[Row]]:
    """The columns of a table, and its rows one by one."""
    kind = TABLES[os.path.splitext(path)[1].lower()]
    if kind == "parquet":
        return _parquet_rows(path)
    try:
        with open_regular(path) as (file, facts):
            if facts.size > _LARGEST:
                raise StoreError(f"{path} has {facts.size >> 20} MB; tables of up to {_LARGEST >> 20} MB are read.")
            text = decode_text(file.read())
    except BadFile as error:
        raise StoreError(f"{path} cannot be used: {error.sentence}") from error
    return _jsonl_rows(path, text) if kind == "jsonl" else _csv_rows(path, text, kind)


def separator(text: str) -> tuple[str, int]:
    """What stands between the cells of a CSV text, and where they begin: behind the line in which programs say so."""
    told = _SEPARATOR.match(text)
    if told:
        return told[1], told.end()
    return max((",", ";", "\t", "|"), key=text.partition("\n")[0].count), 0


def _csv_rows(path: str, text: str, kind: str) -> tuple[list[str], Iterator[Row]]:
    lines = _Lines(text.replace("\0", "\ufffd"))
    mark, start = separator(text)
    if start:
        next(lines)
    elif kind == "tsv":
        mark = "\t"
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_TEXT))  # of every reader; 131,072 letters by itself
    reader = csv.reader(lines, delimiter=mark)
    try:
        names = [name.strip() for name in next(reader, [])]
    except csv.Error as error:
        raise StoreError(f"{path} cannot be read as a table: {error}.") from error
    while len(names) > 1 and not names[-1]:
        names.pop()
    if (length := max(map(len, names), default=0)) > _LONGEST_NAME:
        raise StoreError(
            f"{path} cannot be read as a table: the name of a column has {length} letters. Is a quote missing?"
        )
    _check_names(path, names)
    if not any(names):
        raise StoreError(f"{path} is empty; a table begins with the names of its columns.")

    def rows() -> Iterator[Row]:
        while True:
            before = lines.n_read
            try:
                cells = next(reader, None)
            except csv.Error as error:
                yield Row(lines.n_read, {}, f"it cannot be read: {error}.")
                continue
            if cells is None:
                return
            if lines.is_over:  # the reader asked for more
                n_lost = lines.n_read - before - 1
                behind = f", so that the {n_lost} lines behind it are no rows" if n_lost else ""
                yield Row(before + 1, {}, f"a quote opens in it and is never closed{behind}.")
            elif len(cells) >= len(names) and not any(cells[len(names) :]):
                yield Row(lines.n_read, dict(zip(names, cells, strict=False)))
            elif cells:
                span = f"it begins in line {before + 1} and " if lines.n_read > before + 1 else "it "
                yield Row(lines.n_read, {}, f"{span}has {len(cells)} cells, but the table has {len(names)} columns.")

    return names, rows()


class _Lines(Iterator[str]):
    """The lines of a text, which knows how many were asked for, and whether one more was than there are."""

    def __init__(self, text: str) -> None:
        self._lines = io.StringIO(text, newline="")
        self.n_read = 0
        self.is_over = False

    def __next__(self) -> str:
        line = self._lines.readline()
        if not line:
            self.is_over = True
            raise StopIteration
        self.n_read += 1
        return line


def _jsonl_rows(path: str, text: str) -> tuple[list[str], Iterator[Row]]:
    parsed = [_json_row(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    names = list(dict.fromkeys(name for row in parsed for name in row.values))
    if parsed and not names:
        raise StoreError(f"{path} is not a table of JSON lines: {parsed[0].trouble or 'its rows are empty'}")
    return names, iter(parsed)


def _json_row(number: int, line: str) -> Row:
    if len(line) > _LONGEST_LINE:
        return Row(number, {}, f"it has more than {_LONGEST_LINE >> 20} million characters.")
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        return Row(number, {}, f"it is not JSON ({str(error)[:80]}).")
    if not isinstance(value, dict):
        return Row(number, {}, 'it is not an object such as {"id": 1}.')
    return Row(number, value)


def _parquet_rows(path: str) -> tuple[list[str], Iterator[Row]]:
    try:
        import pyarrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise MissingExtra("reading Parquet needs the 'tables' extra:  pip install \"manyview[tables]\"") from error
    try:
        with open_regular(path):
            pass  # no pipe holds us up
        file = parquet.ParquetFile(path)
        names = list(file.schema_arrow.names)
        leaves = [file.schema.column(number).path for number in range(len(file.schema))]
    except BadFile as error:
        raise StoreError(f"{path} cannot be used: {error.sentence}") from error
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise StoreError(f"{path} cannot be read as Parquet: {_first_line(error)}.") from error
    _check_names(path, names)
    # of pictures kept in the table (a path and bytes) the bytes are left where they are
    wanted = [leaf for leaf in leaves if not (leaf.endswith(".bytes") and f"{leaf[:-5]}path" in leaves)]

    def rows() -> Iterator[Row]:
        number = 0
        try:
            for batch in file.iter_batches(batch_size=1024, columns=wanted):
                for values in _without_nanoseconds(pyarrow, batch).to_pylist():
                    number += 1
                    yield Row(number, values)
        except (pyarrow.ArrowException, OSError, ValueError) as error:
            raise StoreError(f"{path} ends unexpectedly after row {number}: {_first_line(error)}.") from error

    return names, rows()


def _without_nanoseconds(pyarrow: Any, batch: Any) -> Any:
    """Python's times have microseconds; what is finer would ask for pandas, or be refused."""
    for place, field in enumerate(batch.schema):
        kind = pyarrow.types
        if getattr(field.type, "unit", "") == "ns":
            coarse = (
                pyarrow.timestamp("us", field.type.tz)
                if kind.is_timestamp(field.type)
                else pyarrow.duration("us")
                if kind.is_duration(field.type)
                else pyarrow.time64("us")
            )
            batch = batch.set_column(place, field.name, batch.column(place).cast(coarse, safe=False))
    return batch


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:200].rstrip(".")


def _check_names(path: str, names: Sequence[str]) -> None:
    (twice, n), *_ = Counter(names).most_common(1) or [("", 0)]
    if n > 1:
        raise StoreError(f"{path} has two columns called {twice!r}. Rename one of them.")
