"""What frames say beside their numbers: what the columns are called, and which row is which item."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import is_frame
from ..errors import ViewError

__all__ = ["column_names", "common_index", "mask_in_order", "refuse_other_columns", "refuse_other_order"]


def column_names(matrix: Any) -> NDArray[Any] | None:
    """What the columns of a frame are called, where that is words; None otherwise, as of anything that is no frame.

    Frames are those of pandas and polars, and the tables of pyarrow.
    """
    if type(matrix).__module__.split(".")[0] not in ("pandas", "polars", "pyarrow"):
        return None
    called = getattr(matrix, "column_names", getattr(matrix, "columns", None))  # pyarrow's columns are their values
    if called is None or not all(isinstance(column, str) for column in called):
        return None
    return np.asarray(called, dtype=np.str_)


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
        row = _first_moved(index, other)
        if row is not None:
            raise ViewError(
                f"the frames of views {first!r} and {name!r} hold the same items in another order (row {row} is "
                f"{index[row]!r} in one and {other[row]!r} in the other). Put them in one order, "
                f"{name}.loc[{first}.index], or pass .to_numpy() where rows do belong together as they stand."
            )


def _first_moved(index: Any, other: Any) -> int | None:
    """The first row of another item, where ``other``, of a frame, holds the items of ``index`` in another order."""
    if len(other) != len(index) or other.equals(index) or not other.isin(index).all():
        return None
    differ = np.flatnonzero(np.asarray(other != index))
    return int(differ[0]) if differ.size else None


def mask_in_order(mask: Any, named: Mapping[str, Any], ids: Any) -> Any:
    """A mask whose columns stand as the views do, where it is a frame with words for columns; others as they are.

    Refused are columns that are not called like the views, and the same items in another order, as of other frames.
    """
    if not is_frame(mask):
        return mask
    called = column_names(mask)
    if called is not None and sorted(called) != sorted(named):
        raise ViewError(
            f"the columns of mask must be called like the views, {', '.join(map(repr, named))}; got "
            f"{', '.join(map(repr, called.tolist()))}. Rename them, or pass .to_numpy() with a column for each view in "
            "order."
        )
    index = common_index(named)
    if index is None and np.ndim(ids) == 1:
        index = np.asarray(ids)
    row = None if index is None else _first_moved(index, mask.index)
    if row is not None:
        raise ViewError(
            f"mask holds the items in another order than the views (row {row} is {str(index[row])!r} there and "
            f"{str(mask.index[row])!r} in mask). Put it in their order with mask.loc[...], or pass .to_numpy() "
            "where rows do belong together as they stand."
        )
    return mask if called is None else mask[list(named)]


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
