"""AssociationNetwork: the network of tags, and rows smoothed over it."""

import numpy as np
import pytest
from scipy import sparse

import manyview
from manyview import AssociationNetwork
from manyview.data.tags import TagTable, are_words
from manyview.errors import ParameterError, ViewError
from manyview.methods.canonical import association_network
from manyview.methods.canonical.association_network import jaccard, smoother


def random_tags(seed, n_items=60, n_tags=12):
    rng = np.random.default_rng(seed)
    topic = rng.integers(3, size=n_items)
    chance = np.where(np.arange(n_tags) % 3 == topic[:, None], 0.4, 0.05)
    return (rng.random((n_items, n_tags)) < chance).astype(float)


def laplacian(weights):
    weights = weights.toarray()
    return np.diag(weights.sum(axis=1)) - weights


def test_jaccard_by_hand():
    network = AssociationNetwork().fit([["a", "b"], ["a"], ["b", "c"]])
    assert network.tag_names_ == ["a", "b", "c"]
    np.testing.assert_allclose(network.weights_.toarray(), [[0, 1 / 3, 0], [1 / 3, 0, 1 / 2], [0, 1 / 2, 0]])
    assert network.neighbors("b") == [("c", 0.5), ("a", pytest.approx(1 / 3))]
    assert network.neighbors("B", n=1) == [("c", 0.5)]  # spelled otherwise
    assert network.edges() == [("b", "c", 0.5), ("a", "b", pytest.approx(1 / 3))]
    assert network.document_frequency_.tolist() == [2, 2, 1]
    # a link must be above the threshold, not at it
    assert AssociationNetwork(0.5).fit([["a", "b"], ["a"], ["b", "c"]]).weights_.nnz == 0


def test_tf_idf_by_hand():
    # N = 4, df_a = 2, df_b = 1, and two tags that are on neither
    tags = [["a", "b"], ["a"], ["c"], ["c", "d"]]
    rows = AssociationNetwork(smoothing=0, norm=None).fit(tags).transform(tags).toarray()
    np.testing.assert_allclose(rows[0, :2], [0.25, 0.5])
    np.testing.assert_allclose(rows[1], [0.5, 0, 0, 0])


def test_smoothing_by_hand():
    weights = sparse.csr_matrix([[0, 0.5], [0.5, 0]])
    np.testing.assert_allclose([1, 0] @ smoother(weights, 2.0), [2 / 3, 1 / 3])
    np.testing.assert_allclose([1, 0] @ smoother(weights, 1.0), [0.75, 0.25])


def test_smoother_is_symmetric_positive_and_keeps_mass(seed):
    weights = jaccard(sparse.csr_matrix(random_tags(seed)), 0.02, None)
    found = smoother(weights, 2.0)
    np.testing.assert_allclose(found, found.T, atol=1e-14)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert found.min() >= 0
    np.testing.assert_allclose(found @ (np.eye(12) + 2 * laplacian(weights)), np.eye(12), atol=1e-12)


def test_rows_minimise_the_objective(seed):
    """(7) with each pair counted twice, by gradient and by comparison; the fixed point is the same."""
    tags = random_tags(seed)
    network = AssociationNetwork(0.02, norm=None).fit(tags)
    Q = AssociationNetwork(0.02, smoothing=0, norm=None).fit(tags).transform(tags).toarray()
    C, W = network.transform(tags).toarray(), network.weights_.toarray()

    def objective(rows):
        return ((rows - Q) ** 2).sum() + sum(
            W[i, k] * ((rows[:, i] - rows[:, k]) ** 2).sum() for i in range(12) for k in range(12)
        )

    exact = Q @ np.linalg.inv(np.eye(12) + 2 * laplacian(network.weights_))
    assert np.abs(C - exact).max() < 1e-4  # what is dropped
    rng = np.random.default_rng(seed)
    for _ in range(20):
        assert objective(exact) < objective(exact + rng.normal(size=C.shape) * 1e-3)
    fixed = Q.copy()
    for _ in range(2000):
        fixed = (Q + 2 * fixed @ W) / (1 + 2 * W.sum(axis=1))
    np.testing.assert_allclose(fixed, exact, atol=1e-10)
    assert exact.min() >= 0 and exact.max() <= 1


def test_large_vocabularies_are_smoothed_sparsely(seed, monkeypatch):
    tags = sparse.csr_matrix(random_tags(seed, 200, 40))
    exact = AssociationNetwork(0.02, norm=None).fit(tags)
    monkeypatch.setattr(association_network, "_DENSE_UP_TO", 10)
    series = AssociationNetwork(0.02, norm=None).fit(tags)
    assert sparse.issparse(series.smoother_) and isinstance(exact.smoother_, np.ndarray)
    assert np.abs(series.smoother_.toarray() - exact.smoother_).max() < 1e-5
    assert np.abs((series.transform(tags) - exact.transform(tags)).toarray()).max() <= 1.1e-4


