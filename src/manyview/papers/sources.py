"""Where the data of the tables are: what ships with the package, and a folder with the collections that do not."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ..data.views import Views
from ..errors import ParameterError
from .pictures import PictureCollection, emoji_pictures, tar_pictures

__all__ = ["Sources", "sparse_block", "stored_tags", "stored_views", "tf_idf"]

_EXTRAS = {"opencv": "cv2"}
_FILES = {
    "corel5k": "corel5k.npz",
    "newsgroups_ten": "newsgroups_ten.npz",
    "scene8": "images/scene8.tar",
    "flickr8k-captioned": "images/flickr8k-captioned.tar",
    "caltech101-7": "images/caltech101-7.tar",
    "bibtex": "bibtex.npz",
    "cal500": "cal500.npz",
    "scene15": "scene15.npz",
    "leaves100": "leaves100.npz",
    "bbcsport": "bbcsport.npz",
    "three_sources": "three_sources.npz",
    "cub_image_text": "cub_image_text.npz",
}


@dataclass(frozen=True)
class Sources:
    """Collections by name.

    folder : where the files of those that do not ship are, by their own names, pictures in ``images`` or beside them
    cache : where computed features are kept from run to run; None computes them again
    interpreters : package -> the interpreter that has it, of rivals that do not share an environment with us
    """

    folder: Path | None = None
    cache: Path | None = None
    interpreters: Mapping[str, str] = field(default_factory=dict)

    def interpreter(self, package: str) -> str | None:
        """Who can run a rival's package: the named interpreter, this one where it is installed here, or nobody."""
        return self.interpreters.get(package) or (sys.executable if find_spec(package) else None)

    def path(self, name: str) -> Path | None:
        """The file of a collection that does not ship; None where it is not there."""
        if self.folder is None:
            return None
        places = (self.folder / _FILES[name], self.folder / Path(_FILES[name]).name)
        return next((path for path in places if path.is_file()), None)

    def missing(self, names: tuple[str, ...]) -> list[str]:
        """The files and extras that would be needed and are not there."""
        extras = [
            f'pip install "manyview[{name}]"' for name in names if name in _EXTRAS and not find_spec(_EXTRAS[name])
        ]
        files = [name for name in names if name in _FILES and self.path(name) is None]
        return [Path(_FILES[name]).name for name in files] + extras

    def matrices(self, name: str) -> Any:
        """The stored arrays of a collection, open for reading (``numpy.load``)."""
        return np.load(self._found(name), allow_pickle=False)

    def pictures(self, name: str) -> PictureCollection:
        """A collection of pictures; "emoji" ships."""
        if name == "emoji":
            return emoji_pictures(self.cache)
        return tar_pictures(name, self._found(name), self.cache)

    def _found(self, name: str) -> Path:
        path = self.path(name)
        if path is None:
            asked = f"in {self.folder}" if self.folder else "without a folder of data"
            raise ParameterError(f"there is no {Path(_FILES[name]).name} {asked}. Name its folder with --data FOLDER.")
        return path


def sparse_block(stored: Any, block: str) -> Any:
    """A sparse view or the tags of a stored collection, from its pieces, as CSR."""
    from scipy.sparse import csr_matrix

    parts = (stored[f"{block}_data"].astype(np.float64), stored[f"{block}_indices"].astype(np.int32))
    return csr_matrix((*parts, stored[f"{block}_indptr"]), shape=tuple(stored[f"{block}_shape"]))


def stored_views(stored: Any) -> Views:
    """All views of a stored collection as they are, without its tags."""
    views: dict[str, Any] = {}
    sparse = {key[:-5] for key in stored.files if key.startswith("view_") and key.endswith("_data")}
    pieces = {f"{base}{piece}" for base in sparse for piece in ("_data", "_indices", "_indptr", "_shape")}
    for key in stored.files:
        if key.endswith("_data") and key[:-5] in sparse:
            views[key[5:-5]] = sparse_block(stored, key[:-5])
        elif key.startswith("view_") and key not in pieces and stored[key].dtype.kind == "f":
            views[key[5:]] = stored[key]  # names of features are words, not numbers
    return Views(views)


def stored_tags(stored: Any) -> tuple[Any, list[str]]:
    """The tags of a stored collection, and their words."""
    return sparse_block(stored, "tags"), [str(word) for word in stored["tag_names"]]


def tf_idf(counts: Any) -> Any:
    """Counts as unit rows of damped tf-idf, CSR."""
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import TfidfTransformer

    return csr_matrix(TfidfTransformer(sublinear_tf=True).fit_transform(counts))
