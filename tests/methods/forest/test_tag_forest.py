"""TagForest as a person uses it, and the hazards its paper does not speak of."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse import random as random_sparse
from sklearn.exceptions import ConvergenceWarning

from manyview import TagForest, TagHierarchy, TagTable, Views, load, metrics, save
from manyview.blocks import workers
from manyview.errors import ParameterError, ViewError, ViewWarning
from manyview.methods.forest import _kernels as forest_kernels
from manyview.methods.forest._leaf_kernels import piece_of_leaf
from manyview.methods.forest._leaf_size import find_leaf_size
from manyview.methods.forest._trees import Mates


def tagged(n=90, seed=0, keep=0.6, d=12):
    """Three kinds that looks tell weakly and tags well: an abstract tag each, and specific ones."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 3
    looks = rng.normal(size=(n, d)).astype(np.float32)
    looks[:, :3] += 2.5 * np.eye(3)[truth]
    specific = [["dog", "cat", "cow"], ["oak", "fern", "moss"], ["car", "bus", "tram"]]
    words = []
    for kind in truth:
        chance = rng.random(4)
        row = [["animal", "plant", "vehicle"][kind]] if chance[0] < keep else []
        words.append(row + [w for w, c in zip(specific[kind], chance[1:], strict=True) if c < 0.5])
    return looks, words, truth


@pytest.fixture(scope="module")
def forest():
    looks, words, truth = tagged()
    return TagForest(3, n_estimators=60, random_state=0).fit(looks, words), looks, words, truth


def test_clusters_of_tagged_items(forest):
    model, looks, _, truth = forest
    assert metrics.normalized_mutual_info(truth, model.labels_) > 0.85
    assert model.labels_.shape == (90,) and model.n_clusters_ == 3 and model.eigenvalues_[0] == pytest.approx(1)
    assert (model.predict(looks) == model.labels_).mean() > 0.9
    more, _, kinds = tagged(60, seed=5)
    named = np.array([np.bincount(truth[model.labels_ == k]).argmax() for k in range(3)])
    assert (named[model.predict(more)] == kinds).mean() > 0.75
    assert model.neighbors_.getnnz(axis=1).max() <= 20 and model.neighbors_.diagonal().sum() == 0


def test_two_separable_clusters_with_disjoint_tags():
    rng = np.random.default_rng(0)
    looks = rng.normal(size=(60, 4)) + 9 * (np.arange(60) < 30)[:, None]
    words = [["a", "b"] if i < 30 else ["c"] for i in range(60)]
    found = TagForest(2, n_estimators=20, random_state=0).fit(looks, words).labels_
    assert metrics.normalized_mutual_info(np.arange(60) < 30, found) == 1


def test_the_size_of_leaves_that_finds_hidden_tags_best():
    table = TagTable.from_lists([[f"w{i % 10}"] for i in range(200)])
    truth, asked = table.yes.toarray(), []

    def scores(size, left):
        asked.append((size, left.yes.nnz))
        return truth if size in (10, 20) else 1 - truth  # what two sizes find equally well, the others put last

    found, recall = find_leaf_size(scores, table, 0)
    assert found == 10 and asked == [(size, 160) for size in (3, 5, 10, 20)]  # a fifth of 200 is hidden
    assert recall == {3: 0, 5: 0, 10: 1, 20: 1}
    seldom = TagTable.from_lists([["w"]] * 95 + [[f"once {i}"] for i in range(50)])
    assert find_leaf_size(scores, seldom, 0) == (3, {})  # 19 of the 95 could be hidden; of the 50, none


def test_leaves_of_a_found_size(forest):
    _, looks, words, _ = forest
    auto = TagForest(3, n_estimators=20, min_samples_leaf="auto", random_state=0).fit(looks, words)
    assert auto.min_samples_leaf_ in (3, 5, 10, 20)
    same = TagForest(3, n_estimators=20, min_samples_leaf=auto.min_samples_leaf_, random_state=0).fit(looks, words)
    np.testing.assert_array_equal(auto.leaves_, same.leaves_)
    np.testing.assert_array_equal(auto.labels_, same.labels_)
    alone = TagForest(3, n_estimators=5, min_samples_leaf="auto", random_state=0).fit(looks)
    assert alone.min_samples_leaf_ == 3  # no tags to hide


