"""Is a collection whole? And does it hold the same as another one?"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np

from ...arrays import is_sparse
from ...blocks import row_blocks
from ...errors import ManyviewError
from .. import layout
from ..catalog import Catalog, as_json, damaged, open_read_only
from ..store import Store
from .answers import acknowledged
from .heal import damaged_packs
from .restore import disagreement
from .sweep import present_files, registered_files, retired_files
from .unfinished import planned_files

__all__ = ["damage_of", "digest", "problems"]


def problems(path: str | os.PathLike[str]) -> list[str]:
    """Everything that is wrong with a collection, each in a sentence; an empty list says that it is whole.

    The catalogue's own integrity, that every registered file is there and holds what was registered, that no other
    file is, and that everything refers to something. Reads every file once; changes nothing.
    """
    try:
        with Store.open(path) as collection:
            return _problems(collection)
    except ManyviewError as error:
        return [str(error)]
    except (sqlite3.Error, ValueError, TypeError, KeyError, IndexError, OverflowError, AttributeError) as error:
        return [str(damaged(Path(path), f"{type(error).__name__}: {error}"))]  # bytes that are not what we wrote


def _problems(collection: Store) -> list[str]:
    catalog = collection._catalog
    found = [f"{catalog.path}: {row[0]}." for row in catalog.rows("PRAGMA integrity_check") if row[0] != "ok"]
    found += [
        f"{catalog.path}: row {row} of table {table} refers to a row of {parent} that is not there."
        for table, row, parent, _ in catalog.rows("PRAGMA foreign_key_check")
    ]
    present, registered = present_files(collection.path), registered_files(catalog)
    gone = sorted(registered - present - planned_files(catalog))
    found += [f"{collection.path / name} is registered but not there." for name in gone]
    found += [
        f"{collection.path / name} belongs to nothing; it goes at the next opening for writing."
        for name in sorted(present - registered - retired_files(catalog))
    ]
    found += _open_to_others(collection.path)
    last = catalog.value("SELECT max(history_id) FROM changes") or 0
    if why := disagreement(catalog.rows, acknowledged(collection.path / layout.ANSWERS, last)):
        found.append(str(damaged(collection.path, f"it does not hold what was answered: {why}")))
    strange = sorted(set(os.listdir(collection.path)) - layout.NAMES)
    found += [f"{collection.path / name} is not part of a collection." for name in strange]
    known = {row[0] for row in catalog.rows("SELECT id FROM items")}
    for name in collection.view_names:
        found += _view_problems(collection, name, known)
    for run in collection.runs:
        if run.has_model:
            try:
                collection.runs.model(run.id)
            except ManyviewError as error:
                found.append(str(error))
    found += _pack_problems(catalog)
    if damaged_packs(collection):
        found.append(f"`manyview features {collection.path}` makes the thumbnails of damaged packs again.")
    sums = {
        "labels of a run that has no cluster for them": "SELECT count(*) FROM labels LEFT JOIN run_clusters "
        "USING (run_id, label) WHERE label >= 0 AND cluster_id IS NULL",
        "items that repeat one that itself repeats another": "SELECT count(*) FROM items JOIN items AS first ON "
        "items.duplicate_of = first.id WHERE first.duplicate_of IS NOT NULL",
    }
    found += [f"{catalog.path}: {n} {what}." for what, sql in sums.items() if (n := catalog.value(sql))]
    return found


def _open_to_others(root: Path) -> list[str]:
    if not root.stat().st_mode & 0o077:
        return []
    return [f"{root} can be read by other users of this machine; it is closed at the next opening for writing."]


def _view_problems(collection: Store, name: str, known: set[int]) -> list[str]:
    segments = collection.segments
    found: list[str] = []
    try:
        info = segments.info(name)
        for segment in segments._segments(info):
            if strange := set(segment.items.tolist()) - known - {-1}:
                found.append(
                    f"segment {segment.name} of view {name!r} has a row for item {min(strange)}, which there is not."
                )
        matrix, _ = segments.matrix(name)
        if is_sparse(matrix) and not np.isfinite(matrix.data).all():
            found.append(f"view {name!r} holds values that are not finite.")
    except ManyviewError as error:
        found.append(str(error))
    return found


def _pack_problems(catalog: Catalog) -> list[str]:
    found = []
    for name, size in catalog.rows("SELECT name, size FROM packs"):
        path = catalog.root / layout.THUMBS / name
        if path.is_file() and path.stat().st_size != size:
            found.append(f"{path} has {path.stat().st_size} bytes, but {size} were registered.")
    beyond = catalog.value("SELECT count(*) FROM thumbs JOIN packs ON packs.id = pack_id WHERE start + length > size")
    return found + ([f"{catalog.path}: {beyond} thumbnails lie beyond their pack."] if beyond else [])


_CONTENT = {
    "items": "SELECT sources.path, key, items.kind, items.path, size, mtime_ns, beside, items.content, format, width, "
    "height, text, fields, fingerprint, signature, state, "
    "(SELECT key FROM items AS first WHERE first.id = items.duplicate_of) FROM items "
    "JOIN sources ON sources.id = source_id ORDER BY items.id",
    "sources": "SELECT kind, path, root, settings, complete FROM sources ORDER BY id",
    "problems": "SELECT path, stage, reason, sentence, is_bad FROM problems ORDER BY source_id, path, stage, reason",
    "tags": "SELECT key, folded, item_tags.source, coalesce(spelling, name) FROM item_tags "
    "JOIN items ON items.id = item_id JOIN tags ON tags.id = tag_id ORDER BY item_id, folded, item_tags.source",
    "paths": "SELECT key, parts, item_paths.source FROM item_paths JOIN items ON items.id = item_id JOIN tag_paths ON "
    "tag_paths.id = path_id ORDER BY item_id, parts, item_paths.source",
    "views": "SELECT name, version, is_sparse, dtype, n_columns, columns, settings FROM views ORDER BY name",
    "runs": "SELECT id, kind, method, settings, views, model IS NOT NULL FROM runs ORDER BY id",
    "labels": "SELECT run_id, key, label, confidence FROM labels JOIN items ON items.id = item_id "
    "ORDER BY run_id, item_id",
    "clusters": "SELECT run_id, label, cluster_id, clusters.name, is_pinned, merged_into, run_clusters.name, profile "
    "FROM run_clusters JOIN clusters ON clusters.id = cluster_id ORDER BY run_id, label",
    "placements": "SELECT item_id, cluster_id FROM placements ORDER BY item_id",
    "links": "SELECT first_id, second_id, together FROM links ORDER BY first_id, second_id",
    "pinned": "SELECT item_id, cluster_id FROM pinned_items ORDER BY item_id",
    "adjustments": "SELECT run_id, item_id, cluster_id, apart_from FROM adjustments ORDER BY run_id, item_id",
    "descriptions": "SELECT run_id, cluster_id, members, name, profile FROM cluster_profiles "
    "ORDER BY run_id, cluster_id",
    "started": "SELECT item_id, cluster_id FROM started_update ORDER BY item_id",
    "proposals": "SELECT run_id, item_id, folded, score, probability, reason FROM proposals "
    "JOIN tags ON tags.id = tag_id ORDER BY run_id, item_id, folded",
    "decisions": "SELECT item_id, folded, answer, who, why FROM decisions JOIN tags ON tags.id = tag_id "
    "ORDER BY item_id, folded",
    "history": "SELECT id, kind, summary, undoes, undone_by FROM history ORDER BY id",
    "writes": "SELECT batch_id, target, path, items, state, before, edit FROM writes JOIN batches ON batch_id = id "
    "ORDER BY batch_id, path, number",
    "write back": "SELECT item_id, state, reason FROM write_back ORDER BY item_id",
    "removals": "SELECT item_id, tag_id, target FROM removals ORDER BY item_id, tag_id, target",
    "written tags": "SELECT item_id, tag_id, target FROM written_tags ORDER BY item_id, tag_id, target",
}


def digest(path: str | os.PathLike[str]) -> dict[str, str]:
    """One hash for each part of what a collection holds; equal for equal content.

    When things happened, how rows are cut into segments and what the files are called is left out: a run that was
    interrupted and finished later gives the same as one that was not.
    """
    with Store.open(path) as collection:
        catalog = collection._catalog
        found = {name: _hash_rows(catalog.rows(sql)) for name, sql in _CONTENT.items()}
        for name in collection.view_names:
            found[f"view {name}"] = _hash_view(collection, name)
        for run in collection.runs:
            if run.has_model:
                found[f"model {run.id}"] = _hash_model(collection.runs.folder(run.id))
        thumbs = hashlib.sha256()
        for (item,) in catalog.rows("SELECT item_id FROM thumbs ORDER BY item_id"):
            thumbs.update(f"{item}:".encode() + (collection.thumbs.get(item) or b""))
        found["thumbs"] = thumbs.hexdigest()
        return found


def _hash_rows(rows: list[Any]) -> str:
    total = hashlib.sha256()
    for row in rows:
        total.update(as_json([value.hex() if isinstance(value, bytes) else value for value in row]).encode() + b"\n")
    return total.hexdigest()


def _hash_view(collection: Store, name: str) -> str:
    matrix, held = collection.segments.matrix(name)
    total = hashlib.sha256(held.tobytes())
    if is_sparse(matrix):
        for part in (matrix.data, matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)):
            total.update(np.ascontiguousarray(part).tobytes())
    else:
        for block in row_blocks(matrix.shape[0], matrix.shape[1] * matrix.itemsize):
            total.update(np.ascontiguousarray(matrix[block]).tobytes())
    state = {
        key: hashlib.sha256(value.tobytes()).hexdigest() if isinstance(value, np.ndarray) else value
        for key, value in collection.segments.state(name).items()
    }
    total.update(as_json(state).encode())
    return total.hexdigest()


def _hash_model(folder: Path) -> str:
    """The arrays of a model by content: their file names are drawn anew at each save."""
    arrays = sorted(hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.npy"))
    return hashlib.sha256(as_json(arrays).encode()).hexdigest()


def damage_of(path: Path) -> str:
    """What is wrong with a catalogue, in a few words; "" where it is whole, and says what the file of answers says."""
    catalog = path / layout.CATALOG
    if not catalog.is_file() or not catalog.stat().st_size:
        return f"{layout.CATALOG} is not there or empty"
    try:
        connection = open_read_only(catalog)
        try:
            found = [row[0] for row in connection.execute("PRAGMA integrity_check(3)")]
            broken = connection.execute("PRAGMA foreign_key_check").fetchall()
            application = connection.execute("PRAGMA application_id").fetchone()[0]
            for table in ("items", "sources", "tags", "decisions", "history", "changes", "runs", "clusters"):
                connection.execute(f"SELECT * FROM {table}").fetchall()  # noqa: S608  one of these
            last = connection.execute("SELECT max(history_id) FROM changes").fetchone()[0] or 0
            said = disagreement(
                lambda sql: connection.execute(sql).fetchall(), acknowledged(path / layout.ANSWERS, last)
            )
        finally:
            connection.close()
    except (sqlite3.Error, ValueError, OverflowError) as error:
        return str(error)
    if found != ["ok"]:
        return str(found[0])
    if application != layout.APPLICATION:
        return "it is not a catalogue of manyview"
    return f"{len(broken)} rows refer to rows that are not there" if broken else said
