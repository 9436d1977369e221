"""What of a collection cannot be looked for: items that are there twice."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import is_sparse
from ..data.tags import TagTable
from ..data.views import Views

__all__ = ["count_duplicates"]


def count_duplicates(views: Views | None, table: TagTable) -> int:
    """How many items have exactly the views and tags of an earlier one; without views nobody can tell."""
    if views is None:
        return 0
    seen = {b"".join(_row_bytes(matrix, item) for matrix in (*views.values(), table.yes)) for item in range(len(views))}
    return len(views) - len(seen)


def _row_bytes(matrix: Any, item: int) -> bytes:
    from hashlib import blake2b

    if is_sparse(matrix):
        inside = slice(matrix.indptr[item], matrix.indptr[item + 1])
        row = matrix.indices[inside].tobytes() + matrix.data[inside].tobytes()
    else:
        row = np.ascontiguousarray(matrix[item]).tobytes()
    return blake2b(row, digest_size=16).digest()
