"""Keep a fitted model in a folder of JSON and .npy files, and read it back without running any code.

``manifest.json`` holds the class name, the parameters and the fitted attributes (those whose names end with
an underscore); arrays stand beside it as ``.npy``. Replacing the manifest is the one step that counts, so a
folder holds the old model or the new one, never a mixture. Reading trusts nothing: classes come from manyview's
own list, arrays are checked against the size of their file first.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import durable
from .arrays import is_dask, refuse_malformed
from .errors import ParameterError, StoreError

__all__ = ["load", "save", "save_with_modes"]

FORMAT = 1
_MANIFEST = "manifest.json"
_MANIFEST_LIMIT = 64 * 2**20
_ARRAY_NAME = re.compile(r"[0-9a-f]{8}-[0-9]{1,6}\.npy")  # a new generation at each save
_TEMPORARY = re.compile(r"[0-9a-f]{8}\.tmp")
_ATTRIBUTE = re.compile(r"[A-Za-z][A-Za-z0-9_]*_")
_DEPTH = 50


def save(model: Any, folder: str | os.PathLike[str]) -> Path:
    """Write a model to a folder, replacing what an earlier ``save`` left there.

    The folder holds the old model whole until the new one is whole on disk, whenever the machine stops; a
    folder that ``save`` did not make is never touched. Attributes and parameters may be numbers, words, lists,
    dicts, arrays, sparse matrices and other estimators of manyview.
    """
    return save_with_modes(model, Path(folder), 0o666, 0o777)


def save_with_modes(model: Any, folder: Path, file_mode: int, folder_mode: int) -> Path:
    """``save``, where files and folders get these modes, less what the umask takes away."""
    if folder.exists() and not _is_ours(folder):
        raise StoreError(f"{folder} exists and is not a saved model; nothing was written. Choose another folder.")
    writer = _Writer(secrets.token_hex(4))
    state = writer.estimator(model, type(model).__name__)
    from ._version import __version__

    manifest = {"format": FORMAT, "manyview": __version__, "model": state}
    content = json.dumps(manifest, ensure_ascii=False, allow_nan=False).encode()
    is_new = not folder.exists()
    temporary = folder / f"{writer.generation}.tmp"
    with durable.store_errors(folder):
        try:
            for parent in reversed((folder, *folder.parents)):
                durable.make_folder(parent, folder_mode)
            for name, array in writer.arrays.items():
                durable.disk.write(folder / name, durable.array_pieces(array), file_mode)
            durable.disk.write(temporary, [content], file_mode)
            durable.disk.sync_folder(folder)
            durable.disk.rename(temporary, folder / _MANIFEST)  # from here on the new model is the one that is there
        except (Exception, KeyboardInterrupt):
            for name in (*writer.arrays, temporary.name):
                durable.forget(folder / name)
            if is_new:
                with suppress(OSError):
                    durable.disk.rmdir(folder)
            raise
    durable.sync_folders([folder, folder.parent])
    for path in folder.iterdir():
        if path.name != _MANIFEST and path.name not in writer.arrays:
            durable.forget(path)
    return folder


def _is_ours(folder: Path) -> bool:
    """Is this a folder that ``save`` made, or an empty one?"""
    return folder.is_dir() and all(
        path.name == _MANIFEST or _ARRAY_NAME.fullmatch(path.name) or _TEMPORARY.fullmatch(path.name)
        for path in folder.iterdir()
    )


def load(folder: str | os.PathLike[str]) -> Any:
    """Read a model that ``save`` wrote. Nothing in the folder can make this run code."""
    folder = Path(folder)
    path = folder / _MANIFEST
    if not path.is_file():
        raise StoreError(f"{folder} holds no {_MANIFEST}: it is not a model saved by manyview.save.")
    if path.stat().st_size > _MANIFEST_LIMIT:
        raise StoreError(f"{path} is larger than {_MANIFEST_LIMIT >> 20} MB; it is not a manifest.")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        version, state = manifest["format"], manifest["model"]
    except (UnicodeDecodeError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreError(f"{path} is damaged: {type(error).__name__}. Save the model again.") from error
    if version != FORMAT:
        raise StoreError(
            f"{folder} was written in format {version!r}; this version reads {FORMAT}. Nothing was changed. Open it "
            f"with manyview {manifest.get('manyview', 'of that time')}."
        )
    try:
        return _Reader(folder).estimator(state, 0)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise StoreError(f"{path} is damaged: {type(error).__name__}: {error}. Save the model again.") from error


class _Writer:
    """Turns values into JSON, and collects the arrays on the way."""

    def __init__(self, generation: str) -> None:
        self.generation = generation
        self.arrays: dict[str, NDArray[Any]] = {}

    def estimator(self, model: Any, where: str) -> dict[str, Any]:
        kind: Any = type(model)
        name = kind.__name__
        if kind is not _estimator_class(name):
            raise ParameterError(f"{where} is a {name}; manyview.save keeps the estimators of manyview and no others.")
        params = {key: self.value(item, f"{name}.{key}") for key, item in model.get_params(deep=False).items()}
        fitted = {
            key: self.value(item, f"{name}.{key}") for key, item in vars(model).items() if _ATTRIBUTE.fullmatch(key)
        }
        return {"$": "estimator", "class": name, "params": params, "fitted": fitted}

    def value(self, item: Any, where: str) -> Any:
        if item is None or isinstance(item, (bool, str)):
            return item
        if isinstance(item, (int, np.integer)):
            return int(item)
        if isinstance(item, np.bool_):
            return bool(item)
        if isinstance(item, (float, np.floating)):
            number = float(item)
            return number if np.isfinite(number) else {"$": "float", "value": repr(number)}
        if isinstance(item, np.ndarray) or is_dask(item):
            return {"$": "array", "file": self._keep(item, where)}
        if isinstance(item, list):
            return [self.value(part, where) for part in item]
        if isinstance(item, tuple):
            return {"$": "tuple", "items": [self.value(part, where) for part in item]}
        if isinstance(item, dict):
            return {
                "$": "dict",
                "items": [[self.value(key, where), self.value(part, where)] for key, part in item.items()],
            }
        if type(item).__module__.startswith("scipy.sparse"):
            csr = item.tocsr()
            parts = {key: self._keep(getattr(csr, key), where) for key in ("data", "indices", "indptr")}
            return {"$": "csr", "shape": [int(n) for n in csr.shape], **parts}
        if hasattr(item, "get_params"):
            return self.estimator(item, where)
        raise ParameterError(
            f"{where} holds a {type(item).__name__}, which cannot be saved as plain data. Set it to a number, a word, "
            "an array or None before saving."
        )

    def _keep(self, array: NDArray[Any], where: str) -> str:
        if array.dtype.hasobject:
            raise ParameterError(f"{where} is an array of Python objects, which cannot be saved as plain data.")
        name = f"{self.generation}-{len(self.arrays)}.npy"
        self.arrays[name] = np.asarray(array)
        return name


class _Reader:
    """Turns JSON back into values; refuses whatever ``_Writer`` would not have written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def estimator(self, state: Any, depth: int) -> Any:
        name = state["class"]
        known: Any = _estimator_class(name)
        if known is None:
            raise StoreError(f"{self.folder} holds a {name!r}, which this version does not know.")
        expected = set(known().get_params(deep=False))
        params = {key: self.value(item, depth + 1) for key, item in state["params"].items()}
        if unknown := set(params) - expected:
            raise StoreError(f"{self.folder}: {name} has no parameter {sorted(unknown)[0]!r} in this version.")
        model = known(**params)
        for key, item in state["fitted"].items():
            if not _ATTRIBUTE.fullmatch(key) or key in expected or hasattr(type(model), key):
                raise StoreError(f"{self.folder}: {key!r} is not the name of a fitted attribute.")
            setattr(model, key, self.value(item, depth + 1))
        return model

    def value(self, item: Any, depth: int) -> Any:
        if depth > _DEPTH:
            raise StoreError(f"{self.folder} is damaged: its values are nested more than {_DEPTH} deep.")
        if isinstance(item, list):
            return [self.value(part, depth + 1) for part in item]
        if not isinstance(item, dict):
            return item
        kind = item["$"]
        if kind == "float":
            return float(item["value"])
        if kind == "tuple":
            return tuple(self.value(part, depth + 1) for part in item["items"])
        if kind == "dict":
            return {self.value(key, depth + 1): self.value(part, depth + 1) for key, part in item["items"]}
        if kind == "array":
            return _read_array(self.folder, item["file"])
        if kind == "csr":
            return self._csr(item)
        if kind == "estimator":
            return self.estimator(item, depth + 1)
        raise StoreError(f"{self.folder} holds a value of unknown kind {kind!r}.")

    def _csr(self, item: dict[str, Any]) -> Any:
        from scipy.sparse import csr_matrix

        parts = tuple(_read_array(self.folder, item[key]) for key in ("data", "indices", "indptr"))
        try:
            matrix = csr_matrix(parts, shape=tuple(item["shape"]))
            refuse_malformed("of a saved model", matrix)
        except (TypeError, ValueError) as error:
            raise StoreError(f"{self.folder} holds a sparse matrix whose parts do not fit: {error}") from error
        return matrix


