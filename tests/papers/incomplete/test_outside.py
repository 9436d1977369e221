"""Rivals in an interpreter of their own: a stand-in for iMML answers, fails, and goes away."""

import sys

import numpy as np
import pytest

from manyview.data.views import Views
from manyview.errors import ParameterError
from manyview.papers import results, runner
from manyview.papers.incomplete import outside
from manyview.papers.incomplete.views import Incomplete, _run
from manyview.papers.tables import PeerFailed, Row, Task

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
    with pytest.raises(PeerFailed, match="iMML's Parity failed: ValueError: thirteen"):
        outside.imml_labels(python, "Parity", views(), 5, 13)
    assert outside.imml_labels(python, "Parity", views(), 4, 0).max() == 4  # the same process goes on
    joined = outside.imml_filled(python, "Zeros", views(), 3, 0)
    assert joined.shape == (12, 5) and (joined[::3, 3:] == 7).all() and (joined[1::3] != 7).all()


def test_a_process_that_ends_is_said(python, tmp_path):
    (tmp_path / "imml" / "cluster.py").write_text("import os\nos._exit(3)\n")
    with pytest.raises(PeerFailed, match="ended without an answer"):
        outside.imml_labels(python, "Parity", views(), 5, 0)
    (tmp_path / "imml" / "cluster.py").write_text(STAND_IN)
    assert outside.imml_labels(python, "Parity", views(), 5, 0).max() == 5  # another process is asked


def test_an_interpreter_without_it_is_the_askers_mistake(python, tmp_path):
    (tmp_path / "imml" / "cluster.py").write_text("import nothing_of_the_kind")
    with pytest.raises(ParameterError, match="cannot import iMML's Parity.*Install iMML there"):
        outside.imml_labels(python, "Parity", views(), 5, 0)


def test_a_table_goes_on_without_what_a_rival_could_not_do():
    def fails_when_much_is_missing(given, k, seed):
        if given.mask.mean() < 0.6:
            raise PeerFailed("no convergence")
        return np.arange(given.n_items) % k

    whole = Views({name: np.random.default_rng(0).normal(size=(60, 3)) for name in "abc"})
    task = Task("made", np.arange(60) % 2, ("a", "b"), data=Incomplete(whole))
    lines = [Row("some", _run(task, fails_when_much_is_missing, (0.0, 0.3, 0.7))), Row("none", refuse)]
    cells = {(row.name, 0): runner._run(None, task, row, 0) for row in lines}
    assert set(cells["some", 0]["figures"]) == {"NMI 0%", "ACC 0%", "NMI 30%", "ACC 30%"}
    assert cells["some", 0]["failed"] == ["70% missing: no convergence"]
    assert cells["some", 0]["traces"]["NMI"]["points"][-1][0] == 30
    assert cells["none", 0]["figures"] == {} and cells["none", 0]["failed"] == ["not today"]
    said = results._failed(lines, {row.name: [cells[row.name, 0]] for row in lines})
    assert said == ["some, run 1: 70% missing: no convergence", "none, run 1: not today"]


def refuse(seed):
    raise PeerFailed("not today")
