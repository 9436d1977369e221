"""AnnotatedPLSA (aPLSA): the topics of untagged items with the help of other people's tagged ones."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from ...data.checks import check_number
from ...data.parameters import Choice, Constraints, Either, Number
from ...errors import ParameterError
from ..base import say
from ._counts import as_names
from ._tradeoff import find_tradeoff
from .plsa import PLSA

__all__ = ["AnnotatedPLSA"]


class AnnotatedPLSA(PLSA):
    """Cluster a few untagged items with the help of other people's tagged ones (aPLSA).

    The items, and a table that says which words come with which tag (``annotation_matrix``), share their topics.
    Choose it when there are too few items, or too few words per item, to learn topics from alone, and a tagged
    collection with the same kind of words exists. The tagged items need not show the same things.

    Parameters
    ----------
    n_clusters : int, default=8
    tradeoff : float from 0 to 1, or "auto", default=0.2
        Weight of the items against the annotations (the paper's lambda): 1 is ``PLSA`` of the items alone, at 0 the
        topics are learned from the annotations only. "auto" holds out a fifth of the items' words and takes, of 0.1,
        0.2, 0.5, 0.8 and 1, what makes them likeliest: items with few words lean on the annotations, items with many
        on themselves. It takes five fits of up to three starts more.
    balance : "rows" or "mass", default="rows"
        What ``tradeoff`` weighs. "rows": each item counts ``tradeoff`` and each tag 1 - ``tradeoff``, as in the
        paper, so that 100 items beside 2,600 tags own one per cent of the objective at 0.2. "mass": all items
        together count ``tradeoff`` and all tags together the rest.
    n_topics : None or int, default=None
    weighting : "row" or "count", default="row"
    max_iter : int, default=200
    tol : float, default=1e-6
    n_init : int, default=5
    random_state : None, int or numpy Generator
    n_jobs : None or int
    verbose : int, default=0
        These, from ``n_topics`` on, as in ``PLSA``.

    Attributes
    ----------
    tradeoff_ : float, what was used; 1 without annotations
    annotation_topics_ : ndarray (n_tags, n_topics), rows sum to one; equal shares for tags that were never used
    annotation_mass_ : ndarray (n_tags,), counts of each tag
    others : as in ``PLSA``

    Notes
    -----
    Time and memory are those of ``PLSA`` on both tables. Without ``annotations`` it is ``PLSA``.

    Q. Yang, Y. Chen, G.-R. Xue, W. Dai, Y. Yu, "Heterogeneous transfer learning for image clustering via the social
    web", ACL 2009. The optimum depends on ``balance``; the paper's setting is the default.

    Examples
    --------
    >>> import numpy as np
    >>> from manyview import AnnotatedPLSA
    >>> photos = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    >>> tags = np.array([[5, 5, 0, 0], [0, 0, 5, 5]])
    >>> model = AnnotatedPLSA(n_clusters=2, random_state=0).fit(photos, annotations=tags)
    >>> bool(model.labels_[0] == model.labels_[1]), bool(model.labels_[0] == model.labels_[2])
    (True, False)
    >>> names = model.top_tags(["beach", "city"], n=1)
    >>> names[model.labels_[0]][0][0], names[model.labels_[2]][0][0]
    ('beach', 'city')
    """

    _constraints: ClassVar[Constraints] = {
        **PLSA._constraints,
        "tradeoff": Either(Number(low=0, high=1), Choice("auto")),
        "balance": Choice("rows", "mass"),
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        tradeoff: float | Literal["auto"] = 0.2,
        balance: str = "rows",
        n_topics: int | None = None,
        weighting: str = "row",
        max_iter: int = 200,
        tol: float = 1e-6,
        n_init: int = 5,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_clusters,
            n_topics=n_topics,
            weighting=weighting,
            max_iter=max_iter,
            tol=tol,
            n_init=n_init,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.tradeoff = tradeoff
        self.balance = balance

    def fit(self, X: Any, y: Any = None, *, annotations: Any = None) -> AnnotatedPLSA:
        """Find the topics and clusters of ``X`` with the help of ``annotations``.

        ``annotations`` has a row of counts for each tag, over the features of ``X`` (one array with the views side
        by side, or a dict of the same views). None does without.
        """
        for name in ("annotation_topics_", "annotation_mass_"):  # of an earlier fit
            if hasattr(self, name):
                delattr(self, name)
        self.tradeoff_: Any = self.tradeoff if annotations is not None else 1.0
        if self.tradeoff_ == "auto":
            self.tradeoff_ = find_tradeoff(self, X, annotations)
            if self.verbose:
                say(f"tradeoff {self.tradeoff_}: held-out words are likeliest")
        return self._fit(X, annotations)

    def top_tags(self, tag_names: Any = None, n: int = 5) -> list[list[tuple[str, float]]]:
        """The likeliest tags of each cluster with their probabilities: names for the clusters.

        P(tag given topic) is proportional to P(topic given tag) times the tag's counts. ``tag_names`` names the rows
        of the annotations; without it they go by number.
        """
        n = check_number("n", n, integer=True, low=1)
        if not hasattr(self, "annotation_topics_"):
            raise ParameterError("top_tags needs a model that was fitted with annotations=...; there are no tags.")
        names = as_names(tag_names, self.annotation_mass_.size)
        joint = self.annotation_topics_.T * self.annotation_mass_
        given_topic = joint / np.maximum(joint.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        given_cluster = self.cluster_topics_ @ given_topic
        order = np.argsort(-given_cluster, axis=1, kind="stable")[:, :n]
        return [[(names[tag], float(row[tag])) for tag in best] for row, best in zip(given_cluster, order, strict=True)]

    def _check_parameters(self) -> float:
        super()._check_parameters()
        return float(self.tradeoff_)

    def _balance(self) -> str:
        return self.balance
