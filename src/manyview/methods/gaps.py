"""What items would look like in the views they lack: as their neighbours do that have them.

Without this an item without tags would lie, among all views side by side, at the centre of the tags: near to every
other one without tags and far from those with some, and clusters would be of the tagged and of the untagged. But that
holds as far as it is chance who has the view. Where somebody tagged one subject after the other, those who have it are
alike and no likes of those who lack it; these then stay near the centre.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..blocks import Workers
from ..data.nearest import nearest_among
from ..types import Floats, Places
from .agreement import clearly_agrees

__all__ = ["fill_gaps"]

_DONORS, _NEAR = 10, 50
"""Neighbours with the view that are looked for, and how many neighbours are asked for that at most."""
_LOOKED_AT = 4_000
"""Items among which neighbours are sought."""
_WITNESSES, _THEIRS = 500, 10
"""Items whose neighbours tell whether it is chance who has a view, and how many neighbours each."""

Rows = NDArray[np.float32]
Present = NDArray[np.bool_]


def fill_gaps(
    rows: Rows, present: Present, edges: Places, threads: Workers, known: tuple[Rows, Present] | None = None
) -> None:
    """Fill, in place, the columns of the views that items lack, from ``known`` rows or from each other.

    rows : (n, all columns), zero where an item lacks the view; ``edges`` say where each view's columns start
    known : rows and present of fitted items, which may be filled already; only what they really have is used

    A view that the share s of the items has is asked of the m = 10 / s nearest in the views that the item has (50 at
    most). With n of them that have it, the mean of those is taken times (n / s m)^2, where that is less than 1, and
    times 1 - c, where c says how far those that have the view lie together: see ``_together``.
    """
    theirs, have = (rows, present) if known is None else known
    columns = [np.arange(edges[v], edges[v + 1]) for v in range(present.shape[1])]
    made: list[tuple[Places, Places, Rows]] = []
    patterns, pattern_of = np.unique(present, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        beside = np.flatnonzero(have[:, pattern].all(axis=1))
        if pattern.all() or not pattern.any() or not beside.size:
            continue
        beside = beside[:: -(-beside.size // _LOOKED_AT)]
        items = np.flatnonzero(pattern_of.ravel() == number)
        here = np.concatenate([columns[v] for v in np.flatnonzero(pattern)])
        lacking = np.flatnonzero(~pattern)
        shares = have[beside][:, lacking].mean(axis=0).tolist()
        ground = np.ascontiguousarray(theirs[beside][:, here])
        together = _together(ground, have[beside][:, lacking], threads).tolist()
        asked = [
            (v, share, lump, min(_NEAR, beside.size, round(_DONORS / share)))
            for v, share, lump in zip(lacking.tolist(), shares, together, strict=True)
            if share and lump < 1
        ]
        if not asked:
            continue
        most = max(count for *_, count in asked)
        near = nearest_among(np.ascontiguousarray(rows[items][:, here]), ground, most, threads)
        for v, share, lump, count in asked:
            found = _said(theirs[beside][:, columns[v]], have[beside, v], near[:, :count], share)
            made.append((items, columns[v], (1.0 - np.float32(lump)) * found))
    for items, where, found in made:  # last, so that what was filled in never fills
        rows[np.ix_(items, where)] = found


def _together(rows: Rows, has: Present, threads: Workers) -> Floats:
    """Per view how much those that have it lie together, and so those that lack it: 0 by chance, 1 where wholly.

    The share of neighbours that are like an item in having the view or not, on a scale where it is 0 for items picked
    blindly; 0 also where it is not clearly more. ``has`` (n, views).
    """
    shares = has.mean(axis=0)
    blindly = shares**2 + (1.0 - shares) ** 2
    asked = np.arange(0, rows.shape[0], -(-rows.shape[0] // _WITNESSES))
    near = nearest_among(rows[asked], rows, min(_THEIRS + 1, rows.shape[0]), threads)
    n_others = max(1, near.shape[1] - 1)  # one of them is the item itself
    alike = ((has[near] == has[asked][:, None]).sum(axis=1) - 1) / n_others
    found = np.zeros(shares.size)
    for v in np.flatnonzero(blindly < 1):
        above = (alike[:, v] - blindly[v]) / (1.0 - blindly[v])
        found[v] = above.mean() if clearly_agrees(above) else 0.0
    return found


def _said(rows: Rows, speaks: Present, asked: NDArray[np.int32], share: float) -> Rows:
    """For each line of ``asked``, the mean of the rows that speak, shorter where fewer speak than by their share."""
    n_items, count = asked.shape
    voice = speaks[asked].astype(np.float32)
    number = voice.sum(axis=1)
    voice *= (np.minimum(1.0, number / (share * count)) ** 2 / np.maximum(number, 1.0))[:, None]
    places = np.arange(0, asked.size + 1, count)
    return np.asarray(sparse.csr_array((voice.ravel(), asked.ravel(), places), (n_items, rows.shape[0])) @ rows)
