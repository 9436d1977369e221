"""The voters: short k-means partitions of every space, and partitions that somebody else made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...data.checks import check_number
from ...data.views import Views
from ...engines.base import Engine
from ...engines.jobs import each
from ...errors import ParameterError
from ...steps import step
from ...types import Places
from ..base import fit_to_views
from ..kmeans.plain.runs import PlainTable, nearest_centres, short_kmeans
from ._graph import Space

__all__ = [
    "Given",
    "Member",
    "check_members",
    "check_previous",
    "given_members",
    "labels_of_new",
    "own_members",
    "start_of",
]

_SAMPLED = 20_000  # items above which a member is learned on a sample of its own, of at least so many
_PER_CLUSTER = 150
_DEFAULT = 10


@dataclass(frozen=True)
class Member:
    """A partition of a space: its labels (n_items,), -1 for who is not in the space, and its centres."""

    space: str | None
    labels: NDArray[np.int32]
    centres: NDArray[np.float32]


@dataclass(frozen=True)
class Given:
    """A partition from elsewhere. ``classes`` are its labels, in the order of our columns."""

    model: Any  # None where new items cannot be placed
    labels: NDArray[np.int32]
    classes: Places
    weight: float


def own_members(
    spaces: Sequence[Space], n_items: int, n_clusters: int, n_members: int, seed: int, engine: Engine
) -> list[Member]:
    """``n_members`` partitions of each space, with K to 3K clusters each, made where the engine works.

    Each draws from a random source of its own, found from the seed, the space's key and its number, so that neither
    threads nor the names and order of views change it.
    """
    jobs = [(place, number) for place in range(len(spaces)) for number in range(n_members)]
    tables = [PlainTable.of(space.rows).placed(engine) for space in spaces]
    told = _Told(tables, [space.key for space in spaces], n_clusters, seed)
    usual = 2 * n_clusters
    products = np.mean([min(space.items.size, _most(usual)) * usual * space.rows.shape[1] for space in spaces])
    sizes = np.cumsum([spaces[place].rows.size for place, _ in jobs])
    made = []
    with step("members", of=float(sizes[-1])) as tick:
        for (place, _), (found, centres) in zip(
            jobs, each(engine, _one_member, jobs, told, float(products)), strict=True
        ):
            labels = np.full(n_items, -1, dtype=np.int32)
            labels[spaces[place].items] = found
            made.append(Member(spaces[place].name, labels, centres))
            tick(float(sizes[len(made) - 1]))
    return made


class _Told(NamedTuple):
    """What whoever makes a member has to know."""

    tables: Sequence[PlainTable]
    keys: Sequence[int]
    n_clusters: int
    seed: int


def _one_member(job: tuple[int, int], told: _Told, engine: Engine) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The labels of all rows of a space, and the centres."""
    place, number = job
    table = told.tables[place]
    rows, rng = table.matrix, np.random.default_rng([told.seed, told.keys[place], number])

    def sampled(asked: int) -> NDArray[np.float32]:
        chosen = rng.choice(rows.shape[0], min(rows.shape[0], _most(asked)), replace=False)
        return np.asarray(rows[np.sort(chosen)])

    is_sampled = rows.shape[0] > _SAMPLED
    found = short_kmeans(rows, told.n_clusters, rng, engine, sampled if is_sampled else None)
    labels = nearest_centres(table, found.centres, engine) if is_sampled else found.labels
    return labels, found.centres.astype(np.float32)


def _most(asked: int) -> int:
    """So many items at most does a member of so many clusters learn from."""
    return max(_SAMPLED, _PER_CLUSTER * asked)


def check_members(members: Any) -> tuple[int, list[tuple[Any, float]]]:
    """How many partitions per space to make, and those that were given, with their weights."""
    if not isinstance(members, (list, tuple)):
        return check_number("members", members, integer=True, low=1), []
    n_members, given = None, []
    for entry in members:
        value, weight = entry if _is_pair(entry) else (entry, 1.0)
        if isinstance(value, (int, np.integer)):
            if n_members is not None:
                raise ParameterError(f"members may hold one number (partitions per view), got {n_members} and {value}.")
            n_members = check_number("members", value, integer=True, low=1)
            continue
        given.append((value, check_number("the weight of a member", weight, low=0, low_open=True)))
    return _DEFAULT if n_members is None else n_members, given


def _is_pair(entry: Any) -> bool:
    return isinstance(entry, tuple) and len(entry) == 2 and not isinstance(entry[0], (int, np.integer))


def given_members(entries: Sequence[tuple[Any, float]], views: Views) -> list[Given]:
    """Fitted clusterers (or ones to be fitted now) and plain labels, as columns of votes."""
    return [_given(number, value, weight, views) for number, (value, weight) in enumerate(entries)]


def _given(number: int, value: Any, weight: float, views: Views) -> Given:
    model = None
    labels = value
    if hasattr(value, "get_params"):
        model = value
        if not hasattr(model, "labels_"):
            from sklearn.base import clone

            model = fit_to_views(clone(model), views, f"Fit it yourself and pass its labels_ as member {number}.")
        labels = model.labels_
        names = getattr(model, "view_names_", None)
        if names is None or not set(names) <= set(views.names) or not hasattr(model, "predict"):
            model = None
    try:
        labels = np.asarray(labels)
        whole = labels.dtype.kind in "iu"
    except ValueError:
        whole = False
    if not whole or labels.shape != (views.n_items,):
        came = f"{labels.dtype} of shape {labels.shape}" if isinstance(labels, np.ndarray) else repr(labels)
        raise ParameterError(
            f"given member {number} must be a clusterer or {views.n_items} integer labels (one per item, -1 for items "
            f"left out), got {came}. A clusterer that was fitted on other items can be passed unfitted."
        )
    classes, columns = np.unique(labels, return_inverse=True)
    skipped = int((classes < 0).sum())
    numbers: NDArray[np.int32] = np.where(columns >= skipped, columns - skipped, -1).astype(np.int32)
    return Given(model, numbers, classes[skipped:].astype(np.intp), weight)


def check_previous(previous: Any, n_items: int) -> Places | None:
    """Earlier labels; None where no item has one."""
    labels = np.asarray(previous)
    if labels.shape != (n_items,) or labels.dtype.kind not in "iu":
        raise ParameterError(
            f"previous must hold {n_items} whole numbers, the earlier label of each item and -1 where it had none; "
            f"got {labels.dtype} of shape {labels.shape}."
        )
    return labels.astype(np.intp) if (labels >= 0).any() else None


def start_of(labels: NDArray[np.int32], n_clusters: int) -> Places | None:
    """Earlier labels as a start, where they make as many clusters as are asked for."""
    used, numbers = np.unique(labels[labels >= 0], return_inverse=True)
    if used.size != n_clusters:
        return None
    start = np.full(labels.size, -1, dtype=np.intp)
    start[labels >= 0] = numbers
    return start


def labels_of_new(model: Any, classes: Places, views: Views) -> NDArray[np.int32]:
    """The columns of a given clusterer that new items belong to; -1 for labels that fit did not see."""
    labels = model.predict(views[list(model.view_names_)])
    place = np.minimum(np.searchsorted(classes, labels), classes.size - 1)
    return np.where(classes[place] == labels, place, -1).astype(np.int32)
