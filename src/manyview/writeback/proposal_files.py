"""Proposals as a file for a spreadsheet or a program, and back."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .. import durable
from ..collection.proposals import Proposal
from ..collection.store import Store
from ..collection.tagging import word_key
from ..errors import ParameterError
from ..ingest.documents import decode_text
from ..ingest.rows import separator
from .cells import as_cell, from_cell, list_of, undoubled

__all__ = [
    "Answered",
    "ShownProposal",
    "as_shown",
    "is_proposals",
    "kind_of_file",
    "read_answers",
    "shown",
    "write_proposals",
]

_ANSWER = "answer"
"""The column for a person's answers, empty when it is written."""
_ANSWERS = {
    **dict.fromkeys(("yes", "y", "1", "true", "x"), True),
    **dict.fromkeys(("no", "n", "0", "false"), False),
    "": None,
}


class ShownProposal(NamedTuple):
    """A proposal as people see it."""

    id: int
    """The number of the item."""
    item: str
    """What its owner calls it."""
    tag: str
    probability: float
    """How likely the tag is right."""
    reason: str


class Answered(NamedTuple):
    """A row of a file of proposals that came back."""

    item: int
    tag: str
    answer: bool | None
    """None: it was left empty, or there is no such column."""


_is_old = list_of(ShownProposal._fields)
_is_new = list_of((*ShownProposal._fields, _ANSWER))


def is_proposals(head: bytes) -> bool:
    """Are these the first bytes of a file of proposals?"""
    return _is_new(head) or _is_old(head)


def as_shown(probability: float | None) -> float | None:
    """A probability as every file shows it."""
    return None if probability is None else round(float(probability), 4)


def shown(collection: Store, proposals: Iterable[Proposal], per_item: int | None = None) -> list[ShownProposal]:
    """Proposals with the names of their items; at most ``per_item`` of each, the first ones."""
    found = list(proposals)
    names = collection.runs.rows.item_names(one.item_id for one in found)
    counts: dict[int, int] = {}
    rows = []
    for one in found:
        counts[one.item_id] = counts.get(one.item_id, 0) + 1
        if per_item is None or counts[one.item_id] <= per_item:
            sentence = one.reason["sentence"] if one.reason else ""
            name = names.get(one.item_id, str(one.item_id))
            rows.append(ShownProposal(one.item_id, name, one.tag, as_shown(one.probability) or 0.0, sentence))
    return rows


def kind_of_file(path: Path) -> str:
    """``.csv`` or ``.json``; anything else is refused, before there is something to write."""
    kind = path.suffix.lower()
    if kind not in (".csv", ".json"):
        raise ParameterError(f"proposals are written to .csv or .json; got {path.name!r}.")
    return kind


def write_proposals(path: Path, rows: Sequence[ShownProposal]) -> None:
    """Write proposals to a ``.csv`` or ``.json`` file, with a column for answers, whole or not at all."""
    if kind_of_file(path) == ".json":
        text = json.dumps([{**row._asdict(), _ANSWER: ""} for row in rows], ensure_ascii=False, indent=1) + "\n"
    else:
        table = io.StringIO()
        writer = csv.writer(table)
        writer.writerow((*ShownProposal._fields, _ANSWER))
        for row in rows:
            writer.writerow((row.id, as_cell(row.item), as_cell(row.tag), row.probability, as_cell(row.reason), ""))
        text = table.getvalue()
    durable.write_output(path, text.encode("utf-8", "backslashreplace"))


def read_answers(collection: Store, path: Path) -> list[Answered]:
    """The rows of a file that ``write_proposals`` made, or of one with the columns id (or item) and tag.

    A column ``answer`` may say yes or no to each.
    """
    try:
        text = decode_text(path.read_bytes(), "unknown")
    except OSError as error:
        raise ParameterError(f"cannot read {path}: {error.strerror or error}.") from error
    rows: Any
    if path.suffix.lower() == ".json":
        try:
            rows = json.loads(text)
        except ValueError as error:
            raise ParameterError(f"{path} is no JSON: {error}.") from error
        rows = rows.get("proposals", rows) if isinstance(rows, dict) else rows  # what --json prints is understood too
    else:
        rows = _csv_rows(path, text)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ParameterError(f"{path} must hold a list of objects with the fields id (or item) and tag.")
    found = []
    said: dict[tuple[int, str], bool] = {}
    for number, row in enumerate(rows, 1):
        tag, given, name = (str(row.get(key) or "") for key in ("tag", "id", "item"))
        if "tag" not in row or not {"id", "item"} & row.keys():
            raise ParameterError(f"{path}, row {number}: expected the columns id (or item) and tag, got {sorted(row)}.")
        if not tag or not (given or name):
            raise ParameterError(f"{path}, row {number}: its {'item' if tag else 'tag'} is empty.")
        try:
            item = collection.items.get(int(given)) if given else collection.items.named(from_cell(name))
        except ValueError:
            raise ParameterError(f"{path}, row {number}: {given!r} is not the number of an item.") from None
        if given and name and item.key not in (from_cell(name), undoubled(from_cell(name))):
            raise ParameterError(
                f"{path}, row {number}: item {item.id} is {item.key!r} here, not {from_cell(name)!r}. Nothing was "
                "changed; leave out the column that is wrong, or make the list anew with `manyview suggest -o`."
            )
        one = Answered(item.id, _word(collection, from_cell(tag)), _answer(row, f"{path}, row {number}"))
        if one.answer is not None and said.setdefault((one.item, word_key(one.tag)), one.answer) != one.answer:
            raise ParameterError(
                f"{path}, row {number}: {item.key!r}, {one.tag!r} is answered yes and no. Nothing was changed; keep "
                "one of the two."
            )
        found.append(one)
    if not found:
        raise ParameterError(f"{path} holds no pairs; nothing was changed.")
    return found


def _csv_rows(path: Path, text: str) -> list[dict[str, Any]]:
    """The rows of a table, with the commas, semicolons or tabs that spreadsheets put between its cells."""
    mark, start = separator(text)
    try:
        return list(csv.DictReader(io.StringIO(text[start:], newline=""), delimiter=mark, strict=True))
    except csv.Error as error:
        raise ParameterError(f"{path} cannot be read as a table: {error}. Nothing was changed.") from error


def _word(collection: Store, word: str) -> str:
    """A word as it is known here: a spreadsheet that takes UTF-8 for Windows' letters makes two or three of one."""
    tagging = collection.tagging
    return word if tagging.find(word) is not None or tagging.find(undoubled(word)) is None else undoubled(word)


def _answer(row: dict[str, Any], where: str) -> bool | None:
    """What a person answered in a row; spreadsheets and people spell the name of the column as they like."""
    given = next((value for name, value in row.items() if str(name).strip().casefold() == _ANSWER), None)
    word = "" if given is None else str(given).strip().casefold()
    if word not in _ANSWERS:
        raise ParameterError(
            f"{where}: its answer is {given!r}; expected yes (y, 1, true, x), no (n, 0, false) or nothing, which "
            "leaves the proposal open. Nothing was changed."
        )
    return _ANSWERS[word]
