"""Group pictures, clips and documents that are described in several ways at once, and say why.

Every public name is loaded on first use, so ``import manyview`` stays fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from . import datasets as datasets
    from . import errors as errors
    from . import metrics as metrics
    from . import testing as testing
    from .data.views import Views as Views
    from .methods.annotations import annotation_matrix as annotation_matrix
    from .methods.baselines import ConcatenatedKMeans as ConcatenatedKMeans
    from .methods.baselines import SingleViewKMeans as SingleViewKMeans
    from .methods.coding import BagOfWords as BagOfWords
    from .methods.fusion_art import FusionART as FusionART
    from .methods.plsa import PLSA as PLSA
    from .methods.plsa import AnnotatedPLSA as AnnotatedPLSA
    from .methods.robust_kmeans import RobustMultiviewKMeans as RobustMultiviewKMeans
    from .persist import load as load
    from .persist import save as save

_WHERE = {
    "Views": "data.views",
    "RobustMultiviewKMeans": "methods.robust_kmeans",
    "FusionART": "methods.fusion_art",
    "AnnotatedPLSA": "methods.plsa",
    "PLSA": "methods.plsa",
    "BagOfWords": "methods.coding",
    "annotation_matrix": "methods.annotations",
    "ConcatenatedKMeans": "methods.baselines",
    "SingleViewKMeans": "methods.baselines",
    "load": "persist",
    "save": "persist",
}
_MODULES = ("datasets", "errors", "metrics", "testing")

__all__ = ["__version__", *_WHERE, *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in _WHERE:
        value = getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
