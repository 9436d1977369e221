"""Which views a fit uses: those that a person named, or what is sensible; computed where they are missing."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ...collection.safety.heal import damaged_views
from ...collection.store import Store
from ...errors import ParameterError
from ...features.base import extractor_names
from ...types import Progress
from ..compute import Computed, came_with_source, compute_views, default_views, without_source
from ..methods_table import METHODS, Method
from ..run_views import COUNTS, TAGS
from ..transfer import common_view

__all__ = ["compute_named", "named_views", "versions_of"]


def named_views(
    collection: Store,
    method: Method,
    views: Iterable[str] | None,
    annotations: str | os.PathLike[str] | None,
) -> tuple[str, ...] | None:
    """The views a person asked for, all of which there are or could be; None: whatever is sensible."""
    named = None if views is None else tuple(dict.fromkeys(views))
    if "annotations" not in method.needs and annotations is not None:
        helped = " and ".join(row.name for row in METHODS.values() if "annotations" in row.needs)
        raise ParameterError(f"annotations help {helped} only; leave them out, or choose it.")
    if "annotations" in method.needs:
        if annotations is None:
            raise ParameterError(
                f"{method.name} learns from the tags of a second collection: --annotations OTHER.manyview."
            )
        named = (common_view(collection, annotations),) if named is None else named
    if "counts" in method.needs and named is not None and (len(named) != 1 or named[0] not in COUNTS):
        raise ParameterError(
            f"{method.name} counts in one view, {COUNTS[0]!r} or {COUNTS[1]!r}; got {', '.join(named)}."
        )
    there = {*collection.view_names, TAGS}
    for name in named or ():
        if name not in there and name not in extractor_names():
            could = [one for one in extractor_names() if one not in {*there, *without_source(collection)}]
            raise ParameterError(
                f"there is no view {name!r}. Present: {', '.join(sorted(there))}. "
                f"Can be computed: {', '.join(could) or 'none'}."
            )
    return named


def compute_named(
    collection: Store, named: tuple[str, ...] | None, n_jobs: int | None, progress: Progress | None
) -> Computed:
    """Compute the views that were named, or those that are there by default, as far as they are missing."""
    needed = (*default_views(collection), *damaged_views(collection)) if named is None else named
    wanted = [name for name in needed if name in _to_compute(collection)]
    computed = compute_views(collection, wanted, n_jobs=n_jobs, progress=progress) if wanted else Computed()
    if absent := [name for name in named or () if name != TAGS and name not in collection.view_names]:
        raise ParameterError(" ".join(map(str, computed.notes)) or f"{collection.path} has no view {absent[0]!r}.")
    return computed


def _to_compute(collection: Store) -> set[str]:
    """Views that are computed, or brought up to date, when a person names them."""
    return {name for name in extractor_names() if name != TAGS and not came_with_source(collection, name)}


def versions_of(collection: Store, names: Iterable[str]) -> dict[str, str]:
    """The version of each view, as a run keeps it."""
    return {
        name: collection.segments.info(name).version if name in collection.view_names else "at the time"
        for name in names
    }
