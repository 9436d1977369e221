"""Propose the tags that the items of a collection lack, and look through what was proposed."""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...collection.catalog import as_json
from ...collection.decisions import Decided
from ...collection.proposals import NewProposal, Proposal
from ...collection.runs import Run
from ...collection.store import Store
from ...completion.probability import LEAST_DECISIONS, completeness_from_answers, expected_scale, untouched_scale
from ...data.checks import check_number
from ...data.tags import TagTable, match_key
from ...data.views import Views
from ...errors import ParameterError
from ...figures import counted, percent
from ...renamed import renamed
from ...types import Progress
from ..compute import Computed, compute_views, default_views
from ..looks import can_have_looks
from ..run_views import sensible_views
from ..vocabulary.tree import tag_hierarchy
from .doubtful import found_doubts
from .why_proposed import Carriers, reason_of, sentence

if TYPE_CHECKING:
    from ...completion.proposals import Proposals
    from ...completion.reasons import Told

__all__ = [
    "Line",
    "Suggested",
    "completeness_of_record",
    "completion_views",
    "line",
    "open_proposals",
    "silent_words",
    "suggest_tags",
    "tag_number",
    "tell_reasons",
    "untouched_of_record",
]

_STEP = "tag completion"
_WAY = 4
"""In which proposals are made; another number where they would come out otherwise, so that none of before stay."""


class Line(NamedTuple):
    """What accepting every open proposal above a line would mean."""

    n: int
    expected_precision: float | None
    """The share that should be right: the mean of their probabilities. None where there is none."""


@dataclass
class Suggested:
    """A run of proposals that was kept, and what there is to say about it."""

    run: Run
    said: list[str]
    computed: Computed = field(default_factory=Computed)
    is_new: bool = True
    """False where nothing had changed since the proposals that are there."""


