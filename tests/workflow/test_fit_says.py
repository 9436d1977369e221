"""What a fit says about its views, and about defaults that have changed since the run it goes on from."""

import numpy as np

from manyview import Collection, ConsensusClustering

from .living_samples import make, points


def test_changed_defaults_are_told_and_clusters_stay(tmp_path, monkeypatch):
    with make(tmp_path) as collection:
        with monkeypatch.context() as before:
            # a run of the time when ranks were the default
            before.setattr(ConsensusClustering.__init__, "__kwdefaults__", _with(scale="rank"))
            first = collection.fit(n_clusters=4)
        again = collection.fit(n_clusters=4)
        said = " ".join(again.figures["said"])
        assert f"the defaults have changed since run {first.id}: scale is 'auto' (was 'rank')." in said
        assert np.array_equal(collection.runs.labels(first.id)[1], collection.runs.labels(again.id)[1])
        third = collection.fit(n_clusters=4)
        assert "defaults have changed" not in " ".join(third.figures["said"])
        assert set(third.figures["view_scalings"]) == {"looks", "more"}
        assert third.figures["scaling_agreement"]["looks"]["rank"] > 0.3


def test_views_that_tell_different_stories_are_told(tmp_path):
    kinds = np.repeat(np.arange(4), 30)
    views = points(kinds)
    views["more"] = np.random.default_rng(0).permutation(views["more"])
    np.savez(tmp_path / "x.npz", **{f"view_{name}": rows for name, rows in views.items()})
    with Collection.create(tmp_path / "c.manyview", tmp_path / "x.npz") as collection:
        run = collection.fit(n_clusters=4)
        assert any("tell different stories" in line for line in run.figures["said"])


def _with(**changed):
    return {**ConsensusClustering.__init__.__kwdefaults__, **changed}
