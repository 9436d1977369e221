"""FusionART against numbers worked out by hand and against a literal loop."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from manyview import FusionART

from .fusion_art_reference import content_difference, literal_art, tag_difference

LOOKS = np.array([[0.2, 0.6], [0.4, 0.4], [0.3, 0.5], [0.9, 0.1]])
TAGS = [[0, 1], [0, 2], [0, 1], [3, 4]]


def tag_matrix(lists, n_tags, dtype=np.float64):
    indptr = np.concatenate([[0], np.cumsum([len(tags) for tags in lists])])
    indices = np.concatenate([np.empty(0, dtype=np.int32), *(np.sort(tags) for tags in lists)]).astype(np.int32)
    return csr_matrix((np.ones(indices.size, dtype=dtype), indices, indptr), shape=(len(lists), n_tags))


def grid_data(seed, n_items, n_features=12, n_tags=30, steps=256, tagless=0.1):
    """Features k / 256 around a few centres, a few tags each, some items without any."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(5, size=n_items)
    centres = rng.integers(steps + 1, size=(5, n_features))
    noise = rng.integers(-steps // 4, steps // 4 + 1, size=(n_items, n_features))
    looks = np.clip(centres[kind] + noise, 0, steps) / steps
    lists = []
    for k in kind:
        own = set((6 * k + rng.integers(6, size=3)).tolist()) | set(rng.integers(n_tags, size=2).tolist())
        lists.append([] if rng.random() < tagless else sorted(own))
    return looks, lists, kind


def prototype(model, j):
    return np.concatenate([model.field_["corner"][j], model.field_["ceiling"][j]]).astype(float)


def test_the_worked_example():
    expected = [
        (0, (0.5, 0.5), (0.0, 0.0)),
        (0, (0.567762, 0.432238), (0.227273, 0.5)),
        (0, (0.561555, 0.438445), (0.196970, 0.444444)),
        (1, (0.530895, 0.469105), (0.098485, 0.222222)),
    ]
    model = FusionART()
    for row, (label, shares, scatter) in enumerate(expected):
        views = {"looks": LOOKS[row : row + 1], "tags": tag_matrix(TAGS[row : row + 1], 5)}
        model.partial_fit(views)
        assert model.labels_.tolist() == [label]
        assert model.contributions_ == pytest.approx(shares, abs=6e-7)
        assert model.scatter_.mean(axis=0) == pytest.approx(scatter, abs=6e-7)
        if row == 1:
            assert prototype(model, 0) == pytest.approx([0.2, 0.48, 0.68, 0.4], abs=1e-7)
            assert prototype(model, 0).sum() == pytest.approx(1.76, abs=1e-6)
            assert model.field_["figures"][3, 0, 0] == pytest.approx(0.16, abs=1e-6)
    assert model.contributions_history_ == pytest.approx(np.array([shares for _, shares, _ in expected]), abs=6e-7)


@pytest.mark.parametrize(("rows", "value", "match"), [(1, 0.646766, (0.8, 0.5)), (2, 0.887120, (0.88, 0.75))])
def test_choice_and_match_of_the_worked_example(rows, value, match):
    model = FusionART().partial_fit({"looks": LOOKS[:rows], "tags": tag_matrix(TAGS[:rows], 5)})
    item = {"looks": LOOKS[rows : rows + 1], "tags": tag_matrix(TAGS[rows : rows + 1], 5)}
    found = model.explain(item)[0]
    assert found["choice"] == pytest.approx(value, abs=6e-7)
    assert [found["views"][name]["match"] for name in ("looks", "tags")] == pytest.approx(match, abs=1e-6)


def test_a_new_cluster_divides_the_scatter_by_the_new_number_of_clusters():
    model = FusionART(vigilance=[0.1, 0.6]).partial_fit({"looks": LOOKS[:1], "tags": tag_matrix(TAGS[:1], 5)})
    model.set_params(vigilance=0.1).partial_fit({"looks": LOOKS[1:2], "tags": tag_matrix(TAGS[1:2], 5)})
    model.partial_fit({"looks": LOOKS[3:], "tags": tag_matrix(TAGS[3:], 5)})
    assert model.n_clusters_ == 2
    assert model.contributions_ == pytest.approx((0.534038, 0.465962), abs=6e-7)  # 0.545330 with exponent 2/3


def test_tag_scatter_is_exact_and_not_what_the_paper_prints():
    lists = [[0, 1], [0, 2], [0, 1], [3]]
    model = FusionART(vigilance=0.0)
    found = []
    for tags in lists:
        model.partial_fit({"tags": tag_matrix([tags], 4)})
        found.append(float(model.scatter_[0, 0]))
    assert found == pytest.approx([0.0, 0.5, 0.444444, 0.928571], abs=6e-7)  # (16) as printed ends at 0.571429
    assert model.field_["numbers"][:, 0, 0].tolist() == [4, 7, 15]


def test_content_scatter_is_bracketed():
    rows = np.array([[0.2, 0.6], [0.4, 0.4], [0.3, 0.5], [0.1, 0.9], [0.3, 0.2]])
    model = FusionART(vigilance=0.0).partial_fit(rows[:4])
    assert model.scatter_[0, 0] == pytest.approx(0.421053, abs=6e-7)
    assert content_difference(prototype(model, 0), rows[:4]) == pytest.approx(0.421053, abs=6e-7)
    model.partial_fit(rows[4:])
    norm, spill = model.field_["figures"][0, 0, 0], model.field_["figures"][3, 0, 0]
    assert (norm, spill) == pytest.approx((1.352, 0.432), abs=1e-6)
    assert model.scatter_[0, 0] == pytest.approx(0.607101, abs=6e-7)
    assert content_difference(prototype(model, 0), rows) == pytest.approx(0.583432, abs=6e-7)
    assert (2 - norm) / norm == pytest.approx(0.479290, abs=6e-7)


@pytest.mark.parametrize("rho", [(0.1, 0.1), (0.6, 0.3), (0.7, 0.0)])
def test_the_fast_loop_equals_the_literal_one(rho):
    looks, lists, _ = grid_data(0, 700)
    labels, trace, clusters = literal_art(looks, lists, rho)
    model = FusionART(vigilance=list(rho), learning_rate=1.0, shuffle=False, bounds=(0, 1))
    model.fit({"looks": looks, "tags": tag_matrix(lists, 30)})
    assert np.array_equal(model.labels_, labels)
    assert model.n_clusters_ == len(clusters)
    assert model.contributions_history_ == pytest.approx(trace, abs=1e-12)
    for j, cluster in enumerate(clusters):
        assert np.array_equal(prototype(model, j), cluster["w"])


@pytest.mark.parametrize("tracking", [None, "printed", "monotone"])
def test_a_match_that_equals_the_vigilance_passes(tracking):
    """Of ten members one each holds the item's three tags: 3 / 10 / 3 is a tenth, whatever float64 makes of it."""
    lists = [[9], [9, 0], [9, 1], [9, 2], *([[9]] * 6), [0, 1, 2]]
    looks = np.full((11, 2), 0.5)
    model = FusionART(vigilance=0.1, match_tracking=tracking, shuffle=False, bounds=(0, 1))
    model.fit({"looks": looks, "tags": tag_matrix(lists, 10)})
    assert model.labels_.tolist() == [0] * 11
    assert literal_art(looks, lists)[0].tolist() == [0] * 11
    less = FusionART(vigilance=0.1 + 1e-9, match_tracking=tracking, shuffle=False, bounds=(0, 1))
    assert less.fit({"looks": looks, "tags": tag_matrix(lists, 10)}).labels_[-1] == 1


def test_the_fast_loop_equals_the_literal_one_where_matches_equal_the_vigilance(seed):
    rng = np.random.default_rng(seed)
    for rho in (0.05, 0.1, 0.2, 0.3, 1 / 3, 0.6, 0.7):
        rho = float(f"{rho:.2g}")
        lists = [rng.choice(6, size=rng.integers(1, 4), replace=False).tolist() for _ in range(120)]
        looks = np.full((120, 1), 0.5)
        model = FusionART(vigilance=rho, learning_rate=1.0, shuffle=False, bounds=(0, 1))
        model.fit({"looks": looks, "tags": tag_matrix(lists, 6)})
        assert np.array_equal(model.labels_, literal_art(looks, lists, (rho, rho))[0])


def test_the_fast_loop_equals_the_literal_one_on_content_alone():
    looks, _, _ = grid_data(1, 500)
    labels, _, _ = literal_art(looks, None, (0.65,), gamma=(1.0,))
    model = FusionART(vigilance=0.65, learning_rate=1.0, shuffle=False, bounds=(0, 1)).fit(looks)
    assert np.array_equal(model.labels_, labels)


@pytest.mark.parametrize("beta", [0.3, 0.6, 1.0])
def test_pruning_changes_nothing(beta, monkeypatch):
    rng = np.random.default_rng(5)
    _, lists, kind = grid_data(3, 1500)
    looks = rng.normal(size=(1500, 12)) + kind[:, None]
    more = rng.random((1500, 7))
    views = {"looks": looks, "tags": tag_matrix(lists, 30), "more": more}
    settings = {"vigilance": [0.3, 0.15, 0.1], "learning_rate": beta, "random_state": 0}
    pruned = FusionART(**settings).fit(views)
    monkeypatch.setattr(FusionART, "_prune", False)
    plain = FusionART(**settings).fit(views)
    assert pruned.n_clusters_ > 5
    assert np.array_equal(pruned.labels_, plain.labels_)
    assert np.array_equal(pruned.predict(views), plain.predict(views))
    for name, array in pruned.field_.items():
        assert np.array_equal(array, plain.field_[name]), name


@pytest.mark.parametrize("beta", [0.6, 1.0])
def test_scatter_equals_recomputation_from_the_members(beta):
    looks, lists, _ = grid_data(2, 600)
    model = FusionART(vigilance=[0.5, 0.1], learning_rate=beta, shuffle=False, bounds=(0, 1))
    model.fit({"looks": looks, "tags": tag_matrix(lists, 30)})
    for j in range(model.n_clusters_):
        rows = np.flatnonzero(model.labels_ == j)
        assert model.scatter_[j, 1] == pytest.approx(tag_difference([lists[i] for i in rows]), abs=1e-12)
        true = content_difference(prototype(model, j), looks[rows])
        norm = prototype(model, j).sum()
        if beta == 1.0:
            assert model.scatter_[j, 0] == pytest.approx(true, abs=1e-12)
        assert (12 - norm) / norm - 1e-12 <= true <= model.scatter_[j, 0] + 1e-12


def test_fuzzy_tags_equal_the_literal_formula():
    lists = [[0, 1, 2], [0, 1], [], [1, 3]]
    model = FusionART(vigilance=0.0, tag_learning="fuzzy", learning_rate=0.6)
    w = np.array([1.0, 1.0, 1.0, 0.0])
    spill, seen = 0.0, [3]
    model.partial_fit({"tags": tag_matrix(lists[:1], 4)})
    for tags in lists[1:]:
        model.partial_fit({"tags": tag_matrix([tags], 4)})
        if tags:
            x = np.isin(np.arange(4), tags).astype(float)
            w = 0.6 * np.minimum(x, w) + 0.4 * w
            spill += np.maximum(w - x, 0).sum()
            seen.append(len(tags))
    assert model.cluster_centers_["tags"].toarray()[0] == pytest.approx(w, abs=1e-6)
    expected = (np.mean(seen) - w.sum() + 2 * spill / len(seen)) / w.sum()
    assert model.scatter_[0, 0] == pytest.approx(expected, abs=1e-6)


def slow_tracking(matches, values, rho, printed):
    """Match tracking as in the paper's (10), or only upwards, on given T and M. Returns the winner or -1."""
    rho, left = list(rho), list(range(len(values)))
    while left:
        j = max(left, key=lambda a: (values[a], -a))
        if all(m >= r for m, r in zip(matches[j], rho, strict=True)):
            return j
        left.remove(j)
        for k, m in enumerate(matches[j]):
            if printed:
                rho[k] = m + 1e-6
            elif m >= rho[k]:
                rho[k] = max(rho[k], m + 1e-6)
    return -1


@pytest.mark.parametrize("rule", [pytest.param("printed", marks=pytest.mark.slow), "monotone"])
def test_match_tracking(rule):
    looks, lists, _ = grid_data(4, 300, tagless=0.0)
    tags = tag_matrix(lists, 30)
    settings = {"vigilance": [0.55, 0.25], "learning_rate": 1.0}
    model = FusionART(match_tracking=rule, **settings)
    model.partial_fit({"looks": looks[:1], "tags": tags[:1]})
    differ = 0
    for i in range(1, 300):
        item = {"looks": looks[i : i + 1], "tags": tags[i : i + 1]}
        n_clusters = model.n_clusters_
        answers = [model.explain(item, [j])[0] for j in range(n_clusters)]
        values = [answer["choice"] for answer in answers]
        matches = [[part["match"] for part in answer["views"].values()] for answer in answers]
        wanted = slow_tracking(matches, values, [0.55, 0.25], rule == "printed")
        passing = [j for j in range(n_clusters) if matches[j][0] >= 0.55 and matches[j][1] >= 0.25]
        differ += wanted != (max(passing, key=lambda j: values[j]) if passing else -1)
        model.partial_fit(item)
        assert model.labels_[0] == (wanted if wanted >= 0 else n_clusters)
    assert differ > 0, "the data never tested the rule"
