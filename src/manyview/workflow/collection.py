"""A collection: everything about a person's items in one folder on disk, and everything that is done with it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ..collection.history import Entry
from ..collection.runs import Run
from ..collection.store import Store, make_catalog
from ..errors import ParameterError, StoreError
from ..ingest import Source, read_source
from ..ingest.report import Report
from ..renamed import renamed
from ..types import Progress

if TYPE_CHECKING:
    from ..writeback.apply import Applied
    from .add import Added
    from .bring import BroughtIn
    from .clusters.levels import Step
    from .proposing.doubtful import Doubt
    from .reading.content import Answer
    from .reading.duplicates import Duplicates
    from .reading.index import Index
    from .reading.parts import Parts
    from .vocabulary.care import Cared
    from .vocabulary.listing import TagLine

__all__ = ["Collection"]


class Collection(Store):
    """Items, tags, views, runs and history of one collection, in a folder.

    Make one with ``Collection.create(path, source)``, open one with ``Collection.open(path)``. Opened for reading it
    shows one state, the newest at the time; ``refresh`` moves on to what was written since. Opened for writing it
    holds the collection's lock until it is closed, and every change is on disk, whole, when its call returns. Use it
    in a ``with`` block, or call ``close``.

    Memory: matrices are mapped from disk where a view lies in one segment (``merge_view``); the item list and the
    tags cost about 300 bytes an item.

    >>> import numpy as np, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> np.savez(f"{folder.name}/six.npz", looks=np.arange(12.0).reshape(6, 2))
    >>> with Collection.create(f"{folder.name}/six.manyview", f"{folder.name}/six.npz") as six:
    ...     len(six.items), six.views()
    (6, Views(6 items: looks 2))
    >>> folder.cleanup()
    """

    @classmethod
    def create(
        cls, path: str | os.PathLike[str], source: Any, *, progress: Progress | None = None, **options: Any
    ) -> Self:
        """Make a collection from a folder, a table or feature files, and read its items.

        ``options`` say which column of a table is what: ``id``, ``image``, ``text``, ``tags``, with ``tag_sep`` between
        tags; ``root``, the folder image paths start from; ``views``, name -> columns of numbers; ``features``, name ->
        .npy file. ``progress`` is called as work goes on (``types.Progress``).

        If an earlier ``create`` of the same source was stopped, this one goes on where it ended. The collection comes
        back open for writing; ``last_report`` says what was found.
        """
        described = Source.of(source, **options)  # a wrong source or option is refused before anything is made
        folder = Path(path)
        make_catalog(folder)
        collection = cls(folder, write=True)
        try:
            known = collection.items.sources()
            if any(entry["path"] != described.path or entry["complete"] for entry in known):
                raise StoreError(
                    f"{folder} holds a collection already, made of {known[0]['path']}. Choose another name, or add to "
                    f"it: `manyview add {folder} SOURCE`, or Collection.open(path, write=True).add(source)."
                )
            collection.read(described, progress=progress)
        except BaseException:
            collection.close()
            raise
        return collection

    last_report: Report | None = None
    """What the last ``read`` found."""

    def read(self, source: Any, *, progress: Progress | None = None, **options: Any) -> Report:
        """Read a source, new or known: what is new, changed or gone since is noticed. Options as in ``create``."""
        self.last_report = read_source(self, source, progress=progress, **options)
        return self.last_report

    def fit(
        self,
        method: str | None = None,
        n_clusters: int | None = None,
        *,
        views: Iterable[str] | None = None,
        annotations: str | os.PathLike[str] | None = None,
        seed: int = 0,
        fresh: bool = False,
        language: str | None = None,
        n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> Run:
        """Group the items, name the groups, and keep the result as a run, which comes back.

        ``method`` is one of those of ``manyview fit``: "consensus" where none is named; the number of clusters is found
        where none is given. Default views that are missing are computed first. ``workflow.fit.fit_collection`` says
        more about each option; ``cut`` goes to a coarser or finer level of what was found.
        """
        from .fit import fit_collection

        options: dict[str, Any] = {"views": views, "annotations": annotations, "seed": seed, "fresh": fresh}
        options["language"] = language
        return fit_collection(self, method, n_clusters, n_jobs=n_jobs, progress=progress, **options).run

    def cut(self, to: int | Step, *, n_jobs: int | None = None) -> Run:
        """Go to a coarser or finer level of the newest run, and keep it as a run, which comes back; nothing is fitted.

        ``to`` is a number of clusters, or "coarser" or "finer" for the next level. Clusters that are the same at two
        levels have the same number and name at both.
        """
        from .clusters.levels import keep_level

        return keep_level(self, to, n_jobs=n_jobs).run

    def add(
        self,
        source: Any = None,
        *,
        instead_of: str | os.PathLike[str] | None = None,
        n_jobs: int | None = None,
        progress: Progress | None = None,
        **options: Any,
    ) -> Added:
        """Put what is new in a source, or in all that are known, into the clusters that are there, without a refit.

        ``options`` describe a table, as for ``create``. What comes back says where everything went: ``sentence``,
        ``changes``. Stopped at any moment, the same call finishes it.
        """
        from .add import add_items

        return add_items(self, source, instead_of=instead_of, n_jobs=n_jobs, progress=progress, **options)

    def edit(self, action: str, *what: Any, **options: Any) -> Entry:
        """A person's word on clusters, kept across refits; one entry of the history, which ``undo`` takes back.

        ``action`` and what it takes: "rename" (cluster, name), "merge" (clusters, ``into``), "split" (cluster, n),
        "move" (items, cluster or None for a new one, ``name``), "pin" (cluster, True or False), "link" (item, item,
        together: True, False, or None for neither). All take ``who``.
        """
        from .clusters import edits

        if action not in edits.ACTIONS:
            raise ParameterError(f"there is no edit {action!r}; there are {', '.join(edits.ACTIONS)}.")
        done: Entry = getattr(edits, action)(self, *what, **options)
        return done

    def suggest(
        self,
        *,
        top: int = 5,
        completeness: float | None = None,
        rare_words: bool = False,
        seed: int = 0,
        n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> Run:
        """Propose the tags that items lack and keep them as a run, which comes back; ``runs.proposals()`` lists them.

        ``top`` is how many for each item, ``completeness`` the share of the true tags that is recorded, if you know it;
        ``rare_words`` proposes more different words. Default views that are missing are computed first.
        """
        from .proposing.suggest import suggest_tags

        options: dict[str, Any] = {"top": top, "completeness": completeness, "rare_words": rare_words}
        return suggest_tags(self, seed=seed, n_jobs=n_jobs, progress=progress, **options).run

    def doubtful(self, top: int | None = None) -> list[Doubt]:
        """Recorded tags that do not seem to belong, as the newest proposals found them, the most doubtful first.

        ``reject`` takes one away, ``accept`` says that it is right; either way it is not asked again.
        """
        from .proposing.doubtful import doubtful_tags
        from .reading.index import Index

        return doubtful_tags(Index(self), top)

    def search(self, text: str, *, run: int | None = None, language: str | None = None) -> Answer:
        """Items by tags, words and what their pictures show: "sunset", "two dogs in the snow", "boat -tag:harbour".

        The language of ``manyview show --search``; free words are also asked of the pictures. ``hits`` say how each
        item was matched, ``seen`` whether anything here shows it at all, ``more`` is the rest of the ranking. The
        text model is loaded for the first search. ``run`` says whose clusters ``cluster:`` means.
        """
        from .reading.content import search_all

        index = self._index()
        return search_all(index, text, index.run(run), language=language)

    def like(self, items: Iterable[int], *, least: float = 0.99, run: int | None = None) -> Answer:
        """More like these: the other items that are like some, by all views together, the most alike first.

        items : their numbers
        least : how much alike. Of all pairs of items picked blindly, this share is less alike: 0.9999 is almost the
            same, 0.9 somewhat alike. It means the same in every collection
        run : whose views and weights count; the newest fit, or before the first one the views that a fit would use

        ``hits`` have that share as ``score``, ``more`` are those that are less alike. ``search`` takes the same as
        ``like:3,5,99.9%``, beside other words.
        """
        from .reading.alike import check_asked

        return self.search(f"like:{check_asked(items, least)}", run=run)

    def _index(self) -> Index:
        from .reading.index import Index
        from .reading.parts import Parts

        if self._parts is None:
            self._parts = Parts()
        return Index(self, self._parts)

    _parts: Parts | None = None

    def first_tags(
        self,
        by: str = "cluster",
        *,
        language: str | None = None,
        n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> Run:
        """Propose words for pictures nobody has tagged, by what they show, and keep them as a run, as ``suggest`` does.

        ``by`` "cluster", one word for the pictures of each cluster that shows something clearly, or "picture".
        """
        from .proposing.first_tags import first_tags

        return first_tags(self, by, language=language, n_jobs=n_jobs, progress=progress).run

    @renamed(min_score="min_probability")
    def accept(
        self,
        pairs: Iterable[tuple[int, str]] | None = None,
        *,
        min_probability: float | None = None,
        tag: str | None = None,
        item: int | None = None,
        who: str | None = None,
        why: str | None = None,
        reviewed: bool | None = None,
    ) -> Entry:
        """Say yes to proposals: pairs of item number and word, or the open ones that the options choose.

        These are ``min_probability``, ``tag`` and ``item``, as in ``workflow.proposing.decide.accept``. ``who`` and
        ``why`` are kept. One entry of the history, undone as a whole.
        """
        from .proposing.decide import accept

        chosen: dict[str, Any] = {"min_probability": min_probability, "tag": tag, "item": item}
        return accept(self, pairs, who=who, why=why, reviewed=reviewed, **chosen)

    @renamed(min_score="min_probability")
    def reject(
        self,
        pairs: Iterable[tuple[int, str]] | None = None,
        *,
        min_probability: float | None = None,
        tag: str | None = None,
        item: int | None = None,
        who: str | None = None,
        why: str | None = None,
        reviewed: bool | None = None,
    ) -> Entry:
        """Say no to proposals, for good: as ``accept``."""
        from .proposing.decide import reject

        chosen: dict[str, Any] = {"min_probability": min_probability, "tag": tag, "item": item}
        return reject(self, pairs, who=who, why=why, reviewed=reviewed, **chosen)

    def bring_in(self, source: str | os.PathLike[str], **options: Any) -> BroughtIn:
        """Take over tags from digiKam's database (a file) or a Google Takeout (a folder), which are only read.

        ``options``: ``albums``, ``ratings``, ``dry_run``, ``who``, as in ``workflow.bring.bring_in``. One entry of the
        history, undone as a whole.
        """
        from .bring import bring_in

        return bring_in(self, source, **options)

    def duplicates(self, kind: str | None = None) -> list[Duplicates]:
        """Items that show the same, in groups: exact copies and near ones, which would be kept, and why.

        ``kind`` is "exact" or "near". Near ones are known once the pictures were looked at. Nothing is ever deleted;
        ``workflow.reading.duplicates.mark_duplicates`` tags those that would not be kept.
        """
        from .reading.duplicates import find_duplicates

        return find_duplicates(self, kind)

    def list_tags(self, order: str = "count") -> list[TagLine]:
        """Every tag with how often and when it was used, its place, and what a person said of it.

        ``order`` is "count", "name" or "last" (use). ``workflow.vocabulary.listing.kin_of_tags`` finds those that may
        be one.
        """
        from .vocabulary.listing import list_tags

        return list_tags(self, order)

    def edit_tags(
        self, action: str, *words: str, into: str | None = None, dry_run: bool = False, who: str | None = None
    ) -> Cared:
        """A person's word on tags themselves; one entry of the history, which ``undo`` takes back.

        ``action`` and what it takes: "rename" (tag, new), "merge" (tags, ``into``), "alias" (word, tag), "retire"
        (tag), "silence" (tag: never proposed), "restore" (tag), "parent" (tag, the tag above it or ""). ``apply`` then
        changes the sidecars. ``dry_run`` only says how many items and files it would be.
        """
        from .vocabulary.care import care_for

        return care_for(self, action, *words, into=into, dry_run=dry_run, who=who)

    def apply(
        self,
        to: str = "xmp",
        *,
        dry_run: bool = False,
        naming: str = "full",
        output: str | os.PathLike[str] | None = None,
        who: str | None = None,
        progress: Progress | None = None,
    ) -> Applied:
        """Write accepted tags to sidecars ("xmp"), a table ("csv", "json") or the files ("embedded").

        ``naming`` of new sidecars is "full" (``photo.jpg.xmp``) or "stem"; ``output`` is the file of a table. What was
        written, and what could not be, comes back; ``undo`` takes it back.
        """
        from ..writeback.apply import apply_tags

        options: dict[str, Any] = {"dry_run": dry_run, "naming": naming, "output": output}
        return apply_tags(self, to, who=who, progress=progress, **options)

    def undo(self, entry: int | Entry | None = None, *, who: str | None = None) -> Entry:
        """Take back an entry of the history, of any kind; the last one where none is named."""
        from .undo import undo

        return undo(self, entry, who=who)