def test_any_number_of_threads_gives_the_same_forest(forest):
    model, looks, words, _ = forest
    for jobs in (1, 2, 3):
        again = TagForest(3, n_estimators=60, random_state=0, n_jobs=jobs).fit(looks, words)
        assert np.array_equal(again.leaves_, model.leaves_) and np.array_equal(again.labels_, model.labels_)
        assert np.array_equal(again.tag_scores(method="neighbourhood"), model.tag_scores(method="neighbourhood"))
    other = TagForest(3, n_estimators=60, random_state=1).fit(looks, words)
    assert not np.array_equal(other.leaves_, model.leaves_)
    shorter = TagForest(3, n_estimators=20, random_state=0).fit(looks, words)
    assert np.array_equal(shorter.leaves_, model.leaves_[:, :20])  # a tree's seed is its own


def test_the_papers_variants():
    looks, words, _ = tagged()
    full = TagForest(3, n_estimators=5, random_state=0).fit(looks, words)
    flat = TagForest(3, n_estimators=5, random_state=0, use_hierarchy=False).fit(looks, words)
    plain = TagForest(3, n_estimators=5, random_state=0, use_correlations=False).fit(looks, words)
    assert [len(m.layers_) for m in (full, flat, plain)] == [2, 1, 2]
    assert sorted(np.concatenate(full.layers_)) == list(range(12)) == flat.layers_[0].tolist()
    assert not np.array_equal(full.leaves_, plain.leaves_)
    deep = TagForest(3, n_estimators=5, n_layers=3, random_state=0).fit(looks, words)
    assert len(deep.layers_) >= 2


def test_a_hierarchy_in_every_form():
    looks, words, _ = tagged()
    layers = [["animal", "plant", "vehicle"], ["dog", "cat", "cow", "oak", "fern", "moss", "car", "bus"]]
    names = TagTable.from_lists(words).names
    columns = [[names.index(word) for word in layer] for layer in layers]
    paths = [
        "animal|dog",
        "animal|cat",
        "animal|cow",
        "plant|oak",
        "plant|fern",
        "plant|moss",
        "vehicle|car",
        "vehicle|bus",
    ]
    found = [
        TagForest(3, n_estimators=4, hierarchy=given, random_state=0).fit(looks, words)
        for given in (layers, columns, TagHierarchy.from_layers(layers), TagHierarchy.from_paths(paths))
    ]
    for model in found:
        assert [{names[i] for i in layer} for layer in model.layers_] == [set(layers[0]), {*layers[1], "tram"}]
        assert np.array_equal(model.leaves_, found[0].leaves_)


def test_tags_in_every_form_are_the_same():
    looks, words, _ = tagged()
    table = TagTable.from_lists(words)
    found = [
        TagForest(3, n_estimators=4, random_state=0).fit(looks, tags)
        for tags in (words, table, table.yes, table.yes.toarray(), table.yes.toarray().astype(bool))
    ]
    assert all(np.array_equal(model.leaves_, found[0].leaves_) for model in found)
    assert found[0].tag_names_ == list(table.names)
    labels = TagForest(3, n_estimators=4, random_state=0).fit(looks, np.array(["a", "b", "c"] * 30))
    assert labels.tag_names_ == ["a", "b", "c"] and labels.tags_.sum() == 90


def test_several_views_with_gaps_and_sparse_ones():
    looks, words, truth = tagged(d=6)
    noise = np.random.default_rng(1).normal(size=(90, 300))
    shape = looks[:, :2].astype(np.float64)
    shape[::4] = np.nan
    views = Views({"wide": noise, "looks": looks, "shape": shape})
    model = TagForest(3, n_estimators=60, random_state=0).fit(views, words)
    assert metrics.normalized_mutual_info(truth, model.labels_) > 0.5
    joined = TagForest(3, n_estimators=60, random_state=0).fit(np.hstack([noise, looks]), words)
    # The wide view does not drown the others: they are used as often as they are worth, not as they are wide.
    used, drowned = (np.mean(m.forest_["feature"][m.forest_["feature"] >= 0] >= 300) for m in (model, joined))
    assert used > 0.3 > 0.1 > drowned
    assert np.array_equal(model.apply(views), model.leaves_)
    sparse = TagForest(3, n_estimators=60, random_state=0).fit(
        {"wide": csr_matrix(noise), "looks": csr_matrix(looks), "shape": shape}, words
    )
    assert np.array_equal(sparse.leaves_, model.leaves_)
    without = model.predict({"looks": looks})  # two views absent for everybody
    assert (without == model.labels_).mean() > 0.8
    scores = model.tag_scores({"looks": looks}, method="leaf_frequency")
    assert np.isfinite(scores).all() and scores.max() <= 1 + 1e-6


