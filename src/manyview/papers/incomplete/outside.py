"""Methods of iMML (``pip install imml``), run by an interpreter that has it: arrays go out and come back."""

from __future__ import annotations

import atexit
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from ...data.views import Views
from ...errors import ParameterError
from ...types import Places, Singles
from ..tables import PeerFailed

__all__ = ["IMML", "IMPUTERS", "end_children", "imml_filled", "imml_labels", "takes"]

IMML = ("NEMO", "OPIMC", "SIMCADC", "PIMVC", "EEIMVC", "LFIMVC", "IMSR", "DAIMC")
"""Its clusterers that need neither Octave nor a package for neural networks, with their defaults."""
IMPUTERS = ("DFMFImputer", "MOFAImputer")
_DEAR = {
    "IMSR": 1_000,
    "DAIMC": 1_000,
    "SIMCADC": 3_000,
    "EEIMVC": 3_000,
    "LFIMVC": 3_000,
}  # up to how many items these are run
_CHILD = Path(__file__).with_name("_imml_child.py")


def takes(method: str, views: Views, k: int) -> bool:
    """Whether a clusterer can be asked: not where it would take hours, nor where it refuses narrow views."""
    wide = method != "PIMVC" or min(view.shape[1] for view in views.values()) >= k
    return wide and views.n_items <= _DEAR.get(method, views.n_items)


def imml_labels(python: str, method: str, views: Views, k: int, seed: int) -> Places:
    """Clusters by one of its methods, from views prepared as for our own."""
    labels: Places = _ask(python, "cluster", method, views, k, seed)["labels"].astype(np.intp)
    return labels


def imml_filled(python: str, method: str, views: Views, n_components: int, seed: int) -> Singles:
    """The prepared views side by side, their gaps filled by one of its imputers."""
    found = _ask(python, "impute", method, views, n_components, seed)
    return np.hstack([found[f"view{v}"] for v in range(views.n_views)]).astype(np.float32)


def _ask(python: str, task: str, method: str, views: Views, size: int, seed: int) -> dict[str, Any]:
    from ...methods.preparation import prepared_views

    ready = prepared_views(views)
    with tempfile.TemporaryDirectory(prefix="manyview-imml-") as folder:
        given, answer = Path(folder, "given.npz"), Path(folder, "answer.npz")
        np.savez(given, mask=ready.mask, **{f"view{v}": part for v, part in enumerate(ready.values())})
        wish = {"task": task, "method": method, "size": size, "seed": seed, "given": str(given), "answer": str(answer)}
        said = _child(python).answer(wish)
        if said is None:
            _CHILDREN.pop(python).end()  # whoever is asked next gets another
            raise PeerFailed(f"iMML's {method} failed: its process ended without an answer.")
        if "missing" in said:
            raise ParameterError(f"{python} cannot import iMML's {method}: {said['missing']}. Install iMML there.")
        if "error" in said:
            raise PeerFailed(f"iMML's {method} failed: {said['error']}")
        with np.load(answer, allow_pickle=False) as found:
            return dict(found)


class _Child:
    """A process that stays: importing iMML takes longer than most of its answers. It ends with its input."""

    def __init__(self, python: str) -> None:
        self._process = subprocess.Popen(  # noqa: S603  our own file, by the interpreter that somebody named
            [python, str(_CHILD)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def answer(self, wish: dict[str, Any]) -> dict[str, Any] | None:
        """What it says to one line; None where it ended instead."""
        to, back = self._process.stdin, self._process.stdout
        if to is None or back is None:
            raise ParameterError("the process of iMML was started without pipes.")
        to.write(json.dumps(wish) + "\n")
        to.flush()
        line = back.readline()
        return json.loads(line) if line else None

    def end(self) -> None:
        """Close its input, wait for it, and close what it writes to."""
        self._process.communicate()


_CHILDREN: dict[str, _Child] = {}


def _child(python: str) -> _Child:
    if python not in _CHILDREN:
        _CHILDREN[python] = _Child(python)
    return _CHILDREN[python]


@atexit.register
def end_children() -> None:
    """End the processes that were started."""
    while _CHILDREN:
        _CHILDREN.popitem()[1].end()
