"""From scaled views to clusters, and from a new item's views to its cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...blocks import Workers
from ...data.nearest import nearest_among
from ...data.views import Views
from ...engines.base import Engine
from ...steps import step
from ...types import Floats, Mask, Places
from ..neighbours import EXACT, Cells, learn_cells, nearest_in_cells, nearest_neighbours
from ..spectral import spectral_rows
from ._association import Votes
from ._candidates import best_partition
from ._graph import Memberships, NeighbourGraph, Space, few_neighbours
from ._members import Given, labels_of_new, own_members
from ._points import Points
from .levels import grow_levels, leaves_of_new

__all__ = ["Outcome", "Placed", "place_new", "vote"]

_ANCHORS = 100_000  # items that new ones are compared with
_ROUNDING = 1e-6  # of a row's length
_NEXT = 0.1  # of the distance to the second nearest item


@dataclass(frozen=True)
class Outcome:
    """Clusters of the items that voted, and what stands behind them."""

    labels: Places
    member_labels: NDArray[Any]
    member_sizes: Places
    eigenvalues: Floats
    association: float  # per cluster: at most 1
    candidate: str
    modularity: float
    shares: dict[str | None, float]
    state: dict[str, Any]  # what new items are placed by
    levels: dict[str, Any]  # the clusters above and below


def vote(
    points: Points,
    kinds: Places,
    given: Sequence[Given],
    *,
    n_clusters: int,
    n_members: int,
    n_neighbours: int,
    alpha: float,
    start: Places | None,
    are_landmarks: bool,
    seed: int,
    engine: Engine,
) -> Outcome:
    """Members and neighbours of every space, and of many partitions the one that fits their votes best.

    ``are_landmarks``: many others will be placed beside these, so that all are kept, and the cells they are in.
    """
    spaces, n_items, threads = points.spaces(at_least=2), points.rows.shape[0], engine.threads
    weights = points.shares(spaces)
    says = dict(zip(points.names, points.says.tolist(), strict=True))
    own = own_members(spaces, n_items, n_clusters, n_members, seed, engine)
    columns = [member.labels for member in own] + [member.labels for member in given]
    sizes = np.array([len(member.centres) for member in own] + [member.classes.size for member in given])
    small = np.int16 if sizes.max() <= np.iinfo(np.int16).max else np.int32
    labels = np.column_stack(columns).astype(small)
    own_weights = [1.0 if member.space is None else says[member.space] for member in own]
    member_weights = np.array(own_weights + [member.weight for member in given])
    memberships = Memberships(labels, sizes, member_weights, threads)
    with step("neighbours", of=sum(space.rows.size for space in spaces)) as tick:
        near: list[NDArray[np.int32]] = []
        cells: dict[str | None, Cells] = {}
        for done, space in enumerate(spaces, 1):
            if len(spaces) == 2 and near and space.items.size == n_items:
                near.append(near[0])  # a single view is everything
                cells |= {space.name: cells[None]} if cells else {}
                continue
            count = min(few_neighbours(n_neighbours, space.items.size), space.items.size - 1)
            if space.items.size > EXACT:
                cells[space.name] = learn_cells(space.rows, threads, seed, engine)
            near.append(nearest_neighbours(space.rows, count, threads, seed=seed, cells=cells.get(space.name)))
            if space.name is None:
                for items in points.by_kind:
                    few = min(few_neighbours(count, items.size), items.size - 1)
                    if 0 < few < count:
                        near[0][items] = _in_turn(items[nearest_neighbours(points.rows[items], few, threads)], count)
            tick(sum(space.rows.size for space in spaces[:done]))
        graph = NeighbourGraph(n_items, spaces, near, weights, threads)
    votes = Votes(alpha, graph, memberships, threads)
    alone = len(points.heard) < 2
    found = best_partition(votes, spaces, kinds, n_clusters, previous=start, alone=alone, seed=seed)
    numbers = _by_size(found.labels)
    n_found = int(numbers.max()) + 1
    with step("levels"):
        levels = grow_levels(graph, points.rows, numbers, kinds)
    anchors = np.arange(n_items)
    if n_items > _ANCHORS and not are_landmarks:
        anchors = np.sort(np.random.default_rng(seed).choice(n_items, _ANCHORS, replace=False))
    table = votes.table(numbers, n_found)
    state = {
        **points.kept(anchors),
        "labels": numbers[anchors],
        "leaves": levels["leaves"][anchors],
        "factor": graph.item_factor[anchors],
        "table": table,
        "inside": votes.inside(numbers, n_found, table),
        "sizes": np.bincount(numbers),
        "offsets": memberships.offsets,
        "weights": member_weights,
        "spaces": [member.space for member in own],
        "centres": [member.centres for member in own],
        "models": [member.model for member in given],
        "classes": [member.classes for member in given],
        "n_neighbours": n_neighbours,
        "alpha": alpha,
    }
    if are_landmarks:
        state["cells"] = _keep_cells(cells)
    shares = {space.name: share for space, share in zip(spaces, graph.shares(numbers), strict=True)}
    return Outcome(
        labels=numbers,
        member_labels=labels,
        member_sizes=sizes,
        eigenvalues=found.values,
        association=votes.association(numbers, n_found) / n_found,
        candidate=found.name,
        modularity=graph.modularity(numbers),
        shares=shares,
        state=state,
        levels=levels,
    )


def _in_turn(near: NDArray[np.int32], count: int) -> NDArray[np.int32]:
    """So many neighbours of items that have fewer: these again and again."""
    return near[:, np.arange(count) % near.shape[1]]


def _by_size(labels: Places) -> Places:
    """Labels renumbered so that the largest cluster is 0 (ties: whose first item comes first), and so on."""
    _, first, numbers, sizes = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    return np.argsort(np.lexsort((first, -sizes)))[numbers]


class Placed(NamedTuple):
    """Where new items go."""

    labels: Places
    leaves: NDArray[np.int32]
    members: NDArray[np.int32]
    """(n, members): the cluster in each member's partition, -1 where it has no opinion."""


