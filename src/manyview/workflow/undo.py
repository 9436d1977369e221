"""Take back an entry of the history, of whatever kind."""

from __future__ import annotations

from ..collection.history import Entry
from ..collection.store import Store
from ..collection.writes import Writes
from ..errors import Conflict, ParameterError, StoreError
from ..figures import counted
from ..writeback.file_batches import close_batch, forget_kept, restore_batch, settle
from ..writeback.item_files import Files
from .clusters.edits import undo_rows

__all__ = ["undo"]


def undo(collection: Store, entry: int | Entry | None = None, *, who: str | None = None) -> Entry:
    """Take back an entry, or the newest one that was not taken back yet; the entry that says so comes back.

    Decisions and edits of clusters get their rows back as they were. Files that `apply` wrote get their old bytes back;
    where another program has changed one since, only our words are taken out of it (and those we took out put back).
    A sidecar that we made goes. After a step to another level, the run before counts again. What later entries rest on
    is refused, and the refusal names them.
    """
    collection.check_writable("undo")
    files = Files(collection)
    stopped = settle(files)
    if stopped is not None:
        close_batch(files, stopped, who)  # what it had written is an entry now, and can be taken back like others
    chosen = _chosen(collection, entry)
    if chosen.kind == "level":
        return _leave_level(collection, chosen, who)
    batch = files.writes.batch_of(chosen.id)
    if batch is None:
        _refuse_written(collection, files.writes, chosen)
        return undo_rows(collection, chosen, who=who)
    if chosen.undone_by is not None:
        raise Conflict(f"entry {chosen.id} ({chosen.summary}) was undone already, by entry {chosen.undone_by}.")
    if batch.target == "embedded":
        from ..writeback.embed import restore_embedded

        failed = restore_embedded(files, batch)
    else:
        failed = restore_batch(files, batch)
    if failed:
        named = "; ".join(f"{problem.path}: {problem.sentence.rstrip('.')}" for problem in failed[:5])
        more = f"; and {len(failed) - 5} more" if len(failed) > 5 else ""
        raise StoreError(
            f"entry {chosen.id} ({chosen.summary}) is undone but for {counted(len(failed), 'file')}, left as found: "
            f"{named}{more}. The same command tries again."
        )
    done = collection.history.mark_undone(chosen, who=who, detail={"batch": batch.id})
    forget_kept(files, batch)
    return done


def _chosen(collection: Store, entry: int | Entry | None) -> Entry:
    if isinstance(entry, Entry):
        return collection.history.get(entry.id)
    if entry is None:
        newest = collection.history.newest_effect()
        if newest is None:
            raise Conflict(f"{collection.path}: there is nothing to undo.")
        return newest
    if isinstance(entry, bool) or not isinstance(entry, int):
        raise ParameterError(f"an entry of the history is named by its number, got {entry!r}.")
    chosen = collection.history.get(entry)
    if chosen.undoes is not None and collection.history.get(chosen.undoes).kind == "apply":
        raise Conflict(
            f"entry {chosen.id} ({chosen.summary}) cannot be undone: the tags are still accepted, so `manyview apply` "
            "writes them again. Nothing was changed."
        )
    if chosen.kind == "level" and chosen.undone_by is None and not collection.history.had_effect(chosen.id):
        raise Conflict(
            f"entry {chosen.id} ({chosen.summary}) cannot be undone: there was a fit, an addition or another level "
            "since. Go to a level with `fit --coarser` or `--finer`. Nothing was changed."
        )
    if chosen.undone_by is None and not collection.history.had_effect(chosen.id):
        raise Conflict(f"entry {chosen.id} ({chosen.summary}) changed nothing that could be taken back.")
    return chosen


def _leave_level(collection: Store, entry: Entry, who: str | None) -> Entry:
    """Go back to the run that a level was cut from; what was said of clusters meanwhile holds there too."""
    with collection.transaction():
        done = collection.history.mark_undone(entry, who=who, detail={"run": entry.detail["before"]})
        collection.runs.remove(entry.detail["run"])
    return done


def _refuse_written(collection: Store, writes: Writes, entry: Entry) -> None:
    """A decision whose tags were written into files since is taken back after that."""
    written = writes.accepted_and_written(entry.id)
    if written is None:
        return
    item, name, folded = written
    later = writes.later_batch(item, folded, entry.id)
    if later is not None:
        raise Conflict(
            f"entry {entry.id} ({entry.summary}) cannot be undone: entry {later} "
            f"({collection.history.get(later).summary}) has written {name!r} since; undo that first. Nothing was "
            "changed."
        )
