"""Files written together, so that they can be taken back together, whenever the program stops.

A group of files goes through five steps: their old versions are kept under ``undo/``; the catalogue says what is about
to be written; the files are written; their folders are synced; the catalogue says that it is done. A batch that was
stopped is found by the next one, which looks at each file to see whether it was written.
"""

from __future__ import annotations

import errno
import io
import os
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from .. import durable
from ..blocks import workers
from ..collection import layout
from ..collection.items import Problem
from ..collection.store import Store
from ..collection.writes import Batch, Write, remove_temporary, temporary
from ..errors import StoreError
from ..figures import counted
from ..files import BadFile, FileFacts, hash_of_file
from .document import Refused
from .editor import Edit, edit_document, take_back
from .item_files import Files, hash_of, mode_of, read_sidecar_bytes, refuse_protected

__all__ = [
    "Prepared",
    "close_batch",
    "fatal_or_reason",
    "forget_kept",
    "restore_batch",
    "settle",
    "write_group",
]

T = TypeVar("T")

GROUP = 200
"""Files written between two entries in the catalogue."""
GROUP_BYTES = 32 * 2**20
WRITERS = 8
"""Files on their way to the disk at the same time."""
_FATAL = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
"""The disk is in trouble: the next file would fare no better."""
_CLOSED = {
    errno.EROFS: "is on a file system that is read-only",
    errno.EACCES: "may not be written by you",
    errno.EPERM: "may not be written by you",
}
"""What is wrong with a folder of somebody's files, which need not be where the collection is."""


@dataclass
class Prepared:
    """A file that is about to be written."""

    path: str
    items: tuple[int, ...]
    old: bytes | None
    status: os.stat_result | None
    new: bytes
    edit: Edit
    """What there was to do."""
    mode: int
    kept: tuple[str, ...] = ()
    """Keywords of the picture itself that stand in it too."""


def write_group(
    files: Files, batch: Batch, prepared: Sequence[Prepared]
) -> tuple[list[Prepared], list[tuple[Prepared, str]]]:
    """Write a group of files; those that were written, and those that were not, with the reason."""
    collection, writes = files.collection, files.writes
    first = writes.next_number(batch)
    olds = {first + n: one.old for n, one in enumerate(prepared) if one.old is not None}
    kept = _keep(collection, batch, first, olds) if olds else None
    planned = [
        Write(
            first + n,
            one.path,
            one.items,
            "planned",
            hash_of(one.old),
            hash_of(one.new) or "",
            None if one.old is None else kept,
            tuple(one.edit),
        )
        for n, one in enumerate(prepared)
    ]
    writes.plan(batch, planned)

    def write(n: int) -> str | None:
        one = prepared[n]
        if not _is_as_read(one):
            return "another program is writing it just now; the next `apply` tries again."
        try:
            durable.replace_file(Path(one.path), temporary(batch, first + n, one.path), one.new, one.mode)
        except StoreError as error:
            return fatal_or_reason(error, one.path)
        return None

    reasons = _at_once(write, len(prepared))
    failed = [(one, reason) for one, reason in zip(prepared, reasons, strict=True) if reason is not None]
    bad = {one.path for one, _ in failed}
    done = [file for file in planned if file.path not in bad]
    durable.sync_folders(Path(os.path.dirname(file.path)) for file in done)
    files.changed(file.path for file in done if file.before is None)
    with collection.transaction():
        writes.forget(batch, [file for file in planned if file.path in bad])
        files.record(batch, done)
    return [one for one in prepared if one.path not in bad], failed


def _at_once(function: Callable[[int], T], n: int) -> list[T]:
    """The results of a function for 0 ... n - 1. Several threads wait for the disk together, which it does quickly."""
    with workers(WRITERS) as threads:
        return list(threads.map(lambda one: function(one.start), [slice(k, k + 1) for k in range(n)]))


