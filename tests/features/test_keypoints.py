"""Local descriptors: by hand, against a plain twin, and against OpenCV where it is there."""

import sys

import numpy as np
import pytest
from PIL import Image

from manyview.errors import MissingExtra, ParameterError, ViewError
from manyview.features import _sift_kernels as kernels
from manyview.features.keypoints import _describe, dense_sift, grey_image, interest_points


def sift_at(image, points, cell_width, min_contrast=0.0):
    return _describe(grey_image(image), np.asarray(points), cell_width, min_contrast)


def blobs(seed, height=90, width=120):
    """A smooth random picture, uint8."""
    from scipy.ndimage import gaussian_filter

    noise = gaussian_filter(np.random.default_rng(seed).normal(size=(height, width)), 2.0)
    return np.uint8(np.interp(noise, (noise.min(), noise.max()), (0, 255)))


def plain_descriptor(magnitude, direction, row, column, width):
    """The definition, one pixel after another."""
    histogram = np.zeros((6, 6, 8))
    reach = int(np.ceil(2.5 * width))
    for i in range(-reach, reach + 1):
        for j in range(-reach, reach + 1):
            r, c = row + i, column + j
            y, x = i / width + 1.5, j / width + 1.5
            if not (-1 < y < 4 and -1 < x < 4 and 0 < r < magnitude.shape[0] - 1 and 0 < c < magnitude.shape[1] - 1):
                continue
            value = magnitude[r, c] * np.exp(-((i / width) ** 2 + (j / width) ** 2) / 8)
            y0, x0, o0 = int(np.floor(y)), int(np.floor(x)), int(np.floor(direction[r, c]))
            for dy, wy in ((0, 1 - (y - y0)), (1, y - y0)):
                for dx, wx in ((0, 1 - (x - x0)), (1, x - x0)):
                    for do, wo in ((0, 1 - (direction[r, c] - o0)), (1, direction[r, c] - o0)):
                        histogram[y0 + 1 + dy, x0 + 1 + dx, (o0 + do) % 8] += value * wy * wx * wo
    flat = histogram[1:5, 1:5].ravel()
    flat = np.minimum(flat, 0.2 * np.linalg.norm(flat))
    return np.minimum(np.rint(512 * flat / np.linalg.norm(flat)), 255)


@pytest.mark.parametrize("width", [3.0, 4.8])
def test_kernel_equals_the_definition(width, seed):
    image = blobs(seed).astype(np.float32)
    magnitude, direction = np.zeros((2, *image.shape), dtype=np.float32)
    kernels.gradients(image, magnitude, direction)
    assert magnitude[5, 6] == pytest.approx(np.hypot(image[5, 7] - image[5, 5], image[4, 6] - image[6, 6]))
    assert (direction >= 0).all() and (direction < 8).all()
    rows, columns = np.array([45, 2, 89, 30]), np.array([60, 3, 119, 0])  # some patches hang over the rim
    out = np.empty((4, 128), dtype=np.uint8)
    kernels.describe(magnitude, direction, rows, columns, width, 0.0, out)
    for n in range(4):
        expected = plain_descriptor(magnitude.astype(float), direction.astype(float), rows[n], columns[n], width)
        assert abs(out[n] - expected).max() <= 1  # rounding


@pytest.mark.parametrize(
    ("ramp", "bin_of_ramp"),
    [(lambda y, x: x, 0), (lambda y, x: -y, 2), (lambda y, x: -x, 4), (lambda y, x: y, 6), (lambda y, x: x - y, 1)],
)
def test_a_ramp_has_one_direction(ramp, bin_of_ramp):
    y, x = np.mgrid[:61, :61]
    values = ramp(y, x).astype(float)
    picture = (values - values.min()) / np.ptp(values)
    found = sift_at(picture, [(30, 30)], 4.0).reshape(16, 8)
    assert (found.argmax(axis=1) == bin_of_ramp).all()
    assert found[:, [b for b in range(8) if b != bin_of_ramp]].max() <= 1


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_equal_to_opencv(layer, seed):
    cv2 = pytest.importorskip("cv2", reason="the opencv extra is not installed: pip install 'manyview[opencv]'")
    image = blobs(seed)
    points = np.random.default_rng(seed).integers((0, 0), (120, 90), size=(50, 2))
    sigma = 1.6 * 2 ** (layer / 3)
    keypoints = [cv2.KeyPoint(float(x), float(y), 2 * sigma, 0.0, 1.0, layer << 8) for x, y in points]
    _, theirs = cv2.SIFT_create().compute(image, keypoints)
    ours = sift_at(image, points, 3 * sigma).astype(float)
    assert abs(ours - theirs).max() <= 2
    assert abs(ours - theirs).mean() < 0.02


