"""Sets of numbers as sorted arrays."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from manyview.collection.sorted_numbers import TAG_BITS, among, by_row, distinct, joined, taken_apart, turned, without

numbers = st.lists(st.integers(-50, 50)).map(lambda found: np.array(found, dtype=np.int64))


@given(numbers, numbers)
def test_sorted_numbers_are_sets(first, second):
    a, b = distinct(first), distinct(second)
    assert a.tolist() == sorted(set(first.tolist()))
    assert without(a, b).tolist() == sorted(set(first.tolist()) - set(second.tolist()))
    assert joined(a, b).tolist() == sorted({*first.tolist(), *second.tolist()})
    assert among(first, b).tolist() == [number in set(second.tolist()) for number in first.tolist()]


@given(st.sets(st.tuples(st.integers(1, 30), st.integers(1, 9))), st.sets(st.integers(1, 30)))
def test_pairs_as_numbers_are_pairs(pairs, here):
    ids = np.array(sorted(here), dtype=np.int64)
    numbers = np.array([item << TAG_BITS | tag for item, tag in pairs], dtype=np.int64)
    rows, tags = taken_apart(by_row(numbers, ids))
    expected = sorted((sorted(here).index(item), tag) for item, tag in pairs if item in here)
    assert [*zip(rows.tolist(), tags.tolist(), strict=True)] == expected
    tags, rows = taken_apart(turned(by_row(numbers, ids)))
    assert [*zip(tags.tolist(), rows.tolist(), strict=True)] == sorted((tag, row) for row, tag in expected)