def _is_as_read(one: Prepared) -> bool:
    """Is a file still the one that was read? Another program may have written it meanwhile."""
    try:
        now = os.lstat(one.path)
    except FileNotFoundError:
        return one.status is None
    except OSError:
        return True  # writing will say what is wrong
    return one.status is not None and FileFacts.of(now) == FileFacts.of(one.status)


def fatal_or_reason(error: StoreError, path: str) -> str:
    """Why the file at a path was not written; where the disk is in trouble, the error goes on."""
    if isinstance(error.__cause__, OSError) and error.__cause__.errno in _FATAL:
        raise error
    closed = _closed_folder(error, path)
    return str(error) if closed is None else f"{closed}. Make that folder writable."


def _closed_folder(error: StoreError, path: str) -> str | None:
    """What is wrong with the folder of a file that was to be written there; None where it is something else."""
    cause, folder = error.__cause__, os.path.dirname(path)
    if not isinstance(cause, OSError) or cause.errno not in _CLOSED:
        return None
    there = os.path.dirname(os.fsdecode(cause.filename or path))
    return f"its folder {folder} {_CLOSED[cause.errno]}" if there == folder else None


def _keep(collection: Store, batch: Batch, first: int, olds: dict[int, bytes]) -> str:
    """Keep old versions in a file of their own, which any unzip can open; its name."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, content in olds.items():
            archive.writestr(zipfile.ZipInfo(f"{number}.xmp"), content, zipfile.ZIP_DEFLATED)
    folder = collection.path / layout.UNDO / str(batch.id)
    durable.make_folder(folder)
    name = f"{first}.zip"
    durable.write_file(folder / name, [packed.getbuffer()])
    return name


def _kept(collection: Store, batch: Batch, file: Write) -> bytes:
    """The file as it was."""
    path = collection.path / layout.UNDO / str(batch.id) / str(file.kept)
    try:
        with zipfile.ZipFile(path) as archive:
            content = archive.read(f"{file.number}.xmp")
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise Refused(f"its old version in {path} cannot be read ({error}).") from error
    if hash_of(content) != file.before:
        raise Refused(f"its old version in {path} is damaged.")
    return content


def settle(files: Files) -> Batch | None:
    """The batch that was stopped, if there is one, after finding out which of its files were written."""
    writes = files.writes
    batch = writes.open_batch()
    if batch is None:
        return None
    planned = writes.files(batch, "planned")
    done = []
    for file in planned:
        try:
            remove_temporary(temporary(batch, file.number, file.path))
        except StoreError as error:
            closed = _closed_folder(error, file.path)
            if closed is None:
                raise
            said = f"{file.path}: {closed}. Make that folder writable, and run the same command again."
            raise StoreError(said) from error
        if _was_written(batch, file):
            done.append(file)
    durable.sync_folders({Path(os.path.dirname(file.path)) for file in done})
    missing = {file.number for file in planned} - {file.number for file in done}
    with files.collection.transaction():
        writes.forget(batch, [file for file in planned if file.number in missing])
        files.record(batch, done)
    return batch


def _was_written(batch: Batch, file: Write) -> bool:
    """Did the program stop after it had written a file, or before?"""
    if batch.target == "embedded":
        return bool(file.after) and hash_of_file(Path(file.path)) == file.after
    try:
        content, _ = read_sidecar_bytes(file.path)
        found = hash_of(content)
        if found in (file.before, file.after):
            return found == file.after
        return content is not None and not edit_document(content, Edit(*file.edit))[1]  # changed by others since
    except BadFile:
        return False


def close_batch(files: Files, batch: Batch, who: str | None = None) -> int | None:
    """End a batch with an entry in the history; its number, or None where nothing was written."""
    collection, writes = files.collection, files.writes
    done = writes.files(batch, "written")
    if not done:
        writes.drop(batch)
        return None
    n_added, n_removed = (sum(len(file.edit[part]) * len(file.items) for file in done) for part in (0, 1))
    n_files = len({file.path for file in done})
    what = "sidecar" if batch.target == "xmp" else "file"
    parts = [f"put {counted(n_added, 'tag')} into"] if n_added else []
    parts += [f"took {counted(n_removed, 'tag')} out of"] if n_removed else []
    summary = f"{' and '.join(parts) or 'wrote paths of tags into'} {counted(n_files, what)}"
    detail = {"batch": batch.id, "target": batch.target, "files": n_files, "added": n_added, "removed": n_removed}
    with collection.transaction():
        with collection.history.record("apply", summary, who=who, detail=detail) as change:
            writes.end(batch, change.id)
    return change.id


# --- the way back ---


def restore_batch(files: Files, batch: Batch) -> list[Problem]:
    """Put every file of a batch back as it was; those that could not be, with the reason.

    Where another program has changed a file since, only what we did is taken back. Groups are written down as they
    are done, so that a second call does the rest.
    """
    left = files.writes.files(batch, "written")[::-1]
    failed: list[Problem] = []
    # Files that go make room for those that come back: on a full disk this order works, the other does not.
    for part in ([one for one in left if one.before is None], [one for one in left if one.before is not None]):
        for start in range(0, len(part), GROUP):
            failed += _restore_group(files, batch, part[start : start + GROUP])
    return failed


def forget_kept(files: Files, batch: Batch) -> None:
    """Old versions of a batch that was taken back are of no use any more."""
    folder = files.collection.path / layout.UNDO / str(batch.id)
    try:
        if folder.is_dir():
            durable.remove_tree(folder)
    except (StoreError, OSError):  # the sweep at the next opening will find them
        pass


def _restore_group(files: Files, batch: Batch, group: Sequence[Write]) -> list[Problem]:
    earlier = files.writes.undone_before(batch)
    where = [_present(files, file) for file in group]  # the catalogue answers this thread alone

    def restore(n: int) -> str | None:
        path = where[n]
        if isinstance(path, BadFile):
            return str(path)
        try:
            _restore(files.collection, batch, group[n], path, earlier.get(group[n].path, ()))
        except BadFile as error:
            return str(error)
        except StoreError as error:
            return fatal_or_reason(error, str(path))
        return None

    reasons = list(zip(group, _at_once(restore, len(group)), strict=True))
    done = [file for file, reason in reasons if reason is None]
    failed = [Problem(file.path, "not undone", reason, stage="undo") for file, reason in reasons if reason is not None]
    folders = {Path(os.path.dirname(file.path)) for file in done}
    durable.sync_folders(folder for folder in folders if folder.is_dir())
    files.changed(file.path for file in done)
    with files.collection.transaction():
        files.record_undone(batch, done)
    return failed


def _present(files: Files, file: Write) -> Path | BadFile:
    """Where a file is now, or why that cannot be told."""
    try:
        return Path(files.present(file, "xmp"))
    except BadFile as error:
        return error


def _restore(
    collection: Store, batch: Batch, file: Write, path: Path, earlier: Sequence[tuple[tuple[str, ...], ...]]
) -> None:
    """``earlier``: edits of the same file that came before this one and were taken back while it stood."""
    temp = temporary(batch, file.number, str(path))
    durable.remove(temp)
    content, status = read_sidecar_bytes(str(path))
    found = hash_of(content)
    if content is None or found == file.before:
        return  # somebody has removed it; or it was put back before the program was stopped
    refuse_protected(str(path), status)
    if found == file.after and file.before is None:
        durable.remove(path)
    elif found == file.after:
        durable.replace_file(path, temp, _kept(collection, batch, file), mode_of(status))
    else:
        edits = [Edit(*edit) for edit in (file.edit, *earlier)]
        changed, differs = take_back(content, edits[0], [edit.begun for edit in edits])
        if differs:
            durable.replace_file(path, temp, changed, mode_of(status))
