"""The same picture again, and pictures that only look like it."""

import io

import numpy as np
import pytest
from PIL import Image

from manyview.errors import ParameterError, ViewError
from manyview.features.duplicates import near_duplicates, perceptual_hash, picture_signature, same_signature


def photo(seed):
    from scipy.ndimage import gaussian_filter

    rng = np.random.default_rng(seed)
    noise = gaussian_filter(rng.normal(size=(120, 160, 3)), (6, 6, 0))
    return Image.fromarray(np.uint8(np.interp(noise, (noise.min(), noise.max()), (0, 255))))


def compressed(picture, quality):
    made = io.BytesIO()
    picture.save(made, "JPEG", quality=quality)
    return Image.open(made)


def variants(picture):
    yield compressed(picture, 40)
    yield picture.resize((80, 60), Image.Resampling.BICUBIC)
    yield compressed(picture.resize((320, 240), Image.Resampling.BICUBIC), 70)
    yield picture.point(lambda value: min(255, value + 12))


class TestHash:
    def test_variants_stay_close_and_strangers_far(self):
        first = [perceptual_hash(photo(seed)) for seed in range(12)]
        for seed, code in enumerate(first):
            assert 0 <= code < 2**64
            for variant in variants(photo(seed)):
                assert (perceptual_hash(variant) ^ code).bit_count() <= 4
        apart = [(a ^ b).bit_count() for i, a in enumerate(first) for b in first[:i]]
        assert min(apart) > 12

    def test_bits_against_scipys_transform(self):
        from scipy.fft import dctn

        grey = np.random.default_rng(1).integers(0, 256, (32, 32), dtype=np.uint8)
        found = dctn(grey.astype(float), norm="ortho")[:8, :8].ravel()
        bits = found > np.median(found[1:])
        bits[0] = np.median(found[1:]) < 0
        assert perceptual_hash(grey) == int("".join("01"[int(bit)] for bit in bits), 2)

    def test_flat_pictures_of_any_size_agree(self):
        assert {perceptual_hash(np.full(shape, 200, np.uint8)) for shape in ((1, 1), (50, 60), (300, 7))} == {0}


class TestGroups:
    def test_variants_join_their_first(self):
        pictures = [p for seed in range(5) for p in (photo(seed), *variants(photo(seed)))]
        hashes, signatures = map(perceptual_hash, pictures), map(picture_signature, pictures)
        first = near_duplicates(list(hashes), list(signatures))
        np.testing.assert_array_equal(first, np.repeat(np.arange(0, 25, 5), 5))

    def test_colour_tells_shapes_apart(self):
        y, x = np.mgrid[:60, :60]
        inside = ((x - 30) ** 2 + (y - 30) ** 2 < 400)[..., None]
        discs = [np.where(inside, colour, 255).astype(np.uint8) for colour in ((200, 0, 0), (0, 60, 200), (200, 0, 0))]
        hashes, signatures = [perceptual_hash(d) for d in discs], [picture_signature(d) for d in discs]
        assert near_duplicates(hashes).tolist() == [0, 0, 0]  # the hash sees shapes only
        assert near_duplicates(hashes, signatures).tolist() == [0, 1, 0]

    def test_black_is_not_white(self):
        flat = [np.full((9, 9), value, np.uint8) for value in (0, 255, 10)]
        signatures = [picture_signature(picture) for picture in flat]
        assert near_duplicates([0, 0, 0], signatures).tolist() == [0, 1, 0]
        assert len(signatures[0]) == 192 and same_signature(*signatures[::2])

    @pytest.mark.parametrize("max_distance", [0, 1, 4, 9])
    def test_equal_to_comparing_all(self, max_distance, seed):
        rng = np.random.default_rng(seed)
        seeds = [int(n) for n in rng.integers(0, 2**63, 30, dtype=np.int64)]
        hashes = [seeds[rng.integers(30)] ^ sum(1 << int(b) for b in rng.choice(64, 3, False)) for _ in range(200)]
        expected, leaders = [], []
        for number, code in enumerate(hashes):
            near = [lead for lead in leaders if (hashes[lead] ^ code).bit_count() <= max_distance]
            expected.append(min(near, default=number))
            leaders += [number] if not near else []
        assert near_duplicates(hashes, max_distance=max_distance).tolist() == expected

    def test_a_chain_of_small_steps_does_not_join_its_ends(self):
        chain = [(1 << n) - 1 for n in range(0, 13)]  # each differs in one bit from the one before
        assert near_duplicates(chain, max_distance=4).tolist() == [0] * 5 + [5] * 5 + [10] * 3

    def test_trouble(self):
        assert near_duplicates([]).shape == (0,)
        with pytest.raises(ViewError, match="2 hashes but 1 signatures"):
            near_duplicates([1, 2], [b"x"])
        with pytest.raises(ParameterError, match="max_distance must be"):
            near_duplicates([1], max_distance=-1)
