"""Ridge regression of every tag on all other tags and all views at once, leaving each item out exactly.

The joint ridge (J) has the tags among its inputs, the view ridge (V) has not; that is their only difference. With A
the centred inputs, G = A'A + diag(penalties) and P = G^-1, the fit of tag i without its own column has the residual
e = (A P)_i / P_ii, and without item s it becomes y - e / (1 - h_s + P_ii e^2), h_s being the item's leverage. Targets
that are no inputs have the same without the last term. A fit without the item does not know its tags, so hiding one of
them takes that tag's coefficient off the prediction, and the coefficient of a fit without item s is
B_ij - (e_si P_ii + B_ij P_jj e_sj) e_sj / (1 - h_s + P_jj e_sj^2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..blocks import Workers, row_blocks
from ..types import Floats, Ints, Singles
from .batch import Amounts, Batch, LeftOut
from .matrices import as_dense, entries_of, inverse_of, largest_of_columns, row_products, squares_by

__all__ = ["MOST_INPUTS", "SMALLEST_DENOMINATOR", "Fit", "Moments", "Ridge", "fit_ridge", "gather_moments"]


MOST_INPUTS = 4_000
"""Only this many tags, the most frequent, are inputs; the others are targets with few coefficients each."""
_KEPT_PER_RARE_TAG = 200
SMALLEST_DENOMINATOR = 0.02
_MANY_COLUMNS = 256


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

    def of_tags(self, tags: Ints) -> Moments:
        """The same collection, had it only these tags."""
        return replace(
            self,
            tag_sums=self.tag_sums[tags],
            tags_tags=self.tags_tags[tags][:, tags],
            tags_features=self.tags_features[tags],
        )

    def and_untagged(self, other: Moments) -> Moments:
        """Those of these items and of others that carry none of the tags, whose own moments know no tags."""
        return replace(
            self,
            n_items=self.n_items + other.n_items,
            feature_sums=self.feature_sums + other.feature_sums,
            features_features=self.features_features + other.features_features,
        )


@dataclass(frozen=True)
class Ridge:
    """Coefficients of every tag.

    ``frequent`` tags have dense coefficients, from the tags among ``inputs`` (``tag_coef``) and from the features
    (``view_coef``); ``rare`` ones have sparse coefficients from both (``rare_coef``). ``own_precision`` is P_ii of
    the inputs, 0 for targets that are no inputs. ``leverage`` is that of each item, 0 where the fit did without it.
    With ``on_words`` the features are columns of the sparse views as they are, else those of the kernels.
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
    on_words: bool = False

    def fitted(self, batch: Batch) -> Singles:
        """The prediction for each tag from the other tags and the views; the item itself may be in the fit."""
        out = np.zeros((batch.tags.shape[0], self.tag_mean.size), dtype=self.tag_coef.dtype)
        given, features = batch.tags[:, self.inputs], self.features(batch)
        out[:, self.frequent] = self._frequent(given, features)
        if self.rare.size:
            from_tags, from_features = self._rare_parts
            part = as_dense((from_features @ features.T).T) + given @ from_tags
            out[:, self.rare] = np.asarray(part) + self._intercepts[1].astype(np.float32)
        return out

    @cached_property
    def _rare_parts(self) -> tuple[Any, Any]:
        """The coefficients of rare tags from the inputs, (inputs, rare), and those from the features, (rare, features).

        Each block of items asks for them: cut out and turned once, they take little more than half of the time.
        """
        return self.rare_coef[: self.inputs.size], self.rare_coef[self.inputs.size :].T.tocsr()

    @cached_property
    def _intercepts(self) -> tuple[Floats, Floats]:
        """What is said of an item without any tag and with features of 0: of frequent tags, and of rare ones."""
        of_frequent = self.tag_mean[self.frequent] - self.tag_mean[self.inputs] @ self.tag_coef
        of_frequent -= self.feature_mean @ self.view_coef
        centre = self.rare_coef.T @ np.concatenate([self.tag_mean[self.inputs], self.feature_mean])
        return of_frequent, self.tag_mean[self.rare] - centre

    @property
    def _intercept(self) -> Floats:
        """The same, of every tag."""
        found = np.zeros(self.tag_mean.size)
        found[self.frequent], found[self.rare] = self._intercepts
        return found

    def features(self, batch: Batch) -> Any:
        """What it is given of the views: a dense matrix, or CSR."""
        return batch.words if self.on_words else batch.features

    def _frequent(self, given: Any, features: Any) -> Singles:
        found: Singles = given @ self.tag_coef + features @ self.view_coef
        found += self._intercepts[0].astype(found.dtype)
        return found

    def scores(self, batch: Batch) -> Singles:
        """The prediction for each tag; for items of the fit, that of a fit without the item."""
        fit = self.fitted(batch)
        if batch.rows is None:
            return fit
        known = batch.tags.toarray()
        residual = known - fit
        return known - residual / self.denominators(batch, residual)

    def left_out(self, batch: Batch) -> LeftOut:
        """Exact, as said above; for items of the fit."""
        known = batch.tags.toarray()
        residual = known - self.fitted(batch)
        shrunk = residual / self.denominators(batch, residual)
        scores = known - shrunk
        curve = self._curve
        kept = 1.0 - curve * residual * shrunk
        row, column = batch.known
        pull = residual * curve * known  # of each tag of the item on the coefficients of all others
        given = batch.tags[:, self.inputs]
        emptied = scores - self._spread(given) * kept + (pull.sum(axis=1, keepdims=True) - pull) * shrunk
        place = self._places(self.inputs)

        def without(rows: Ints, tags: Ints) -> Singles:
            coef = self._coef_of_inputs(place[tags])
            return np.asarray(scores[rows] - coef * kept[rows] + pull[rows, tags][:, None] * shrunk[rows])

        return LeftOut(scores, scores[row, column], emptied, without)

    def _spread(self, given: Any) -> Singles:
        """The tags of some items times their coefficients: (b, n_tags)."""
        out = np.zeros((given.shape[0], self.tag_mean.size), dtype=self.tag_coef.dtype)
        out[:, self.frequent] = given @ self.tag_coef
        out[:, self.rare] = as_dense(given @ self._rare_parts[0])
        return out

    def _coef_of_inputs(self, places: Ints) -> Singles:
        """The coefficients of some inputs for every tag; zeros for a place of -1, a tag that is no input."""
        out = np.zeros((places.size, self.tag_mean.size), dtype=self.tag_coef.dtype)
        inside = np.flatnonzero(places >= 0)
        if inside.size:
            out[np.ix_(inside, self.frequent)] = self.tag_coef[places[inside]]
            out[np.ix_(inside, self.rare)] = as_dense(self.rare_coef[places[inside]])
        return out

    @property
    def _curve(self) -> Singles:
        """P_ii of every tag, 0 for those that are no inputs."""
        curve = np.zeros(self.tag_mean.size, dtype=self.tag_coef.dtype)
        curve[self.inputs] = self.own_precision
        return curve

    def denominators(self, batch: Batch, residual: Singles) -> Singles:
        """What a residual of the fit is divided by to be that of a fit without the item: (b, n_tags)."""
        without = (1.0 - self.leverage[batch.rows]).astype(residual.dtype)[:, None]
        return _denominators(without, self._curve, residual)

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

    def explain(self, pairs: Any) -> Amounts:
        """Coefficients of the item's tags, and what each view adds, over the denominator."""
        pair, own = pairs.own
        of_tags = self._of_tags(own, pairs.tags[pair])
        features, views, start = self.features(pairs.batch), np.zeros((pairs.n, len(pairs.items.spaces))), 0
        for v, width in enumerate(pairs.items.word_widths if self.on_words else pairs.items.widths):
            if width:
                views[:, v] = self._of_features(features, slice(start, start + width), pairs)
            start += width
        divisor = np.ones(pairs.n)
        if pairs.batch.rows is not None:
            fit = self._intercept[pairs.tags] + views.sum(axis=1) + np.bincount(pair, of_tags, minlength=pairs.n)
            without = 1.0 - self.leverage[pairs.batch.rows][pairs.rows]
            divisor = _denominators(without, self._curve[pairs.tags], pairs.is_known - fit)
        return Amounts(of_tags / divisor[pair], views / divisor[:, None])

    def _places(self, some: Ints) -> Ints:
        """Where each tag stands among ``some``; -1 where it does not."""
        place = np.full(self.tag_mean.size, -1)
        place[some] = np.arange(some.size)
        return place

    def _of_tags(self, given: Ints, targets: Ints) -> Floats:
        """The coefficient of each given tag for its target; 0 where it is no input, and for itself."""
        found = np.zeros(given.size)
        place, column = self._places(self.inputs)[given], self._places(self.frequent)[targets]
        for coef, there in ((self.tag_coef, column), (self.rare_coef, self._places(self.rare)[targets])):
            kept = np.flatnonzero((place >= 0) & (there >= 0) & (given != targets))
            found[kept] = entries_of(coef, place[kept], there[kept])
        return found

    def _of_features(self, features: Any, columns: slice, pairs: Any) -> Floats:
        """What some of the features add to the fit of each pair."""
        used, which = np.unique(pairs.tags, return_inverse=True)
        part, added = features[:, columns], np.zeros((features.shape[0], used.size))
        frequent, rare = self._places(self.frequent)[used], self._places(self.rare)[used]
        added[:, frequent >= 0] = part @ self.view_coef[columns, frequent[frequent >= 0]]
        if (rare >= 0).any():
            added[:, rare >= 0] = as_dense((self._rare_parts[1][rare[rare >= 0]][:, columns] @ part.T).T)
        return np.asarray(added[pairs.rows, which])


