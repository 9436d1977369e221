"""FusionART on Dask arrays, dense and in CSR chunks: the bits of the same rows in memory."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import manyview
from manyview import FusionART, Views
from manyview.errors import ViewError

da = pytest.importorskip("dask.array")
N = 400


def views(kind="groups", dtype=np.float32):
    rng = np.random.default_rng(2)
    which = rng.integers(5, size=N)
    looks = rng.normal(size=(5, 6))[which] + 0.3 * rng.normal(size=(N, 6))
    tags = (rng.random((N, 12)) < 0.05 + 0.6 * (np.arange(12) // 2 == which[:, None])).astype(dtype)
    if kind == "missing":
        looks[:50] = np.nan
        tags[-30:] = 0
    return {"looks": looks.astype(dtype), "tags": csr_matrix(tags)}


def in_chunks(given, rows=90):
    numbers = da.arange(N, chunks=rows)

    def sparse(matrix):
        return numbers.map_blocks(
            lambda part: matrix[part[0] : part[-1] + 1] if part.size else matrix[:0],
            new_axis=1,
            chunks=(numbers.chunks[0], (matrix.shape[1],)),
            dtype=matrix.dtype,
            meta=csr_matrix((0, 0), dtype=matrix.dtype),
        )

    return {
        name: sparse(m) if isinstance(m, csr_matrix) else da.from_array(m, chunks=(rows, m.shape[1]))
        for name, m in given.items()
    }


def same(there, here):
    assert isinstance(there.labels_, da.Array)
    np.testing.assert_array_equal(np.asarray(there.labels_), here.labels_)
    assert there.channels_ == here.channels_ and there.groups_ == here.groups_
    assert all(np.array_equal(there.field_[name], array) for name, array in here.field_.items())


SETTINGS = {
    "shards": {"shards": 3},
    "second look": {"shards": 3, "min_size": 5, "epochs": 2},
    "no shards": {},
    "auto": {"shards": 2, "vigilance": "auto"},
    "bounds": {"bounds": (-9, 9)},
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["groups", "missing"])
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_the_bits_of_rows_in_memory(settings, kind, dtype):
    given, y = views(kind, dtype), np.where(np.arange(N) % 100 == 7, 1, -1)
    model = {"vigilance": 0.3, "random_state": 0, "n_jobs": 2} | settings
    here = FusionART(**model).fit(given, y)
    there = FusionART(**model).fit(in_chunks(given), y)
    same(there, here)
    assert here.n_clusters_ > 2
    placed = there.predict(in_chunks(given, 130))
    assert isinstance(placed, da.Array) and placed.chunks[0][0] == 130
    np.testing.assert_array_equal(np.asarray(placed), here.predict(given))
    there.novelty = here.novelty = True
    np.testing.assert_array_equal(np.asarray(there.predict(in_chunks(given))), here.predict(given))


def test_a_stream_of_chunks():
    given = views()
    here, there = FusionART(0.3, bounds=(-4, 4)), FusionART(0.3, bounds=(-4, 4))
    for _ in range(2):
        here.partial_fit(given)
        there.partial_fit(in_chunks(given))
    same(there, here)
    other = FusionART(0.3, bounds=(-4, 4), random_state=1).fit(views("missing"))
    np.testing.assert_array_equal(there.merge(other), here.merge(other))


def test_what_is_no_tag_is_named_with_its_row():
    given = views()
    given["tags"].data[given["tags"].indptr[333]] = 3
    for rows in (given, in_chunks(given)):
        with pytest.raises(ViewError, match="row 333 holds 3"):
            FusionART(shards=2, channels={"tags": "tags"}).fit(rows)
        with pytest.warns(match="'tags' is sparse but holds more than 0 and 1"):
            assert FusionART(shards=2).fit(rows).channels_["tags"] == "content"
    model = FusionART(shards=2).fit(views())
    with pytest.raises(ViewError, match="row 333 holds 3"):
        model.predict(in_chunks(given))


def test_items_are_explained_from_memory():
    given = views()
    model = FusionART(shards=2, random_state=0).fit(in_chunks(given))
    assert len(model.explain(Views(given)[:3])) == 3
    with pytest.raises(ViewError, match=r"explained one by one: call .compute\(\)"):
        model.explain(in_chunks(given))


def test_shards_of_dask_arrays_are_read_one_at_a_time(monkeypatch):
    """No more than one shard, or one part of the pass over all rows, is in memory."""
    from manyview.data import source

    most, real = [0], source.stack

    def watched(parts):
        most[0] = max(most[0], sum(part.shape[0] for part in parts))
        return real(parts)

    monkeypatch.setattr(source, "stack", watched)
    monkeypatch.setattr("manyview.methods.fusion_art.seen.BLOCK_BYTES", 4_000)
    monkeypatch.setattr("manyview.methods.fusion_art.seen._SECONDS_PER_BYTE", 1.0)
    with manyview.on("serial"):
        FusionART(shards=4, random_state=0).fit(in_chunks(views()))
    assert most[0] == N // 4
