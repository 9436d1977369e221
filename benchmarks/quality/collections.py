"""Real collections for the quality tables, read from the folder that MANYVIEW_DATA names.

Without it, ``shared/data`` beside the repository is looked at. Each file is an ``.npz`` with ``view_<name>`` matrices
(sparse ones in pieces), ``y`` and, where there are any, tags.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

from manyview import Views


def data_folder() -> Path | None:
    """Where the collections are, or None."""
    named = os.environ.get("MANYVIEW_DATA")
    folder = Path(named) if named else Path(__file__).resolve().parents[3] / "shared" / "data"
    return folder if folder.is_dir() else None


def load(name: str) -> tuple[Views, np.ndarray] | None:
    """The views and classes of a collection; None where its file is not there. Sparse views become unit tf-idf rows."""
    folder = data_folder()
    if folder is None or not (folder / f"{name}.npz").is_file():
        return None
    with np.load(folder / f"{name}.npz", allow_pickle=False) as stored:
        views = {}
        sparse = {key[:-5] for key in stored.files if key.startswith("view_") and key.endswith("_data")}
        pieces = {f"{base}{piece}" for base in sparse for piece in ("_data", "_indices", "_indptr", "_shape")}
        for key in stored.files:
            if key.endswith("_data") and key[:-5] in sparse:
                views[key[5:-5]] = tf_idf(sparse_block(stored, key[:-5]))
            elif key.startswith("view_") and key not in pieces and stored[key].dtype.kind == "f":
                views[key[5:]] = stored[key]  # names of features are words, not numbers
        if "tags_data" in stored.files:
            views["tags"] = tf_idf(sparse_block(stored, "tags"))
        return Views(views), stored["y"].astype(np.int64)


def sparse_block(stored: np.lib.npyio.NpzFile, block: str) -> csr_matrix:
    parts = (stored[f"{block}_data"].astype(np.float64), stored[f"{block}_indices"].astype(np.int32))
    return csr_matrix((*parts, stored[f"{block}_indptr"]), shape=tuple(stored[f"{block}_shape"]))


def tf_idf(counts: csr_matrix) -> csr_matrix:
    from sklearn.feature_extraction.text import TfidfTransformer

    return csr_matrix(TfidfTransformer(sublinear_tf=True).fit_transform(counts))