def test_shares_of_an_item_that_lacks_views_sum_to_one():
    looks, words, _ = tagged()
    model = TagForest(3, n_estimators=10, random_state=0).fit({"a": looks[:, :6], "b": looks[:, 6:]}, words)
    views = model._new_views({"a": looks[:5, :6]})
    (_, _, shares, nearest), *_ = model._new_blocks(views)
    sums = np.add.reduceat(shares.share, shares.ptr[:-1])
    assert sums == pytest.approx(np.full(5, 10.0)) and np.diff(shares.ptr).min() > 10
    assert nearest.max() <= 1 + 1e-6


def test_sparse_features_with_many_columns():
    X = random_sparse(60, 4_000, density=0.01, format="csr", random_state=0)
    words = [["a"] if i % 2 else ["b"] for i in range(60)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ViewWarning)
        model = TagForest(2, n_estimators=3, random_state=0).fit(X, words)
    assert model.labels_.min() >= 0 and np.array_equal(model.apply(X), model.leaves_)


def test_without_tags_it_is_a_clustering_forest():
    rng = np.random.default_rng(0)
    truth = np.arange(120) % 3
    looks = rng.normal(size=(120, 4)) + 8 * np.eye(3, 4)[truth]
    model = TagForest(3, n_estimators=100, random_state=0).fit(looks)
    assert metrics.normalized_mutual_info(truth, model.labels_) > 0.9
    assert model.layers_ == [] and model.tag_names_ == []
    with pytest.raises(ParameterError, match="fitted with tags"):
        model.tag_scores(method="affinity")
    with pytest.warns(ViewWarning, match="no item carries any tag"):
        silent = TagForest(3, n_estimators=100, random_state=0).fit(looks, [[] for _ in range(120)])
    assert np.array_equal(silent.labels_, model.labels_)
    far = model.predict(np.array([[50.0, -40, -40, 9]]))  # perhaps no leaf has anybody: nearest centre then
    assert far[0] in (0, 1, 2)


def test_the_number_of_clusters_is_found_where_none_is_given():
    rng = np.random.default_rng(0)
    truth = np.arange(120) % 4
    looks = rng.normal(size=(120, 6)) + 9 * np.eye(4, 6)[truth]
    model = TagForest(n_estimators=50, random_state=0).fit(looks, [[f"t{k}", f"u{k}"] for k in truth])
    assert model.n_clusters_ == 4 and metrics.normalized_mutual_info(truth, model.labels_) == 1


def test_large_pure_nodes_are_halved_and_equal_items_cut_into_pieces(monkeypatch):
    import manyview.methods.forest._trees as trees

    monkeypatch.setattr(trees, "MAX_LEAF", 20)
    rng = np.random.default_rng(0)
    looks = rng.normal(size=(200, 3))
    words = [["a"] if i < 10 else [] for i in range(200)]
    model = TagForest(2, n_estimators=8, random_state=0).fit(looks, words)
    sizes = np.concatenate([np.bincount(model.leaves_[:, t]) for t in range(8)])
    assert sizes.max() <= 20 and sizes.min() >= 3
    with pytest.warns(ViewWarning, match="'view0' is the same for every item"):
        same = TagForest(1, n_estimators=2, random_state=0).fit(np.ones((50, 2)), [["a"]] * 50)
    assert (same.leaves_ == 0).all()  # nothing tells them apart
    A = same.affinity()
    assert A.getnnz(axis=1).max() <= 20 and (A.diagonal() == 1).all() and abs(A - A.T).max() == 0


def test_leaf_mates_by_hand():
    leaves = np.array([[1], [0], [1], [-1], [1]], dtype=np.int32)
    with workers(1) as threads:
        mates = Mates(leaves, np.array([0, 3]), threads)
    assert mates.mates.tolist() == [1, 0, 2, 4] and mates.first.tolist() == [0, 1, 4, 4]  # the last leaf is empty


