"""One EM step of PLSA on the device, over rows in CSR form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .pieces import Pieces, cut_by_cluster

__all__ = ["Counts", "em_step", "make_counts"]

_PIECE = 2048  # numbers of one word that are added up by one program


@dataclass(frozen=True)
class Counts:
    """Rows of counts on the device, and their numbers once more word by word: 24 bytes a number in single precision."""

    indptr: Any  # int64 (n + 1,)
    words: Any  # int32 (nnz,)
    values: Any  # float (nnz,)
    inverse: Any  # float64 (n,), one over the sum of a row, 0 for an empty one
    by_word: Pieces
    items: Any  # int32 (nnz,), the row of each number, word by word
    shares: Any  # float64 (nnz,), each number over its row's sum times the row's weight, word by word


def make_counts(indptr: Any, words: Any, values: Any, inverse: Any, weight: Any, n_words: int) -> Counts:
    """Prepare rows that lie on the device: one sort of the words.

    ``weight``: of each row in the sums over rows, float64 as ``inverse``.
    """
    import torch

    by_word = cut_by_cluster(words, n_words, _PIECE)
    rows = torch.arange(indptr.numel() - 1, dtype=torch.int32, device=words.device)
    items = torch.repeat_interleave(rows, indptr.diff())[by_word.order]
    shares = values[by_word.order].double() * (inverse * weight)[items]
    return Counts(indptr, words, values, inverse, by_word, items, shares)


def em_step(counts: Counts, theta: Any, phi: Any, tiny: float, flush: float, out: Any = None) -> tuple[Any, Any]:
    """The sum over rows of weight r theta (n_words, K) in float64, and log-likelihoods of rows.

    New shares (n, K) go to ``out``, which may be ``theta`` itself. 4 nnz K operations in float64, whatever the type of
    the shares.
    """
    import torch

    from . import _topic_kernels as kernels

    n, K = theta.shape
    wide = max(2, 1 << (K - 1).bit_length())
    limits = torch.tensor([tiny, flush], dtype=torch.float64, device=theta.device)
    words = counts.by_word
    loglik = torch.empty(n, dtype=torch.float64, device=theta.device)
    parts = torch.empty((words.cluster.numel(), K), dtype=torch.float64, device=theta.device)
    if parts.shape[0]:  # first, while the old shares are there
        kernels.word_step[(parts.shape[0],)](
            counts.items, counts.shares, theta, phi, limits, words.first, words.last, words.cluster, parts, K,
            wide, max(2, min(64, 512 // wide)), num_warps=1,
        )  # fmt: skip
    if n:
        kernels.row_step[(n,)](
            counts.indptr, counts.words, counts.values, counts.inverse, theta, phi, limits,
            loglik if out is None else out, loglik, out is not None, K, wide, max(2, min(16, 256 // wide)), num_warps=1,
        )  # fmt: skip
    return words.fold(parts), loglik
