"""How long a piece of work will take here, about."""

from __future__ import annotations

from typing import NamedTuple

from ...blocks import effective_n_jobs
from ...collection.store import Store
from ...steps import in_words
from ..compute import default_views
from .inventory import BASE_BYTES, BYTES_PER_ITEM, SECONDS

__all__ = ["Estimate", "estimate_work"]

_START = 5.0
_PER_ITEM = {"fit": 0.01, "suggest": 0.004, "add": 0.002, "map": 0.0005}
"""Seconds of one core for an item, where no earlier run tells better."""


class Estimate(NamedTuple):
    """Seconds, bytes, and both in a sentence."""

    seconds: float
    memory: float
    sentence: str


def estimate_work(collection: Store, kind: str, method: str | None = None) -> Estimate:
    """Seconds and memory of a "fit", "suggest", "add" or "map": by the last one of its kind, else by experience."""
    n_items, cores = len(collection.items), effective_n_jobs(None)
    seconds, how = _START + n_items * _PER_ITEM[kind] / cores, "by experience"
    if kind == "map":
        seconds = _START + n_items * _PER_ITEM["map"]
    for run in reversed(list(collection.runs)):
        if run.kind == kind and (method is None or run.method == method) and run.seconds:
            then = run.figures.get("n_items") or n_items
            seconds, how = _START + run.seconds * n_items / max(1, then), f"by run {run.id}"
            break
    missing = [name for name in default_views(collection) if name not in collection.view_names]
    if missing and kind in ("fit", "suggest"):
        seconds += sum(SECONDS[item.kind] for item in collection.items) / cores
    memory = BASE_BYTES + BYTES_PER_ITEM * n_items
    return Estimate(seconds, memory, f"about {in_words(seconds)} and {memory / 1e9:.1f} GB, {how}")
