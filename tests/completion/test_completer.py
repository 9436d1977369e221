"""TagCompleter as people use it: proposals, probabilities, reasons, new items, decisions."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.cluster import KMeans

import manyview
from manyview import TagCompleter, Views
from manyview.completion.stacking import COLD, WARM
from manyview.data.tags import TagTable
from manyview.errors import ParameterError, ViewError, ViewWarning
from manyview.metrics import precision_at
from tests.completion.made import collection

N = 150
LOOKS, WORDS, TAGS, TOPIC = collection(N)
X = Views({"looks": LOOKS, "words": WORDS})


def hide(tags, share, seed):
    gone = np.random.default_rng(seed).random(tags.nnz) < share
    coo = tags.tocoo()
    parts = [csr_matrix((coo.data[k], (coo.row[k], coo.col[k])), shape=tags.shape) for k in (~gone, gone)]
    return parts[0], parts[1]


VISIBLE, HIDDEN = hide(TAGS, 0.4, 0)


@pytest.fixture(scope="module")
def completer():
    return TagCompleter(completeness=0.6).fit(X, VISIBLE)


def found(model, **asked):
    return precision_at(HIDDEN, model.tag_scores(**asked), 1, known=VISIBLE)


def test_the_stack_is_better_than_its_parts_and_the_baselines(completer):
    alone = {
        name: found(TagCompleter(method=name).fit(X, VISIBLE))
        for name in ("view_ridge", "neighbours", "naive_bayes", "cooccurrence", "frequency")
    }
    assert found(completer) >= max(alone.values()) - 0.01
    assert found(completer) > alone["frequency"] + 0.2


def test_weights(completer):
    assert completer.sources_ == ["joint", "view_ridge", "neighbours", "naive_bayes", "frequency", "words"]
    assert TagCompleter().fit(LOOKS, VISIBLE).sources_ == completer.sources_[:5]  # no view is sparse
    assert (completer.weights_ >= 0).all() and completer.weights_.sum(axis=1) == pytest.approx([1, 1])
    assert completer.weights_[WARM, [0, 5]].sum() >= 0.25
    assert completer.weights_[COLD, [0, 3]].tolist() == [0, 0]


def test_proposals(completer):
    proposals = completer.propose(top=3)
    scores = completer.tag_scores()
    assert len(proposals) == 3 * N
    assert not np.asarray(VISIBLE[proposals.items, proposals.columns]).any()
    assert (np.diff(proposals.items) >= 0).all()
    assert proposals.scores == pytest.approx(scores[proposals.items, proposals.columns])
    open_ = np.where(VISIBLE.toarray() > 0, -np.inf, scores)
    best = np.sort(open_, axis=1)[:, ::-1][:, :3]
    assert proposals.scores.reshape(-1, 3) == pytest.approx(best)
    one = proposals[4]
    assert (one.item, one.column, one.tag) == (1, proposals.columns[4], f"tag{proposals.columns[4]}")
    assert [p.tag for p in proposals.of(1)] == [p.tag for p in proposals[3:6]]
    assert len(completer.propose(top=100)) == N * 13 - VISIBLE.nnz


def test_proposals_above_a_probability(completer):
    proposals = completer.propose(top=3)
    line = float(np.median(proposals.probabilities))
    above = completer.propose(top=3, min_probability=line)
    kept = proposals.probabilities >= line
    assert 0 < len(above) < len(proposals) and np.array_equal(above.probabilities, proposals.probabilities[kept])
    assert [(one.item, one.tag) for one in above] == [
        (p.item, p.tag) for p, k in zip(proposals, kept, strict=True) if k
    ]
    assert len(completer.propose(3, None, None, 0.0)) == len(proposals)
    with pytest.raises(ParameterError, match="min_probability must be"):
        completer.propose(min_probability=1.5)

    least = float(np.median(proposals.scores))
    with pytest.warns(FutureWarning, match="min_score, a raw score, is called min_probability"):
        old = completer.propose(top=3, min_score=least)
    assert 0 < len(old) < len(proposals) and old.scores.min() >= least


def test_words_that_are_not_wanted_are_not_proposed(completer):
    everything = completer.propose(top=3)
    word = everything[0].tag
    fewer = completer.propose(top=3, without=[word.upper()])
    assert len(fewer) == len(everything)  # the next best takes its place
    assert word not in {one.tag for one in fewer} and word in {one.tag for one in everything}


def test_probabilities_are_what_is_found():
    looks, words, tags, _ = collection(n_items=900)
    visible, hidden = hide(tags, 0.4, 0)
    proposals = TagCompleter(completeness=0.6).fit({"looks": looks, "words": words}, visible).propose(top=5)
    right = np.asarray(hidden[proposals.items, proposals.columns]).ravel()
    told = (np.diff(visible.indptr) > 0)[proposals.items]
    for low, high in ((0.0, 0.1), (0.1, 0.3), (0.3, 1.0)):
        here = told & (proposals.probabilities >= low) & (proposals.probabilities < high)
        assert proposals.probabilities[here].mean() == pytest.approx(right[here].mean(), abs=0.06)


def test_probabilities(completer):
    proposals = completer.propose(top=5)
    assert ((proposals.probabilities >= 0) & (proposals.probabilities <= 1)).all()
    matrix = completer.tag_probabilities()
    assert matrix[proposals.items, proposals.columns] == pytest.approx(proposals.probabilities, abs=1e-6)
    scores, cold = completer.tag_scores(), np.diff(VISIBLE.indptr) == 0
    for group in (cold, ~cold):  # never falls with the score
        order = np.argsort(scores[group].ravel())
        assert (np.diff(matrix[group].ravel()[order]) >= -1e-6).all()


def test_completeness_changes_probabilities_and_no_order(completer):
    other = TagCompleter(completeness=0.9).fit(X, VISIBLE)
    assert np.array_equal(other.tag_scores(), completer.tag_scores())
    assert other.tag_probabilities().mean() < completer.tag_probabilities().mean()
    guessed = TagCompleter().fit(X, VISIBLE)
    assert guessed.completeness_source_ == "estimated" and 0.3 <= guessed.completeness_ <= 0.9
    assert completer.completeness_source_ == "given"


def test_rare_words_are_ranked_by_score_over_the_root_of_their_frequency(completer):
    model = TagCompleter(completeness=0.6, rare_words=True).fit(X, VISIBLE)
    frequency = (np.asarray(VISIBLE.sum(axis=0)).ravel() + 0.5) / (N + 1)
    assert model.tag_scores() == pytest.approx(completer.tag_scores() / np.sqrt(frequency), rel=1e-5)
    assert model.tag_probabilities() == pytest.approx(completer.tag_probabilities())
    proposals = model.propose(top=3)
    assert proposals.scores == pytest.approx(model.tag_scores()[proposals.items, proposals.columns], rel=1e-5)
    told = completer.tag_probabilities()[proposals.items, proposals.columns]
    assert proposals.probabilities == pytest.approx(told, abs=1e-6)
    usual = completer.propose(top=3)
    assert frequency[proposals.columns].mean() < frequency[usual.columns].mean()


def test_doubtful_tags_are_those_that_were_misplaced():
    looks, words, tags, topic = collection(n_items=400)
    rng = np.random.default_rng(2)
    moved = tags.tolil()
    wrong = set()
    while len(wrong) < 20:
        item, tag = int(rng.integers(400)), int(rng.integers(12))
        if tag // 3 != topic[item]:
            moved[item, tag] = 1
            wrong.add((item, tag))
    only = np.zeros((400, 1))
    only[7] = 1  # a word that is on one item: nothing speaks for it or against it
    table = csr_matrix(np.hstack([moved.toarray(), only]).astype(np.float32))
    model = TagCompleter().fit({"looks": looks, "words": words}, table)
    doubtful = model.doubtful(top=20)
    found = list(zip(doubtful.items.tolist(), doubtful.columns.tolist(), strict=True))
    assert len(set(found) & wrong) >= 17
    assert (np.diff(doubtful.probabilities) >= 0).all() and not doubtful.trusted.any()
    assert all(table[item, tag] for item, tag in found)
    assert doubtful[0].reason.startswith(f"tag{found[0][1]}: ") and doubtful.of(found[3][0])[0].item == found[3][0]
    everything = model.doubtful(top=10_000)
    assert len(everything) == table.nnz - 1 and 13 not in everything.columns
    # the doubt is that of the tag hidden: a fit that never saw it says the same
    item, tag = found[0]
    hidden = table.tolil()
    hidden[item, tag] = 0
    again = TagCompleter().fit({"looks": looks, "words": words}, hidden.tocsr())
    assert again.tag_scores()[item, tag] == pytest.approx(doubtful.scores[0], abs=0.02)


def test_decisions_teach_completeness(completer):
    model = TagCompleter().fit(X, VISIBLE)
    proposals = model.propose(top=2)
    right = np.asarray(HIDDEN[proposals.items, proposals.columns]).ravel() > 0
    assert model.learn_completeness(proposals, right) == model.completeness_
    assert model.completeness_source_ == "decisions"
    again = model.propose(top=2)
    assert again.trusted.all() and not proposals.trusted[proposals.new < 0.5].any()
    assert again.probabilities.sum() == pytest.approx(right.sum(), rel=0.1)
    assert np.array_equal(again.columns, proposals.columns)
    with pytest.raises(ParameterError, match="at least 30"):
        model.learn_completeness(model.propose(top=1, X=X[:3]), np.zeros(3, dtype=bool))
    with pytest.raises(ParameterError, match=f"True or False for each of the {2 * N}"):
        model.learn_completeness(proposals, np.zeros(3))


def test_no_is_never_proposed_again_and_rare_words_never_first():
    table = TagTable.from_matrix(VISIBLE)
    first = TagCompleter().fit(X, table).propose(top=1)
    refused = table.with_no(first.items, first.columns)
    model = TagCompleter().fit(X, refused)
    again = model.propose(top=5)
    pairs = set(zip(again.items.tolist(), again.columns.tolist(), strict=True))
    assert not pairs & set(zip(first.items.tolist(), first.columns.tolist(), strict=True))
    new = TagTable.from_lists([["tag3"]], no=[["tag4"]], names=list(refused.names))
    assert not {3, 4} & set(model.propose(top=13, X=X[:1], tags=new).columns.tolist())
    unused = TagTable.from_matrix(csr_matrix(np.hstack([VISIBLE.toarray(), np.zeros((N, 1))])))
    assert 13 not in TagCompleter(method="frequency").fit(X, unused).propose(top=14).columns


def test_new_items_with_and_without_tags(completer):
    """What was learned serves unseen items, by their views, their tags, or both."""
    looks, words, tags, topic = collection(seed=1, n_items=60)
    new = {"looks": looks, "words": words}
    fitting = np.arange(12) // 3 == topic[:, None]
    for scores in (completer.tag_scores(new), completer.tag_scores(new, tags), completer.tag_scores({"looks": looks})):
        best = scores[:, :12].argmax(axis=1)
        assert fitting[np.arange(60), best].mean() > 0.8
    told = np.flatnonzero(np.asarray(tags[:, :12].sum(axis=1)).ravel())
    by_tags = completer.tag_scores(None, tags)
    assert fitting[told, by_tags[told, :12].argmax(axis=1)].mean() > 0.8
    alone = np.vstack([completer.tag_scores(Views(new)[i : i + 1], tags[i : i + 1]) for i in range(5)])
    assert alone == pytest.approx(completer.tag_scores(new, tags)[:5], abs=1e-5)
    proposals = completer.propose(top=2, X=new, tags=tags)
    assert not np.asarray(tags[proposals.items, proposals.columns]).any() and proposals[0].reason
    as_words = [[f"tag{j}" for j in row.indices] + ["never heard of"] for row in tags]
    assert completer.tag_scores(new, as_words) == pytest.approx(completer.tag_scores(new, tags))
    with pytest.raises(ViewError, match="13 tags in fit"):
        completer.tag_scores(new, tags[:, :4])


def test_an_item_without_tags_and_views_is_ranked_by_frequency():
    rng = np.random.default_rng(0)
    tags = csr_matrix((rng.random((2_000, 4)) < [0.5, 0.3, 0.2, 0.1]).astype(np.float32))  # uncorrelated
    model = TagCompleter(method="joint").fit(None, tags)
    ridge = model._recipe().sources["joint"]
    expected = ridge.tag_mean - ridge.tag_mean @ ridge.tag_coef
    assert model.tag_scores(None, [[]])[0] == pytest.approx(expected, abs=1e-6)
    assert TagCompleter().fit(None, tags).tag_scores(None, [[]])[0].argsort()[::-1].tolist() == [0, 1, 2, 3]


def test_items_that_lack_views_or_tags():
    looks = LOOKS.copy()
    looks[::3] = np.nan
    gappy = Views({"looks": looks})
    model = TagCompleter().fit(gappy, VISIBLE)
    scores = model.tag_scores()
    assert np.isfinite(scores).all()
    lacking = np.arange(N) % 3 == 0
    without = TagCompleter().fit(None, VISIBLE).tag_scores()
    judged = lacking & (np.diff(HIDDEN.indptr) > 0)

    def hits(found):
        return precision_at(HIDDEN[judged], found[judged], 1, known=VISIBLE[judged])

    assert hits(scores) >= hits(without) - 0.02 - 1e-9
    assert precision_at(HIDDEN, scores, 1, known=VISIBLE) > precision_at(HIDDEN, without, 1, known=VISIBLE)


def test_a_view_of_noise_is_held_back():
    rng = np.random.default_rng(5)
    _, _, tags, _ = collection(n_items=500, seed=3)
    visible, hidden = hide(tags, 0.4, 1)
    noisy = TagCompleter().fit({"noise": rng.normal(size=(500, 10))}, visible)
    bare = TagCompleter().fit(None, visible)
    assert noisy.penalties_["joint_views"] == [30.0]
    assert noisy.weights_[WARM, 1] + noisy.weights_[WARM, 2] < 0.05
    score = [precision_at(hidden, model.tag_scores(), 1, known=visible) for model in (noisy, bare)]
    assert score[0] >= score[1] - 0.02


def test_same_result_for_any_number_of_threads(monkeypatch):
    one = TagCompleter(n_jobs=1).fit(X, VISIBLE).tag_scores()
    monkeypatch.setattr("manyview.blocks.BLOCK_BYTES", 2**18)
    few, many = (TagCompleter(n_jobs=n).fit(X, VISIBLE) for n in (1, 2))
    assert np.array_equal(few.tag_scores(), many.tag_scores())
    assert np.array_equal(few.propose().columns, many.propose().columns)
    assert few.tag_scores() == pytest.approx(one, abs=1e-4)


def test_the_order_of_items_does_not_matter():
    """With every item a landmark nothing but random samples depends on the order."""
    turned = np.random.default_rng(0).permutation(N)
    here = TagCompleter(method="joint").fit(X, VISIBLE)
    there = TagCompleter(method="joint").fit(X[turned], VISIBLE[turned])
    assert there.tag_scores() == pytest.approx(here.tag_scores()[turned], abs=2e-4)
    for method in ("neighbours", "naive_bayes"):  # equal rows of words would tie for the last places among neighbours
        here = TagCompleter(method=method).fit(LOOKS, VISIBLE)
        there = TagCompleter(method=method).fit(LOOKS[turned], VISIBLE[turned])
        assert there.tag_scores() == pytest.approx(here.tag_scores()[turned], abs=1e-5)


def test_save_and_load(completer, tmp_path):
    back = manyview.load(manyview.save(completer, tmp_path / "model"))
    # Features that fit had at hand come from larger products, whose last digit some processors round otherwise.
    np.testing.assert_allclose(back.tag_scores(), completer.tag_scores(), rtol=0, atol=1e-6)
    assert np.array_equal(back.tag_scores(X[:5], VISIBLE[:5]), completer.tag_scores(X[:5], VISIBLE[:5]))
    assert back.propose(top=1)[3].reason == completer.propose(top=1)[3].reason
    assert back.completeness_ == 0.6 and back.tag_names_ == completer.tag_names_


def test_forms_of_input(completer, tmp_path):
    scores = completer.tag_scores()
    words = [[f"tag{j}" for j in row.indices] for row in VISIBLE]
    table = TagTable.from_lists(words, names=[f"tag{j}" for j in range(13)])
    for form in (table, VISIBLE.toarray().astype(bool)):
        assert np.array_equal(TagCompleter().fit(X, form).tag_scores(), scores)
    np.save(tmp_path / "looks.npy", LOOKS)
    mapped = np.load(tmp_path / "looks.npy", mmap_mode="r")
    listed = TagCompleter().fit([mapped, WORDS], VISIBLE)
    assert listed.tag_scores() == pytest.approx(scores, abs=1e-6)
    single = TagCompleter().fit({"looks": LOOKS.astype(np.float32), "words": WORDS.astype(np.float32)}, VISIBLE)
    assert single.tag_scores() == pytest.approx(scores, abs=1e-2)


def test_verbose_tells_of_progress(capsys):
    TagCompleter(verbose=1).fit(X, VISIBLE)
    said = capsys.readouterr().err
    assert "view looks" in said and "each tag left out" in said and "penalties" in said and "weights" in said


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "magic"}, "method must be one of"),
        ({"completeness": 0}, "completeness must be"),
        ({"n_landmarks": 0}, "n_landmarks must be"),
        ({"method": "cluster"}, "needs a fitted model"),
        ({"method": "joint", "model": KMeans()}, "uses no model"),
        ({"model": KMeans()}, "Call its fit first"),
    ],
)
def test_wrong_settings(settings, message):
    with pytest.raises(ParameterError, match=message):
        TagCompleter(**settings).fit(X, VISIBLE)


def test_wrong_data(completer):
    with pytest.raises(ViewError, match=f"{N - 1} items but there are {N}"):
        TagCompleter().fit(X, VISIBLE[:-1])
    with pytest.raises(ParameterError, match="nothing to learn from"):
        TagCompleter().fit(X, csr_matrix((N, 3)))
    with pytest.raises(ParameterError, match=f"fitted to {N} items, but there are 100"):
        TagCompleter(KMeans(3, n_init=1).fit(LOOKS)).fit(LOOKS[:100], VISIBLE[:100])
    with pytest.raises(ParameterError, match="top must be"):
        completer.propose(top=0)
    with pytest.raises(ViewError, match="was not part of fit"):
        completer.tag_scores({"other": LOOKS})
    with pytest.warns(ViewWarning, match="view 'flat' says nothing"):
        TagCompleter().fit({"looks": LOOKS, "flat": np.ones((N, 2))}, VISIBLE)


@pytest.mark.parametrize("n_items", [1, 2, 3, 7])
def test_tiny_collections(n_items):
    looks = LOOKS[:n_items]
    for views in (None, looks, {"looks": looks, "words": WORDS[:n_items]}):
        words = [["a", "b"], ["a"], [], ["b"], ["c"], ["a", "c"], ["a"]][:n_items]
        with np.errstate(all="raise", under="ignore"):
            if n_items == 1 and views is not None:
                with pytest.warns(ViewWarning):
                    model = TagCompleter().fit(views, words)
            else:
                model = TagCompleter().fit(views, words)
        assert np.isfinite(model.tag_scores()).all() and np.isfinite(model.tag_probabilities()).all()
        proposals = model.propose()
        assert np.isfinite(proposals.probabilities).all() and all(p.reason for p in proposals)
        assert (np.round(proposals.probabilities * 20) == proposals.probabilities * 20).all()  # rough, and looks it


def test_one_tag_at_most_for_each_item_beside_words():
    """As where the folder of an item is its only tag."""
    one = csr_matrix(np.eye(4)[TOPIC % 4] * (np.arange(N)[:, None] % 3 > 0))
    assert len(TagCompleter().fit(X, one).propose(top=1)) == N


def test_hidden_work_in_blocks_gives_the_same(monkeypatch, completer):
    """Many blocks, lists of neighbours and rare tags: the forms for large collections, on a small one."""
    whole = completer.propose(top=5)
    monkeypatch.setattr("manyview.blocks.BLOCK_BYTES", 2**16)
    parts = TagCompleter(completeness=0.6).fit(X, VISIBLE).propose(top=5)
    assert (parts.columns == whole.columns).mean() > 0.99
    draws = [hide(TAGS, 0.4, seed) for seed in range(4)]
    exact = [precision_at(hidden, TagCompleter().fit(X, kept).tag_scores(), 1, known=kept) for kept, hidden in draws]
    monkeypatch.setattr("manyview.completion.items.ALL_PAIRS_UP_TO", 100)
    monkeypatch.setattr("manyview.completion.ridge.MOST_INPUTS", 8)
    models = [TagCompleter().fit(X, kept) for kept, _ in draws]
    large = models[0]
    assert large._items().lists[0] is not None and large._recipe().sources["joint"].rare.size == 5
    rough = [
        precision_at(hidden, model.tag_scores(), 1, known=kept)
        for model, (kept, hidden) in zip(models, draws, strict=True)
    ]
    assert np.mean(rough) > np.mean(exact) - 0.05
    assert large.tag_scores(X[:4]).shape == (4, 13) and large.propose(top=1)[0].reason


def test_arguments_of_another_kind(completer):
    proposals = completer.propose(top=3)
    with pytest.raises(ParameterError, match=r"without must be a list of words; got 'sky'"):
        completer.propose(without="sky")
    with pytest.raises(ParameterError, match="hierarchy must be a TagHierarchy; got list"):
        completer.propose(hierarchy=["sky|snow"])
    with pytest.raises(ParameterError, match=r"proposals must be what propose\(\) gave"):
        completer.learn_completeness(proposals[:50], np.ones(50, dtype=bool))
    some = proposals.only(np.arange(len(proposals)) % 2 == 1)
    assert len(some) == len(proposals) // 2 and some[0] == proposals[1]
    assert 0 < completer.learn_completeness(proposals.only(slice(0, 50)), np.ones(50, dtype=bool)) <= 1
