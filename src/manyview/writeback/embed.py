"""Accepted tags inside the files themselves: a copy is written, proved to show the same picture, and takes the place.

Only on request. The original is kept under ``undo/`` (a second name for the same bytes where the file system allows),
so that undo gives it back as it was.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Collection
from pathlib import Path

import numpy as np

from .. import durable
from ..collection import layout
from ..collection.items import Problem
from ..collection.store import Store
from ..collection.tagging import word_key
from ..collection.writes import Batch, Write, remove_temporary, temporary
from ..errors import StoreError
from ..features.opening.decode import DecodePool, Picture
from ..files import BadFile, FileFacts, hash_of_file, open_regular, os_problem
from ..ingest.keywords import Keywords, read_keywords
from ..ingest.xmp import Name
from ..raw_previews import reading
from ..tiff import has_pages
from ..types import Progress
from .apply import Applied, FileChange, end_writing, start_writing
from .beginnings import beginnings, entries
from .document import HIERARCHY, Refused, written_path
from .editor import Edit
from .exiftool import ENDINGS, find_exiftool, image_data, write_keywords
from .file_batches import fatal_or_reason
from .item_files import Files, refuse_protected
from .sidecar_wishes import Wishes, item_folder

__all__ = ["embed_tags", "restore_embedded"]

Begin = dict[Name, list[str]]

_SIDE = 4096
"""Pictures are compared at this size, or their own."""
_SEVERAL = "it holds more than one picture, which was not proved to be safe. Write a sidecar: --to xmp."


def embed_tags(
    collection: Store, *, dry_run: bool = False, who: str | None = None, progress: Progress | None = None
) -> Applied:
    """Write accepted tags into JPEG, PNG and TIFF files, by exiftool; everything else is refused."""
    if not dry_run:
        find_exiftool()
    files = Files(collection)
    done = Applied("embedded", dry_run)
    wishes, batch = start_writing(files, done, who)
    failed: dict[int, str] = {}
    formats = {item.id: item.format or "" for item in collection.items}
    with DecodePool(1, max_side=_SIDE) as pool:
        for n, item in enumerate(wishes.items):
            try:
                path, edit, begin = _wanted(wishes, item, formats[item])
                if edit:
                    files.refuse_another(item, path)
                if edit and not dry_run:
                    batch = batch or files.writes.begin("embedded")
                    _embed(files, batch, path, item, formats[item], (edit, begin), pool)
                if edit:
                    done.changes.append(FileChange(path, (item,), False, edit))
            except BadFile as error:
                failed[item] = str(error)
            except StoreError as error:
                failed[item] = fatal_or_reason(error, wishes.path_of(item))
            except OSError as error:
                failed[item] = os_problem(error).sentence
            if progress is not None:
                progress("writing files", n + 1, len(wishes.items))
    end_writing(files, done, wishes, batch, failed, who)
    return done


def _wanted(wishes: Wishes, item: int, kind: str) -> tuple[str, Edit, Begin]:
    """The file of an item, what there is to change in its keywords, and what lists it lacks begin with."""
    root, name, _, _ = wishes.places[item]
    path = os.path.join(item_folder(root, name), os.path.basename(name))
    if os.path.splitext(path)[1][1:].lower() not in ENDINGS.get(kind, ()):
        raise Refused(
            "tags are written into JPEG, PNG and TIFF only, where that was proved to be safe; this is "
            f"{kind or 'no picture'}. Write sidecars: --to xmp."
        )
    held, status = _keywords(path, kind)
    refuse_protected(path, status)
    keys = {word_key(word): word for word in held.tags}
    going = {word_key(word) for word in wishes.words(wishes.remove.get(item, ()))}
    exact = {word_key(wishes.names[tag]): tag for tag in wishes.exact.get(item, ())}
    stale_words = [word for key, word in keys.items() if key in exact and word != wishes.names[exact[key]]]
    placed = {parts: exact.get(word_key(parts[-1])) for parts in held.paths}
    stale_paths = [parts for parts, tag in placed.items() if tag is not None and parts != wishes.paths[tag]]
    add = [tag for tag in wishes.add.get(item, ()) if not _stands(wishes, tag, keys, held, exact)]
    put = entries([word for word in wishes.words(add) if word not in keys.values()], [wishes.paths[tag] for tag in add])
    taken = entries(
        [*(word for key, word in keys.items() if key in going), *stale_words],
        [*(parts for parts in held.paths if word_key(parts[-1]) in going), *stale_paths],
    )
    edit = Edit(*(tuple(values) for name in put for values in (put[name], taken[name])))
    begin = beginnings([held], going | {word_key(wishes.names[tag]) for tag in add}) if add else {}
    return path, edit, {name: values for name, values in begin.items() if name not in held.lists}


def _stands(wishes: Wishes, tag: int, keys: dict[str, str], held: Keywords, exact: Collection[str]) -> bool:
    """Does the file say this tag? In whatever spelling and place, unless a person has set these."""
    key = word_key(wishes.names[tag])
    if key not in exact:
        return key in keys
    path = wishes.paths[tag]
    is_placed = path in held.paths or (len(path) == 1 and key not in {word_key(parts[-1]) for parts in held.paths})
    return keys.get(key) == wishes.names[tag] and is_placed


def _keywords(path: str, kind: str) -> tuple[Keywords, os.stat_result]:
    with open_regular(path) as (file, _):
        return read_keywords(file, kind), os.fstat(file.fileno())


def _embed(
    files: Files, batch: Batch, path: str, item: int, kind: str, change: tuple[Edit, Begin], pool: DecodePool
) -> None:
    """Change the keywords of one file."""
    edit, begin = change
    writes = files.writes
    number = writes.next_number(batch)
    copy, original = temporary(batch, number, path), Path(path)
    before = FileFacts.of(os.lstat(path))
    kept = f"{number}{copy.suffix}"
    planned = Write(number, path, (item,), "planned", hash_of_file(original), "", kept, tuple(edit))
    writes.plan(batch, [planned])
    try:
        _copy(original, copy)
        write_keywords(str(copy.parent), copy.name, edit, begin)
        _check_same_picture(path, copy, kind, edit, pool)
        _keep(files.collection, batch, original, kept)
        with durable.store_errors(original):
            copy.chmod(stat.S_IMODE(os.lstat(path).st_mode))
            with copy.open("rb") as file:
                durable.disk.sync_file(copy, file.fileno())
        writes.set_after(batch, number, hash_of_file(copy) or "")
        if FileFacts.of(os.lstat(path)) != before:
            raise Refused("another program is writing to it right now; the next `apply` tries again.")
        with durable.store_errors(original):
            durable.disk.rename(copy, original)
        durable.sync_folders([original.parent])
        durable.make_private(_undo_folder(files.collection, batch))
    except Exception:
        remove_temporary(copy)
        writes.forget(batch, [planned])
        raise
    with files.collection.transaction():
        files.record(batch, [planned])


def _copy(source: Path, target: Path) -> None:
    with durable.store_errors(target), source.open("rb") as old, target.open("xb") as new:
        shutil.copyfileobj(old, new, 2**20)


def _check_same_picture(path: str, copy: Path, kind: str, edit: Edit, pool: DecodePool) -> None:
    """The copy has the keywords it should have, and the same picture."""
    held, _ = _keywords(path, kind)
    found, _ = _keywords(str(copy), kind)
    expected = {word_key(word) for word in held.tags} - {word_key(word) for word in edit.remove}
    is_wanted = {word_key(word) for word in found.tags} == expected | {word_key(word) for word in edit.add}
    stale = {word for word in edit.remove if word_key(word) in {word_key(one) for one in edit.add}}
    says = {*found.tags, *(written_path(HIERARCHY, parts) for parts in found.paths)}
    if not is_wanted or says & {*stale, *edit.remove_paths}:
        raise Refused("what exiftool wrote is not what was wanted (some keywords of old forms cannot be changed).")
    with open(path, "rb") as old, copy.open("rb") as new:
        if kind == "tiff" and has_pages(reading(old)):
            raise Refused(_SEVERAL)
        if image_data(old, kind) != image_data(new, kind):
            raise Refused("the picture in the copy is not the same, so the copy was thrown away.")
    pictures = [picture for _, picture in pool.decode([path, str(copy)])]
    for picture in pictures:
        if not isinstance(picture, Picture):
            raise Refused("it cannot be decoded, so nothing would prove that it stays the same.")
        if picture.animated or picture.format not in ("JPEG", "PNG", "TIFF"):
            raise Refused(_SEVERAL)
    first, second = pictures
    assert isinstance(first, Picture) and isinstance(second, Picture)  # noqa: S101  checked above
    same_size = (first.width, first.height) == (second.width, second.height)
    if not same_size or not np.array_equal(first.pixels, second.pixels):
        raise Refused("the picture in the copy is not the same, so the copy was thrown away.")


def _keep(collection: Store, batch: Batch, original: Path, name: str) -> None:
    """The original under a second name in the collection, or a copy of it where it lies on another disk."""
    folder = _undo_folder(collection, batch)
    durable.make_folder(folder)
    _second_name(original, folder / name)
    durable.sync_folders([folder])


def _undo_folder(collection: Store, batch: Batch) -> Path:
    return collection.path / layout.UNDO / str(batch.id)


def _second_name(source: Path, target: Path) -> None:
    with durable.store_errors(target):
        target.unlink(missing_ok=True)
        try:
            os.link(source, target, follow_symlinks=False)
        except OSError:
            _copy(source, target)
            shutil.copystat(source, target)
            with target.open("rb") as file:
                durable.disk.sync_file(target, file.fileno())


# --- the way back ---


def restore_embedded(files: Files, batch: Batch) -> list[Problem]:
    """Put every file of a batch back as it was; those that could not be, with the reason."""
    failed = []
    for file in files.writes.files(batch, "written")[::-1]:
        try:
            _restore(files, batch, file)
        except BadFile as error:
            failed.append(Problem(file.path, "not undone", str(error), stage="undo"))
        except StoreError as error:
            failed.append(Problem(file.path, "not undone", fatal_or_reason(error, file.path), stage="undo"))
        else:
            with files.collection.transaction():
                files.record_undone(batch, [file])
    return failed


def _restore(files: Files, batch: Batch, file: Write) -> None:
    path = Path(files.present(file, "embedded"))
    copy = temporary(batch, file.number, str(path))
    remove_temporary(copy)
    if not path.exists():
        return
    found = hash_of_file(path)
    if found == file.before:
        return
    refuse_protected(str(path), os.lstat(path))
    if found != file.after:
        raise Refused(
            "another program has changed it since. Say no to the tags, and `manyview apply --to embedded` takes them "
            "out."
        )
    kept = _undo_folder(files.collection, batch) / str(file.kept)
    if not kept.is_file() or hash_of_file(kept) != file.before:
        raise Refused(f"its old version in {kept} is damaged or gone.")
    _second_name(kept, copy)
    with durable.store_errors(path):
        durable.disk.set_mode(copy, stat.S_IMODE(path.lstat().st_mode))  # it was closed to others where it was kept
        durable.disk.rename(copy, path)
    durable.sync_folders([path.parent])
