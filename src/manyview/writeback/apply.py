"""Accepted tags into sidecars, tables, or the files themselves."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..collection.history import Entry
from ..collection.items import Problem
from ..collection.store import Store
from ..collection.writes import Batch
from ..errors import ParameterError
from ..figures import counted
from ..files import BadFile
from ..ingest.containers import Block
from ..ingest.documents import DocumentReader
from ..ingest.keywords import gather
from ..ingest.xmp import SUBJECT, Name
from ..types import Progress
from .beginnings import beginnings, entries, keywords_of
from .document import HIERARCHY, TAGS_LIST, Document, leaf_key
from .editor import Edit, edit_document, new_document
from .file_batches import GROUP, GROUP_BYTES, Prepared, close_batch, settle, write_group
from .item_files import Files, mode_beside, mode_of, read_sidecar_bytes, refuse_protected
from .naming import NAMINGS
from .sidecar_wishes import SidecarTarget, Wishes, one_of_each, sidecar_targets

__all__ = ["TARGETS", "Applied", "FileChange", "apply_tags", "end_writing", "start_writing"]

_WRITTEN = (SUBJECT, HIERARCHY, TAGS_LIST)
"""The lists of a sidecar that words are put into."""
TARGETS = ("xmp", "embedded", "csv", "json")


class FileChange(NamedTuple):
    """What was written to a file, or would be."""

    path: str
    items: tuple[int, ...]
    is_new: bool
    edit: Edit
    kept: tuple[str, ...] = ()
    """Keywords of the picture that a list begins with which was not there before."""

    def lines(self) -> list[str]:
        """The change, a word to a line: + put in, - taken out, = the picture's own, put in too."""
        return [
            *(f"+ {_shown(word, self.edit.add_paths)}" for word in self.edit.add),
            *(f"+ {path}" for path in _others(self.edit.add_paths, self.edit.add)),
            *(f"- {_shown(word, self.edit.remove_paths)}" for word in self.edit.remove),
            *(f"- {path}" for path in _others(self.edit.remove_paths, self.edit.remove)),
            *(f"= {word}" for word in self.kept),
        ]


def _shown(word: str, paths: Sequence[str]) -> str:
    """A word, with its path where it has one."""
    longer = [path for path in paths if "|" in path and leaf_key(HIERARCHY, path) == leaf_key(SUBJECT, word)]
    return f"{word} ({', '.join(longer)})" if longer else word


def _others(paths: Sequence[str], words: Sequence[str]) -> list[str]:
    """Paths that do not end in one of the words."""
    shown = {leaf_key(SUBJECT, word) for word in words}
    return [path for path in paths if leaf_key(HIERARCHY, path) not in shown]


@dataclass
class Applied:
    """What ``apply_tags`` did, or would do."""

    to: str
    dry_run: bool = False
    changes: list[FileChange] = field(default_factory=list)
    failed: list[Problem] = field(default_factory=list)
    """Files that could not be written, with the reason; their tags stay to be written."""
    entry: Entry | None = None
    """Its entry in the history, which ``undo`` takes; None where nothing was written."""
    output: str | None = None
    n_items: int = 0
    """Of a table: the items in it."""
    n_without_file: int = 0
    """Accepted tags of items that have no file to write them to or beside."""
    n_inside: int = 0
    """Of sidecars: tags that were taken away or renamed, and stand in the pictures themselves."""

    @property
    def sentence(self) -> str:
        """What was done, for people."""
        if self.output is not None:
            return f"{self.output}: the tags of {counted(self.n_items, 'item')}"
        files = "sidecar" if self.to == "xmp" else "file"
        n_added, n_removed = (sum(len(one.edit[part]) * len(one.items) for one in self.changes) for part in (0, 1))
        would = "would be " if self.dry_run else ""
        done = [f"{counted(n_added, 'tag')} {would}put into", f"{n_removed} {would}taken out of"]
        parts = [words for n, words in zip((n_added, n_removed), done, strict=True) if n]
        n_new = sum(one.is_new for one in self.changes)
        if not self.changes:
            said = f"no {files} {'was written' if self.failed else 'needs writing'}"
        else:
            said = f"{', '.join(parts) or f'paths {would}put into'} {counted(len(self.changes), files)}"
            said += f" ({n_new} new)" if n_new else ""
        said += f"; {len(self.failed)} failed; the next `apply` tries again" if self.failed else ""
        if self.n_without_file:
            tags = counted(self.n_without_file, "accepted tag belongs", "accepted tags belong")
            said += f"; {tags} to items without a file: `manyview apply --to csv -o FILE` writes a table of all tags"
        if self.n_inside:
            tags = counted(
                self.n_inside, "tag that you took away or renamed stands", "tags that you took away or renamed stand"
            )
            said += f"; {tags} in the pictures themselves: `--to embedded` changes JPEG, PNG and TIFF files"
        return said

    def to_dict(self) -> dict[str, Any]:
        """The same for machines."""
        return {
            "to": self.to,
            "dry_run": self.dry_run,
            "entry": None if self.entry is None else self.entry.id,
            "output": self.output,
            "files": [
                {
                    "path": one.path,
                    "items": list(one.items),
                    "new": one.is_new,
                    **one.edit._asdict(),
                    "kept": list(one.kept),
                }
                for one in self.changes
            ],
            "failed": [problem._asdict() for problem in self.failed],
            "without_file": self.n_without_file,
            "inside_pictures": self.n_inside,
        }


