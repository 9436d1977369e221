"""Trees of clusters: which merge first, by how much the inertia rises, weighted by what each holds."""

from __future__ import annotations

import numpy as np

from ...types import Floats, Places

__all__ = ["cut_tree", "merge_points", "ward_tree"]


def ward_tree(points: Floats, mass: Floats) -> tuple[Places, Floats]:
    """Children (m - 1, 2) and heights (m - 1,) of the tree over weighted points, in units of the inertia.

    Nodes below m are the points, node m + t is made by merge t. Heights never fall.
    """
    from . import _accelerated_tree_kernels as kernels

    n_points = mass.size
    pairs, heights = np.empty((n_points - 1, 2), dtype=np.intp), np.empty(n_points - 1)
    unit = np.exp2(np.clip(np.frexp(mass.max(initial=0.0))[1], -1000, 1000))  # so that products stay in range
    kernels.merge_chain(_merge_costs(points, mass / unit), mass / unit, pairs, heights)
    heights *= unit
    order = np.argsort(heights, kind="stable")
    node = np.arange(n_points)  # of the tree so far, by the lowest point under it
    keeper = np.arange(n_points)
    children = np.empty_like(pairs)
    for step, (i, j) in enumerate(pairs[order].tolist()):
        i, j = sorted((_root(keeper, i), _root(keeper, j)))
        children[step] = sorted((node[i], node[j]))
        keeper[j] = i
        node[i] = n_points + step
    return children, np.maximum.accumulate(heights[order]) if n_points > 1 else heights


def _root(keeper: Places, i: int) -> int:
    while keeper[i] != i:
        keeper[i] = keeper[keeper[i]]
        i = int(keeper[i])
    return i


def _merge_costs(points: Floats, mass: Floats) -> Floats:
    from scipy.spatial.distance import cdist

    total = mass[:, None] + mass
    share = np.divide(np.outer(mass, mass), total, out=np.zeros_like(total), where=total > 0)
    return np.asarray(share * cdist(points, points, "sqeuclidean"))


def cut_tree(children: Places, n_clusters: int) -> Places:
    """Which of ``n_clusters`` branches each leaf belongs to; branches are numbered by their lowest leaf."""
    n_leaves = children.shape[0] + 1
    branch = np.arange(2 * n_leaves - 1)
    for step in reversed(range(n_leaves - n_clusters)):  # from the top, so that a branch hands its number down
        branch[children[step]] = branch[n_leaves + step]
    return np.unique(_by_first(branch[:n_leaves]), return_inverse=True)[1].astype(np.intp)


def _by_first(values: Places) -> Places:
    """Each value replaced by the first place where it stands."""
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    return np.asarray(first[inverse], dtype=np.intp)


def merge_points(points: Floats, mass: Floats, n_clusters: int) -> Floats:
    """Weighted points merged down to ``n_clusters``, each the mean of what it holds."""
    children, _ = ward_tree(points, mass)
    branch = cut_tree(children, n_clusters)
    total = np.bincount(branch, mass, n_clusters)
    sums = np.zeros((n_clusters, points.shape[1]))
    np.add.at(sums, branch, mass[:, None] * points)
    return sums / total[:, None]
