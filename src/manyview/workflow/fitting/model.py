"""The model of a fit: found by a method, or gone on from, stage by stage, so that a fit that was stopped goes on."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...collection import layout
from ...collection.store import Store
from ...data.source import source_of
from ...data.tags import TagTable
from ...data.views import Views
from ...engines.checkpoint import fingerprint
from ...engines.stages import Stages, kept_work
from ...errors import ParameterError
from ..methods_table import Method
from ..transfer import Annotations

__all__ = ["Earlier", "fit_model", "go_on", "work_of"]


class Earlier(NamedTuple):
    """A run to go on from."""

    run_id: int
    n_clusters: int
    labels: NDArray[np.int64]
    """One per item of the fit; -1 for those it did not know."""
    number: dict[str, Any] | None
    """How the number of clusters was found, where it was."""


def work_of(
    collection: Store,
    X: Views,
    tags: TagTable,
    theirs: Annotations | None,
    settings: Mapping[str, Any],
    earlier: Earlier | None,
    command: str,
) -> AbstractContextManager[Stages]:
    """The stages of this fit, which are kept under all that goes into it; ``command`` is what does it again."""
    given = dict(settings) | {"ids": X.ids, "tags": tags.names}
    for name, matrix in (("yes", tags.yes), ("no", tags.no), ("theirs", None if theirs is None else theirs.counts)):
        parts = () if matrix is None else (matrix.data, matrix.indices, matrix.indptr)
        given |= {f"{name} {number}": part for number, part in enumerate(parts)}
    if earlier is not None:
        given["earlier"] = earlier.labels
    digest = fingerprint("fit of a collection", given, [source_of(X, np.ones(X.n_items))])
    return kept_work(collection.path / layout.WORK, f"fit-{digest}", {"command": command})


def go_on(
    X: Views, labels: NDArray[np.int64], n_clusters: int, seed: int, n_jobs: int | None, stages: Stages
) -> tuple[Any, NDArray[Any], list[str]]:
    """Consensus with the earlier clusters as one of the voters."""
    from ...methods.consensus.consensus import ConsensusClustering

    def fit() -> tuple[Any, dict[str, Any]]:
        model = ConsensusClustering(n_clusters, previous=labels, random_state=seed, n_jobs=n_jobs).fit(X)
        return model.set_params(previous=None), {}  # it has had its say, and is kept with its own run

    model, _ = stages.result("model", fit)
    return model, model.labels_, [f"{n_clusters} clusters, as before."]


def fit_model(
    X: Views,
    tags: TagTable,
    theirs: Annotations | None,
    method: Method,
    n_clusters: int | None,
    seed: int,
    n_jobs: int | None,
    stages: Stages | None = None,
) -> tuple[Any, NDArray[Any], list[str], dict[str, Any] | None]:
    """A fitted model, its labels, what to say of the number of clusters, and how it was found where it was.

    ``stages`` keep what was found before the work was stopped.
    """
    stages = Stages() if stages is None else stages
    if not method.takes_k:
        if n_clusters is not None:
            raise ParameterError(
                f"{method.name} finds the number of clusters itself; leave -k out, or choose another method."
            )
        model, _ = stages.result("model", lambda: (method.make(None, seed, n_jobs).fit(X), {}))
        return model, model.labels_, [f"{model.n_clusters_} clusters, found by {method.name}."], None
    why, number = [], None
    if n_clusters is None:
        n_clusters, number, reason = _find_number(X, seed, n_jobs, stages)
        why.append(reason)
    n_here = int(X.mask.any(axis=1).sum())
    if n_clusters > n_here:
        raise ParameterError(
            f"{n_clusters} clusters were asked for, but there {'is' if n_here == 1 else 'are'} only {n_here} different "
            f"{'item' if n_here == 1 else 'items'} with views. Ask for fewer."
        )
    model = method.make(n_clusters, seed, n_jobs)

    def fit() -> tuple[Any, dict[str, Any]]:
        more = {"annotations": theirs.counts} if theirs is not None and "tags" not in method.needs else {}
        with stages.rounds():
            return model.fit(X, *([tags] if "tags" in method.needs else []), **more), {}

    model, _ = stages.result("model", fit)
    if theirs is not None and "tags" not in method.needs:
        usual = 1 / len(theirs.names)
        top = [", ".join(name for name, p in best if p >= usual) for best in model.top_tags(theirs.names, n=3)]
        why.append("their tags by label: " + "; ".join(f"{label}: {names}" for label, names in enumerate(top)) + ".")
    n_found = np.unique(model.labels_[model.labels_ >= 0]).size
    if n_found < n_clusters:
        why.append(f"{n_found} of these {n_clusters} clusters {'has' if n_found == 1 else 'have'} items in them.")
    return model, model.labels_, why, number


def _find_number(X: Views, seed: int, n_jobs: int | None, stages: Stages) -> tuple[int, dict[str, Any], str]:
    """A number of clusters, how it was found, and the reason in a sentence."""
    from ...methods.n_clusters import suggest_n_clusters

    def find() -> tuple[None, dict[str, Any]]:
        found: Any = suggest_n_clusters(X, random_state=seed, n_jobs=n_jobs)
        return None, {"n_clusters": int(found.n_clusters), "number": found.to_dict(), "reason": found.reason}

    _, told_of = stages.result("number", find)
    return told_of["n_clusters"], told_of["number"], told_of["reason"]
