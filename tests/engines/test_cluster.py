"""Work on a Dask cluster: the same bits as on one thread, whatever the chunks, and whoever dies."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone

import manyview
from manyview import AcceleratedKMeans, HierarchicalKMeans, RobustMultiviewKMeans, Views
from manyview.data import source
from manyview.engines import base, cluster
from manyview.errors import ViewError
from manyview.methods.kmeans import _accelerated_leaf, _accelerated_rounds, accelerated_kmeans

pytest.importorskip("distributed")
import dask.array as da
from distributed import Client, LocalCluster
from tornado.ioloop import PeriodicCallback

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
N = 2000


def start(n_workers):
    return LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",
        worker_dashboard_address="127.0.0.1:0",
        silence_logs=50,
    )


@pytest.fixture(scope="module")
def client():
    with start(2) as here, Client(here) as client:
        yield client


@pytest.fixture(autouse=True)
def short_spans(monkeypatch):
    """Many spans, though there is little to do."""
    monkeypatch.setattr(base, "SPAN_SECONDS", 0.002)


def data(dtype=np.float32, missing=0.0, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(6, size=N)
    looks = rng.normal(size=(6, 24))[truth] + 2 * rng.normal(size=(N, 24))
    text = rng.normal(size=(6, 9))[truth] + 2 * rng.normal(size=(N, 9))
    text[rng.random(N) < missing] = np.nan
    tags = csr_matrix((rng.random((N, 40)) < 0.05 + 0.3 * (truth[:, None] == np.arange(40) % 6)).astype(dtype))
    return {"looks": looks.astype(dtype), "text": text.astype(dtype), "tags": tags}


def robust(**settings):
    given = {"n_clusters": 6, "view_scale": "minmax", "n_init": 2, "random_state": 0, "max_iter": 15, "n_jobs": 1}
    return RobustMultiviewKMeans(**{**given, **settings})


def in_chunks(views, rows):
    """The same views as Dask arrays; sparse ones in CSR chunks."""

    def sparse(matrix):
        numbers = da.arange(matrix.shape[0], chunks=rows)
        cut = numbers.map_blocks(
            lambda part: matrix[part[0] : part[-1] + 1] if part.size else matrix[:0],
            new_axis=1,
            chunks=(numbers.chunks[0], (matrix.shape[1],)),
            dtype=matrix.dtype,
            meta=csr_matrix((0, 0), dtype=matrix.dtype),
        )
        return cut

    return {
        name: sparse(m) if isinstance(m, csr_matrix) else da.from_array(m, chunks=(rows, m.shape[1]))
        for name, m in views.items()
    }


def equal(one, two):
    """The same numbers; labels of Dask arrays are Dask arrays."""
    return np.array_equal(np.asarray(one), np.asarray(two))


def same(one, two):
    """Labels, and everything they came from, to the last bit."""
    assert equal(one.labels_, two.labels_)
    assert np.array_equal(one.objective_, two.objective_)
    assert all(np.array_equal(one.cluster_centers_[name], two.cluster_centers_[name]) for name in one.view_names_)


@pytest.mark.parametrize("dtype", [np.float32, pytest.param(np.float64, marks=pytest.mark.slow)])
def test_two_workers_give_the_bits_of_one_thread(client, dtype, tmp_path):
    views = data(dtype, missing=0.2)
    np.save(tmp_path / "looks.npy", views["looks"])
    views["looks"] = np.load(tmp_path / "looks.npy", mmap_mode="r")  # read by the workers themselves
    alone = robust().fit(views)
    with manyview.on(client):
        there = robust().fit(views)
        assert equal(there.predict(views), alone.predict(views))
        assert there.score(views) == alone.score(views)
    same(there, alone)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [700, 1024])
def test_chunks_of_dask_arrays_change_nothing(client, rows):
    views = data(missing=0.2)
    alone = robust(assign="exact").fit(views)
    with manyview.on(client):
        chunks = Views(in_chunks(views, rows))
        there = robust(assign="exact").fit(chunks)
        assert equal(there.predict(chunks), alone.predict(views))
    same(there, alone)
    assert "sparse" in repr(chunks) and chunks.in_chunks == ("looks", "text", "tags")


def test_chunks_are_never_put_together(monkeypatch):
    """Leaves are read from the chunks they lie in, by one thread as by a worker: the whole span would be a copy."""
    views = {name: matrix for name, matrix in data(missing=0.2).items() if name != "tags"}
    alone = robust(max_iter=4, n_init=1).fit(views)

    def refused(_):
        raise AssertionError("a span was put together")

    monkeypatch.setattr(source.Pieces, "whole", refused)
    chunks = Views(in_chunks(views, 700))
    there = robust(max_iter=4, n_init=1).fit(chunks)
    same(there, alone)
    assert equal(there.predict(chunks), alone.predict(views))


def kmeans(**settings):
    return AcceleratedKMeans(**{"n_clusters": 6, "random_state": 0, "max_iter": 15, "n_jobs": 1, **settings})


def tree(**settings):
    given = {"n_clusters": 6, "n_starts": 3, "start_iter": 4, "random_state": 0, "max_iter": 10, "n_jobs": 1}
    return HierarchicalKMeans(**{**given, **settings})


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (kmeans, ["looks", "text"]),
        *(pytest.param(kmeans, [name], marks=pytest.mark.slow) for name in ("looks", "tags")),
        pytest.param(kmeans, ["looks", "text", "tags"], marks=pytest.mark.slow),
        *(
            pytest.param(tree, names, marks=pytest.mark.slow)
            for names in (["looks"], ["tags"], ["looks", "text", "tags"])
        ),
    ],
)
def test_k_means_of_two_workers_has_the_bits_of_one_thread(client, names, make):
    everything = data(missing=0.2)
    views = {name: everything[name] for name in names}
    alone = make().fit(views)
    with manyview.on(client):
        there, chunks = make().fit(views), make().fit(in_chunks(views, 700))
        assert equal(there.predict(views), alone.predict(views))
    for model in (there, chunks):
        same(model, alone)
        assert model.inertia_ == alone.inertia_


def test_lost_bounds_change_no_bit(monkeypatch):
    """Every process may forget all that it kept, at any time."""
    X = data()["looks"]
    alone = kmeans(n_clusters=12, max_iter=30).fit(X)
    rows = source.RowSource.rows
    opened = []

    def forgetful(self, *given):
        opened.append(None)
        if len(opened) % 3 == 0:
            self.forget()
        return rows(self, *given)

    monkeypatch.setattr(source.RowSource, "rows", forgetful)
    lost = kmeans(n_clusters=12, max_iter=30).fit(X)
    same(lost, alone)
    assert lost.n_distances_ > alone.n_distances_


def test_dask_arrays_without_a_cluster():
    views = data()
    with manyview.on("serial"):
        same(robust(n_init=1, max_iter=3).fit(in_chunks(views, 999)), robust(n_init=1, max_iter=3).fit(views))


def counted():
    """Views of every kind that is prepared in its own way: numbers, counts in a dense table, words."""
    views, rng = data(missing=0.2), np.random.default_rng(1)
    views["counts"] = rng.poisson(0.3, size=(N, 30)).astype(np.float32)
    return views


@pytest.mark.slow
@pytest.mark.parametrize("where", ["serial", "cluster"])
def test_views_in_chunks_are_prepared_as_those_in_memory(where, request):
    views = {name: matrix[:500] for name, matrix in counted().items()}
    prepared = {"view_scale": "auto", "n_init": 1, "max_iter": 4}
    alone = robust(**prepared).fit(views)
    chunks = in_chunks(views, 190)
    with manyview.on(request.getfixturevalue("client") if where == "cluster" else where):
        there = robust(**prepared).fit(chunks)
        assert equal(there.predict(chunks), alone.predict(views))
        assert equal(there.predict({"tags": chunks["tags"]}), alone.predict({"tags": views["tags"]}))
        assert there.score(chunks) == alone.score(views)
    same(there, alone)
    assert there.view_scalings_ == alone.view_scalings_ and there.scaling_agreement_ == alone.scaling_agreement_


def test_labels_of_dask_arrays_are_dask_arrays(tmp_path):
    X = data()["looks"]
    chunks = da.from_array(X, chunks=(700, 24))
    model, alone = kmeans(max_iter=3).fit(chunks), kmeans(max_iter=3).fit(X)
    for labels, known in ((model.labels_, alone.labels_), (model.predict(chunks), alone.predict(X))):
        assert isinstance(labels, da.Array) and labels.chunks == (chunks.chunks[0],)
        assert np.array_equal(labels.compute(), known)
    assert isinstance(model.cluster_centers_["view0"], np.ndarray)
    assert isinstance(model.predict(X), np.ndarray)
    manyview.save(model, tmp_path / "model")
    assert np.array_equal(manyview.load(tmp_path / "model").labels_, alone.labels_)


@pytest.mark.slow
def test_one_dask_array_is_one_view(client):
    X = data()["looks"]
    with manyview.on(client):
        model = robust(n_init=1).fit(da.from_array(X, chunks=(500, 24)))
    same(model, robust(n_init=1).fit(X))


def test_workers_are_seen_while_the_client_asks_for_totals(client):
    """As it does every two seconds by itself, which leaves a list without workers where `scheduler_info` is kept."""
    ask = PeriodicCallback(client._update_scheduler_info, 1)
    client.loop.add_callback(ask.start)
    try:
        for _ in range(200):
            cluster.refuse_open_lines(client)
    finally:
        client.loop.add_callback(ask.stop)


@pytest.mark.slow
def test_nothing_is_left_behind(client, tmp_path):
    with manyview.on(client, folder=tmp_path / "work"):
        robust(n_init=1).fit(data())
    assert [path for path in (tmp_path / "work").rglob("*") if path.is_file()] == []


def _broken(chunk, block_info=None):
    if block_info[0]["chunk-location"][0] == 2:
        raise OSError("the disk is gone")
    return chunk


def test_a_bad_chunk_is_named_before_anything_else_runs(client):
    X = data()["looks"]
    bad = X.copy()
    bad[1300, 5] = np.inf
    with manyview.on(client):
        with pytest.raises(ViewError, match=r"view 'looks': chunk 2 \(rows 1200 to 1799\).*inf in row 100, column 5"):
            Views({"looks": da.from_array(bad, chunks=(600, 24))})
        broken = da.from_array(X, chunks=(600, 24)).map_blocks(_broken, dtype=X.dtype, meta=np.empty((0, 0), X.dtype))
        with pytest.raises(ViewError, match=r"view 'looks': chunk 2 \(rows 1200 to 1799\).*the disk is gone"):
            Views({"looks": broken})
    with pytest.raises(ViewError, match="chunks that are sparse, but the Dask array says otherwise"):
        Views({"tags": da.from_array(X, chunks=(1000, 24)).map_blocks(csr_matrix, meta=np.empty((0, 0), X.dtype))})
    unknown = da.from_array(X, chunks=(1000, 24))
    unknown = unknown[unknown[:, 0] > 0]
    with pytest.raises(ViewError, match="do not know their length"):
        Views({"looks": unknown})


def test_what_cannot_be_done_in_chunks_says_what_to_do():
    chunks = in_chunks(data(), 1000)
    with pytest.raises(ViewError, match="which ConsensusClustering cannot read chunk by chunk"):
        manyview.ConsensusClustering(3).fit(chunks)


@pytest.mark.slow
@pytest.mark.parametrize("n_workers", [1, 3])  # two have every other test
def test_one_and_three_workers(n_workers):
    views = data(missing=0.2)
    with start(n_workers) as here, Client(here) as client, manyview.on(client):
        for make in (robust, kmeans, tree):
            there = make().fit(views)
            with manyview.on("serial"):
                same(there, make().fit(views))


@pytest.mark.parametrize("make", [kmeans, pytest.param(tree, marks=pytest.mark.slow)])
def test_views_that_are_put_side_by_side_in_every_pass_give_the_same_bits(make, monkeypatch):
    """Where a copy of all rows would fill memory."""
    views, at_once = data(missing=0.2), []
    more = {"n_clusters": 12, "empty_clusters": "farthest", "max_iter": 6}
    monkeypatch.setattr(_accelerated_rounds, "MOST_ROWS", 500)
    held = make(**more).fit(views)
    monkeypatch.setattr(accelerated_kmeans, "_MOST_COPIED", 0)
    joined = _accelerated_leaf.side_by_side
    monkeypatch.setattr(
        _accelerated_leaf, "side_by_side", lambda *given: at_once.append(len(given[1])) or joined(*given)
    )
    again = make(**more).fit(views)
    same(again, held)
    assert again.inertia_ == held.inertia_ and np.array_equal(again.predict(views), held.predict(views))
    assert again.n_distances_ == held.n_distances_, "bounds are kept all the same"
    assert max(at_once) == N and at_once.count(N) == 1, "all of them only where first centres are sought"


def test_chunks_that_a_cluster_holds_are_looked_through_once(client):
    X = data()["looks"]
    with manyview.on(client):
        held = da.from_array(X, chunks=(700, 24)).persist()
        views = Views({"looks": held})
        assert all(type(part).__name__ == "Future" for part in views["looks"].dask.values())
        lazy = Views({"looks": da.from_array(X, chunks=(700, 24))})
        assert not any(type(part).__name__ == "Future" for part in lazy["looks"].dask.values())
        same(kmeans(max_iter=3).fit(views), kmeans(max_iter=3).fit({"looks": X}))


@pytest.mark.slow
def test_joblib_and_block_by_block_prediction(client):
    """scikit-learn's searches on a cluster through joblib; a fitted model on every chunk, as ParallelPostFit does."""
    import joblib
    from sklearn.model_selection import GridSearchCV

    X = data()["looks"]
    search = GridSearchCV(kmeans(), {"n_clusters": [3, 6]}, cv=2, refit=True)
    alone = clone(search).fit(X)
    with joblib.parallel_config(backend="dask", client=client):
        there = clone(search).fit(X)
    assert there.best_params_ == alone.best_params_
    assert equal(there.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])
    model, chunks = alone.best_estimator_, da.from_array(X, chunks=(700, X.shape[1]))
    labels = chunks.map_blocks(model.predict, dtype=np.intp, drop_axis=1)
    assert labels.chunks == (chunks.chunks[0],)
    with manyview.on(client):
        ours = model.predict(chunks)
        assert ours.chunks == labels.chunks
        for found in (labels, ours):
            assert equal(found.compute(), model.predict(X))
