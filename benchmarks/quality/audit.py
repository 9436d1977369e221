"""Accept many, surely: 200 simulated owners with 40 % of their tags hidden, who answer by what was hidden.

``accept --at-least T`` promises that T of the batch are right, 95 % sure, whatever the probabilities are worth: so with
the completeness known, and with it estimated from the tags. The guarantee is broken where it is reached and fewer are
right; 5 % of the owners may see that. What was hidden is all that counts as right: tags that are true and that nobody
ever recorded count against us.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from manyview import TagCompleter, Views
from manyview.completion.audit import batch_size, plan, standing
from manyview.data.tags import TagTable
from manyview.evaluation import hide_tags

from .completion import HIDE, SETS, load
from .table import Table

SHARES = (0.7, 0.8, 0.9)
OWNERS, DRAWS = 200, 2
TOP = 5
FIGURES = ("batch", "planned", "answers", "reached", "broken", "tags", "unseen", "right unseen")


def tables(quick: bool) -> Iterator[Table]:
    owners, draws = (20, 1) if quick else (OWNERS, DRAWS)
    for name in ("flickr8k-captioned",) if quick else SETS:
        found = load(name)
        if found is None:
            yield Table(f"{name}: no such file in MANYVIEW_DATA", FIGURES)
            continue
        X, tags = found
        title = f"{name}: {tags.n_items} items, {tags.n_tags} tags, {HIDE:.0%} hidden, {owners} owners, {draws} draw(s)"
        table = Table(title, FIGURES)
        for label, known in (("completeness known", 1.0 - HIDE), ("estimated", None)):
            fits = [_proposed(X, tags, draw, known) for draw in range(draws)]
            for share in SHARES:
                planned = [float(plan(probabilities, share).answers) for probabilities, _ in fits]
                runs = [{**_owner(*fits[n % draws], share, n), "planned": planned[n % draws]} for n in range(owners)]
                table.add(f"at least {share:.0%}, {label}", runs)
        table.notes.append(
            "batch: likeliest proposals that the audit begins with; planned: answers it says beforehand."
        )
        table.notes.append(
            "tags: accepted, of which unseen; right unseen: their share that was hidden (1 where there are none)."
        )
        yield table


def _proposed(X: Views, tags: TagTable, draw: int, known: float | None) -> tuple[Any, Any]:
    """Probabilities of all proposals, likeliest first, and which of them are right."""
    left, hidden = hide_tags(tags, HIDE, draw)
    found = TagCompleter(completeness=known, random_state=draw).fit(X, left).propose(top=TOP)
    order = np.lexsort((found.items, -found.scores, -found.probabilities))
    right = np.asarray(hidden[found.items[order], found.columns[order]]).ravel() > 0
    return found.probabilities[order], right


def _owner(probabilities: Any, right: Any, share: float, seed: int) -> dict[str, float]:
    n = batch_size(probabilities, share)
    order = np.random.default_rng([seed, n]).permutation(n).tolist()
    asked: list[int] = []

    def answer(place: int) -> bool:
        asked.append(place)
        return bool(right[place])

    end = standing(order, share, answer)
    is_reached = end.verdict == "proved"
    unseen = np.setdiff1d(np.arange(end.n), asked) if is_reached else np.zeros(0, dtype=int)
    return {
        "batch": float(n),
        "answers": float(end.asked),
        "reached": float(is_reached),
        "broken": float(is_reached and right[: end.n].mean() < share - 1e-9),
        "tags": float(end.right + unseen.size),
        "unseen": float(unseen.size),
        "right unseen": float(right[unseen].mean()) if unseen.size else 1.0,
    }
