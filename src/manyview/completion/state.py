"""Dataclasses as plain dicts and back, so that ``manyview.save`` can keep what a fit learned."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from .items import Items
from .nearest import InvertedLists, Nearest
from .penalties import Penalties
from .probability import Calibration
from .recipe import Recipe
from .ridge import Ridge
from .sources import Clusters, Companions, Frequency, ModelScores, NaiveBayes, Neighbours
from .view_space import ViewSpace

__all__ = ["pack", "unpack"]

_KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        Calibration,
        Clusters,
        Companions,
        Frequency,
        InvertedLists,
        Items,
        ModelScores,
        NaiveBayes,
        Nearest,
        Neighbours,
        Penalties,
        Recipe,
        Ridge,
        ViewSpace,
    )
}


def pack(value: Any) -> Any:
    """A dataclass of this room as a dict, all the way down; arrays are shared, not copied."""
    if is_dataclass(value):
        return {"kind": type(value).__name__, **{one.name: pack(getattr(value, one.name)) for one in fields(value)}}
    if isinstance(value, (tuple, list)):
        return [pack(part) for part in value]
    if isinstance(value, dict):
        return {key: pack(part) for key, part in value.items()}
    return value


def unpack(value: Any) -> Any:
    """What ``pack`` made, as it was; sequences come back as tuples."""
    if isinstance(value, list):
        return tuple(unpack(part) for part in value)
    if isinstance(value, dict):
        parts = {key: unpack(part) for key, part in value.items() if key != "kind"}
        return _KINDS[value["kind"]](**parts) if "kind" in value else parts
    return value
