"""Views made poor on purpose: what the default loses beside the fit without the view, and whether it warns.

Every view of every shared collection of at most 3,000 items in turn: noise (each column shuffled by itself), and the
rows of somebody else. Five seeds, because single views swing more. Then counts that were weighted before they came.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from manyview import Views, metrics

from .consensus import COLLECTIONS, SMALL, fitted, load
from .table import Table

N_SEEDS = 5
FIGURES = ("without", "with", "warned")


def tables(quick: bool) -> Iterator[Table]:
    names = ("three_sources", "bbcsport") if quick else tuple(COLLECTIONS)
    n_seeds = 1 if quick else N_SEEDS
    all_rows = []
    for name in names:
        loaded = load(name)
        if loaded is None or loaded[0].n_items > SMALL:
            continue
        table = poor_views(name, *loaded, n_seeds)
        all_rows += table.rows
        yield table
    yield losses(all_rows)
    yield weighted_words([name for name in names if name in ("three_sources", "webkb_course")], n_seeds)


def poor_views(name: str, X: Views, y: np.ndarray, n_seeds: int) -> Table:
    """NMI without each view and with it, when it is noise or its rows are somebody else's."""
    table = Table(f"{name}: a view made poor, NMI without it, with it, and whether a warning came", FIGURES)
    from manyview.methods.consensus._say import scrambled

    def runs(views: Views) -> list[tuple[float, bool]]:
        found = [fitted(views, len(np.unique(y)), seed) for seed in range(n_seeds)]
        return [(metrics.normalized_mutual_info(y, labels), warned) for labels, warned in found]

    for view in X.names:
        rest = runs(X[[v for v in X.names if v != view]])
        rows = np.random.default_rng(0).permutation(X.n_items)
        for how, spoilt in (("noise", scrambled(X[view], 0)), ("rows shuffled", X[view][rows])):
            found = runs(Views({v: spoilt if v == view else X[v] for v in X.names}))
            both = zip(rest, found, strict=True)
            table.add(
                f"{name}, {view}: {how}",
                [{"without": one[0], "with": two[0], "warned": float(two[1])} for one, two in both],
            )
    whole = runs(X)
    warned = sum(one[1] for one in whole)
    table.notes.append(f"as it is: NMI {np.mean([one[0] for one in whole]):.3f}, warned {warned} of {n_seeds} times")
    return table


def losses(rows: list[dict[str, object]]) -> Table:
    """What spoilt views cost in the mean and at worst, over the means of the seeds, and how often a warning came."""
    table = Table("NMI lost", ("mean", "at worst", "warned"))
    for name, how, few in (
        ("noise", "noise", None),
        ("rows shuffled, of three views or more", "rows shuffled", False),
        ("rows shuffled, of two", "rows shuffled", True),  # nobody can tell which is right: the warning has to come
    ):
        chosen = [row for row in rows if str(row["method"]).endswith(how)]
        if few is not None:
            chosen = [row for row in chosen if few == (len(COLLECTIONS[str(row["method"]).split(",")[0]]) == 2)]
        lost = [row["without"][0] - row["with"][0] for row in chosen]
        if lost:
            warned = np.mean([row["warned"][0] > 0 for row in chosen])
            table.add(name, [{"mean": np.mean(lost), "at worst": np.max(lost), "warned": warned}])
            table.notes.append(f"{name}: {len(lost)} views")
    return table


def weighted_words(names: list[str], n_seeds: int) -> Table:
    """Counts as they are, and weighted by scikit-learn before they come."""
    from sklearn.feature_extraction.text import TfidfTransformer

    ways = {"counts": None, "tf-idf": {}, "not smoothed": {"smooth_idf": False}, "damped": {"sublinear_tf": True}}
    table = Table("counts that were weighted before: NMI", tuple(ways))
    for name in names:
        X, y = load(name) or (None, None)
        runs: list[dict[str, float]] = [{} for _ in range(n_seeds)]
        for way, settings in ways.items():
            given = X
            if settings is not None:
                given = Views({v: TfidfTransformer(**settings).fit_transform(X[v]) for v in X.names})
            for seed, run in enumerate(runs):
                run[way] = metrics.normalized_mutual_info(y, fitted(given, len(np.unique(y)), seed)[0])
        table.add(name, runs)
    return table
