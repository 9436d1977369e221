"""A network of tags laid out to be drawn: the strongest links between the tags that have most of them."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["drawn_network"]

_MOST, _LINKS, _ROUNDS = 45, 3, 300


def drawn_network(weights: Any, names: list[str], counts: Any) -> dict[str, Any]:
    """Nodes with a place in the unit square, and links with their strength.

    The tags on most items are drawn, each with its three strongest links among these; tags that have none are left
    out. Places come from springs along the links and a push between all pairs, from the same start every time.
    """
    chosen = np.argsort(-np.asarray(counts), kind="stable")[:_MOST]
    dense = weights[chosen][:, chosen].toarray()
    strongest = np.argsort(-dense, axis=1, kind="stable")[:, :_LINKS]
    kept = np.zeros_like(dense)
    rows = np.arange(dense.shape[0])[:, None]
    kept[rows, strongest] = dense[rows, strongest]
    kept = np.maximum(kept, kept.T)
    linked = np.flatnonzero(kept.sum(axis=1) > 0)
    kept = kept[np.ix_(linked, linked)]
    places = _laid_out(kept)
    links = [[int(i), int(j), round(float(kept[i, j]), 4)] for i, j in zip(*np.nonzero(np.triu(kept)), strict=True)]
    nodes = [
        {"name": names[chosen[i]], "items": int(counts[chosen[i]]), "x": round(float(x), 4), "y": round(float(y), 4)}
        for i, (x, y) in zip(linked, places, strict=True)
    ]
    return {"nodes": nodes, "links": links}


def _laid_out(weights: Any) -> Any:
    """Force-directed places in the unit square (Fruchterman and Reingold)."""
    n = weights.shape[0]
    if n == 0:
        return np.zeros((0, 2))
    angle = 2 * np.pi * np.arange(n) / n
    places = np.c_[np.cos(angle), np.sin(angle)]
    ideal = np.sqrt(4.0 / n)
    pull = weights / max(float(weights.max()), 1e-12)
    for turn in range(_ROUNDS):
        apart = places[:, None] - places
        far = np.maximum(np.linalg.norm(apart, axis=2), 1e-3)
        force = (apart * (ideal**2 / far**2 - (0.3 + pull) * (pull > 0) * far / ideal)[:, :, None]).sum(axis=1)
        force -= 0.6 * places  # pieces that no link holds would drift away
        length = np.maximum(np.linalg.norm(force, axis=1, keepdims=True), 1e-12)
        places += force / length * np.minimum(length, 0.15 * (1 - turn / _ROUNDS))
    low, high = places.min(axis=0), places.max(axis=0)
    return (places - low) / np.maximum(high - low, 1e-12)
