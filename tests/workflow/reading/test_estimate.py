"""How long work will take: by the last run of its kind, in proportion to the items."""

import pytest

from manyview.workflow.reading import estimate
from manyview.workflow.reading.estimate import estimate_work

from ..tagged import make_collection, make_tagged


def test_an_estimate_grows_with_the_collection(tmp_path, monkeypatch):
    monkeypatch.setattr(estimate, "_START", 0.0)
    with make_collection(tmp_path, n_items=60) as collection:
        assert "by experience" in estimate_work(collection, "fit").sentence
        runs = {"fit": collection.fit("rmkmc", 4, n_jobs=1), "suggest": collection.suggest(n_jobs=1)}
        for kind, run in runs.items():
            assert run.figures["n_items"] == 60
            found = estimate_work(collection, kind)
            assert found.seconds == pytest.approx(run.seconds) and f"by run {run.id}" in found.sentence
        (tmp_path / "more").mkdir()
        collection.add(make_tagged(tmp_path / "more", n_items=120, seed=1))
        for kind, run in runs.items():
            found = estimate_work(collection, kind)
            assert found.seconds == pytest.approx(run.seconds * len(collection.items) / 60)
        assert len(collection.items) > 100
