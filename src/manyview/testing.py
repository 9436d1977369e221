"""Checks that every multi-view estimator should pass, ours or yours.

``check_multiview_estimator(estimator)`` runs them all, on well-separated data made here. An estimator that a
check cannot hold for says so, with the reason, in its class attribute ``checks_not_applicable``
(``{"check_row_order": "items are learned in order"}``).
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .data.views import Views

__all__ = ["check_multiview_estimator", "multiview_checks", "separated_views"]

_N_CLUSTERS = 3


def separated_views(seed: int = 0, n_items: int = 60, dtype: Any = np.float64) -> tuple[Views, NDArray[np.intp]]:
    """Three clusters that nobody can miss, in three views, of which the last is 0/1 tags; with the truth."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n_items) % _N_CLUSTERS
    looks = np.eye(_N_CLUSTERS, 5)[truth] * 8 + rng.normal(size=(n_items, 5)) * 0.3
    text = np.eye(_N_CLUSTERS, 4)[(truth + 1) % _N_CLUSTERS] * 6 + rng.normal(size=(n_items, 4)) * 0.3
    tags = np.repeat(np.eye(_N_CLUSTERS), 3, axis=1)[truth] * (rng.random((n_items, 9)) < 0.9)
    tags[tags.sum(axis=1) == 0, 0] = 1
    # Values stay at least a unit in the fourth decimal apart from ties between types.
    views = {"looks": np.abs(looks), "text": np.abs(text), "tags": tags}
    return Views({name: value.astype(dtype) for name, value in views.items()}), truth


def check_multiview_estimator(estimator: Any, *, verbose: bool = False) -> None:
    """Raise ``AssertionError`` at the first check that a multi-view clusterer fails.

    ``estimator`` is an unfitted instance; it is cloned for every check. Its settings should be able to find three
    well-separated clusters (``n_clusters`` is set to 3 where it has that parameter).
    """
    skipped: Mapping[str, str] = getattr(estimator, "checks_not_applicable", {})
    for name in skipped:
        if name not in multiview_checks():
            raise AssertionError(f"checks_not_applicable names {name!r}, which is not a check.")
    for name, check in multiview_checks().items():
        if name in skipped:
            if verbose:
                print(f"{name}: not applicable, {skipped[name]}")
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                check(_fresh(estimator))
        except Exception as error:
            raise AssertionError(f"{type(estimator).__name__} fails {name}: {error}") from error
        if verbose:
            print(f"{name}: passed")


def multiview_checks() -> dict[str, Callable[[Any], None]]:
    """Every check by name, in the order they are run."""
    return {
        name: value
        for name, value in globals().items()
        if name.startswith("check_") and value is not check_multiview_estimator
    }


def _fresh(estimator: Any, **params: Any) -> Any:
    from sklearn.base import clone

    copy = clone(estimator)
    settings = {"n_clusters": _N_CLUSTERS, "random_state": 0, **params}
    return copy.set_params(**{key: value for key, value in settings.items() if key in copy.get_params(deep=False)})


def _same_partition(a: NDArray[Any], b: NDArray[Any]) -> bool:
    pairs = set(zip(np.asarray(a).tolist(), np.asarray(b).tolist(), strict=True))
    return len(pairs) == len({x for x, _ in pairs}) == len({y for _, y in pairs})


def check_finds_clusters(estimator: Any) -> None:
    """Three clusters that nobody can miss are found, in every form the data may come in."""
    views, truth = separated_views()
    labels = estimator.fit(views).labels_
    assert labels.shape == (views.n_items,), "labels_ must hold one number per item"
    assert labels.dtype.kind == "i", "labels_ must be integers"
    assert _same_partition(labels, truth), "the clusters were not found"
    assert estimator.n_clusters_ == _N_CLUSTERS, "n_clusters_ must count the clusters"
    for form in (dict(views.items()), list(views.values()), tuple(views.values())):
        assert np.array_equal(_fresh(estimator).fit(form).labels_, labels), f"{type(form).__name__} differs from Views"
    assert np.array_equal(_fresh(estimator).fit_predict(views), labels), "fit_predict differs from fit"


