"""For researchers: a comparison that can be trusted

Several methods on the same prepared views, several seeds, missing views at several rates, and an honest baseline. The
papers' own tables are one command each (`manyview papers rmkmc --table 5`); this is how to make one of your own.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from drawing import panels
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans

from manyview import ConcatenatedKMeans, ConsensusClustering, RobustMultiviewKMeans, Views, metrics
from manyview.datasets import load_handwritten
from manyview.testing import check_multiview_estimator

X, y = load_handwritten(return_X_y=True)
X, y = X[["fou", "pix", "mor"]][::8], y[::8]  # three views of 250 numerals
print(X)

# %%
# Each item lacks each view with the given probability, but keeps one. Classes judge and choose nothing.
METHODS = {
    "consensus": lambda seed: ConsensusClustering(10, random_state=seed),
    "RMKMC": lambda seed: RobustMultiviewKMeans(10, n_init=2, random_state=seed),
    "k-means, joined": lambda seed: ConcatenatedKMeans(10, n_init=2, random_state=seed),
}


def with_holes(share: float, seed: int) -> Views:
    """The same numerals with some of their views gone."""
    rng = np.random.default_rng(seed)
    lacks = rng.random((X.n_items, len(X.names))) < share
    lacks[np.arange(X.n_items), rng.integers(len(X.names), size=X.n_items)] = False
    return Views({name: np.where(lacks[:, [v]], np.nan, X[name]) for v, name in enumerate(X.names)})


found = [
    {
        "method": name,
        "missing": share,
        "seed": seed,
        "NMI": metrics.normalized_mutual_info(y, make(seed).fit(holes).labels_),
    }
    for share in (0, 0.3, 0.6)
    for seed in range(2)
    for holes in [with_holes(share, seed)]
    for name, make in METHODS.items()
]
table = pd.DataFrame(found).groupby(["method", "missing"])["NMI"].agg(["mean", "std"]).unstack("missing")
print(table.round(3).to_string())

# %%
axes = panels()
for name in METHODS:
    mean, spread = table["mean"].loc[name], table["std"].loc[name]
    axes.plot(mean.index, mean, marker="o", label=name)
    axes.fill_between(mean.index, mean - spread, mean + spread, alpha=0.15)
axes.set_xlabel("share of views that are missing")
axes.set_title("agreement with the digits (NMI), mean and deviation of two draws")
axes.legend()
axes.grid(axis="y")
plt.show()

# %%
# Which digits are taken for which? Rows are digits, columns the clusters that fit them best.
labels = ConsensusClustering(10, random_state=0).fit(X).labels_
counts = pd.crosstab(y, labels).to_numpy()
order = np.argmax(counts, axis=0).argsort()
axes = panels(height=3.6)
axes.imshow(counts[:, order], cmap="Blues")
axes.set_yticks(range(10))
axes.set_xticks([])
axes.set_title("digits by cluster")
plt.show()

# %%
# A method of your own beside ours: the same checks as for every estimator of the package.


class SideBySide(ClusterMixin, BaseEstimator):
    """k-means on all views side by side: as simple as a multi-view estimator can be."""

    def __init__(self, n_clusters: int = 3, random_state: int | None = None) -> None:
        self.n_clusters = n_clusters
        self.random_state = random_state

    def fit(self, X: object, y: object = None) -> "SideBySide":
        """Cluster."""
        joined = Views(X).joined()
        self.labels_ = KMeans(self.n_clusters, n_init=3, random_state=self.random_state).fit_predict(joined)
        return self


try:
    check_multiview_estimator(SideBySide())
except AssertionError as failed:
    print("not yet:", failed)
