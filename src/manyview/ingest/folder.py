"""A folder of pictures, clips and documents as items."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..collection.items import Known, NewItem, Problem
from ..collection.layout import CATALOG
from ..errors import MissingExtra, StoreError
from ..files import (
    DOCUMENTS,
    HEAD,
    PACKED,
    PICTURES,
    RAW,
    VIDEOS,
    BadFile,
    FileFacts,
    Kind,
    ending,
    is_sidecar,
    open_regular,
    os_problem,
    sidecars_by_owner,
    sniff,
)
from ..sandbox import child_environment
from ..types import Progress
from .capture import item_fields
from .documents import DocumentReader
from .keywords import Keywords, read_keywords
from .moves import LARGE, content_of, find_moves
from .report import ALONE, UNSUPPORTED, Report
from .sidecar import beside_words, read_sidecar

if TYPE_CHECKING:
    from ..collection.store import Store

__all__ = ["Scan", "read_folder", "read_one", "recognise", "scan"]

_HIDDEN = (".", "~$")
"""How names begin that are passed over: hidden ones, and those of Office's notes that a document is open."""
_ADVICE = {
    **dict.fromkeys(
        ("doc", "dot", "ppt", "pps", "wps", "wpd", "pages", "key", "sxw", "sxi", "fodt", "fodp"),
        "; save it as DOCX, PPTX or PDF with the program that wrote it, or with LibreOffice",
    ),
    **dict.fromkeys(("msg", "mbox"), "; save its mails as EML files"),
}
_BATCH = 256
_BATCH_SECONDS = 2.0
_ALONE_SENTENCE = "it is a sidecar, and no file of its name is beside it: its keywords belong to no item."
_ALONE = (sys.executable, "-P", "-m", f"{__package__}._alone_child")


@dataclass
class Scan:
    """What stands in a folder and below it."""

    files: dict[str, FileFacts] = field(default_factory=dict)
    """Path below the root -> size and time; sorted by the bytes of the path."""
    sidecars: dict[str, dict[str, FileFacts]] = field(default_factory=dict)
    """Path of a file -> its sidecars, with size and time."""
    problems: list[Problem] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    """Folders that could not be listed: what was known below them is not gone."""

    def beside(self, path: str) -> str:
        """The sidecars of a file, in words that change when one of them comes, goes or changes."""
        return beside_words(self.sidecars.get(path, {}))


def scan(root: str) -> Scan:
    """List a folder without opening a file. Links are not followed; hidden names and collections are passed over."""
    found = Scan()
    files: dict[str, FileFacts] = {}
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        names: dict[str, FileFacts] = {}
        sidecars: dict[str, FileFacts] = {}
        try:
            with os.scandir(os.path.join(root, folder)) as entries:
                listed = [entry for entry in entries if not entry.name.startswith(_HIDDEN)]
        except OSError as error:
            bad = os_problem(error)
            found.problems.append(Problem(folder or ".", bad.reason, f"this folder was not read: {bad.sentence}"))
            found.unseen.append(folder)
            continue
        for entry in listed:
            path = os.path.join(folder, entry.name)
            try:
                if entry.is_symlink():
                    found.problems.append(_link(root, path))
                elif entry.is_dir(follow_symlinks=False):
                    if not os.path.exists(os.path.join(root, path, CATALOG)):
                        waiting.append(path)
                elif entry.is_file(follow_symlinks=False):
                    part = sidecars if is_sidecar(entry.name) else names
                    part[entry.name] = FileFacts.of(entry.stat(follow_symlinks=False))
                else:
                    sentence = "it is a pipe, socket or device; those are never opened."
                    found.problems.append(Problem(path, "not a file", sentence, is_bad=False))
            except OSError as error:
                bad = os_problem(error)
                found.problems.append(Problem(path, bad.reason, bad.sentence))
        owners = sidecars_by_owner([*names, *sidecars])
        for owner, beside in owners.items():
            path = os.path.join(folder, owner)
            found.sidecars[path] = {os.path.join(folder, name): sidecars[name] for name in beside}
        for name in sorted(sidecars.keys() - {name for beside in owners.values() for name in beside}):
            found.problems.append(Problem(os.path.join(folder, name), ALONE, _ALONE_SENTENCE, is_bad=False))
        files.update((os.path.join(folder, name), facts) for name, facts in names.items())
    found.files = dict(sorted(files.items(), key=lambda entry: os.fsencode(entry[0])))
    return found


