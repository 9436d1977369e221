"""Group pictures, clips and documents that are described in several ways at once, and say why.

Every public name is loaded on first use, so ``import manyview`` stays fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from . import completion as completion
    from . import datasets as datasets
    from . import errors as errors
    from . import evaluation as evaluation
    from . import features as features
    from . import meaning as meaning
    from . import metrics as metrics
    from . import testing as testing
    from .collection.store import Store as Store
    from .completion.completer import TagCompleter as TagCompleter
    from .data.hierarchy import TagHierarchy as TagHierarchy
    from .data.tags import TagTable as TagTable
    from .data.views import Views as Views
    from .describe.names import name_clusters as name_clusters
    from .describe.profiles import cluster_profiles as cluster_profiles
    from .describe.reasons import explain_item as explain_item
    from .engines.choice import on as on
    from .evaluation.experiment import hidden_tags_experiment as hidden_tags_experiment
    from .features.coding import BagOfWords as BagOfWords
    from .features.locality_coding import LocalityCoding as LocalityCoding
    from .methods.canonical.association_network import AssociationNetwork as AssociationNetwork
    from .methods.canonical.canonical_fusion import CanonicalFusion as CanonicalFusion
    from .methods.canonical.cross_modal import CrossModalClustering as CrossModalClustering
    from .methods.consensus.consensus import ConsensusClustering as ConsensusClustering
    from .methods.forest.tag_forest import TagForest as TagForest
    from .methods.fusion_art.fusion_art import FusionART as FusionART
    from .methods.kmeans.accelerated_kmeans import AcceleratedKMeans as AcceleratedKMeans
    from .methods.kmeans.baselines import ConcatenatedKMeans as ConcatenatedKMeans
    from .methods.kmeans.baselines import SingleViewKMeans as SingleViewKMeans
    from .methods.kmeans.hierarchical_kmeans import HierarchicalKMeans as HierarchicalKMeans
    from .methods.kmeans.robust_kmeans import RobustMultiviewKMeans as RobustMultiviewKMeans
    from .methods.n_clusters import suggest_n_clusters as suggest_n_clusters
    from .methods.topics.annotated_plsa import AnnotatedPLSA as AnnotatedPLSA
    from .methods.topics.annotations import annotation_matrix as annotation_matrix
    from .methods.topics.plsa import PLSA as PLSA
    from .persist import load as load
    from .persist import save as save
    from .report.page import ClusterReport as ClusterReport
    from .report.page import write_report as write_report

_WHERE = {
    "Views": "data.views",
    "TagTable": "data.tags",
    "TagHierarchy": "data.hierarchy",
    "Collection": "workflow.collection",
    "RobustMultiviewKMeans": "methods.kmeans.robust_kmeans",
    "FusionART": "methods.fusion_art.fusion_art",
    "TagForest": "methods.forest.tag_forest",
    "AnnotatedPLSA": "methods.topics.annotated_plsa",
    "PLSA": "methods.topics.plsa",
    "AcceleratedKMeans": "methods.kmeans.accelerated_kmeans",
    "HierarchicalKMeans": "methods.kmeans.hierarchical_kmeans",
    "suggest_n_clusters": "methods.n_clusters",
    "BagOfWords": "features.coding",
    "LocalityCoding": "features.locality_coding",
    "AssociationNetwork": "methods.canonical.association_network",
    "CanonicalFusion": "methods.canonical.canonical_fusion",
    "CrossModalClustering": "methods.canonical.cross_modal",
    "ConsensusClustering": "methods.consensus.consensus",
    "annotation_matrix": "methods.topics.annotations",
    "ConcatenatedKMeans": "methods.kmeans.baselines",
    "SingleViewKMeans": "methods.kmeans.baselines",
    "TagCompleter": "completion.completer",
    "hidden_tags_experiment": "evaluation.experiment",
    "name_clusters": "describe.names",
    "cluster_profiles": "describe.profiles",
    "explain_item": "describe.reasons",
    "ClusterReport": "report.page",
    "write_report": "report.page",
    "on": "engines.choice",
    "load": "persist",
    "save": "persist",
}
_MODULES = ("completion", "datasets", "errors", "evaluation", "features", "meaning", "metrics", "testing")

_OF_EVERYBODY = ("load", "save")
"""Names that notebooks give to things of their own: ``from manyview import *`` leaves them alone."""

__all__ = ["__version__", *(name for name in _WHERE if name not in _OF_EVERYBODY), *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in _WHERE:
        value = getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__) | set(_OF_EVERYBODY))
