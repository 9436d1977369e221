"""PLSA and CCA on the device: what threads find, within a millionth."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import manyview
from manyview import PLSA, AnnotatedPLSA, CanonicalFusion


def counts(kind, rng, n=90, n_words=30):
    """Groups that share words, words without structure, and rows that are multiples of a few."""
    if kind == "groups":
        topics = rng.dirichlet(np.full(n_words, 0.1), 4)
        return np.array([rng.multinomial(25, topics[i % 4]) for i in range(n)])
    if kind == "even":
        return rng.poisson(0.5, (n, n_words))
    return rng.integers(1, 4, size=(n, 1)) * rng.poisson(0.6, (6, n_words))[rng.integers(6, size=n)]


@pytest.fixture
def many(device):
    """Items: few for Triton's interpreter."""
    return 2_000 if device == "cuda" else 20


def test_tensors_are_views(device):
    import torch

    values = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    tensor = torch.from_numpy(values).to(device).requires_grad_()
    assert np.array_equal(manyview.Views({"x": tensor})["x"], values)
    model = manyview.AcceleratedKMeans(3, random_state=0)
    labels = model.fit(values).labels_
    assert np.array_equal(model.fit(tensor).labels_, labels) and np.array_equal(model.predict(tensor), labels)
    for other in (tensor.to(torch.bfloat16), tensor.detach().to_sparse()):
        with pytest.raises(manyview.errors.ViewError, match="view 'x' is a torch tensor that cannot be read"):
            manyview.Views({"x": other})


@pytest.mark.filterwarnings("ignore:found . distinct cluster")  # after so few rounds
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["groups", "even", "multiples"])
def test_plsa_finds_what_threads_find(many, seed, kind, dtype):
    rng = np.random.default_rng(seed)
    A = counts(kind, rng, many).astype(dtype)
    A[5] = 0
    tags = counts("groups", rng, 8).astype(dtype)
    n_iter = 12 if many > 20 else 2
    plain = PLSA(4, n_init=1, max_iter=n_iter, random_state=seed)
    for model, more, memory, X in (
        (plain, {}, None, sparse.csr_matrix(A)),
        (plain, {}, 200 * many, A),  # in groups
        (PLSA(3, n_topics=9, weighting="count", n_init=1, max_iter=n_iter, random_state=seed), {}, None, A),
        (AnnotatedPLSA(4, n_init=1, max_iter=n_iter, random_state=seed), {"annotations": tags}, None, A),
    ):
        with pytest.warns(match="have no counts"):
            threads = clone(model).fit(X, **more)
        with manyview.on("cuda", memory=memory), pytest.warns(match="have no counts"):
            there = clone(model).fit(X, **more)
        np.testing.assert_allclose(there.log_likelihood_, threads.log_likelihood_, rtol=1e-6)
        np.testing.assert_allclose(there.item_topics_, threads.item_topics_, atol=1e-6)
        np.testing.assert_allclose(there.topic_features_, threads.topic_features_, atol=1e-6)


def test_a_topic_that_dies_is_started_again_there_too(device):
    from manyview.engines.checkpoint import Checkpoint
    from manyview.engines.choice import working
    from manyview.methods.topics._em import Problem, run_em
    from manyview.methods.topics._tasks import Counts

    A = np.array([[4, 1, 0, 0], [3, 2, 0, 0], [0, 0, 2, 2], [0, 0, 0, 3.0]])
    table = Counts.of(sparse.csr_matrix(A), A.sum(axis=1), np.ones(4))
    topics = np.array([[0.25, 0.25, 0.25, 0.25], [0.1, 0.2, 0.3, 0.4]]).T
    found = []
    for where in ("serial", "cuda"):
        with manyview.on(where), working(1) as engine:
            problem = Problem([table], engine, Checkpoint(None, engine), 8, 0.0)
            found.append(run_em(problem, topics, [np.tile([1.0, 0.0], (4, 1))]))
    assert found[0].n_reseeded == found[1].n_reseeded == 1
    np.testing.assert_allclose(found[1].shares[0], found[0].shares[0], atol=1e-9)
    np.testing.assert_allclose(found[1].log_likelihood, found[0].log_likelihood, rtol=1e-9)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["common", "even", "grid"])
def test_cca_finds_what_threads_find(device, seed, kind, dtype, missing):
    rng = np.random.default_rng(seed)
    n = 700
    shared = rng.normal(size=(n, 4))
    looks = rng.random((n, 20)) if kind == "even" else shared @ rng.normal(size=(4, 20)) + rng.normal(size=(n, 20)) + 40
    text = rng.random((n, 12)) if kind == "even" else shared @ rng.normal(size=(4, 12)) + rng.normal(size=(n, 12))
    tags = sparse.random(n, 60, 0.02, "csr", random_state=seed)
    if kind == "grid":
        looks, text = np.round(looks), np.round(text)
    looks, text, tags = looks.astype(dtype), text.astype(np.float64), tags.astype(dtype)
    if missing:
        looks[::7], text[1::7] = np.nan, np.nan
    for views in ([looks, text.astype(dtype)], [looks, text, tags]):
        threads = CanonicalFusion(3).fit(views)
        with manyview.on("cuda"):
            there = CanonicalFusion(3).fit(views)
        np.testing.assert_allclose(there.correlations_, threads.correlations_, atol=1e-6)
        if kind != "even":  # directions of noise are anybody's
            at, here = there.transform(views), threads.transform(views)
            np.testing.assert_allclose(at, here, atol=1e-4 if dtype == np.float32 else 1e-9)
