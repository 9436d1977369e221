"""What people decided about tags, as edits of sidecars."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ..collection.tagging import word_key
from ..files import BadFile, inside, os_problem
from ..ingest.sidecar import read_sidecar
from .item_files import Files

__all__ = ["SidecarTarget", "Wishes", "item_folder", "one_of_each", "sidecar_targets"]


class SidecarTarget(NamedTuple):
    """A sidecar, and what is to be changed in it."""

    path: str
    items: tuple[int, ...]
    add: Mapping[str, tuple[str, ...]]
    """Words, each with its path in the owner's hierarchy; a word that has none is its own path."""
    remove: tuple[str, ...]
    owner: str | None = None
    """The file it would be made for, whose mode and keywords it takes."""
    beside: tuple[str, ...] = ()
    """The other sidecars of that file."""
    refused: tuple[str, ...] = ()
    """Words that a person said no to, which it would not take."""
    exact: tuple[str, ...] = ()
    """Words to be put in that shall stand there in this very spelling and place, and in no other."""


class Wishes:
    """Per item, the tags that should stand in its file and those that should not."""

    def __init__(self, files: Files, target: str) -> None:
        self._files = files
        self._target = target
        self.add: dict[int, list[int]] = defaultdict(list)
        self.remove: dict[int, list[int]] = defaultdict(list)
        for item, tag in files.writes.accepted():
            self.add[item].append(tag)
        for item, tag in files.writes.removals(target):
            self.remove[item].append(tag)
        self.refused: dict[int, list[int]] = defaultdict(list)
        for item, tag in files.writes.refused():
            self.refused[item].append(tag)
        self.standing = files.writes.standing(target)
        self.exact = self._cared_for()
        """Item -> tags whose spelling or place a person has set, and whose sidecar, or file, says otherwise."""
        for item, tags in self.exact.items():
            self.add[item] += sorted(tags - set(self.add[item]))
        self.items = sorted(self.add.keys() | self.remove.keys())
        self.places = files.writes.places(self.items)
        tagging = files.collection.tagging
        every = (*self.add.values(), *self.remove.values(), *self.refused.values())
        self.names = tagging.names({tag for tags in every for tag in tags})
        known = _paths_by_word(tagging.paths())
        self.paths = {tag: known.get(word_key(name)) or (name,) for tag, name in self.names.items()}
        """Tag -> its one place in the owner's hierarchy, or the tag alone."""

    def _cared_for(self) -> dict[int, set[int]]:
        collection, found = self._files.collection, defaultdict(set)
        care = collection.vocabulary.care()
        if not care:
            return {}
        own, writes, names = collection.vocabulary.own_number, self._files.writes, collection.tagging.vocabulary()
        arrangement = collection.tagging.arrangement()
        in_use = {tag: one for tag, one in care.items() if one.alias_of is None and not one.is_retired}
        wanted = {tag: arrangement.place(tag) for tag, one in in_use.items() if one.parent is not None}
        spelled = {tag: one.name for tag, one in in_use.items() if one.name is not None}
        as_wished = {(item, tag) for item, tag, word in writes.spelled(self._target, spelled) if word == spelled[tag]}
        placed = set()
        for item, path in writes.paths_said(self._target):
            tag = own(path[-1])
            if tag is None or (tag in care and care[tag].alias_of is not None):
                continue  # it goes, with the word
            if arrangement.of[path] != path:
                found[item].add(tag)
            elif wanted.get(tag) == path:
                placed.add((item, tag))
        for item, tag in writes.holders({*wanted, *spelled}):
            if (tag in wanted and (item, tag) not in placed) or (tag in spelled and (item, tag) not in as_wished):
                found[item].add(tag)
        counts = set(writes.holders({tag for tags in found.values() for tag in tags}))
        if self._target == "embedded":  # what only a sidecar or a table says is put into no file
            counts &= self.standing | {(item, tag) for item, tags in self.add.items() for tag in tags}
        kept = {item: {tag for tag in tags if (item, tag) in counts and tag in names} for item, tags in found.items()}
        return {item: tags for item, tags in kept.items() if tags}

    def words(self, tags: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.names[tag] for tag in tags)

    def path_of(self, item: int) -> str:
        """The file of an item."""
        root, path, _, _ = self.places[item]
        return os.path.join(root, path)

    def finish(self, failed: Mapping[int, str]) -> None:
        """Everything was tried: say of each item how it ended."""
        writes = self._files.writes
        fine = [item for item in self.items if item not in failed]
        writes.set_items(fine, "written")
        writes.removed(self._target, self._removals(fine))
        for item, reason in failed.items():
            writes.set_items([item], "failed", reason.encode("utf-8", "backslashreplace").decode())
        writes.unremoved(self._target, self._removals(failed))

    def _removals(self, items: Iterable[int]) -> list[tuple[int, int]]:
        return [(item, tag) for item in items for tag in self.remove.get(item, ())]


