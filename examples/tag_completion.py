"""TagCompleter: the missing tags, with a probability and a reason

Half of 228 photographs carry tags. What would their owner have written on the others? Six sources are stacked; every
proposal says how sure it is and why, and here, where the truth is known, it can be judged.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from drawing import COLOURS, panels, rows_of_pictures
from shipped import photographs

from manyview import TagCompleter

data = photographs()
completer = TagCompleter().fit({"looks": data.looks}, data.tags)
for words, weights in zip(("with tags", "without any"), completer.weights_, strict=True):
    said = {name: round(float(weight), 2) for name, weight in zip(completer.sources_, weights, strict=True)}
    print(f"weights for items {words}: {said}")

# %%
# The best proposals with different tags, for photographs that have none:
proposals = completer.propose(top=3)
best, words = [], set()
for one in sorted(proposals, key=lambda one: -one.probability):
    if not data.tags[one.item] and one.tag not in words:
        best.append(one)
        words.add(one.tag)
for one in best[:4]:
    print(one.reason)
shown = {"proposed": [data.files[one.item] for one in best[:8]]}
rows_of_pictures(shown, under={"proposed": [f"{one.tag} {one.probability:.0%}" for one in best[:8]]})
plt.show()

# %%
# Does a probability keep its word? Proposals for the untagged half, in bins of what was promised.
judged = [(one.probability, one.tag in data.truth[one.item]) for one in proposals if not data.tags[one.item]]
promised, right = np.array(judged, dtype=float).T
axes = panels(2, height=3.2)
bins = np.clip((promised * 5).astype(int), 0, 4)
x = [promised[bins == b].mean() for b in range(5) if (bins == b).any()]
y = [right[bins == b].mean() for b in range(5) if (bins == b).any()]
axes[0].plot([0, 1], [0, 1], color=COLOURS[5], linewidth=1, linestyle="--")
axes[0].plot(x, y, marker="o")
axes[0].set_xlabel("promised")
axes[0].set_ylabel("right")
axes[0].set_title("promised and kept")
lines = np.linspace(0.1, 0.95, 18)
axes[1].plot(lines, [right[promised >= line].mean() for line in lines], label="share right")
axes[1].plot(lines, [(promised >= line).mean() for line in lines], label="share of all proposals")
axes[1].set_xlabel("accept everything at least this likely")
axes[1].legend()
for one in axes:
    one.grid()
plt.show()
print(f"{promised.size} proposals: {promised.mean():.0%} promised, {right.mean():.0%} right")

# %%
# A photograph that nobody has seen needs no refit, and may come with a tag of its own:
print([one.tag for one in completer.propose(top=4, X={"looks": data.looks[:1]}, tags=[["fish"]])])
