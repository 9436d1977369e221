"""Real collections for the quality tables, read from the folder that MANYVIEW_DATA names.

Without it, ``shared/data`` beside the repository is looked at. Each file is an ``.npz`` with ``view_<name>`` matrices
(sparse ones in pieces), ``y`` and, where there are any, tags.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from scipy.sparse import issparse

from manyview import Views
from manyview.papers.sources import sparse_block, stored_views, tf_idf

__all__ = ["data_folder", "load", "sparse_block", "stored_views", "tf_idf"]


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
        views = {key: tf_idf(view) if issparse(view) else view for key, view in stored_views(stored).items()}
        if "tags_data" in stored.files:
            views["tags"] = tf_idf(sparse_block(stored, "tags"))
        return Views(views), stored["y"].astype(np.int64)
