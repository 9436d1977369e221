"""Small ONNX files for the tests, written field by field, so that no package is needed to make them."""

import numpy as np

FLOAT, UINT8, INT64 = 1, 2, 7


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
