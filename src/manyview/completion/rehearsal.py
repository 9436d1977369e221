"""Hide some of the known tags, complete them, and learn from the outcome how far to trust each source."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..blocks import Workers
from ..types import Floats, Ints
from .batch import Batch, Source

__all__ = ["COLD", "HIDDEN_SHARE", "WARM", "Draw", "Pairs", "collect_pairs", "draw_rehearsals", "stack_weights"]


HIDDEN_SHARE = 0.15
"""The share of tags hidden on items that keep some (q)."""
_UNTAGGED_SHARE = 0.10
_ENOUGH_HIDDEN = 3_000
_ENOUGH_ITEMS = 5_000
"""Items rehearsed, each as often as it was: the calibration of the best proposals rests on a few of each."""
_MOST_ROUNDS = 10
_MOST_ROUNDS_FOR_TAGS = 5
_MOST_PAIRS = 4_000_000
_LEAST_HIDDEN = 20
WARM, COLD = 0, 1


@dataclass(frozen=True)
class Draw:
    """One rehearsal: the tags left to see, those hidden, and the items that lost all of theirs on purpose."""

    visible: Any
    hidden: Any
    emptied: NDArray[np.bool_]

    @property
    def share_left(self) -> float:
        """Tags left over tags before; 1 where nothing is left to learn from."""
        return float(self.visible.nnz / (self.visible.nnz + self.hidden.nnz)) or 1.0


@dataclass(frozen=True)
class Pairs:
    """What each source said of the pairs of item and tag that a rehearsal did not show, and whether one was hidden."""

    scores: NDArray[np.float32]
    hidden: NDArray[np.bool_]


def draw_rehearsals(tags: Any, rng: np.random.Generator) -> list[Draw]:
    """Rounds of hiding, until about 3,000 tags have been hidden (five at most) and 5,000 items rehearsed (ten)."""
    tagged = np.flatnonzero(np.diff(tags.indptr))
    if not tagged.size:
        return []
    row = np.repeat(np.arange(tags.shape[0]), np.diff(tags.indptr))
    draws: list[Draw] = []
    n_hidden = 0
    n_rounds = min(_MOST_ROUNDS, -(-_ENOUGH_ITEMS // tagged.size))
    while len(draws) < n_rounds or (n_hidden < _ENOUGH_HIDDEN and len(draws) < _MOST_ROUNDS_FOR_TAGS):
        emptied = np.zeros(tags.shape[0], dtype=bool)
        emptied[rng.choice(tagged, size=int(np.ceil(_UNTAGGED_SHARE * tagged.size)), replace=False)] = True
        gone = (rng.random(tags.nnz) < HIDDEN_SHARE) | emptied[row]
        draws.append(Draw(_keep(tags, ~gone), _keep(tags, gone), emptied))
        n_hidden += int(gone.sum())
    return draws


def _keep(tags: Any, kept: NDArray[np.bool_]) -> Any:
    from scipy.sparse import csr_matrix

    counts = np.concatenate([[0], np.cumsum(kept)])[tags.indptr]
    return csr_matrix((tags.data[kept], tags.indices[kept], counts), shape=tags.shape)


def collect_pairs(
    draws: Sequence[Draw],
    sources_of: Callable[[int, Ints], Mapping[str, Source]],
    batches_of: Callable[[int, Ints], Sequence[Callable[[], Batch]]],
    tag_based: frozenset[str],
    rng: np.random.Generator,
    threads: Workers,
) -> tuple[Pairs, Pairs]:
    """Run the rehearsals. Gives the pairs of items that kept tags, and of items that lost them all.

    ``sources_of(round, rows)`` fits the sources to what the round shows. Scores are divided by the share of tags
    left, since fewer tags to learn from make every score smaller; for ``tag_based`` sources of items that kept tags
    by the share that such items kept. At most about four million pairs of each kind, of items drawn at random.
    """
    found: tuple[list[Pairs], list[Pairs]] = ([], [])
    for number, draw in enumerate(draws):
        n_tags = draw.visible.shape[1]
        budget = max(1, _MOST_PAIRS // (n_tags * len(draws)))
        # An item that lost its last tag by chance is left out: whoever is asked later as warm has one to show.
        groups = [np.flatnonzero(np.diff(draw.visible.indptr)), np.flatnonzero(draw.emptied)]
        groups = [np.sort(rng.permutation(rows)[:budget]).astype(np.int64) for rows in groups]
        sources = sources_of(number, np.concatenate(groups))
        for group, rows in enumerate(groups):
            divisor = np.array(
                [1.0 - HIDDEN_SHARE if group == WARM and name in tag_based else draw.share_left for name in sources],
                dtype=np.float32,
            )
            batches = batches_of(number, rows)
            part = partial(_pairs, batches, sources, divisor, draw.hidden)
            found[group].extend(threads.map(part, [slice(b, b + 1) for b in range(len(batches))]))
    names = 1 if not draws else len(sources)
    return _joined(found[WARM], names), _joined(found[COLD], names)


def _pairs(
    batches: Sequence[Callable[[], Batch]], sources: Mapping[str, Source], divisor: Any, hidden: Any, block: slice
) -> Pairs:
    batch = batches[block.start]()
    unseen = batch.tags.toarray() == 0
    scores = np.stack([source.scores(batch)[unseen] for source in sources.values()], axis=1)
    return Pairs(scores / divisor, hidden[batch.rows].toarray()[unseen] > 0)


def _joined(parts: Sequence[Pairs], n_sources: int) -> Pairs:
    if not parts:
        return Pairs(np.zeros((0, n_sources), dtype=np.float32), np.zeros(0, dtype=bool))
    return Pairs(np.concatenate([p.scores for p in parts]), np.concatenate([p.hidden for p in parts]))


def stack_weights(pairs: Pairs, used: NDArray[np.bool_]) -> Floats:
    """Weights of at least 0, summing to one, with which the sources come nearest to the hidden tags.

    Only the ``used`` sources take part. With fewer than 20 hidden tags to learn from, all of them count the same.
    """
    from scipy.optimize import nnls

    weights = used / used.sum()
    if pairs.hidden.sum() < _LEAST_HIDDEN:
        return np.asarray(weights)
    scores = pairs.scores[:, used].astype(np.float64)
    gram = scores.T @ scores
    target = scores.T @ pairs.hidden
    # The square root of the normal equations has the same minimiser and a handful of rows.
    values, vectors = np.linalg.eigh(gram)
    root = np.sqrt(np.maximum(values, values[-1] * 1e-12))
    found, _ = nnls(root[:, None] * vectors.T, (vectors.T @ target) / root)
    if found.sum() > 0:
        weights = np.zeros(used.size)
        weights[used] = found / found.sum()
    return np.asarray(weights)
