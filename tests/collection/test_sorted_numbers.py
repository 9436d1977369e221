"""Sets of numbers as sorted arrays."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from manyview.collection.sorted_numbers import among, distinct, joined, without

numbers = st.lists(st.integers(-50, 50)).map(lambda found: np.array(found, dtype=np.int64))


@given(numbers, numbers)
def test_sorted_numbers_are_sets(first, second):
    a, b = distinct(first), distinct(second)
    assert a.tolist() == sorted(set(first.tolist()))
    assert without(a, b).tolist() == sorted(set(first.tolist()) - set(second.tolist()))
    assert joined(a, b).tolist() == sorted({*first.tolist(), *second.tolist()})
    assert among(first, b).tolist() == [number in set(second.tolist()) for number in first.tolist()]
