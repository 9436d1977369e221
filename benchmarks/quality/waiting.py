"""Is the time that is left told rightly? Every report of a fit against what was still to come.

A fit says twice a second how long it will still take. *within 1.5* is the share of the reports from a tenth of the way
on that were wrong by a factor of 1.5 at most; where fewer than five seconds are left or told, the words "about 5 s" are
right. *worst* is the largest factor among those with five seconds or more. *silence* is the longest time between two
reports. A second table has the steps: the seconds each was expected to take, at the pace of the whole, and took, and
the longest time in which a Ctrl-C would not have been heard (*deaf*).

The clock is that of the processor, so that others who use the machine do not count; one thread. 600 and 3,000 items are
photographs of the shared sets (repeated, with a little noise, where there are too few), a third of them with tags;
50,000 items are those of ``large_collection``.
"""

from __future__ import annotations

import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from manyview import steps
from manyview.data.tags import TagTable
from manyview.workflow.fit import fit_collection
from manyview.workflow.start import start_collection

from .large_collection import generate
from .pictures import NAMES, picture_collection
from .table import Table

SIZES, QUICK = (600, 3_000, 50_000), (600,)
FIGURES = ("CPU s", "reports", "within 1.5", "worst", "silence")
FACTOR, SOON, FROM = 1.5, 5.0, 0.1
KNOCK = 0.005
"""Seconds of the processor between two signals that ask whether anybody listens."""


class Watched(steps.Work):
    """Work on the processor's clock that remembers what it told, and what each step was to cost and did."""

    told: list[tuple[float, float]]
    deaf: dict[str, float]

    def __init__(self, what: str, report: Any) -> None:
        super().__init__(what, report, time.process_time)
        self.told, self.deaf = [], {}
        watched.append(self)

    def tell(self) -> None:
        if self.name:
            self.told.append((self.seconds, self.left()))
        super().tell()


watched: list[Watched] = []


def tables(quick: bool) -> Iterator[Table]:
    made = Table("time left, told by a fit and true", FIGURES)
    parts = []
    for n_items in QUICK if quick else SIZES:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "items.npz"
            (generate if n_items > 10_000 else photographs)(source, n_items)
            work, whole = fit_watched(source)
        made.add(f"{n_items:,} items", [judged(work.told, whole)])
        parts.append(costs_of(work, f"{n_items:,} items"))
    yield made
    yield from parts


def photographs(path: Path, n_items: int) -> None:
    """Embeddings of the shared photographs; a third of the items keeps its tags."""
    rng = np.random.default_rng(0)
    sets = [one for name in NAMES if name != "emoji" and (one := picture_collection(name)) is not None]
    rows = np.concatenate([one.embedding for one in sets])
    words = [
        list(tags) or [str(label)] * bool(label)
        for one in sets
        for tags, label in zip(one.tags, one.labels["label"], strict=True)
    ]
    chosen = rng.permutation(np.resize(np.arange(len(rows)), n_items))
    noise = rng.standard_normal((n_items, rows.shape[1]), dtype=np.float32) * rows.std() / 4
    tags = TagTable.from_lists([words[i] if rng.random() < 1 / 3 else [] for i in chosen])
    yes = tags.yes.toarray().astype(np.uint8)
    np.savez(path, view_embedding=rows[chosen] + noise, tags=yes, tag_names=list(tags.names))


def fit_watched(source: Path) -> tuple[Watched, float]:
    """The work of a fit, and the seconds it took in all."""
    usual, steps.Work = steps.Work, Watched  # type: ignore[misc]
    watched.clear()
    try:
        with start_collection(source.with_suffix(".manyview"), source) as collection, knocking():
            fit_collection(collection, n_jobs=1, progress=lambda *_: None)
    finally:
        steps.Work = usual  # type: ignore[misc]
    (work,) = watched
    return work, max(seconds for seconds, _ in work.told)


@contextmanager
def knocking() -> Iterator[None]:
    """Note for each step the longest time between two moments at which Python heard a signal."""
    last = time.process_time()

    def heard(number: int, frame: Any) -> None:
        nonlocal last
        now = time.process_time()
        for work in watched:
            work.deaf[work.name] = max(work.deaf.get(work.name, 0.0), now - last)
        last = now

    before = signal.signal(signal.SIGPROF, heard)
    signal.setitimer(signal.ITIMER_PROF, KNOCK, KNOCK)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def judged(told: list[tuple[float, float]], whole: float) -> dict[str, float]:
    """How far the reports were off, from a tenth of the way on."""
    times = np.array([seconds for seconds, _ in told])
    later = times >= FROM * whole
    left, true = np.array([left for _, left in told])[later], whole - times[later]
    soon = (left <= SOON) & (true <= SOON)
    factor = np.where(soon, 1.0, np.maximum(left, true) / np.maximum(np.minimum(left, true), 1e-3))
    long = true >= SOON
    return {
        "CPU s": whole,
        "reports": float(len(told)),
        "within 1.5": float((factor <= FACTOR).mean()),
        "worst": float(factor[long].max()) if long.any() else 1.0,
        "silence": float(np.diff(np.append(times, whole)).max()),
    }


def costs_of(work: Watched, title: str) -> Table:
    """What the steps were expected to take, at the pace of the whole, and took."""
    pace = sum(work._over.values()) / sum(work._costs.values())
    made = Table(f"{title}: the steps", ("expected s", "took s", "deaf s"))
    for name, took in work._over.items():
        expected = pace * work._costs.get(name, 0.0)
        made.add(name, [{"expected s": expected, "took s": took, "deaf s": work.deaf.get(name, 0.0)}])
    return made
