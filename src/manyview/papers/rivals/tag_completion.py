"""Tag completion to compare with: plain neighbours, matrix recovery, sparse reconstruction and a scikit-learn forest.

Each is fitted with ``fit(X, tags)`` and scores the items of its fit with ``tag_scores()``; they exist for comparison,
hold items x tags in memory and know nothing of unseen items.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import is_sparse
from ...blocks import workers
from ...completion.items import Items, fit_items
from ...completion.neighbours.nearest import Nearest
from ...data.checks import as_generator
from ...data.tags import as_tag_table
from ...data.views import Views
from ...errors import ParameterError
from ...types import Singles

__all__ = ["MatrixRecovery", "MultiOutputForest", "PlainNeighbours", "SparseReconstruction"]

_UNKNOWN_WEIGHT = 0.1


class MatrixRecovery:
    """Tags as a matrix of low rank that varies little between similar items, in the manner of TCMR.

    Minimises ||W o (T - Y)||^2 / 2 + smoothness tr(T' L T) / 2 + penalty ||T||_* over T >= 0 by accelerated proximal
    gradient steps, L being the normalised Laplacian of the neighbour graph and W^2 1 for known tags and 0.1 for the
    rest. The published method has a noise model of its own and leaves its settings open. ``penalty`` is a share of the
    largest singular value of Y; ``smoothness`` is chosen from 0.03, 0.1 and 0.3 by hiding a tenth of the known tags.

    Z. Feng, S. Feng, R. Jin, A. Jain, "Image tag completion by noisy matrix recovery", ECCV 2014.
    """

    def __init__(self, penalty: float = 0.05, max_iter: int = 30, random_state: Any = 0) -> None:
        self.penalty = penalty
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, tags: Any) -> MatrixRecovery:
        """Recover the matrix."""
        from scipy.sparse import diags_array

        items, known = _items_and_tags(X, tags, 30, self.random_state)
        nearest = items.mixed(items.neighbours, items.n_items)
        graph = (nearest + nearest.T) / 2
        degree = np.asarray(graph.sum(axis=1)).ravel()
        root = diags_array(1.0 / np.sqrt(np.where(degree > 0, degree, 1.0)))
        graph, linked = (root @ graph @ root).tocsr().astype(np.float32), (degree > 0).astype(np.float32)
        full = known.toarray().astype(np.float32)
        gone = (as_generator(self.random_state).random(full.shape) < 0.1) & (full > 0)
        errors = {}
        for smoothness in (0.03, 0.1, 0.3):
            found = self._recover(np.where(gone, 0.0, full).astype(np.float32), graph, linked, smoothness)
            errors[smoothness] = -_mean_rank_quality(found, gone, (full > 0) & ~gone)
        self.smoothness_ = min(errors, key=lambda value: errors[value])
        self.scores_ = self._recover(full, graph, linked, self.smoothness_)
        return self

    def _recover(self, known: Singles, graph: Any, linked: Singles, smoothness: float) -> Singles:
        step = np.float32(1.0 / (1.0 + 2.0 * smoothness))
        threshold = self.penalty * float(step) * np.sqrt(np.linalg.eigvalsh(known.T @ known)[-1])
        weight = np.where(known > 0, np.float32(1.0), np.float32(_UNKNOWN_WEIGHT))
        before, ahead, pace = known, known, 1.0
        for _ in range(self.max_iter):
            slope = weight * (ahead - known) + np.float32(smoothness) * (linked[:, None] * ahead - graph @ ahead)
            now = np.maximum(_shrunk(ahead - step * slope, threshold), 0.0)
            next_pace = (1.0 + np.sqrt(1.0 + 4.0 * pace**2)) / 2.0
            ahead = now + np.float32((pace - 1.0) / next_pace) * (now - before)
            before, pace = now, next_pace
        return before

    def tag_scores(self) -> Singles:
        """items x tags."""
        return self.scores_


def _shrunk(matrix: Singles, threshold: float) -> Singles:
    """Singular values lowered by the threshold, those below it dropped."""
    values, vectors = np.linalg.eigh((matrix.T @ matrix).astype(np.float64))
    kept = np.maximum(0.0, 1.0 - threshold / np.sqrt(np.maximum(values, 1e-12)))
    return matrix @ ((vectors * kept) @ vectors.T).astype(np.float32)


def _mean_rank_quality(scores: Singles, hidden: NDArray[np.bool_], known: NDArray[np.bool_]) -> float:
    """Mean reciprocal rank of hidden tags among the unknown ones of their items."""
    rows = np.flatnonzero(hidden.any(axis=1))
    if not rows.size:
        return 0.0
    open_ = np.where(known[rows], -np.inf, scores[rows])
    rank = (-open_).argsort(axis=1, kind="stable").argsort(axis=1)
    return float((1.0 / (1.0 + rank[hidden[rows]])).mean())


class SparseReconstruction:
    """Items rebuilt from few similar items and tags rebuilt from few other tags, in the manner of LSR.

    Each item's features are a sparse non-negative mixture of its 30 nearest items, each tag's column one of the other
    columns (both by the lasso); what the two say of a tag is scaled to the same mean and added. The published method
    also rebuilds items from their tags, and leaves its settings open.

    Z. Lin, G. Ding, M. Hu, J. Wang, X. Ye, "Image tag completion via image-specific and tag-specific linear sparse
    reconstructions", CVPR 2013.
    """

    def __init__(self, item_penalty: float = 0.05, tag_penalty: float = 0.02, random_state: Any = 0) -> None:
        self.item_penalty = item_penalty
        self.tag_penalty = tag_penalty
        self.random_state = random_state

    def fit(self, X: Any, tags: Any) -> SparseReconstruction:
        """Solve a small lasso for each item and view, and one for each tag."""
        items, known = _items_and_tags(X, tags, 30, self.random_state)
        rebuilt = [np.zeros(known.shape, dtype=np.float32)]
        for space, near in zip(items.spaces, items.neighbours, strict=True):
            rebuilt.append(_rebuild_items(space.units, near, known, self.item_penalty))
        parts = [np.sum(rebuilt, axis=0), _rebuild_tags(known, self.tag_penalty)]
        self.scores_: Singles = sum(part / np.float32(max(float(part.mean()), 1e-12)) for part in parts)
        return self

    def tag_scores(self) -> Singles:
        """items x tags."""
        return self.scores_


def _nonnegative_lasso(gram: NDArray[Any], target: NDArray[Any], penalty: float, n_rounds: int = 50) -> NDArray[Any]:
    """Coordinate descent for min w'Gw / 2 - t'w + penalty sum(w), w >= 0; targets are columns."""
    weights = np.zeros_like(target)
    scale = np.maximum(np.diagonal(gram), 1e-12)
    for _ in range(n_rounds):
        for k in range(gram.shape[0]):
            slope = target[k] - gram[k] @ weights + scale[k] * weights[k]
            weights[k] = np.maximum(slope - penalty, 0.0) / scale[k]
    return weights


def _rebuild_items(units: Any, near: Nearest, known: Any, penalty: float) -> Singles:
    found = np.zeros(known.shape, dtype=np.float32)
    for item in range(known.shape[0]):
        mates = near.items[item][near.cosines[item] > 0]
        if not mates.size:
            continue
        rows = units[mates]
        gram = rows @ rows.T
        gram = gram.toarray() if is_sparse(gram) else gram
        target = near.cosines[item][near.cosines[item] > 0][:, None].astype(np.float64)
        weights = _nonnegative_lasso(gram.astype(np.float64), target, penalty, 15)
        found[item] = weights.ravel() @ known[mates]
    return found


def _rebuild_tags(known: Any, penalty: float) -> Singles:
    """Every column by all others; the penalty is relative to the tag's own frequency."""
    gram = (known.T @ known).toarray().astype(np.float64)
    size = np.sqrt(np.maximum(np.diagonal(gram), 1.0))
    gram /= size[:, None] * size
    weights = np.zeros_like(gram)
    own = ~np.eye(gram.shape[0], dtype=bool)
    for _ in range(30):
        for k in range(gram.shape[0]):
            slope = gram[k] - gram[k] @ weights + weights[k]
            weights[k] = np.maximum(slope - penalty, 0.0) * own[k]
    return np.asarray(known @ (weights * size / size[:, None]), dtype=np.float32)


class MultiOutputForest:
    """scikit-learn's random forest with one output per tag, on all views side by side; scores are out of bag.

    Sparse views become dense, missing rows 0. Memory is that of scikit-learn: a number per node, tag and tree.
    """

    def __init__(self, n_estimators: int = 30, random_state: Any = 0) -> None:
        self.n_estimators = n_estimators
        self.random_state = random_state

    def fit(self, X: Any, tags: Any) -> MultiOutputForest:
        """Grow the forest."""
        from sklearn.ensemble import RandomForestRegressor

        views = X if isinstance(X, Views) else Views(X)
        joined = views.joined(0.0)
        table = np.asarray(joined.toarray() if is_sparse(joined) else joined, dtype=np.float32)
        known = as_tag_table(tags, views.n_items).assume_unknown_is_no()
        forest = RandomForestRegressor(
            self.n_estimators,
            min_samples_leaf=3,
            max_features="sqrt",
            oob_score=True,
            random_state=self.random_state,
        )
        self.scores_ = forest.fit(table, known).oob_prediction_.astype(np.float32).reshape(known.shape)
        return self

    def tag_scores(self) -> Singles:
        """items x tags."""
        return self.scores_


class PlainNeighbours:
    """The share of the 20 most similar items that carries a tag, averaged over the views; all 20 count the same."""

    def __init__(self, n_neighbors: int = 20, random_state: Any = 0) -> None:
        self.n_neighbors = n_neighbors
        self.random_state = random_state

    def fit(self, X: Any, tags: Any) -> PlainNeighbours:
        """Find the neighbours."""
        items, known = _items_and_tags(X, tags, self.n_neighbors, self.random_state)
        equal = [Nearest(near.items, (near.cosines > 0).astype(np.float32)) for near in items.neighbours]
        self.scores_ = (items.mixed(equal, items.n_items) @ known).toarray().astype(np.float32)
        return self

    def tag_scores(self) -> Singles:
        """items x tags."""
        return self.scores_


def _items_and_tags(X: Any, tags: Any, n_neighbors: int, random_state: Any) -> tuple[Items, Any]:
    """The items with their neighbours, and the tags that are known."""
    if X is None:
        raise ParameterError("this baseline looks at similar items and needs at least one view; X is None.")
    views = X if isinstance(X, Views) else Views(X)
    known = as_tag_table(tags, views.n_items).yes
    with workers(None) as threads:
        return fit_items(views, views.n_items, 0, n_neighbors, as_generator(random_state), threads, _nothing), known


def _nothing(text: str) -> None:
    """Say nothing."""
