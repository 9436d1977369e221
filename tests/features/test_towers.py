"""The text network of a pair: what it is given, and what it must give."""

import json

import numpy as np
import pytest

from manyview.errors import ParameterError, StoreError
from manyview.features.base import extractor
from manyview.features.towers import is_pair, missing_parts, text_digest, tower_vectors

from .tiny_onnx import FLOAT, INT32, INT64, colour_pair, constant, node, tensor_type, write_model

MEANINGS = {"red": (1, -1, -1), "blue": (-1, -1, 1), "pad": (0, 5, 0)}


@pytest.fixture
def pair(tmp_path):
    return colour_pair(tmp_path / "pair", MEANINGS, ["red", "blue"])


def ask(folder, *texts):
    return tower_vectors(folder, text_digest(folder), 3, texts)


def fixed_length(folder, n_tokens=4, kind=INT32):
    """A network that takes so many tokens and a mask, and sums the numbers of those that the mask leaves."""
    table = np.array([[0, 0, 9], *np.zeros((3, 3)), *MEANINGS.values()], dtype=np.float32)
    write_model(
        folder / "text.onnx",
        [tensor_type(name, kind, [1, n_tokens]) for name in ("attention_mask", "input_ids")],
        [tensor_type("tokens", FLOAT, [1, n_tokens, 3]), tensor_type("out", FLOAT, [1, 3])],
        [
            node("Gather", ["table", "input_ids"], ["tokens"], axis=0),
            node("Cast", ["attention_mask"], ["mask"], to=FLOAT),
            node("Unsqueeze", ["mask", "last"], ["weights"]),
            node("Mul", ["tokens", "weights"], ["counted"]),
            node("ReduceSum", ["counted", "axes"], ["out"], keepdims=0),
        ],
        [
            constant("table", table),
            constant("last", np.array([2], dtype=np.int64)),
            constant("axes", np.array([1], dtype=np.int64)),
        ],
    )
    return folder


def test_texts_are_rows_of_length_one_in_the_space_of_pictures(pair):
    rows = ask(pair, "a photo of red", "red", " ")
    assert np.allclose(rows[0], np.array(MEANINGS["red"]) / np.sqrt(3)) and np.array_equal(rows[0], rows[1])
    assert not rows[2].any()
    picture = extractor("embedding", model=pair).extract([np.full((8, 8, 3), (255, 0, 0), dtype=np.uint8)])[0]
    assert np.isclose(picture @ rows[0], 1, atol=1e-3)


def test_a_model_of_a_fixed_length_gets_it_with_a_mask(pair):
    fixed_length(pair)
    assert np.allclose(ask(pair, "red")[0], np.array(MEANINGS["red"]) / np.sqrt(3))  # what is padded does not count
    long = ask(pair, "red red red red blue blue blue blue")[0]
    assert np.allclose(long, np.array(MEANINGS["red"]) / np.sqrt(3))  # the rest is cut off


def test_the_pad_of_the_tokenizer_is_taken(pair):
    tokenizer = pair / "tokenizer.json"
    held = json.loads(tokenizer.read_text(encoding="utf-8"))
    held["padding"] = {
        "strategy": {"Fixed": 4},
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 6,
        "pad_type_id": 0,
        "pad_token": "pad",
    }
    tokenizer.write_text(json.dumps(held), encoding="utf-8")
    expected = np.array(MEANINGS["red"]) + 3 * np.array(MEANINGS["pad"])
    assert np.allclose(ask(pair, "red")[0], expected / np.linalg.norm(expected))


def test_another_file_is_another_model(pair):
    before = text_digest(pair)
    tower_vectors(pair, before, 3, ["red"])
    colour_pair(pair, MEANINGS, ["red", "blue", "green"])
    assert text_digest(pair) != before
    with pytest.raises(StoreError, match="has changed since"):
        tower_vectors(pair, "0" * 12, 3, ["red"])


def test_what_a_text_model_has_to_be(pair):
    assert is_pair(pair) and not is_pair(pair / "picture.onnx") and not is_pair(None) and missing_parts(pair) == []
    (pair / "text.onnx").write_bytes((pair / "picture.onnx").read_bytes())
    with pytest.raises(ParameterError, match="Export the text encoder alone"):
        ask(pair, "red")
    tokens = [tensor_type("ids", INT64, ["n", "t"])]
    parts = [node("Gather", ["table", "ids"], ["rows"], axis=0)], [constant("table", np.ones((9, 3), np.float32))]
    write_model(pair / "text.onnx", tokens, [tensor_type("rows", FLOAT, ["n", "t", 3])], *parts)
    with pytest.raises(ParameterError, match="no output with one row per text; it has rows"):
        ask(pair, "red")
    (pair / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(StoreError, match="cannot be read as a tokenizer"):
        ask(pair, "red")
    (pair / "tokenizer.json").unlink()
    assert missing_parts(pair) == ["tokenizer.json"]
    with pytest.raises(StoreError, match="is not there any more"):
        ask(pair, "red")