def test_large_leaves_are_cut_into_pieces_by_hand():
    first, mates = np.array([0, 2, 9]), np.array([3, 8, 0, 1, 2, 4, 5, 6, 7], dtype=np.int32)
    assert piece_of_leaf(0, 8, first, mates, 3) == (0, 2)
    pieces = [piece_of_leaf(1, item, first, mates, 3) for item in (0, 1, 2, 4, 5, 6, 7)]
    assert pieces == [(2, 4)] * 2 + [(4, 6)] * 2 + [(6, 9)] * 3  # seven in three pieces
    assert piece_of_leaf(1, -1, first, mates, 3) == (2, 4)  # a new item


def test_items_without_tags_or_views():
    looks, words, truth = tagged()
    looks = looks.astype(np.float64)
    looks[4] = np.nan
    words[7] = []
    with pytest.warns(ViewWarning, match="lack every view"):
        model = TagForest(3, n_estimators=40, random_state=0).fit(looks, words)
    assert model.labels_[4] == -1 and (np.delete(model.labels_, 4) >= 0).all() and (model.leaves_[4] == -1).all()
    rest = np.arange(90) != 4
    assert metrics.normalized_mutual_info(truth[rest], model.labels_[rest]) > 0.8
    prior = (model.tags_.sum(axis=0) - model.tags_[4].toarray()) / 89
    for method in ("neighbourhood", "cluster", "affinity", "leaf_frequency"):
        scores = model.tag_scores(method=method)
        assert scores[4] == pytest.approx(np.asarray(prior).ravel(), abs=1e-6)
        assert np.isfinite(scores).all() and scores.min() >= 0 and scores.max() <= 1 + 1e-6
    assert model.affinity()[4].nnz == 1 and model.affinity()[4, 4] == 1
    with pytest.warns(ViewWarning, match="lack every view"):
        assert model.predict(looks[3:5])[1] == -1
    assert (model.apply(looks[4:5]) == -1).all()


def test_a_known_no_scores_nothing_and_hidden_tags_score_high(forest):
    looks, words, truth = tagged(keep=0.7)
    no = [[] for _ in words]
    no[0] = ["tram"]
    model = TagForest(3, n_estimators=80, use_hierarchy=False, random_state=0).fit(
        looks, TagTable.from_lists(words, no=no)
    )
    abstract = [model.tag_names_.index(word) for word in ("animal", "plant", "vehicle")]
    for method in ("combined", "neighbourhood", "cluster", "affinity", "leaf_frequency"):
        scores = model.tag_scores(method=method)
        assert scores[0, model.tag_names_.index("tram")] == 0
        lacking = [i for i, row in enumerate(words) if not {"animal", "plant", "vehicle"} & set(row)]
        right = np.mean([scores[i, abstract].argmax() == truth[i] for i in lacking])
        assert right > 0.6, method


def test_an_items_own_tags_do_not_count_for_its_scores():
    looks, words, _ = tagged()
    for method in ("cluster", "affinity", "leaf_frequency"):
        model = TagForest(3, n_estimators=10, random_state=0).fit(looks, words)
        before = model.tag_scores(method=method)[5].copy()
        model.tags_ = TagTable(model.tag_names_, model.tags_, model.refused_).with_yes(5, list(range(12))).yes
        assert model.tag_scores(method=method)[5] == pytest.approx(before, abs=1e-6)


def test_features_that_cannot_part_the_tags_are_warned_of():
    rng = np.random.default_rng(0)
    X = (rng.random((400, 30)) < 0.01).astype(float)
    Y = rng.random((400, 8)) < 0.2
    with pytest.warns(ViewWarning, match="large leaves whose tags no feature tells apart"):
        model = TagForest(2, n_estimators=5, random_state=0).fit(X, Y)
    assert model.mixed_share_ > 0.5


def test_combined_scores_come_from_the_completer(forest):
    from manyview import TagCompleter

    _, looks, words, _ = forest
    small = TagForest(3, n_estimators=10, random_state=0).fit(looks, words)
    scores = small.tag_scores()
    assert scores.shape == (90, 12) and np.isfinite(scores).all()
    expected = TagCompleter().fit(looks, words).tag_scores()
    assert scores == pytest.approx(np.asarray(expected), abs=1e-5)
    assert small.tag_scores(looks[:3]).shape == (3, 12)


