"""Where items come from, as a person names it, and the one call that reads it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError, StoreError
from ..types import Progress
from .moves import hash_file
from .report import Report

if TYPE_CHECKING:
    from ..collection.store import Store

__all__ = ["Source", "read_source"]

TABLES = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
FEATURES = (".npy", ".npz", ".mat")
_ADVICE = {
    **dict.fromkeys((".xlsx", ".xls", ".ods"), " Save the sheet as CSV first."),
    ".json": " Write it as JSON lines first: one object a line.",
}


@dataclass(frozen=True)
class Columns:
    """Which column of a table is what; None: found by its name, where it has a usual one."""

    id: str | None = None
    image: str | None = None
    text: str | None = None
    tags: str | None = None
    tag_sep: str | None = None


@dataclass(frozen=True)
class Source:
    """A folder, a table or a file of features."""

    kind: str
    path: str
    root: str
    columns: Columns
    views: dict[str, list[str]]
    """Views made of a table's columns of numbers."""
    features: dict[str, str]
    """Views in files of their own (.npy), one row for each row of the table."""

    @classmethod
    def of(
        cls,
        source: Any,
        *,
        id: str | None = None,
        image: str | None = None,
        text: str | None = None,
        tags: str | None = None,
        tag_sep: str | None = None,
        root: str | os.PathLike[str] | None = None,
        views: Mapping[str, str | Sequence[str]] | None = None,
        features: Mapping[str, str | os.PathLike[str]] | None = None,
    ) -> Source:
        """Check a source and its options.

        source : a folder; a table (.csv, .tsv, .jsonl, .parquet); or features (.npz, .npy, .mat)
        id, image, text, tags : columns of a table; without them, columns with the usual names are taken
        tag_sep : what stands between the tags of a cell; without it the first of ";", "|" and "," that occurs
        root : the folder that the image column's paths start from (the table's own); nothing outside it is read
        views : name -> columns of numbers, or one column of lists (.jsonl, .parquet)
        features : name -> .npy file with one row for each row of the table
        """
        if isinstance(source, Source):
            return source
        path = os.path.realpath(os.fspath(source))
        ending = os.path.splitext(path)[1].lower()
        if not os.path.exists(path):
            raise StoreError(f"{os.fspath(source)} does not exist.")
        kind = "table" if ending in TABLES else "features" if ending in FEATURES else ""
        if os.path.isdir(path):
            kind = "folder"
        if not kind:
            raise ParameterError(
                f"{os.fspath(source)} is not a folder, a table ({', '.join(TABLES)}) or a file of features "
                f"({', '.join(FEATURES)}).{_ADVICE.get(ending, '')}"
            )
        columns = Columns(id, image, text, tags, tag_sep)
        used = [name for name, value in asdict(columns).items() if value is not None]
        used += [name for name, value in (("views", views), ("features", features), ("root", root)) if value]
        if kind != "table" and used:
            raise ParameterError(f"{used[0]} is an option for tables, but {os.fspath(source)} is not one.")
        return cls(
            kind,
            path,
            path if kind == "folder" else os.path.realpath(os.fspath(root)) if root else os.path.dirname(path),
            columns,
            {name: [part] if isinstance(part, str) else list(part) for name, part in (views or {}).items()},
            {name: os.path.realpath(os.fspath(file)) for name, file in (features or {}).items()},
        )

    def settings(self) -> dict[str, Any]:
        """The options, as they are kept."""
        files = {name: path.encode("utf-8", "backslashreplace").decode() for name, path in self.features.items()}
        return {"columns": asdict(self.columns), "views": self.views, "features": files}


def read_source(collection: Store, source: Any, *, progress: Progress | None = None, **options: Any) -> Report:
    """Read a source into a collection that is open for writing; a known one is brought up to date.

    ``options`` are those of ``Source.of``. ``progress`` is called as work goes on.
    """
    described = Source.of(source, **options)
    if described.kind == "folder":
        from .folder import read_folder

        number = collection.items.source(described.kind, described.path, described.root, described.settings())
        return read_folder(collection, number, described.root, progress)
    with collection.transaction():  # a table that is refused leaves its source as it was, too
        return _read_file(collection, described, progress)


def _read_file(collection: Store, described: Source, progress: Progress | None) -> Report:
    number = collection.items.source(described.kind, described.path, described.root, described.settings())
    if described.kind == "table":
        from .table import read_table

        report = read_table(collection, number, described, progress)
    else:
        from .ready import read_features

        report = read_features(collection, number, described, progress)
    if (read := hash_file(described.path)) is not None:
        collection.whereabouts.put_source_content(number, read[0])
    return report
