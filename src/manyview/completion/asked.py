"""Items that are asked about, those of the fit or new ones, scored block by block; their tags in words of the fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..blocks import Workers, row_blocks
from ..data.tags import TagTable
from ..data.views import Views
from ..types import Floats, Ints, Singles
from .batch import Batch
from .items import Items
from .models import Extras
from .neighbours.nearest import Nearest
from .proposals import best_of_rows
from .reasons import Pairs, Told, explain_pairs, joined
from .recipe import Recipe

__all__ = ["Asked", "Learned", "asked_in_fit", "asked_of_new"]

Learned: TypeAlias = tuple[Items, Recipe]


@dataclass(frozen=True)
class Asked:
    """Some items with all that is needed to score them.

    make : from row numbers to a batch and its neighbours in each view
    refused : CSR (n_asked, n_tags), what was answered with no
    divisor : (n_tags,), what scores are divided by before tags of an item are compared
    cold : who else is asked about the same items where they have no tags; None for nobody
    """

    items: Items
    recipe: Recipe
    n_asked: int
    n_tags: int
    ids: NDArray[Any]
    refused: Any
    divisor: Singles
    make: Callable[[Ints], tuple[Batch, list[Nearest]]]
    cold: Asked | None = None

    def blocks(self, threads: Workers) -> Iterator[tuple[slice, Batch, Singles]]:
        """Rows, what the sources see of them, and their scores, block by block in order."""

        def part(block: slice) -> tuple[slice, Batch, Singles]:
            rows = np.arange(block.start, block.stop, dtype=np.int64)
            batch, _ = self.make(rows)
            scores = self.recipe.scores(batch)
            if self.cold is not None and batch.is_cold.any():
                alone, _ = self.cold.make(rows[batch.is_cold])
                scores[batch.is_cold] = self.cold.recipe.scores(alone)
                batch.like[batch.is_cold] = alone.like
            return block, batch, scores

        yield from threads.map(part, row_blocks(self.n_asked, self._per_row))

    def record(self, batch: Batch, row: Any, scores: Singles) -> Floats:
        """How likely the owner's record would contain each tag, for one score per row of the batch that is named.

        What was measured on items with tags holds for those that are of their kind.
        """
        is_cold = batch.is_cold[row]
        record = self.recipe.record(scores, is_cold)
        if self.cold is not None:
            record = np.where(is_cold, self.cold.recipe.record(scores, is_cold), record)
        return np.asarray(record * batch.like[row])

    def parts(self, rows: Ints) -> list[Ints]:
        """Some rows in blocks of a size that can be scored at once."""
        return [rows[block] for block in row_blocks(rows.size, self._per_row)]

    @property
    def _per_row(self) -> float:
        return 4.0 * (4 * sum(self.items.widths) + 8 * self.n_tags + 64)

    def best(
        self, top: int, least: float, never: NDArray[np.bool_], threads: Workers
    ) -> Iterator[tuple[Batch, Ints, Ints, Ints, Singles]]:
        """Per block: the batch, rows in it, rows of all, columns and scores of the best tags that are still open."""
        for rows, batch, scores in self.blocks(threads):
            ranked = scores / self.divisor
            ranked[:, never] = -np.inf
            for known in (batch.tags, self.refused[rows]):
                held = known.tocoo()
                ranked[held.row, held.col] = -np.inf
            row, column = best_of_rows(ranked, top)
            kept = ranked[row, column] >= least
            row, column = row[kept], column[kept]
            yield batch, row, row + rows.start, column, scores[row, column]

    def scores_of(self, rows: Ints, columns: Ints) -> Singles:
        """The scores of pairs of row and column."""
        distinct, place = np.unique(rows, return_inverse=True)
        batch, _ = self.make(distinct)
        scores = self.recipe.scores(batch)[place, columns] / self.divisor[columns]
        is_cold = batch.is_cold[place]
        if self.cold is not None and is_cold.any():
            scores[is_cold] = self.cold.scores_of(rows[is_cold], columns[is_cold])
        return scores

    def explain(self, rows: Ints, columns: Ints, known: Any, names: list[str]) -> Told:
        """The main evidence for pairs of row and column; ``known`` are the tags of the fit."""
        distinct, place = np.unique(rows, return_inverse=True)
        batch, near = self.make(distinct)
        is_cold = batch.is_cold[place]
        if self.cold is not None and is_cold.all():
            return self.cold.explain(rows, columns, known, names)
        if self.cold is None or not is_cold.any():
            told = explain_pairs(self.recipe, Pairs(batch, near, self.items, known, place, columns), names).main()
            return told.divided_by(self.divisor[columns])
        groups = [(np.flatnonzero(~is_cold), replace(self, cold=None)), (np.flatnonzero(is_cold), self.cold)]
        return joined([(some, asked.explain(rows[some], columns[some], known, names)) for some, asked in groups])


def asked_in_fit(
    learned: Learned,
    divisor: Singles,
    ids: NDArray[Any],
    tags: Any,
    refused: Any,
    answers: Extras,
    cold: Learned | None = None,
) -> Asked:
    """The items of the fit, each itself left out; ``tags`` and ``refused`` are theirs."""
    items, recipe = learned

    def make(rows: Ints) -> tuple[Batch, list[Nearest]]:
        return answers.add(items.batch(rows, tags), rows), items.near(rows)

    alone = None if cold is None else asked_in_fit(cold, divisor, ids, tags, refused, answers)
    return Asked(items, recipe, items.n_items, divisor.size, ids, refused, divisor, make, alone)


def asked_of_new(
    learned: Learned,
    divisor: Singles,
    views: Views | None,
    table: TagTable,
    answers: Extras,
    cold: Learned | None = None,
) -> Asked:
    """New items, by their views, their tags in the fit's vocabulary, or both."""
    items, recipe = learned

    def make(rows: Ints) -> tuple[Batch, list[Nearest]]:
        batch, near = items.new_batch(None if views is None else views[rows], table.yes[rows])
        return answers.add(batch, rows), near

    ids = np.arange(table.n_items) if views is None else views.ids
    alone = None if cold is None else asked_of_new(cold, divisor, views, table, answers)
    return Asked(items, recipe, table.n_items, divisor.size, ids, table.no, divisor, make, alone)
