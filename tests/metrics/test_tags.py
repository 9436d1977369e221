"""Clusterings against tags (ACA and ACE): by hand, by literal loops, by properties."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csc_matrix, csr_array, csr_matrix

from manyview import metrics
from manyview.errors import ParameterError

Measure = Callable[..., float]
BOTH: list[Measure] = [metrics.average_clustering_accuracy, metrics.average_clustering_entropy]

# Cluster 7: {a, b}, {a}, {a, c}. Cluster 3: {b}, {}.
TAGS = np.array([[1, 1, 0], [1, 0, 0], [1, 0, 1], [0, 1, 0], [0, 0, 0]])
LABELS = [7, 7, 7, 3, 3]


@st.composite
def tagged(draw: st.DrawFn) -> tuple[np.ndarray, list[int]]:
    n, m = draw(st.integers(1, 12)), draw(st.integers(1, 5))
    cells = draw(st.lists(st.integers(0, 1), min_size=n * m, max_size=n * m))
    labels = draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n))
    return np.array(cells).reshape(n, m), labels


def slow(tags: np.ndarray, labels: list[int]) -> list[tuple[int, float, float]]:
    """Size, accuracy and entropy of each cluster."""
    found = []
    for k in sorted(set(labels)):
        sets = [np.flatnonzero(row).tolist() for row, label in zip(tags, labels, strict=True) if label == k]
        count = Counter(tag for tags_of_item in sets for tag in tags_of_item)
        everything = sum(count.values())
        entropy = -sum(c / everything * math.log(c / everything) for c in count.values())
        found.append((len(sets), max(count.values(), default=0) / len(sets), entropy))
    return found


def test_one_cluster_by_hand() -> None:
    # All three items carry a. Occurrences 3, 1, 1 of 5: -(0.6 ln 0.6 + 2 * 0.2 ln 0.2).
    assert metrics.average_clustering_accuracy(TAGS[:3], LABELS[:3]) == 1.0
    expected = -(0.6 * math.log(0.6) + 0.4 * math.log(0.2))
    assert metrics.average_clustering_entropy(TAGS[:3], LABELS[:3]) == pytest.approx(expected)
    assert expected == pytest.approx(0.950271, abs=5e-7)


def test_two_clusters_average_plainly_unless_told() -> None:
    # Cluster 3: one of two items carries b, the untagged one counts: 1/2; its only tag has entropy 0.
    assert metrics.average_clustering_accuracy(TAGS, LABELS) == pytest.approx((1 + 0.5) / 2)
    assert metrics.average_clustering_accuracy(TAGS, LABELS, weighted=True) == pytest.approx((3 + 2 * 0.5) / 5)
    entropy = -(0.6 * math.log(0.6) + 0.4 * math.log(0.2))
    assert metrics.average_clustering_entropy(TAGS, LABELS) == pytest.approx(entropy / 2)
    assert metrics.average_clustering_entropy(TAGS, LABELS, weighted=True) == pytest.approx(3 * entropy / 5)


def test_a_cluster_without_tags_scores_zero_in_both() -> None:
    tags, labels = [[1, 0], [0, 0], [0, 0]], [0, 1, 1]
    assert metrics.average_clustering_accuracy(tags, labels) == pytest.approx(0.5)
    assert metrics.average_clustering_entropy(tags, labels) == 0.0
    assert metrics.average_clustering_accuracy([[0, 0]], ["alone"]) == 0.0


@given(tagged())
@settings(max_examples=30, deadline=None)
def test_equal_to_the_literal_loop(example: tuple[np.ndarray, list[int]]) -> None:
    tags, labels = example
    size, accuracy, entropy = (np.array(column) for column in zip(*slow(tags, labels), strict=True))
    for measure, values in zip(BOTH, (accuracy, entropy), strict=True):
        assert measure(tags, labels) == pytest.approx(values.mean(), abs=1e-12)
        assert measure(tags, labels, weighted=True) == pytest.approx((values * size).sum() / size.sum(), abs=1e-12)


@pytest.mark.parametrize("measure", BOTH)
@given(example=tagged(), data=st.data())
@settings(max_examples=30, deadline=None)
def test_names_and_order_do_not_matter_and_bounds_hold(
    measure: Measure, example: tuple[np.ndarray, list[int]], data: st.DataObject
) -> None:
    tags, labels = example
    n, m = tags.shape
    expected = measure(tags, labels)
    rows, columns = data.draw(st.permutations(range(n))), data.draw(st.permutations(range(m)))
    names = data.draw(st.permutations(["a", "b", "c", "d", "e"]))
    found = measure(tags[rows][:, columns], [names[labels[i] + 1] for i in rows])
    assert found == pytest.approx(expected, abs=1e-12)
    largest = 1.0 if measure is metrics.average_clustering_accuracy else math.log(m) + 1e-12
    assert 0.0 <= expected <= largest


@pytest.mark.parametrize("measure", BOTH)
@pytest.mark.parametrize(
    "build",
    [
        csr_array,
        csr_matrix,
        csc_matrix,
        coo_array,
        np.float16,
        np.float32,
        np.longdouble,
        bool,
        np.ndarray.tolist,
    ],
)
def test_every_form_of_matrix_is_taken(measure: Measure, build: Callable[[Any], Any]) -> None:
    tags = TAGS.astype(build) if build in (np.float16, np.float32, np.longdouble, bool) else build(TAGS)
    found = measure(tags, LABELS)
    assert found == measure(TAGS, LABELS)
    assert type(found) is float


@pytest.mark.parametrize("measure", BOTH)
def test_stored_zeros_mean_absent_and_the_input_is_left_alone(measure: Measure) -> None:
    tags = csr_array(TAGS)
    # The last item, which has no tags, stores a zero in column 2.
    pointers = tags.indptr + np.array([0, 0, 0, 0, 0, 1])
    stored = csr_array((np.append(tags.data, 0), np.append(tags.indices, 2), pointers), shape=(5, 3))
    before = stored.data.copy(), stored.indices.copy(), stored.indptr.copy()
    assert measure(stored, LABELS) == measure(TAGS, LABELS)
    for was, now in zip(before, (stored.data, stored.indices, stored.indptr), strict=True):
        np.testing.assert_array_equal(was, now)


@pytest.mark.parametrize("measure", BOTH)
@pytest.mark.parametrize(
    ("tags", "labels", "message"),
    [
        (TAGS, LABELS[:4], "5 items in tags and 4 in labels"),
        (TAGS * 2, LABELS, "tags must hold only 0 and 1, got 2"),
        (csr_array((np.ones(2), [0, 0], [0, 2]), shape=(1, 1)), [0], "tags must hold only 0 and 1, got 2"),
        (-csr_array(TAGS), LABELS, "tags must hold only 0 and 1, got -1"),
        (TAGS[0], LABELS, r"row per item and a column per tag.*shape \(3,\)"),
        (np.zeros((0, 3)), [], r"at least one of each.*shape \(0, 3\)"),
        (csr_array((5, 0)), LABELS, r"at least one of each.*shape \(5, 0\)"),
        ([["sea", "sun"], ["sea"]], [0, 1], "different length.*words"),
        ([["sea"], ["sun"]], [0, 1], "numbers.*words"),
        (TAGS, [], "labels is empty"),
        (TAGS, np.zeros((5, 1), dtype=int), r"labels .*shape \(5, 1\)"),
    ],
)
def test_wrong_input_is_explained(measure: Measure, tags: object, labels: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        measure(tags, labels)