def _link(root: str, path: str) -> Problem:
    try:
        real = os.path.realpath(os.path.join(root, path), strict=True)
    except OSError:
        return Problem(path, "link", "it is a link that leads nowhere or in a circle.", is_bad=False)
    if real == root or real.startswith(root.rstrip(os.sep) + os.sep):
        return Problem(path, "link", "it is a link to something in the same folder, which is read there.", is_bad=False)
    return Problem(path, "outside", "it is a link that leads out of the folder; it was not followed.", is_bad=False)


def recognise(head: bytes, path: str) -> Kind | None:
    """What a file is: by its first bytes, then by its name; ``BadFile`` where the two contradict; None: not ours."""
    kind = sniff(head)
    if kind is not None:
        return kind
    called = ending(path)
    if called in PICTURES or called in VIDEOS:
        what = "a picture" if called in PICTURES else "a video"
        if not head:
            raise BadFile("empty", "it is empty.")
        start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:14].lower()
        if start.startswith((b"<!doctype html", b"<html")):
            raise BadFile("unknown format", f"it is called {what} but is a web page.")
        if start.startswith((b"<svg", b"<?xml")):
            raise BadFile("unknown format", f"it is called {what} but is XML or SVG, which is not read.")
        raise BadFile("unknown format", f"it is called {what} but does not begin like one.")
    if called in RAW and not head.strip(b"\0"):  # others may be something else of that name, such as a `.cap`
        raise BadFile("empty", "it begins with nothing but zeros." if head else "it is empty.")
    if called in DOCUMENTS:
        if not head:
            raise BadFile("empty", "it is empty.")
        kind = Kind("document", DOCUMENTS[called])
        if kind.format == "pdf" or (kind.format in PACKED and not head.startswith(b"PK")):
            secret = "; one that is encrypted with a password cannot be read" if kind.format in PACKED else ""
            raise BadFile("unknown format", f"it is called {kind.format.upper()} but does not begin like one{secret}.")
        return kind
    return None


def read_folder(collection: Store, source_id: int, root: str, progress: Progress | None = None) -> Report:
    """Bring the collection up to date with a folder: what is new or changed is read, what is gone is marked so.

    Every batch of files is written down before the next one is read; a reading that was stopped goes on there.
    """
    if not os.path.isdir(root):
        raise StoreError(
            f"{root} does not exist or is not a folder. If it is on a disk that is not connected, connect that first; "
            "if it was moved, name its new place: manyview add NAME.manyview FOLDER"
        )
    report = Report(root)
    found = scan(root)
    items = collection.items
    known = items.known(source_id)
    here = {problem.path for problem in found.problems}
    lost = {
        path: was
        for path, was in known.items()
        if path not in found.files and path not in here and not _below(path, found.unseen)
    }
    seen = find_moves(collection, source_id, root, found.files, known, lost)
    if seen.moves or seen.replaced:
        with collection.transaction():
            collection.whereabouts.step_aside(seen.replaced)
            collection.whereabouts.move(source_id, seen.moves)
        known = items.known(source_id)
    moved = {one.id for one in seen.moves}
    report.n_back = sum(one.is_back for one in seen.moves)
    report.n_moved = len(moved) - report.n_back
    todo = []
    same = set()
    elsewhere = []
    for path, facts in found.files.items():
        before = known.get(path)
        if before and before.has_fields and _is_same(before, facts, found.beside(path)):
            same.add(path)
            if before.facts != facts:
                elsewhere.append((before.id, facts))
        else:
            todo.append(path)
    report.n_same = sum(known[path].id not in moved for path in same)
    collection.whereabouts.put_facts(elsewhere)
    items.put_problems(source_id, found.problems, replace=True, except_for=same)  # those are not read again
    gone = [was.id for was in lost.values() if was.state != "gone" and was.id not in moved]
    items.gone(gone)
    report.n_gone = len(gone)
    with DocumentReader() as documents:
        for batch in _batches(_read_all(collection, root, todo, found, seen.contents, documents, progress)):
            _keep(collection, source_id, batch, known, moved, report)
    collection.journal.finish()
    if moved:
        collection.whereabouts.adopt(source_id)
    items.finish_source(source_id)
    report.problems = [problem for problem in items.problems() if problem.stage == "ingest"]
    return report


def _same(before: FileFacts | None, now: FileFacts | None) -> bool:
    return before is not None and now is not None and before[:2] == now[:2]  # an inode may change with the disk


def _is_same(before: Known, facts: FileFacts | None, beside: str) -> bool:
    """Is an item's file as it was, and are its sidecars?"""
    return before.state != "gone" and _same(before.facts, facts) and before.beside == beside


def _same_content(before: Known, now: NewItem) -> bool:
    return _same(before.facts, now.facts) or (before.content is not None and before.content == now.content)


def _below(path: str, folders: list[str]) -> bool:
    return any(folder == "" or path.startswith(folder + os.sep) for folder in folders)


