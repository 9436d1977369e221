"""AnnotatedPLSA: a few photographs of your own, and the tags of strangers

Thirty photographs without any tag, described by a few visual words each: too little to group them well. Other people's
photographs carry tags, and show other things. aPLSA learns topics from both at once. Whether that helps depends on how
much is known of your own, and it is measured here.
"""

# %%
# Visual words: small patterns at the points of a coarse grid. One code book serves both sides.
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
from drawing import panels, rows_of_pictures
from PIL import Image
from shipped import photographs

from manyview import PLSA, AnnotatedPLSA, BagOfWords, TagTable, annotation_matrix, metrics

data = photographs()
pictures = [Image.open(file).convert("L").resize((192, 192)) for file in data.files]
words = BagOfWords(n_words=120, step=24, cell_widths=(6,), random_state=0).fit_transform(pictures)
print(f"{words.shape[0]} photographs, {words.sum() / words.shape[0]:.0f} visual words each")

# %%
# The strangers' side: the photographs with tags, as counts of words for every tag.
tagged = np.array([bool(tags) for tags in data.tags])
table = TagTable.from_lists([tags for tags in data.tags if tags])
annotations = annotation_matrix(table.yes, words[tagged])
print(f"{tagged.sum()} tagged photographs, {table.n_tags} tags")

# %%
# Our side: untagged photographs of three kinds, ten of each in every draw. The kinds judge, and are not told. Of each
# photograph only so many of its words are kept: how many does it take before strangers are no help any more?
kinds = ("fish", "building", "tool")
kind = np.array([next((k for k, word in enumerate(kinds) if word in tags), -1) for tags in data.truth])
counts = words.toarray().astype(int)
sizes, n_draws = (3, 6, 12, 24, 48), 4
entropies = np.zeros((len(sizes), n_draws, 2))
for (s, size), draw in product(enumerate(sizes), range(n_draws)):
    rng = np.random.default_rng(draw)
    pools = [np.flatnonzero(~tagged & (kind == k)) for k in range(len(kinds))]
    rows = np.concatenate([rng.choice(pool, 10, replace=False) for pool in pools])
    few = np.array([rng.multivariate_hypergeometric(counts[row], size) for row in rows])
    alone = PLSA(3, random_state=draw).fit(few)
    helped = AnnotatedPLSA(3, random_state=draw).fit(few, annotations=annotations)
    entropies[s, draw] = [metrics.class_entropy(kind[rows], one.labels_) for one in (alone, helped)]
print(f"entropy of the kinds in the clusters, nats (0 is perfect, {np.log(3):.2f} says nothing)")
for size, (mean_alone, mean_helped) in zip(sizes, entropies.mean(axis=1), strict=True):
    print(f"{size:3} words: alone {mean_alone:.3f}   with strangers' tags {mean_helped:.3f}")

# %%
axes = panels()
for number, label in enumerate(("alone (PLSA)", "with tags (AnnotatedPLSA)")):
    mean, error = entropies[:, :, number].mean(axis=1), entropies[:, :, number].std(axis=1) / np.sqrt(n_draws)
    axes.plot(sizes, mean, marker="o", label=label)
    axes.fill_between(sizes, mean - error, mean + error, alpha=0.15)
axes.set_xscale("log", base=2)
axes.set_xticks(sizes, [str(size) for size in sizes])
axes.set_xlabel("visual words kept of each photograph")
axes.set_title("entropy, mean and standard error: lower is better")
axes.legend()
axes.grid(axis="y")
plt.show()

# %%
# The topics know which tags they go with, so clusters of untagged photographs have names:
best = helped.top_tags(table.names, n=3)
shown = {
    ", ".join(tag for tag, _ in best[k]): [data.files[row] for row in rows[helped.labels_ == k][:8]]
    for k in range(3)
    if (helped.labels_ == k).any()
}
rows_of_pictures(shown)
plt.show()
