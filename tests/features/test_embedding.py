"""The ONNX extractor: tiny models whose numbers are known, and the one that ships."""

import json

import numpy as np
import pytest
from PIL import Image

from manyview.errors import ParameterError, StoreError, ViewError, ViewWarning
from manyview.features.base import extractor
from manyview.features.embedding import DEFAULT_MODEL, Embedding, load_onnxruntime

from .tiny_onnx import FLOAT, UINT8, constant, mean_colour, node, tensor_type, write_model

ORANGE = np.full((20, 30, 3), (255, 102, 0), dtype=np.uint8)
PLAIN = {"mean": (0, 0, 0), "std": (1, 1, 1), "unit": False}


@pytest.fixture
def colour_model(tmp_path):
    return mean_colour(tmp_path / "colour.onnx")


class TestAnyModel:
    def test_numbers_by_hand(self, colour_model):
        made = Embedding(colour_model, mean=(0.5, 0.4, 0.0), std=(0.5, 0.1, 2.0), unit=False)
        rows = made.extract([ORANGE, np.zeros((3, 3, 3), dtype=np.uint8)])
        assert rows.dtype == np.float32 and made.columns == ("embedding0", "embedding1", "embedding2")
        np.testing.assert_allclose(rows, [[1, 0, 0], [-1, -4, 0]], atol=1e-6)

    def test_rows_of_length_one_and_a_zero_row_stays(self, colour_model):
        rows = Embedding(colour_model, mean=0, std=1).extract([ORANGE, np.zeros((3, 3, 3), dtype=np.uint8)])
        np.testing.assert_allclose(rows, [[1 / np.hypot(1, 0.4), 0.4 / np.hypot(1, 0.4), 0], [0, 0, 0]], atol=1e-6)

    @pytest.mark.parametrize("batch_size", [1, 2, 5])
    def test_batches_and_threads_do_not_matter(self, colour_model, batch_size, seed):
        pictures = list(np.random.default_rng(seed).integers(0, 256, (5, 9, 7, 3), dtype=np.uint8))
        expected = Embedding(colour_model, **PLAIN).extract(pictures, n_jobs=1)
        made = Embedding(colour_model, **PLAIN, batch_size=batch_size)
        np.testing.assert_array_equal(made.extract(iter(pictures), n_jobs=2), expected)
        assert made.extract([]).shape == (0, 3)

    def test_channels_last(self, tmp_path):
        path = write_model(
            tmp_path / "last.onnx",
            [tensor_type("x", FLOAT, ["n", 2, 2, 3])],
            [tensor_type("out", FLOAT, ["n", 12])],
            [node("Flatten", ["x"], ["out"], axis=1)],
        )
        picture = np.arange(12, dtype=np.uint8).reshape(2, 2, 3) * 20
        rows = Embedding(path, **PLAIN).extract([picture])
        np.testing.assert_allclose(rows[0], picture.ravel() / 255, atol=1e-6)

    def test_bytes_need_no_scale(self, tmp_path):
        path = write_model(
            tmp_path / "bytes.onnx",
            [tensor_type("x", UINT8, ["n", 3, 2, 2])],
            [tensor_type("out", FLOAT, ["n", 12])],
            [node("Cast", ["x"], ["f"], to=1), node("Flatten", ["f"], ["out"], axis=1)],
        )
        rows = Embedding(path, unit=False).extract([ORANGE])
        np.testing.assert_array_equal(rows[0], np.repeat([255, 102, 0], 4))

    def test_maps_and_tokens_are_averaged(self, tmp_path):
        shape = tensor_type("x", FLOAT, ["n", 3, 2, 2])
        maps = write_model(
            tmp_path / "maps.onnx",
            [shape],
            [tensor_type("out", FLOAT, ["n", "a", "b", "c"])],
            [node("Relu", ["x"], ["out"])],
        )
        tokens = write_model(
            tmp_path / "tokens.onnx",
            [shape],
            [tensor_type("out", FLOAT, ["n", "a", "b"])],
            [node("Reshape", ["x", "to"], ["flat"]), node("Transpose", ["flat"], ["out"], perm=[0, 2, 1])],
            [constant("to", np.array([0, 3, 4]))],
        )
        for path in (maps, tokens):
            made = Embedding(path, **PLAIN)
            assert made.n_features == 3
            np.testing.assert_allclose(made.extract([ORANGE])[0], [1, 0.4, 0], atol=1e-6)

    def test_an_output_by_name(self, tmp_path):
        path = write_model(
            tmp_path / "two.onnx",
            [tensor_type("x", FLOAT, ["n", 3, 2, 2])],
            [tensor_type("logits", FLOAT, ["n", 12]), tensor_type("emb", FLOAT, ["n", 12])],
            [node("Flatten", ["x"], ["emb"], axis=1), node("Neg", ["emb"], ["logits"])],
        )
        assert Embedding(path, **PLAIN).extract([ORANGE])[0, 0] == 1
        assert Embedding(path, **PLAIN, output="logits").extract([ORANGE])[0, 0] == -1
        with pytest.raises(ParameterError, match="output must be one of 'logits', 'emb'"):
            Embedding(path, **PLAIN, output="other").extract([ORANGE])


