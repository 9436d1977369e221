"""What a picture shows, by a pretrained network: the model that ships with manyview, or any ONNX file.

How a picture has to be prepared (size, crop, mean, deviation) is read from the model's input and from a file
``preprocessor_config.json`` beside it, the form in which such models are usually exported; settings of the caller
come first.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..blocks import effective_n_jobs
from ..data.checks import check_choice, check_number
from ..errors import ParameterError, StoreError, ViewWarning
from .base import Extractor, naming_picture
from .pictures import RGB, resized, rgb_picture

__all__ = ["DEFAULT_MODEL", "PICTURE_TOWER", "Embedding", "load_onnxruntime", "one_line"]

DEFAULT_MODEL = Path(__file__).parent / "models" / "efficientnet-lite0.onnx"
"""EfficientNet-Lite0, trained on ImageNet; see NOTICE.md beside it."""
PICTURE_TOWER = "picture.onnx"
"""The picture network in a folder that holds one for texts too, see ``features.towers``."""

_IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
_OUTPUTS = ("image_embeds", "emb", "embedding", "pooler_output")
_TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(uint8)": np.uint8}


def load_onnxruntime() -> Any:
    """The library that runs models, kept from reporting to its maker, which it would begin to do as it is imported."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # its own switch, disable_telemetry_events(), comes too late
    import onnxruntime

    return onnxruntime


class Embedding(Extractor):
    """Pictures as rows of a pretrained network: pictures of the same things lie close together.

    Parameters
    ----------
    model : path of an ONNX file, or None for the one that ships with manyview (1,280 features)
        Of a folder, its ``picture.onnx``.
    unit : bool, default=True
        Divide every row by its length, as k-means on such rows wants it.
    mean, std : three numbers each, of pixels from 0 to 1, red, green, blue
        What is subtracted from a pixel, and what it is divided by. None: from ``preprocessor_config.json`` beside the
        model. Where that is missing too, ImageNet's are taken, with a warning; a model that takes bytes needs neither.
    size : int or None
        Side of the square that the model sees, where it does not say itself.
    crop : bool or None
        True: the middle square of the picture. False: the whole picture, stretched. None: as the file says, else False.
    output : str or None
        Name of the output to take, where the model has several. A map of features is averaged over its positions.
    batch_size : int, default=8
        Pictures at once. Neither it nor the number of threads changes the rows beyond the last bits.

    Notes
    -----
    About 15 ms of one core per picture with the default model, and 160 MB of memory (80 MB one picture at a time).
    """

    name = "embedding"
    reads = "picture"

    def __init__(
        self,
        model: str | os.PathLike[str] | None = None,
        *,
        unit: bool = True,
        mean: Any = None,
        std: Any = None,
        size: int | None = None,
        crop: bool | None = None,
        output: str | None = None,
        batch_size: int = 8,
    ) -> None:
        self.model = model
        self.unit = unit
        self.mean = mean
        self.std = std
        self.size = size
        self.crop = crop
        self.output = output
        self.batch_size = check_number("batch_size", batch_size, integer=True, low=1)

    def __getstate__(self) -> dict[str, Any]:
        """Its settings: whoever takes it to another process opens the model there."""
        return {key: value for key, value in vars(self).items() if key not in ("columns", "_digest", "_door")}

    @property
    def path(self) -> Path:
        """The model's file."""
        if self.model is None:
            return DEFAULT_MODEL
        path = Path(self.model)
        return path / PICTURE_TOWER if path.is_dir() else path

    @property
    def version(self) -> str:
        """The revision, what the model's file holds (not where it lies), and how pictures are prepared."""
        prepared = self._door.prepare
        return f"{self.revision} {self._digest} {prepared.text} output={self._door.output}" + (
            "" if self.unit else " unit=False"
        )

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """embedding0, embedding1, ..."""
        return tuple(f"{self.name}{number}" for number in range(self._door.n_features(self)))

    def extract(self, items: Iterable[Any], *, n_jobs: int | None = None) -> NDArray[np.float32]:
        """One row per picture, float32 (n_pictures, n_features)."""
        door = self._door
        session = door.session(effective_n_jobs(n_jobs))
        pictures, parts, number = iter(items), [np.empty((0, self.n_features), dtype=np.float32)], 0
        while batch := list(islice(pictures, self.batch_size)):
            prepared = []
            for offset, picture in enumerate(batch):
                with naming_picture(number + offset):
                    prepared.append(door.prepare(rgb_picture(picture)))
            parts.append(self._rows(session, np.stack(prepared)))
            number += len(batch)
        return np.concatenate(parts)

    def _rows(self, session: Any, batch: NDArray[Any]) -> NDArray[np.float32]:
        door = self._door
        batch = batch if door.channels_last else batch.transpose(0, 3, 1, 2)
        try:
            (found,) = session.run([door.output], {door.input: np.ascontiguousarray(batch)})
        except Exception as error:  # onnxruntime has its own kinds, one per trouble, under no common root
            raise ParameterError(
                f"the model {self.path} failed on pictures of {batch.shape[1:]}: {one_line(error)}. Set size= to the "
                "side of the square it was made for."
            ) from error
        rows = _pooled(np.asarray(found, dtype=np.float32), len(batch), self.path)
        if self.unit:
            length = np.linalg.norm(rows, axis=1, keepdims=True)
            rows /= np.where(length > 0, length, 1)
        return rows

    @cached_property
    def _digest(self) -> str:
        try:
            return sha256(self.path.read_bytes()).hexdigest()[:12]
        except OSError as error:
            raise StoreError(f"the model {self.path} cannot be read: {error.strerror or error}.") from error

    @cached_property
    def _door(self) -> _Door:
        return _Door(self)


