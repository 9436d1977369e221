"""What a file is known by wherever it goes: its whole content, read once; and pictures that repeat others."""

from __future__ import annotations

from ..collection.store import Store
from ..ingest.moves import hash_file
from ..types import Progress

__all__ = ["fold_duplicates", "recognise_moved", "remember_contents"]

_BATCH = 32


def remember_contents(collection: Store, progress: Progress | None = None) -> None:
    """Read the files whose content is not known yet: large ones, and those that an older version read."""
    waiting = collection.whereabouts.unread()
    for start in range(0, len(waiting), _BATCH):
        if progress is not None:
            progress("reading whole files", start, len(waiting))
        read = [(item, hash_file(path), facts) for item, path, facts in waiting[start : start + _BATCH]]
        collection.whereabouts.put_contents(
            (item, found[0]) for item, found, facts in read if found is not None and found[1][:2] == facts[:2]
        )
    if waiting and progress is not None:
        progress("reading whole files", len(waiting), len(waiting))


def recognise_moved(collection: Store) -> int:
    """New items that show the same picture as one that is gone, in a file of the same size, are that one; how many.

    For items that an older version read, which kept no content. To be called when new pictures have been looked at.
    """
    pairs = collection.whereabouts.unrecognised()
    for old, new in pairs:
        with collection.transaction():
            collection.segments.drop_rows([new])
            source = collection.whereabouts.take_over(old, new)
    if pairs:
        collection.whereabouts.adopt(source)
    return len(pairs)


def fold_duplicates(collection: Store) -> int:
    """Find pictures that repeat others and write it down; how many there are."""
    from ..features.duplicates import near_duplicates

    known = collection.items.fingerprints()
    first = near_duplicates([one.hash for one in known], [one.signature for one in known])
    repeats = {known[n].item_id: known[lead].item_id for n, lead in enumerate(first.tolist()) if lead != n}
    collection.items.set_duplicates(repeats)
    return len(repeats)
