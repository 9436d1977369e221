"""What pandas frames say beside their numbers: what the columns are called, and which row is which item."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import is_frame
from ..errors import ViewError

__all__ = ["column_names", "common_index", "refuse_other_columns", "refuse_other_order"]


def column_names(matrix: Any) -> NDArray[Any] | None:
    """What the columns of a frame are called, where that is words; None otherwise, as of anything that is no frame."""
    if not is_frame(matrix) or not all(isinstance(column, str) for column in matrix.columns):
        return None
    return np.asarray(matrix.columns, dtype=np.str_)


def common_index(views: Any) -> Any:
    """What the rows of all frames in a mapping or list are called; None where they do not agree or none is there."""
    parts = views.values() if isinstance(views, Mapping) else views if isinstance(views, (list, tuple)) else ()
    frames = [one for one in parts if is_frame(one)]
    agree = bool(frames) and all(one.index.equals(frames[0].index) for one in frames)
    return frames[0].index if agree else None


def refuse_other_order(named: Mapping[str, Any]) -> None:
    """Refuse frames whose rows are the same items in another order: row numbers would mix them up."""
    frames = {name: matrix for name, matrix in named.items() if is_frame(matrix)}
    if len(frames) < 2:
        return
    first, *others = frames
    index = frames[first].index
    for name in others:
        other = frames[name].index
        if len(other) == len(index) and not other.equals(index) and other.isin(index).all():
            row = int(np.flatnonzero(np.asarray(other != index))[0])
            raise ViewError(
                f"the frames of views {first!r} and {name!r} hold the same items in another order (row {row} is "
                f"{index[row]!r} in one and {other[row]!r} in the other). Put them in one order, "
                f"{name}.loc[{first}.index], or pass .to_numpy() where rows do belong together as they stand."
            )


def refuse_other_columns(name: str, known: NDArray[Any] | None, new: NDArray[Any] | None, where: str = "fit") -> None:
    """Refuse a view whose columns are called otherwise than in ``fit``, or stand in another order."""
    if known is None or new is None or np.array_equal(known, new):
        return
    place = int(np.flatnonzero(known != new)[0])
    how = "the same columns in another order" if set(known) == set(new) else "other columns"
    raise ViewError(
        f"view {name!r} has {how} than in {where}: column {place} is {str(new[place])!r}, where {str(known[place])!r} "
        f"was. Select them in the order of {where}, or pass .to_numpy() where names do not matter."
    )
