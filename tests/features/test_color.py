"""Colour moments and histograms, worked out by hand."""

import numpy as np
import pytest

from manyview.errors import ParameterError
from manyview.features.base import extractor


def test_moments_of_a_flat_colour():
    red = np.full((50, 40, 3), (255, 0, 0), dtype=np.uint8)
    row = extractor("color_moments").extract([red])[0].reshape(25, 3, 3)
    # sRGB red in CIELAB (D65): 53.24, 80.09, 67.20
    np.testing.assert_allclose(row[..., 0], np.tile([53.24, 80.09, 67.20], (25, 1)), atol=0.02)
    assert np.abs(row[..., 1:]).max() < 1e-4


def test_moments_by_hand():
    # One cell, three pixels black and one white: L is 0, 0, 0, 100 and a, b are 0.
    picture = np.uint8([[0, 0], [0, 255]])
    row = extractor("color_moments", grid=1).extract([picture])[0].reshape(3, 3)
    mean, std = 25.0, np.sqrt((3 * 25**2 + 75**2) / 4)
    skew = np.cbrt((3 * (-25.0) ** 3 + 75.0**3) / 4)
    np.testing.assert_allclose(row[0], [mean, std, skew], atol=1e-3)
    np.testing.assert_allclose(row[1:], 0, atol=0.02)


def test_moments_know_where():
    picture = np.zeros((50, 50, 3), dtype=np.uint8)
    picture[:10, 40:] = 255  # the last cell of the first row
    lightness = extractor("color_moments").extract([picture])[0].reshape(5, 5, 3, 3)[..., 0, 0]
    assert lightness[0, 4] == pytest.approx(100, abs=1e-3)
    assert np.abs(np.delete(lightness.ravel(), 4)).max() < 1e-3
    made = extractor("color_moments")
    assert made.columns[made.extract([picture])[0].argmax()] == "0,4 L mean"


def test_fewer_moments_and_cells():
    made = extractor("color_moments", grid=4, moments=1)
    assert made.n_features == 48 and made.columns[:4] == ("0,0 L mean", "0,0 a mean", "0,0 b mean", "0,1 L mean")


def test_histogram_by_hand():
    # pure red (hue 0), pure green (85 of 256: third of eight), dark grey, white; two bright colours are saturated
    picture = np.uint8([[[255, 0, 0], [0, 255, 0]], [[40, 40, 40], [255, 255, 255]]])
    made = extractor("color_histogram")
    row = dict(zip(made.columns, made.extract([picture])[0].tolist(), strict=True))
    assert {name for name, share in row.items() if share} == {"h0 s3 v3", "h2 s3 v3", "h0 s0 v0", "h0 s0 v3"}
    assert set(row.values()) == {0.0, 0.25}


def test_histogram_is_blind_to_place(seed):
    picture = np.random.default_rng(seed).integers(0, 256, (30, 40, 3), dtype=np.uint8)
    made = extractor("color_histogram", hues=6)
    one, other = made.extract([picture, picture[::-1, ::-1]])
    np.testing.assert_array_equal(one, other)
    assert one.sum() == pytest.approx(1) and len(one) == 96


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("color_moments", {"grid": 0}, "grid must be an integer at least 1"),
        ("color_moments", {"moments": 4}, "moments must be an integer at least 1 and at most 3"),
        ("color_histogram", {"hues": 0}, "hues must be"),
    ],
)
def test_bad_settings(name, options, message):
    with pytest.raises(ParameterError, match=message):
        extractor(name, **options)
