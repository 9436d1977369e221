"""How much the items count beside the annotations, found without classes: what makes held-out words likeliest."""

from __future__ import annotations

import warnings
from copy import deepcopy
from typing import Any

import numpy as np

from ...data.checks import as_generator
from ...errors import ParameterError
from ._counts import join_counts

__all__ = ["TRIED", "USUAL", "find_tradeoff", "hold_out", "word_likelihood"]

TRIED = (0.1, 0.2, 0.5, 0.8, 1.0)
USUAL = 0.2
"""The paper's, where no word can be held out."""
_HELD_OUT = 0.2
_FLOOR = 0.01  # of the probability is spread evenly, so that no word is impossible
_STARTS = 3  # of a model that is fitted to try a tradeoff


def find_tradeoff(model: Any, X: Any, annotations: Any) -> float:
    """The one of ``TRIED`` under which a fifth of the items' words, held out, is likeliest; the first of equals."""
    from scipy.sparse import csr_matrix

    views = model._fit_views(X)
    if views.in_chunks:
        raise ParameterError("tradeoff='auto' holds words out in memory; give a number for Dask arrays.")
    items = csr_matrix(join_counts(views, type(model).__name__))
    tags = model._annotation_counts(annotations)
    left, held = hold_out(items, as_generator(deepcopy(model.random_state)))
    if held.sum() == 0 or np.count_nonzero(left.sum(axis=1)) < model.n_clusters:
        return USUAL
    settings = {**model.get_params(), "n_init": min(_STARTS, int(model.n_init)), "verbose": 0}
    found = {}
    for tradeoff in TRIED:
        own = {"tradeoff": tradeoff, "random_state": deepcopy(model.random_state)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the model itself says it once
            found[tradeoff] = word_likelihood(type(model)(**{**settings, **own}).fit(left, annotations=tags), held)
    return max(TRIED, key=lambda tradeoff: found[tradeoff])


def hold_out(items: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    """Every occurrence of a word with probability .2 (every entry where counts are not whole): what is left, and held.

    ``items`` is CSR, and so are both.
    """
    from scipy.sparse import csr_matrix

    if np.array_equal(items.data, np.floor(items.data)):
        taken = rng.binomial(items.data.astype(np.int64), _HELD_OUT).astype(items.dtype)
    else:
        taken = items.data * (rng.random(items.nnz) < _HELD_OUT)
    held = csr_matrix((taken, items.indices, items.indptr), items.shape)
    return csr_matrix(items - held), held


def word_likelihood(model: Any, held: Any) -> float:
    """The mean log-probability of held-out words under the shares that their items have in a fitted model."""
    pairs = held.tocoo()
    given = (model.item_topics_[pairs.row] * model.topic_features_[:, pairs.col].T).sum(axis=1)
    logs = np.log((1 - _FLOOR) * given + _FLOOR / held.shape[1])
    return float((pairs.data * logs).sum() / pairs.data.sum())
