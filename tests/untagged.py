"""Collections of pictures nobody has tagged, as the rows the network would give to such pictures."""

import numpy as np

from manyview import Collection
from manyview.meaning.scoring import ask_words
from manyview.meaning.tables import PICTURE_MODEL
from manyview.meaning.words import english_words

WORDS = ("elephant", "kitchen", "sailboat")


def rows_of(words, n=12, noise=0.5):
    """Rows that the network would give to pictures of some words; without a word, of nothing it knows."""
    rng = np.random.default_rng(0)
    found = []
    for word in words:
        own = rng.normal(size=(n, 1280))
        own = noise * own / np.linalg.norm(own, axis=1, keepdims=True)
        found.append(
            own + (ask_words().classifiers[english_words().index(word)] if word else rng.normal(size=1280) / 36)
        )
    return np.concatenate(found).astype(np.float32)


def collection_of(folder, words=WORDS, texts=None, model=PICTURE_MODEL, **rows_like):
    rows = rows_of(words, **rows_like)
    table = folder / "items.csv"
    said = texts or [""] * len(rows)
    table.write_text("name,text\n" + "".join(f"DSC{i:05},{text}\n" for i, text in enumerate(said)), encoding="utf-8")
    made = Collection.create(folder / "c.manyview", table, id="name", text="text")
    made.add_view("embedding", f"1 {model} 224x224", rows, made.items.ids)
    return made
