"""Lloyd's algorithm, word for word, in float64: the oracle of the accelerated k-means."""

import numpy as np


def lloyd(X, centres, max_iter=300, weight=None):
    """Labels of every round, until they stay the same; empty clusters keep their centres, ties go to the lowest."""
    X, centres = np.asarray(X, dtype=np.float64), np.array(centres, dtype=np.float64)
    weight = np.ones(len(X)) if weight is None else weight
    history = []
    for _ in range(max_iter):
        labels = ((X[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        history.append(labels)
        if len(history) > 1 and np.array_equal(history[-2], labels):
            break
        for k in range(len(centres)):
            mass = weight[labels == k].sum()
            if mass > 0:
                centres[k] = (weight[labels == k, None] * X[labels == k]).sum(axis=0) / mass
    return history, centres


def inertia(X, labels, centres):
    return float(((np.asarray(X, dtype=np.float64) - centres[labels]) ** 2).sum())


def problem(seed):
    """A small random problem: noise, blobs or an integer grid full of ties; and centres to start from."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(5, 200)), int(rng.integers(1, 9))
    k = int(rng.integers(1, min(n, 12)))
    kind = ("noise", "blobs", "grid", "narrow grid")[seed % 4]
    if kind == "noise":
        X = rng.normal(size=(n, d))
    elif kind == "blobs":
        X = rng.normal(size=(n, d)) + rng.normal(size=(k, d))[rng.integers(k, size=n)] * 4
    else:
        X = rng.integers(0, 5 if kind == "grid" else 2, size=(n, d)).astype(np.float64)
    return X, X[rng.choice(n, k, replace=False)]