def _keep_cells(cells: dict[str | None, Cells]) -> dict[str, Any]:
    """Cells of the fitted items as plain arrays, which are saved with a model."""
    return {
        "spaces": list(cells),
        "items": [np.concatenate(one.items) for one in cells.values()],
        "sizes": [np.array([cell.size for cell in one.items], dtype=np.int32) for one in cells.values()],
        "centres": [one.centres for one in cells.values()],
        "near": [one.near for one in cells.values()],
    }


def _cells(state: dict[str, Any]) -> dict[str | None, Cells]:
    held = state.get("cells", {"spaces": []})
    return {
        name: Cells(np.split(held["items"][s], np.cumsum(held["sizes"][s])[:-1]), held["centres"][s], held["near"][s])
        for s, name in enumerate(held["spaces"])
    }


def place_new(
    state: dict[str, Any],
    levels: dict[str, Any],
    points: Points,
    views: Views,
    threads: Workers,
    given: Sequence[NDArray[np.int32]] | None = None,
) -> Placed:
    """Clusters of new items, by the votes they would have had: neighbours among the fitted items, nearest centres.

    Each goes to the cluster that gains most by it, as in the last step of ``fit``. Its neighbours are taken to name it
    back, as they do on average. One that equals a fitted item goes with that. Models of the first edition hold
    eigenvectors instead of clusters: there the votes t give the row t U (Nystrom), and the nearest centre decides.
    ``given`` are the new items' labels by the members that came from elsewhere; None: those are asked.
    """
    fitted = replace(points, rows=state["rows"], present=state["present"])
    if "table" not in state:  # so few kinds of items that the nearest one decides
        labels = state["labels"][nearest_among(points.rows, fitted.rows, 1, threads)[:, 0]]
        return Placed(labels, labels.astype(np.int32), np.empty((labels.size, 0), dtype=np.int32))
    spaces = {space.name: space for space in points.spaces()}
    known = {space.name: space for space in fitted.spaces()}
    shares = dict(zip(known, fitted.shares(list(known.values())), strict=True))
    cells = _cells(state)
    n_items, n_vectors = points.rows.shape[0], state["table"].shape[1]
    from_graph, degrees = np.zeros((n_items, n_vectors)), np.zeros(n_items)
    near_all = np.empty((0, 0), dtype=np.int32)
    for name, space in spaces.items():
        if name in known:
            count = _count(state, known[name].items.size)
            if name in cells:
                near = nearest_in_cells(space.rows, known[name].rows, cells[name], count, threads)
            else:
                near = nearest_among(space.rows, known[name].rows, count, threads)
            near = known[name].items[near]
            for mine, theirs in zip(points.by_kind, fitted.by_kind, strict=True) if name is None else ():
                if 0 < (few := _count(state, theirs.size)) < count:
                    own = nearest_among(points.rows[mine], fitted.rows[theirs], few, threads)
                    near[mine] = _in_turn(theirs[own], count)
            near_all = near if name is None else near_all
            from_graph[space.items] += shares[name] * _received(state, near, n_vectors)
            degrees[space.items] += shares[name]
    columns = _member_labels(state, spaces, views, n_items, threads, given)
    from_members, voices = np.zeros((n_items, n_vectors)), np.zeros(n_items)
    for j, labels in enumerate(columns):
        placed = labels >= 0
        column = state["offsets"][j] + labels[placed]
        from_members[placed] += state["weights"][j] * state["table"][column]
        voices[placed] += state["weights"][j]
    alpha = state["alpha"]
    rows = alpha * from_graph / np.sqrt(np.maximum(degrees, 1e-300))[:, None]
    rows += (1.0 - alpha) * from_members / np.sqrt(np.maximum(voices, 1e-300))[:, None]
    members = np.column_stack([np.empty((n_items, 0), dtype=np.int32), *columns])
    if "vectors" in state:
        unit = spectral_rows(np.ones(n_vectors), rows).astype(np.float32)
        found = nearest_among(unit, state["row_centres"], 1, threads)[:, 0].astype(np.intp)
        return Placed(found, found.astype(np.int32), members)
    sizes = state["sizes"]
    found = np.argmax(2.0 * rows / sizes - state["inside"] / sizes**2, axis=1)
    leaves = leaves_of_new(levels, state, found, near_all)
    first, same = near_all[:, 0], _are_fitted(points, fitted, near_all)
    found[same], leaves[same] = state["labels"][first[same]], state["leaves"][first[same]]
    return Placed(found, leaves, members)


