"""Hiding, counting and the table."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from manyview import TagCompleter, Views, metrics
from manyview.data.tags import TagTable
from manyview.errors import ParameterError
from manyview.evaluation import calibration_error, hidden_tags_experiment, hide_tags
from manyview.evaluation.experiment import _METHODS, _curves
from manyview.papers.rivals.tag_completion import MatrixRecovery, PlainNeighbours
from tests.completion.made import collection

LOOKS, WORDS, TAGS, _ = collection(n_items=90)
X = {"looks": LOOKS, "words": WORDS}


def test_hidden_and_left_make_the_whole():
    left, hidden = hide_tags(TAGS, 0.4, 1)
    assert hidden.nnz == round(0.4 * TAGS.nnz)
    assert ((left.yes + hidden) != TAGS).nnz == 0
    assert (hide_tags(TAGS, 0.4, 1)[1] != hidden).nnz == 0
    assert (hide_tags(TAGS, 0.4, 2)[1] != hidden).nnz > 0
    table = TagTable.from_lists([["a"], ["b"], ["a"]], no=[["b"], [], []])
    assert (hide_tags(table, 0.4)[0].no != table.no).nnz == 0
    for share in (0.0, 1.0, 1.5):
        with pytest.raises(ParameterError, match="hide"):
            hide_tags(TAGS, share)


def test_tags_that_may_not_be_hidden_are_told_of():
    looks = np.arange(8.0)[:, None]
    with pytest.raises(ParameterError, match=r"0 of 0 tags that may be hidden \(8 stay, being on fewer than 2 items"):
        hidden_tags_experiment(looks, [[f"tag {item}"] for item in range(8)], seeds=1)
    with pytest.raises(ParameterError, match="would hide 0 of 1 tags; at least one .* Give more tags"):
        hide_tags([["a"]], 0.4)


def test_tags_on_one_item_stay_and_items_without_a_hideable_tag_are_not_judged():
    lists = [["a", "b"], ["a"], ["b", "only here"], ["nor here"], [], ["a", "b"]]
    table = TagTable.from_lists(lists)
    single = [table.index("only here"), table.index("nor here")]
    for seed in range(5):
        left, hidden = hide_tags(table, 0.5, seed, on_items=2)
        assert not hidden[:, single].nnz and left.yes[:, single].nnz == 2 and hidden.nnz == 3
    looks, words, tags, _ = collection(n_items=200)
    half = tags.tolil()
    half[100:] = 0  # the second half was never looked at: whatever is proposed there, nobody knows whether it is right
    found = hidden_tags_experiment({"looks": looks, "words": words}, half.tocsr(), seeds=2, methods=["combined"])
    assert found.n_judged == (np.diff(half.tocsr().indptr) > 0).sum() < 100
    assert f"{found.n_judged} items are judged" in str(found)
    assert all(told.known.size == told.right.size == 5 * found.n_judged for told in found.answers["combined"])


def test_curves_are_the_metrics():
    rng = np.random.default_rng(0)
    left, hidden = hide_tags(TAGS, 0.4)
    scores = rng.random(TAGS.shape)
    ranked = np.where(left.yes.toarray() > 0, -np.inf, scores).argsort(axis=1)[:, ::-1][:, :5]
    found = _curves(hidden, np.repeat(np.arange(90), 5), ranked.ravel())
    for n in range(1, 6):
        assert found[f"P@{n}"] == pytest.approx(metrics.precision_at(hidden, scores, n, known=left.yes))
        assert found[f"R@{n}"] == pytest.approx(metrics.recall_at(hidden, scores, n, known=left.yes))
        assert found[f"C@{n}"] == pytest.approx(metrics.coverage_at(hidden, scores, n, known=left.yes))


def test_curves_by_hand():
    hidden = csr_matrix(np.array([[1, 1, 0, 0], [0, 0, 0, 0]]))  # ranking a, c, b; the second item is not judged
    found = _curves(hidden, np.array([0, 0, 0, 1]), np.array([0, 2, 1, 3]))
    assert (found["P@1"], found["P@3"], found["R@1"], found["R@3"], found["C@1"]) == (1, 2 / 3, 0.5, 1, 1)


def test_calibration_error_by_hand():
    assert calibration_error([0.5] * 4, [1, 0, 1, 0]) == 0
    assert calibration_error([1.0, 1.0, 0.0, 0.0], [1, 0, 0, 0]) == pytest.approx(0.25)
    assert calibration_error([0.1, 0.9], [0, 1]) == pytest.approx(0.1)
    with pytest.raises(ParameterError, match="as many answers"):
        calibration_error([0.1], [1, 0])


def test_default_methods_and_table():
    found = hidden_tags_experiment(X, TAGS, seeds=[3, 4])
    assert list(found.figures) == ["combined", "cooccurrence", "neighbours", "frequency"]
    assert found.seeds == (3, 4) and len(found.figures["combined"]["P@1"]) == 2
    assert found.mean("combined", "P@1") > found.mean("frequency", "P@1")
    assert found.mean("combined", "ECE") < 0.15
    text = str(found)
    assert "90 items, 13 tags, 40 % of the tags hidden, 2 draw(s)" in text and "±" in text
    again = hidden_tags_experiment(X, TAGS, seeds=[3, 4], methods=["combined"])
    assert again.figures["combined"] == found.figures["combined"]


def test_every_named_method_runs_and_sees_nothing_hidden(capsys):
    found = hidden_tags_experiment(X, TAGS, seeds=np.int64(1), methods=tuple(_METHODS), n_trees=10, verbose=1)
    assert set(found.figures) == set(_METHODS)
    assert all(0 <= value[0] <= 1 for figures in found.figures.values() for value in figures.values())
    assert found.mean("frequency", "P@1") < min(
        found.mean(name, "P@1") for name in ("matrix_recovery", "sparse_reconstruction", "combined", "joint")
    )
    assert "draw 0, combined" in capsys.readouterr().err


def test_estimators_and_wrong_names():
    mine = {"ours": TagCompleter(n_neighbors=5), "theirs": TagCompleter(method="cooccurrence")}
    assert set(hidden_tags_experiment(X, TAGS, seeds=1, methods=mine).figures) == {"ours", "theirs"}
    with pytest.raises(ParameterError, match="no method 'magic'"):
        hidden_tags_experiment(X, TAGS, methods=["magic"])
    for baseline in (PlainNeighbours(), MatrixRecovery()):
        with pytest.raises(ParameterError, match="needs at least one view"):
            baseline.fit(None, TAGS)


def test_repeated_items_are_counted():
    rows = np.r_[np.arange(90), [0, 0, 7]]
    twice = hidden_tags_experiment(Views(X)[rows], TAGS[rows], seeds=1, methods=["frequency"])
    assert twice.n_duplicates == 3 and "3 items repeat another one" in str(twice)
    assert hidden_tags_experiment(X, TAGS, seeds=1, methods=["frequency"]).n_duplicates == 0


def test_only_tags():
    found = hidden_tags_experiment(None, TAGS, seeds=1, methods=["combined", "cooccurrence"])
    assert found.mean("combined", "P@1") > 0.2


def test_calibration_error_takes_probabilities_and_answers():
    assert calibration_error([0.5, 0.5], [1, 0]) == 0
    for given in (([np.nan, 0.5], [1, 0]), ([-0.1, 0.5], [1, 0]), ([0.1, 1.5], [1, 0]), ([0.1, 0.5], [5, -2])):
        with pytest.raises(ParameterError, match="from 0 to 1"):
            calibration_error(*given)
    with pytest.raises(ParameterError, match="n_bins"):
        calibration_error([0.5], [1], n_bins=0)
