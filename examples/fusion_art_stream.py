"""FusionART: a collection that keeps growing

Photos of six themes arrive in twelve batches; the themes turn up one after the other, looks are weak and some tags are
noise. No batch is kept and none is seen twice. Clusters open as they are needed, and the say of each channel settles.
"""

# %%
# Made-up photos: a row of numbers for the looks, and a handful of words.
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from drawing import panels
from scipy.sparse import csr_matrix

from manyview import FusionART, metrics

WORDS = {
    "beach": ["sea", "sand", "wave", "holiday"],
    "dogs": ["dog", "puppy", "park", "ball"],
    "wedding": ["bride", "church", "dance", "family"],
    "snow": ["snow", "ski", "mountain", "holiday"],
    "city": ["street", "night", "tower", "bus"],
    "garden": ["flower", "bee", "tree", "family"],
}
NOISE = ["nikon", "canon", "2012", "best", "geotagged", "square", "bw", "me", "explore", "favourite"]
TAGS = sorted({word for words in WORDS.values() for word in words}) + NOISE
THEMES, N_BATCHES, BATCH = list(WORDS), 12, 250

rng = np.random.default_rng(0)
centres = 0.5 + 0.22 * rng.standard_normal((len(THEMES), 24))


def batch(number: int) -> tuple[dict, np.ndarray]:
    """Looks and tags of one batch. A new theme turns up every second batch."""
    themes = rng.integers(min(len(THEMES), 1 + number // 2), size=BATCH)
    looks = np.clip(centres[themes] + 0.16 * rng.standard_normal((BATCH, 24)), 0, 1)
    tags = np.zeros((BATCH, len(TAGS)))
    for row, theme in enumerate(themes):
        if rng.random() < 0.05:
            continue  # nobody tagged this one
        own = rng.permutation(WORDS[THEMES[theme]])[: rng.integers(1, 4)]
        for word in [*own, *rng.choice(NOISE, rng.integers(0, 3), replace=False)]:
            tags[row, TAGS.index(str(word))] = 1
    return {"looks": looks, "tags": csr_matrix(tags)}, themes


# %%
# How alike an item and a cluster must be is said for each channel. Everything else is found.
model = FusionART(vigilance={"looks": 0.3, "tags": 0.15})
seen = []
print("batch  items  clusters  purity   looks   tags")
for number in range(N_BATCHES):
    views, themes = batch(number)
    labels = model.partial_fit(views).labels_
    seen.append((int(model.cluster_sizes_.sum()), model.n_clusters_))
    looks, tags = model.contributions_
    purity = metrics.purity(themes, labels)
    print(f"{number + 1:5}  {seen[-1][0]:5}  {seen[-1][1]:8}  {purity:6.3f}  {looks:6.3f} {tags:6.3f}")

# %%
axes = panels(2)
axes[0].plot(model.history_items_, model.contributions_history_, label=["looks", "tags"])
axes[0].set_title("the say of each channel")
axes[0].set_ylim(0, 1)
axes[0].legend()
axes[1].step(*zip((0, 0), *seen, strict=True), where="pre")
axes[1].set_title("clusters")
for one in axes:
    one.set_xlabel("photos seen")
    one.grid(axis="y")
plt.show()

# %%
# What the clusters are about, in words, and why one more photo goes where it goes:
for j in np.argsort(-model.cluster_sizes_)[:6]:
    print(model.explain_cluster(int(j), names={"tags": TAGS}, top=3)["text"])
one, _ = batch(N_BATCHES)
print("\none more photo:", model.explain({k: view[:1] for k, view in one.items()}, names={"tags": TAGS})[0]["text"])

# %%
# All that is kept of the photos is the field of clusters, and it can be saved in the middle of the stream.
import manyview

manyview.save(model, Path("demo-output") / "stream")
kept = sum(array.nbytes for array in model.field_.values())
print(f"{kept / 1024:.0f} KiB for {model.cluster_sizes_.sum():,} photos")
