"""CrossModalClustering: looks and tags through the whole system, words and pictures included."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import manyview
from manyview import AssociationNetwork, CanonicalFusion, CrossModalClustering, HierarchicalKMeans, Views
from manyview.data.tags import TagTable
from manyview.errors import ParameterError, ViewError, ViewWarning
from manyview.metrics import adjusted_rand_index, normalized_mutual_info

from ...features.test_coding import stripes

WORDS = [["sea", "beach", "sand"], ["snow", "ski", "slope"], ["street", "car", "night"]]


def tagged(seed, n_items=90, noise=1.0):
    rng = np.random.default_rng(seed)
    topic = np.arange(n_items) % 3
    looks = rng.normal(size=(3, 12))[topic] * 2 + rng.normal(size=(n_items, 12)) * noise
    tags = [[word for word in WORDS[t] if rng.random() < 0.7] or [WORDS[t][0]] for t in topic]
    return looks, tags, topic


def test_it_is_the_parts_put_together(seed):
    looks, tags, _ = tagged(seed)
    table = TagTable.from_lists(tags)
    model = CrossModalClustering(3, n_components=4, min_df=2, random_state=seed).fit({"looks": looks, "tags": table})
    semantic = AssociationNetwork(max_neighbors=20, min_df=2).fit_transform(table)
    ridge = model.fusion_.regularization_
    fused = CanonicalFusion(4, regularization=ridge, weights=[0.3, 0.7]).fit_transform([looks, semantic])
    np.testing.assert_allclose(model.transform({"looks": looks, "tags": table}), fused, atol=1e-10)
    assert model.view_weights_ == pytest.approx([0.3, 0.7])
    assert isinstance(model.kmeans_, HierarchicalKMeans)
    np.testing.assert_array_equal(model.predict({"looks": looks, "tags": table}), model.labels_)
    assert model.networks_["tags"].neighbors("sea")


def test_finds_what_neither_view_shows_alone(seed):
    """Four groups: looks tell two of them apart, tags the other two."""
    rng = np.random.default_rng(seed)
    truth = np.arange(200) % 4
    looks = np.eye(2, 6)[truth % 2] * 4 + np.eye(2, 6, 2)[truth // 2] * 1.5 + rng.normal(size=(200, 6)) * 0.7
    chance = np.where(np.arange(8) % 2 == (truth // 2)[:, None], 0.6, 0.05)
    chance = np.where((np.arange(8) // 2 % 2 == (truth % 2)[:, None]), chance, chance * 0.4)
    tags = sparse.csr_matrix((rng.random((200, 8)) < chance).astype(float))
    model = CrossModalClustering(4, looks_share=0.5, random_state=seed).fit({"looks": looks, "tags": tags})
    assert normalized_mutual_info(truth, model.labels_) > 0.5


def test_words_matrices_and_tables_give_the_same(seed):
    looks, tags, topic = tagged(seed)
    table = TagTable.from_lists(tags)
    words = CrossModalClustering(3, random_state=0).fit({"looks": looks, "tags": tags})
    assert adjusted_rand_index(topic, words.labels_) == 1.0
    for form in (table, table.yes):
        other = CrossModalClustering(3, random_state=0).fit({"looks": looks, "tags": form})
        np.testing.assert_array_equal(other.labels_, words.labels_)
    assert words.tag_names_["tags"] == list(table.names)
    np.testing.assert_allclose(
        words.cluster_centers_["tags"][words.labels_[0]],
        table.yes[np.flatnonzero(words.labels_ == words.labels_[0])].toarray().mean(axis=0),
        rtol=1e-6,
    )
    dense = CrossModalClustering(3, tags="tags", random_state=0).fit({"looks": looks, "tags": table.yes.toarray()})
    np.testing.assert_array_equal(dense.labels_, words.labels_)


def test_new_items_with_words_only_looks_only_and_strange_words(seed):
    looks, tags, topic = tagged(seed)
    model = CrossModalClustering(3, random_state=0).fit({"looks": looks, "tags": tags})
    of_topic = [int(model.labels_[topic == t][0]) for t in range(3)]
    asked = [["Beach", "unheard"], ["ski"], ["car", "night"]]
    assert model.predict({"tags": asked}).tolist() == of_topic
    assert (model.predict({"looks": looks}) == model.labels_).mean() > 0.9
    # words that nobody knows leave the looks to decide
    strange = model.predict({"looks": looks[:6], "tags": [["unheard"]] * 6})
    np.testing.assert_array_equal(strange, model.predict({"looks": looks[:6]}))


def test_untagged_items_are_placed_by_their_looks(seed):
    """They would otherwise sit at one point, and form a cluster of their own."""
    looks, tags, topic = tagged(seed, 120, noise=0.5)
    for item in range(0, 120, 2):
        tags[item] = []
    model = CrossModalClustering(3, random_state=0).fit({"looks": looks, "tags": tags})
    assert adjusted_rand_index(topic, model.labels_) > 0.95
    only_tags = CrossModalClustering(3, random_state=0).fit({"tags": tags})
    assert only_tags.labels_.min() >= 0  # with nothing else to go by they stay together
    assert np.unique(only_tags.labels_[::2]).size == 1


def test_pictures_as_they_are(seed, tmp_path):
    pictures, kinds = stripes(seed)
    words = [["lying"] if kind else ["standing"] for kind in kinds]
    entries = {"photos": [*pictures[:11], None], "tags": words}
    model = CrossModalClustering(2, pictures="photos", n_words=12, random_state=0).fit(entries)
    assert adjusted_rand_index(kinds, model.labels_) == 1.0
    assert model.cluster_centers_["photos"].shape == (2, 21 * 12)
    back = manyview.load(manyview.save(model, tmp_path / "model"))
    np.testing.assert_array_equal(back.predict({"photos": pictures}), model.predict({"photos": pictures}))
    assert back.cluster_tree_ is not None
    with pytest.raises(ViewError, match="there is no entry 'photos'"):
        CrossModalClustering(2, pictures="photos").fit({"tags": words})
    with pytest.raises(ViewError, match="names an entry of a dict"):
        CrossModalClustering(2, pictures="photos").fit(np.eye(4))


def test_several_looks_and_several_tags(seed):
    looks, tags, topic = tagged(seed)
    table = TagTable.from_lists(tags).yes
    views = Views({"a": looks[:, :6], "b": looks[:, 6:], "tags": table, "more": table[:, ::-1].tocsr()})
    model = CrossModalClustering(3, random_state=0).fit(views)
    assert model.view_weights_ == pytest.approx([0.15, 0.15, 0.35, 0.35])
    assert adjusted_rand_index(topic, model.labels_) == 1.0
    assert set(model.networks_) == {"tags", "more"}
    named = CrossModalClustering(3, tags=["tags"], random_state=0).fit(views)
    assert set(named.networks_) == {"tags"} and named.view_weights_ == pytest.approx([0.1, 0.1, 0.7, 0.1])


def test_a_tag_view_without_any_tag(seed):
    looks, _, topic = tagged(seed, noise=0.3)
    with pytest.warns(ViewWarning, match="'tags' is the same for every item"):
        model = CrossModalClustering(3, random_state=0).fit({"looks": looks, "tags": sparse.csr_matrix((90, 4))})
    assert adjusted_rand_index(topic, model.labels_) == 1.0 and model.view_weights_.tolist() == [1.0, 0.0]


def test_errors_say_what_to_do(seed):
    looks, tags, _ = tagged(seed)
    with pytest.raises(ParameterError, match="tags names view 'words'"):
        CrossModalClustering(3, tags="words").fit({"looks": looks, "tags": tags})
    with pytest.raises(ParameterError, match="looks_share must be a number at least 0 and at most 1"):
        CrossModalClustering(3, looks_share=2).fit({"looks": looks, "tags": tags})
    with pytest.raises(ViewError, match="is a tag channel"):
        CrossModalClustering(3, tags="looks").fit({"looks": looks, "tags": tags})
    with pytest.raises(ParameterError, match="tags must be 'auto', the name"):
        CrossModalClustering(3, tags=7).fit({"looks": looks, "tags": tags})


def test_smoothed_tags_made_in_blocks_equal_all_of_them_at_once(monkeypatch, seed):
    from manyview.methods.canonical import association_network

    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(4), 60)
    looks = 3.0 * rng.normal(size=(4, 6))[truth] + rng.normal(size=(240, 6))
    tags = sparse.csr_matrix((rng.random((240, 40)) < 0.03 + 0.3 * (np.arange(40) % 4 == truth[:, None])).astype(float))
    monkeypatch.setattr(association_network, "_BLOCK_BYTES", 16.0 * 40 * 50)  # 50 rows
    X = {"looks": looks, "tags": tags}
    lazy = CrossModalClustering(4, random_state=0).fit(X)
    network = lazy.networks_["tags"]
    rows = network.rows_of(tags)
    whole = network.transform(tags)
    assert rows.nnz == whole.nnz > 5 * tags.nnz and rows.shape == whole.shape
    for some in (slice(3, 90), np.array([5, 200, 7])):
        np.testing.assert_array_equal(rows[some].toarray(), whole[some].toarray())

    class Whole(type(whole)):
        makes_csr = True
        n_filled = property(lambda self: np.diff(self.indptr))

    monkeypatch.setattr(association_network.AssociationNetwork, "rows_of", lambda self, X: Whole(whole))
    dense = CrossModalClustering(4, random_state=0).fit(X)
    np.testing.assert_array_equal(lazy.correlations_, dense.correlations_)
    np.testing.assert_array_equal(lazy.fusion_.projections_["tags"], dense.fusion_.projections_["tags"])
    np.testing.assert_array_equal(lazy.labels_, dense.labels_)


@pytest.mark.parametrize("model", [CanonicalFusion(2), CrossModalClustering(2, n_components=2, random_state=0)])
def test_frames_are_indexed_by_the_items_that_came(model):
    pandas = pytest.importorskip("pandas")
    X = np.random.default_rng(0).normal(size=(12, 3))
    names = [f"item {n}" for n in range(12)]
    frame = pandas.DataFrame(X, index=names, columns=list("abc"))
    other = pandas.DataFrame(X[:, :2], index=names[::-1][:6] + list("uvwxyz"), columns=list("de"))
    made = clone(model).set_output(transform="pandas")
    for given in (
        Views({"a": X, "b": X[:, :2]}, ids=names),
        {"a": frame, "b": frame[["a", "b"]]},
        [frame, frame[["b", "c"]]],
        {"a": X, "b": frame},
        frame,
    ):
        assert made.fit_transform(given).index.tolist() == names
        assert made.transform(given).index.tolist() == names
    for given in ({"a": X, "b": X}, X, {"a": frame, "b": other}):
        assert made.fit_transform(given).index.tolist() == list(range(12))
    assert isinstance(clone(model).fit(frame).transform(frame), np.ndarray)


def test_words_that_are_counted_are_told_of():
    """Raw counts of words are compared as they are; as tags rare ones count more."""
    rng = np.random.default_rng(0)
    counts = sparse.csr_matrix(rng.poisson(0.3, size=(60, 40)).astype(float))
    views = {"looks": rng.normal(size=(60, 5)), "words": counts}
    with pytest.warns(ViewWarning, match=r"view 'words' is sparse but.*pass words > 0.*tags=\[\] says"):
        CrossModalClustering(3, n_starts=2, random_state=0).fit(views)
    assert CrossModalClustering(3, tags=[], n_starts=2, random_state=0).fit(views).tag_views_ == []
    with pytest.raises(ViewError, match="words > 0 where any count is a yes., or leave it out of tags"):
        CrossModalClustering(3, tags="words").fit(views)
