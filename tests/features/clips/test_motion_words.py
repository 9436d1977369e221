"""Clips as shares of HOG3D words."""

import numpy as np
import pytest

from manyview.errors import ParameterError, ViewError
from manyview.features.base import extractor
from manyview.features.clips.hog3d import hog3d
from manyview.features.intersection import intersection_map

from ...moving import texture


def moving(dx, dy, seed=0, n_bursts=1):
    """Bursts of a texture that moves by (dx, dy) pixels a frame."""
    world = texture(seed)
    start = np.array([70, 70])
    frames = [world[y : y + 64, x : x + 64] for x, y in (start - np.multiply((dx, dy), n) for n in range(6))]
    return np.stack([np.stack(frames)] * n_bursts)


CLIPS = [moving(dx, dy, seed) for seed in range(3) for dx, dy in ((0, 0), (2, 0), (-2, 0), (0, 2))]
NONE = np.empty((0, 6, 64, 64), np.uint8)


@pytest.fixture(scope="module")
def learned():
    made = extractor("motion_words", n_words=20)
    made.learn(CLIPS)
    return made


def test_rows_are_shares_of_the_nearest_words(learned):
    words = learned.state()["words_"].astype(float)
    plain = extractor("motion_words", n_words=20, intersection=False)
    plain.restore(learned.state())
    shares = plain.extract(CLIPS)
    for clip, row in zip(CLIPS[:3], shares, strict=False):
        descriptors = np.concatenate([hog3d(burst)[0] for burst in clip]).astype(float)
        nearest = ((descriptors[:, None] - words) ** 2).sum(axis=2).argmin(axis=1)
        np.testing.assert_allclose(row, np.bincount(nearest, minlength=20) / len(descriptors), rtol=1e-6)
    assert plain.columns == tuple(f"word{n}" for n in range(20)) and shares.dtype == np.float32
    np.testing.assert_allclose(learned.extract(CLIPS), intersection_map(shares), atol=1e-6)
    assert learned.columns[:4] == ("word0", "word0 cos", "word0 sin", "word1") and learned.n_features == 60


def test_it_tells_movements_apart_whatever_moves(learned):
    """The nearest clip of another texture moves the same way, for every clip."""
    rows = learned.extract(CLIPS).reshape(3, 4, -1)
    for seed, other in ((0, 1), (1, 2), (2, 0)):
        nearness = rows[seed] @ rows[other].T
        np.testing.assert_array_equal(nearness.argmax(axis=1), np.arange(4))


def test_a_clip_without_bursts_has_no_row_and_threads_do_not_count(learned):
    rows = learned.extract([CLIPS[0], NONE, np.empty((0, 0, 0, 0), np.uint8)], n_jobs=2)
    assert np.isfinite(rows[0]).all() and np.isnan(rows[1:]).all()
    np.testing.assert_array_equal(rows[0], learned.extract(CLIPS[:1], n_jobs=1)[0])
    assert learned.extract([]).shape == (0, 60)


def test_length_of_a_clip_does_not_count(learned):
    longer = np.concatenate([CLIPS[1], CLIPS[1]])
    np.testing.assert_allclose(learned.extract([longer]), learned.extract([CLIPS[1]]), rtol=1e-6)


def test_few_clips_have_fewer_words():
    made = extractor("motion_words")
    made.learn([moving(1, 0), NONE])
    assert len(made.state()["words_"]) == 5  # 58 descriptors
    assert np.isfinite(made.extract([moving(1, 0)])).all()


def test_learned_twice_is_the_same(learned):
    again = extractor("motion_words", n_words=20)
    again.learn(iter(CLIPS), n_jobs=2)
    np.testing.assert_array_equal(again.state()["words_"], learned.state()["words_"])
    assert again.version == learned.version == "1 n_words=20"


def test_errors_say_what_to_do(learned):
    new = extractor("motion_words")
    with pytest.raises(ParameterError, match="learned nothing yet: call learn with the clips"):
        new.extract(CLIPS)
    with pytest.raises(ParameterError, match=r"is its words, got \['other'\]"):
        new.restore({"other": 1})
    with pytest.raises(ViewError, match=r"got \(6, 64, 64\)"):
        learned.extract([CLIPS[0][0]])
    with pytest.raises(ViewError, match="no clips"):
        new.learn([])
    with pytest.raises(ParameterError, match="n_words must be"):
        extractor("motion_words", n_words=0)
