"""Robust multi-view k-means as the paper writes it, in three loops, and a way to start ours from given labels."""

import numpy as np

from manyview import RobustMultiviewKMeans
from manyview.data.source import source_of
from manyview.engines.checkpoint import Checkpoint
from manyview.engines.choice import working
from manyview.methods.kmeans._robust_rounds import run_rounds
from manyview.methods.kmeans.scaling import learn_scaling


def literal_rounds(views, labels, n_clusters, gamma, rule, n_rounds, eps, learned=True):
    """Steps 2 to 6 of the procedure, round by round; returns labels, centroids, alpha, omega and log Phi per round."""
    labels, n, M = np.array(labels), len(labels), len(views)
    D, omega = np.ones((n, M)), np.ones(M)
    objective = []
    for _ in range(n_rounds):
        F = [
            np.array(
                [
                    sum(D[i, v] * X[i] for i in range(n) if labels[i] == k) / sum(D[labels == k, v])
                    for k in range(n_clusters)
                ]
            )
            for v, X in enumerate(views)
        ]
        for i in range(n):
            costs = []
            for k in range(n_clusters):
                squares = [((views[v][i] - F[v][k]) ** 2).sum() for v in range(M)]
                if rule == "literal":
                    costs.append(sum(omega[v] * D[i, v] * squares[v] for v in range(M)))
                else:
                    costs.append(sum(omega[v] * np.sqrt(squares[v]) for v in range(M)))
            labels[i] = int(np.argmin(costs))
        e = np.array(
            [[np.sqrt(((views[v][i] - F[v][labels[i]]) ** 2).sum() + eps[v] ** 2) for v in range(M)] for i in range(n)]
        )
        D = 1 / (2 * e)
        H = e.sum(axis=0)
        if learned:
            alpha = H ** (1 / (1 - gamma)) / (H ** (1 / (1 - gamma))).sum()
            omega = alpha**gamma
        else:
            alpha = np.full(M, 1 / M)
        objective.append(np.log((omega * H).sum()))
    return labels, F, alpha, omega, objective


def start_from(views, labels, **settings):
    """Run our rounds from given labels, without scaling unless asked; returns the problem and the outcome."""
    settings = {"view_scale": None, "n_init": 1, "max_iter": 100, "n_clusters": int(max(labels)) + 1, **settings}
    model = RobustMultiviewKMeans(**settings)
    data = model._fit_views(views)
    weight = np.ones(data.n_items)
    with working(model.n_jobs) as engine:
        source = source_of(data, weight)
        scalings = learn_scaling(data, model.view_scale, weight, engine, source)
        active = np.arange(data.n_views)
        problem = model._problem(
            data, scalings, active, weight, model.n_clusters, engine, source, Checkpoint(None, engine)
        )
        first = [np.asarray(labels)[span.start : span.stop] for span in problem.plan.spans]
        outcome = run_rounds(problem, lambda: first, lambda *_: None)
    model.spaces_ = None
    model._store(outcome, data, data, scalings, active, weight)
    return model, problem, outcome


def blobs(rng, n=40, widths=(3, 5, 2), n_clusters=3, spread=1.0):
    """Overlapping clusters in several views."""
    truth = rng.integers(n_clusters, size=n)
    return [rng.normal(size=(n_clusters, d))[truth] * 2 + rng.normal(size=(n, d)) * spread for d in widths], truth


def fit(X, n_clusters=3, **settings):
    """A quick fit with a fixed seed, on views scaled as in the paper."""
    return RobustMultiviewKMeans(
        n_clusters, **{"random_state": 0, "n_init": 2, "view_scale": "minmax", **settings}
    ).fit(X)


def canonical_rounds(views, present, labels, n_clusters, gamma, rule, n_rounds, eps, scales):
    """The canonical arithmetic, literally: float64 from differences, residuals and centroids in the view's own type.

    Returns the labels, and per round the centroids and H. ``scales`` are rounded to the views' types before use.
    """
    n, M, kinds = len(labels), len(views), [X.dtype for X in views]
    X = [np.where(here[:, None], x, 0).astype(float) for x, here in zip(views, present.T, strict=True)]
    S = [s.astype(kind).astype(float) for s, kind in zip(scales, kinds, strict=True)]
    share = present.mean(axis=0)
    F = [np.zeros((n_clusters, x.shape[1])) for x in X]
    D, omega, labels = present.astype(float), np.ones(M), np.array(labels)
    history = []
    for _ in range(n_rounds):
        for v in range(M):
            sums, mass = np.zeros_like(F[v]), np.zeros(n_clusters)
            for i in range(n):
                sums[labels[i]] += D[i, v] * (X[v][i] - F[v][labels[i]])
                mass[labels[i]] += D[i, v]
            moved = F[v] + sums / np.where(mass > 0, mass, np.inf)[:, None]
            F[v] = moved.astype(kinds[v]).astype(float)
        squares = [(((x[:, None] - f[None]) * s) ** 2).sum(-1) for x, f, s in zip(X, F, S, strict=True)]
        if rule == "literal":
            costs = sum(omega[v] * D[:, v, None] * squares[v] for v in range(M))
        else:
            costs = sum(omega[v] * present[:, v, None] * np.sqrt(squares[v]) for v in range(M))
        labels = costs.argmin(axis=1)
        own = [square[np.arange(n), labels] for square in squares]
        e = [np.sqrt(own[v] + eps[v] ** 2) for v in range(M)]
        H = np.array([e[v][present[:, v]].sum() for v in range(M)])
        D = np.stack([0.5 / e[v].astype(kinds[v]).astype(float) * present[:, v] for v in range(M)], axis=1)
        log_mean = np.log(H) - np.log(share * n)
        omega = np.exp(-(gamma / (gamma - 1.0)) * log_mean)
        omega /= omega.max()
        history.append((F.copy(), H))
    return labels, history
