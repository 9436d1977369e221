"""TagForest: sparse tags at several levels of abstraction

Half of the photographs carry two or three words each. HML-RF grows trees on what pictures look like and lets the tags
judge the splits, abstract ones first. Two photographs are as alike as the share of trees in which they end in one leaf.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from drawing import bars, panels, rows_of_pictures
from shipped import photographs

from manyview import TagForest, metrics, name_clusters

data = photographs()
forest = TagForest(n_clusters=6, n_estimators=150, random_state=0).fit(data.looks, data.tags)
for number, layer in enumerate(forest.layers_):
    print(
        f"layer {number + 1}:", ", ".join(forest.tag_names_[tag] for tag in layer[:9]), "..." if len(layer) > 9 else ""
    )

# %%
# The layers above were made from the tags alone. The clusters, named by the words that set them apart:
names = name_clusters(forest.labels_, data.tags)
rows_of_pictures(
    {
        f"{names[k].name} ({(forest.labels_ == k).sum()})": [
            data.files[i] for i in np.flatnonzero(forest.labels_ == k)[:8]
        ]
        for k in range(6)
    }
)
plt.show()

# %%
# Affinity of all pairs, photographs sorted by cluster: blocks on the diagonal are clusters.
order = np.argsort(forest.labels_, kind="stable")
axes = panels(height=4)
axes.imshow(forest.affinity().toarray()[np.ix_(order, order)], cmap="Blues", vmax=0.6)
axes.set_title("share of trees in which two photographs share a leaf")
axes.axis("off")
plt.show()

# %%
# Three ways of the paper to score missing tags, judged on the photographs without any: is the first proposal right?
untagged = [row for row, tags in enumerate(data.tags) if not tags]
known = {word: place for place, word in enumerate(forest.tag_names_)}
truth = np.zeros((len(untagged), len(known)))
for line, row in enumerate(untagged):
    truth[line, [known[word] for word in data.truth[row] if word in known]] = 1
right = {}
for method in ("neighbourhood", "cluster", "affinity", "combined"):
    scores = forest.tag_scores(method=method)[untagged]
    first = np.asarray(scores).argmax(axis=1)
    right[method] = float(truth[np.arange(len(untagged)), first].mean())
bars(list(right), list(right.values()), "first proposal right, of photographs without any tag", strong=3)
plt.show()

# %%
# `"combined"` is the stack of `TagCompleter`, which asks more than the forest.
print(f"clusters and the main tag: purity {metrics.purity([tags[0] for tags in data.truth], forest.labels_):.3f}")
