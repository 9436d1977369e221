"""How many groups do the neighbours of the items fall into? Nothing is clustered for the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Matrix, is_sparse
from ...blocks import Workers, workers
from ...data.checks import check_number
from ...data.views import Views
from ...errors import ParameterError
from ...steps import step
from ...types import Floats, Places
from ..curves import curve, picture
from ..neighbours import nearest_neighbours
from ..preparation import Prepared, has_words, prepare
from ..spectral import leading_eigenpairs, normalised_graph
from ._communities import communities
from ._copies import without_copies
from ._graph import NeighbourGraph, few_neighbours
from ._kinds import best_sums, items_of_kinds, present_in
from ._points import Points, points_of
from ._say import view_says
from .cost import parts_of_number, shape_of

__all__ = ["ClusterNumbers", "count_clusters"]

_MOST_ITEMS = 6_000
_MOST_VECTORS = 250
_DENSE = 400
_FINE, _MIDDLE, _COARSE = 5, 10, 20
"""Neighbours of an item in three graphs: what only one of them shows is chance, or a level that nobody asked for."""
_FEWEST = 6
"""Different items it takes to find a number: three for each of two clusters."""
_FEW = 60
"""Items below which two groups are considered in any number of columns; else a coarse division in two hides all."""
_SHARE = 0.3
"""Of a group, the neighbours of an item among which as many communities show as there are groups, or"""
_TEXT, _OTHER = 1.0, 1.4
"""times as many: of everything but texts too few show."""
_WIDTH = 0.5
"""How far from there to look, as a logarithm."""
_WORDS = 10
"""Entries per row from which a sparse view is a text."""
_CLEAR = 0.5
"""A rival below this share of the best score leaves no doubt."""
_GROUPED = 0.35
"""Modularity below which there is hardly anything to find: noise in many dimensions has less, every collection tried
has more. Noise in few dimensions has more, too, and so"""
_NARROW = 32
"""columns are too few for communities to say where to look: there are as many as there is room for."""
_LEAK = 0.02
"""Of its links; a part that has no more to the outside counts as apart."""
_ROUGHLY = 10
"""Clusters of the partitions by which views are weighed: the says of 5 and of 20 give the same numbers."""
_LESS = 0.5
"""Of what as many parts of items without groups leak; parts that leak more are no groups."""


@dataclass(frozen=True)
class ClusterNumbers:
    """A suggested number of clusters, its rivals, and what they were chosen by.

    ``candidates`` (m,) are the numbers looked at, ``score`` (m,) how clearly the neighbours fall apart at each: the gap
    between two ``eigenvalues`` of their graphs, less the farther from where the ``communities`` (a mean of two counts)
    say. ``coarser`` and ``finer`` are the best numbers well below and well above, ``runner_up`` the best one outside
    0.8 to 1.25 times the suggested, with ``rival`` times its score; None where there is none. ``modularity`` of the
    communities says how far the items form groups at all. ``reason`` says it in words. Of items of several kinds,
    which were counted each by themselves, ``n_clusters`` and ``communities`` are sums, ``modularity`` a mean, and the
    score of a number is the best product of scores with that sum, each beside its best.
    """

    n_clusters: int
    reason: str
    coarser: int | None
    finer: int | None
    runner_up: int | None
    rival: float
    candidates: Places
    score: Floats
    eigenvalues: Floats
    communities: float
    modularity: float
    n_items: int
    """Different items that were looked at."""
    is_guess: bool = False
    """Would items without groups fall apart as clearly?"""

    def svg(self) -> str:
        """The score over the numbers, with a mark at the suggested one and at the coarser and finer, as SVG text."""
        if not self.score.size:
            return picture()
        marks = [one for one in (self.n_clusters, self.coarser, self.finer) if one is not None]
        title = f"how clearly the neighbours fall apart: {self.n_clusters} clusters"
        return picture(curve(self.candidates, self.score[:, None], marks, title, 0))

    def plot(self, path: Any) -> Path:
        """Write the picture of ``svg`` to a file, which any browser shows."""
        file = Path(path)
        file.write_text(self.svg(), encoding="utf-8")
        return file

    def to_dict(self) -> dict[str, Any]:
        """All of it as numbers, words and lists."""
        plain = {key: getattr(self, key) for key in self.__dataclass_fields__}
        lists = {key: value.tolist() for key, value in plain.items() if isinstance(value, np.ndarray)}
        return {**plain, **lists}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> ClusterNumbers:
        """What ``to_dict`` gave, as it was."""
        arrays = {key: np.asarray(plain[key]) for key in ("candidates", "score", "eigenvalues")}
        return cls(**{**plain, **arrays})


def count_clusters(
    views: Views,
    *,
    candidates: Iterable[int] | None = None,
    max_items: int = _MOST_ITEMS,
    seed: int = 0,
    n_jobs: int | None = None,
) -> ClusterNumbers:
    """Suggest a number of clusters for views, prepared as ``ConsensusClustering`` prepares them by default.

    candidates : the only numbers to consider; all that make sense where None
    max_items : larger collections are represented by so many items, at most 6,000, drawn with the seed

    A graph of nearest neighbours falls apart most clearly where its eigenvalues (those of D^-1/2 W D^-1/2) have the
    largest gap; lambda is their mean over the graphs of 5 and of 20 neighbours (at most a sixth of the items), since
    small groups show in the one, large ones in the other. But where a coarse division exists, that is always among the
    first. So gaps count by their distance from c L, L(k) the number of Louvain communities with 0.3 n / k neighbours
    (found with 5, 10 and 20, and between them on a straight line of logarithms) and c = 1 for texts, 1.4 for all else:
    score(k) = (lambda_k - lambda_k+1) exp(-(ln(k / (c L(k))) / 0.5)^2 / 2). With up to 32 columns in all there are as
    many communities as there is room for, whatever the groups. Then 2 is considered too, lambda is that of 10
    neighbours, and score(k) = ln((1 - lambda_k+1 + 0.02) / (1 - lambda_k + 0.02)); the reason tells where items
    without groups would look alike.
    From 50 items on a view has as much say in all of this as a fit would give it: one of noise has next to none.
    Items of different kinds, which have no view in common, are counted each by themselves.
    """
    chosen = views[_sample(views, min(max_items, _MOST_ITEMS), seed)]
    gone = np.cumsum(parts_of_number(shape_of(chosen)))
    gone /= gone[-1]
    with workers(n_jobs) as threads, step("number of clusters") as tick:
        prepared = prepare(chosen, "rank", threads)
        names = [name for name, _ in prepared.acting]
        kinds = items_of_kinds([prepared.speaking[name] for name in names])
        if len(kinds) < 2:
            return _count(chosen, prepared, candidates, seed, threads, gone, tick)
        found = []
        for before, (items, acting) in enumerate(kinds):
            part = chosen[items][[names[v] for v in acting]]
            when = (before + gone) / len(kinds)
            found.append(_count(part, prepare(part, "rank", threads), None, seed, threads, when, tick))
    return _together(found, candidates)


def _sample(views: Views, most: int, seed: int) -> Places:
    """Items that stand for all: of every kind its share, but at least a sixth of the places or all there are."""
    everyone = np.flatnonzero(views.mask.any(axis=1))
    if everyone.size <= most:
        return everyone
    rng = np.random.default_rng(seed)
    kinds = items_of_kinds(present_in(views))
    if len(kinds) < 2:
        return np.sort(rng.choice(everyone, most, replace=False))
    shares = [max(min(items.size, most // 6), items.size * most // everyone.size) for items, _ in kinds]
    return np.sort(
        np.concatenate([rng.choice(items, n, replace=False) for n, (items, _) in zip(shares, kinds, strict=True)])
    )


def _together(found: list[ClusterNumbers], candidates: Iterable[int] | None) -> ClusterNumbers:
    """The number of items of several kinds: the sum of theirs, or of the candidates the one that sums make up best."""
    n_items = sum(one.n_items for one in found)
    scores = [dict(zip(one.candidates.tolist(), one.score.tolist(), strict=True)) for one in found]
    total = best_sums([one or {1: 1.0} for one in scores])
    numbers = np.array(sorted(total)) if candidates is None else _numbers(candidates, n_items, 0.0, 0, 2)
    score = np.array([total.get(number, 0.0) for number in numbers.tolist()])
    return _decide(
        numbers,
        score,
        np.sort(np.concatenate([one.eigenvalues for one in found]))[::-1],
        sum(one.communities for one in found),
        sum(one.modularity * one.n_items for one in found) / n_items,
        n_items,
        chosen=sum(one.n_clusters for one in found) if candidates is None else int(numbers[np.argmax(score)]),
        is_guess=2 * sum(one.n_items for one in found if one.is_guess) > n_items or not score.any(),
    )


def _count(
    views: Views,
    prepared: Prepared,
    candidates: Iterable[int] | None,
    seed: int,
    threads: Workers,
    gone: Floats,
    tick: Callable[[float], None],
) -> ClusterNumbers:
    """The number of one kind of items."""
    points = _weighed(views, prepared, threads)
    tick(gone[0])
    points = without_copies(points, seed, threads)
    tick(gone[1])
    n_items = points.rows.shape[0]
    if n_items < _FEWEST or not points.names:
        return _too_few(n_items)
    is_narrow = points.width <= _NARROW
    counts = _few_of((_FINE, _MIDDLE) if is_narrow else (_FINE, _MIDDLE, _COARSE), n_items)
    graphs = _graphs(points, counts, seed, threads)
    tick(gone[2])
    parts = [graph.part(np.arange(n_items)) for graph in graphs]
    groups = [communities(W, seed) for W in parts]
    found = np.array([labels.max() + 1.0 for labels in groups])
    level = float(np.sqrt(found[0] * found[1]))
    n_vectors = int(min(n_items // 2 if n_items < 200 else n_items // 3, max(20, 4 * level + 2), _MOST_VECTORS))
    numbers = _numbers(candidates, n_items, level, n_vectors, 2 if is_narrow or n_items < _FEW else 3)
    n_vectors = max(n_vectors, int(numbers[-1]) + 1)
    noise = None
    if is_narrow:
        values = _eigenvalues(normalised_graph(parts[1]), n_vectors, seed)
        numbers = numbers[numbers < values.size]
        score = _falling(values, numbers)
        noise = _without_groups(points, n_vectors, seed, threads)
    else:
        values = _mean([_eigenvalues(normalised_graph(parts[i]), n_vectors, seed) for i in (0, 2)])
        numbers = numbers[numbers < values.size]
        centre = _communities_beside(numbers, counts, found, n_items)
        centre *= _TEXT if _is_text(views[points.heard]) else _OTHER
        score = (values[numbers - 1] - values[numbers]) * np.exp(-((np.log(numbers / centre) / _WIDTH) ** 2) / 2)
    return _decide(numbers, score, values, level, graphs[1].modularity(groups[1]), n_items, noise)


def _weighed(views: Views, prepared: Prepared, threads: Workers) -> Points:
    """Every view that varies, side by side, with as much say as a fit would give it."""
    says = view_says(views, prepared, _ROUGHLY, threads).weights
    parts = [(prepared.points[name], prepared.speaking[name]) for name, _ in prepared.acting]
    return points_of(prepared.acting, views.n_items, parts, threads, says)


def _eigenvalues(graph: Any, n_values: int, seed: int) -> Floats:
    """The largest eigenvalues, falling; those of every connected part by itself.

    A graph in many parts has as many ones, which Lanczos would find one after another.
    """
    from scipy.sparse.csgraph import connected_components

    n_parts, part = connected_components(graph, directed=False)
    order = np.argsort(part, kind="stable")
    found = []
    for items in np.split(order, np.cumsum(np.bincount(part, minlength=n_parts))[:-1]):
        piece = graph[items][:, items]
        if items.size <= _DENSE:
            found.append(np.linalg.eigvalsh(piece.toarray()))
        else:
            found.append(leading_eigenpairs(piece, n_values, seed=seed)[0])
    return np.sort(np.concatenate(found))[::-1][:n_values]


def _mean(found: list[Floats]) -> Floats:
    fewest = min(values.size for values in found)
    return np.asarray(np.mean([values[:fewest] for values in found], axis=0))


def _few_of(counts: Iterable[int], n_items: int) -> list[int]:
    """So many neighbours, but no more than a sixth of the items: among more, groups of a few would not show."""
    return [few_neighbours(count, n_items, share=1 / 6, fewest=2) for count in counts]


def _communities_beside(numbers: Places, counts: list[int], found: Floats, n_items: int) -> Floats:
    """Of so many groups each, the communities that show among a share of a group, between the counted ones."""
    different, first = np.unique(counts, return_index=True)
    share = np.clip(_SHARE * n_items / numbers, different[0], different[-1])
    return np.exp(np.interp(np.log(share), np.log(different), np.log(found[first])))


def _graphs(points: Points, counts: list[int], seed: int, threads: Workers) -> list[NeighbourGraph]:
    """The graphs of so many neighbours; all views together have as much weight as the single ones."""
    n_items = points.rows.shape[0]
    spaces = points.spaces(at_least=2)
    found = [
        nearest_neighbours(space.rows, min(counts[-1], space.items.size - 1), threads, seed=seed) for space in spaces
    ]
    shares = points.shares(spaces)
    return [NeighbourGraph(n_items, spaces, [near[:, :k] for near in found], shares, threads) for k in counts]


def _falling(values: Floats, numbers: Places) -> Floats:
    """How many times as much the next part would leak as the k-th does, as a logarithm."""
    leak = np.log(np.maximum(1.0 - values, 0.0) + _LEAK)
    return np.asarray(leak[numbers] - leak[numbers - 1])


def _without_groups(points: Points, n_vectors: int, seed: int, threads: Workers) -> Floats:
    """The eigenvalues of as many items that form no groups, normal with this covariance: the mean of three draws."""
    n_items, width = points.rows.shape
    covariance = np.cov(points.rows, rowvar=False, dtype=np.float64).reshape(width, width)
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(3):
        rows = rng.multivariate_normal(np.zeros(width), covariance, n_items, method="eigh")
        cloud = replace(points, rows=rows.astype(np.float32))
        graph = _graphs(cloud, _few_of([_MIDDLE], n_items), seed, threads)[0]
        found.append(_eigenvalues(normalised_graph(graph.part(np.arange(n_items))), n_vectors, seed))
    return _mean(found)


def _is_text(views: Views) -> bool:
    """Nothing but words, and ten or more of them per item in some view."""
    if not all(has_words(views[name], views.present(name)) for name in views.names):
        return False
    return any(_entries(views[name]) >= _WORDS * views.n_items for name in views.names)


def _entries(matrix: Matrix) -> int:
    return int(matrix.nnz if is_sparse(matrix) else np.count_nonzero(matrix))


def _numbers(candidates: Iterable[int] | None, n_items: int, level: float, n_vectors: int, low: int) -> Places:
    if candidates is None:
        high = max(4, min(4 * level, n_items / (2 if n_items <= 30 else 3)))
        return np.arange(low, max(low, min(int(high), n_vectors - 1)) + 1)
    numbers = np.unique([check_number("candidates", one, integer=True, low=2) for one in candidates]).astype(np.intp)
    most = min(n_items // 2, _MOST_VECTORS)
    if not numbers.size or numbers[-1] > most:
        raise ParameterError(
            f"candidates must be at most half the number of different items, and at most {_MOST_VECTORS}: {most} here; "
            f"got {numbers[-1] if numbers.size else 'none'}."
        )
    return numbers


def _decide(
    numbers: Places,
    score: Floats,
    values: Floats,
    level: float,
    modularity: float,
    n_items: int,
    noise: Floats | None = None,
    *,
    chosen: int | None = None,
    is_guess: bool = False,
) -> ClusterNumbers:
    """The number and its reason; ``noise``: with few columns, the eigenvalues of items like these without groups.

    ``chosen``: of several kinds of items, where a score of 0 is no number at all; ``is_guess``: of most of them.
    """
    least = -np.inf if chosen is None else 0.0

    def best(where: NDArray[np.bool_]) -> int | None:
        where = where & (score > least)
        return int(numbers[where][np.argmax(score[where])]) if where.any() else None

    def elsewhere(number: int) -> tuple[int | None, float]:
        """The best number outside 0.8 to 1.25 times this one, and its score beside this one's."""
        other = best((numbers < 0.8 * number) | (numbers > 1.25 * number))
        mine = float(score[numbers == number][0])
        return other, float(score[numbers == other][0]) / mine if other is not None and mine > 0 else 0.0

    chosen = int(numbers[np.argmax(score)]) if chosen is None else chosen
    runner_up, rival = elsewhere(chosen)
    coarser = best(numbers <= 0.72 * chosen)
    finer = best((numbers >= 1.35 * chosen) & (numbers <= 3 * chosen))
    levels = ", ".join(
        f"{name}: {number}" for name, number in (("coarser", coarser), ("finer", finer)) if number is not None
    )
    levels = f" {levels[0].upper()}{levels[1:]}." if levels else ""
    is_guess |= noise is not None and bool(
        1.0 - values[chosen - 1] > _LESS * (1.0 - noise[min(chosen, noise.size) - 1])
    )
    if modularity < _GROUPED:
        reason = f"These items hardly form groups; {chosen} is a guess.{levels}"
    elif is_guess:
        reason = f"Items without groups would fall apart as clearly; {chosen} is a guess.{levels}"
    elif rival < _CLEAR:
        reason = f"{chosen} clusters: the neighbours of the items fall apart most clearly there.{levels}"
    else:
        reason = f"{chosen} clusters; {runner_up} would do almost as well.{levels}"
    is_guess |= modularity < _GROUPED
    found = (chosen, reason, coarser, finer, runner_up, rival, numbers, score, values, level, modularity, n_items)
    return ClusterNumbers(*found, is_guess)


def _too_few(n_items: int) -> ClusterNumbers:
    what = "one different item is" if n_items == 1 else f"{n_items} different items are"
    reason = f"One cluster: {what} too few to find a number by. Ask for more with -k, or n_clusters."
    none = np.empty(0)
    return ClusterNumbers(1, reason, None, None, None, 0.0, none.astype(np.intp), none, none, 1.0, 0.0, n_items)