def _denominators(without: Any, curve: Any, residual: Any) -> Any:
    """1 - h + P_ii e^2; ``without`` is 1 - h."""
    return np.maximum(without + curve * residual**2, residual.dtype.type(SMALLEST_DENOMINATOR))


@dataclass(frozen=True)
class Fit:
    """A ridge together with P, which gives the leverage of items and is not kept."""

    ridge: Ridge
    precision: Floats
    n_items: int

    def leverage(self, kind: Any = np.float64) -> Callable[[Batch], Floats]:
        """From some items of the fit to their (A P A')_ss + 1/n, by the few tags each item has and its features.

        Products are taken in numbers of a ``kind``: single ones are enough to compare penalties, at half the time.
        """
        ridge, P = self.ridge, self.precision.astype(kind, copy=False)
        n_inputs = ridge.inputs.size
        centre = np.concatenate([ridge.tag_mean[ridge.inputs], ridge.feature_mean])
        pull = P @ centre
        always = centre @ pull + 1.0 / self.n_items
        inner = P[n_inputs:, n_inputs:]
        squares = squares_by(inner, sparse=ridge.on_words)

        def of(batch: Batch) -> Floats:
            given, features = batch.tags[:, ridge.inputs].astype(kind), ridge.features(batch).astype(kind, copy=False)
            value = squares(features)
            value += 2.0 * row_products(features, given @ P[:n_inputs, n_inputs:])
            value += row_products(given, given @ P[:n_inputs, :n_inputs])
            value -= 2.0 * (given @ pull[:n_inputs] + features @ pull[n_inputs:])
            return np.asarray(value + always)

        return of

    def with_leverage(self, batches: Sequence[Callable[[], Batch]], n_rows: int, threads: Workers) -> Ridge:
        """The ridge with the leverage of the items of these batches filled in; of ``n_rows`` items, others have 0."""
        # Of many columns single products are right to five digits.
        leverage_of = self.leverage(np.float32 if self.ridge.feature_mean.size > _MANY_COLUMNS else np.float64)

        def part(block: slice) -> list[tuple[Ints, Floats]]:
            made = [make() for make in batches[block]]
            return [(batch.rows, leverage_of(batch)) for batch in made]

        leverage = np.zeros(n_rows)
        for found in threads.map(part, [slice(b, b + 1) for b in range(len(batches))]):
            for rows, values in found:
                leverage[rows] = values
        return replace(self.ridge, leverage=leverage)