class _Door:
    """What the model wants to be given, and under which names."""

    def __init__(self, asked: Embedding) -> None:
        self.path = asked.path
        self._sessions: dict[int, Any] = {}
        session = self.session(1)
        given = self._picture_input(session.get_inputs())
        self.input, self.dtype = given.name, _TYPES[given.type]
        self.channels_last = given.shape[1] != 3
        self.prepare = _preparation(asked, given, self.channels_last, self.dtype)
        self.output = self._choose_output(asked.output, session.get_outputs())

    def session(self, n_threads: int) -> Any:
        """The model, ready to run on so many threads."""
        if n_threads not in self._sessions:
            onnxruntime = load_onnxruntime()
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = n_threads
            options.inter_op_num_threads = 1
            options.log_severity_level = 3
            options.use_deterministic_compute = True
            # Threads that spin between batches would take the core from those who decode pictures.
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
            if not self.path.is_file():
                raise StoreError(f"there is no model at {self.path}. Give the path of an ONNX file, or of a folder.")
            try:
                made = onnxruntime.InferenceSession(str(self.path), options, providers=["CPUExecutionProvider"])
            except Exception as error:
                raise StoreError(f"{self.path} cannot be read as an ONNX model: {one_line(error)}.") from error
            self._sessions = {n_threads: made}
        return self._sessions[n_threads]

    def n_features(self, asked: Embedding) -> int:
        """Width of the output, where the model does not say by trying it on a blank picture."""
        (shape,) = (out.shape for out in self.session(1).get_outputs() if out.name == self.output)
        if len(shape) == 2 and isinstance(shape[1], int):
            return int(shape[1])
        blank = self.prepare(np.zeros((8, 8, 3), dtype=np.uint8))
        return len(asked._rows(self.session(1), blank[None])[0])

    def _picture_input(self, inputs: Any) -> Any:
        pictures = [one for one in inputs if len(one.shape) == 4 and 3 in (one.shape[1], one.shape[3])]
        listed = ", ".join(f"{one.name} {one.type} {one.shape}" for one in inputs)
        if len(pictures) != 1 or len(inputs) > 1:
            raise ParameterError(
                f"the model {self.path} must take one input, pictures as (n, 3, height, width) or (n, height, width, "
                f"3); it takes {listed}. Export the picture encoder alone."
            )
        if pictures[0].type not in _TYPES:
            raise ParameterError(f"the model {self.path} takes {listed}; expected floats or bytes (uint8).")
        return pictures[0]

    def _choose_output(self, asked: str | None, outputs: Any) -> str:
        names = [out.name for out in outputs]
        if asked is not None:
            return str(check_choice("output", asked, names))
        for name in _OUTPUTS:
            if name in names:
                return name
        rows = [out.name for out in outputs if len(out.shape) == 2]
        return str(rows[0] if rows else names[0])


@dataclass(frozen=True)
class _Preparation:
    """From any picture to what the model sees."""

    height: int
    width: int
    resize_to: int
    crop: bool
    mean: tuple[float, ...]
    std: tuple[float, ...]
    dtype: Any

    @property
    def text(self) -> str:
        scale = "" if self.dtype is np.uint8 else f" mean={_short(self.mean)} std={_short(self.std)}"
        size = f"{self.width}x{self.height}" + (f" crop of {self.resize_to}" if self.crop else "")
        return f"{size}{scale}"

    def __call__(self, rgb: RGB) -> NDArray[Any]:
        """One picture as (height, width, 3) of the type that the model takes."""
        if self.crop:
            scale = self.resize_to / min(rgb.shape[:2])
            height, width = (max(self.resize_to, round(length * scale)) for length in rgb.shape[:2])
            top, left = (height - self.height) // 2, (width - self.width) // 2
            square = resized(rgb, width, height)[top : top + self.height, left : left + self.width]
        else:
            square = resized(rgb, self.width, self.height)
        if self.dtype is np.uint8:
            return square
        mean, std = (np.array(numbers, dtype=np.float32) for numbers in (self.mean, self.std))
        scaled: NDArray[Any] = (square * np.float32(1 / 255) - mean) / std
        return scaled.astype(self.dtype, copy=False)


