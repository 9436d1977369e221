"""Rivals in an interpreter of their own: a stand-in for iMML answers, fails, and goes away."""

import sys

import numpy as np
import pytest

from manyview.data.views import Views
from manyview.errors import ParameterError
from manyview.papers.incomplete import outside

STAND_IN = """
import numpy as np

class Parity:
    def __init__(self, n_clusters, random_state):
        self.k, self.seed = n_clusters, random_state

    def fit_predict(self, views):
        print("iMML prints, and nobody minds")
        if self.seed == 13:
            raise ValueError("thirteen")
        return [int(np.isnan(row).all()) * self.k for row in views[1]]

class Zeros:
    def __init__(self, n_components, random_state):
        pass

    def fit_transform(self, views):
        return [view.fillna(7.0) for view in views]
"""


@pytest.fixture
def python(tmp_path, monkeypatch):
    for part in ("cluster", "impute"):
        folder = tmp_path / "imml"
        folder.mkdir(exist_ok=True)
        (folder / f"{part}.py").write_text(STAND_IN)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    outside.end_children()
    yield sys.executable
    outside.end_children()


def views():
    rng = np.random.default_rng(0)
    has = np.ones((12, 2), dtype=bool)
    has[::3, 1] = False
    return Views({"a": rng.normal(size=(12, 3)), "b": rng.normal(size=(12, 2))}, mask=has)


def test_views_go_out_and_labels_come_back_and_a_failure_is_said(python):
    labels = outside.imml_labels(python, "Parity", views(), 5, 0)
    assert labels.tolist() == [5, 0, 0] * 4  # it saw which items lack the second view
    with pytest.raises(ParameterError, match="iMML's Parity failed: ValueError: thirteen"):
        outside.imml_labels(python, "Parity", views(), 5, 13)
    assert outside.imml_labels(python, "Parity", views(), 4, 0).max() == 4  # the same process goes on
    joined = outside.imml_filled(python, "Zeros", views(), 3, 0)
    assert joined.shape == (12, 5) and (joined[::3, 3:] == 7).all() and (joined[1::3] != 7).all()


def test_a_process_that_ends_is_said(python, tmp_path):
    (tmp_path / "imml" / "cluster.py").write_text("import os\nos._exit(3)\n")
    with pytest.raises(ParameterError, match="ended without an answer"):
        outside.imml_labels(python, "Parity", views(), 5, 0)
