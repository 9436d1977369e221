"""BagOfWords: pictures as counts of visual words."""

import numpy as np
import pytest
from PIL import Image
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import manyview
from manyview import PLSA, BagOfWords
from manyview.errors import MissingExtra, ParameterError, ViewError
from manyview.features.coding import DescriptorSample, _nearest
from manyview.features.keypoints import dense_sift
from manyview.metrics import class_entropy


def stripes(seed, n_pictures=12, size=64):
    """Stripes that lie or stand, with noise: two kinds of pictures."""
    rng = np.random.default_rng(seed)
    kinds = np.arange(n_pictures) % 2
    y, x = np.mgrid[:size, :size]
    pictures = []
    for kind in kinds:
        wave = np.sin(2 * np.pi * (y if kind else x) / rng.uniform(7, 9) + rng.uniform(0, 6))
        pictures.append(np.uint8(np.clip(128 + 60 * wave + rng.normal(0, 8, wave.shape), 0, 255)))
    return pictures, kinds


def test_counts_are_those_of_the_nearest_words(seed):
    pictures, _ = stripes(seed)
    model = BagOfWords(20, random_state=seed).fit(pictures)
    counts = model.transform(pictures)
    assert issparse(counts) and counts.shape == (12, 20) and counts.dtype == np.float64
    assert model.words_.shape == (20, 128) and model.words_.dtype == np.float32
    for picture, row in zip(pictures[:3], counts.toarray(), strict=False):
        descriptors = dense_sift(picture)[0].astype(float)
        words = ((descriptors[:, None] - model.words_) ** 2).sum(axis=2).argmin(axis=1)
        np.testing.assert_array_equal(row, np.bincount(words, minlength=20))
    assert model.n_descriptors_ == counts.sum()
    np.testing.assert_array_equal(model.get_feature_names_out()[:2], ["word0", "word1"])


def test_pictures_in_any_form_and_threads_give_the_same(tmp_path, seed):
    pictures, _ = stripes(seed, n_pictures=40)  # more than are in memory at once
    paths = []
    for number, picture in enumerate(pictures):
        paths.append(tmp_path / f"{number}.png")
        Image.fromarray(picture).save(paths[-1])
    first = BagOfWords(15, random_state=0, n_jobs=1).fit_transform(pictures)
    for form in (np.stack(pictures), paths, [Image.fromarray(p) for p in pictures], tuple(map(str, paths))):
        other = BagOfWords(15, random_state=0, n_jobs=2).fit_transform(form)
        np.testing.assert_array_equal(other.toarray(), first.toarray())
    model = BagOfWords(15, random_state=0).fit(iter(pictures))  # a stream, read once
    np.testing.assert_array_equal(model.transform(iter(pictures)).toarray(), first.toarray())
    assert model.transform([]).shape == (0, 15)
    with pytest.raises(ViewError, match="reads the pictures twice"):
        model.fit_transform(iter(pictures))


def test_from_pixels_to_clusters(seed):
    pictures, kinds = stripes(seed)
    labels = make_pipeline(BagOfWords(20, random_state=0), PLSA(2, random_state=0)).fit_predict(pictures)
    assert class_entropy(kinds, labels) == 0


def test_the_sample_is_even_and_bounded(seed):
    rng = np.random.default_rng(seed)
    taken = np.zeros(1000)
    for _ in range(200):
        sample = DescriptorSample(50, rng)
        for start in range(0, 1000, 40):
            rows = np.zeros((40, 128), dtype=np.uint8)
            rows[:, 0], rows[:, 1] = np.arange(start, start + 40) // 250, np.arange(start, start + 40) % 250
            sample.add(rows)
            assert sample._held <= 100 + 40
        kept = sample.take().astype(int)
        assert kept.shape == (50, 128) and sample.n_seen == 1000
        np.add.at(taken, kept[:, 0] * 250 + kept[:, 1], 1)
    assert taken.sum() == 200 * 50 and taken.max() < 30  # ten expected for each
    quarters = taken.reshape(4, 250).sum(axis=1)
    assert abs(quarters - 2500).max() < 250


def test_large_collections_are_sampled(seed):
    pictures, _ = stripes(seed)
    model = BagOfWords(10, max_descriptors=60, random_state=0).fit(pictures)
    assert model.words_.shape == (10, 128) and model.n_descriptors_ > 60


def test_nearest_in_tiles(seed):
    rng = np.random.default_rng(seed)
    descriptors, words = (
        rng.integers(0, 256, (300, 128), dtype=np.uint8),
        rng.normal(60, 40, (7, 128)).astype(np.float32),
    )
    expected = ((descriptors[:, None] - words.astype(float)) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(_nearest(descriptors, words, 0.5 * (words**2).sum(axis=1)), expected)


def test_save_load_and_clone(tmp_path, seed):
    pictures, _ = stripes(seed)
    model = BagOfWords(10, random_state=0).fit(pictures)
    back = manyview.load(manyview.save(model, tmp_path / "book"))
    np.testing.assert_array_equal(back.transform(pictures).toarray(), model.transform(pictures).toarray())
    assert not [name for name in vars(clone(model)) if name.endswith("_")]


def test_interest_points(seed, monkeypatch):
    pictures, _ = stripes(seed)
    monkeypatch.setitem(__import__("sys").modules, "cv2", None)
    with pytest.raises(MissingExtra, match="manyview\\[opencv\\]"):
        BagOfWords(5, points="interest").fit(pictures)


def test_interest_points_with_opencv(seed):
    pytest.importorskip("cv2", reason="the opencv extra is not installed: pip install 'manyview[opencv]'")
    pictures, _ = stripes(seed)
    pictures.append(np.zeros((64, 64), dtype=np.uint8))  # nothing stands out: an empty row
    counts = BagOfWords(5, points="interest", random_state=0).fit_transform(pictures)
    assert counts.shape == (13, 5) and counts.sum() > 5 and counts[12].sum() == 0


def test_errors_say_what_to_do(tmp_path):
    pictures, _ = stripes(0)
    with pytest.raises(ParameterError, match="at most the number of descriptors"):
        BagOfWords(10_000).fit(pictures)
    with pytest.raises(ParameterError, match="points must be one of"):
        BagOfWords(points="corner").fit(pictures)
    with pytest.raises(ParameterError, match="cell_widths must be a number above 0"):
        BagOfWords(cell_widths=(4, -1)).fit(pictures)
    with pytest.raises(ViewError, match="expected several pictures"):
        BagOfWords().fit("photo.jpg")
    with pytest.raises(ViewError, match=r"picture 2: .*gone\.jpg cannot be read"):
        BagOfWords(5).fit([*pictures[:2], tmp_path / "gone.jpg"])
