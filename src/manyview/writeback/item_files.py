"""The files of items, beside and outside the collection: reading them, and what the catalogue knows of them."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache

from ..collection.store import Store
from ..collection.tagging import clean_word, word_key
from ..collection.writes import Batch, Write
from ..durable import PRIVATE_FILE
from ..files import BadFile, FileFacts, hash_of_file, open_regular
from ..ingest.containers import LIMIT
from ..ingest.keywords import read_keywords
from ..ingest.moves import content_of, hash_file
from ..ingest.sidecar import beside_words, read_sidecar
from .document import Refused
from .naming import Folder

__all__ = ["Files", "hash_of", "mode_beside", "mode_of", "read_sidecar_bytes", "refuse_protected"]


def hash_of(content: bytes | None) -> str | None:
    return None if content is None else hashlib.sha256(content).hexdigest()


def read_sidecar_bytes(path: str) -> tuple[bytes | None, os.stat_result | None]:
    """A sidecar and its status, None where there is none; ``BadFile`` where it is not a file that can be read."""
    try:
        with open_regular(path) as (file, _):
            status = os.fstat(file.fileno())
            content = file.read(LIMIT + 1)
    except BadFile as error:
        if error.reason == "missing":
            return None, None
        raise
    return content, status


def mode_of(status: os.stat_result | None) -> int:
    """The mode of a file that is there, to be kept; one that is not would be its owner's alone."""
    return PRIVATE_FILE if status is None else stat.S_IMODE(status.st_mode)


def mode_beside(owner: str | None) -> int:
    """The mode of a new file that belongs to another one: who may read that may read this; ours stays to be changed."""
    try:
        return stat.S_IMODE(os.lstat(owner or "").st_mode) & 0o666 | 0o600
    except OSError:
        return PRIVATE_FILE


def refuse_protected(path: str, status: os.stat_result | None) -> None:
    """A file that its owner protected is left alone, though its folder would let us replace it."""
    if status is not None and not (status.st_mode & 0o222 and os.access(path, os.W_OK)):
        raise Refused("it is write-protected. Remove the protection if it may be changed.")