def suggest_tags(
    collection: Store,
    *,
    top: int = 5,
    completeness: float | None = None,
    rare_words: bool = False,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Suggested:
    """Propose missing tags for every item of a collection that is open for writing, and keep them as a run.

    top : proposals per item
    completeness : the share of their true tags that items with tags have, if you know it. Otherwise it is learned from
        the answers to earlier proposals, from 30 on, or estimated.
    rare_words : propose rare words more often

    Default views that are missing are computed first. Tags and views are those of all items; an answer of no is never
    proposed again. Others may write while this computes. Where nothing has changed since the newest proposals were made
    in the same way, those stay.

    Beside what ``TagCompleter`` takes for its fit and its proposals, time and memory grow straight with the proposals:
    their reasons are worked out in blocks and lie in a temporary file, 25 bytes for each part of a reason, until they
    are written, which others have to wait for. ``manyview estimate`` says how long it takes for a collection.
    """
    collection.check_writable("a search for tags")
    check_number("top", top, integer=True, low=1)
    if completeness is not None:
        check_number("completeness", completeness, low=0, low_open=True, high=1)
    if not collection.tags.yes.nnz:
        looked = f", or let pictures be looked at: `manyview suggest {collection.path} --first-tags`"
        way = f"`manyview edit {collection.path} tag CLUSTER WORD`{looked if can_have_looks(collection) else ''}"
        raise ParameterError(
            f"no item of {collection.path} carries a tag, so there is nothing to learn from. Tag a cluster or a few "
            f"items first, in the gallery or with {way}."
        )
    wanted = default_views(collection)
    computed = compute_views(collection, wanted, n_jobs=n_jobs, progress=progress) if wanted else Computed()
    X, tags, ids = completion_views(collection), collection.tags, collection.items.ids
    said = [f"{'views: ' + ', '.join(X.names) if X is not None else 'no views, tags alone'}."]
    said += [str(note) for note in computed.notes if note.kind != "kept"]
    given, source = completeness_of_record(collection, tags, completeness)
    scale = untouched_of_record(collection, completeness)
    settings = {"top": int(top), "seed": int(seed), "completeness": completeness, "rare_words": bool(rare_words)}
    views = {} if X is None else {name: collection.segments.info(name).version for name in X.names}
    silent, hierarchy = silent_words(collection), tag_hierarchy(collection)
    state = _state(collection, tags, ids, views, settings, given, scale, [silent, collection.hierarchy])
    if (known := _same(collection, state)) is not None:
        return Suggested(
            known, [*known.figures["said"], "nothing has changed since these were made."], computed, is_new=False
        )
    numbers = [collection.tagging.find(name) for name in tags.names]
    started = time.perf_counter()
    if progress is not None:
        progress(_STEP, 0, 3)
    with TemporaryFile(prefix="manyview-") as file:
        with collection.unlocked(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            completer = _fitted(X, tags, given, rare_words, seed, n_jobs)
            if source is not None:
                completer.completeness_source_ = source
            completer.untouched_scale_ = scale
            if progress is not None:
                progress(_STEP, 1, 3)
            found = completer.propose(top=int(top), without=silent, hierarchy=hierarchy)
            if progress is not None:
                progress(_STEP, 2, 3)
            told = _Reasons(file, found, progress)
            doubts = found_doubts(completer, numbers, ids)
        said += [f"items with tags have {percent(completer.completeness_)} of their true tags ({_how(completer)})."]
        if (unlike := round(completer.n_unlike_)) > 0:
            some = f"about {counted(unlike, 'item')} without tags {'are' if unlike > 1 else 'is'}"
            said += [f"{some} unlike all that have any: little is promised there. Tag one of each kind, and ask again."]
        if completer.n_distinct_ < np.count_nonzero(np.diff(completer.tags_.indptr)):
            said += [
                "most items with tags are there several times, all but alike: what is said of items without tags was "
                f"learned from {counted(completer.n_distinct_, 'item')}, one of each."
            ]
        said += list(dict.fromkeys(str(one.message) for one in caught if issubclass(one.category, UserWarning)))
        tagged = np.diff(tags.yes.indptr) > 0
        run = collection.runs.save_proposals(
            "combined",
            _rows(found, told, numbers, ids),
            settings=settings,
            views=views,
            figures={
                "said": said,
                "state": state,
                "n_items": int(ids.size),
                "n_proposals": len(found),
                "completeness": completer.completeness_,
                "completeness_source": completer.completeness_source_,
                "untouched_scale": completer.untouched_scale_,
                "tags_per_item": float(tags.yes.nnz / max(1, tagged.sum())),
                "doubtful": doubts,
                "weights": {name: float(w) for name, w in zip(completer.sources_, completer.weights_[0], strict=True)},
            },
            seconds=time.perf_counter() - started,
        )
    if progress is not None:
        progress(_STEP, 3, 3)
    return Suggested(run, said, computed)


def silent_words(collection: Store) -> list[str]:
    """Words that a person never wants to have proposed."""
    names = collection.tagging.vocabulary()
    return sorted(names[tag] for tag, one in collection.vocabulary.care().items() if not one.is_proposed)


def completion_views(collection: Store) -> Views | None:
    """Every view there is, but for those that have to be named, as in a fit; None where there is none."""
    chosen = sensible_views(collection)
    return collection.views(chosen) if chosen else None


def _fitted(
    X: Views | None, tags: TagTable, completeness: float | None, rare_words: bool, seed: int, n_jobs: int | None
) -> Any:
    from ...completion.completer import TagCompleter

    made = TagCompleter(completeness=completeness, rare_words=bool(rare_words), random_state=seed, n_jobs=n_jobs)
    return made.fit(X, tags)


def _how(completer: Any) -> str:
    how: str = completer.completeness_source_
    known = {"given": "as you said", "decisions": "learned from your answers"}
    return known.get(how, f"an estimate, until you have answered {LEAST_DECISIONS} likely proposals for them")


def _state(
    collection: Store,
    tags: TagTable,
    ids: Any,
    views: dict[str, str],
    settings: dict[str, Any],
    given: float | None,
    scale: float,
    words: Sequence[Any],
) -> str:
    """A word that is another one when anything that proposals depend on is."""
    total = hashlib.sha256(as_json([_WAY, list(tags.names), views, settings, given, scale, list(words)]).encode())
    for matrix in (tags.yes, tags.no):
        total.update(matrix.indptr.tobytes() + matrix.indices.tobytes())
    total.update(ids.tobytes())
    for name in views:
        total.update(collection.segments.mark(name))
    return total.hexdigest()


def _same(collection: Store, state: str) -> Run | None:
    try:
        run = collection.runs.get(kind="suggest")
    except ParameterError:
        return None
    return run if run.figures.get("state") == state else None


def completeness_of_record(
    collection: Store, tags: TagTable, stated: float | None = None
) -> tuple[float | None, str | None]:
    """The share of the true tags that is recorded, and how it is known: stated, or from answers; None: neither.

    Answers count where a person looked at the very pair (not what was accepted by a line), from 30 on, and where those
    on items with tags tell it to a tenth. What they say is how many tags such an item truly has; tags that were
    accepted since have made the record more complete.
    """
    if stated is not None:
        return float(stated), "given"
    answers = [one for one in _answers(collection) if one.untouched < 0.5]
    if not answers:
        return None, None
    record, _, then, accepted = (np.array(part) for part in zip(*answers, strict=True))
    now = tags.yes.nnz / max(1, int((np.diff(tags.yes.indptr) > 0).sum()))
    learned = completeness_from_answers(record, accepted, then / now)
    return (None, None) if learned is None else (float(np.clip(learned, 0.01, 0.99)), "decisions")


def untouched_of_record(collection: Store, stated: float | None = None) -> float:
    """How many more proposals for items without tags are right than measured, by the answers on them.

    Before there are any, by how complete the tags are ``stated`` to be.
    """
    before, answers = expected_scale(stated), [one for one in _answers(collection) if one.untouched >= 0.5]
    if not answers:
        return before
    record, answer = np.array([one.record for one in answers]), np.array([one.answer for one in answers])
    return untouched_scale(record, answer, before)


def _answers(collection: Store) -> list[Decided]:
    answers = collection.decisions.reviewed()
    return answers if len(answers) >= LEAST_DECISIONS else []


# --- what is kept of a proposal ---


_KEPT_OF_A_REASON = ("pair", "kind", "which", "share", "items")


class _Reasons:
    """What speaks for proposals, block by block, in a file until it is written down: of millions it is much."""

    def __init__(self, file: IO[bytes], found: Proposals, progress: Progress | None) -> None:
        self._file, done = file, 0
        self._blocks: list[Told] = []
        for told in found.told():
            if progress is not None:
                progress("reasons", done, len(found))
            done += told.left.size
            for name in _KEPT_OF_A_REASON:
                np.save(file, getattr(told, name))
            nothing = np.broadcast_to(0.0, told.left.shape)
            dropped: dict[str, Any] = dict.fromkeys((*_KEPT_OF_A_REASON, "amount"), nothing[:0])
            self._blocks.append(replace(told, **dropped, left=nothing, left_share=nothing))
        if progress is not None:
            progress("reasons", len(found), len(found))

    def __iter__(self) -> Iterator[Told]:
        """The same again, but for amounts and what is left, which are not kept."""
        self._file.seek(0)
        for block in self._blocks:
            told: dict[str, Any] = {name: np.load(self._file) for name in _KEPT_OF_A_REASON}
            yield replace(block, **told, amount=told["share"])


def _rows(found: Proposals, told: _Reasons, numbers: Sequence[int | None], ids: Any) -> Iterator[NewProposal]:
    """Proposals as they are kept, each with its evidence."""
    unknown = [column for column in np.unique(found.columns).tolist() if numbers[column] is None]
    if unknown:
        raise ParameterError(f"the tag {found.tag_names[unknown[0]]!r} is not in the vocabulary.")
    numbered, start = np.array([-1 if number is None else number for number in numbers]), 0
    for block in told:
        here = slice(start, start + block.left.size)
        start = here.stop
        values = (ids[found.items[here]], numbered[found.columns[here]], found.scores[here], found.probabilities[here])
        with_ids = replace(block, items=np.where(block.items < 0, -1, ids[block.items]))
        kept = (
            [[kind, name, round(share, 3), items] for kind, name, _, share, items in parts]
            for parts in with_ids.parts()
        )
        columns = (*(value.tolist() for value in values), kept, found.records[here].tolist(), found.new[here].tolist())
        yield from map(NewProposal, *columns)


# --- looking through ---


@renamed(min_score="min_probability")
def open_proposals(
    collection: Store,
    *,
    tag: str | None = None,
    item: int | None = None,
    min_probability: float | None = None,
    top: int | None = None,
    offset: int = 0,
    reasons: bool = True,
    carriers: Carriers | None = None,
) -> list[Proposal]:
    """The newest proposals that nobody has answered yet, likely ones first: of a tag, of an item (its number), of at
    least a probability.

    Each has ``item_id``, ``tag``, ``score``, ``probability`` and ``reason``, a dict: ``sentence``; ``evidence``, a list
    of kind ("tag", "view"), name, share and the numbers of items that are alike and have the tag; and the fields of
    ``why_proposed.Reason``. Without ``reasons`` many are read faster. ``carriers`` tells which items have a tag, where
    that is at hand.
    """
    if min_probability is not None:
        check_number("min_probability", min_probability, low=0, high=1)
    run = collection.runs.get(kind="suggest")
    tag_id = None if tag is None else tag_number(collection, tag)
    found = collection.runs.rows.find(
        run.id,
        tag_id=tag_id,
        item_id=None if item is None else int(item),
        min_probability=min_probability,
        top=top,
        offset=offset,
        reasons=reasons,
    )
    return tell_reasons(collection, found, carriers) if reasons else found


def tell_reasons(collection: Store, found: Sequence[Proposal], carriers: Carriers | None = None) -> list[Proposal]:
    """Proposals with their reasons as people read them, in place of the evidence as it is kept."""
    rows = collection.runs.rows
    names = rows.item_names({other for one in found for part in one.reason or () for other in part[3]})
    kinds = rows.item_kinds(one.item_id for one in found)
    having, called = carriers or cache(collection.tagging.carriers), cache(collection.tagging.called)
    return [one._replace(reason=_told(one, names, kinds.get(one.item_id, "row"), having, called)) for one in found]


def _told(one: Proposal, names: Any, kind: str, carriers: Carriers, called: Callable[[str], str]) -> dict[str, Any]:
    known = [part for part in one.reason or () if all(item in names for item in part[3])]
    parts = [[what, called(name) if what == "tag" else name, *rest] for what, name, *rest in known]
    evidence = [{"kind": what, "name": name, "share": share, "items": items} for what, name, share, items in parts]
    why = reason_of(one.tag, one.item_id, parts, carriers, kind)
    return {"sentence": sentence(one.tag, why, names), "evidence": evidence, **why._asdict()}


def tag_number(collection: Store, word: str) -> int:
    """The number of a tag, or a sentence that names those it may have been."""
    number = collection.tagging.find(word)
    if number is None:
        raise ParameterError(f"there is no tag {word!r} in {collection.path}.{_near(collection, word)}")
    return number


def _near(collection: Store, word: str) -> str:
    from difflib import get_close_matches

    names = {match_key(name): name for name in collection.tags.names}
    close = get_close_matches(match_key(word), names, n=3)
    return f" Did you mean {' or '.join(repr(names[key]) for key in close)}?" if close else ""


def line(collection: Store, min_probability: float, *, tag: str | None = None) -> Line:
    """How many open proposals are at least this likely, and what share of them should be right."""
    check_number("min_probability", min_probability, low=0, high=1)
    run = collection.runs.get(kind="suggest")
    tag_id = None if tag is None else tag_number(collection, tag)
    n, total = collection.runs.rows.above(run.id, min_probability, tag_id)
    return Line(n, total / n if n else None)
