"""Ridge regression of every tag on all other tags and all views at once, leaving each item out exactly.

The joint ridge (J) has the tags among its inputs, the view ridge (V) has not; that is their only difference. With A
the centred inputs, G = A'A + diag(penalties) and P = G^-1, the fit of tag i without its own column has the residual
e = (A P)_i / P_ii, and without item s it becomes y - e / (1 - h_s + P_ii e^2), h_s being the item's leverage. Targets
that are no inputs have the same without the last term.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..blocks import Workers, row_blocks
from ..types import Floats, Ints, Singles
from .batch import Batch

__all__ = ["MOST_INPUTS", "SMALLEST_DENOMINATOR", "Fit", "Moments", "Ridge", "fit_ridge", "gather_moments"]


MOST_INPUTS = 4_000
"""Only this many tags, the most frequent, are inputs; the others are targets with few coefficients each."""
_KEPT_PER_RARE_TAG = 200
SMALLEST_DENOMINATOR = 0.02


@dataclass(frozen=True)
class Moments:
    """Sums over all items: what a ridge needs to know of the data. ``tags_tags`` is sparse, the rest float64."""

    n_items: int
    tag_sums: Floats
    feature_sums: Floats
    tags_tags: Any
    tags_features: Floats
    features_features: Floats

    def without_features(self) -> Moments:
        """The same collection, had it no views."""
        none = np.zeros((0, 0))
        return replace(self, feature_sums=np.zeros(0), tags_features=self.tags_features[:, :0], features_features=none)


@dataclass(frozen=True)
class Ridge:
    """Coefficients of every tag.

    ``frequent`` tags have dense coefficients, from the tags among ``inputs`` (``tag_coef``) and from the features
    (``view_coef``); ``rare`` ones have sparse coefficients from both (``rare_coef``). ``own_precision`` is P_ii of
    the inputs, 0 for targets that are no inputs. ``leverage`` is that of each item of the fit, where it was asked for.
    """

    tag_mean: Floats
    feature_mean: Floats
    inputs: Ints
    frequent: Ints
    rare: Ints
    tag_coef: Singles
    view_coef: Singles
    rare_coef: Any
    own_precision: Floats
    leverage: Floats

    def fitted(self, batch: Batch) -> Singles:
        """The prediction for each tag from the other tags and the views; the item itself may be in the fit."""
        out = np.zeros((batch.tags.shape[0], self.tag_mean.size), dtype=np.float32)
        given = batch.tags[:, self.inputs]
        out[:, self.frequent] = self._frequent(given, batch.features)
        if self.rare.size:
            n_inputs = self.inputs.size
            part = (self.rare_coef[n_inputs:].T @ batch.features.T).T + given @ self.rare_coef[:n_inputs]
            centre = self.rare_coef.T @ np.concatenate([self.tag_mean[self.inputs], self.feature_mean])
            out[:, self.rare] = np.asarray(part) + (self.tag_mean[self.rare] - centre).astype(np.float32)
        return out

    def _frequent(self, given: Any, features: Singles) -> Singles:
        intercept = self.tag_mean[self.frequent] - self.tag_mean[self.inputs] @ self.tag_coef
        intercept -= self.feature_mean @ self.view_coef
        return given @ self.tag_coef + features @ self.view_coef + intercept.astype(np.float32)

    def scores(self, batch: Batch) -> Singles:
        """The prediction for each tag; for items of the fit, that of a fit without the item."""
        fit = self.fitted(batch)
        if batch.rows is None:
            return fit
        known = batch.tags.toarray()
        residual = known - fit
        return known - residual / self.denominators(batch, residual)

    def denominators(self, batch: Batch, residual: Singles) -> Singles:
        """What a residual of the fit is divided by to be that of a fit without the item: (b, n_tags)."""
        curve = np.zeros(self.tag_mean.size, dtype=np.float32)
        curve[self.inputs] = self.own_precision
        without = (1.0 - self.leverage[batch.rows]).astype(np.float32)[:, None]
        return np.maximum(without + curve * residual**2, np.float32(SMALLEST_DENOMINATOR))

    def coefficients(self, tag: int) -> tuple[Singles, Singles]:
        """How much each tag and each feature counts for one tag: (n_tags,), (n_features,)."""
        from_tags = np.zeros(self.tag_mean.size, dtype=np.float32)
        place = np.flatnonzero(self.frequent == tag)
        if place.size:
            from_tags[self.inputs] = self.tag_coef[:, place[0]]
            return from_tags, self.view_coef[:, place[0]]
        column = self.rare_coef[:, np.flatnonzero(self.rare == tag)].toarray().ravel().astype(np.float32)
        from_tags[self.inputs] = column[: self.inputs.size]
        return from_tags, column[self.inputs.size :]


@dataclass(frozen=True)
class Fit:
    """A ridge together with P, which gives the leverage of items and is not kept."""

    ridge: Ridge
    precision: Floats

    def leverage(self, batch: Batch) -> Floats:
        """(A P A')_ss + 1/n of some items of the fit, from the few tags each item has and its features."""
        ridge, P = self.ridge, self.precision
        n_inputs = ridge.inputs.size
        given = batch.tags[:, ridge.inputs].astype(np.float64)
        features = batch.features.astype(np.float64)
        centre = np.concatenate([ridge.tag_mean[ridge.inputs], ridge.feature_mean])
        pull = P @ centre
        from_tags = given @ P[:n_inputs, n_inputs:]  # (b, M)
        value = np.einsum("ij,ij->i", features @ P[n_inputs:, n_inputs:] + 2.0 * from_tags, features)
        value += np.asarray(given.multiply(given @ P[:n_inputs, :n_inputs]).sum(axis=1)).ravel()
        value -= 2.0 * (given @ pull[:n_inputs] + features @ pull[n_inputs:])
        return np.asarray(value + centre @ pull + 1.0 / self.n_items)

    @property
    def n_items(self) -> int:
        return self.ridge.leverage.size

    def with_leverage(self, batches: Sequence[Callable[[], Batch]], threads: Workers) -> Ridge:
        """The ridge with the leverage of the items of these batches filled in."""

        def part(block: slice) -> list[tuple[Ints, Floats]]:
            made = [make() for make in batches[block]]
            return [(batch.rows, self.leverage(batch)) for batch in made if batch.rows is not None]

        leverage = np.full(self.n_items, np.nan)
        for found in threads.map(part, [slice(b, b + 1) for b in range(len(batches))]):
            for rows, values in found:
                leverage[rows] = values
        return replace(self.ridge, leverage=leverage)


def gather_moments(
    features_of: Callable[[slice], Singles], n_features: int, tables: Sequence[Any], threads: Workers
) -> list[Moments]:
    """Moments of the same items with several sets of tags, in one pass over the features."""
    n_items, n_tags = tables[0].shape

    def part(block: slice) -> tuple[Floats, Floats, list[Any]]:
        features = features_of(block)
        crossed = [table[block].T.tocsr() @ features for table in tables] if n_features else []
        return features.sum(axis=0, dtype=np.float64), (features.T @ features).astype(np.float64), crossed

    sums, squares = np.zeros(n_features), np.zeros((n_features, n_features))
    crosses = [np.zeros((n_tags, n_features)) for _ in tables]
    for total, square, crossed in threads.map(part, row_blocks(n_items, 12.0 * max(1, n_features))):
        sums += total
        squares += square
        for cross, more in zip(crosses, crossed, strict=bool(n_features)):
            cross += more
    found = []
    for table, cross in zip(tables, crosses, strict=True):
        doubles = table.astype(np.float64)
        tag_sums = np.asarray(doubles.sum(axis=0)).ravel()
        found.append(Moments(n_items, tag_sums, sums, (doubles.T @ doubles).tocsr(), cross, squares))
    return found


def fit_ridge(moments: Moments, tag_penalty: float | None, feature_penalties: Floats, *, rare: bool = True) -> Fit:
    """Invert once. ``tag_penalty`` None leaves the tags out of the inputs; ``rare=False`` leaves rare targets out.

    Takes O(D^3) time and about four D x D doubles, D being the number of inputs.
    """
    n, mean = moments.n_items, moments.tag_sums / moments.n_items
    order = np.argsort(-moments.tag_sums, kind="stable")
    frequent, others = np.sort(order[:MOST_INPUTS]), np.sort(order[MOST_INPUTS:])
    inputs = frequent if tag_penalty is not None else frequent[:0]
    feature_mean = moments.feature_sums / n
    G = _centred_gram(moments, inputs, mean, feature_mean)
    G[np.diag_indices_from(G)] += np.concatenate([np.full(inputs.size, tag_penalty or 0.0), feature_penalties])
    P = _inverse(G)
    n_inputs = inputs.size
    own = np.diag(P)[:n_inputs].copy()
    if n_inputs:
        coef = P[:, :n_inputs] / -own
        coef[np.arange(n_inputs), np.arange(n_inputs)] = 0.0
    else:
        coef = P @ _crossed(moments, inputs, frequent, mean, feature_mean)
    rare_coef: Any = _sparse_columns(np.zeros((P.shape[0], 0)))
    if rare and others.size:
        step = max(1, 2**22 // max(1, P.shape[0]))
        parts = [
            _sparse_columns(P @ _crossed(moments, inputs, others[i : i + step], mean, feature_mean))
            for i in range(0, others.size, step)
        ]
        from scipy.sparse import hstack

        rare_coef = hstack(parts, format="csr")
    ridge = Ridge(
        tag_mean=mean,
        feature_mean=feature_mean,
        inputs=inputs,
        frequent=frequent,
        rare=others if rare else others[:0],
        tag_coef=np.ascontiguousarray(coef[:n_inputs], dtype=np.float32),
        view_coef=np.ascontiguousarray(coef[n_inputs:], dtype=np.float32),
        rare_coef=rare_coef,
        own_precision=own,
        leverage=np.full(n, np.nan),
    )
    return Fit(ridge, P)


def _centred_gram(moments: Moments, inputs: Ints, mean: Floats, feature_mean: Floats) -> Floats:
    n, k, m = moments.n_items, inputs.size, moments.feature_sums.size
    G = np.empty((k + m, k + m))
    G[:k, :k] = moments.tags_tags[inputs][:, inputs].toarray()
    G[:k, k:] = moments.tags_features[inputs]
    G[k:, :k] = G[:k, k:].T
    G[k:, k:] = moments.features_features
    centre = np.concatenate([mean[inputs], feature_mean])
    G -= n * np.outer(centre, centre)
    return G


def _crossed(moments: Moments, inputs: Ints, targets: Ints, mean: Floats, feature_mean: Floats) -> Floats:
    """A'(Y - mean) of some targets: (D, n_targets)."""
    tags = moments.tags_tags[inputs][:, targets].toarray()
    both = np.vstack([tags, moments.tags_features[targets].T])
    return both - moments.n_items * np.outer(np.concatenate([mean[inputs], feature_mean]), mean[targets])


def _sparse_columns(coef: Floats) -> Any:
    """The largest coefficients of each column, as CSR."""
    from scipy.sparse import csr_matrix

    if coef.shape[0] > _KEPT_PER_RARE_TAG:
        least = -np.partition(-np.abs(coef), _KEPT_PER_RARE_TAG - 1, axis=0)[_KEPT_PER_RARE_TAG - 1]
        coef = np.where(np.abs(coef) >= least, coef, 0.0)
    return csr_matrix(coef.astype(np.float32))


def _inverse(G: Floats) -> Floats:
    """The inverse of a symmetric positive definite matrix."""
    if not G.size:
        return G
    from scipy.linalg.lapack import dpotrf, dpotri

    factor, failed = dpotrf(G, lower=1, overwrite_a=0)
    if failed:  # rounding made it indefinite; the penalties keep it invertible
        return np.asarray(np.linalg.inv(G))
    inverse, _ = dpotri(factor, lower=1, overwrite_c=1)
    lower = np.tril(inverse)
    return np.asarray(lower + np.tril(lower, -1).T)
