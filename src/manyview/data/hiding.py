"""Hide some of the tags that are known, so that they can be looked for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError
from .checks import as_generator, check_number
from .tags import TagTable, as_tag_table

__all__ = ["can_be_found", "hide_tags"]


def hide_tags(tags: Any, hide: float = 0.4, random_state: Any = 0, *, on_items: int = 1) -> tuple[TagTable, Any]:
    """Forget a share of the tags, drawn at random over all items: the table that is left, and what was hidden (CSR).

    Every known tag is as likely to go as any other, so some items lose all of theirs. What is known to be no stays, and
    so do tags on fewer than ``on_items`` items: the share is that of the others.

    >>> left, hidden = hide_tags([["a", "b"], ["b"], ["a", "c"]], hide=0.4)
    >>> left.yes.nnz, hidden.nnz
    (3, 2)
    """
    share = check_number("hide", hide, low=0, low_open=True, high=1)
    table = as_tag_table(tags)
    pairs = table.yes.tocoo()
    able = np.flatnonzero(can_be_found(table, on_items)[pairs.col])
    n_hidden = round(share * able.size)
    if not 0 < n_hidden < able.size:
        stay = pairs.nnz - able.size
        kept = f" that may be hidden ({stay} stay, being on fewer than {on_items} items)" if stay else ""
        raise ParameterError(
            f"hide={hide} would hide {n_hidden} of {able.size} tags{kept}; at least one must be hidden and one be "
            f"left. Give {'tags that more items share' if stay else 'more tags, or another share'}."
        )
    gone = np.zeros(pairs.nnz, dtype=bool)
    gone[able[as_generator(random_state).permutation(able.size) < n_hidden]] = True
    hidden = TagTable.from_matrix(_some(pairs, gone), table.names).yes
    return TagTable.from_matrix(_some(pairs, ~gone), table.names, table.no), hidden


def can_be_found(table: TagTable, on_items: int = 2) -> NDArray[np.bool_]:
    """Which tags are on so many items: hidden on one of two, a tag can still be learned from the other."""
    return np.asarray(np.asarray(table.yes.sum(axis=0)).ravel() >= on_items)


def _some(pairs: Any, kept: Any) -> Any:
    from scipy.sparse import csr_matrix

    ones = np.ones(int(kept.sum()), dtype=np.float32)
    return csr_matrix((ones, (pairs.row[kept], pairs.col[kept])), shape=pairs.shape)
