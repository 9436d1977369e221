"""What is promised to items without tags, and how much of it is right: tags on a random part, or subject after subject.

People tag one subject and then the next. Of the subjects they have begun with half of the items have their tags here;
the other half, and all other subjects, have none. Proposals are the best of each untagged item that is at least as
likely as not. "Before" is without asking whether items are of the kind of the tagged ones.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from manyview import TagCompleter

from .pictures import picture_collection
from .table import Table

SETS = {"emoji": "group", "flickr8k-captioned": "label"}
SHARES = (0.05, 0.2, 0.5)
SEEDS = 3
FIGURES = (
    "tagged",
    "likely",
    "promised",
    "right",
    "likely before",
    "promised before",
    "right before",
    "all promised",
    "all right",
)


def tables(quick: bool) -> Iterator[Table]:
    for name, label in SETS.items():
        found = picture_collection(name)
        if found is None:
            continue
        table = Table(f"{name}: the best tag of each item without tags", FIGURES)
        for how in ("a random part", "subject after subject"):
            for share in SHARES[1:2] if quick else SHARES:
                runs = [
                    judge(found, np.asarray(found.labels[label]), how, share, s) for s in range(1 if quick else SEEDS)
                ]
                table.add(f"{how}, {share:.0%}", runs)
        yield table


def judge(found, subjects: np.ndarray, how: str, share: float, seed: int) -> dict[str, float]:
    rng = np.random.default_rng([seed, round(100 * share)])
    n_items = len(found.tags)
    if how == "a random part":
        known = rng.random(n_items) < share
    else:
        names = np.unique(subjects)
        begun = rng.choice(names, max(1, round(share * names.size)), replace=False)
        known = np.isin(subjects, begun) & (rng.random(n_items) < 0.5)
    lists = [list(words) if has else [] for words, has in zip(found.tags, known, strict=True)]
    model = TagCompleter(random_state=0).fit([np.asarray(found.embedding, dtype=np.float32)], lists)
    untagged = np.flatnonzero(np.diff(model.tags_.indptr) == 0)
    now = model.tag_probabilities()[untagged]
    del model.fitted_["population"]
    before = model.tag_probabilities()[untagged]
    true = np.array([[name in found.tags[i] for name in model.tag_names_] for i in untagged])
    told: dict[str, float] = {"tagged": n_items - untagged.size}
    for suffix, probability in (("", now), (" before", before)):
        best = probability.argmax(axis=1)
        promised, right = (one[np.arange(best.size), best] for one in (probability, true))
        likely = promised >= 0.5
        told |= {
            f"likely{suffix}": float(likely.sum()),
            f"promised{suffix}": float(promised[likely].mean()) if likely.any() else 0.0,
            f"right{suffix}": float(right[likely].mean()) if likely.any() else 0.0,
        }
        if not suffix:
            told |= {"all promised": float(promised.mean()), "all right": float(right.mean())}
    return told
