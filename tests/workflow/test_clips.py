"""Clips among photographs: looks bring them together, motion must not set them apart."""

import numpy as np
import pytest
from PIL import Image

from manyview import Collection, ConsensusClustering
from manyview.workflow.compute import default_views
from manyview.workflow.run_views import fit_views, sensible_views

from ..untagged import rows_of


def collection_of(folder, kinds):
    """Files of some kinds, with looks of two subjects in turn, and motion for the clips."""
    pytest.importorskip("av")
    (folder / "items").mkdir()
    for number, kind in enumerate(kinds):
        if kind == "picture":
            Image.new("RGB", (16, 16), (number, 0, 0)).save(folder / "items" / f"{number:02}.png")
        else:
            (folder / "items" / f"{number:02}.mp4").write_bytes(b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom%02d" % number)
    made = Collection.create(folder / "c.manyview", folder / "items")
    assert [item.kind for item in made.items] == list(kinds)
    n = len(kinds) // 2
    rows = rows_of(("elephant", "kitchen"), n=n, noise=0.3)
    made.add_view("embedding", "1", rows[np.arange(2 * n).reshape(2, n).T.ravel()], made.items.ids)
    moves = np.array([kind == "video" for kind in kinds])
    made.add_view("motion", "1", np.random.default_rng(0).random((moves.sum(), 4)), made.items.ids[moves])
    return made


def test_photographs_and_clips_of_a_subject_are_one_cluster(tmp_path):
    with collection_of(tmp_path, ["picture"] * 10 + ["video"] * 10) as made:
        assert default_views(made) == ("embedding",) and sensible_views(made) == ["embedding"]
        X, said, _ = fit_views(made, None, "consensus", made.tags)
        assert X.names == ("embedding",) and any("motion is left out" in line for line in said)
        labels = ConsensusClustering(2, random_state=0).fit(X).labels_
        assert len(set(labels[::2])) == len(set(labels[1::2])) == 1 and labels[0] != labels[1]
        named, said, _ = fit_views(made, ["embedding", "motion"], "consensus", made.tags)
        assert set(named.names) == {"embedding", "motion"}  # whoever wants it names it
        assert not any("left out" in line for line in said)


def test_where_all_are_clips_motion_counts(tmp_path):
    with collection_of(tmp_path, ["video"] * 6) as made:
        assert default_views(made) == ("embedding", "motion")
        assert set(sensible_views(made)) == {"embedding", "motion"}
