"""For data scientists: several matrices, and scikit-learn's manners

You have arrays: features of several kinds for the same rows, some rows without some of them. `Views` holds them, and
goes through `GridSearchCV`, `cross_validate` and `Pipeline` as one matrix would.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from drawing import COLOURS, panels
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline

import manyview
from manyview import (
    AcceleratedKMeans,
    CanonicalFusion,
    ConsensusClustering,
    RobustMultiviewKMeans,
    Views,
    metrics,
    suggest_n_clusters,
)
from manyview.datasets import load_handwritten

X, y = load_handwritten(return_X_y=True)
X, y = X[::2], y[::2]

# %%
# Columns of a frame become views by name; a dict or a list of arrays would do as well.
frame = pd.DataFrame(
    np.hstack([X["mor"], X["zer"]]), columns=[f"m{i}" for i in range(6)] + [f"z{i}" for i in range(47)]
)
print(Views.from_frame(frame, views={"shape": list(frame)[:6], "moments": list(frame)[6:]}))

# %%
# How many clusters? From the graph of nearest neighbours; nothing is clustered for it.
number = suggest_n_clusters(X, random_state=0)
print(number.reason)
axes = panels()
axes.plot(number.candidates, number.score, marker="o", markersize=3)
axes.axvline(number.n_clusters, color=COLOURS[1], linewidth=1)
axes.set_title("how clearly the neighbours fall apart, by number of clusters")
axes.set_xlabel("clusters")
axes.grid(axis="y")
plt.show()

# %%
# Model selection cuts rows, and `Views` can be cut by rows.
train, test, y_train, y_test = train_test_split(X, y, random_state=0)
search = GridSearchCV(
    RobustMultiviewKMeans(10, view_scale="minmax", n_init=1, random_state=0), {"gamma": [2, 10, 79.4]}, cv=3
).fit(train)
print(search.best_params_, f"NMI on rows left out: {metrics.normalized_mutual_info(y_test, search.predict(test)):.3f}")

# %%
# A transformer in a pipeline: all views in one space of 16 dimensions, and k-means there.
fused = make_pipeline(CanonicalFusion(16), AcceleratedKMeans(10, n_init=4, random_state=0)).fit(X)
print(f"fused, then k-means: {metrics.normalized_mutual_info(y, fused[-1].labels_):.3f}")

# %%
# Rows that lack views: a dense row of NaN says so. Every item keeps at least one view.
rng = np.random.default_rng(0)
lacks = rng.random((X.n_items, len(X.names))) < 0.3
lacks[np.arange(X.n_items), rng.integers(len(X.names), size=X.n_items)] = False
holes = {name: np.where(lacks[:, [v]], np.nan, X[name]) for v, name in enumerate(X.names)}
model = ConsensusClustering(10, random_state=0).fit(holes)
print(Views(holes))
print(f"30 % of the views missing: accuracy {metrics.clustering_accuracy(y, model.labels_):.3f}")

# %%
# The clusters in the plane, and every measure at once:
plane = PCA(2).fit_transform(fused[0].transform(X))
axes = panels(height=3.6)
axes.scatter(*plane.T, c=model.labels_, cmap="tab10", s=6, rasterized=True)
axes.set_title("1,000 numerals in the fused space, by cluster")
axes.axis("off")
plt.show()
print(pd.Series(metrics.cluster_report(y, model.labels_)).round(3).to_string())

# %%
# Models are kept as JSON and .npy; reading one back runs no code.
manyview.save(model, "demo-output/model")
print((manyview.load("demo-output/model").predict(X[:100]) == model.predict(X[:100])).all())
