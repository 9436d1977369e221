"""A clustering forest that learns from looks and tags at once, in the manner of CC-Forest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...types import Floats, Mask, Singles

__all__ = ["best_split", "joint_gain", "joint_graph", "joint_leaves"]

_THRESHOLDS = 15  # tried of every feature, at even shares of the items
_FEWEST = 3  # items in a leaf


def joint_gain(left: Mask, places: Floats, tags: Singles, at_first: float) -> Floats:
    """What each split gains: half for looks, half for tags, each as a share of what there was to gain.

    Looks gain what telling the items of the node from as many made-up ones does, spread evenly over the range of the
    feature; tags gain the mean of all. Uncertainty is Gini's throughout.

    left : (n, m), who goes left; places : (m,), of the threshold in the range of its feature, 0 to 1
    tags : (n, t), 0 or 1; at_first : the uncertainty of the tags among all items, summed; 0 where none varies
    """
    n = left.shape[0]
    n_left = left.sum(axis=0, dtype=np.float64)
    looks = np.full(n_left.size, 0.5)
    with_left = tags.T @ left.astype(np.float32)  # (t, m)
    words = np.full(n_left.size, _spread(tags.sum(axis=0, dtype=np.float64)[:, None], np.array([float(n)]))[0])
    for real, made_up, with_tag in (
        (n_left, n * places, with_left),
        (n - n_left, n * (1 - places), tags.sum(axis=0)[:, None] - with_left),
    ):
        both = np.maximum(real + made_up, 1e-12)
        looks -= both / (2 * n) * 2 * (real / both) * (made_up / both)
        words -= real / n * _spread(with_tag, real)
    return 0.5 * looks / 0.5 + (0.5 * words / at_first if at_first > 0 else 0.0)


def _spread(counts: Any, n: Floats) -> Floats:
    """Gini's uncertainty of tags that so many of n items have, summed over the tags; counts: (t, m), n: (m,)."""
    shares = np.asarray(counts, dtype=np.float64) / np.maximum(n, 1.0)
    return np.asarray((2 * shares * (1 - shares)).sum(axis=0))


def best_split(rows: Singles, tags: Singles, at_first: float) -> tuple[int, Mask] | None:
    """The feature and who goes left of its threshold, by the largest gain; None where every feature is constant."""
    ordered = np.sort(rows, axis=0)
    n = rows.shape[0]
    cuts = np.unique(np.linspace(_FEWEST, n - _FEWEST, _THRESHOLDS).round().astype(int))
    thresholds = 0.5 * (ordered[cuts - 1] + ordered[cuts])  # (c, f)
    span = ordered[-1] - ordered[0]
    feature = np.broadcast_to(np.arange(rows.shape[1]), thresholds.shape).ravel()
    thresholds = thresholds.ravel()
    left = rows[:, feature] <= thresholds
    n_left = left.sum(axis=0)
    useful = np.flatnonzero((span[feature] > 0) & (n_left >= _FEWEST) & (n - n_left >= _FEWEST))
    if not useful.size:
        return None
    feature, left = feature[useful], left[:, useful]
    places = ((thresholds[useful] - ordered[0, feature]) / span[feature]).astype(np.float64)
    gain = joint_gain(left, places, tags[:, tags.any(axis=0)], at_first)
    chosen = int(np.argmax(gain))
    return (int(feature[chosen]), left[:, chosen]) if gain[chosen] > 1e-9 else None


def joint_leaves(looks: Singles, tags: Any, n_trees: int, seed: int) -> NDArray[np.int32]:
    """(n, n_trees): the leaf of every item in every tree, numbered from 0 on in each."""
    rng = np.random.default_rng(seed)
    n, d = looks.shape
    words = np.asarray(tags.toarray(), dtype=np.float32)
    at_first = float(_spread(words.sum(axis=0, dtype=np.float64)[:, None], np.array([float(n)]))[0])
    leaves = np.zeros((n, n_trees), dtype=np.int32)
    for tree in range(n_trees):
        open_nodes, n_leaves = [np.arange(n)], 0
        while open_nodes:
            items = open_nodes.pop()
            tried = rng.choice(d, max(1, round(d**0.5)), replace=False)
            found = None
            if items.size >= 2 * _FEWEST:
                found = best_split(looks[np.ix_(items, tried)], words[items], at_first)
            if found is None:
                leaves[items, tree] = n_leaves
                n_leaves += 1
            else:
                open_nodes += [items[found[1]], items[~found[1]]]
    return leaves


def joint_graph(looks: Singles, tags: Any, n_trees: int, seed: int) -> Any:
    """The share of trees in which two items are in one leaf, CSR, nobody his own neighbour.

    Every tree sees all items and, at a node, the root of the number of features. A split is worth what it gains of the
    uncertainty of looks (real items told from made-up ones) and of tags, each divided by what there was at the root,
    both alike: the joint gain of the paper, whose weights are equal. What it does about items whose tags are missing is
    not done here: who has no tags has none.

    X. Zhu, C. C. Loy, S. Gong, "Video synopsis by heterogeneous multi-source correlation", ICCV 2013.
    """
    from scipy.sparse import csr_matrix

    leaves = joint_leaves(looks, tags, n_trees, seed)
    n = leaves.shape[0]
    starts = np.concatenate([[0], np.cumsum(leaves.max(axis=0) + 1)])
    columns = (leaves + starts[:-1]).ravel()
    member = csr_matrix(
        (np.ones(columns.size, dtype=np.float32), columns, np.arange(0, columns.size + 1, n_trees)),
        shape=(n, int(starts[-1])),
    )
    graph = csr_matrix(member @ member.T) / n_trees
    graph.setdiag(0)
    graph.eliminate_zeros()
    return csr_matrix(graph)
