"""RobustMultiviewKMeans: how much each view should count

RMKMC is k-means over several views, with distances that are not squared, so that an outlier pulls less, and weights of
the views that are learned along the way. It costs about as much as k-means and takes data larger than memory.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from drawing import COLOURS, panels, rows_of_pictures

from manyview import ConcatenatedKMeans, RobustMultiviewKMeans, metrics
from manyview.datasets import load_handwritten

X, digits = load_handwritten(return_X_y=True)
print(X)

# %%
# `gamma` says how evenly views share the weight: near 1 the tightest view takes all, at the paper's flat end, which is
# the default, weights hardly depend on the views' units. `view_weights_` is what acts in the assignment.
gammas = (1.5, 2, 3, 5, 10, 30, 79.4)
models = [RobustMultiviewKMeans(10, gamma=g, view_scale="minmax", n_init=1, random_state=0).fit(X[::2]) for g in gammas]
axes = panels(2)
for v, name in enumerate(X.names):
    axes[0].plot(gammas, [model.view_weights_[v] for model in models], marker="o", markersize=3, label=name)
axes[0].set_xscale("log")
axes[0].set_xlabel("gamma")
axes[0].set_title("learned weights of the six views")
axes[0].legend(ncols=2, fontsize=8)
axes[1].plot(models[-1].objective_, marker="o", markersize=3)
axes[1].set_xlabel("round")
axes[1].set_title("log of the objective: it never rises")
for one in axes:
    one.grid(axis="y")
plt.show()

# %%
# Three ways on the same prepared views, from four different starts: learned weights, equal weights (the paper's SMKMC),
# and plain k-means on all views side by side. The digits judge; they choose nothing.
ways = {
    "learned weights": RobustMultiviewKMeans(10, view_scale="minmax", n_init=1),
    "equal weights": RobustMultiviewKMeans(10, view_scale="minmax", n_init=1, view_weights="equal"),
    "plain k-means": ConcatenatedKMeans(10, view_scale="minmax", n_init=1),
}
axes = panels(height=2.2)
for place, (name, model) in enumerate(ways.items()):
    found = [model.set_params(random_state=seed).fit(X[::2]).labels_ for seed in range(4)]
    scores = [metrics.normalized_mutual_info(digits[::2], labels) for labels in found]
    axes.plot(scores, [place] * 4, "o", color=COLOURS[place], alpha=0.6)
    axes.plot(np.mean(scores), place, "|", color=COLOURS[place], markersize=22)
    print(f"{name:16} NMI {np.mean(scores):.3f} ± {np.std(scores, ddof=1):.3f}")
axes.set_yticks(range(3), list(ways))
axes.invert_yaxis()
axes.margins(y=0.3)
axes.set_title("agreement with the digits (NMI), four starts and their mean")
axes.grid(axis="x")
plt.show()

# %%
# With the default `view_scale="auto"` views are prepared as the consensus prepares them, which is the better choice
# when nothing has to be compared with the paper:
best = RobustMultiviewKMeans(10, n_init=2, random_state=0).fit(X)
print(f"accuracy {metrics.clustering_accuracy(digits, best.labels_):.3f}")
pixels = X["pix"].reshape(-1, 16, 15)
rows_of_pictures({f"cluster {k}": list(pixels[best.labels_ == k][:10]) for k in range(4)}, width=10)
plt.show()
