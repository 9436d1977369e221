"""What is promised to items without tags, and how much of it is right: tags on a random part, or subject after subject.

People tag one subject and then the next. Of the subjects they have begun with half of the items have their tags here;
the other half, and all other subjects, have none. Proposals are the best of each untagged item that is at least as
likely as not. "Before" is without asking whether items are of the kind of the tagged ones, and whether these come
several times. "Moments" are 300 items four times each, all but alike (noise of three tenths of a deviation), each
tagged as a whole or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from manyview import TagCompleter
from manyview.completion.neighbours.population import ONE_KIND

from .pictures import picture_collection
from .table import Table

SETS = {"emoji": "group", "flickr8k-captioned": "label"}
SHARES = (0.05, 0.2, 0.5)
RANDOM, TURNS, MOMENTS = "a random part", "subject after subject", "moments"
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
        for how in (RANDOM, TURNS, MOMENTS):
            for share in SHARES[1:2] if quick else SHARES:
                runs = [
                    judge(found, np.asarray(found.labels[label]), how, share, s) for s in range(1 if quick else SEEDS)
                ]
                table.add(f"{how}, {share:.0%}", runs)
        yield table


def judge(found, subjects: np.ndarray, how: str, share: float, seed: int) -> dict[str, float]:
    rng = np.random.default_rng([seed, round(100 * share)])
    rows, words = np.asarray(found.embedding, dtype=np.float32), [set(one) for one in found.tags]
    if how == RANDOM:
        known = rng.random(len(words)) < share
    elif how == TURNS:
        names = np.unique(subjects)
        begun = rng.choice(names, max(1, round(share * names.size)), replace=False)
        known = np.isin(subjects, begun) & (rng.random(len(words)) < 0.5)
    else:
        moments = np.repeat(rng.choice(len(words), 300, replace=False), 4)
        noise = rng.standard_normal((moments.size, rows.shape[1]), dtype=np.float32)
        rows, words = rows[moments] + 0.3 * rows.std(axis=0) * noise, [words[i] for i in moments]
        known = np.repeat(rng.random(300) < share, 4)
    lists = [list(one) if has else [] for one, has in zip(words, known, strict=True)]
    model = TagCompleter(random_state=0).fit([rows], lists)
    untagged = np.flatnonzero(np.diff(model.tags_.indptr) == 0)
    now = model.tag_probabilities()[untagged]
    model.fitted_.pop("of_each", None)
    items = model._items()
    vars(items).update(population=ONE_KIND, like=np.ones(items.n_items))
    before = model.tag_probabilities()[untagged]
    true = np.array([[name in words[i] for name in model.tag_names_] for i in untagged])
    told: dict[str, float] = {"tagged": len(words) - untagged.size}
    for suffix, probability in (("", now), (" before", before)):
        best = probability.argmax(axis=1)
        promised, right = (one[np.arange(best.size), best] for one in (probability, true))
        likely = promised >= 0.5
        told |= {
            f"likely{suffix}": float(likely.sum()),
            f"promised{suffix}": float(promised[likely].mean()) if likely.any() else np.nan,
            f"right{suffix}": float(right[likely].mean()) if likely.any() else np.nan,
        }
        if not suffix:
            told |= {"all promised": float(promised.mean()), "all right": float(right.mean())}
    return told