def apply_tags(
    collection: Store,
    to: str = "xmp",
    *,
    dry_run: bool = False,
    naming: str = "full",
    output: str | os.PathLike[str] | None = None,
    who: str | None = None,
    progress: Progress | None = None,
) -> Applied:
    """Write the tags a person accepted to where other programs find them.

    to : "xmp", sidecars beside the files; "csv" or "json", one table in ``output``; "embedded", the files themselves
    dry_run : only say what would be written
    naming : how a new sidecar is called: "full" is ``photo.jpg.xmp``, "stem" is ``photo.xmp``

    Accepted tags that are not in an item's sidecar are put in, tags that stood there when a person said no to them are
    taken out, and all else stays as it is. A new sidecar holds the keywords of the picture as well. What cannot be
    written is named and stays to be written. One entry of the history, which ``undo`` takes back.
    """
    if to not in TARGETS:
        raise ParameterError(f"tags can be written to {', '.join(TARGETS)}, not to {to!r}.")
    if naming not in NAMINGS:
        raise ParameterError(f"naming must be one of {', '.join(NAMINGS)}, got {naming!r}.")
    if to in ("csv", "json"):
        from .export import export_tags

        n_items = export_tags(collection, to, output)
        return Applied(to, output=os.fspath(output or ""), n_items=n_items)
    if output is not None:
        raise ParameterError("an output file is for csv and json; sidecars and embedded tags go beside and into files.")
    if not dry_run:
        collection.check_writable("apply")
    if to == "embedded":
        from .embed import embed_tags

        return embed_tags(collection, dry_run=dry_run, who=who, progress=progress)
    return _apply_xmp(collection, dry_run, naming, who, progress)


def _apply_xmp(collection: Store, dry_run: bool, naming: str, who: str | None, progress: Progress | None) -> Applied:
    files = Files(collection)
    done = Applied("xmp", dry_run)
    wishes, batch = start_writing(files, done, who)
    failed: dict[int, str] = {}
    targets = one_of_each(sidecar_targets(files, wishes, naming, failed), failed)
    n_done = 0
    for group in _groups(targets, failed):
        written: Sequence[Prepared] = group
        if not dry_run:
            batch = batch or files.writes.begin("xmp")
            written, missed = write_group(files, batch, group)
            failed.update((item, f"{one.path}: {reason}") for one, reason in missed for item in one.items)
        done.changes += [FileChange(one.path, one.items, one.old is None, one.edit, one.kept) for one in written]
        n_done += len(group)
        if progress is not None:
            progress("writing sidecars", n_done, len(targets))
    end_writing(files, done, wishes, batch, failed, who)
    return done


def start_writing(files: Files, done: Applied, who: str | None) -> tuple[Wishes, Batch | None]:
    """What is to be written, and the batch that goes on where one was stopped."""
    if done.dry_run:
        return Wishes(files, done.to), None
    batch = settle(files)
    if batch is not None and batch.target != done.to:
        close_batch(files, batch, who)
        batch = None
    wishes = Wishes(files, done.to)
    files.writes.set_items(wishes.items, "pending")
    return wishes, batch


def end_writing(
    files: Files, done: Applied, wishes: Wishes, batch: Batch | None, failed: Mapping[int, str], who: str | None
) -> None:
    """Say of which items the files could not be written, or are not there to be, and close the batch."""
    collection = files.collection
    done.n_without_file = files.writes.n_accepted_without_file()
    done.n_inside = len(files.writes.removals("embedded")) if done.to == "xmp" else 0
    done.failed = [
        Problem(collection.items.get(item).key, "not written", reason, stage="apply")
        for item, reason in sorted(failed.items())
    ]
    if not done.dry_run:
        with collection.transaction():
            wishes.finish(failed)
            number = None if batch is None else close_batch(files, batch, who)
        done.entry = None if number is None else collection.history.get(number)


