"""Run as a file by an interpreter that has iMML; knows nothing of manyview.

It reads one JSON object a line ("task", which is "cluster" or "impute", "method", "size", "seed", and the .npz files
"given" and "answer") and answers each with a line: {}, {"error": "..."}, or {"missing": "..."} where iMML is not there.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from importlib import import_module
from typing import Any

import numpy as np


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what iMML prints goes elsewhere
    for line in sys.stdin:
        try:
            _work(**json.loads(line))
            said = {}
        except ImportError as error:
            said = {"missing": str(error)}
        except Exception as error:
            said = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(said) + "\n")
        answers.flush()


def _work(task: str, method: str, size: int, seed: int, given: str, answer: str) -> None:
    with np.load(given, allow_pickle=False) as stored:
        mask = stored["mask"]
        views = [stored[f"view{v}"].astype(np.float64) for v in range(mask.shape[1])]
    for view, has in zip(views, mask.T, strict=True):
        view[~has] = np.nan
    np.savez(answer, **(_cluster if task == "cluster" else _impute)(method, size, seed, views))


def _cluster(method: str, n_clusters: int, seed: int, views: list[Any]) -> dict[str, Any]:
    of = import_module("imml.cluster")
    model = getattr(of, method)(n_clusters=n_clusters, random_state=seed)
    return {"labels": np.asarray(model.fit_predict(views)).ravel()}


def _impute(method: str, n_components: int, seed: int, views: list[Any]) -> dict[str, Any]:
    import pandas as pd

    of = import_module("imml.impute")
    model = getattr(of, method)(n_components=n_components, random_state=seed)
    parts = model.fit_transform([pd.DataFrame(view) for view in views])
    # what is known stays as it is, whatever the model makes of it
    filled = [np.where(np.isnan(view), np.asarray(part), view) for view, part in zip(views, parts, strict=True)]
    return {f"view{v}": part for v, part in enumerate(filled)}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
