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
    from . import evaluation as evaluation
    from . import features as features
    from . import metrics as metrics
    from . import testing as testing
    from .collection.collection import Collection as Collection
    from .completion.completer import TagCompleter as TagCompleter
    from .data.hierarchy import TagHierarchy as TagHierarchy
    from .data.tags import TagTable as TagTable
    from .data.views import Views as Views
    from .evaluation.experiment import hidden_tags_experiment as hidden_tags_experiment
    from .methods.accelerated_kmeans import AcceleratedKMeans as AcceleratedKMeans
    from .methods.annotations import annotation_matrix as annotation_matrix
    from .methods.association_network import AssociationNetwork as AssociationNetwork
    from .methods.baselines import ConcatenatedKMeans as ConcatenatedKMeans
    from .methods.baselines import SingleViewKMeans as SingleViewKMeans
    from .methods.canonical_fusion import CanonicalFusion as CanonicalFusion
    from .methods.coding import BagOfWords as BagOfWords
    from .methods.consensus import ConsensusClustering as ConsensusClustering
    from .methods.cross_modal import CrossModalClustering as CrossModalClustering
    from .methods.fusion_art import FusionART as FusionART
    from .methods.hierarchical_kmeans import HierarchicalKMeans as HierarchicalKMeans
    from .methods.locality_coding import LocalityCoding as LocalityCoding
    from .methods.n_clusters import suggest_n_clusters as suggest_n_clusters
    from .methods.plsa import PLSA as PLSA
    from .methods.plsa import AnnotatedPLSA as AnnotatedPLSA
    from .methods.robust_kmeans import RobustMultiviewKMeans as RobustMultiviewKMeans
    from .methods.tag_forest import TagForest as TagForest
    from .persist import load as load
    from .persist import save as save
    from .report.page import ClusterReport as ClusterReport
    from .report.page import write_report as write_report
    from .workflow.names import name_clusters as name_clusters
    from .workflow.profiles import cluster_profiles as cluster_profiles
    from .workflow.reasons import explain_item as explain_item

_WHERE = {
    "Views": "data.views",
    "TagTable": "data.tags",
    "TagHierarchy": "data.hierarchy",
    "Collection": "collection.collection",
    "RobustMultiviewKMeans": "methods.robust_kmeans",
    "FusionART": "methods.fusion_art",
    "TagForest": "methods.tag_forest",
    "AnnotatedPLSA": "methods.plsa",
    "PLSA": "methods.plsa",
    "AcceleratedKMeans": "methods.accelerated_kmeans",
    "HierarchicalKMeans": "methods.hierarchical_kmeans",
    "suggest_n_clusters": "methods.n_clusters",
    "BagOfWords": "methods.coding",
    "LocalityCoding": "methods.locality_coding",
    "AssociationNetwork": "methods.association_network",
    "CanonicalFusion": "methods.canonical_fusion",
    "CrossModalClustering": "methods.cross_modal",
    "ConsensusClustering": "methods.consensus",
    "annotation_matrix": "methods.annotations",
    "ConcatenatedKMeans": "methods.baselines",
    "SingleViewKMeans": "methods.baselines",
    "TagCompleter": "completion.completer",
    "hidden_tags_experiment": "evaluation.experiment",
    "name_clusters": "workflow.names",
    "cluster_profiles": "workflow.profiles",
    "explain_item": "workflow.reasons",
    "ClusterReport": "report.page",
    "write_report": "report.page",
    "load": "persist",
    "save": "persist",
}
_MODULES = ("datasets", "errors", "features", "metrics", "testing")

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
