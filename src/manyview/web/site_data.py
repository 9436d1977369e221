"""What an exported gallery knows: the answers of the routes, and what its pages compute the other answers from.

Every file is read by somebody in ``frontend/src/lib/site*.ts``. Lists of items are cut by cluster, so that a page of
one cluster reads little; a search reads all of them. Nothing here grows faster than the items do.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..collection.runs import Run
from ..errors import ParameterError
from ..types import Progress
from ..workflow.reading.index import Index
from ..workflow.reading.typical import typical_rows
from ..workflow.reading.word_answers import word_answers
from . import models
from .api.clusters import cluster_page, clusters_page
from .api.edits import history_page
from .api.items import item_page, item_rows, tags_page
from .api.map import map_page, map_points
from .api.proposals import proposal_rows, proposals_page
from .api.runs import compare_page, runs_page, state
from .reasons import AllReasons

__all__ = ["site_answers"]

Answers = Iterator[tuple[str, Any]]

_ITEMS_IN_A_FILE = 100
_FIRST_PROPOSALS, _HISTORY, _TAGS = 200, 2000, 100_000
_PROPOSALS_AT_ONCE = 20_000
_COMPARED = 16
"""Newest runs of which any two are compared."""
_POSITION = frozenset({"latitude", "longitude"})
_TEXT = 20_000
"""Letters of a text in which words are looked for."""
_NEIGHBOURS, _MOST_ASKED = 8, 20_000
"""What the page of an item shows in each view, and among how many items those are looked for."""


def site_answers(index: Index, progress: Progress, *, positions: bool = False) -> Answers:
    """Every answer with the name of its file. Where pictures were taken is left out, unless it is asked for."""
    yield from _lists(index, progress)
    yield from _runs(index)
    yield from _by_cluster(index, positions)
    yield from _items(index, progress, frozenset() if positions else _POSITION)


def _lists(index: Index, progress: Progress) -> Answers:
    yield "state", state(index)
    yield "clusters", clusters_page(index)
    yield "tags", tags_page(index, limit=_TAGS)
    yield "paths", [list(path) for path in index.paths]
    yield "proposals", proposals_page(index, limit=_FIRST_PROPOSALS)
    yield "runs", runs_page(index)
    yield "history", history_page(index, limit=_HISTORY)
    yield "map", map_page(index)
    yield "looks", word_answers(index, progress)
    yield "map-points", {"base64": base64.b64encode(map_points(index)).decode("ascii")}
    run = index.run()
    yield "typical", index.ids[typical_rows(index, np.arange(index.ids.size), run)].tolist()
    for one in index.clusters(run):
        yield f"cluster-{one.id}", cluster_page(index, one.id)


def _runs(index: Index) -> Answers:
    """Where each run puts the items, in the order of their numbers; from these, colours of the map and movers."""
    fits = index.collection.runs.fits()
    yield "ids", index.ids.tolist()
    for run in fits:
        yield f"clusters-of-{run.id}", clusters_page(index, run.id)
        now, found = index.assignment(run), index.labelled(run)
        as_found = None if np.array_equal(now, found) else found.tolist()
        yield f"places-{run.id}", {"now": now.tolist(), "found": as_found}
    numbers = [run.id for run in fits][-_COMPARED:]
    yield "compared", numbers
    for n, second in enumerate(numbers):
        for first in numbers[:n]:
            yield f"compare-{first}-{second}", _compared(index, first, second)


def _compared(index: Index, first: int, second: int) -> Any:
    try:
        return compare_page(index, first, second)
    except ParameterError as error:  # they may have no item in common
        return {"error": str(error)}


def _by_cluster(index: Index, positions: bool) -> Answers:
    run = index.run()
    words, texts, waiting = index.words_by_row(), _texts(index), _open(index)
    none = np.flatnonzero(index.assignment(run) < 0)
    for name, rows in [*((f"c{number}", rows) for number, rows in index.members(run).items()), ("none", none)]:
        numbers = index.ids[rows].tolist()
        yield f"items-{name}", {"items": _rows(index, run, rows, words, positions)}
        yield f"texts-{name}", {number: texts[number] for number in numbers if number in texts}
        yield f"proposals-{name}", [one for number in numbers for one in waiting.get(number, [])]


def _rows(
    index: Index, run: Run | None, rows: NDArray[np.int64], words: dict[int, list[str]], positions: bool
) -> list[dict[str, Any]]:
    taken, cameras, lenses = index.taken, index.values_of("camera"), index.values_of("lens")
    found = []
    for item, row in zip(item_rows(index, run, rows.tolist()), rows.tolist(), strict=True):
        told: dict[str, Any] = {"taken": str(taken[row]), "camera": cameras[row], "lens": lenses[row]}
        if positions and not np.isnan(index.positions[row]).any():
            told["place"] = index.positions[row].tolist()
        found.append({**item.model_dump(), "tags": words.get(row, []), **{k: v for k, v in told.items() if v}})
    return found


def _texts(index: Index) -> dict[int, str]:
    return index.collection.reading.texts(_TEXT)


def _open(index: Index) -> dict[int, list[Any]]:
    """Item -> its open proposals in full but for names and pictures, likely ones first."""
    found: dict[int, list[Any]] = {}
    for one in _all_proposals(index):
        why = one.reason
        like = [member.id for member in why.like if member.has_thumb]
        told = [why.likeness, like, why.goes_with, why.n_with, why.n_all, why.against, why.like_first]
        promise = [one.score, one.probability, one.is_worth_asking, one.is_trusted, one.sure]
        row = [one.item, one.tag, *promise, one.sentence, told]
        found.setdefault(one.item, []).append(row)
    return found


def _all_proposals(index: Index) -> Iterator[models.Proposal]:
    """Piece by piece: in full they take much more memory than what is kept of them."""
    for offset in range(0, index.open_pairs[0].size, _PROPOSALS_AT_ONCE):
        yield from proposal_rows(index, offset=offset, top=_PROPOSALS_AT_ONCE)


def _items(index: Index, progress: Progress, left_out: frozenset[str]) -> Answers:
    run, numbers = index.run(), index.ids.tolist()
    reasons = None if run is None else AllReasons(index, run, _NEIGHBOURS, _MOST_ASKED)
    packs: dict[int, dict[str, Any]] = {}
    for done, number in enumerate(numbers):
        pack = number // _ITEMS_IN_A_FILE
        for full in [key for key in packs if key != pack]:
            yield f"item-{full}", packs.pop(full)
        page = item_page(index, number, reasons=reasons, proposals=False)  # they are in the lists by cluster
        page.fields = {name: value for name, value in page.fields.items() if name not in left_out}
        packs.setdefault(pack, {})[str(number)] = page.model_dump(mode="json")
        progress("pages of items", done + 1, len(numbers))
    yield from ((f"item-{full}", pages) for full, pages in packs.items())