def test_strongest_links_only(seed):
    tags = sparse.csr_matrix(random_tags(seed))
    full, few = jaccard(tags, 0.0, None).toarray(), jaccard(tags, 0.0, 2).toarray()
    np.testing.assert_array_equal(few, few.T)
    expected = np.zeros_like(full)
    for i, row in enumerate(full):
        best = np.argsort(-row, kind="stable")[:2]
        expected[i, best] = row[best]
    np.testing.assert_array_equal(few, np.maximum(expected, expected.T))


def test_tags_in_every_form_give_the_same(seed):
    matrix = random_tags(seed)
    names = [f"tag{i}" for i in range(12)]
    lists = [[names[i] for i in np.flatnonzero(row)] for row in matrix]
    first = AssociationNetwork(min_df=2).fit(matrix)
    rows = first.transform(matrix).toarray()
    np.testing.assert_allclose(np.linalg.norm(rows[rows.any(axis=1)], axis=1), 1.0)
    assert not rows[matrix.sum(axis=1) == 0].any()
    for form in (sparse.csr_matrix(matrix), sparse.csr_array(matrix), TagTable.from_lists(lists, names=names)):
        np.testing.assert_array_equal(AssociationNetwork(min_df=2).fit_transform(form).toarray(), rows)
    named = AssociationNetwork(min_df=2).fit(lists)
    order = [named.tag_names_.index(name) for name in first.tag_names_]
    np.testing.assert_allclose(named.transform(lists).toarray()[:, order], rows)
    assert are_words(lists) and are_words([[], []]) and not are_words(matrix) and not are_words([[1, 0], [0, 1]])


def test_new_items_use_what_was_learned():
    network = AssociationNetwork(norm=None).fit([["a", "b"], ["a"], ["b", "c"], ["d"]])
    assert network.get_feature_names_out().tolist() == ["a", "b", "c", "d"]
    rows = network.transform([["d"], ["A", "unheard"], []]).toarray()
    alone = network.transform([["a"]]).toarray()
    np.testing.assert_array_equal(rows[1], alone[0])  # words nobody knows are left out
    assert rows[0, 3] == 1.0 and not rows[2].any()
    assert alone[0, 1] > 0  # "a" speaks for "b"
    rare = AssociationNetwork(min_df=2).fit([["a", "b"], ["a"], ["b", "c"], ["d"]])
    assert rare.tag_names_ == ["a", "b"] and rare.transform([["c"]]).nnz == 0
    assert network.transform([]).shape == (0, 4)


def test_edge_cases(tmp_path):
    alone = AssociationNetwork().fit([["a"]])
    assert not alone.transform([["a"]]).toarray().any()  # a tag on every item tells nothing
    assert alone.edges() == []
    empty_column = AssociationNetwork(min_df=1).fit(sparse.csr_matrix([[1.0, 0.0], [0.0, 0.0]]))
    assert empty_column.tag_names_ == ["tag0"]
    network = AssociationNetwork().fit([["=1+1", "b"], ["=1+1", "b"], ["c"]])
    lines = network.write_edges(tmp_path / "edges.csv").read_text(encoding="utf-8").splitlines()
    assert lines == ["source,target,weight", "'=1+1,b,1.0"]
    back = manyview.load(manyview.save(network, tmp_path / "network"))
    np.testing.assert_array_equal(back.transform([["b"]]).toarray(), network.transform([["b"]]).toarray())
    assert back.edges() == network.edges()


def test_errors_say_what_to_do():
    with pytest.raises(ViewError, match="no tag is on 5 item"):
        AssociationNetwork(min_df=5).fit([["a"], ["b"]])
    with pytest.raises(ViewError, match="at least one item"):
        AssociationNetwork().fit([])
    with pytest.raises(ParameterError, match="threshold must be a number at least 0 and at most 1"):
        AssociationNetwork(1.5).fit([["a"]])
    with pytest.raises(ParameterError, match="norm must be one of"):
        AssociationNetwork(norm="l1").fit([["a"]])
    network = AssociationNetwork().fit(np.eye(3))
    with pytest.raises(ViewError, match="2 columns, but there were 3 tags in fit"):
        network.transform(np.eye(2))
    with pytest.raises(ViewError, match="no tag 'zebra'"):
        network.neighbors("zebra")
    with pytest.raises(ViewError, match="must be 0 or 1"):
        AssociationNetwork().fit(np.array([[2.0]]))


def test_a_matrix_of_as_many_columns_is_taken_for_the_tags_of_the_fit():
    network = AssociationNetwork().fit([["a", "b"], ["b"], ["a", "b"], ["a"]])
    by_place, by_word = (network.transform(tags)[:] for tags in (np.array([[1, 0], [0, 1]]), [["a"], ["b"]]))
    assert np.array_equal(by_place.toarray(), by_word.toarray())