def check_predict(estimator: Any) -> None:
    """Unseen items join the cluster they belong to, one at a time or all at once."""
    views, truth = separated_views()
    new, new_truth = separated_views(seed=1, n_items=12)
    labels = estimator.fit(views).labels_
    predicted = estimator.predict(new)
    assert _same_partition(np.r_[labels, predicted], np.r_[truth, new_truth]), "unseen items went astray"
    alone = np.concatenate([estimator.predict(new[i : i + 1]) for i in range(new.n_items)])
    assert np.array_equal(alone, predicted), "an item's label depends on who else is predicted"


def check_seed(estimator: Any) -> None:
    """The same seed gives the same labels, and fitting again forgets the first fit."""
    views, _ = separated_views()
    first = estimator.fit(views).labels_.copy()
    assert np.array_equal(_fresh(estimator).fit(views).labels_, first), "the same seed gave other labels"
    assert np.array_equal(estimator.fit(views).labels_, first), "a second fit gave other labels"


def check_row_order(estimator: Any) -> None:
    """Permuting the items permutes the labels."""
    views, _ = separated_views()
    order = np.random.default_rng(3).permutation(views.n_items)
    labels = estimator.fit(views).labels_
    assert _same_partition(_fresh(estimator).fit(views[order]).labels_, labels[order]), "the order of items matters"


def check_view_order(estimator: Any) -> None:
    """The order of the views changes nothing."""
    views, _ = separated_views()
    turned = views[list(reversed(views.names))]
    labels = estimator.fit(views).labels_
    other = _fresh(estimator).fit(turned)
    assert _same_partition(other.labels_, labels), "the order of the views matters"
    assert _same_partition(other.predict(views), labels), "predict does not match views by name"


def check_missing_view(estimator: Any) -> None:
    """Items that lack a view are placed by the others, in fit and in predict."""
    views, truth = separated_views()
    looks = views["looks"].copy()
    looks[:10] = np.nan
    holes = {"looks": looks, "text": views["text"], "tags": views["tags"]}
    labels = estimator.fit(holes).labels_
    assert _same_partition(labels, truth), "items that lack a view went astray in fit"
    assert _same_partition(np.r_[estimator.predict(views), labels], np.r_[truth, truth]), "predict differs"
    for absent in views.names:
        rest = {name: matrix for name, matrix in views.items() if name != absent}
        predicted = estimator.predict(rest)
        assert _same_partition(np.r_[predicted, labels], np.r_[truth, truth]), f"predict needs view {absent!r}"


def check_item_without_views(estimator: Any) -> None:
    """An item that lacks every view gets -1 and one warning; the others are not disturbed."""
    views, truth = separated_views()
    holes = {name: matrix.copy() for name, matrix in views.items()}
    for matrix in holes.values():
        matrix[7] = np.nan
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        labels = estimator.fit(holes).labels_
    assert labels[7] == -1, "an item without views must get label -1"
    assert len(caught) == 1, f"expected one warning, got {len(caught)}"
    rest = np.arange(views.n_items) != 7
    assert _same_partition(labels[rest], truth[rest]), "the other items were disturbed"


def check_sparse_equals_dense(estimator: Any) -> None:
    """A sparse view gives what the same view gives when dense."""
    from scipy.sparse import csr_array, csr_matrix

    views, _ = separated_views()
    dense = dict(views.items())
    labels = estimator.fit(dense).labels_
    for kind in (csr_matrix, csr_array):
        mixed = {**dense, "tags": kind(dense["tags"])}
        other = _fresh(estimator).fit(mixed)
        assert np.array_equal(other.labels_, labels), f"{kind.__name__} differs from dense"
        assert np.array_equal(other.predict(mixed), estimator.predict(dense)), "predict differs for sparse"


def check_float32_close_to_float64(estimator: Any) -> None:
    """Single precision finds the same clusters."""
    double, _ = separated_views()
    single, _ = separated_views(dtype=np.float32)
    labels = estimator.fit(double).labels_
    assert _same_partition(_fresh(estimator).fit(single).labels_, labels), "float32 and float64 disagree"


