"""The same steps as anybody would write them in torch, float32 throughout: what ours are compared with."""

from __future__ import annotations

from typing import Any

import torch

_ROWS = 2**17


def kmeans_round(X: Any, C: Any) -> Any:
    """Nearest centres by one matrix product a block, and their means by adding rows up where they belong."""
    squares = C.square().sum(1)
    labels = torch.cat([(squares - 2 * (part @ C.T)).argmin(1) for part in X.split(2**31 // C.shape[0])])
    sums = torch.zeros_like(C).index_add_(0, labels, X)
    return sums / torch.bincount(labels, minlength=C.shape[0]).clamp(min=1)[:, None]


def neighbours(X: Any, among: Any, k: int) -> Any:
    """The k nearest rows by one matrix product a block: products decide."""
    squares = among.square().sum(1)
    parts = X.split(2**29 // among.shape[0])
    return torch.cat([(squares - 2 * (part @ among.T)).topk(k, dim=1, largest=False).indices for part in parts])


def robust_round(views: list[Any], centroids: list[Any], lengths: list[Any], weights: list[float]) -> Any:
    """Costs over all views, labels, residuals, and weighted means."""
    n, K = views[0].shape[0], centroids[0].shape[0]
    labels = torch.empty(n, dtype=torch.int64, device=views[0].device)
    sums, mass = [torch.zeros_like(F) for F in centroids], torch.zeros((len(views), K), device=views[0].device)
    for start in range(0, n, _ROWS):
        here = slice(start, start + _ROWS)
        cost = torch.zeros((views[0][here].shape[0], K), device=views[0].device)
        for X, F, e, w in zip(views, centroids, lengths, weights, strict=True):
            cost += (0.5 * w / e[here])[:, None] * (F.square().sum(1) - 2 * (X[here] @ F.T))
        labels[here] = found = cost.argmin(1)
        for v, (X, F, e) in enumerate(zip(views, centroids, lengths, strict=True)):
            apart = X[here] - F[found]
            e[here] = apart.square().sum(1).sqrt() + 1e-6
            D = 0.5 / e[here]
            sums[v].index_add_(0, found, D[:, None] * apart)
            mass[v].index_add_(0, found, D)
    return [F + s / m.clamp(min=1e-30)[:, None] for F, s, m in zip(centroids, sums, mass, strict=True)], lengths


def plsa_step(words: Any, share: float, theta: Any, phi: Any) -> tuple[Any, Any]:
    """One EM step of rows that have the same number of words each; ``words`` (n, m)."""
    G, new = torch.zeros_like(phi), torch.empty_like(theta)
    for start in range(0, words.shape[0], 2**19):
        here = slice(start, start + 2**19)
        w, t = words[here].long(), theta[here]
        f = phi[w]
        r = share / ((f * t[:, None]).sum(2) + 1e-30)
        shares = t * (f * r[:, :, None]).sum(1)
        new[here] = shares / shares.sum(1, keepdim=True)
        G.index_add_(0, w.reshape(-1), (r[:, :, None] * t[:, None]).reshape(-1, theta.shape[1]))
    topics = phi * G
    return new, topics / topics.sum(0)