def test_interest_points_by_opencv(seed):
    pytest.importorskip("cv2", reason="the opencv extra is not installed: pip install 'manyview[opencv]'")
    descriptors, frames = interest_points(blobs(seed))
    assert descriptors.dtype == np.uint8 and descriptors.shape[1] == 128
    assert len(descriptors) == len(frames) > 5 and frames.shape[1] == 3
    few, _ = interest_points(blobs(seed), max_points=5)
    assert 5 <= len(few) < len(descriptors)  # OpenCV keeps ties and second directions
    assert interest_points(np.zeros((40, 40)))[0].shape == (0, 128)


def test_interest_points_without_opencv_name_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(MissingExtra, match=r'pip install "manyview\[opencv\]"'):
        interest_points(np.zeros((20, 20)))


class TestGrid:
    def test_points_cover_the_picture(self):
        descriptors, frames = dense_sift(blobs(0), step=10, cell_widths=(4, 6))
        for width in (4, 6):
            x, y, _ = frames[frames[:, 2] == width].T
            assert x.min() >= 2 * width and x.max() <= 119 - 2 * width and y.max() <= 89 - 2 * width
            assert set(np.diff(np.unique(x))) == {10.0}
            assert abs(x.min() - (119 - x.max())) <= 1  # centred
        assert len(descriptors) == len(frames)
        at = frames[:, 2] == 4
        np.testing.assert_array_equal(sift_at(blobs(0), frames[at, :2], 4.0, min_contrast=1.0), descriptors[at])

    def test_flat_patches_are_zero_and_tiny_pictures_give_one(self):
        descriptors, _ = dense_sift(np.full((50, 50), 130, dtype=np.uint8))
        assert len(descriptors) > 3 and not descriptors.any()
        noise = np.uint8(128 + np.random.default_rng(0).integers(0, 2, (60, 60)))
        assert not dense_sift(noise)[0].any()
        assert dense_sift(noise, min_contrast=0)[0].any()
        for shape in ((1, 1), (2, 5), (6, 6)):
            assert dense_sift(np.zeros(shape), cell_widths=[4])[0].shape == (1, 128)

    def test_brightness_and_contrast_do_not_matter(self):
        image = blobs(1).astype(float) / 255
        first, _ = dense_sift(0.2 + 0.5 * image)
        second, _ = dense_sift(image)
        assert abs(first.astype(int) - second).max() <= 1

    def test_bad_settings(self):
        with pytest.raises(ParameterError, match="step must be"):
            dense_sift(blobs(0), step=0)
        with pytest.raises(ParameterError, match="cell_widths must be"):
            dense_sift(blobs(0), cell_widths=())


class TestPictures:
    def test_forms_agree(self, tmp_path):
        colours = np.random.default_rng(0).integers(0, 256, (20, 30, 3), dtype=np.uint8)
        picture = Image.fromarray(colours)
        picture.save(tmp_path / "a.png")
        forms = [colours, colours / 255, colours.astype(int), picture, tmp_path / "a.png", str(tmp_path / "a.png")]
        for form in forms:
            grey = grey_image(form)
            assert grey.shape == (20, 30) and grey.dtype == np.float32
            np.testing.assert_allclose(grey, grey_image(picture), atol=0.51)
        see_through = np.dstack([colours, np.zeros((20, 30), dtype=np.uint8)])
        np.testing.assert_allclose(grey_image(see_through), grey_image(colours), rtol=1e-6)
        np.testing.assert_array_equal(grey_image(colours[..., 0] > 128), 255.0 * (colours[..., 0] > 128))

    def test_large_ones_are_reduced(self, tmp_path):
        picture = Image.fromarray(np.zeros((300, 600), dtype=np.uint8))
        picture.save(tmp_path / "a.jpg")
        for form in (picture, tmp_path / "a.jpg", np.zeros((300, 600))):
            assert grey_image(form, 200).shape == (100, 200)
        assert grey_image(picture, 1000).shape == (300, 600)

    def test_turned_upright(self, tmp_path):
        picture = Image.fromarray(np.tile(np.uint8([0, 250]), (10, 2)))
        exif = picture.getexif()
        exif[0x0112] = 6
        picture.save(tmp_path / "turned.png", exif=exif)
        assert grey_image(tmp_path / "turned.png").shape == (4, 10)

    @pytest.mark.parametrize(
        ("picture", "message"),
        [
            (np.zeros((3, 4, 5)), r"float64 of shape \(3, 4, 5\)"),
            (np.full((3, 4), 3.0), "numbers from 0 to 1, got 3 to 3"),
            (np.full((3, 4), 300), "must hold 0 to 255"),
            (np.full((3, 4), np.nan), "NaN or infinity"),
            (np.zeros((0, 4)), "must be a path"),
            (["a", "b"], "must be a path"),
        ],
    )
    def test_bad_arrays(self, picture, message):
        with pytest.raises(ViewError, match=message):
            grey_image(picture)

    def test_bad_files_are_named(self, tmp_path):
        (tmp_path / "bad.jpg").write_bytes(b"not a picture")
        for name in ("bad.jpg", "missing.jpg"):
            with pytest.raises(ViewError, match=f"{name} cannot be read"):
                grey_image(tmp_path / name)
