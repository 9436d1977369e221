"""Rows for PLSA and AnnotatedPLSA: an EM iteration beside enstop's PLSA and scikit-learn's NMF.

NMF with multiplicative updates under the Kullback-Leibler divergence has the same optima as PLSA of counts and does
the same products. Peers know one table only, so they get the items and the annotations stacked: the same non-zeros
and the same number of topics for everybody.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .harness import Case, Contender, Data
from .worker import Fit

OURS = "manyview PLSA"


def cases(quick: bool, large: bool) -> list[Case]:
    n_tagged, rows, repeats = (1_000, 4_000, 3) if quick else (19_959, 100_000, 5)
    paper = Data("paper-size", "tagged_photos", {"n_tagged": n_tagged, "n_targets": 400, "n_tags": 2_600})
    wide = Data("many-items", "sparse_items", {"n_items": rows, "n_words": 2_000, "per_row": 200})
    found = [
        Case(
            f"the paper's size: 400 items and 2,600 tags over 2,000 visual words, K={k}",
            paper,
            (
                Contender("manyview AnnotatedPLSA", "annotated", {"k": k}, ours=True),
                Contender(f"{OURS}, tables stacked", "plsa", {"k": k}, ours=True),
                Contender("enstop PLSA, tables stacked", "enstop_plsa", {"k": k}, "enstop"),
                Contender("scikit-learn NMF (mu, KL), tables stacked", "sklearn_nmf", {"k": k}),
            ),
            iterations=(3, 15) if k == 8 else (2, 6),
            repeats=repeats,
        )
        for k in (8, 64)
    ]
    found += [
        Case(
            f"{rows:,} items over 2,000 words, 200 non-zeros a row, K={k}",
            wide,
            (
                Contender(f"{OURS}, float64", "plsa", {"k": k}, ours=True),
                Contender(f"{OURS}, float32", "plsa", {"k": k, "dtype": "float32"}, ours=True),
                Contender("enstop PLSA", "enstop_plsa", {"k": k}, "enstop"),
                Contender("scikit-learn NMF (mu, KL), float64", "sklearn_nmf", {"k": k}),
            ),
            iterations=(2, 6) if k == 8 else (1, 3),
            repeats=3,
        )
        for k in (8, 64)
    ]
    return found


def _topics(rng: np.random.Generator, n_topics: int, n_words: int) -> np.ndarray:
    return 0.5 * rng.dirichlet(np.full(n_words, 0.05), n_topics) + 0.5 * rng.dirichlet(np.full(n_words, 0.5))


def tagged_photos(folder: Path, n_tagged: int, n_targets: int, n_tags: int, n_words: int = 2_000) -> None:
    """Photos of 300 tokens from a topic model, the auxiliary ones with 4.6 tags of a Zipf vocabulary on average.

    view0: the targets' counts; view1: counts of words over the photos of each tag, as dense arrays of int32.
    """
    rng = np.random.default_rng(0)
    topics = _topics(rng, 60, n_words)
    targets = np.array([rng.multinomial(300, topics[rng.integers(60)]) for _ in range(n_targets)], dtype=np.int32)
    tag_topic = rng.integers(60, size=n_tags)
    popularity = 1.0 / (np.arange(n_tags) + 10.0)
    chance = [(tag_topic == topic) * popularity for topic in range(60)]
    annotations = np.zeros((n_tags, n_words), dtype=np.int32)
    for _ in range(n_tagged):
        topic = rng.integers(60)
        photo = rng.multinomial(300, topics[topic]).astype(np.int32)
        chosen = rng.choice(n_tags, size=1 + rng.poisson(3.6), p=chance[topic] / chance[topic].sum())
        annotations[np.unique(chosen)] += photo
    np.save(folder / "view0.npy", targets)
    np.save(folder / "view1.npy", annotations[annotations.any(axis=1)])


def sparse_items(folder: Path, n_items: int, n_words: int, per_row: int) -> None:
    """Rows with the same number of distinct words each. view0: the words, int32; view1: their counts, uint8."""
    rng = np.random.default_rng(0)
    popularity = np.log(_topics(rng, 60, n_words) + 1e-6)
    words = np.empty((n_items, per_row), dtype=np.int32)
    for start in range(0, n_items, 2_000):
        rows = slice(start, min(start + 2_000, n_items))
        count = rows.stop - rows.start
        # The largest keys of log p + Gumbel noise are a draw without replacement.
        keys = popularity[rng.integers(60, size=count)] + rng.gumbel(size=(count, n_words))
        words[rows] = np.sort(np.argpartition(-keys, per_row, axis=1)[:, :per_row], axis=1)
    np.save(folder / "view0.npy", words)
    np.save(folder / "view1.npy", rng.integers(1, 6, size=words.shape, dtype=np.uint8))


def _stacked(views: list[np.ndarray], dtype: str = "float64") -> Any:
    """The tables as one CSR matrix, from either form of data above."""
    from scipy.sparse import csr_matrix

    first, second = views
    if first.shape[1] == second.shape[1] and second.dtype == np.uint8:
        ends = np.arange(0, first.size + 1, first.shape[1], dtype=np.int32)
        return csr_matrix((second.ravel().astype(dtype), first.ravel(), ends), shape=(len(first), 2_000))
    return csr_matrix(np.vstack(views), dtype=dtype)


def _limits(iterations: int | None) -> dict[str, Any]:
    return {} if iterations is None else {"max_iter": iterations, "tol": 0.0}


def plsa(views: list[np.ndarray], threads: int, k: int, dtype: str = "float64") -> Fit:
    from manyview import PLSA

    X = _stacked(views, dtype)

    def fit(iterations: int | None, seed: int) -> dict[str, Any]:
        model = PLSA(k, n_init=1, n_jobs=threads, random_state=seed, **_limits(iterations)).fit(X)
        return {"iterations": int(model.n_iter_)}

    return fit


def annotated(views: list[np.ndarray], threads: int, k: int) -> Fit:
    from scipy.sparse import csr_matrix

    from manyview import AnnotatedPLSA

    A, B = (csr_matrix(view, dtype=np.float64) for view in views)

    def fit(iterations: int | None, seed: int) -> dict[str, Any]:
        model = AnnotatedPLSA(k, n_init=1, n_jobs=threads, random_state=seed, **_limits(iterations))
        return {"iterations": int(model.fit(A, annotations=B).n_iter_)}

    return fit


def enstop_plsa(views: list[np.ndarray], threads: int, k: int) -> Fit:
    from enstop import PLSA

    X = _stacked(views, "float32")

    def fit(iterations: int | None, seed: int) -> dict[str, Any]:
        # It looks at the likelihood every tenth iteration; never doing so is in its favour (ours always does).
        limits = {"n_iter": iterations, "tolerance": 0.0, "n_iter_per_test": 10**6} if iterations else {}
        PLSA(k, init="random", random_state=seed, **limits).fit(X)
        return {"iterations": iterations or 0}  # it does not say

    return fit


def sklearn_nmf(views: list[np.ndarray], threads: int, k: int) -> Fit:
    from sklearn.decomposition import NMF

    X = _stacked(views)

    def fit(iterations: int | None, seed: int) -> dict[str, Any]:
        model = NMF(
            k, solver="mu", beta_loss="kullback-leibler", init="random", random_state=seed, **_limits(iterations)
        )
        model.fit(X)
        return {"iterations": int(model.n_iter_)}

    return fit
