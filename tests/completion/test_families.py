"""Of a tag and one above it, one is proposed."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from manyview import TagCompleter, TagHierarchy
from manyview.completion.families import ancestors, settle_families

NAMES = ["animal", "dog", "cat", "poodle", "sea"]
TREE = TagHierarchy.from_paths(["animal|dog|poodle", "animal|cat"])
ABOVE = ancestors(TREE, NAMES)
NONE = csr_matrix((1, 5), dtype=np.float32)


def settled(proposed, known=(), refused=(), never=()):
    """Tag -> probability, as proposed for one item; what is left of it."""
    columns = np.array([NAMES.index(name) for name in proposed])
    likely = np.array(list(proposed.values()), dtype=float)
    held, no = (csr_matrix(np.array([[float(n in words) for n in NAMES]], np.float32)) for words in (known, refused))
    records = likely / 2
    items = np.zeros(columns.size, dtype=np.int64)
    barred = np.array([name in never for name in NAMES])
    kept = settle_families(ABOVE, barred, held, no, items, columns, likely, records)
    return {NAMES[c]: round(float(p), 3) for c, p in zip(columns[kept], likely[kept], strict=True)}


def test_who_stands_above_whom():
    assert ABOVE == {1: {0}, 2: {0}, 3: {0, 1}}


@pytest.mark.parametrize(
    ("proposed", "left"),
    [
        ({"dog": 0.8, "animal": 0.9}, {"dog": 0.8}),  # the special one, where it is nearly as likely
        ({"dog": 0.3, "animal": 0.9}, {"animal": 0.9}),
        ({"dog": 0.5, "cat": 0.4, "animal": 0.9}, {"animal": 0.9}),  # they disagree
        ({"dog": 0.8, "cat": 0.1, "animal": 0.9}, {"dog": 0.8, "cat": 0.1}),
        ({"dog": 0.5, "cat": 0.4, "sea": 0.2}, {"animal": 0.7, "sea": 0.2}),  # and nobody had said animal
        ({"sea": 0.2}, {"sea": 0.2}),
        ({"poodle": 0.7, "dog": 0.8, "animal": 0.9}, {"poodle": 0.7}),
    ],
)
def test_one_of_a_family(proposed, left):
    assert settled(proposed) == left


def test_what_is_known_or_unwanted():
    assert settled({"animal": 0.9, "sea": 0.1}, known=["dog"]) == {"sea": 0.1}  # a dog is an animal
    assert settled({"dog": 0.5, "animal": 0.3}, known=["animal"]) == {"dog": 0.5}  # more special than what is known
    both = {"dog": 0.5, "cat": 0.4}
    assert settled(both, refused=["animal"]) == both and settled(both, never=["animal"]) == both


def test_a_completer_takes_a_hierarchy():
    rng = np.random.default_rng(0)
    looks = rng.normal(size=(120, 4)) + 3 * np.repeat(np.eye(2, 4), 60, axis=0)
    words = [["dog", "animal"] if n % 3 else ["dog"] for n in range(60)] + [["sea"]] * 50 + [[]] * 10
    made = TagCompleter(completeness=0.7).fit(looks, words)
    plain, family = made.propose(top=3), made.propose(top=3, hierarchy=TagHierarchy.from_paths(["animal|dog"]))
    both = [{one.tag for one in plain.of(item)} >= {"dog", "animal"} for item in range(110, 120)]
    assert any(both)
    for item in range(120):
        assert not {one.tag for one in family.of(item)} >= {"dog", "animal"}
    carriers = {one.item for one in family if one.tag == "animal"}
    assert not carriers & set(range(60))  # all of them carry dog


def test_what_is_lifted_has_the_score_of_what_it_became(seed):
    rng = np.random.default_rng(seed)
    topic = rng.integers(2, size=300)
    words = [["ski", "snow"], ["sea", "sand"]]
    tags = [[word for word in (*words[t], ["winter", "beach"][t]) if rng.random() < 0.4] for t in topic]
    rows = 1.5 * np.eye(2, 10)[topic] + rng.normal(size=(300, 10))
    tree = TagHierarchy.from_paths(["winter|ski", "winter|snow", "beach|sea", "beach|sand"])
    completer = TagCompleter(random_state=0).fit([rows], tags)
    scores, plain = completer.tag_scores(), completer.propose(2)
    proposals = completer.propose(2, hierarchy=tree)
    lifted = {(i, c) for i, c in zip(proposals.items, proposals.columns, strict=True)}
    lifted -= set(zip(plain.items, plain.columns, strict=True))
    assert lifted
    assert np.allclose(proposals.scores, scores[proposals.items, proposals.columns], atol=1e-6)
