"""The spectral step that graph methods share: leading eigenvectors of a sparse symmetric operator, and k-means on rows.

Nothing of size n x n is made, except for collections of at most 400 items. The answer depends on the seed and on
nothing else: BLAS and OpenMP stay on one thread inside, and the starts of k-means are what runs in parallel.
"""

from __future__ import annotations

import inspect
import warnings
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..blocks import row_blocks, workers
from ..engines.jobs import alone
from ..engines.local import LocalEngine
from ..errors import ParameterError
from ..types import Floats, Places
from .base import outside
from .kmeans.plain.runs import Partition, plain_kmeans

__all__ = [
    "cluster_rows",
    "leading_eigenpairs",
    "nearby_eigenpairs",
    "normalised_graph",
    "spectral_rows",
]

Operator: TypeAlias = Any  # a SciPy sparse matrix or LinearOperator: symmetric, has .shape and @

_DENSE = 400  # up to here a dense solver is faster and finds every eigenvalue
_RESTARTS = 300
_DEPENDENT = 1e-10  # of a span, directions with less than this share of the largest are rounding
_SAMPLE = 100_000  # the starts of k-means are compared on at most this many rows


def normalised_graph(graph: Any) -> Any:
    """D^-1/2 G D^-1/2 as CSR, with D the row sums of G; an item without neighbours gets a loop to itself.

    ``graph`` is a symmetric sparse matrix of weights >= 0. The largest eigenvalue of the result is 1.
    """
    from scipy.sparse import csr_matrix, diags_array

    given = csr_matrix(graph)
    graph = csr_matrix((given.data.astype(np.float64), given.indices, given.indptr), shape=given.shape)
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    alone = degrees <= 0
    if alone.any():
        graph = csr_matrix(graph + diags_array(alone.astype(np.float64)))
        degrees = np.where(alone, 1.0, degrees)
    factor = 1.0 / np.sqrt(degrees)
    for rows in row_blocks(graph.shape[0], 12.0 * graph.nnz / max(1, graph.shape[0])):  # in place: graphs are large
        begin, end = graph.indptr[rows.start], graph.indptr[rows.stop]
        graph.data[begin:end] *= np.repeat(factor[rows], np.diff(graph.indptr[rows.start : rows.stop + 1]))
        graph.data[begin:end] *= factor[graph.indices[begin:end]]
    return graph


def leading_eigenpairs(
    operator: Operator,
    n_vectors: int,
    *,
    seed: int,
    tol: float = 1e-4,
    n_needed: int | None = None,
    repeated: bool = True,
) -> tuple[Floats, Floats]:
    """The largest eigenvalues (algebraic, falling) of a symmetric operator, and their eigenvectors as columns.

    Lanczos from a start vector drawn with ``seed``; dense for at most 400 items. One Krylov sequence sees a repeated
    eigenvalue once, so the search is repeated beside what was found until nothing larger is left: a graph in
    thirty pieces gives thirty ones; ``repeated=False`` saves that search. Where Lanczos does not converge, what did is
    kept if that makes at least ``n_needed`` pairs (all by default); otherwise it tries again with tolerance 1e-2 and
    warns.
    """
    n_items = int(operator.shape[0])
    if n_vectors < 1:
        raise ParameterError(f"n_vectors must be at least 1, got {n_vectors}.")
    n_vectors = min(n_vectors, n_items)
    with workers(1):
        if n_items <= _DENSE or n_vectors > n_items // 2:
            dense = operator.toarray() if hasattr(operator, "toarray") else operator @ np.eye(n_items)
            values, vectors = np.linalg.eigh((dense + dense.T) / 2)
            return values[::-1][:n_vectors], np.ascontiguousarray(vectors[:, ::-1][:, :n_vectors])
        rng = np.random.default_rng(seed)
        values, vectors = _lanczos(operator, n_vectors, tol, rng, n_needed or n_vectors)
        for _ in range(n_vectors if repeated else 0):
            more = _lanczos(_without(operator, values, vectors), _probes(n_vectors), tol, rng, 1)
            missed = more[0] > values[-1] + tol
            if not missed.any():
                break
            values = np.concatenate([values, more[0][missed]])
            vectors = np.hstack([vectors, more[1][:, missed]])
            order = np.argsort(-values, kind="stable")[:n_vectors]
            values, vectors = values[order], vectors[:, order]
    return values, np.ascontiguousarray(vectors)


