"""A collection in which only some items vote: everything that a run offers holds for the others too."""

import numpy as np
import pytest

from manyview.methods.consensus import cost
from manyview.metrics import normalized_mutual_info

from .tagged import make_collection, make_tagged


@pytest.fixture
def few_vote(monkeypatch):
    for name, number in (("MOST", 80), ("_FEWEST", 10), ("_PER_CLUSTER", 1)):
        monkeypatch.setattr(cost, name, number)


def test_fit_levels_add_and_refit(tmp_path, few_vote):
    with make_collection(tmp_path, n_items=240) as collection:
        run = collection.fit(n_clusters=4, n_jobs=1)
        model = collection.runs.model(run.id)
        assert 80 <= model.landmarks_.size < 120 and run.figures["n_items"] == 240
        ids, labels = collection.runs.labels(run.id)
        assert ids.size == 240 and (labels >= 0).all()
        assert normalized_mutual_info(np.arange(240) % 4, labels) > 0.8
        assert sum(run.figures["view_weights"].values()) == pytest.approx(1.0)
        assert collection.maps.get(run.id).ids.size == 240
        profiles = [row.profile for row in collection.runs.clusters(run.id)]
        assert sum(profile["size"] for profile in profiles) == 240
        finer = collection.cut(6, n_jobs=1)
        _, parts = collection.runs.labels(finer.id)
        assert np.unique(parts).size == 6 and all(np.unique(labels[parts == part]).size == 1 for part in range(6))
        collection.undo()
        (tmp_path / "more").mkdir()
        collection.add(make_tagged(tmp_path / "more", n_items=40, seed=1))
        assert len(collection.items) == 280
        again = collection.fit(n_clusters=4, n_jobs=1)
        assert "continues" in again.settings and collection.runs.model(again.id).landmarks_.size < 200
        now = dict(zip(*(part.tolist() for part in collection.runs.labels(again.id)), strict=True))
        moved = np.array([now[item] for item in ids.tolist()])
        assert normalized_mutual_info(labels, moved) > 0.9
