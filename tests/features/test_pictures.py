"""A picture in any form becomes the same bytes."""

import numpy as np
import pytest
from PIL import Image

from manyview.errors import ViewError
from manyview.features.pictures import grey_levels, grid_cells, resized, rgb_picture


@pytest.fixture
def colours():
    return np.random.default_rng(0).integers(0, 256, (20, 30, 3), dtype=np.uint8)


class TestForms:
    def test_arrays_and_images_agree(self, colours):
        for form in (colours, colours.astype(int), colours / 255, Image.fromarray(colours), colours.tolist()):
            np.testing.assert_array_equal(rgb_picture(form), colours)

    def test_grey_ones(self, colours):
        grey = colours[..., 0]
        three = np.repeat(grey[..., None], 3, axis=2)
        for form in (grey, Image.fromarray(grey), Image.fromarray(np.dstack([grey, np.full_like(grey, 255)]), "LA")):
            np.testing.assert_array_equal(rgb_picture(form), three)
        np.testing.assert_array_equal(rgb_picture(grey > 100), 255 * (three > 100))
        np.testing.assert_array_equal(rgb_picture(Image.fromarray(grey > 100)), 255 * (three > 100))

    def test_palette_and_cmyk(self, colours):
        flat = np.kron(colours[:2, :2], np.ones((5, 5, 1), dtype=np.uint8))
        np.testing.assert_array_equal(rgb_picture(Image.fromarray(flat).convert("P", palette=1, colors=8)), flat)
        np.testing.assert_allclose(rgb_picture(Image.fromarray(flat).convert("CMYK")).astype(int), flat, atol=1)

    def test_what_is_transparent_becomes_white(self):
        ink = np.zeros((2, 3, 4), dtype=np.uint8)
        ink[0, :, 3] = 0, 128, 255
        ink[1, :, :3], ink[1, :, 3] = (10, 20, 30), 255
        expected = np.array([[[255] * 3, [127] * 3, [0] * 3], [[10, 20, 30]] * 3])
        for form in (ink, Image.fromarray(ink), ink / 255):
            np.testing.assert_array_equal(rgb_picture(form), expected)
        hole = Image.fromarray(np.uint8([[0, 1]]), "P")
        hole.putpalette([9, 9, 9, 8, 8, 8])
        hole.info["transparency"] = 1
        np.testing.assert_array_equal(rgb_picture(hole), [[[9] * 3, [255] * 3]])

    @pytest.mark.parametrize(
        ("values", "expected"),
        [
            (np.uint16([[0, 256, 65535]]), [0, 1, 255]),
            (np.int32([[0, 100, 255]]), [0, 100, 255]),
            (np.int32([[-10, 0, 10]]), [0, 128, 255]),
            (np.float32([[0, 0.5, 1]]), [0, 128, 255]),
            (np.float32([[0, 128, 255]]), [0, 128, 255]),
            (np.float32([[-1, np.nan, 1000]]), [0, 0, 255]),
            (np.float32([[5, 5, 5]]), [5, 5, 5]),
            (np.float32([[-5, -5, -5]]), [0, 0, 0]),
        ],
    )
    def test_wide_numbers(self, values, expected):
        np.testing.assert_allclose(rgb_picture(Image.fromarray(values))[0, :, 0].astype(int), expected, atol=1)

    @pytest.mark.parametrize("orientation", range(1, 9))
    def test_turned_upright_as_pillow_does(self, colours, orientation):
        from PIL import ImageOps

        image = Image.fromarray(colours)
        image.getexif()[0x0112] = orientation
        np.testing.assert_array_equal(rgb_picture(image), np.asarray(ImageOps.exif_transpose(image)))

    @pytest.mark.parametrize(
        ("picture", "message"),
        [
            (np.zeros((3, 4, 5)), r"must be a Pillow image or an array of shape .* got float64 of shape \(3, 4, 5\)"),
            (np.zeros((0, 4)), "got float64 of shape"),
            (["a"], "got <U1 of shape"),
            (np.full((2, 2), 3.0), "floats must hold numbers from 0 to 1, got 3 to 3"),
            (np.full((2, 2), -1), "integers must hold 0 to 255, got -1 to -1"),
            (np.full((2, 2), np.inf), "NaN or infinity"),
        ],
    )
    def test_bad_ones(self, picture, message):
        with pytest.raises(ViewError, match=message):
            rgb_picture(picture)


def test_large_ones_are_reduced(colours):
    assert rgb_picture(np.zeros((300, 600)), 200).shape == (100, 200, 3)
    assert rgb_picture(np.zeros((1, 5000)), 200).shape == (1, 200, 3)
    np.testing.assert_array_equal(rgb_picture(colours, 30), colours)
    assert resized(colours, 30, 20) is colours


def test_grey_is_pillows(colours):
    np.testing.assert_allclose(grey_levels(colours), np.asarray(Image.fromarray(colours).convert("L")), atol=0.6)


def test_cells_cover_the_picture_once():
    seen = np.zeros((11, 7), dtype=int)
    for rows, columns in grid_cells(seen.shape, 3):
        seen[rows, columns] += 1
    assert (seen == 1).all()
    assert [(r.start, r.stop) for r, _ in grid_cells((1, 1), 2)] == [(0, 1)] * 4
