"""Arrays whose parts do not fit are refused by name where they enter, before compiled code trusts them."""

import numpy as np
import pytest
from scipy import sparse

from manyview import PLSA, AnnotatedPLSA, Views, metrics
from manyview.data.tags import TagTable
from manyview.errors import ViewError
from manyview.methods.topics.annotations import annotation_matrix


def csr(data=(1.0, 1.0, 1.0), indices=(0, 1, 2), indptr=(0, 1, 2, 3), shape=(3, 3)):
    """A CSR matrix with these parts, whether they fit or not."""
    matrix = sparse.csr_matrix(shape)
    matrix.data, matrix.indices, matrix.indptr = np.array(data), np.array(indices), np.array(indptr)
    return matrix


def coo(row, col, shape=(3, 3)):
    matrix = sparse.coo_matrix(shape)
    matrix.data = np.ones(len(row))
    matrix.coords = (np.array(row), np.array(col))
    return matrix


def bsr(indices):
    matrix = sparse.bsr_matrix(np.eye(4), blocksize=(2, 2))
    matrix.indices = np.array(indices, dtype=np.int32)
    return matrix


def lil(columns):
    matrix = sparse.lil_matrix(np.eye(3))
    matrix.rows[1] = columns
    return matrix


MALFORMED = {
    "index beyond": (csr(indices=(0, 1, 3)), "indices go from 0 to 2, but 3 is among them"),
    "index far beyond": (csr(indices=(0, 1, 2**31 - 1)), "2147483647 is among them"),
    "negative index": (csr(indices=(0, -1, 2)), "-1 is among them"),
    "indptr falls": (csr(indptr=(0, 3, 1, 3)), "indptr does not rise from 0"),
    "indptr comes back to 0": (csr(indptr=(0, 3, 3, 0)), "indptr does not rise from 0"),
    "indptr starts late": (csr(indptr=(1, 1, 2, 3)), "indptr does not rise from 0"),
    "indptr promises more": (csr(indptr=(0, 1, 2, 300)), "indptr promises 300 entries, but it has 3 values"),
    "indptr too short": (csr(indptr=(0, 3)), "indptr has 2 entries where 4 are needed"),
    "indices too few": (csr(indices=(0, 1)), "3 values and 2 indices"),
    "float indices": (csr(indices=(0.0, 1.0, 2.0)), "not a 1-D array of integers"),
    "flat": (csr(data=((1.0, 1.0, 1.0),)), "1-D"),
    "csc": (csr(indices=(0, 1, 9)).T, "malformed CSC matrix of shape (3, 3): indices go from 0 to 2"),
    "coo row": (coo([0, 5], [0, 1]), "rows go from 0 to 2, but 5"),
    "coo column": (coo([0, 1], [0, -2]), "columns go from 0 to 2, but -2"),
    "bsr": (bsr([0, 7]), "indices go from 0 to 1, but 7"),
    "lil": (lil([70]), "the columns of row 1 do not fit"),
    "lil lengths": (lil([0, 1]), "the columns of row 1 do not fit"),
    "many columns": (csr(shape=(3, 2**40)), "claims 1099511627776 columns"),
    "many rows": (coo([0], [0], (2**40, 3)), "claims 1099511627776 rows but holds 1 values"),
    "rows of nothing": (np.empty((2**40, 0)), "claims 1099511627776 rows but holds 0"),
    "one row over and over": (np.broadcast_to(np.ones(3), (2**40, 3)), "claims 1099511627776 rows but holds 3"),
    "one value over and over": (np.broadcast_to(1.0, (2**20, 2**20)), "claims 1048576 x 1048576 values but holds 1"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_views_are_refused_by_name(case):
    matrix, words = MALFORMED[case]
    with pytest.raises(ViewError) as refusal:
        Views({"good": np.eye(3), "looks": matrix})
    assert "view 'looks'" in str(refusal.value) and words in str(refusal.value)


@pytest.mark.parametrize(
    "case", [case for case, (matrix, _) in MALFORMED.items() if sparse.issparse(matrix) and max(matrix.shape) < 2**20]
)
@pytest.mark.parametrize(
    "enter",
    [
        lambda matrix: PLSA(2).fit(matrix),
        lambda matrix: AnnotatedPLSA(2).fit(np.ones((3, matrix.shape[1])), annotations=matrix),
        lambda matrix: TagTable.from_matrix(matrix),
        lambda matrix: TagTable.from_matrix(np.zeros((3, 3)), no=matrix),
        lambda matrix: annotation_matrix(matrix, np.ones((3, 3))),
        lambda matrix: metrics.precision_at(matrix, np.ones((3, 3)), 1),
        lambda matrix: metrics.precision_at(np.eye(3), matrix, 1),
    ],
)
def test_at_every_other_door(enter, case):
    with pytest.raises(ViewError, match="malformed"):
        enter(MALFORMED[case][0])


def test_a_matrix_that_lies_about_its_order_is_put_in_order():
    liar = csr(data=(1.0, 2.0, 4.0), indices=(2, 0, 0), indptr=(0, 3, 3, 3))
    liar.has_sorted_indices = liar.has_canonical_format = True
    taken = Views(liar)["view0"]
    assert taken.indices.tolist() == [0, 2] and taken.data.tolist() == [6.0, 1.0]
    assert liar.indices.tolist() == [2, 0, 0]  # and the owner's is left as it was


def test_odd_but_sound_arrays_pass():
    plain = np.arange(12.0).reshape(4, 3)
    odd = np.frombuffer(b"\0" + plain.tobytes(), np.uint8)[1:].view(np.float64).reshape(4, 3)
    assert not odd.flags.aligned
    windows = np.lib.stride_tricks.sliding_window_view(np.arange(6.0), 3)
    for array in (odd, plain.astype(">f8"), plain[::-1, ::-1], np.asfortranarray(plain)):
        assert np.array_equal(Views(array)["view0"], array) and Views(array)["view0"].dtype.isnative
    assert np.array_equal(Views(windows)["view0"], windows)
    swapped = csr(indices=np.array([0, 1, 2], dtype=">i4"), indptr=np.array([0, 1, 2, 3], dtype=">i8"))
    assert np.array_equal(Views(swapped)["view0"].toarray(), np.eye(3))
