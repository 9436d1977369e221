"""A pair of networks of your own, one for pictures and one for texts, whose rows can be compared (as CLIP's can).

A pair is a folder with ``picture.onnx``, ``text.onnx``, ``tokenizer.json`` (as the package ``tokenizers`` reads it)
and, as every picture model, ``preprocessor_config.json``. The picture network is read by ``Embedding``, the one for
texts here: when the first text is asked for, and dropped some minutes after the last one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError, StoreError
from .embedding import PICTURE_TOWER, load_onnxruntime, one_line
from .sentences import TextModel

__all__ = ["TEXT_TOWER", "TOKENIZER", "is_pair", "missing_parts", "text_digest", "tower_vectors"]

TEXT_TOWER, TOKENIZER = "text.onnx", "tokenizer.json"
_OUTPUTS = ("text_embeds", "emb", "embedding", "sentence_embedding")
_TYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_LONGEST = 77
"""Tokens of a text that count where neither the model nor its tokenizer says: CLIP's."""


def is_pair(model: str | os.PathLike[str] | None) -> bool:
    """Is this a folder, as a pair is? A single file is a picture model alone."""
    return model is not None and os.path.isdir(model)


def missing_parts(folder: str | os.PathLike[str]) -> list[str]:
    """Names of the files that a pair needs and this folder lacks."""
    return [name for name in (PICTURE_TOWER, TEXT_TOWER, TOKENIZER) if not (Path(folder) / name).is_file()]


def text_digest(folder: str | os.PathLike[str]) -> str:
    """The first digits of the SHA-256 of the text network and its tokenizer."""
    digest = sha256()
    for name in (TEXT_TOWER, TOKENIZER):
        path = Path(folder) / name
        try:
            with path.open("rb") as file:
                while part := file.read(1 << 20):
                    digest.update(part)
        except FileNotFoundError as error:
            raise StoreError(f"the text model of your own, {path}, is not there any more.") from error
        except OSError as error:
            raise StoreError(f"the text model of your own, {path}, cannot be read: {error.strerror}.") from error
    return digest.hexdigest()[:12]


_held: dict[tuple[str, str], TextModel] = {}
"""The pair that was asked last, by folder and digest."""


def tower_vectors(
    folder: str | os.PathLike[str], digest: str, n_numbers: int, texts: Iterable[str]
) -> NDArray[np.float32]:
    """One row of length one per text, with as many numbers as a picture's; a blank text has zeros.

    ``digest`` is what the files have to have: one that was changed is not asked, for its rows would mean other things.
    """
    key = (os.path.abspath(folder), digest)
    if key not in _held:
        for model in _held.values():
            model.drop()
        _held.clear()
        _held[key] = TextModel(lambda: _load(Path(key[0]), digest, n_numbers), n_numbers)
    return _held[key].vectors(texts)


def _load(folder: Path, digest: str, n_numbers: int) -> Callable[[str], Any]:
    from tokenizers import Tokenizer

    if text_digest(folder) != digest:
        raise StoreError(f"the text model in {folder} has changed since this collection's pictures were read with it.")
    path = folder / TEXT_TOWER
    onnxruntime = load_onnxruntime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has its own kinds, under no common root
        raise StoreError(f"{path} cannot be read as an ONNX model: {one_line(error)}.") from error
    try:
        tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    except Exception as error:  # a plain Exception is what tokenizers raises
        raise StoreError(f"{folder / TOKENIZER} cannot be read as a tokenizer: {one_line(error)}.") from error
    inputs, output = _doors(session, path)
    length = inputs[0].shape[1] if isinstance(inputs[0].shape[1], int) else None
    pad = (tokenizer.padding or {}).get("pad_id", 0)
    if length is not None:
        tokenizer.no_padding()
    if length is not None or not tokenizer.truncation:
        tokenizer.enable_truncation(length or _LONGEST)

    def vector(text: str) -> Any:
        coded = tokenizer.encode(text)
        more = 0 if length is None else length - len(coded.ids)
        parts = {
            "input_ids": [*coded.ids, *[pad] * more],
            "attention_mask": [*coded.attention_mask, *[0] * more],
            "token_type_ids": [0] * (len(coded.ids) + more),
        }
        named = {one.name: parts.get(one.name, parts["input_ids"]) for one in inputs}
        given = {one.name: np.array([named[one.name]], dtype=_TYPES[one.type]) for one in inputs}
        try:
            (found,) = session.run([output], given)
        except Exception as error:
            raise StoreError(f"the model {path} failed on the text {text[:60]!r}: {one_line(error)}.") from error
        row = np.asarray(found, dtype=np.float64).ravel()
        if row.size != n_numbers:
            raise ParameterError(
                f"the model {path} gives {row.size} numbers for a text, {PICTURE_TOWER} beside it {n_numbers} for a "
                "picture. Both have to end in the space that they share: export them with their projections."
            )
        size = np.linalg.norm(row)
        if not np.isfinite(size):
            raise ParameterError(f"the model {path} gave NaN or infinity for the text {text[:60]!r}.")
        return row / (size or 1)

    return vector


def _doors(session: Any, path: Path) -> tuple[list[Any], str]:
    """What the text network is to be given, its tokens first, and the output to take."""
    inputs = sorted(session.get_inputs(), key=lambda one: one.name != "input_ids")
    others = {one.name for one in inputs[1:]} - {"attention_mask", "token_type_ids"}
    if others or any(len(one.shape) != 2 or one.type not in _TYPES for one in inputs):
        listed = ", ".join(f"{one.name} {one.type} {one.shape}" for one in inputs)
        raise ParameterError(
            f"the model {path} must take tokens, whole numbers as (n, tokens), and at most an attention_mask beside "
            f"them; it takes {listed}. Export the text encoder alone."
        )
    outputs = session.get_outputs()
    names = [one.name for one in outputs]
    known = [name for name in _OUTPUTS if name in names] or [one.name for one in outputs if len(one.shape) == 2]
    if not known:
        raise ParameterError(f"the model {path} has no output with one row per text; it has {', '.join(names)}.")
    return inputs, known[0]
