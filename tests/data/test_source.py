"""Rows in several pieces: any part of them is what it would be in one matrix, and nothing is copied without need."""

import itertools

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from manyview.data.source import Pieces, Rows, RowSource, file_part

X = np.random.default_rng(0).normal(size=(23, 4))
EDGES = [0, 5, 5, 12, 13, 23]  # one piece is empty, one has a single row


def pieces(matrix):
    return Pieces([matrix[low:high] for low, high in itertools.pairwise(EDGES)])


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
def test_any_rows_are_those_of_the_whole(kind):
    whole = kind(X)
    parts = pieces(whole)
    dense = np.asarray if kind is np.asarray else lambda found: found.toarray()
    for start in range(23):
        for stop in range(start, 24):
            found = parts[start:stop]
            assert found.shape == (stop - start, 4) and np.array_equal(dense(found), X[start:stop])
    assert np.array_equal(dense(parts.whole()), X) and parts.whole() is parts.whole()


def test_rows_of_one_piece_are_not_copied():
    rows = Rows(7, {"view x": pieces(X), "weight": np.arange(23.0)}, {})
    assert np.shares_memory(rows.some("view x", slice(6, 12)), X)
    assert not np.shares_memory(rows.some("view x", slice(4, 7)), X)
    assert np.shares_memory(rows.part(slice(13, 20))["view x"], X)
    assert rows.part(slice(13, 20)).start == 20 and np.array_equal(rows["view x"], X)
    assert np.array_equal(rows.taken(np.array([20, 3]))["view x"], X[[20, 3]])


def test_rows_of_a_file_are_plain_arrays_that_are_not_copied(tmp_path):
    """Whatever part is cut of a memory-mapped array is one again, which takes long; and its path stays known."""
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    source = RowSource({"view x": mapped})
    for start, stop in ((0, 23), (4, 20)):
        found = source.rows(start, stop)["view x"]
        assert type(found) is np.ndarray and np.shares_memory(found, mapped)
        assert np.array_equal(found, X[start:stop])
        part = file_part(found)
        assert part.path == str(tmp_path / "x.npy") and np.array_equal(part.open(), found)


def unaligned(array):
    """The same numbers, from an odd byte on."""
    memory = np.empty(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    memory[:] = array
    assert not memory.flags.aligned
    return memory


def test_chunks_that_came_from_another_worker_give_the_same_bits():
    """They begin at any byte, and NumPy multiplies such arrays by other loops."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 30)).astype(np.float32)
    source = RowSource({"view x": X})
    source.columns["view x"] = None  # its chunks come with the task
    chunk = source.rows(0, 500, {"view x": [(unaligned(X), 0, 500)]}).some("view x", slice(0, 500))
    assert chunk.flags.aligned and np.array_equal(chunk.T @ chunk, X.T @ X)
    words = csr_matrix(X > 1, dtype=np.float32)
    came = words.copy()
    came.data, came.indices, came.indptr = map(unaligned, (came.data, came.indices, came.indptr))
    found = source.rows(0, 400, {"view x": [(came, 100, 500)]})["view x"]
    assert all(part.flags.aligned for part in (found.data, found.indices, found.indptr))
    assert (found != words[100:]).nnz == 0


def test_what_a_file_does_not_hold_is_not_said_to_lie_in_it(tmp_path):
    """Workers, and the name of a checkpoint, would go by the file: other rows than those that were given."""
    path = tmp_path / "x.npy"
    np.save(path, X)
    changed = np.load(path, mmap_mode="c")
    changed[3] = 7.0  # in memory alone
    assert file_part(changed) is None
    mapped = np.load(path, mmap_mode="r")
    for other in (X[::-1], X[:9]):
        np.save(tmp_path / "other.npy", other)
        (tmp_path / "other.npy").replace(path)
        assert file_part(mapped) is None and np.array_equal(mapped, X)
    path.unlink()
    assert file_part(mapped) is None


def test_a_leaf_of_pieces_is_read_where_it_lies_and_keeps_what_it_kept():
    rows = Rows(7, {"view x": pieces(X), "weight": np.arange(23.0)}, {})
    alone, leaf = rows.in_place(slice(13, 20))
    assert (alone.start, leaf) == (20, slice(0, 7)) and np.shares_memory(alone["view x"], X)
    assert np.array_equal(alone["weight"], np.arange(13.0, 20))
    alone.kept["norms"] = 1
    assert rows.in_place(slice(13, 20))[0].kept == {"norms": 1} and rows.in_place(slice(0, 13))[0].kept == {}
    whole = Rows(7, {"view x": X}, {})
    assert whole.in_place(slice(13, 20)) == (whole, slice(13, 20))
