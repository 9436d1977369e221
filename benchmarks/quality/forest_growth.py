"""What TagForest costs as collections and forests grow: CPU seconds of one thread and memory.

The items of ``completion_growth`` with a view of 96 numbers and 500 tags, fifty clusters. The default are a thousand
trees: their part is the difference of two rows with the same items.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator

from .completion_growth import generate, measured, watched
from .table import Table

WIDTH, N_TAGS, K = 96, 500, 50
SIZES, QUICK = ((10_000, 20), (30_000, 20), (10_000, 200)), ((1_000, 5),)


def tables(quick: bool) -> Iterator[Table]:
    table = Table(
        f"TagForest, {WIDTH} features, {N_TAGS} tags, {K} clusters", ("fit", "MB", "bytes an item", "kept MB")
    )
    for n_items, n_trees in QUICK if quick else SIZES:
        found = measured(n_items, WIDTH, n_trees, "forest_growth")
        found["bytes an item"] = found["MB"] * 2**20 / n_items
        table.add(f"{n_items:,} items, {n_trees} trees", [found])
    table.notes.append("MB: the largest anonymous memory above that before fit; kept MB: what is left of it.")
    yield table


def main() -> None:
    """One size: JSON on one line."""
    from manyview import TagForest, TagTable

    n_items, width, n_trees = map(int, sys.argv[1:4])
    for n in (1_000, n_items):  # the first compiles
        looks, tags = generate(n, width, N_TAGS)
        table = TagTable.from_matrix(tags, [f"word{i}" for i in range(N_TAGS)])
        with watched() as figures:
            started = time.process_time()
            model = TagForest(K, n_estimators=n_trees, random_state=0, n_jobs=1).fit({"looks": looks}, table)
            figures["fit"] = time.process_time() - started
        assert model.leaves_.shape == (n, n_trees)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
