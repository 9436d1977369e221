"""Views that are Dask arrays: any rows of them, and chunks that are not what the array says."""

import itertools

import dask
import dask.array as da
import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import train_test_split

from manyview import AcceleratedKMeans, CanonicalFusion, HierarchicalKMeans, RobustMultiviewKMeans, Views
from manyview.errors import ViewError, ViewWarning

N = 60
EDGES = [0, 25, 25, 26, N]  # one chunk is empty, one has a single row


def matrices():
    rng = np.random.default_rng(0)
    return {"looks": rng.normal(size=(N, 4)), "words": sparse.random(N, 9, 0.3, format="csr", random_state=0)}


def in_chunks(given):
    words = [
        da.from_delayed(dask.delayed(given["words"][a:b]), (b - a, 9), float, meta=sparse.csr_matrix((0, 0)))
        for a, b in itertools.pairwise(EDGES)
    ]
    return {"looks": da.from_array(given["looks"], chunks=(17, -1)), "words": da.concatenate(words)}


@pytest.mark.parametrize(
    "rows",
    [slice(3, 50), slice(None, None, -1), slice(0, 0), [5, 3, 3, N - 1, 0], [-1], [], np.arange(N) % 3 == 0],
    ids=str,
)
def test_any_rows_of_chunks_are_those_of_the_whole(rows):
    found, expected = Views(in_chunks(matrices()))[rows], Views(matrices())[rows]
    assert found.in_chunks == ("looks", "words") and found.shape == expected.shape
    assert np.array_equal(found["looks"].compute(), expected["looks"])
    assert (found["words"].compute() != expected["words"]).nnz == 0
    assert np.array_equal(found.ids, expected.ids) and np.array_equal(found.mask, expected.mask)


def test_scikit_learn_splits_views_in_chunks():
    X = Views(in_chunks(matrices()))
    train, _ = train_test_split(X, random_state=0)
    expected, _ = train_test_split(Views(matrices()), random_state=0)
    model = RobustMultiviewKMeans(3, n_init=1, view_scale="minmax", random_state=0)
    assert np.array_equal(np.asarray(model.fit(train).labels_), model.fit(expected).labels_)


@pytest.mark.parametrize("model", [AcceleratedKMeans(3, random_state=0), HierarchicalKMeans(3, random_state=0)])
def test_items_without_any_view_in_chunks(model):
    looks = matrices()["looks"]
    looks[::7] = np.nan
    with pytest.warns(ViewWarning, match="lack every view"):
        expected = model.fit(looks).labels_
        found = np.asarray(model.fit(da.from_array(looks, chunks=(17, -1))).labels_)
    assert np.array_equal(found, expected) and (found[::7] == -1).all()


def test_canonical_fusion_of_items_without_any_view_in_chunks():
    rng = np.random.default_rng(1)
    views = {"a": rng.normal(size=(N, 4)), "b": rng.normal(size=(N, 3))}
    for matrix in views.values():
        matrix[5] = np.nan
    expected = CanonicalFusion(2).fit(views).correlations_
    found = CanonicalFusion(2).fit({name: da.from_array(m, chunks=(17, -1)) for name, m in views.items()})
    assert np.array_equal(found.correlations_, expected)


@pytest.mark.parametrize("said", ["f4", "f8"])
@pytest.mark.parametrize("holds", ["f4", "f8"])
def test_chunks_have_the_type_that_the_array_says(said, holds):
    """Rows of two types in one pass gave labels that belong to neither."""
    looks = matrices()["looks"]
    array = da.from_array(looks.astype(holds), chunks=(17, -1))
    X = Views({"looks": array.map_blocks(np.asarray, dtype=said, meta=np.empty((0, 0), said))})
    assert X["looks"].dtype == X["looks"].compute().dtype == said
    assert np.array_equal(X["looks"].compute(), looks.astype(holds).astype(said))


@pytest.mark.parametrize("part", [np.s_[1:], np.s_[:, 1:]], ids=["rows", "columns"])
def test_a_chunk_of_another_shape_is_named(part):
    array = da.from_array(matrices()["looks"], chunks=(17, -1))
    wrong = array.map_blocks(lambda chunk: chunk[part], dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(ViewError, match=r"view 'looks': chunk 0 \(rows 0 to 16\).*, but the Dask array says 17 x 4"):
        Views({"looks": wrong})