def _read_array(folder: Path, name: str) -> NDArray[Any]:
    """An array, after checking that its header promises exactly what the file holds."""
    if not isinstance(name, str) or not _ARRAY_NAME.fullmatch(name):
        raise StoreError(f"{folder} names an array {name!r}, which is not a file that save would have written.")
    path = folder / name
    try:
        with path.open("rb") as file:
            version = np.lib.format.read_magic(file)
            if version not in ((1, 0), (2, 0)):
                raise StoreError(f"{path} is a .npy of version {version}, which save does not write.")
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, fortran, dtype = read(file)
            n_values = 1
            for length in shape:
                n_values *= length
            held = path.stat().st_size - file.tell()
            if dtype.hasobject or n_values * dtype.itemsize != held:
                raise StoreError(
                    f"{path} promises {n_values} values of {dtype} but holds {held} bytes. Save the model again."
                )
            return np.fromfile(file, dtype=dtype, count=n_values).reshape(shape, order="F" if fortran else "C")
    except StoreError:
        raise
    except Exception as error:  # NumPy's reader tokenizes the header as Python: it may raise anything
        raise StoreError(f"{path} cannot be read: {str(error)[:200]}. Save the model again.") from error


def _estimator_class(name: Any) -> type | None:
    """The public estimator of that name, or None; nothing else of the package is imported."""
    import manyview

    value = getattr(manyview, name) if isinstance(name, str) and name in manyview.__all__ else None
    return value if isinstance(value, type) and hasattr(value, "get_params") else None
