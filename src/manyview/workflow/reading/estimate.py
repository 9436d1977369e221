"""How long a piece of work will take here, and how much memory, about."""

from __future__ import annotations

from typing import NamedTuple

from ...blocks import effective_n_jobs
from ...collection.store import Store
from ...methods.consensus.cost import (
    WORDS,
    Shape,
    cost_of_number,
    cost_of_steps,
    memory_of_fit,
    number_of_landmarks,
    usual_number,
)
from ...steps import in_words
from ..compute import default_views
from ..methods_table import METHODS, find_method
from ..run_views import sensible_views
from .map_layout import cost_of_map, cost_of_profiles

__all__ = ["Estimate", "Facts", "Row", "all_estimates", "estimate_first_fit", "estimate_work", "facts_of"]

_START = 4.0
"""Seconds until a command has loaded what it needs."""
_BASE = 220e6
"""Bytes of a process that has."""
_VIEWS = {"picture": 0.05, "video": 1.5, "document": 0.02, "row": 0.0}
"""Seconds of one core to describe an item, measured on photographs of about a megapixel."""
_PICTURE_BYTES = 6_000.0
"""An embedding, and thumbnails on their way."""
_EMBEDDED = 512
"""Columns of a view that is not there yet, about."""
_MEMBERS = 10


class Estimate(NamedTuple):
    """Seconds, bytes, and both in a sentence."""

    seconds: float
    memory: float
    sentence: str


class Row(NamedTuple):
    """What one piece of work costs."""

    work: str
    """views, fit, suggest or map."""
    method: str | None
    estimate: Estimate


class Facts(NamedTuple):
    """What costs depend on."""

    shape: Shape
    """Of the views a fit uses, the tags among them."""
    kinds: dict[str, int]
    """Items of each kind."""
    n_tags: int
    n_tag_uses: int
    lacks_views: bool
    """Whether views have to be computed first."""
    n_files: int
    cores: int


def facts_of(collection: Store) -> Facts:
    """Count what is in a collection; no view is opened."""
    kinds = {kind: sum(counts.values()) for kind, counts in collection.items.formats().items()}
    n_items = sum(kinds.values())
    there = sensible_views(collection)
    missing = [name for name in default_views(collection) if name not in collection.view_names]
    infos = [collection.segments.info(name) for name in there]
    widths = [min(info.n_columns, WORDS) if info.is_sparse else info.n_columns for info in infos]
    widths += [WORDS if name == "words" else _EMBEDDED for name in missing]
    n_tags, n_uses = collection.tagging.counts()
    widths += [min(n_tags, WORDS)] if n_tags else []
    shape = Shape(n_items, len(widths), sum(widths))
    return Facts(shape, kinds, n_tags, n_uses, bool(missing), n_items - kinds.get("row", 0), effective_n_jobs(None))


def estimate_work(
    collection: Store, kind: str, method: str | None = None, n_clusters: int | None = None, facts: Facts | None = None
) -> Estimate:
    """Seconds and memory of a "fit", "suggest", "add" or "map": by the last one of its kind, else by experience."""
    facts = facts_of(collection) if facts is None else facts
    n_items = facts.shape.n_items
    seconds, memory = _cost(facts, kind, method, n_clusters)
    seconds, how = seconds + _START, "by experience"
    for run in reversed(list(collection.runs)):
        if run.kind == kind and (method is None or run.method == method) and run.seconds:
            then = run.figures.get("n_items") or n_items
            seconds, how = _START + run.seconds * n_items / max(1, then), f"going by run {run.id}"
            break
    if facts.lacks_views and kind in ("fit", "suggest"):
        seconds += _describing(facts)
        memory = max(memory, _describing_bytes(facts))
    return _told(seconds, memory, how)


def estimate_first_fit(facts: Facts) -> Estimate:
    """Of a fit by the usual method, with the views it needs."""
    seconds, memory = _cost(facts, "fit", None, None)
    if facts.lacks_views:
        seconds += _describing(facts)
        memory = max(memory, _describing_bytes(facts))
    return _told(seconds + _START, memory, "by experience")