def _count(state: dict[str, Any], n_items: int) -> int:
    """How many neighbours new items have among so many; models of the first editions took all they could have."""
    asked = state["n_neighbours"]
    return min(few_neighbours(asked, n_items) if "view_kinds" in state else asked, n_items)


def _are_fitted(points: Points, fitted: Points, near: NDArray[np.int32]) -> Mask:
    """Which new items are the fitted one that is nearest: not to be told from it, or with the next one ten times as
    far. New items are placed between the knots of a view's distribution, so equal ones are near, not the same."""
    here = np.repeat(points.present, np.diff(points.edges), axis=1)
    mine, theirs = points.rows[:, : here.shape[1]], fitted.rows[:, : here.shape[1]]

    def apart(which: NDArray[np.int32]) -> Floats:
        return np.sqrt((np.where(here, mine - theirs[which], 0.0) ** 2).sum(axis=1))

    distance, length = apart(near[:, 0]), np.sqrt((mine**2).sum(axis=1))
    same = distance <= _ROUNDING * length
    if near.shape[1] > 1:
        same |= distance <= _NEXT * apart(near[:, 1])
    return np.asarray(same & (points.present == fitted.present[near[:, 0]]).all(axis=1))


def _received(state: dict[str, Any], near: NDArray[np.int32], n_vectors: int) -> Floats:
    """The mean of what the neighbours have to give to each cluster, or along each eigenvector."""
    if "vectors" in state:
        return np.asarray(state["vectors"][near].mean(axis=1))
    cells = np.arange(near.shape[0])[:, None] * n_vectors + state["labels"][near]
    total = np.bincount(cells.ravel(), weights=state["factor"][near].ravel(), minlength=near.shape[0] * n_vectors)
    return total.reshape(-1, n_vectors) / near.shape[1]


def _member_labels(
    state: dict[str, Any],
    spaces: dict[str | None, Space],
    views: Views,
    n_items: int,
    threads: Workers,
    given: Sequence[NDArray[np.int32]] | None,
) -> list[NDArray[np.int32]]:
    """The columns of every member that new items belong to, -1 where it has no opinion."""
    result = []
    for name, centres in zip(state["spaces"], state["centres"], strict=True):
        labels = np.full(n_items, -1, dtype=np.int32)
        if name in spaces:
            labels[spaces[name].items] = nearest_among(spaces[name].rows, centres, 1, threads)[:, 0]
        result.append(labels)
    if given is not None:
        return result + list(given)
    for model, classes in zip(state["models"], state["classes"], strict=True):
        result.append(np.full(n_items, -1, np.int32) if model is None else labels_of_new(model, classes, views))
    return result
