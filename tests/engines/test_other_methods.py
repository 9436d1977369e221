"""PLSA and CCA on every engine of this machine and on a cluster: the same bits, and a fit that goes on where it was."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone

import manyview
from manyview import (
    PLSA,
    AnnotatedPLSA,
    CanonicalFusion,
    ConsensusClustering,
    CrossModalClustering,
    FusionART,
    Views,
    blocks,
)
from manyview.engines import base, checkpoint, cluster
from manyview.errors import ViewError
from manyview.methods.canonical import _moments
from manyview.methods.consensus import _landmarks
from manyview.methods.topics import _em

N = 600
KINDS = ("groups", "even", "multiples")
BOTH = pytest.mark.parametrize("dtype", [np.float32, np.float64])


@pytest.fixture(autouse=True)
def short_spans(monkeypatch):
    """Many leaves and spans, though there is little to do."""
    monkeypatch.setattr(base, "SPAN_SECONDS", 2e-5)
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 2**14)
    monkeypatch.setattr(_moments, "_BLOCK_BYTES", 2**14)


def counts(kind, dtype, n=N, n_words=40):
    """Groups that share words, words without structure, and rows that are multiples of a few."""
    rng = np.random.default_rng(3)
    if kind == "groups":
        topics = rng.dirichlet(np.full(n_words, 0.1), 4)
        return np.array([rng.multinomial(25, topics[i % 4]) for i in range(n)]).astype(dtype)
    if kind == "even":
        return rng.poisson(0.5, (n, n_words)).astype(dtype)
    return (rng.integers(1, 4, size=(n, 1)) * rng.poisson(0.6, (6, n_words))[rng.integers(6, size=n)]).astype(dtype)


def numbers(kind, dtype, missing):
    """Three views, one of them sparse; groups with outliers, no structure, and a grid."""
    rng = np.random.default_rng(4)
    shared = rng.normal(size=(N, 4)) * np.where(rng.random(N) < 0.05, 5, 1)[:, None]
    looks, text = (shared @ rng.normal(size=(4, d)) + rng.normal(size=(N, d)) + far for d, far in ((14, 40), (9, 0)))
    if kind == "even":
        looks, text = rng.random((N, 14)), rng.random((N, 9))
    if kind == "multiples":
        looks, text = np.round(looks), np.round(text)
    looks, text = looks.astype(dtype), text.astype(np.float64)
    if missing:
        looks[::7], text[1::5] = np.nan, np.nan
    tags = csr_matrix((rng.random((N, 90)) < 0.02).astype(dtype))
    return {"looks": looks, "text": text, "tags": tags}


def plsa(**more):
    return PLSA(**{"n_clusters": 4, "n_init": 2, "max_iter": 9, "random_state": 0, **more})


def same_topics(one, two):
    for name in ("item_topics_", "topic_features_", "log_likelihood_", "labels_"):
        assert np.array_equal(getattr(one, name), getattr(two, name)), name


def same_space(one, two):
    assert np.array_equal(one.correlations_, two.correlations_)
    assert all(np.array_equal(one.projections_[name], two.projections_[name]) for name in one.view_names_)


def on(where, model, X, **more):
    with manyview.on(*where[:1], **(where[1] if len(where) > 1 else {})):
        return clone(model).fit(X, **more)


SERIAL, THREADS = ("serial",), ("threads", {"n_jobs": 2})


@BOTH
@pytest.mark.parametrize("kind", KINDS)
def test_threads_give_the_bits_of_one(kind, dtype):
    A = counts(kind, dtype)
    for X in (A, csr_matrix(A)):
        alone = on(SERIAL, plsa(), X)
        same_topics(on(THREADS, plsa(), X), alone)
    gaps = A.copy()
    gaps[::6] = np.nan
    views = {"words": gaps, "marks": csr_matrix(A[:, :10] + np.eye(10)[0].astype(dtype))}
    model = AnnotatedPLSA(3, n_topics=9, weighting="count", n_init=1, max_iter=6, random_state=0)
    pair = [on(where, model, views, annotations=A[:30, :].repeat(2, 1)[:, :50]) for where in (SERIAL, THREADS)]
    same_topics(*pair)
    assert np.array_equal(pair[0].annotation_topics_, pair[1].annotation_topics_)
    for missing in (False, True):
        Y = numbers(kind, dtype, missing)
        alone, two = (on(where, CanonicalFusion(4), Y) for where in (SERIAL, THREADS))
        same_space(two, alone)
        assert np.array_equal(two.transform(Y), alone.transform(Y))


def test_spans_and_leaves_are_many():
    """Otherwise nothing above is tried."""
    from manyview.methods.topics._tasks import Counts

    A = counts("groups", np.float32)
    plan = Counts.of(csr_matrix(A), A.sum(axis=1), np.ones(N)).plan(4)
    assert len(plan.spans) > 2 and len(plan.spans[0].leaves) > 1


def test_files_are_read_where_they_lie(tmp_path):
    A, Y = counts("even", np.float64), numbers("groups", np.float32, False)
    np.save(tmp_path / "a.npy", A), np.save(tmp_path / "looks.npy", Y["looks"])
    filed = {**Y, "looks": np.load(tmp_path / "looks.npy", mmap_mode="r")}
    same_topics(plsa(n_topics=60).fit(np.load(tmp_path / "a.npy", mmap_mode="r")), plsa(n_topics=60).fit(A))
    same_space(CanonicalFusion(4).fit(filed), CanonicalFusion(4).fit(Y))


def test_topics_die_alike_however_rows_are_cut(monkeypatch):
    """The rows that are explained worst are those of all rows, whichever leaf they are in."""
    rng = np.random.default_rng(0)
    A = rng.poisson(0.3, (200, 12)) + np.eye(12)[rng.integers(12, size=200)]
    found = []
    for size in (2**14, 2**24):
        monkeypatch.setattr(blocks, "BLOCK_BYTES", size)
        table = _em.Counts.of(csr_matrix(A), A.sum(axis=1), np.ones(200))
        engine = base_engine()
        problem = _em.Problem([table], engine, checkpoint.Checkpoint(None, engine), 12, 0.0)
        shares = np.zeros((200, 5))
        shares[:, :2] = 0.5  # nobody uses the other three
        topics = _em.random_topics(12, 5, np.random.default_rng(1))
        found.append(_em.run_em(problem, topics, [shares]))
    a = A / A.sum(axis=1, keepdims=True)
    p = shares @ topics.T
    gaps = (a * np.log(np.where(a > 0, a, 1))).sum(axis=1) - (a * np.log(p)).sum(axis=1)
    worst = np.argsort(-gaps)[:3]
    assert [one.n_reseeded for one in found] == [3, 3]
    np.testing.assert_allclose(found[0].shares[0], found[1].shares[0], atol=1e-9)
    assert set(found[0].shares[0][worst].argmax(axis=1)) <= {2, 3, 4}


def base_engine():
    from manyview.engines.local import LocalEngine

    return LocalEngine(blocks.Workers(1, None))


def test_annotations_in_chunks_and_what_is_no_count():
    da = pytest.importorskip("dask.array")
    A = counts("groups", np.float32)
    chunks = {"words": da.from_array(A, chunks=(200, 40))}
    with pytest.raises(ViewError, match="of the annotations is a Dask array"):
        AnnotatedPLSA(2).fit(A, annotations={"view0": chunks["words"]})
    bad = A.copy()
    bad[411, 3] = -1
    with pytest.raises(ViewError, match="passed to PLSA: view 'words', row 411"):
        PLSA(2).fit({"words": da.from_array(bad, chunks=(200, 40))})
    few = plsa(n_init=1, max_iter=2)
    same_topics(clone(few).fit(chunks), clone(few).fit({"words": A}))


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    from .test_cluster import start

    with start(2) as cluster, distributed.Client(cluster) as client:
        yield client


CLUSTER = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


@CLUSTER
@pytest.mark.slow
@pytest.mark.parametrize(("kind", "dtype"), [("groups", np.float32), ("even", np.float64), ("multiples", np.float32)])
def test_two_workers_give_the_bits_of_one_thread(client, kind, dtype, monkeypatch, tmp_path):
    monkeypatch.setattr(base, "SPAN_SECONDS", 1e-4)  # a few tasks a pass are enough
    on_two_workers(client, kind, dtype, tmp_path, missing=kind != "groups")


def on_two_workers(client, kind, dtype, tmp_path, missing):
    from .test_cluster import in_chunks

    A, model = counts(kind, dtype), plsa(n_init=1, max_iter=3)
    np.save(tmp_path / "a.npy", A)
    gaps = A[:, :30].copy()
    if missing:
        gaps[::6] = np.nan
    views = {"words": gaps, "marks": csr_matrix(A[:, 30:] + np.eye(10)[0].astype(dtype))}
    Y = numbers(kind, dtype, missing)
    whole, split = clone(model).fit(A), clone(model).fit(views)
    space = CanonicalFusion(4).fit(Y)
    with manyview.on(client):
        same_topics(clone(model).fit(np.load(tmp_path / "a.npy", mmap_mode="r")), whole)
        chunks = Views(in_chunks(views, 170))
        there = clone(model).fit(chunks)
        same_topics(there, split)
        assert np.array_equal(there.predict_proba(chunks), split.predict_proba(views))
        for given in (Y, in_chunks(Y, 170)):
            other = CanonicalFusion(4).fit(given)
            same_space(other, space)
            assert np.array_equal(other.transform(given), space.transform(Y), equal_nan=True)


@CLUSTER
@pytest.mark.slow
def test_one_and_three_workers(monkeypatch):
    distributed = pytest.importorskip("distributed")
    from .test_cluster import start

    monkeypatch.setattr(base, "SPAN_SECONDS", 1e-4)
    A, Y = csr_matrix(counts("even", np.float32)), numbers("groups", np.float32, True)
    whole, space = plsa(n_init=1, max_iter=4).fit(A), CanonicalFusion(4).fit(Y)
    words = [[f"w{(i * k) % 37}" for k in range(1, 4)] for i in range(N)]
    pictures = {"looks": np.nan_to_num(Y["looks"]), "tags": words}
    cross = CrossModalClustering(4, n_starts=2, random_state=0)
    grouped = clone(cross).fit(pictures)
    stream = FusionART(0.5, shards=3, random_state=0)
    streamed = clone(stream).fit(pictures["looks"])
    for n_workers in (1, 3):
        with start(n_workers) as cluster, distributed.Client(cluster) as client, manyview.on(client):
            same_topics(plsa(n_init=1, max_iter=4).fit(A), whole)
            same_space(CanonicalFusion(4).fit(Y), space)
            assert np.array_equal(clone(stream).fit(pictures["looks"]).labels_, streamed.labels_)
            if n_workers == 3:
                there = clone(cross).fit(pictures)
                assert np.array_equal(there.labels_, grouped.labels_)
                assert np.array_equal(there.correlations_, grouped.correlations_)


class Stop(Exception):
    pass


@pytest.mark.parametrize("near_end", [_em._NEAR_END, 0.0])  # 0: the end is never foreseen, and the way is gone again
def test_stopped_after_any_round_it_goes_on_to_the_same_end(near_end, monkeypatch, tmp_path):
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    monkeypatch.setattr(_em, "_NEAR_END", near_end)
    A = counts("groups", np.float32)
    model = AnnotatedPLSA(4, n_init=2, max_iter=30, tol=1e-3, random_state=0)
    undisturbed = clone(model).fit(A, annotations=A[:50])
    run_task, n_calls, n_stops = _em.sweep_leaf, 0, 0

    def stopping(*given):
        nonlocal n_calls
        n_calls += 1
        if n_calls > 30 + 7 * (n_stops % 3):  # in the middle of a sweep, mostly
            raise Stop
        return run_task(*given)

    monkeypatch.setattr(_em, "sweep_leaf", stopping)
    with manyview.on("serial", folder=tmp_path / "kept"):
        while True:
            n_calls = 0
            try:
                found = clone(model).fit(A, annotations=A[:50])
                break
            except Stop:
                n_stops += 1
                assert n_stops < 200, "it does not get on"
    assert n_stops > 3
    same_topics(found, undisturbed)
    assert np.array_equal(found.annotation_topics_, undisturbed.annotation_topics_)
    assert list((tmp_path / "kept").iterdir()) == []


PROGRAM = """
import sys, numpy as np, manyview
from manyview import blocks
from manyview.engines import base, checkpoint
base.SPAN_SECONDS, checkpoint.EVERY, blocks.BLOCK_BYTES = 1e-4, 0.0, 2**16
sys.path.insert(0, sys.argv[1])
from tests.engines.test_other_methods import counts, plsa
A = counts("even", np.float32, 6000)
with manyview.on("serial", folder=sys.argv[2]):
    print("ready", flush=True)
    model = plsa(max_iter=60, tol=0).fit(A)