def _preparation(asked: Embedding, given: Any, channels_last: bool, dtype: Any) -> _Preparation:
    written = _written_beside(asked.path)
    height, width = given.shape[1:3] if channels_last else given.shape[2:4]
    found = [side if isinstance(side, int) else asked.size or written.get("side") for side in (height, width)]
    sides = [int(side) for side in found if side is not None]
    if len(sides) < 2:
        raise ParameterError(
            f"the model {asked.path} takes pictures of any size; pass size=, the side of the square it was trained on."
        )
    if asked.size is not None and sides != [asked.size, asked.size]:
        raise ParameterError(
            f"size is {asked.size}, but the model {asked.path} takes {sides[1]} x {sides[0]} pictures."
        )
    mean, std = asked.mean, asked.std
    if (mean is None) != (std is None):
        raise ParameterError("mean and std belong together: pass both or neither.")
    if mean is None:
        mean, std = written.get("mean"), written.get("std")
    if mean is None and dtype is not np.uint8:
        mean, std = _IMAGENET
        warnings.warn(
            f"the model {asked.path.name} does not say how pixels are scaled, so ImageNet's mean and deviation are "
            "taken. Pass mean= and std=, or put its preprocessor_config.json beside it.",
            ViewWarning,
            stacklevel=2,
        )
    crop = written.get("crop", False) if asked.crop is None else bool(asked.crop)
    resize_to = max(int(written.get("resize_to", 0)), *sides)
    scale = [(0.0,) * 3, (1.0,) * 3] if dtype is np.uint8 else [_three("mean", mean), _three("std", std)]
    if 0.0 in scale[1]:
        raise ParameterError(f"std must not hold 0, got {scale[1]}.")
    return _Preparation(sides[0], sides[1], resize_to, crop, scale[0], scale[1], dtype)


def _three(name: str, value: Any) -> tuple[float, ...]:
    numbers = np.broadcast_to(np.asarray(value, dtype=np.float64), (3,)) if np.ndim(value) == 0 else np.asarray(value)
    if numbers.shape != (3,) or numbers.dtype.kind not in "fi" or not np.isfinite(numbers).all():
        raise ParameterError(f"{name} must be three numbers (red, green, blue; pixels from 0 to 1), got {value!r}.")
    return tuple(float(number) for number in numbers)


def _written_beside(model: Path) -> dict[str, Any]:
    """What ``preprocessor_config.json`` beside the model (or in the folder above, as some exports have it) says."""
    for path in (model.parent / "preprocessor_config.json", model.parent.parent / "preprocessor_config.json"):
        if path.is_file():
            break
    else:
        return {}
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
        found: dict[str, Any] = {}
        if config.get("do_normalize", True) and "image_mean" in config:
            found["mean"], found["std"] = config["image_mean"], config["image_std"]
            if not config.get("do_rescale", True):  # mean and deviation of pixels from 0 to 255
                found["mean"], found["std"] = ([value / 255 for value in found[key]] for key in ("mean", "std"))
        elif config.get("do_rescale", True):
            found["mean"], found["std"] = (0.0,) * 3, (1.0,) * 3
        else:
            found["mean"], found["std"] = (0.0,) * 3, (1 / 255,) * 3
        size, crop = config.get("size"), config.get("crop_size")
        found["crop"] = bool(config.get("do_center_crop", False))
        shown = crop if found["crop"] and crop is not None else size
        found["side"] = _side(shown)
        if found["crop"]:
            found["resize_to"] = _side(size) or found["side"] or 0
        return found
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise StoreError(f"{path} is not a description of how pictures are prepared: {error!r}.") from error


def _side(size: Any) -> int | None:
    if isinstance(size, dict):
        size = size.get("shortest_edge") or size.get("height")
    return int(size) if size else None


def _pooled(found: NDArray[np.float32], n_pictures: int, path: Path) -> NDArray[np.float32]:
    """Rows as they are; tokens (n, tokens, features) and maps (n, features, height, width) averaged over positions."""
    if found.ndim == 3:
        found = found.mean(axis=1)
    elif found.ndim == 4:
        found = found.mean(axis=(2, 3))
    if found.ndim != 2 or len(found) != n_pictures:
        raise ParameterError(
            f"the model {path} gave an output of shape {found.shape} for {n_pictures} pictures; one row per picture is "
            "needed. Name another with output=."
        )
    if not np.isfinite(found).all():
        raise ParameterError(f"the model {path} gave NaN or infinity. Check mean= and std=.")
    return found


def _short(values: tuple[float, ...]) -> str:
    return ",".join(f"{value:.6g}" for value in values)


def one_line(error: Exception) -> str:
    """What a library says, short enough to be part of a sentence."""
    return " ".join(str(error).split())[:300].rstrip(".")
