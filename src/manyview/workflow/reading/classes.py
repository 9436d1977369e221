"""The true classes of items, where somebody knows them: a column of the table, a file, or the folders."""

from __future__ import annotations

import csv
import io
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from ...collection.items import as_text
from ...collection.store import Store
from ...errors import ParameterError

__all__ = ["read_classes"]

FOLDER = "folder"
_MOST = 5
"""Names that an error lists."""


def read_classes(collection: Store, labels: str) -> NDArray[np.int64]:
    """The class of every item as a number, -1 where nobody knows it.

    ``labels`` is a column of the table the items came from, a CSV file with the columns ``id`` (what the owner calls an
    item, or its number) and ``label``, or "folder" for the folder a file lies in.
    """
    items = list(collection.items)
    fields = collection.items.fields()
    columns = dict.fromkeys(name for row in fields for name in row)
    words: list[str | None]
    if labels in columns:
        words = [_word(row.get(labels)) for row in fields]
    elif labels == FOLDER and any(item.path for item in items):
        words = [str(PurePosixPath(item.key).parent) if item.path else None for item in items]
    elif labels.lower().endswith(".csv"):
        given = _read_file(Path(labels))
        words = [given.get(item.key, given.get(str(item.id))) for item in items]
        if not any(words):
            raise ParameterError(f"{labels} names no item of {collection.path}; its first column must hold their ids.")
    else:
        there = ", ".join(list(columns)[:_MOST]) or "none"
        raise ParameterError(
            f"there is no column {labels!r}; there are: {there}. A CSV file of id,label is understood too, and "
            f"{FOLDER!r} where items are files."
        )
    numbers = {word: number for number, word in enumerate(sorted({word for word in words if word is not None}))}
    return np.array([-1 if word is None else numbers[word] for word in words], dtype=np.int64)


def _word(value: object) -> str | None:
    return None if value is None or str(value).strip() == "" else str(value).strip()


def _read_file(path: Path) -> dict[str, str]:
    try:
        text = as_text(path.read_bytes()).removeprefix("\ufeff")
    except OSError as error:
        raise ParameterError(f"cannot read {path}: {error.strerror or error}.") from error
    rows = [row for row in csv.reader(io.StringIO(text)) if row]
    if not rows or any(len(row) < 2 for row in rows):
        raise ParameterError(f"{path} must have two columns, id and label, on every line.")
    if rows[0][:2] == ["id", "label"]:
        rows = rows[1:]
    return {row[0]: word for row in rows if (word := _word(row[1])) is not None}
