"""ConsensusClustering: six descriptions of one numeral, one partition

Every numeral is described six times: by its pixels, its shape, its outline. Each description sees something that the
others miss. The consensus lets quick partitions and neighbours of all of them vote; no view has to be chosen, and none
scaled by hand.
"""

# %%
import matplotlib.pyplot as plt
from drawing import bars, rows_of_pictures

from manyview import ConsensusClustering, SingleViewKMeans, metrics
from manyview.datasets import load_handwritten

X, digits = load_handwritten(return_X_y=True)
X, digits = X[::4], digits[::4]
print(X)

# %%
# The classes are known here. They judge the result and take no part in finding it.
model = ConsensusClustering(10, random_state=0).fit(X)
print(f"accuracy {metrics.clustering_accuracy(digits, model.labels_):.3f}")
print({name: round(float(share), 2) for name, share in model.view_shares_.items()})

# %%
# k-means on each view alone, and the consensus of all:
found = {name: SingleViewKMeans(10, view=name, random_state=0).fit(X).labels_ for name in X.names}
found["all six, consensus"] = model.labels_
scores = [metrics.normalized_mutual_info(digits, labels) for labels in found.values()]
bars(list(found), scores, "agreement with the digits (NMI)", strong=len(found) - 1)
plt.show()

# %%
# Ten members of every cluster:
pixels = X["pix"].reshape(-1, 16, 15)
rows = {f"cluster {k}": list(pixels[model.labels_ == k][:10]) for k in range(5)}
rows_of_pictures(rows, width=10)
plt.show()

# %%
# New items may lack views: here are seven numerals of which only the pixels are known.
new = load_handwritten()
rows = slice(1, None, 300)
print(model.predict({"pix": new.views["pix"][rows]}), "which are", new.y[rows])
