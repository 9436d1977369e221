"""Tags of new items in the words of a fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..arrays import is_frame
from ..errors import ViewError
from .tags import TagTable, are_words, as_tag_table

__all__ = ["tags_in_vocabulary"]


def tags_in_vocabulary(tags: Any, names: Sequence[str], n_items: int | None = None) -> TagTable:
    """Tags in any form, in the columns ``names``; words that are not among them are left aside.

    None stands for no tags at all. The columns of a plain matrix are taken to be those of the fit.
    """
    from scipy.sparse import csr_matrix

    n_tags = len(names)
    if tags is None:
        empty = csr_matrix((n_items or 0, n_tags), dtype=np.float32)
        return TagTable(names, empty, empty.copy())
    tags = list(tags) if isinstance(tags, Iterator) else tags
    table = as_tag_table(tags, n_items)
    if table.names == tuple(names):
        return table
    if not are_words(tags) and not is_frame(tags):
        if table.n_tags != n_tags:
            raise ViewError(
                f"tags have {table.n_tags} columns, but there were {n_tags} tags in fit; give one for each."
            )
        return TagTable(names, table.yes, table.no)
    none = csr_matrix((0, n_tags), dtype=np.float32)
    vocabulary = TagTable(names, none, none.copy())
    old = [i for i, name in enumerate(table.names) if name in vocabulary]
    new = [vocabulary.index(table.names[i]) for i in old]
    place = csr_matrix((np.ones(len(old), dtype=np.float32), (old, new)), shape=(table.n_tags, n_tags))
    return TagTable.from_matrix((table.yes @ place) > 0, names, (table.no @ place) > 0)
