"""Proposed tags against hidden ones: by hand, by sorting literally, by properties."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csc_matrix, csr_array

from manyview import metrics
from manyview.errors import ParameterError
from manyview.metrics import ranking

Measure = Callable[..., float]
EVERY: list[Measure] = [metrics.precision_at, metrics.recall_at, metrics.coverage_at]


@st.composite
def tasks(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Hidden, scores, known, n; few distinct scores, so that ties are the rule."""
    n_items, n_tags = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    cells = n_items * n_tags
    state = np.array(draw(st.lists(st.integers(0, 2), min_size=cells, max_size=cells)))
    state[0] = 1  # at least one hidden tag
    value = st.sampled_from([-1.0, 0.0, 0.5, 2.0, -math.inf])
    scores = np.array(draw(st.lists(value, min_size=cells, max_size=cells)))
    shape = (n_items, n_tags)
    hidden, known = (state == 1).astype(int).reshape(shape), (state == 2).astype(int).reshape(shape)
    return hidden, scores.reshape(shape), known, draw(st.integers(1, 8))


def slow(hidden: np.ndarray, scores: np.ndarray, known: np.ndarray, n: int) -> tuple[float, float, float]:
    """Sort the tags of each item, take n, count."""
    precision, recall, coverage = [], [], []
    for truth, score, have in zip(hidden, scores, known, strict=True):
        if not truth.any():
            continue
        free = [tag for tag in range(len(truth)) if not have[tag] and score[tag] > -math.inf]
        first = sorted(free, key=lambda tag: (-score[tag], tag))[:n]
        hits = sum(int(truth[tag]) for tag in first)
        precision.append(hits / n)
        recall.append(hits / truth.sum())
        coverage.append(float(hits > 0))
    return float(np.mean(precision)), float(np.mean(recall)), float(np.mean(coverage))


def test_one_item_by_hand() -> None:
    # Hidden a and b; the ranking is a, c, b.
    hidden, scores = [[1, 1, 0]], [[0.9, 0.1, 0.5]]
    assert [metrics.precision_at(hidden, scores, n) for n in (1, 2, 3)] == [1.0, 0.5, pytest.approx(2 / 3)]
    assert [metrics.recall_at(hidden, scores, n) for n in (1, 2, 3)] == [0.5, 0.5, 1.0]
    assert metrics.coverage_at(hidden, scores, 1) == 1.0


def test_four_items_by_hand() -> None:
    # First two of each, known tags skipped: item 0 gets 0, 1 and hits both of its two; item 1 gets 1, 3 and
    # hits its one; item 2 hides nothing and is left out; item 3 gets 2, 0 and misses both of its two.
    scores = np.array([[4, 3, 2, 1], [9, 3, 1, 2], [1, 1, 1, 1], [2, 1, 3, 0]], dtype=float)
    hidden = np.array([[1, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0], [0, 1, 0, 1]])
    known = np.array([[0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0]])
    assert metrics.precision_at(hidden, scores, 2, known=known) == pytest.approx((2 / 2 + 1 / 2 + 0) / 3)
    assert metrics.recall_at(hidden, scores, 2, known=known) == pytest.approx((1 + 1 + 0) / 3)
    assert metrics.coverage_at(hidden, scores, 2, known=known) == pytest.approx(2 / 3)
    # Without the mask the known tag takes a place and item 1 misses: its first two are 0 and 1.
    assert metrics.coverage_at(hidden, scores, 2) == pytest.approx(1 / 3)


def test_recall_is_a_mean_over_items_not_over_tags() -> None:
    # One of one and one of three: mean of 1 and 1/3, where pooling would give 2 / 4.
    hidden, scores = [[1, 0, 0], [1, 1, 1]], [[3, 2, 1], [3, 2, 1]]
    assert metrics.recall_at(hidden, scores, 1) == pytest.approx(2 / 3)


def test_equal_scores_go_by_column() -> None:
    scores = np.zeros((1, 4))
    for column in range(4):
        hidden = np.eye(4, dtype=int)[[column]]
        hits = [metrics.coverage_at(hidden, scores, n) for n in (1, 2, 3, 4)]
        assert hits == [float(n > column) for n in (1, 2, 3, 4)]


def test_what_a_sparse_matrix_leaves_out_scores_zero() -> None:
    # Column 0 scores -1, below the 0 of the columns that are not stored.
    scores = csr_array(np.array([[-1.0, 0.0, 0.0]]))
    assert metrics.coverage_at([[1, 0, 0]], scores, 2) == 0.0
    assert metrics.coverage_at([[0, 0, 1]], scores, 2) == 1.0


def test_minus_infinity_is_never_proposed() -> None:
    assert metrics.recall_at([[1, 1]], [[-math.inf, 0.0]], 2) == 0.5
    assert metrics.recall_at([[1, 1]], [[-math.inf, -math.inf]], 1) == 0.0


def test_precision_is_divided_by_n_also_when_fewer_tags_are_left() -> None:
    assert metrics.precision_at([[1, 0]], [[1.0, 0.0]], 5) == pytest.approx(1 / 5)
    assert metrics.precision_at([[1, 0, 0]], [[1.0, 2.0, 3.0]], 2, known=[[0, 1, 1]]) == pytest.approx(1 / 2)


