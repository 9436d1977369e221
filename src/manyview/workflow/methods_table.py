"""The methods of ``fit``, one row each: read by the command line, the gallery, ``eval`` and ``fit`` itself.

A further method is a further row.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from ..errors import ParameterError

__all__ = ["DEFAULT_METHOD", "METHODS", "Method", "fewest_tagged", "find_method", "method_list", "needs_of"]

Need = Literal["tags", "annotations", "counts"]


@dataclass(frozen=True)
class Method:
    """A way to cluster."""

    name: str
    """What the command line calls it."""
    estimator_name: str
    """Its class, which the library calls so, and the module under ``methods`` that has it."""
    module: str
    sentence: str
    takes_k: bool = True
    """Whether it is told the number of clusters; it finds one itself otherwise."""
    needs: frozenset[Need] = frozenset()
    """Tags: it learns from them; they are no view of it. Annotations: another collection's tags. Counts: one view."""
    fewest_tagged: float = 0.0
    """Tags serve it as a view from this share of tagged items on; most methods let tags say what little they say."""

    def make(self, n_clusters: int | None, seed: int, n_jobs: int | None) -> Any:
        """The estimator, not yet fitted; one that takes no ``n_jobs`` is not given any."""
        kind = getattr(import_module(f"..methods.{self.module}", __package__), self.estimator_name)
        given = {"n_clusters": n_clusters} if self.takes_k else {}
        model = kind(**given, random_state=seed)
        return model.set_params(n_jobs=n_jobs) if "n_jobs" in model.get_params() else model


_ROWS = (
    Method(
        "consensus",
        "ConsensusClustering",
        "consensus.consensus",
        "many clusterings of every view, and what they agree on",
    ),
    Method("rmkmc", "RobustMultiviewKMeans", "kmeans.robust_kmeans", "robust k-means that weighs the views"),
    Method(
        "ghf-art",
        "FusionART",
        "fusion_art.fusion_art",
        "one pass, finds the number of clusters itself",
        takes_k=False,
    ),
    Method(
        "aplsa",
        "AnnotatedPLSA",
        "topics.annotated_plsa",
        "topics of words, learned with the help of another collection's tags",
        needs=frozenset({"annotations", "counts"}),
    ),
    Method("hml-rf", "TagForest", "forest.tag_forest", "a forest that learns from the tags", needs=frozenset({"tags"})),
    Method(
        "cca",
        "CrossModalClustering",
        "canonical.cross_modal",
        "looks and tags in one space, then k-means",
        fewest_tagged=0.2,
    ),
)
METHODS = {row.name: row for row in _ROWS}
DEFAULT_METHOD = _ROWS[0].name


def find_method(name: str | None) -> Method:
    """The method of that name; the default one for None."""
    name = name or DEFAULT_METHOD
    if name not in METHODS:
        raise ParameterError(f"there is no method {name!r}; there are {', '.join(METHODS)}.")
    return METHODS[name]


def needs_of(name: str) -> frozenset[Need]:
    """What a method needs; nothing where a run was made by a method of somebody's own."""
    return METHODS[name].needs if name in METHODS else frozenset()


def fewest_tagged(name: str) -> float:
    """The share of items with tags from which on a method takes them as a view; 0 for a method of somebody's own."""
    return METHODS[name].fewest_tagged if name in METHODS else 0.0


def method_list() -> str:
    """The names as a person reads them: a, b or c."""
    *first, last = METHODS
    return f"{', '.join(first)} or {last}"