class TestPreparation:
    def test_read_from_the_file_beside_it(self, colour_model):
        config = {"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.25, 0.5]}
        (colour_model.parent / "preprocessor_config.json").write_text(json.dumps(config))
        np.testing.assert_allclose(Embedding(colour_model, unit=False).extract([ORANGE])[0], [1, -0.4, -1], atol=1e-6)
        again = Embedding(colour_model, **PLAIN)  # what the caller says comes first
        np.testing.assert_allclose(again.extract([ORANGE])[0], [1, 0.4, 0], atol=1e-6)

    def test_mean_of_bytes(self, colour_model):
        config = {"do_rescale": False, "image_mean": [127] * 3, "image_std": [128] * 3}
        (colour_model.parent / "preprocessor_config.json").write_text(json.dumps(config))
        np.testing.assert_allclose(
            Embedding(colour_model, unit=False).extract([ORANGE])[0], [1, -25 / 128, -127 / 128], atol=1e-6
        )

    def test_whole_picture_or_its_middle(self, colour_model):
        wide = np.zeros((10, 30, 3), dtype=np.uint8)
        wide[:, 10:20] = 255
        assert Embedding(colour_model, **PLAIN).extract([wide])[0, 0] == pytest.approx(1 / 3, abs=0.05)
        assert Embedding(colour_model, **PLAIN, crop=True).extract([wide])[0, 0] == pytest.approx(1, abs=0.05)
        tall = wide.transpose(1, 0, 2)
        assert Embedding(colour_model, **PLAIN, crop=True).extract([tall])[0, 0] == pytest.approx(1, abs=0.05)

    def test_crop_of_a_larger_resize_as_the_file_says(self, colour_model):
        config = {
            "image_mean": [0.0] * 3,
            "image_std": [1.0] * 3,
            "do_center_crop": True,
            "crop_size": {"height": 8, "width": 8},
            "size": {"shortest_edge": 16},
        }
        (colour_model.parent / "preprocessor_config.json").write_text(json.dumps(config))
        framed = np.zeros((32, 32, 3), dtype=np.uint8)
        framed[8:24, 8:24] = 255
        made = Embedding(colour_model, unit=False)
        assert made.extract([framed])[0, 0] == pytest.approx(1, abs=0.06)
        assert "crop of 16" in made.version

    def test_a_guess_is_announced(self, colour_model):
        with pytest.warns(ViewWarning, match=r"colour\.onnx does not say how pixels are scaled.*Pass mean="):
            rows = Embedding(colour_model, unit=False).extract([ORANGE])
        np.testing.assert_allclose(rows[0], [(1 - 0.485) / 0.229, (0.4 - 0.456) / 0.224, -0.406 / 0.225], rtol=1e-5)

    def test_free_size_must_be_said(self, tmp_path):
        path = write_model(
            tmp_path / "free.onnx",
            [tensor_type("x", FLOAT, ["n", 3, "h", "w"])],
            [tensor_type("emb", FLOAT, ["n", 3])],
            [node("GlobalAveragePool", ["x"], ["p"]), node("Flatten", ["p"], ["emb"], axis=1)],
        )
        with pytest.raises(ParameterError, match="takes pictures of any size; pass size="):
            Embedding(path, **PLAIN).extract([ORANGE])
        made = Embedding(path, **PLAIN, size=16)
        np.testing.assert_allclose(made.extract([ORANGE])[0], [1, 0.4, 0], atol=1e-6)
        assert "16x16" in made.version


class TestTrouble:
    def test_no_such_file_and_no_model(self, tmp_path):
        with pytest.raises(StoreError, match=r"there is no model at .*gone\.onnx"):
            Embedding(tmp_path / "gone.onnx", **PLAIN).extract([ORANGE])
        (tmp_path / "bad.onnx").write_bytes(b"not a model")
        with pytest.raises(StoreError, match=r"bad\.onnx cannot be read as an ONNX model"):
            Embedding(tmp_path / "bad.onnx", **PLAIN).extract([ORANGE])

    def test_two_inputs(self, tmp_path):
        path = write_model(
            tmp_path / "clip.onnx",
            [tensor_type("pixels", FLOAT, ["n", 3, 4, 4]), tensor_type("ids", FLOAT, ["n", 7])],
            [tensor_type("out", FLOAT, ["n", 48])],
            [node("Flatten", ["pixels"], ["out"], axis=1)],
        )
        with pytest.raises(ParameterError, match="must take one input.*pixels.*ids.*Export the picture encoder alone"):
            Embedding(path, **PLAIN).extract([ORANGE])

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"mean": (0, 0, 0)}, "mean and std belong together"),
            ({"mean": (0, 0), "std": (1, 1, 1)}, "mean must be three numbers"),
            ({"mean": (0, 0, 0), "std": (1, 0, 1)}, "std must not hold 0"),
            ({**PLAIN, "size": 9}, "size is 9, but the model .* takes 8 x 8 pictures"),
        ],
    )
    def test_settings(self, colour_model, options, message):
        with pytest.raises(ParameterError, match=message):
            Embedding(colour_model, **options).extract([ORANGE])

    def test_batch_size(self):
        with pytest.raises(ParameterError, match="batch_size must be an integer at least 1"):
            Embedding(batch_size=0)

    def test_bad_pictures_are_numbered(self, colour_model):
        with pytest.raises(ViewError, match="picture 1: a picture must be"):
            Embedding(colour_model, **PLAIN).extract([ORANGE, np.zeros((3, 4, 7))])

    def test_a_description_that_is_none(self, colour_model):
        (colour_model.parent / "preprocessor_config.json").write_text("[1, 2]")
        with pytest.raises(StoreError, match=r"preprocessor_config\.json is not a description"):
            Embedding(colour_model).extract([ORANGE])

    def test_an_output_that_is_no_row_per_picture(self, tmp_path):
        path = write_model(
            tmp_path / "sum.onnx",
            [tensor_type("x", FLOAT, ["n", 3, 2, 2])],
            [tensor_type("out", FLOAT, [12, "n"])],
            [node("Flatten", ["x"], ["rows"], axis=1), node("Transpose", ["rows"], ["out"])],
        )
        with pytest.raises(ParameterError, match=r"shape \(12, 1\) for 1 pictures; one row per picture"):
            Embedding(path, **PLAIN).extract([ORANGE])