@given(tasks())
@settings(max_examples=60, deadline=None)
def test_equal_to_sorting_each_item(task: tuple[np.ndarray, np.ndarray, np.ndarray, int]) -> None:
    hidden, scores, known, n = task
    found = tuple(measure(hidden, scores, n, known=known) for measure in EVERY)
    assert found == pytest.approx(slow(hidden, scores, known, n), abs=1e-12)
    unmasked = tuple(measure(hidden, scores, n) for measure in EVERY)
    assert unmasked == pytest.approx(slow(hidden, scores, np.zeros_like(known), n), abs=1e-12)


@given(tasks())
@settings(max_examples=40, deadline=None)
def test_bounds_and_growth_with_n(task: tuple[np.ndarray, np.ndarray, np.ndarray, int]) -> None:
    hidden, scores, known, n = task
    precision, recall, coverage = (measure(hidden, scores, n, known=known) for measure in EVERY)
    assert 0.0 <= precision <= coverage <= 1.0
    assert 0.0 <= recall <= coverage
    assert metrics.recall_at(hidden, scores, n + 1, known=known) >= recall - 1e-12
    assert metrics.coverage_at(hidden, scores, n + 1, known=known) >= coverage - 1e-12
    assert metrics.precision_at(hidden, scores, 1) == metrics.coverage_at(hidden, scores, 1)


@pytest.mark.parametrize("measure", EVERY)
def test_every_form_of_input_and_every_block_size_gives_the_same(
    measure: Measure, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    state = rng.integers(0, 4, (40, 9))
    hidden, known = (state == 1).astype(int), state == 2
    scores = np.round(rng.normal(size=(40, 9)), 1) * rng.integers(0, 2, (40, 9))
    expected = measure(hidden, scores, 3, known=known)
    assert 0.0 < expected < 1.0
    forms: list[tuple[Any, Any, Any]] = [
        (csr_array(hidden), csr_array(scores), csr_array(known)),
        (csc_matrix(hidden), coo_array(scores), csc_matrix(known.astype(float))),
        (hidden.tolist(), scores.tolist(), known.tolist()),
        (hidden.astype(bool), np.asfortranarray(scores), known),
    ]
    for form in forms:
        assert measure(form[0], form[1], np.int64(3), known=form[2]) == expected
    for cells in (1, 20, 100):
        monkeypatch.setattr(ranking, "_CELLS_PER_BLOCK", cells)
        assert measure(hidden, scores, 3, known=known) == expected
        assert measure(csr_array(hidden), csr_array(scores), 3, known=known) == expected


@pytest.mark.parametrize("measure", EVERY)
def test_inputs_are_left_alone(measure: Measure) -> None:
    hidden, known = np.array([[0, 1, 0]]), np.array([[1, 0, 0]])
    scores = np.array([[3.0, 2.0, 1.0]])
    for array in (hidden, known, scores):
        array.setflags(write=False)
    assert measure(hidden, scores, 1, known=known) == 1.0
    np.testing.assert_array_equal(scores, [[3.0, 2.0, 1.0]])


@pytest.mark.parametrize("measure", EVERY)
def test_a_stored_zero_hides_nothing(measure: Measure) -> None:
    # Item 1 stores a zero for its first tag: it hides nothing and is not judged.
    hidden = csr_array((np.array([1.0, 0.0]), [0, 0], [0, 1, 2]), shape=(2, 2))
    assert measure(hidden, [[2.0, 1.0], [2.0, 1.0]], 1) == 1.0


@pytest.mark.parametrize("measure", EVERY)
def test_scores_of_items_without_hidden_tags_are_not_looked_at(measure: Measure) -> None:
    assert measure([[1, 0], [0, 0]], [[1.0, 0.0], [math.nan, 0.0]], 1) == 1.0


@pytest.mark.parametrize("measure", EVERY)
@pytest.mark.parametrize(
    ("hidden", "scores", "n", "known", "message"),
    [
        ([[1, 0]], [[1, 0]], 0, None, "n must be a whole number .* got 0"),
        ([[1, 0]], [[1, 0]], 1.5, None, "got 1.5"),
        ([[1, 0]], [[1, 0]], True, None, "got True"),
        ([[1, 0]], [[1, 0, 0]], 1, None, r"scores and hidden .*\(1, 3\) for scores and \(1, 2\) for hidden"),
        ([[1, 0]], [[1, 0]], 1, [[0]], r"known and hidden .*\(1, 1\) for known"),
        ([[0.3, 0.7]], [[1, 0]], 1, None, "hidden must hold only 0 and 1, got 0.3.* scores second"),
        ([[1, 0]], [[1, 0]], 1, [[0, 2]], "known must hold only 0 and 1, got 2"),
        ([[0, 0]], [[1, 0]], 1, None, "nothing to find"),
        ([[0, 0], [1, 0]], [[1, 0], [1, 0]], 1, [[1, 0], [1, 1]], "1 such tags, .* item 1, column 0"),
        ([[0, 0], [1, 0]], [[1, 0], [1, math.nan]], 1, None, "NaN for item 1, column 1"),
        ([1, 0], [1, 0], 1, None, r"hidden must be a matrix .*shape \(2,\)"),
        ([[1, 0]], [1, 0], 1, None, r"scores must be a matrix .*shape \(2,\)"),
        ([[1, 0]], [["a", "b"]], 1, None, "scores must be a matrix of numbers"),
        (np.zeros((0, 2)), np.zeros((0, 2)), 1, None, r"hidden must be a matrix .*shape \(0, 2\)"),
    ],
)
def test_wrong_input_is_explained(
    measure: Measure, hidden: object, scores: object, n: object, known: object, message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        measure(hidden, scores, n, known=known)
