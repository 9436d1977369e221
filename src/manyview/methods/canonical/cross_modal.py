"""Cross-modal clustering (CCA + AHKMC): looks and tags in one space, and k-means in it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from ...arrays import is_sparse
from ...blocks import row_blocks
from ...data.checks import as_generator
from ...data.parameters import Constraints, Given, Number, check_parameters
from ...data.tags import TagTable, are_words, as_tag_table
from ...data.views import Views
from ...data.vocabulary import tags_in_vocabulary
from ...errors import ParameterError, ViewError, ViewWarning
from ..base import MultiviewTransformer, check_n_clusters, items_with_views, outside, say
from ..fusion_art.seen import Seen
from ..fusion_art.settings import check_tags
from .association_network import AssociationNetwork
from .canonical_fusion import CanonicalFusion

__all__ = ["CrossModalClustering"]

Labels = NDArray[np.intp]


class CrossModalClustering(ClusterMixin, MultiviewTransformer):
    """Cluster tagged pictures by looks and tags at once: the whole system of the CCA + AHKMC paper.

    Tags are smoothed over the network of tags that go together (``AssociationNetwork``), looks and tags are added along
    the directions in which they agree (``CanonicalFusion``), and ``HierarchicalKMeans`` groups the items there. Choose
    it for large collections with one or several views of looks and a view of tags. Items may lack either.

    Parameters
    ----------
    n_clusters : int, default=8
    tags : "auto", a name or a list of names, default="auto"
        Which views are tags, 0 or 1; "auto" takes those that hold 0 and 1 and nothing else.
    looks_share : float from 0 to 1, default=0.3
        Share of the looks in the sum (the paper's alpha), divided evenly among several views of looks; the tags have
        the rest. 0.5 suits views of similar quality.
    pictures : None or str, default=None
        The entry of ``X`` that holds pictures themselves (paths, images or arrays, None where an item has none), to be
        described by ``LocalityCoding``; then ``X`` is a dict.
    n_words : int, default=1024
        Visual words of ``LocalityCoding``, where there are ``pictures``.
    threshold : float, default=0.05
    max_neighbors : None or int, default=20
    smoothing : float, default=2.0
    min_df : int, default=5
        These four are of the ``AssociationNetwork``. Where no tag is on ``min_df`` items, all are kept.
    n_components : int, default=128
    regularization : float or "auto", default="auto"
    corr_power : float, default=1.0
        These three are of the ``CanonicalFusion``; fewer components where the views have no more in common. The ridge
        is found unless it is given: with few tagged items a weak one fits these alone, and all others end up in one
        cluster.
    n_starts : int, default=10
        Of the ``HierarchicalKMeans``.
    random_state : None, int or numpy Generator
    n_jobs : None or int
        Threads; None takes all cores. The result does not depend on it.
    verbose : int, default=0

    Attributes
    ----------
    labels_ : ndarray (n_items,), -1 for items that lack every view
    cluster_centers_ : dict of view name to ndarray (n_clusters, n_features), means of the members
    view_weights_ : ndarray (n_views,), shares in the sum, summing to 1
    correlations_ : ndarray, of the shared dimensions
    cluster_tree_ : the clusters merged step by step, as in ``HierarchicalKMeans``
    networks_ : dict of tag view name to the fitted ``AssociationNetwork``
    fusion_, kmeans_, coding_ : the other fitted parts; ``coding_`` is None without ``pictures``
    tag_names_ : dict of tag view name to list of str, for tags that came as words
    inertia_ : float
    n_iter_, n_clusters_ : int

    Notes
    -----
    Time and memory are those of the parts; the largest is one pass over the looks, O(n_items D^2), and k-means in
    ``n_components`` dimensions. An item whose tag row is empty is placed by its looks: nothing is known of its tags.

    C. Jin and others, "Cross-modal image clustering via canonical correlation analysis", AAAI 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from manyview import CrossModalClustering
    >>> looks = np.array([[0.0, 0.1], [0.1, 0.0], [5.0, 5.1], [5.1, 5.0]])
    >>> words = [["sea", "sand"], ["sea"], ["snow", "ski"], ["snow"]]
    >>> model = CrossModalClustering(2, random_state=0).fit({"looks": looks, "tags": words})
    >>> (model.labels_ == model.labels_[0]).tolist()
    [True, True, False, False]
    """

    _constraints: ClassVar[Constraints] = {
        "n_clusters": Number(integer=True, low=1),
        "tags": Given("'auto', the name of a view or a list of names"),
        "looks_share": Number(low=0, high=1),
        "pictures": Given("the name of a view"),
        "n_words": Number(integer=True, low=1),
        **{name: of for name, of in AssociationNetwork._constraints.items() if name != "norm"},
        **{name: of for name, of in CanonicalFusion._constraints.items() if name != "weights"},
        "n_starts": Number(integer=True, low=1),
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        tags: Any = "auto",
        looks_share: float = 0.3,
        pictures: str | None = None,
        n_words: int = 1024,
        threshold: float = 0.05,
        max_neighbors: int | None = 20,
        smoothing: float = 2.0,
        min_df: int = 5,
        n_components: int = 128,
        regularization: float | str = "auto",
        corr_power: float = 1.0,
        n_starts: int = 10,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.tags = tags
        self.looks_share = looks_share
        self.pictures = pictures
        self.n_words = n_words
        self.threshold = threshold
        self.max_neighbors = max_neighbors
        self.smoothing = smoothing
        self.min_df = min_df
        self.n_components = n_components
        self.regularization = regularization
        self.corr_power = corr_power
        self.n_starts = n_starts
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> CrossModalClustering:
        """Find the clusters of ``X``: a ``Views``, or a dict of matrices, tags as words, and pictures."""
        from ..kmeans.hierarchical_kmeans import HierarchicalKMeans

        check_parameters(self)
        rng = as_generator(self.random_state)
        seeds = [int(seed) for seed in rng.integers(2**31, size=3)]
        views = self._fit_views(self._fit_entries(X, seeds[0]))
        has_any = items_with_views(views)
        n_clusters = check_n_clusters(self.n_clusters, int(has_any.sum()))
        self._fit_networks(views)
        semantic = self._smoothed(views)
        tagged = np.array([name in self.tag_views_ for name in views.names])
        self.fusion_ = CanonicalFusion(
            self.n_components,
            regularization=self.regularization,
            weights=_shares(tagged, float(self.looks_share)),
            corr_power=self.corr_power,
            random_state=seeds[1],
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        self.fusion_._fit(self.fusion_._fit_views(semantic), views.mask, warn=False)
        self.fusion_._items = None  # the smoothed tags need not live on
        fused = self.fusion_._fused(semantic)[has_any]
        if self.verbose:
            say(f"{n_clusters} clusters of {fused.shape[0]} items in {fused.shape[1]} dimensions")
        self.kmeans_ = HierarchicalKMeans(
            n_clusters, n_starts=self.n_starts, random_state=seeds[2], n_jobs=self.n_jobs, verbose=self.verbose
        ).fit(fused)
        self.labels_ = np.full(views.n_items, -1, dtype=np.intp)
        self.labels_[has_any] = self.kmeans_.labels_
        self.n_clusters_ = n_clusters
        self.n_iter_ = int(self.kmeans_.n_iter_)
        self.inertia_ = float(self.kmeans_.inertia_)
        self.correlations_ = self.fusion_.correlations_
        self.view_weights_ = self.fusion_.view_weights_
        if not self.view_weights_.any():  # no view says anything: all items are alike
            self.view_weights_ = np.full(views.n_views, 1.0 / views.n_views)
        self.cluster_centers_ = views.means(self.labels_, n_clusters)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> Labels:
        """Find the clusters and give each item's label."""
        return self.fit(X).labels_

    def predict(self, X: Any) -> Labels:
        """The nearest cluster of new items, which may lack views; -1 for those that lack all of them."""
        fused, has_any = self._place(X)
        labels = np.full(has_any.size, -1, dtype=np.intp)
        if has_any.any():
            labels[has_any] = self.kmeans_.predict(fused[has_any])
        return labels

    def transform(self, X: Any) -> NDArray[Any]:
        """Items in the space in which they are clustered (n_items, R); NaN for those that lack every view."""
        return self._place(X)[0]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """crossmodalclustering0, crossmodalclustering1, ..."""
        check_is_fitted(self)
        return np.array([f"crossmodalclustering{r}" for r in range(self.correlations_.size)], dtype=object)

    def _place(self, X: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        check_is_fitted(self)
        views = self._new_views(self._new_entries(X))
        has_any = items_with_views(views)
        return self.fusion_._fused(self._smoothed(views)), has_any

    @property
    def cluster_tree_(self) -> Any:
        """The clusters merged step by step, as in ``HierarchicalKMeans``."""
        return self.kmeans_.cluster_tree_

    def _fit_entries(self, X: Any, seed: int) -> Any:
        """Pictures and words among the entries as matrices; their code book and vocabularies are kept."""
        self.coding_, self.tag_names_ = None, {}
        if not _has_entries(X):
            if self.pictures is not None:
                raise ViewError(
                    f"pictures={self.pictures!r} names an entry of a dict with the pictures; got {type(X).__name__}."
                )
            return X
        entries = dict(X)
        if self.pictures is not None:
            pictures = list(self._entry(entries, self.pictures))
            from ...features.locality_coding import LocalityCoding

            self.coding_ = LocalityCoding(
                self.n_words, random_state=seed, n_jobs=self.n_jobs, verbose=self.verbose
            ).fit(picture for picture in pictures if picture is not None)
            entries[self.pictures] = _coded(self.coding_, pictures)
        for name, value in entries.items():
            if are_words(value):
                table = as_tag_table(value)
                self.tag_names_[name] = list(table.names)
                entries[name] = table.yes
        return entries

    def _entry(self, entries: Mapping[str, Any], name: str) -> Any:
        if name not in entries:
            raise ViewError(f"there is no entry {name!r}; the entries are {', '.join(map(repr, entries))}.")
        return entries[name]

    def _new_entries(self, X: Any) -> Any:
        if not _has_entries(X):
            return X
        entries = dict(X)
        for name, value in entries.items():
            if name == self.pictures:
                entries[name] = _coded(self.coding_, list(value))
            elif name in self.tag_names_:
                entries[name] = tags_in_vocabulary(value, self.tag_names_[name]).yes
        return entries

    def _fit_networks(self, views: Views) -> None:
        self.tag_views_ = self._check_tag_views(views)
        kinds = {name: "tags" if name in self.tag_views_ else "content" for name in views.names}
        check_tags(Seen(views), kinds, "leave it out of tags")
        self.networks_ = {}
        for name in self.tag_views_:
            matrix = _zero_where_missing(views, name)
            frequency = np.asarray((matrix != 0).sum(axis=0)).ravel()
            if not frequency.any():
                continue  # nobody has a tag: the view says nothing, as CanonicalFusion will tell
            min_df = int(self.min_df)
            network = AssociationNetwork(
                self.threshold,
                max_neighbors=self.max_neighbors,
                smoothing=self.smoothing,
                min_df=min_df if (frequency >= min_df).any() else 1,
            )
            self.networks_[name] = network.fit(TagTable.from_matrix(matrix, self.tag_names_.get(name)))

    def _check_tag_views(self, views: Views) -> list[str]:
        if isinstance(self.tags, str) and self.tags == "auto":
            found = [name for v, name in enumerate(views.names) if _is_binary(views[name], views.mask[:, v])]
            for name in views.names:
                if is_sparse(views[name]) and name not in found:
                    _warn_of_words(name, found)
            return found
        named = [self.tags] if isinstance(self.tags, str) else self.tags
        if not isinstance(named, (list, tuple)) or not all(isinstance(name, str) for name in named):
            raise ParameterError(f"tags must be 'auto', the name of a view or a list of names; got {self.tags!r}.")
        for name in named:
            if name not in views:
                raise ParameterError(f"tags names view {name!r}; the views are {', '.join(map(repr, views.names))}.")
        return list(dict.fromkeys([*named, *self.tag_names_]))

    def _smoothed(self, views: Views) -> Views:
        """The views with smoothed tags; an empty tag row counts as lacking where the item has another view."""
        matrices, mask = list(views.values()), views.mask.copy()
        empty = np.zeros_like(mask)
        for name, network in self.networks_.items():
            v = views.position(name)
            tags = TagTable.from_matrix(_zero_where_missing(views, name), network.vocabulary_)
            matrices[v] = network.rows_of(tags)
            empty[:, v] = mask[:, v] & (matrices[v].n_filled == 0)
        told = (mask & ~empty).any(axis=1, keepdims=True)
        mask &= ~(empty & told)
        return Views._trusted(views.names, tuple(matrices), mask, views.ids)


def _has_entries(X: Any) -> bool:
    return isinstance(X, Mapping) and not is_sparse(X)  # one of SciPy's formats is a dict


def _warn_of_words(name: str, tags: list[str]) -> None:
    warnings.warn(
        f"view {name!r} is sparse but holds more than 0 and 1, so its numbers are compared as they are, frequent words "
        f"before all. If a number means that an item has something, pass {name} > 0, which is taken as tags; "
        f"tags={tags!r} says that it is meant so.",
        ViewWarning,
        stacklevel=outside(),
    )


def _is_binary(matrix: Any, present: NDArray[np.bool_]) -> bool:
    """Does a view hold 0 and 1 and nothing else? Mostly the first block tells."""
    if is_sparse(matrix):
        return bool(((matrix.data == 0) | (matrix.data == 1)).all())
    blocks = row_blocks(matrix.shape[0], matrix.shape[1] * matrix.itemsize, 2**20)
    parts = (matrix[rows][present[rows]] for rows in blocks)
    return all(bool(((part == 0) | (part == 1)).all()) for part in parts)


def _shares(tagged: NDArray[np.bool_], looks_share: float) -> NDArray[np.float64]:
    """The looks' share divided among views of looks, the rest among tags; all to those that there are."""
    if tagged.all() or not tagged.any():
        return np.full(tagged.size, 1.0 / tagged.size)
    return np.where(tagged, (1.0 - looks_share) / tagged.sum(), looks_share / (~tagged).sum())


def _zero_where_missing(views: Views, name: str) -> Any:
    from scipy.sparse import csr_matrix

    matrix, has = views[name], views.present(name)
    if is_sparse(matrix):
        return matrix if has.all() else csr_matrix(matrix.multiply(has[:, None]))
    return csr_matrix(np.where(has[:, None], matrix, 0))


def _coded(coding: Any, pictures: list[Any]) -> NDArray[np.float32]:
    """A row per picture; NaN where there is none."""
    rows = coding.stream(picture for picture in pictures if picture is not None)
    out = np.full((len(pictures), coding._width()), np.nan, dtype=np.float32)
    for number, picture in enumerate(pictures):
        if picture is not None:
            out[number] = next(rows)
    return out