def gather_moments(
    features_of: Callable[[Ints], Any], n_features: int, tags: Any, rows: Ints, threads: Workers
) -> Moments:
    """Moments of some items; ``tags`` are those of all, and ``features_of`` gives features by row, dense or CSR."""
    n_tags = tags.shape[1]

    def part(block: slice) -> tuple[Floats, Floats, Ints, Any]:
        here = rows[block]
        features, own = features_of(here), tags[here]
        used = np.unique(own.indices)  # of many tags a block holds few
        crossed = own[:, used].T.tocsr() @ features
        total = np.asarray(features.sum(axis=0, dtype=np.float64)).ravel()
        return total, as_dense(features.T @ features).astype(np.float64), used, as_dense(crossed)

    sums, squares, cross = np.zeros(n_features), np.zeros((n_features, n_features)), np.zeros((n_tags, n_features))
    if n_features:
        for total, square, used, crossed in threads.map(part, row_blocks(rows.size, 12.0 * n_features)):
            sums += total
            squares += square
            cross[used] += crossed
    doubles = tags[rows].astype(np.float64)
    tag_sums = np.asarray(doubles.sum(axis=0)).ravel()
    return Moments(rows.size, tag_sums, sums, (doubles.T @ doubles).tocsr(), cross, squares)


def fit_ridge(
    moments: Moments,
    tag_penalty: float | None,
    feature_penalties: Floats,
    *,
    rare: bool = True,
    on_words: bool = False,
) -> Fit:
    """Invert once. ``tag_penalty`` None leaves the tags out of the inputs; ``rare=False`` leaves rare targets out.

    Takes O(D^3) time and about one and a half D x D doubles, D being the number of inputs.
    """
    n, mean = moments.n_items, moments.tag_sums / moments.n_items
    order = np.argsort(-moments.tag_sums, kind="stable")
    frequent, others = np.sort(order[:MOST_INPUTS]), np.sort(order[MOST_INPUTS:])
    inputs = frequent if tag_penalty is not None else frequent[:0]
    feature_mean = moments.feature_sums / n
    G = _centred_gram(moments, inputs, mean, feature_mean)
    G[np.diag_indices_from(G)] += np.concatenate([np.full(inputs.size, tag_penalty or 0.0), feature_penalties])
    P = inverse_of(G)
    n_inputs = inputs.size
    own = np.diag(P)[:n_inputs].copy()
    coef = np.empty((P.shape[0], frequent.size), dtype=np.float32)
    if n_inputs:
        for rows in row_blocks(P.shape[0], 8.0 * n_inputs):
            coef[rows] = P[rows, :n_inputs] / -own
        np.fill_diagonal(coef[:n_inputs], 0.0)
    else:
        coef[:] = P @ (moments.tags_features[frequent].T - n * np.outer(feature_mean, mean[frequent]))
    ridge = Ridge(
        tag_mean=mean,
        feature_mean=feature_mean,
        inputs=inputs,
        frequent=frequent,
        rare=others if rare else others[:0],
        tag_coef=coef[:n_inputs],
        view_coef=coef[n_inputs:],
        rare_coef=_rare_coefficients(P, moments, inputs, others if rare else others[:0], mean, feature_mean),
        own_precision=own,
        leverage=np.zeros(0),
        on_words=on_words,
    )
    return Fit(ridge, P, n)