def all_estimates(collection: Store, n_clusters: int | None = None) -> list[Row]:
    """Of everything that can be done with a collection: views, a fit by each method, proposals, a map."""
    facts = facts_of(collection)
    rows = []
    if facts.lacks_views:
        told = _told(_START + _describing(facts), _describing_bytes(facts), "by experience")
        rows.append(Row("views", None, told))
        facts = facts._replace(lacks_views=False)
    for name, method in METHODS.items():
        if not method.needs or (method.needs == {"tags"} and facts.n_tags):
            rows.append(Row("fit", name, estimate_work(collection, "fit", name, n_clusters, facts)))
    if facts.n_tags:
        rows.append(Row("suggest", None, estimate_work(collection, "suggest", facts=facts)))
    rows.append(Row("map", None, estimate_work(collection, "map", facts=facts)))
    return rows


def _told(seconds: float, memory: float, how: str) -> Estimate:
    return Estimate(seconds, memory, f"about {in_words(seconds)} and {_bytes(memory)}, {how}")


def _bytes(memory: float) -> str:
    return f"{memory / 1e9:.1f} GB" if memory >= 1e9 else f"{max(1, round(memory / 1e8)) * 100} MB"


def _describing(facts: Facts) -> float:
    return sum(_VIEWS[kind] * count for kind, count in facts.kinds.items()) / facts.cores


def _describing_bytes(facts: Facts) -> float:
    return 2 * _BASE + _PICTURE_BYTES * facts.n_files


def _cost(facts: Facts, kind: str, method: str | None, n_clusters: int | None) -> tuple[float, float]:
    """Seconds here and bytes, without views that are to be computed and without the start."""
    n, cores = facts.shape.n_items, facts.cores
    if kind == "suggest":
        return 0.8e-3 * n / cores, _BASE + 350e6 + 2_000.0 * n
    if kind == "add":
        return 2e-3 * n / cores, _BASE + 1_000.0 * n
    after = cost_of_profiles(n) + cost_of_map(n)
    drawn = _BASE + 100e6 + 250.0 * n
    if kind == "map":
        return after, drawn
    name = find_method(method).name
    k = n_clusters or usual_number(n)
    found = sum(cost_of_number(facts.shape).values()) if n_clusters is None and METHODS[name].takes_k else 0.0
    seconds, memory = _of_method(facts, name, k)
    return found + seconds + after, max(_BASE + memory + 150.0 * n, drawn)


def _of_method(facts: Facts, name: str, k: int) -> tuple[float, float]:
    """Seconds here and bytes of fitting one method, at its default settings."""
    shape, cores = facts.shape, facts.cores
    n, d = shape.n_items, shape.width
    if name == "consensus":
        voting = min(n, number_of_landmarks("auto", shape, k, _MEMBERS))
        seconds = sum(cost_of_steps(shape, k, _MEMBERS, cores, voting).values())
        return seconds, 50e6 + memory_of_fit(shape, k, _MEMBERS) * voting + 100.0 * n
    if name == "rmkmc":  # ten starts of about 25 rounds
        return 1.5 + 250 * n * (1.3e-10 * k * d + 1e-6) / cores, 8.0 * n * (d + facts.n_tags)
    if name == "ghf-art":
        return 5e-6 * n, 100.0 * n
    if name == "cca":
        return 1.2e-4 * n / cores, 100e6 + 1_000.0 * n
    if name == "aplsa":  # five starts of about 140 iterations
        words = facts.n_tag_uses / max(1, n)
        return 700 * n * (words * (4 + k) * 1e-9 + 1.3e-7) / cores, (16.0 * k + 100.0) * n
    return 7.5e-3 * n * max(1.0, n / 500) ** 0.35 / cores, 3_700.0 * n
