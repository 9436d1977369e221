"""Edge directions and oriented gradients, on pictures whose edges are known."""

import numpy as np
import pytest

from manyview.errors import ParameterError
from manyview.features.base import extractor
from manyview.papers.rmkmc import HOG_OF_100


class TestDirections:
    made = extractor("edges")

    def row(self, picture):
        return dict(zip(self.made.columns, self.made.extract([picture])[0].tolist(), strict=True))

    @pytest.mark.parametrize(
        ("picture", "direction"),
        [
            (np.tile(np.uint8([0] * 20 + [255] * 20), (40, 1)), "0°"),
            (np.tile(np.uint8([255] * 20 + [0] * 20), (40, 1)), "180°"),
            (np.tile(np.uint8([255] * 20 + [0] * 20)[:, None], (1, 40)), "90°"),
            (np.tile(np.uint8([0] * 20 + [255] * 20)[:, None], (1, 40)), "270°"),
        ],
    )
    def test_one_edge(self, picture, direction):
        row = self.row(picture)
        assert row[direction] == pytest.approx(1)
        assert 0.9 < row["none"] < 1  # about one line of forty
        assert sum(row.values()) - row["none"] == pytest.approx(1)

    def test_no_edge(self):
        row = self.row(np.full((30, 30), 90, np.uint8))
        assert row["none"] == 1 and sum(row.values()) == 1

    def test_a_quarter_turn_moves_the_histogram_by_ninety_degrees(self, seed):
        from scipy.ndimage import gaussian_filter

        noise = gaussian_filter(np.random.default_rng(seed).normal(size=(90, 90)), 2)
        picture = np.uint8(np.interp(noise, (noise.min(), noise.max()), (0, 255)))
        rows = self.made.extract([picture, np.rot90(picture)])
        np.testing.assert_allclose(np.roll(rows[0, :72], 18), rows[1, :72], atol=0.02)
        assert rows[0, 72] == pytest.approx(rows[1, 72], abs=0.01)


class TestGradients:
    def test_a_ramp_has_one_direction(self):
        ramp = np.tile(np.uint8(np.linspace(0, 255, 64)), (64, 1))
        cells = extractor("hog", block=1).extract([ramp])[0].reshape(8, 8, 9)
        # the gradient is horizontal: the bin of 0 degrees, alone in its cell
        np.testing.assert_allclose(cells[..., 0], 1, atol=0.01)
        np.testing.assert_allclose(cells[..., 1:], 0, atol=0.1)

    def test_blocks_have_length_one_and_flat_ones_none(self, seed):
        picture = np.random.default_rng(seed).integers(0, 256, (64, 64), dtype=np.uint8)
        picture[:16, :16] = 50
        blocks = extractor("hog").extract([picture])[0].reshape(7, 7, 36)
        length = np.linalg.norm(blocks, axis=2)
        np.testing.assert_allclose(length[3:, 3:], 1, atol=1e-3)
        flat = extractor("hog").extract([np.full((9, 9), 30, np.uint8)])
        assert not flat.any()

    def test_names_match_the_layout(self):
        picture = np.zeros((64, 64), dtype=np.uint8)
        picture[:8, :4] = 255  # one edge, in the first cell
        made = extractor("hog")
        row = dict(zip(made.columns, made.extract([picture])[0].tolist(), strict=True))
        assert row["0,0 0,0 0"] > 0.5
        assert all(value == 0 for name, value in row.items() if not name.startswith(("0,0", "0,1", "1,0", "1,1")))

    def test_a_hundred_numbers_as_many_as_the_rmkmc_papers(self):
        """5 x 5 cells of four directions, each cell of length one: a picture whose halves differ in direction."""
        picture = np.zeros((80, 80), dtype=np.uint8)
        across, along = np.meshgrid(np.arange(80), np.arange(80))
        picture[:] = np.where(along < 40, 3 * across, 3 * (along - 40))
        cells = extractor("hog", **HOG_OF_100).extract([picture])[0].reshape(5, 5, 4)
        top, middle, bottom = np.array([1.0, 0, 0, 0]), cells[2], np.array([0, 0, 1.0, 0])
        np.testing.assert_allclose(cells[:2, 1:4], np.broadcast_to(top, (2, 3, 4)), atol=1e-3)  # brighter to the right
        np.testing.assert_allclose(cells[3:, 1:4], np.broadcast_to(bottom, (2, 3, 4)), atol=1e-3)  # brighter downwards
        assert (middle[:, [1, 3]] < 0.3).all() and (middle[1:4, [0, 2]] > 0.1).all()  # the cells that hold both

    def test_sizes(self):
        assert extractor("hog", side=32, cell=8, block=1, directions=4).n_features == 64
        with pytest.raises(ParameterError, match="a block of 9 x 9 cells does not fit"):
            extractor("hog", block=9)