def test_version_follows_the_file_not_its_place(tmp_path, colour_model):
    first = Embedding(colour_model, **PLAIN).version
    (tmp_path / "copy").mkdir()
    assert Embedding(mean_colour(tmp_path / "copy" / "other.onnx"), **PLAIN).version == first
    assert Embedding(mean_colour(tmp_path / "copy" / "larger.onnx", size=9), **PLAIN).version != first
    assert Embedding(colour_model, **{**PLAIN, "unit": True}).version != first
    assert Embedding(colour_model, **PLAIN, crop=True).version != first
    assert Embedding(colour_model, **PLAIN, batch_size=3).version == first


class TestShippedModel:
    def test_equals_the_model_run_by_hand(self, seed):
        onnxruntime = load_onnxruntime()

        picture = np.random.default_rng(seed).integers(0, 256, (224, 224, 3), dtype=np.uint8)
        session = onnxruntime.InferenceSession(str(DEFAULT_MODEL), providers=["CPUExecutionProvider"])
        given = ((picture.astype(np.float32) - 127) / 128).transpose(2, 0, 1)[None]
        (expected,) = session.run(["emb"], {"x": given})
        rows = Embedding(unit=False).extract([picture])
        assert rows.shape == (1, 1280)
        np.testing.assert_allclose(rows, expected, atol=1e-3 * np.abs(expected).max())

    def test_unit_rows_that_know_a_picture_again(self, seed):
        y, x = np.mgrid[:200, :260]
        inside = (x - 130) ** 2 + (y - 100) ** 2 < 60**2
        disc = np.where(inside[..., None], (230, 40, 30), (60, 120, 220)).astype(np.uint8)
        mosaic = np.kron(np.random.default_rng(seed).integers(0, 256, (6, 8, 3)), np.ones((30, 30, 1)))
        rows = extractor("embedding").extract([disc, Image.fromarray(disc).resize((160, 120)), np.uint8(mosaic)])
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)
        assert rows[0] @ rows[1] > 0.9 and rows[0] @ rows[2] < 0.7
        np.testing.assert_allclose(extractor("embedding", batch_size=1).extract([disc]), rows[:1], atol=1e-5)

    def test_it_ships_with_its_notice(self):
        assert "Apache License" in (DEFAULT_MODEL.parent / "NOTICE.md").read_text(encoding="utf-8")
        assert "Version 2.0" in (DEFAULT_MODEL.parent / "LICENSE-APACHE-2.0.txt").read_text(encoding="utf-8")