def nearby_eigenpairs(operator: Operator, vectors: Floats, n_rounds: int = 4) -> tuple[Floats, Floats]:
    """The leading eigenpairs of a symmetric operator, from those of one that is much like it: near, not converged.

    Each round takes the best vectors (Rayleigh and Ritz) of the span of those there are and their products; as many
    products of all vectors at once as rounds, and one more. ``operator`` @ (n, k) must be as good as a loop.
    """
    with workers(1):
        n_vectors, blocks = vectors.shape[1], row_blocks(vectors.shape[0], 16.0 * vectors.shape[1])
        before, after, values = vectors.copy(), operator @ vectors, np.empty(0)
        for _ in range(n_rounds):
            further = operator @ after
            across, squares = before.T @ after, after.T @ after
            products = np.block([[before.T @ before, across], [across.T, squares]])
            held = np.block([[across, before.T @ further], [squares, after.T @ further]])
            sizes, basis = np.linalg.eigh(products)
            kept = sizes > _DEPENDENT * sizes[-1]
            basis = basis[:, kept] / np.sqrt(sizes[kept])
            found, mix = np.linalg.eigh(basis.T @ ((held + held.T) / 2) @ basis)
            values = found[::-1][:n_vectors]
            mix = basis @ mix[:, ::-1][:, :n_vectors]
            own, other = mix[:n_vectors], mix[n_vectors:]
            for rows in blocks:  # in place: vectors are what most of the memory goes to
                before[rows], after[rows] = (
                    before[rows] @ own + after[rows] @ other,
                    after[rows] @ own + further[rows] @ other,
                )
    return values, before


def _probes(n_vectors: int) -> int:
    return max(1, n_vectors // 4)


def _without(operator: Operator, values: Floats, vectors: Floats) -> Operator:
    """The operator with the pairs found so far moved to eigenvalue -1, below everything of interest."""
    from scipy.sparse.linalg import LinearOperator

    def product(x: Floats) -> Floats:
        return operator @ x - vectors @ ((values + 1.0) * (vectors.T @ x))

    return LinearOperator(operator.shape, matvec=product, dtype=np.float64)


def _lanczos(
    operator: Operator, n_vectors: int, tol: float, rng: np.random.Generator, n_needed: int
) -> tuple[Floats, Floats]:
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    start = rng.uniform(-1.0, 1.0, operator.shape[0])
    # Newer versions draw a fresh vector from a source of their own where the first one is used up.
    source = {"rng": rng} if "rng" in inspect.signature(eigsh).parameters else {}
    settings: dict[str, Any] = {"k": n_vectors, "which": "LA", "v0": start, "maxiter": _RESTARTS, **source}
    try:
        values, vectors = eigsh(operator, tol=tol, **settings)
    except ArpackNoConvergence as error:
        values, vectors = error.eigenvalues, error.eigenvectors
        if values.size < n_needed:
            try:
                values, vectors = eigsh(operator, tol=max(tol, 1e-2), **settings)
                kept = "tolerance 1e-2 was used"
            except ArpackNoConvergence as again:
                if again.eigenvalues.size == 0:
                    raise
                values, vectors = again.eigenvalues, again.eigenvectors
                kept = f"{values.size} of {n_vectors} are used"
            warnings.warn(
                f"the eigenvectors of the graph did not converge to {tol:g}; {kept}. Labels may be rough.",
                UserWarning,
                stacklevel=outside(),
            )
    order = np.argsort(-values, kind="stable")
    return values[order], vectors[:, order]


def spectral_rows(values: Floats, vectors: Floats, power: float = 0.0) -> Floats:
    """The items' coordinates: columns times max(eigenvalue, 0) ** power, rows to unit length; a zero row stays zero."""
    rows = vectors * np.maximum(values, 0.0) ** power
    lengths = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)


def cluster_rows(
    rows: NDArray[Any],
    n_clusters: int,
    *,
    n_init: int = 10,
    seed: int,
    n_jobs: int | None = None,
) -> tuple[Places, NDArray[Any]]:
    """k-means with k-means++ starts: the labels and centres of the start with the smallest inertia.

    Above 100,000 rows the starts are compared on a sample, and the best one is continued on all rows. The same for any
    number of threads.
    """
    rng = np.random.default_rng(seed)
    seeds = rng.integers(2**31, size=n_init)
    sample = rows
    if rows.shape[0] > _SAMPLE:
        sample = rows[np.sort(rng.choice(rows.shape[0], _SAMPLE, replace=False))]

    with workers(n_jobs) as threads:

        def begin(seed: int) -> Partition:
            return plain_kmeans(sample, n_clusters, "k-means++", 300, seed, alone())

        best = min(threads.map(begin, seeds.tolist()), key=lambda found: found.rank)
        if sample is not rows:
            best = plain_kmeans(rows, n_clusters, best.centres, 300, 0, LocalEngine(threads))
    return best.labels.astype(np.intp), best.centres
