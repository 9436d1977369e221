"""The number of clusters from neighbours: the score by its definition, and what must not change it."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from scipy import sparse

from manyview import Views, suggest_n_clusters
from manyview.blocks import workers
from manyview.methods.consensus import number as module
from manyview.methods.consensus._copies import without_copies
from manyview.methods.preparation import prepare


def blobs(n_items=240, n_blobs=6, d=8, seed=0, apart=4.0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_blobs, d))[np.arange(n_items) % n_blobs] * apart + rng.normal(size=(n_items, d))


@pytest.mark.parametrize("n_blobs", [4, 7, 12])
def test_blobs_are_counted(n_blobs):
    found = suggest_n_clusters(blobs(40 * n_blobs, n_blobs), random_state=0)
    assert found.n_clusters == n_blobs
    assert found.reason.startswith(f"{n_blobs} clusters: the neighbours of the items fall apart most clearly there.")
    assert found.rival < 0.5 and found.modularity > 0.6


def weighed(views):
    with workers(1) as threads:
        return module._weighed(views, prepare(views, "rank", threads), threads)


def graph_by_hand(points, k):
    """The k nearest in each view, and in all side by side, which count as much as the views together."""
    n_items, n_views = points.rows.shape[0], len(points.names)
    W = np.zeros((n_items, n_items))
    columns = {None: slice(None), **{name: slice(*points.edges[v : v + 2]) for v, name in enumerate(points.names)}}
    for name, where in columns.items():
        rows = points.rows[:, where].astype(np.float64)
        distance = ((rows[:, None] - rows) ** 2).sum(axis=2) + np.diag(np.full(n_items, np.inf))
        for item, near in enumerate(np.argsort(distance, axis=1, kind="stable")[:, :k]):
            W[item, near] += (1.0 if name is None else 1.0 / n_views) / (2 * k)
            W[near, item] += (1.0 if name is None else 1.0 / n_views) / (2 * k)
    return W


def eigenvalues_by_hand(W):
    degrees = W.sum(axis=1)
    return np.linalg.eigvalsh(W / np.sqrt(np.outer(degrees, degrees)))[::-1]


def test_the_score_is_that_of_its_definition():
    """Gaps of the mean eigenvalues with 5 and 20 neighbours, around 1.4 times the communities among 0.3 of a group."""
    views = Views({"a": blobs(240, 20, 20, apart=0.9), "b": blobs(240, 20, 20, seed=1, apart=0.9)})
    found = module.count_clusters(views, seed=3, n_jobs=1)
    graphs = {k: graph_by_hand(weighed(views), k) for k in (5, 10, 20)}
    values = (eigenvalues_by_hand(graphs[5]) + eigenvalues_by_hand(graphs[20])) / 2
    assert np.allclose(found.eigenvalues, values[: found.eigenvalues.size], atol=1e-6)
    L = {k: int(module.communities(sparse.csr_matrix(W), 3).max()) + 1 for k, W in graphs.items()}
    assert len(set(L.values())) == 3 and found.communities == pytest.approx(np.sqrt(L[5] * L[10]))
    for k, score in zip(found.candidates.tolist(), found.score.tolist(), strict=True):
        share = min(20, max(5, 0.3 * 240 / k))
        low, high = (5, 10) if share <= 10 else (10, 20)
        along = np.log(share / low) / np.log(high / low)
        centre = 1.4 * L[low] ** (1 - along) * L[high] ** along
        bell = np.exp(-((np.log(k / centre) / 0.5) ** 2) / 2)
        assert score == pytest.approx((values[k - 1] - values[k]) * bell, abs=1e-6)
    few_columns = module.count_clusters(Views(blobs(d=8, apart=1.5)), seed=3, n_jobs=1)
    for k, score in zip(few_columns.candidates.tolist(), few_columns.score.tolist(), strict=True):
        leaks = np.maximum(1 - few_columns.eigenvalues[k - 1 : k + 1], 0) + 0.02
        assert score == pytest.approx(np.log(leaks[1] / leaks[0]))

    best = dict(zip(found.candidates.tolist(), found.score.tolist(), strict=True))
    k = found.n_clusters
    assert k == 20 == max(best, key=best.get)
    below = [n for n in best if n <= 0.72 * k]
    above = [n for n in best if 1.35 * k <= n <= 3 * k]
    assert found.coarser == (max(below, key=best.get) if below else None)
    assert found.finer == (max(above, key=best.get) if above else None)


def test_of_texts_as_many_groups_are_expected_as_communities_show():
    rates = np.repeat(np.eye(6), 11, axis=1)[np.arange(240) % 6] * 1.5 + 0.3
    counts = sparse.csr_matrix(np.random.default_rng(0).poisson(rates).astype(float))
    found = module.count_clusters(Views({"words": counts}), n_jobs=1)
    assert found.n_clusters == expected(found) == 6
    beside = module.count_clusters(Views({"words": counts, "looks": blobs(240, 6, 40)}), n_jobs=1)
    assert beside.n_clusters == 6 and expected(beside) == 8, "1.4 times the six communities"


def expected(found):
    """The number whose gap counts most."""
    gap = found.eigenvalues[found.candidates - 1] - found.eigenvalues[found.candidates]
    return found.candidates[np.argmax(np.where(gap > 1e-6, found.score / np.maximum(gap, 1e-6), 0.0))]


def test_groups_smaller_than_twenty_items_are_counted():
    """Thirty groups of eight: among twenty neighbours most are strangers, among five all are of the group."""
    assert suggest_n_clusters(blobs(240, 30, d=40, apart=1.2), random_state=0).n_clusters == 30


@pytest.mark.parametrize(("n_blobs", "d"), [(2, 2), (2, 5), (3, 3), (5, 4)])
def test_few_columns_are_counted_without_communities(n_blobs, d, seed):
    rng = np.random.default_rng(seed)
    places = np.r_[np.zeros((1, d)), np.ones((1, d)) if n_blobs == 2 else np.eye(n_blobs - 1, d)]
    X = 9 * places[np.arange(120 * n_blobs) % n_blobs] + rng.normal(size=(120 * n_blobs, d))
    found = suggest_n_clusters(X, random_state=seed)
    assert found.n_clusters == n_blobs and "guess" not in found.reason


@pytest.mark.parametrize("d", [1, 2, 4])
def test_noise_in_few_columns_is_noticed(d, seed):
    rng = np.random.default_rng(seed)
    for noise in (rng.normal(size=(300, d)), rng.random((300, d))):
        assert "without groups would fall apart as clearly" in suggest_n_clusters(noise, random_state=seed).reason


def test_the_graph_of_few_columns_is_that_of_consensus():
    rng = np.random.default_rng(0)
    X = Views({"a": rng.normal(size=(70, 3)), "b": rng.normal(size=(70, 4))})
    found = module.count_clusters(X, n_jobs=1)
    values = eigenvalues_by_hand(graph_by_hand(weighed(X), 10))
    assert found.n_items == 70
    assert np.allclose(found.eigenvalues, values[: found.eigenvalues.size], atol=1e-6)


def test_eigenvalues_are_those_of_the_parts():
    rng = np.random.default_rng(0)
    parts = []
    for size in (450, 30, 7):
        W = sparse.random(size, size, 0.1, random_state=rng) + sparse.diags_array(np.ones(size - 1), offsets=1)
        parts.append(module.normalised_graph(W + W.T))
    whole = sparse.csr_matrix(sparse.block_diag(parts))
    mixed = rng.permutation(487)
    found = module._eigenvalues(whole[mixed][:, mixed], 20, seed=0)
    assert np.allclose(found, np.linalg.eigvalsh(whole.toarray())[::-1][:20], atol=1e-4)
    assert np.allclose(found[:3], 1.0) and found[3] < 0.999


def test_order_and_names_of_views_and_threads_change_nothing():
    a, b = blobs(seed=1, apart=1.5), blobs(seed=2, apart=1.5)
    one = module.count_clusters(Views({"a": a, "b": b}), seed=0, n_jobs=1)
    other = module.count_clusters(Views({"z": b, "y": a}), seed=0, n_jobs=2)
    assert one.to_dict() == other.to_dict() == module.ClusterNumbers.from_dict(one.to_dict()).to_dict()


def test_texts_are_looked_for_in_another_region():
    counts = np.random.default_rng(0).poisson(np.repeat(np.eye(6), 11, axis=1)[np.arange(120) % 6] * 5 + 0.02)
    assert module._is_text(Views({"words": sparse.csr_matrix(counts.astype(float))}))
    assert module._is_text(Views({"words": counts.astype(float)})), "a dense table of counts is one too"
    assert not module._is_text(Views({"tags": sparse.csr_matrix(np.eye(30)[np.arange(120) % 30])}))
    assert not module._is_text(Views({"words": sparse.csr_matrix(counts.astype(float)), "looks": blobs(120)}))


def test_a_view_that_says_nothing_leaves_the_number_alone():
    rng = np.random.default_rng(3)
    good = {"a": blobs(240, 12, 40, seed=1, apart=0.55), "b": blobs(240, 12, 40, seed=2, apart=0.55)}
    noise = {f"noise {number}": rng.normal(size=(240, 40)) for number in range(4)}
    assert suggest_n_clusters(good, random_state=0).n_clusters == 12
    assert suggest_n_clusters(good | noise, random_state=0).n_clusters == 12
    assert suggest_n_clusters(good | {"other rows": good["b"][::-1]}, random_state=0).n_clusters == 12


def test_a_view_that_says_nothing_neither_widens_a_table_nor_makes_texts_something_else():
    noise = np.random.default_rng(2).normal(size=(240, 40))
    narrow = {"a": blobs(240, 6, 6, seed=1, apart=2.0), "b": blobs(240, 6, 6, seed=2, apart=2.0)}
    alone, beside = (module.count_clusters(Views(views), n_jobs=1) for views in (narrow, narrow | {"noise": noise}))
    assert alone.n_clusters == beside.n_clusters and alone.candidates[0] == beside.candidates[0] == 2
    rates = np.repeat(np.eye(6), 11, axis=1)[np.arange(240) % 6] * 1.5 + 0.3
    words = {
        name: sparse.csr_matrix(np.random.default_rng(seed).poisson(rates) * 1.0) for seed, name in enumerate("ab")
    }
    found = module.count_clusters(Views(words | {"noise": noise}), n_jobs=1)
    assert found.n_clusters == expected(found) == 6


def test_copies_count_once():
    X = blobs(400, 5, d=12, apart=3.0)
    noise = np.random.default_rng(1).normal(size=X.shape)
    alone = module.count_clusters(Views(X), n_jobs=1)
    exact = module.count_clusters(Views(np.repeat(X, 3, axis=0)), n_jobs=1)
    near = module.count_clusters(Views(np.vstack([X, X + 0.02 * noise, X - 0.02 * noise])), n_jobs=1)
    assert alone.n_clusters == exact.n_clusters == near.n_clusters == 5
    assert alone.n_items == exact.n_items == 400 and near.n_items <= 420


def test_a_tight_group_of_more_than_ten_is_no_copy():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(100, 20)) * 3, 9 + 0.01 * rng.normal(size=(15, 20))])
    with workers(1) as threads:
        kept = without_copies(weighed(Views(X)), 0, threads)
    assert kept.rows.shape[0] == 115


def test_large_collections_are_represented_by_a_sample(monkeypatch):
    monkeypatch.setattr(module, "_MOST_ITEMS", 100)
    assert module.count_clusters(Views(blobs(300, 4)), n_jobs=1).n_items == 100
    assert suggest_n_clusters(blobs(300, 4), max_items=80, random_state=0).n_items == 80


def test_too_few_items_are_one_cluster():
    for rows, words in ((1, "one different item is"), (5, "5 different items are")):
        found = suggest_n_clusters(np.arange(2.0 * rows).reshape(rows, 2), random_state=0)
        assert found.n_clusters == 1 and words in found.reason
    assert suggest_n_clusters(np.ones((50, 3)), random_state=0).n_clusters == 1
    for rows in (6, 8):
        found = suggest_n_clusters(np.random.default_rng(0).normal(size=(rows, 3)), random_state=0)
        assert 2 <= found.n_clusters <= rows // 2


def test_sentences():
    numbers, values = np.arange(3, 40), np.linspace(1, 0, 50)

    def told(scores, modularity=0.6):
        score = np.array([scores.get(int(n), 0.01) for n in numbers])
        return module._decide(numbers, score, values, 8.0, modularity, 500)

    clear = told({20: 1.0, 12: 0.3, 38: 0.4})
    assert clear.reason == (
        "20 clusters: the neighbours of the items fall apart most clearly there. Coarser: 12, finer: 38."
    )
    close = told({16: 1.0, 22: 0.8, 9: 0.4})
    assert close.reason == "16 clusters; 22 would do almost as well. Coarser: 9, finer: 22."
    assert (close.runner_up, close.rival) == (22, pytest.approx(0.8))
    assert told({12: 1.0, 16: 0.99}).n_clusters == 12 and told({12: 1.0, 16: 1.0}).n_clusters == 12
    guess = told({15: 1.0}, modularity=0.3)
    assert guess.reason.startswith("These items hardly form groups; 15 is a guess.")
    alike = module._decide(numbers, np.where(numbers == 9, 1.0, 0.01), values, 8.0, 0.6, 500, values)
    assert alike.reason.startswith("Items without groups would fall apart as clearly; 9 is a guess.")
    assert told({3: 1.0}).coarser is None


def test_the_picture_shows_the_score(tmp_path):
    found = suggest_n_clusters(blobs(), random_state=0)
    root = ElementTree.fromstring(found.plot(tmp_path / "score.svg").read_text())  # noqa: S314  our own file
    texts = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert "how clearly the neighbours fall apart: 6 clusters" in texts
    marks = [one for one in root.iter() if one.tag.endswith("circle")]
    assert len(marks) == 1 + (found.coarser is not None) + (found.finer is not None)