def test_a_saved_forest_scores_and_says_what_it_cannot(forest, tmp_path):
    model, looks, _, _ = forest
    back = load(save(model, tmp_path / "forest"))
    for method in ("neighbourhood", "affinity"):
        assert np.array_equal(back.tag_scores(method=method), model.tag_scores(method=method))
        assert np.array_equal(back.tag_scores(looks[:4], method=method), model.tag_scores(looks[:4], method=method))
    assert abs(back.affinity() - model.affinity()).max() == 0
    with pytest.raises(ParameterError, match="saved forest does not keep"):
        back.tag_scores()


def test_progress_is_told(capsys):
    looks, words, _ = tagged(30)
    TagForest(2, n_estimators=20, random_state=0, verbose=1).fit(looks, words)
    told = capsys.readouterr().err
    assert "tree 20 of 20" in told and "MB" in told and "nodes on average" in told


@pytest.mark.parametrize(
    ("settings", "tags", "words"),
    [
        ({"n_estimators": 0}, None, "n_estimators must be an integer at least 1"),
        ({"min_samples_leaf": 0}, None, "min_samples_leaf"),
        ({"min_samples_leaf": "small"}, None, "min_samples_leaf"),
        ({"min_samples_split": 1}, None, "min_samples_split"),
        (
            {"max_features": "log2"},
            None,
            "max_features must be an integer at least 1, .*'sqrt' or None",
        ),
        ({"max_features": 0.0}, None, "max_features"),
        ({"max_features": 0}, None, "max_features"),
        ({"max_bins": 256}, None, "max_bins"),
        ({"n_neighbors": 0}, None, "n_neighbors"),
        ({"n_layers": 0}, None, "n_layers"),
        ({"n_clusters": 31}, None, "n_clusters=31 with n_samples=30"),
        ({"hierarchy": ["a|b"]}, [["a"]] * 30, "TagHierarchy.from_paths"),
        ({"hierarchy": [["x"]]}, [["a"]] * 30, "knows none of the 1 tags"),
        ({"hierarchy": [[7]]}, [["a"]] * 30, "column 7"),
        ({}, [["a"]] * 29, "tags describe 29 items but there are 30"),
        ({}, [["a"], "b"] * 15, "item 1 has 'b'"),
    ],
)
def test_errors_say_what_to_do(settings, tags, words):
    with pytest.raises(ValueError, match=words):
        TagForest(**{"n_clusters": 2, "n_estimators": 2, **settings}).fit(np.eye(30), tags)


def test_method_and_exact_bins_are_checked(forest):
    model, *_ = forest
    with pytest.raises(ParameterError, match="method must be one of 'combined'"):
        model.tag_scores(method="best")
    with pytest.raises(ParameterError, match="up to 65535, but a feature has 70000"):
        TagForest(1, n_estimators=1, max_bins=None).fit(np.arange(70_000.0)[:, None], np.ones((70_000, 1)))
    with pytest.raises(ViewError, match="lacks every view"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ViewWarning)
            TagForest(n_estimators=1).fit(np.full((3, 2), np.nan), [["a"]] * 3)


def test_leaves_of_one_item_still_give_labels():
    rng = np.random.default_rng(0)
    looks = rng.normal(size=(12, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = TagForest(3, n_estimators=3, min_samples_leaf=1, random_state=0).fit(
            looks, [[f"t{i}"] for i in range(12)]
        )
    assert ((model.labels_ >= 0) & (model.labels_ < 3)).all()
    assert np.isfinite(model.tag_scores(method="neighbourhood")).all()


def test_ctrl_c_is_a_keyboard_interrupt(monkeypatch):
    """However deep numba has wrapped it."""

    def stopped(*given):
        try:
            try:
                raise KeyboardInterrupt
            except KeyboardInterrupt as error:
                raise SystemError("unpickle returned a result with an exception set") from error
        except SystemError as error:
            raise SystemError("grow_tree returned a result with an exception set") from error

    monkeypatch.setattr(forest_kernels, "grow_tree", stopped)
    with pytest.raises(KeyboardInterrupt):
        TagForest(2, n_estimators=2, random_state=0).fit(np.random.default_rng(0).normal(size=(30, 4)))
    monkeypatch.setattr(forest_kernels, "grow_tree", lambda *given: (_ for _ in ()).throw(SystemError("another")))
    with pytest.raises(SystemError, match="another"):
        TagForest(2, n_estimators=2, random_state=0).fit(np.random.default_rng(0).normal(size=(30, 4)))