@dataclass
class _Read:
    """One file after reading: an item, or none, and what there is to say of it."""

    path: str
    item: NewItem | None
    problems: list[Problem]


def _read_all(
    collection: Store,
    root: str,
    paths: list[str],
    found: Scan,
    contents: dict[str, bytes],
    documents: DocumentReader,
    progress: Progress | None,
) -> Iterator[_Read]:
    import defusedxml.ElementTree  # noqa: F401  first of all: a file is not to blame for the time this takes

    journal = collection.journal
    for number, path in enumerate(paths):
        stamp = f"{found.files[path].size} {found.files[path].mtime_ns}"
        if journal.given_up(path, stamp):
            if _dies_alone(root, path, found.sidecars.get(path, {})):
                sentence = "the program died while reading it, three times in a row; it is left out until it changes."
                yield _Read(path, None, [Problem(path, "crash", sentence)])
                continue
            journal.acquit(path, stamp)
        journal.opening(path, stamp)
        result = read_one(root, path, found, contents.get(path), documents)
        journal.done(path, stamp)
        yield result
        if progress is not None:
            progress("reading", number + 1, len(paths))


def _dies_alone(root: str, path: str, sidecars: Iterable[str]) -> bool:
    """Does a program that reads this file and nothing else die too? Somebody may have stopped ours three times."""
    command = [*_ALONE, root, path, *(os.path.join(root, name) for name in sidecars)]
    try:
        done = subprocess.run(  # noqa: S603  our own module
            command, env=child_environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False
        )
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def read_one(root: str, path: str, found: Scan, content: bytes | None, documents: DocumentReader) -> _Read:
    """One file of a folder: what it is, its keywords or text, and those beside it."""
    try:
        with open_regular(os.path.join(root, path)) as (file, now):
            kind = recognise(file.read(HEAD), path)
            if kind is None:
                sentence = f"manyview does not read files of this kind{_ADVICE.get(ending(path), '')}."
                return _Read(path, None, [Problem(path, UNSUPPORTED, sentence, is_bad=False)])
            text, words = None, Keywords()
            if kind.kind == "document":
                text, words = documents.read(file, kind.format, now.size)
            else:
                words = read_keywords(file, kind.format)
            if content is None and now.size <= LARGE:
                content = content_of(file)
    except BadFile as error:
        return _Read(path, None, [Problem(path, error.reason, error.sentence)])
    except MissingExtra as error:
        return _Read(path, None, [Problem(path, "missing extra", str(error))])
    beside = [read_sidecar(os.path.join(root, name)) for name in found.sidecars.get(path, {})]
    notes = [*words.notes, *(note for part in beside for note in part.notes)]
    item = NewItem(
        key=path,
        kind=kind.kind,
        path=path,
        facts=now,
        beside=found.beside(path),
        content=content,
        format=kind.format,
        text=text,
        fields=item_fields([one for part in beside for one in part.captures], words.captures, now.mtime_ns),
        tags={"file": words.tags, "sidecar": [word for part in beside for word in part.tags]},
        paths={"file": words.paths, "sidecar": [entry for part in beside for entry in part.paths]},
    )
    return _Read(path, item, [Problem(path, reason, sentence, is_bad=False) for reason, sentence in notes])


def _batches(results: Iterator[_Read]) -> Iterator[list[_Read]]:
    batch: list[_Read] = []
    started = time.monotonic()
    for result in results:
        batch.append(result)
        if len(batch) >= _BATCH or time.monotonic() - started > _BATCH_SECONDS:
            yield batch
            batch, started = [], time.monotonic()
    if batch:
        yield batch


def _keep(
    collection: Store,
    source_id: int,
    batch: list[_Read],
    known: dict[str, Known],
    moved: set[int],
    report: Report,
) -> None:
    with collection.transaction():
        before = [(result, known[result.path]) for result in batch if result.path in known]
        other = [was.id for result, was in before if result.item is None or not _same_content(was, result.item)]
        collection.items.forget_file(other)
        collection.segments.drop_rows(other)
        collection.items.gone(was.id for result, was in before if result.item is None)
        collection.put_items(source_id, [result.item for result in batch if result.item is not None])
        collection.items.put_problems(source_id, [problem for result in batch for problem in result.problems])
    collection.journal.progress()
    for result in batch:
        if result.item is not None:
            report.formats[result.item.format or ""] += 1
            if result.path not in known:
                report.n_new += 1
            elif known[result.path].id in moved:
                continue
            elif known[result.path].state == "gone":
                report.n_back += 1
            else:
                is_same = _is_same(known[result.path], result.item.facts, result.item.beside)
                report.n_same += is_same  # read again for what an older version did not read
                report.n_changed += not is_same
