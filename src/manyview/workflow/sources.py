"""Which sources an addition reads, and where those that moved are now."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..collection.items import Problem
from ..collection.store import Store
from ..errors import ParameterError, StoreError
from ..ingest.moves import hash_file
from ..ingest.source import Columns, Source, read_source
from ..types import Progress

__all__ = ["choose_sources", "known_source", "read_sources"]


def choose_sources(
    collection: Store, source: Any, instead_of: str | os.PathLike[str] | None, options: Mapping[str, Any]
) -> tuple[list[Source], str | None]:
    """What to read, and the path at which a known one of them was before it moved. Nothing is written."""
    known = {entry["path"]: entry for entry in collection.items.sources()}
    if source is None:
        if options or instead_of is not None:
            raise ParameterError(
                "--instead-of and the options of tables describe a source; name that too: "
                "manyview add NAME.manyview SOURCE."
            )
        return [known_source(entry) for entry in known.values()], None
    described = Source.of(source, **options)
    if described.path in known:
        if instead_of is not None:
            raise ParameterError(f"{described.path} is a source of {collection.path} already; leave --instead-of out.")
        return [described if options else known_source(known[described.path])], None
    old = _moved_from(collection, described, known, instead_of)
    if old is None:
        return [described], None
    root = described.root if known[old]["root"] in (old, os.path.dirname(old)) else known[old]["root"]
    before = described if options else known_source(known[old])
    return [replace(before, path=described.path, root=root)], old


def _moved_from(
    collection: Store,
    described: Source,
    known: Mapping[str, Mapping[str, Any]],
    instead_of: str | os.PathLike[str] | None,
) -> str | None:
    """The source that this one was, where a person says so or a table's content does; folders go file by file."""
    if instead_of is None:
        read = None if described.kind == "folder" else hash_file(described.path)
        return None if read is None else collection.whereabouts.moved_table(described.kind, read[0])
    named = os.fspath(instead_of)
    old = next((path for path in (named, os.path.realpath(named)) if path in known), None)
    if old is None:
        raise ParameterError(f"{named} is no source of {collection.path}; there are {', '.join(known)}.")
    if known[old]["kind"] != described.kind:
        raise ParameterError(f"{old} is a {known[old]['kind']}, but {described.path} is a {described.kind}.")
    return old


def read_sources(
    collection: Store, sources: Sequence[Source], progress: Progress | None
) -> tuple[list[str], list[Problem], int, set[int]]:
    """What was found in each, the files that could not be used, how many items are at another place now, and the rows
    of tables that say something else."""
    said, bad, failed, n_moved = [], [], [], 0
    left_out, changed = list[str](), set[int]()
    for one in sources:
        try:
            report = read_source(collection, one, progress=progress)
        except StoreError as error:
            if len(sources) == 1:
                raise
            failed.append(str(error))
            continue
        said += [str(report), *report.notes]
        bad += report.bad
        n_moved += report.n_moved
        left_out = report.left_out_sentences  # of all sources
        changed |= report.changed
    if failed and len(failed) == len(sources):
        raise StoreError(" ".join(failed))
    said += left_out
    return said + [f"not looked at: {sentence}" for sentence in failed], bad, n_moved, changed


def known_source(entry: Mapping[str, Any]) -> Source:
    """A source as the catalogue describes it."""
    settings = entry["settings"]
    columns = Columns(**settings.get("columns", {}))
    views, features = settings.get("views", {}), settings.get("features", {})
    return Source(entry["kind"], entry["path"], entry["root"], columns, dict(views), dict(features))
