"""What a fit says about its views, and about defaults that have changed since the run it goes on from."""

import numpy as np
import pytest

from manyview import Collection, ConsensusClustering
from manyview.metrics import normalized_mutual_info

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


@pytest.mark.parametrize("n_tagged", [2, 11, 60])
def test_few_tags_have_a_say_and_no_share_of_items_turns_them_on(tmp_path, n_tagged):
    """Tags on one item in sixty or on half of them: clear looks give the same clusters, with tags among the views."""
    kinds = np.repeat(np.arange(4), 30)
    tags = np.zeros((120, 5), dtype=np.uint8)
    chosen = np.random.default_rng(0).permutation(120)[:n_tagged]
    tags[chosen, 0] = 1
    tags[chosen, 1 + kinds[chosen]] = 1
    tags[chosen[:2], 1:] = [[1, 0, 0, 0], [1, 1, 0, 0]]
    views = {f"view_{name}": rows for name, rows in points(kinds).items()}
    np.savez(tmp_path / "x.npz", **views, tags=tags, tag_names=np.array(["all", "a", "b", "c", "d"]))
    with Collection.create(tmp_path / "c.manyview", tmp_path / "x.npz") as collection:
        run = collection.fit(n_clusters=4)
        used = tags.sum(axis=0) >= 2
        assert ("tags" in run.views) == bool((tags[chosen][:, used] != tags[chosen[0], used]).any())
        found = collection.runs.labels(run.id)[1]
        assert normalized_mutual_info(kinds, found) > 0.95
        assert ("tags" in collection.fit("cca", n_clusters=4).views) == (n_tagged >= 24)


def test_tags_that_are_the_same_wherever_they_are_say_nothing(tmp_path):
    kinds = np.repeat(np.arange(4), 30)
    views = {f"view_{name}": rows for name, rows in points(kinds).items()}
    tags = np.zeros((120, 1), dtype=np.uint8)
    tags[:40] = 1
    np.savez(tmp_path / "x.npz", **views, tags=tags, tag_names=np.array(["holiday"]))
    with Collection.create(tmp_path / "c.manyview", tmp_path / "x.npz") as collection:
        run = collection.fit(n_clusters=4)
        assert "tags" not in run.views
        assert "tags are left out: all items that have one have the same" in " ".join(run.figures["said"])
