"""When a name, a tag or a search is right: the lists of ``meaning_judging.json``, written before any name was seen."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

SETS = ("scene8", "caltech101-7", "flickr8k-captioned")
_PURE = 0.6
# What captions say in place of a word, beside the lists of the classes.
_SYNONYMS = {
    "sea": "ocean water wave beach",
    "ocean": "sea water wave beach",
    "beach": "sand shore ocean sea",
    "ball": "soccer football basketball baseball tennis volleyball",
    "motocross": "motorcycle motorbike dirtbike biker dirt",
    "motorcycle": "motorbike motocross biker dirtbike bike",
    "child": "kid boy girl baby toddler children",
    "person": "man woman boy girl people child",
    "boat": "canoe kayak raft ship",
    "mountain": "hill cliff peak",
    "cliff": "rock climb mountain",
    "horse": "rodeo cowboy pony",
}


GERMAN = {
    "highway": "Autobahn",
    "mountain": "Berg",
    "kitchen": "Küche",
    "coast": "Küste, Strand und Meer",
    "office": "Büro",
    "tallbuilding": "Wolkenkratzer",
    "livingroom": "Wohnzimmer",
    "bedroom": "Schlafzimmer",
    "faces": "Gesicht einer Person",
    "motorbikes": "Motorrad",
    "dollar_bill": "Dollarschein",
    "garfield": "Garfield die Katze",
    "snoopy": "Snoopy der Hund, Comic",
    "stop_sign": "Stoppschild",
    "windsor_chair": "Stuhl",
    "snow-sport": "Skifahren und Snowboarden",
    "skateboard": "Skateboard",
    "bike": "Fahrrad",
    "surf": "Surfen",
    "climbing": "Felsklettern",
    "soccer": "Fußball",
    "dog": "Hund",
    "swimming-pool": "Schwimmbad",
}
"""The queries of the classes in German."""


@cache
def lists() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(__file__).with_name("meaning_judging.json").read_text(encoding="utf-8"))
    return found


def accepted(label: str, kind: str) -> set[str]:
    """The words that name a class: strict ones, or wider ones and plain parts too."""
    by_class = {name.lower(): words for name, words in lists()["accept"].items()}
    words = by_class[label.lower()]
    return set(words["strict"]) | (set(words["broad"]) if kind == "broad" else set())


def is_right(word: str, members: np.ndarray, kind: str) -> bool:
    """Does a word name the class of most members? A cluster in which no class has six tenths has no right name."""
    classes, counts = np.unique(members, return_counts=True)
    return counts.max() >= _PURE * counts.sum() and word in accepted(str(classes[counts.argmax()]), kind)


def is_said(word: str, texts: list[str]) -> bool:
    """Does a person's text or tag hold the word, a form of it, or what people say in its place?"""
    said = {_stem(token) for text in texts for token in _tokens(text)}
    alike = {word, *_SYNONYMS.get(word, "").split()}
    for words in lists()["accept"].values():
        if word in words["strict"]:
            alike |= set(words["strict"])
    return any(_stem(token) in said for one in alike for token in one.split())


def _tokens(text: str) -> list[str]:
    return "".join(letter if letter.isalpha() else " " for letter in text.lower()).split()


def _stem(token: str) -> str:
    for ending in ("ing", "ers", "er", "es", "ed", "s"):
        if token.endswith(ending) and len(token) - len(ending) >= 3:
            token = token.removesuffix(ending)
            break
    return token[:-1] if len(token) > 3 and token[-1] == token[-2] else token
