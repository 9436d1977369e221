"""Small ONNX files for the tests, written field by field, so that no package is needed to make them."""

import numpy as np

FLOAT, UINT8, INT32, INT64 = 1, 2, 6, 7


def _varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def _field(number, value):
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    value = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def tensor_type(name, kind, shape):
    """A ValueInfoProto; words in the shape are free lengths."""
    dims = b"".join(_field(1, _field(1, n) if isinstance(n, int) else _field(2, n)) for n in shape)
    return _field(1, name) + _field(2, _field(1, _field(1, kind) + _field(2, dims)))


def node(kind, inputs, outputs, **integers):
    body = b"".join(_field(1, name) for name in inputs) + b"".join(_field(2, name) for name in outputs)
    body += _field(4, kind)
    for key, value in integers.items():
        values = value if isinstance(value, list) else [value]
        held = b"".join(_field(8, n) for n in values) if isinstance(value, list) else _field(3, value)
        body += _field(5, _field(1, key) + held + _field(20, 7 if isinstance(value, list) else 2))
    return body


def constant(name, values):
    values = np.asarray(values)
    kind = {"float32": FLOAT, "int64": INT64}[values.dtype.name]
    dims = b"".join(_field(1, n) for n in values.shape)
    return dims + _field(2, kind) + _field(8, name) + _field(9, values.tobytes())


def write_model(path, inputs, outputs, nodes, constants=()):
    """An ONNX file (opset 17) from ``tensor_type`` and ``node`` parts."""
    graph = b"".join(_field(1, part) for part in nodes) + _field(2, "tiny")
    graph += b"".join(_field(5, part) for part in constants)
    graph += b"".join(_field(11, part) for part in inputs) + b"".join(_field(12, part) for part in outputs)
    path.write_bytes(_field(1, 8) + _field(7, graph) + _field(8, _field(1, "") + _field(2, 17)))
    return path


def mean_colour(path, size=8, name="emb"):
    """(n, 3, size, size) -> mean of each channel, (n, 3)."""
    return write_model(
        path,
        [tensor_type("x", FLOAT, ["n", 3, size, size])],
        [tensor_type(name, FLOAT, ["n", 3])],
        [node("GlobalAveragePool", ["x"], ["pooled"]), node("Flatten", ["pooled"], [name], axis=1)],
    )


def colour_pair(folder, meanings, texts, n_columns=3, seed=0):
    """A picture and a text network in one folder that share a space of mean colours, from -1 to 1.

    ``meanings`` gives words a colour; every other word of ``texts`` means something near grey white.
    """
    from tokenizers import Tokenizer, models, pre_tokenizers

    folder.mkdir(exist_ok=True)
    mean_colour(folder / "picture.onnx", name="image_embeds")
    scale = '{"do_rescale": true, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}'
    (folder / "preprocessor_config.json").write_text(scale, encoding="utf-8")
    cut = pre_tokenizers.Whitespace()
    tokens = dict.fromkeys(["[UNK]", "a", "photo", "of", *meanings])
    tokens |= dict.fromkeys(token for text in texts for token, _ in cut.pre_tokenize_str(text))
    unknown = next(iter(tokens))
    tokenizer = Tokenizer(models.WordLevel({token: n for n, token in enumerate(tokens)}, unk_token=unknown))
    tokenizer.pre_tokenizer = cut
    tokenizer.save(str(folder / "tokenizer.json"))
    table = 1 + 0.6 * np.random.default_rng(seed).normal(size=(len(tokens), n_columns))
    table[1:4] = 0  # "a photo of"
    for word, colour in meanings.items():
        table[list(tokens).index(word), :3] = colour
    write_model(
        folder / "text.onnx",
        [tensor_type("input_ids", INT64, ["n", "tokens"])],
        [tensor_type("text_embeds", FLOAT, ["n", n_columns])],
        [
            node("Gather", ["table", "input_ids"], ["rows"], axis=0),
            node("ReduceSum", ["rows", "axes"], ["text_embeds"], keepdims=0),
        ],
        [constant("table", table.astype(np.float32)), constant("axes", np.array([1], dtype=np.int64))],
    )
    return folder
