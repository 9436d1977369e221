"""What an extractor learned, kept with its view: arrays as .npy bytes, everything else as JSON."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import durable
from ..errors import ViewError
from .catalog import Catalog, as_json

__all__ = ["put_state", "read_state"]


def put_state(catalog: Catalog, view_id: int, state: Mapping[str, Any]) -> None:
    """Keep the state of a view's extractor in place of an earlier one."""
    with catalog.transaction():
        catalog.run("DELETE FROM view_state WHERE view_id = ?", (view_id,))
        for key, value in state.items():
            is_array = isinstance(value, np.ndarray)
            held = _as_npy(key, value) if is_array else as_json(value).encode()
            catalog.run("INSERT INTO view_state VALUES (?, ?, ?, ?)", (view_id, key, int(is_array), held))


def read_state(catalog: Catalog, view_id: int) -> dict[str, Any]:
    """What ``put_state`` kept."""
    rows = catalog.rows("SELECT name, is_array, value FROM view_state WHERE view_id = ? ORDER BY name", (view_id,))
    return {
        key: np.lib.format.read_array(io.BytesIO(held), allow_pickle=False) if is_array else json.loads(held)
        for key, is_array, held in rows
    }


def _as_npy(key: str, value: Any) -> bytes:
    array = np.ascontiguousarray(value)
    if array.dtype.hasobject:
        raise ViewError(f"{key!r} is an array of Python objects, which is not kept; turn words into a list.")
    return durable.npy_header(array.shape, array.dtype) + array.tobytes()