np.savez(sys.argv[3], shares=model.item_topics_, value=model.log_likelihood_)
"""


@pytest.mark.slow
def test_kill_at_random_moments(monkeypatch, tmp_path, record_property):
    """MANYVIEW_CLIENT_KILLS: how often the process that fits is killed."""
    wanted = int(os.environ.get("MANYVIEW_CLIENT_KILLS", "2"))
    monkeypatch.setattr(base, "SPAN_SECONDS", 1e-4)
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 2**16)
    undisturbed, rng = plsa(max_iter=60, tol=0).fit(counts("even", np.float32, 6000)), np.random.default_rng(0)
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    n_kills, out = 0, tmp_path / "found.npz"
    while n_kills < wanted or not out.exists():
        out.unlink(missing_ok=True)  # we were not there in time to kill it
        command = [sys.executable, "-c", PROGRAM, root, str(tmp_path / "kept"), str(out)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout.readline() == "ready\n"
            try:
                process.wait(timeout=rng.uniform(0.1, 1.0) if n_kills < wanted else 300)
            except subprocess.TimeoutExpired:
                os.kill(process.pid, signal.SIGKILL)
                n_kills += 1
        time.sleep(0.05)
    with np.load(out) as found:
        assert np.array_equal(found["shares"], undisturbed.item_topics_)
        assert np.array_equal(found["value"], undisturbed.log_likelihood_)
    assert n_kills == wanted
    record_property("count", n_kills)


@CLUSTER
@pytest.mark.slow
def test_those_that_do_not_vote_are_placed_by_two_workers(client, monkeypatch, tmp_path):
    """Landmarks vote in this process; the others go where one thread puts them, also with views that items lack."""
    monkeypatch.setattr(base, "SPAN_SECONDS", 0.005)
    monkeypatch.setattr(_landmarks, "_BLOCK_BYTES", 2**15)
    views = numbers("groups", np.float32, missing=True)
    np.save(tmp_path / "looks.npy", views["looks"])
    views["looks"] = np.load(tmp_path / "looks.npy", mmap_mode="r")
    before = np.arange(N) % 5
    model = ConsensusClustering(4, landmarks=150, members=[3, before], random_state=0)
    n_spans, run = [], cluster.DaskEngine.map

    def counted(engine, task, source, plan, *more):
        n_spans.append((len(plan.spans), len(plan.spans[0].leaves)))
        return run(engine, task, source, plan, *more)

    monkeypatch.setattr(cluster.DaskEngine, "map", counted)
    alone, threads, there = (on(where, model, views) for where in (SERIAL, THREADS, (client,)))
    (n_members, of_one), (n_parts, n_leaves) = n_spans  # members are made there too, one a task
    assert n_members == 4 * 3 and of_one == 1 and n_parts > 2 and n_leaves > 1
    for other in (threads, there):
        assert np.array_equal(other.labels_, alone.labels_)
        assert np.array_equal(other.levels_["leaves"], alone.levels_["leaves"])
        assert np.array_equal(other.member_labels_, alone.member_labels_)
        assert all(np.array_equal(other.cluster_centers_[v], alone.cluster_centers_[v]) for v in views)


@CLUSTER
@pytest.mark.slow
def test_shards_are_learned_by_two_workers(client, tmp_path):
    """Files and memory, views that items lack, a person's groups, and the second look."""
    views = numbers("groups", np.float32, missing=True)
    views["tags"].data[:] = 1
    np.save(tmp_path / "looks.npy", views["looks"])
    filed = {**views, "looks": np.load(tmp_path / "looks.npy", mmap_mode="r")}
    model, y = FusionART(0.4, shards=3, min_size=2, random_state=0), np.where(np.arange(N) % 100 == 7, 1, -1)
    alone = on(SERIAL, model, views, y=y)
    for there in (on((client,), model, views, y=y), on((client,), model, filed, y=y)):
        assert np.array_equal(there.labels_, alone.labels_) and there.groups_ == alone.groups_
        assert all(np.array_equal(there.field_[name], array) for name, array in alone.field_.items())
    assert alone.n_clusters_ > 3