def _paths_by_word(paths: Iterable[tuple[str, ...]]) -> dict[str, tuple[str, ...] | None]:
    """Word -> the one path of the owner's hierarchy that ends in it; None where several do.

    A word that stands alone somewhere has no place there.
    """
    found: dict[str, dict[tuple[str, ...], tuple[str, ...]]] = defaultdict(dict)
    for path in paths:
        for end in range(1, len(path) + 1):
            part = path[:end]
            found[word_key(part[-1])].setdefault(tuple(map(word_key, part)), part)
    return {word: _only([way for way in ways.values() if len(way) > 1]) for word, ways in found.items()}


def _only(ways: list[tuple[str, ...]]) -> tuple[str, ...] | None:
    return ways[0] if len(ways) == 1 else None


def sidecar_targets(files: Files, wishes: Wishes, naming: str, failed: dict[int, str]) -> Iterator[SidecarTarget]:
    """The sidecars that may need writing. Items that have no place for one are said to have failed."""
    shared: dict[str, dict[int, set[int]]] = defaultdict(dict)
    for item in wishes.items:
        root, path, beside, kind = wishes.places[item]
        try:
            folder_path = item_folder(root, path)
            folder = files.folder(folder_path)
            name = os.path.basename(path)
            if name not in folder:
                raise BadFile("missing", "it no longer exists; `manyview init` brings the collection up to date.")
            add, remove = wishes.add.get(item, []), wishes.remove.get(item, [])
            is_known = (
                kind == "folder"
                and not remove
                and item not in wishes.exact
                and all((item, tag) in wishes.standing for tag in add)
            )
            if is_known and files.beside(root, path)[1] == beside:
                continue
            files.refuse_another(item, os.path.join(folder_path, name))
        except BadFile as error:
            failed[item] = error.sentence
            continue
        except OSError as error:
            failed[item] = f"its folder: {os_problem(error).sentence}"
            continue
        place = folder.place(name, naming)
        words = {wishes.names[tag]: wishes.paths[tag] for tag in add}
        exactly = wishes.words(wishes.exact.get(item, ()))
        others = tuple(os.path.join(folder_path, other) for other in place.others)
        for other in others:  # what stands there is read too
            for word in _standing_in(other, list(words)):
                if word not in exactly:
                    del words[word]
        own, owner = os.path.join(folder_path, place.own), os.path.join(folder_path, name)
        refused = wishes.words(wishes.refused.get(item, ()))
        yield SidecarTarget(own, (item,), words, wishes.words(remove), owner, others, refused, exactly)
        for other in others if remove else ():
            if folder.sharers(name, os.path.basename(other)):
                shared[other][item] = set(remove)
            else:
                yield SidecarTarget(other, (item,), {}, wishes.words(remove))
    yield from _shared_targets(files, wishes, shared, failed)


def one_of_each(targets: Iterable[SidecarTarget], failed: dict[int, str]) -> list[SidecarTarget]:
    """Sidecars, each once: of two edits of the same old document the later one would undo the earlier one."""
    found: dict[str, SidecarTarget] = {}
    for target in targets:
        if found.setdefault(target.path, target) is not target:
            reason = f"{target.path}: it is written for another file just now; the next `apply` tries again."
            failed.update(dict.fromkeys(target.items, reason))
    return list(found.values())


def item_folder(root: str, path: str) -> str:
    """The folder of an item; ``BadFile`` where a link has been put into its path since it was read."""
    folder = os.path.join(root, os.path.dirname(path)).rstrip(os.sep) or os.sep
    if inside(root, os.path.dirname(path)) != os.path.normpath(folder):
        raise BadFile("link", "its path leads through a symbolic link now; nothing is written through links.")
    return folder


def _shared_targets(
    files: Files, wishes: Wishes, shared: Mapping[str, Mapping[int, set[int]]], failed: dict[int, str]
) -> Iterator[SidecarTarget]:
    """From a sidecar that several files share, a tag goes only when it is to go for all of them."""
    if not shared:
        return
    numbers = {item.path: item.id for item in files.collection.items}
    for path, wanted in shared.items():
        folder, sidecar = os.path.split(path)
        wanting = [os.path.basename(wishes.places[item][1]) for item in wanted]
        sharers = {one for name in wanting for one in files.folder(folder).sharers(name, sidecar)}
        names = sorted({*wanting, *sharers})
        owners = [numbers.get(os.path.join(folder, name)) for name in names]
        agreed = set.intersection(*(set(wanted.get(owner, ())) if owner else set() for owner in owners))
        if agreed:
            yield SidecarTarget(path, tuple(sorted(wanted)), {}, wishes.words(sorted(agreed)))
        for item, tags in wanted.items():
            kept = _standing_in(path, wishes.words(sorted(tags - agreed)))
            if kept:
                others = ", ".join(name for name in names if numbers.get(os.path.join(folder, name)) != item)
                failed[item] = f"{path}: {kept[0]!r} stays in it, for {others} shares it. Say no to the tag there too."


def _standing_in(path: str, words: Iterable[str]) -> list[str]:
    held = set(map(word_key, read_sidecar(path).tags))
    return [word for word in words if word_key(word) in held]
