"""Clips among photographs: looks bring them together, motion must not set them apart."""

import numpy as np
import pytest
from PIL import Image

from manyview import Collection, ConsensusClustering
from manyview.workflow.compute import compute_views, default_views
from manyview.workflow.run_views import MOTIONS, fit_views, sensible_views

from ..moving import panned, texture
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
    for view in MOTIONS:
        made.add_view(view, "1", np.random.default_rng(0).random((moves.sum(), 4)), made.items.ids[moves])
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
        assert set(sensible_views(made)) == {"embedding", *MOTIONS}


def test_motion_words_are_learned_from_the_clips_and_kept_for_the_next(tmp_path):
    folder = tmp_path / "items"
    folder.mkdir()
    Image.fromarray(texture(0, side=64)).save(folder / "still.png")
    (folder / "first.mp4").write_bytes(panned(texture(1), 1))
    with Collection.create(tmp_path / "c.manyview", folder) as made:
        compute_views(made, ["motion_words"], n_jobs=1)
        words = made.segments.state("motion_words")["words_"]
        assert words.shape == (23, 960)  # four bursts of 58 descriptors
        (folder / "second.mp4").write_bytes(panned(texture(2), 2))
        made.add(n_jobs=1)
        compute_views(made, ["motion_words"], n_jobs=1)
        np.testing.assert_array_equal(made.segments.state("motion_words")["words_"], words)
        views = made.views(["motion_words"])
        there = zip(made.items, views.mask[:, 0], strict=True)
        assert [item.key for item, has in there if has] == ["first.mp4", "second.mp4"]
        rows = views["motion_words"][views.mask[:, 0]]
        assert rows.shape == (2, 69) and np.isfinite(rows).all() and np.abs(rows[0] - rows[1]).max() > 0.01


def test_without_clips_there_are_no_motion_words(tmp_path):
    (tmp_path / "items").mkdir()
    (tmp_path / "items" / "a.txt").write_text("nothing moves here")
    with Collection.create(tmp_path / "c.manyview", tmp_path / "items") as made:
        done = compute_views(made, ["motion_words"])
        (note,) = done.notes
        assert str(note) == "no view 'motion_words': it is made of clips, and there are none."