def check_input_untouched(estimator: Any) -> None:
    """Input is never written to: read-only and memory-mapped arrays work and nothing changes."""
    views, _ = separated_views()
    labels = estimator.fit(views).labels_
    writable = {name: np.array(matrix) for name, matrix in views.items()}
    before = {name: matrix.copy() for name, matrix in writable.items()}
    _fresh(estimator).fit(writable).predict(writable)
    assert all(np.array_equal(writable[name], before[name]) for name in writable), "the input was changed"
    with tempfile.TemporaryDirectory() as folder:
        mapped = {}
        for name, matrix in views.items():
            np.save(f"{folder}/{name}.npy", matrix)
            mapped[name] = np.load(f"{folder}/{name}.npy", mmap_mode="r")
        assert np.array_equal(_fresh(estimator).fit(mapped).labels_, labels), "a memory map gave other labels"
        mapped.clear()
    fortran = {name: np.asfortranarray(matrix) for name, matrix in views.items()}
    assert np.array_equal(_fresh(estimator).fit(fortran).labels_, labels), "column order in memory matters"


def check_clone(estimator: Any) -> None:
    """A clone has the same settings and no memory of the fit."""
    from sklearn.base import clone

    views, _ = separated_views()
    copy = clone(estimator.fit(views))
    assert repr(copy.get_params()) == repr(estimator.get_params()), "clone changed the settings"
    assert not [name for name in vars(copy) if name.endswith("_")], "clone kept results"


def check_one_item(estimator: Any) -> None:
    """A collection of one item has one cluster."""
    views, _ = separated_views()
    model = _fresh(estimator, n_clusters=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # with one item every view is constant
        assert model.fit(views[:1]).labels_.tolist() == [0], "the one item must get label 0"
    assert model.predict(views[:1]).tolist() == [0]


def check_one_view(estimator: Any) -> None:
    """One view is enough, as a plain array too."""
    views, truth = separated_views()
    labels = estimator.fit([views["looks"]]).labels_
    assert _same_partition(labels, truth), "one view was not enough"
    assert np.array_equal(_fresh(estimator).fit(views["looks"]).labels_, labels), "a plain array differs"


def check_as_many_clusters_as_items(estimator: Any) -> None:
    """With k = n every item is its own cluster; with k > n there is an error that says so."""
    views, _ = separated_views(n_items=6)
    assert len(set(_fresh(estimator, n_clusters=6).fit(views).labels_.tolist())) == 6, "k = n must separate all"
    try:
        _fresh(estimator, n_clusters=7).fit(views)
    except ValueError as error:
        assert "7" in str(error) and "6" in str(error), "the error must name both numbers"
    else:
        raise AssertionError("k > n must be an error")


def check_duplicates(estimator: Any) -> None:
    """Items that are alike in every view share a cluster, also when there are fewer kinds than clusters."""
    views, _ = separated_views(n_items=3)
    rows = np.repeat(np.arange(3), 4)
    labels = estimator.fit(views[rows]).labels_
    assert _same_partition(labels, rows), "equal items were separated"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = _fresh(estimator, n_clusters=5).fit(views[rows]).labels_
    assert _same_partition(labels, rows), "equal items were separated where k exceeds their kinds"


def check_save_and_load(estimator: Any) -> None:
    """A model read back from disk predicts what the saved one does."""
    from .persist import load, save

    views, _ = separated_views()
    new, _ = separated_views(seed=1, n_items=12)
    estimator.fit(views)
    with tempfile.TemporaryDirectory() as folder:
        back = load(save(estimator, f"{folder}/model"))
    assert type(back) is type(estimator)
    assert repr(back.get_params()) == repr(estimator.get_params()), "parameters were changed"
    assert np.array_equal(back.labels_, estimator.labels_), "labels_ were changed"
    assert np.array_equal(back.predict(new), estimator.predict(new)), "the loaded model predicts otherwise"
    kept = {name for name in vars(estimator) if name.endswith("_")}
    assert kept == {name for name in vars(back) if name.endswith("_")}, "a fitted attribute was lost"