class Files:
    """The folders that are written to, each listed once."""

    def __init__(self, collection: Store) -> None:
        self.collection = collection
        self.writes = collection.writes
        self._folders: dict[str, Folder] = {}
        self.tag_number = lru_cache(100_000)(lambda word: collection.vocabulary.own_number(clean_word(word)))

    def folder(self, path: str) -> Folder:
        """The names in a folder; an ``OSError`` where it cannot be listed."""
        path = os.path.normpath(path)
        if path not in self._folders:
            self._folders[path] = Folder(os.listdir(path))
        return self._folders[path]

    def changed(self, paths: Iterable[str]) -> None:
        """Files have come or gone."""
        for path in paths:
            folder = self._folders.get(os.path.normpath(os.path.dirname(path)))
            if folder is not None:
                (folder.add if os.path.lexists(path) else folder.discard)(os.path.basename(path))

    def refuse_another(self, item: int, path: str) -> None:
        """A file that is not what was read of its item is left alone: names may have changed places since."""
        known = self.collection.items.facts(item)
        now = FileFacts.of(os.stat(path))
        if known is None or (known.size, known.mtime_ns) == (now.size, now.mtime_ns):
            return
        content, read = self.collection.whereabouts.content(item), hash_file(path)
        if content is None or read is None or read[0] != content:
            raise BadFile("changed", "it is not the file that was read: run `manyview add` first, then this again.")

    def present(self, file: Write, target: str) -> str:
        """Where a file that was written is now: with its item, which may have moved, or where it was.

        A sidecar is sought under the kind of name it was given alone: one of the other kind is somebody else's.
        ``BadFile`` where that cannot be told, because the item is not where it was last seen: its disk may be away.
        """
        (root, path, _, _), *_ = (*self.writes.places(file.items[:1]).values(), ("", "", "", ""))
        now = os.path.join(root, path)
        stem, ending = os.path.splitext(now)
        is_full = target == "xmp" and os.path.splitext(file.path)[0].lower().endswith(ending.lower())
        moved = now if target == "embedded" else f"{now if is_full else stem}.xmp"
        places = [one for one in dict.fromkeys((moved, file.path)) if os.path.lexists(one)]
        if len(places) > 1:  # the names of two pictures may have changed places, and their sidecars stayed
            places = [one for one in places if hash_of_file(one) == file.after] or places
        if places:
            return places[0]
        if file.items[0] in self._here and not os.path.lexists(now):
            raise Refused(
                "it is not there: its folder is away, or it was moved. Bring it back, or run `manyview add`, which "
                "finds what was moved."
            )
        return file.path  # somebody has removed it

    @cached_property
    def _here(self) -> frozenset[int]:
        return frozenset(self.collection.items.ids.tolist())

    def beside(self, root: str, path: str) -> tuple[list[str], str]:
        """The sidecars of an item, and their description as a scan would give it."""
        folder = os.path.dirname(path)
        sidecars = {}
        for name in self.folder(os.path.join(root, folder)).sidecars(os.path.basename(path)):
            relative = os.path.join(folder, name)
            status = os.lstat(os.path.join(root, relative))
            sidecars[relative] = FileFacts.of(status)
        return [os.path.join(root, name) for name in sidecars], beside_words(sidecars)

    def pairs(self, files: Iterable[Write], part: int) -> list[tuple[int, int]]:
        """Items and tags that were put in (0) or taken out (1); a word that is spelled anew was neither."""
        found = []
        for file in files:
            again = set(map(word_key, file.edit[0])) & set(map(word_key, file.edit[1]))
            numbers = [self.tag_number(word) for word in file.edit[part] if word_key(word) not in again]
            found += [(item, number) for item in file.items for number in numbers if number is not None]
        return found

    def record(self, batch: Batch, done: Sequence[Write]) -> None:
        """Files of a batch have been written: say so, of them and of their items."""
        writes = self.writes
        writes.set_state(batch, done, "written")
        writes.written(batch.target, self.pairs(done, 0))
        writes.removed(batch.target, self.pairs(done, 1))
        items = sorted({item for file in done for item in file.items})
        writes.set_items(items, "written")
        self._renew(batch, items)

    def record_undone(self, batch: Batch, done: Sequence[Write]) -> None:
        """Files of a batch are as they were before it."""
        writes = self.writes
        writes.set_state(batch, done, "undone")
        writes.unwritten(batch.target, self.pairs(done, 0))
        writes.unremoved(batch.target, self.pairs(done, 1))
        items = sorted({item for file in done for item in file.items})
        writes.set_items(items, "pending")
        self._renew(batch, items)

    def _renew(self, batch: Batch, items: Iterable[int]) -> None:
        if batch.target == "xmp":
            self._renew_sidecars(items)
        else:
            self._renew_files(items)

    def _renew_files(self, items: Iterable[int]) -> None:
        """Write down what files say of themselves now; their pixels, and all that was made of them, are the same."""
        formats = {item.id: item.format or "" for item in map(self.collection.items.get, items)}
        said = []
        for item, (root, path, _, _) in self.writes.places(formats).items():
            try:
                with open_regular(os.path.join(root, path)) as (file, facts):
                    found = read_keywords(file, formats[item])
                    content = content_of(file)
            except BadFile:
                continue
            if not found.notes:
                said.append((item, found.tags, found.paths, None))
                self.writes.set_facts(item, facts)
                self.collection.whereabouts.put_contents([(item, content)])
        self.writes.renew(self.collection.tagging, "file", said)

    def _renew_sidecars(self, items: Iterable[int]) -> None:
        """Write down what the sidecars of items say now, as the next reading of the folder would."""
        said = []
        for item, (root, path, _, kind) in self.writes.places(items).items():
            if kind != "folder":
                continue  # sidecars of a table's pictures are not read
            try:
                sidecars, beside = self.beside(root, path)
            except OSError:
                continue
            found = [read_sidecar(name) for name in sidecars]
            words = [word for one in found for word in one.tags]
            paths = [entry for one in found for entry in one.paths]
            has_notes = any(one.notes for one in found)  # the next reading shall name them
            said.append((item, words, paths, None if has_notes else beside))
        self.writes.renew(self.collection.tagging, "sidecar", said)
