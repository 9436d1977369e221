"""GIST and CENTRIST, against plain twins."""

import numpy as np
import pytest

from manyview.errors import ParameterError
from manyview.features.base import extractor
from manyview.features.scene import _census, _gabor_filters, _overlapping, _parts


def smooth(seed, height=90, width=120):
    from scipy.ndimage import gaussian_filter

    noise = gaussian_filter(np.random.default_rng(seed).normal(size=(height, width)), 2.0)
    return np.uint8(np.interp(noise, (noise.min(), noise.max()), (0, 255)))


class TestGist:
    made = extractor("gist")

    def strengths(self, picture):
        return self.made.extract([picture])[0].reshape(4, 8, 4, 4)

    @pytest.mark.parametrize(("period", "scale"), [(4, 0), (6, 1), (12, 2), (22, 3)])
    def test_waves_answer_at_their_scale_and_direction(self, period, scale):
        x = np.arange(128)
        wave = np.uint8(128 + 60 * np.sin(2 * np.pi * x / period))
        across = self.strengths(np.tile(wave, (128, 1))).mean(axis=(2, 3))
        down = self.strengths(np.tile(wave[:, None], (1, 128))).mean(axis=(2, 3))
        assert np.unravel_index(across.argmax(), across.shape) == (scale, 0)
        assert np.unravel_index(down.argmax(), down.shape) == (scale, 4)

    def test_it_knows_where(self):
        picture = np.full((128, 128), 100, np.uint8)
        picture[96:, :32] += np.uint8(np.random.default_rng(0).integers(0, 100, (32, 32)))
        cells = self.strengths(picture).mean(axis=(0, 1))
        assert np.unravel_index(cells.argmax(), cells.shape) == (3, 0)

    def test_brightness_hardly_matters_and_flat_is_zero(self, seed):
        picture = smooth(seed)
        one, other = self.made.extract([picture, picture // 2 + 60])
        assert np.corrcoef(one, other)[0, 1] > 0.95
        assert np.abs(self.made.extract([np.full((20, 20), 130, np.uint8)])).max() < 1e-4

    def test_filters_have_their_peak_where_they_should(self):
        for number, gabor in enumerate(_gabor_filters()):
            down, across = np.unravel_index(gabor.argmax(), gabor.shape)
            side = gabor.shape[0]
            down, across = (length - side if length > side / 2 else length for length in (down, across))
            scale, turn = divmod(number, 8)
            assert np.hypot(down, across) == pytest.approx(0.3 / 1.85**scale * side, abs=1.5)
            angle = np.degrees(np.arctan2(down, across)) % 360
            assert abs((angle + turn * 22.5 + 180) % 360 - 180) < 4 + 8 * (scale == 3)


class TestCentrist:
    def test_census_by_hand(self):
        grey = np.uint8([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
        # centre 5: not below 1, 2, 3, 4; below 6, 7, 8, 9
        assert _census(grey)[1, 1] == 0b11110000
        assert (_census(np.full((4, 5), 3, np.uint8)) == 255).all()

    def test_parts_are_31(self):
        assert [len(list(_overlapping((64, 48), n))) for n in (4, 2, 1)] == [25, 5, 1]
        seen = np.zeros((64, 48), dtype=int)
        for rows, columns in list(_overlapping(seen.shape, 4))[16:]:
            seen[rows, columns] += 1
        assert seen[8:56, 6:42].min() == seen.max() == 1 and seen.sum() == 48 * 36

    def test_histograms_against_a_loop(self, seed):
        picture = np.repeat(smooth(seed, 40, 56)[..., None], 3, axis=2)
        histograms, levels = _parts(picture)
        grey = picture[:10, :14, 0].astype(int)  # the first part of the finest level
        padded = np.pad(picture[..., 0].astype(int), 1, mode="edge")
        counts = np.zeros(256)
        for r in range(10):
            for c in range(14):
                ring = [padded[r + dy, c + dx] for dy in range(3) for dx in range(3) if (dy, dx) != (1, 1)]
                counts[sum(int(grey[r, c] >= value) << (7 - k) for k, value in enumerate(ring))] += 1
        counts = counts[1:255] - counts[1:255].mean()
        np.testing.assert_allclose(histograms[0], counts / np.linalg.norm(counts), atol=1e-12)
        np.testing.assert_allclose(levels[0], [grey.mean() / 255, (grey / 255).std()])

    def test_components_equal_scikit_learns(self, seed):
        from sklearn.decomposition import PCA

        pictures = [smooth(seed + n) for n in range(4)]
        made = extractor("centrist", n_components=5)
        made.learn(pictures, n_jobs=2)
        rows = np.concatenate([_parts(np.repeat(p[..., None], 3, axis=2))[0] for p in pictures])
        theirs = PCA(5, svd_solver="full").fit(rows)
        ours = made.extract(pictures)[:, :].reshape(4 * 31, 7)[:, :5]
        np.testing.assert_allclose(np.abs(ours), np.abs(theirs.transform(rows)), atol=1e-5)

    def test_nothing_learned_and_wrong_state(self):
        made = extractor("centrist")
        with pytest.raises(ParameterError, match="centrist has learned nothing yet"):
            made.extract([smooth(0)])
        with pytest.raises(ParameterError, match="needs at least one picture"):
            made.learn([])
        with pytest.raises(ParameterError, match="must hold a mean of 254 numbers"):
            made.restore({"mean": np.zeros(3), "components": np.zeros((40, 254))})

    def test_one_picture_is_enough(self):
        made = extractor("centrist")
        made.learn([np.full((8, 8), 3, np.uint8)])
        assert np.isfinite(made.extract([smooth(0)])).all()
