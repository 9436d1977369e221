"""Squares around what a picture shows, on pictures made by hand."""

import io

import numpy as np
import pytest
from PIL import Image

from manyview.features.attention import attention_square, square_thumbnail

GREEN, BLUE, RED, SKIN = (60, 130, 50), (120, 160, 220), (200, 40, 40), (224, 172, 140)


def scene(width, height, colour):
    picture = np.empty((height, width, 3), np.uint8)
    picture[:] = colour
    return picture


def rough(picture, amount, seed=0):
    """The same with grain, as grass has."""
    noise = np.random.default_rng(seed).normal(0, amount, picture.shape[:2])
    return np.uint8(np.clip(picture + noise[..., None], 0, 255))


def disc(picture, x, y, radius, colour):
    rows, columns = np.ogrid[: picture.shape[0], : picture.shape[1]]
    picture[(rows - y) ** 2 + (columns - x) ** 2 <= radius**2] = colour
    return picture


def holds(picture, x, y, radius):
    left, top, side = attention_square(picture)
    return left <= x - radius and x + radius <= left + side and top <= y - radius and y + radius <= top + side


@pytest.mark.parametrize("x", [30, 80, 150, 220, 270])
def test_a_thing_is_inside_wherever_it_stands(x):
    assert holds(disc(scene(300, 120, BLUE), x, 60, 25, RED), x, 60, 25)
    upright = disc(scene(300, 120, BLUE), x, 60, 25, RED).swapaxes(0, 1)
    assert holds(np.ascontiguousarray(upright), 60, x, 25)


@pytest.mark.parametrize("x", [40, 260])
def test_rough_ground_does_not_outweigh_a_thing_on_it(x):
    assert holds(disc(rough(scene(300, 120, GREEN), 30), x, 60, 22, RED), x, 60, 22)


def test_a_person_keeps_the_head():
    picture = scene(160, 320, BLUE)
    picture[150:] = rough(scene(160, 170, GREEN), 25)
    picture[90:230, 60:100] = RED
    picture[230:300, 66:94] = (40, 40, 60)
    disc(picture, 80, 70, 20, SKIN)
    centre = (320 - 160) // 2
    assert centre > 50  # the middle would cut it off
    assert holds(picture, 80, 70, 20)


def test_where_nothing_stands_out_the_usual_place_is_taken():
    assert attention_square(scene(300, 100, BLUE)) == (100, 0, 100)
    left, top, side = attention_square(scene(100, 300, BLUE))
    assert (left, side) == (0, 100) and 50 <= top <= 100  # a little above the middle
    assert attention_square(scene(100, 100, BLUE)) == (0, 0, 100)


def test_a_mirrored_picture_is_cut_at_the_mirrored_place():
    picture = disc(rough(scene(300, 120, GREEN), 20), 230, 60, 20, RED)
    left, _, side = attention_square(picture)
    mirrored, _, _ = attention_square(np.ascontiguousarray(picture[:, ::-1]))
    assert abs(mirrored - (300 - side - left)) <= 2


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (2, 300), (300, 2), (37, 41)])
def test_the_square_lies_in_the_picture_and_is_as_large_as_can_be(shape, seed):
    picture = np.random.default_rng(seed).integers(0, 256, (*shape, 3), dtype=np.uint8)
    left, top, side = attention_square(picture)
    assert side == min(shape) and 0 <= left <= shape[1] - side and 0 <= top <= shape[0] - side
    assert attention_square(picture) == (left, top, side)


def encoded(picture):
    made = io.BytesIO()
    Image.fromarray(picture).save(made, "JPEG", quality=95)
    return made.getvalue()


def test_a_thumbnail_becomes_a_square_jpeg_and_a_square_one_stays():
    cut = square_thumbnail(encoded(disc(scene(256, 128, BLUE), 210, 64, 30, RED)))
    with Image.open(io.BytesIO(cut)) as image:
        assert image.format == "JPEG" and image.size == (128, 128)
        pixels = np.asarray(image).astype(int)
    red = pixels[..., 0] - pixels[..., 2] > 80
    assert not red[:, [0, -1]].any()  # whole, as its size says too
    assert red.mean() == pytest.approx(np.pi * 30**2 / 128**2, rel=0.1)
    square = encoded(scene(64, 64, BLUE))
    assert square_thumbnail(square) == square
