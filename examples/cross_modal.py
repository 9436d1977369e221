"""CrossModalClustering: words and pictures in one space

Canonical correlation analysis finds directions in which looks and tags agree. In that space a word has neighbours among
pictures and a picture among words, and k-means groups both together: the system of the CCA + AHKMC paper.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from drawing import panels, rows_of_pictures
from shipped import photographs

from manyview import AssociationNetwork, CanonicalFusion, CrossModalClustering, TagTable, Views, name_clusters

data = photographs()
table = TagTable.from_lists(data.tags)
tagged = np.asarray(table.yes.sum(axis=1)).ravel() > 0
mask = np.column_stack([np.ones(len(data.files), bool), tagged])
X = Views({"looks": data.looks, "tags": table.yes}, mask=mask)
print(X)

# %%
# How well looks and tags agree along each dimension:
fusion = CanonicalFusion(n_components=24).fit(X)
axes = panels()
axes.bar(np.arange(1, fusion.correlations_.size + 1), fusion.correlations_)
axes.set_title("correlation of looks and tags, dimension by dimension")
axes.grid(axis="y")
plt.show()

# %%
# Ask with a word, find by looks. None of the photographs below carries a tag.
untagged = np.flatnonzero(~tagged)
found = {}
for word in ("fish", "windmill", "tower", "tool"):
    asked = np.zeros((1, table.n_tags))
    asked[0, table.index(word)] = 1
    order, _ = fusion.nearest(view="looks", to={"tags": asked}, n_neighbors=8, among=X[untagged])
    found[word] = [data.files[untagged[row]] for row in order[0]]
rows_of_pictures(found)
plt.show()

# %%
# Which tags go together, before anything is looked at:
network = AssociationNetwork(threshold=0.02).fit(table)
for word in ("fish", "building", "animal"):
    print(f"{word}:", ", ".join(f"{tag} {weight:.2f}" for tag, weight in network.neighbors(word)[:4]))

# %%
# The whole system in one call: network, fusion with shares .3 and .7, k-means from merged starts. It is for collections
# with tags, so it is fitted on the half that has some; the others join by their looks.
model = CrossModalClustering(6, random_state=0).fit({"looks": data.looks[tagged], "tags": table.yes[tagged]})
names = name_clusters(model.labels_, [data.tags[row] for row in np.flatnonzero(tagged)])
joined = model.predict({"looks": data.looks[untagged]})
for k in np.argsort(-np.bincount(model.labels_)):
    print(f"{(model.labels_ == k).sum():4} tagged, {(joined == k).sum():3} joined   {names[int(k)].name}")
