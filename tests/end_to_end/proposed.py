"""A collection with many open proposals, made without fitting anything."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from manyview import Collection

WORDS = tuple(f"word {number}" for number in range(40))
PER_ITEM = 5


def make_proposed(folder: Path, n_items: int) -> Path:
    """Items in a ``.npy`` file, five proposals each; the path of the collection."""
    np.save(folder / "given.npy", np.arange(2.0 * n_items).reshape(n_items, 2))
    rng = np.random.default_rng(0)
    with Collection.create(folder / "proposed.manyview", folder / "given.npy") as collection:
        numbers = collection.tagging.numbers(WORDS)
        rows = [
            (item, numbers[WORDS[column]], float(p), float(p), [], float(p) / 2, 0.0)
            for item in range(1, n_items + 1)
            for column, p in zip(rng.choice(len(WORDS), PER_ITEM, replace=False), rng.random(PER_ITEM), strict=True)
        ]
        collection.runs.save_proposals("combined", rows, figures={"tags_per_item": 2.0, "said": []})
    return folder / "proposed.manyview"


def sums_are_right(collection: Collection) -> bool:
    """Do the sums that lines are drawn from agree with the proposals, and these with what is known?"""
    rows = collection._catalog.rows
    is_open = (
        "NOT EXISTS (SELECT 1 FROM decisions AS d WHERE d.item_id = p.item_id AND d.tag_id = p.tag_id) AND NOT EXISTS "
        "(SELECT 1 FROM item_tags AS t WHERE t.item_id = p.item_id AND t.tag_id = p.tag_id)"
    )
    strange = rows(f"SELECT count(*) FROM proposals AS p WHERE is_open <> ({is_open})")[0][0]  # noqa: S608
    n, total = rows("SELECT count(*), coalesce(sum(probability), 0) FROM proposals WHERE is_open = 1")[0]
    run = collection.runs.get(kind="suggest").id
    kept_n, kept_total = collection.runs.rows.above(run, 0.0)
    return bool(strange == 0 and n == kept_n and abs(total - kept_total) < 1e-6)
