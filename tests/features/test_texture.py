"""Wavelets, local binary patterns and colour texture, against the definitions."""

import numpy as np
import pytest

from manyview.features.base import extractor


def stripes(across=True, period=2, side=128):
    line = np.uint8(np.arange(side) // (period // 2) % 2 * 255)
    return np.tile(line, (side, 1)) if across else np.tile(line[:, None], (1, side))


class TestWavelets:
    made = extractor("wavelets")

    def test_names_are_24_and_104(self):
        assert sum(name.startswith("pyramid") for name in self.made.columns) == 24
        assert sum(name.startswith("tree") for name in self.made.columns) == 104
        assert not [name for name in self.made.columns if ".HH." in name or "HH.HL" in name]  # never split again

    def test_a_flat_picture_has_only_its_smooth_band(self):
        row = dict(zip(self.made.columns, self.made.extract([np.full((30, 40), 255, np.uint8)])[0], strict=True))
        # the smooth band doubles with every level: orthonormal filters
        for path, level in (("LL", 2.0), ("LL.LL", 4.0), ("LL.LL.LL", 8.0)):
            assert row[f"tree {path} mean"] == pytest.approx(level, rel=1e-4)
        others = [value for name, value in row.items() if not set(name.split()[1].split(".")) == {"LL"}]
        assert np.abs(others).max() < 1e-3

    @pytest.mark.parametrize(("across", "band"), [(True, "HL"), (False, "LH")])
    def test_stripes_have_a_direction(self, across, band):
        row = dict(zip(self.made.columns, self.made.extract([stripes(across)])[0], strict=True))
        energies = {name: row[f"pyramid {name} mean"] for name in ("HL", "LH", "HH")}
        assert max(energies, key=energies.get) == band
        assert energies[band] > 100 * max(value for name, value in energies.items() if name != band)

    def test_energy_is_kept(self, seed):
        picture = np.random.default_rng(seed).integers(0, 256, (128, 128), dtype=np.uint8)
        row = dict(zip(self.made.columns, self.made.extract([picture])[0].astype(float), strict=True))
        bands = [row[f"tree {band} mean"] ** 2 + row[f"tree {band} std"] ** 2 for band in ("LL", "HL", "LH", "HH")]
        assert np.mean(bands) == pytest.approx(np.mean((picture / 255.0) ** 2), rel=1e-4)


def plain_patterns(grey):
    """Bilinear neighbours at radius 1, anticlockwise from the right; 1 where not darker."""
    padded = np.pad(grey.astype(float), 2, mode="edge")
    counts = np.zeros(256)
    for r in range(grey.shape[0]):
        for c in range(grey.shape[1]):
            code = 0
            for k in range(8):
                y, x = r + 2 - np.round(np.sin(k * np.pi / 4), 5), c + 2 + np.round(np.cos(k * np.pi / 4), 5)
                y0, x0 = int(np.floor(y)), int(np.floor(x))
                dy, dx = y - y0, x - x0
                window = padded[y0 : y0 + 2, x0 : x0 + 2]
                value = np.array([1 - dy, dy]) @ window @ np.array([1 - dx, dx])
                code |= int(value >= grey[r, c]) << k
            counts[code] += 1
    return counts / grey.size


class TestPatterns:
    def test_equal_to_the_definition(self, seed):
        grey = np.random.default_rng(seed).integers(0, 256, (9, 12), dtype=np.uint8)
        np.testing.assert_allclose(extractor("lbp").extract([grey])[0], plain_patterns(grey), atol=1e-6)

    def test_flat_is_one_pattern_and_cells_are_counted_apart(self):
        row = extractor("lbp").extract([np.full((6, 6), 9, np.uint8)])[0]
        assert row[255] == 1 and row.sum() == 1
        cells = extractor("lbp", grid=2).extract([np.full((6, 6), 9, np.uint8)])[0].reshape(4, 256)
        np.testing.assert_array_equal(cells[:, 255], 1)

    def test_brightness_does_not_matter(self, seed):
        grey = np.random.default_rng(seed).integers(0, 100, (20, 20), dtype=np.uint8)
        one, other = extractor("lbp").extract([grey, grey + 100])
        np.testing.assert_array_equal(one, other)


class TestColourTexture:
    def test_flat_colours_by_hand(self):
        # pure blue: H 2/3, S 1, V 1; the ring sums to eight times the pixel, nothing varies
        row = extractor("color_texture").extract([np.full((5, 6, 3), (0, 0, 255), np.uint8)])[0].reshape(3, 8, 2)
        np.testing.assert_allclose(row[:, 0, 0], [8 * np.cos(4 * np.pi / 3), 8 * np.sin(4 * np.pi / 3), 8], atol=1e-5)
        np.testing.assert_allclose(row[:, 1:], 0, atol=1e-5)
        np.testing.assert_allclose(row[..., 1], 0, atol=1e-5)

    def test_value_channel_equals_a_loop(self, seed):
        grey = np.random.default_rng(seed).integers(0, 256, (6, 7), dtype=np.uint8)
        row = extractor("color_texture").extract([grey])[0].reshape(3, 8, 2)[2]
        padded = np.pad(grey / 255.0, 1, mode="edge")
        steps = [(0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0), (1, 1)]
        found = []
        for r in range(6):
            for c in range(7):
                ring = np.array([padded[r + 1 + dy, c + 1 + dx] for dy, dx in steps])
                angles = np.arange(8) * np.pi / 4
                one = [ring.sum()]
                for order in (1, 2, 3):
                    one += [(ring * np.cos(order * angles)).sum(), -(ring * np.sin(order * angles)).sum()]
                found.append([*one, (ring * np.cos(4 * angles)).sum()])
        np.testing.assert_allclose(row[:, 0], np.mean(found, axis=0), atol=1e-5)
        np.testing.assert_allclose(row[:, 1], np.std(found, axis=0), atol=1e-5)
