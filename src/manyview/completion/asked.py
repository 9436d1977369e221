"""Items that are asked about, those of the fit or new ones, scored block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..blocks import Workers, row_blocks
from ..types import Ints, Singles
from .batch import Batch
from .evidence import Evidence, main_evidence, sentence
from .items import Items
from .nearest import Nearest
from .proposals import best_of_rows
from .reasons import explain_pairs
from .recipe import Recipe

__all__ = ["Asked"]


@dataclass(frozen=True)
class Asked:
    """Some items with all that is needed to score them.

    make : from row numbers to a batch and its neighbours in each view
    refused : CSR (n_asked, n_tags), what was answered with no
    """

    items: Items
    recipe: Recipe
    n_asked: int
    n_tags: int
    ids: NDArray[Any]
    refused: Any
    make: Callable[[Ints], tuple[Batch, list[Nearest]]]

    def blocks(self, threads: Workers) -> Iterator[tuple[slice, Batch, Singles]]:
        """Rows, what the sources see of them, and their scores, block by block in order."""
        per_row = 4.0 * (4 * sum(self.items.widths) + 8 * self.n_tags + 64)

        def part(block: slice) -> tuple[slice, Batch, Singles]:
            batch, _ = self.make(np.arange(block.start, block.stop, dtype=np.int64))
            return block, batch, self.recipe.scores(batch)

        yield from threads.map(part, row_blocks(self.n_asked, per_row))

    def best(
        self, top: int, least: float, never: NDArray[np.bool_], threads: Workers
    ) -> Iterator[tuple[Batch, Ints, Ints, Ints, Singles]]:
        """Per block: the batch, rows in it, rows of all, columns and scores of the best tags that are still open."""
        for rows, batch, scores in self.blocks(threads):
            scores[:, never] = -np.inf
            for known in (batch.tags, self.refused[rows]):
                held = known.tocoo()
                scores[held.row, held.col] = -np.inf
            row, column = best_of_rows(scores, top)
            value = scores[row, column]
            kept = value >= least
            yield batch, row[kept], row[kept] + rows.start, column[kept], value[kept]

    def explain(
        self, rows: Ints, columns: Ints, known: Any, names: list[str], item_ids: NDArray[Any]
    ) -> list[tuple[tuple[Evidence, ...], str]]:
        """Evidence and sentence for pairs of row and column; ``known`` and ``item_ids`` are those of the fit."""
        distinct, place = np.unique(rows, return_inverse=True)
        batch, near = self.make(distinct)
        everything = explain_pairs(self.recipe, self.items, batch, near, place, columns, known, names)
        shown = [main_evidence(evidence) for evidence in everything]
        return [(parts, sentence(names[c], parts, item_ids)) for parts, c in zip(shown, columns, strict=True)]