def _groups(targets: Sequence[SidecarTarget], failed: dict[int, str]) -> Iterator[list[Prepared]]:
    """Sidecars that need writing, some at a time; those that cannot be edited are said to have failed."""
    group: list[Prepared] = []
    n_bytes = 0
    with DocumentReader() as documents:
        for target in targets:
            try:
                one = _prepare(target, documents)
            except BadFile as error:
                failed.update((item, f"{target.path}: {error}") for item in target.items)
                continue
            if one is None:
                continue
            group.append(one)
            n_bytes += len(one.new) + len(one.old or b"")
            if len(group) >= GROUP or n_bytes >= GROUP_BYTES:
                yield group
                group, n_bytes = [], 0
    if group:
        yield group


def _prepare(target: SidecarTarget, documents: DocumentReader) -> Prepared | None:
    """A sidecar as it is and as it is to be; None where it needs no change."""
    old, status = read_sidecar_bytes(target.path)
    said: dict[Name, list[str]] = {name: [] for name in _WRITTEN} if old is None else _said(old)
    stale = _stale(target, said)
    held = {name: {leaf_key(name, one) for one in set(said[name]) - set(stale[name])} for name in _WRITTEN}
    missing = {name: _missing(target.add, held[name]) for name in _WRITTEN}
    unplaced = any(word in missing[HIERARCHY] and target.add[word][1:] for word in target.exact)
    is_complete = not (missing[SUBJECT] or unplaced or any(missing[name] for name in _WRITTEN if said[name]))
    put = {name: [] if is_complete else entries(words, words.values())[name] for name, words in missing.items()}
    wanted = Edit(
        tuple(put[SUBJECT]),
        (*target.remove, *stale[SUBJECT]),
        tuple(put[HIERARCHY]),
        tuple(stale[HIERARCHY]),
        tuple(put[TAGS_LIST]),
        tuple(stale[TAGS_LIST]),
    )
    begin = {} if is_complete or all(said.values()) else _begin(target, old if any(said.values()) else None, documents)
    kept = tuple(word for word in begin.get(SUBJECT, ()) if leaf_key(SUBJECT, word) not in held[SUBJECT])
    if old is None:
        if is_complete:
            return None
        new, mode = new_document(wanted, begin), mode_beside(target.owner)
        edit = wanted._replace(
            remove=(), begun_paths=tuple(begin.get(HIERARCHY, ())), begun_listed=tuple(begin.get(TAGS_LIST, ()))
        )
    else:
        new, edit = edit_document(old, wanted, begin)
        mode = mode_of(status)
        if not edit:
            return None
        refuse_protected(target.path, status)
    return Prepared(target.path, target.items, old, status, new, edit, mode, kept)


def _said(content: bytes) -> dict[Name, list[str]]:
    """What stands in each list of a sidecar that words are put into."""
    document = Document(content)
    return {name: document.values(name) for name in _WRITTEN}


def _stale(target: SidecarTarget, said: Mapping[Name, Sequence[str]]) -> dict[Name, list[str]]:
    """What stands in each list in another spelling or place than the person has set."""
    if not target.exact:
        return {name: [] for name in _WRITTEN}
    shall = entries(target.exact, [target.add[word] for word in target.exact])
    wished = {name: {leaf_key(name, one): one for one in values} for name, values in shall.items()}
    return {name: [one for one in said[name] if wished[name].get(leaf_key(name, one), one) != one] for name in _WRITTEN}


def _missing(words: Mapping[str, tuple[str, ...]], held: set[str]) -> dict[str, tuple[str, ...]]:
    return {word: path for word, path in words.items() if leaf_key(SUBJECT, word) not in held}


def _begin(target: SidecarTarget, old: bytes | None, documents: DocumentReader) -> dict[Name, list[str]]:
    """What new lists begin with: the keywords of the sidecar, where it has any, for it is the last word of the program
    that wrote it; else those of the file and its other sidecars."""
    without = {leaf_key(SUBJECT, word) for word in (*target.add, *target.remove, *target.refused)}
    if old is None:
        said = keywords_of(target.owner, target.beside, documents)
    else:
        said = [gather([Block("xmp", old)], [])]
    return beginnings(said, without)