def _rare_coefficients(
    P: Floats, moments: Moments, inputs: Ints, rare: Ints, mean: Floats, feature_mean: Floats
) -> Any:
    """P A'(Y - mean) of rare targets, of which only the largest are kept: CSR (D, n_rare).

    Of the tags that few items carry, few go together: that part of A'Y is sparse, and so a small part of the work.
    """
    from scipy.sparse import hstack

    k = inputs.size
    pull = P @ np.concatenate([mean[inputs], feature_mean])
    together = moments.tags_tags[rare][:, inputs]
    parts = [largest_of_columns(np.zeros((P.shape[0], 0)), _KEPT_PER_RARE_TAG)]
    for some in row_blocks(rare.size, 8.0 * P.shape[0], 2**25):
        coef = P[:, k:] @ moments.tags_features[rare[some]].T
        coef += (together[some] @ P[:k]).T
        coef -= moments.n_items * np.outer(pull, mean[rare[some]])
        parts.append(largest_of_columns(coef, _KEPT_PER_RARE_TAG))
    return hstack(parts, format="csr")


def _centred_gram(moments: Moments, inputs: Ints, mean: Floats, feature_mean: Floats) -> Floats:
    n, k, m = moments.n_items, inputs.size, moments.feature_sums.size
    G = np.empty((k + m, k + m))
    G[:k, :k] = moments.tags_tags[inputs][:, inputs].toarray()
    G[:k, k:] = moments.tags_features[inputs]
    G[k:, :k] = G[:k, k:].T
    G[k:, k:] = moments.features_features
    centre = np.concatenate([mean[inputs], feature_mean])
    for rows in row_blocks(k + m, 8.0 * (k + m)):
        G[rows] -= n * np.outer(centre[rows], centre)
    return G
