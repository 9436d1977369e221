"""The checks themselves: a good estimator passes, and each kind of bad one is caught by the check made for it."""

import warnings
from typing import ClassVar

import numpy as np
import pytest

from manyview import RobustMultiviewKMeans
from manyview.testing import check_multiview_estimator, multiview_checks, separated_views


class Good(RobustMultiviewKMeans):
    def __init__(self, n_clusters=3, random_state=None):
        super().__init__(n_clusters, n_init=2, view_scale=None, random_state=random_state)  # quick: it is fitted often

    checks_not_applicable: ClassVar = {"check_save_and_load": "this class is not public"}


class OneLabel(Good):
    def fit(self, X, y=None, sample_weight=None):
        super().fit(X)
        self.labels_ = np.zeros_like(self.labels_)
        return self


class SeesNeighbours(Good):
    def predict(self, X):
        return np.roll(super().predict(X), 1)


class Forgetful(Good):
    fits: ClassVar = 0

    def fit(self, X, y=None, sample_weight=None):
        super().fit(X)
        Forgetful.fits += 1  # no two fits in a row number the clusters alike
        self.labels_ = (self.labels_ + Forgetful.fits) % 3
        return self


class OrderMatters(Good):
    def fit(self, X, y=None, sample_weight=None):
        super().fit(X)
        looks = (X if hasattr(X, "values") else {"looks": X[0]})["looks"]
        if looks.shape[0] == 60 and looks[0, 0] < looks[1, 0]:  # neither the data as made nor a part of it
            self.labels_ = np.arange(60) % 3
        return self


class WritesInput(Good):
    def fit(self, X, y=None, sample_weight=None):
        super().fit(X)
        if isinstance(X, dict) and isinstance(X["looks"], np.ndarray) and X["looks"].flags.writeable:
            X["looks"][0] = 0
        return self


class ChangesSettings(Good):
    def fit(self, X, y=None, sample_weight=None):
        super().fit(X)
        self.n_clusters = 4
        return self


class Chatty(Good):
    def fit(self, X, y=None, sample_weight=None):
        warnings.warn("by the way", UserWarning, stacklevel=2)
        return super().fit(X)


def test_a_good_one_passes(capsys):
    check_multiview_estimator(Good(), verbose=True)
    shown = capsys.readouterr().out
    assert "check_row_order: passed" in shown
    assert "check_save_and_load: not applicable, this class is not public" in shown


@pytest.mark.parametrize(
    ("bad", "check"),
    [
        (OneLabel, "check_finds_clusters"),
        (SeesNeighbours, "check_predict"),
        (Forgetful, "check_finds_clusters: dict differs"),
        (OrderMatters, "check_row_order"),
        (WritesInput, "check_input_untouched"),
        (ChangesSettings, "check_"),
        (Chatty, "check_finds_clusters: by the way"),
    ],
)
def test_a_bad_one_is_caught(bad, check):
    with pytest.raises(AssertionError, match=f"{bad.__name__} fails {check}"):
        check_multiview_estimator(bad())


def test_exceptions_must_be_checks_that_exist():
    class Odd(Good):
        checks_not_applicable: ClassVar = {"check_everything": "no"}

    with pytest.raises(AssertionError, match="'check_everything', which is not a check"):
        check_multiview_estimator(Odd())


def test_the_promised_checks_are_there():
    promised = {"row_order", "view_order", "missing_view", "sparse_equals_dense", "float32_close_to_float64", "clone"}
    promised |= {"input_untouched", "seed", "one_item", "one_view", "as_many_clusters_as_items", "duplicates"}
    assert {f"check_{name}" for name in promised | {"save_and_load"}} <= set(multiview_checks())


def test_the_data_is_clear():
    views, truth = separated_views()
    assert views.n_items == len(truth) == 60 and views.names == ("looks", "text", "tags")
    assert set(np.unique(views["tags"])) == {0.0, 1.0}