@CLUSTER
@pytest.mark.slow
def test_shards_of_dask_arrays_are_read_by_two_workers(client):
    """Dense and CSR chunks, views that items lack, a person's groups, and the second look."""
    import dask.array as da
    from dask import delayed

    views = numbers("groups", np.float32, missing=True)
    views["tags"].data[:] = 1
    width, meta = views["tags"].shape[1], csr_matrix((0, 0), dtype=np.float32)
    tags = [da.from_delayed(delayed(views["tags"][at : at + 100]), (100, width), meta=meta) for at in range(0, N, 100)]
    chunks = {name: da.from_array(views[name], chunks=(170, -1)) for name in ("looks", "text")}
    chunks["tags"] = da.concatenate(tags)
    model, y = FusionART(0.4, shards=3, min_size=2, random_state=0), np.where(np.arange(N) % 100 == 7, 1, -1)
    alone, there = on(SERIAL, model, views, y=y), on((client,), model, chunks, y=y)
    assert np.array_equal(np.asarray(there.labels_), alone.labels_) and there.groups_ == alone.groups_
    assert all(np.array_equal(there.field_[name], array) for name, array in alone.field_.items())
    with manyview.on(client):
        assert np.array_equal(np.asarray(there.predict(chunks)), alone.predict(views))
