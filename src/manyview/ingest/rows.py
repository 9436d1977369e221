"""The rows of a table: CSV, TSV, JSON lines, and Parquet with the extra."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..errors import MissingExtra, StoreError
from ..files import BadFile, open_regular
from .documents import decode_text
from .source import TABLES

__all__ = ["Row", "table_rows"]

_LARGEST = 2 * 2**30
_LONGEST_LINE = 16 * 2**20


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


def _csv_rows(path: str, text: str, kind: str) -> tuple[list[str], Iterator[Row]]:
    first = text[: text.find("\n")] if "\n" in text else text
    mark = "\t" if kind == "tsv" else max((",", ";", "\t", "|"), key=first.count)
    reader = csv.reader(io.StringIO(text.replace("\0", "\ufffd"), newline=""), delimiter=mark)
    try:
        names = [name.strip() for name in next(reader, [])]
    except csv.Error as error:
        raise StoreError(f"{path} cannot be read as a table: {error}.") from error
    _check_names(path, names)
    if not any(names):
        raise StoreError(f"{path} is empty; a table begins with the names of its columns.")

    def rows() -> Iterator[Row]:
        while True:
            try:
                cells = next(reader, None)
            except csv.Error as error:
                yield Row(reader.line_num, {}, f"it cannot be read: {error}.")
                continue
            if cells is None:
                return
            if len(cells) == len(names):
                yield Row(reader.line_num, dict(zip(names, cells, strict=True)))
            elif cells:
                yield Row(reader.line_num, {}, f"it has {len(cells)} cells, but the table has {len(names)} columns.")

    return names, rows()


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
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise StoreError(f"{path} has two columns called {twice!r}. Rename one of them.")
