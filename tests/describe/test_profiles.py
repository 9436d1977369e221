"""Cluster profiles: against a slow literal twin, by hand, and on data that has nothing to say."""

import json

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from manyview import RobustMultiviewKMeans, Views, blocks, cluster_profiles
from manyview.errors import ParameterError, ViewError


@pytest.fixture
def three_views(seed):
    """60 items in four clusters and outside; one dense and one sparse view, both with gaps."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(-1, 4, size=60)
    labels[:4] = [0, 1, 2, 9]  # one cluster of a single item
    labels[labels == 3] = 2
    looks = rng.normal(size=(60, 5)) * [1, 10, 0.1, 1, 3] + 2.0 * labels[:, None]
    looks[7] = looks[20] = np.nan
    tags = (rng.random((60, 8)) < 0.15).astype(float)
    tags[np.arange(60), np.clip(labels, 0, 3)] = 1
    tags[5] = tags[6] = 0
    small = rng.normal(size=(60, 1)).astype(np.float32) + labels[:, None]
    mask = np.ones((60, 3), dtype=bool)
    mask[8, 1] = False
    return Views({"looks": looks, "tags": csr_matrix(tags), "small": small}, mask=mask), labels


def slow_rows(X, v):
    """Unit rows of one view, literally as documented; NaN where nothing is known."""
    matrix, has = X[X.names[v]], X.mask[:, v]
    if hasattr(matrix, "toarray"):
        dense = matrix.toarray()
        idf = np.log((has.sum() + 1) / ((dense[has] != 0).sum(axis=0) + 1)) + 1
        rows = np.log1p(dense) * idf
    else:
        kept = matrix[has].astype(float)
        rows = (matrix - kept.mean(axis=0)) / kept.std(axis=0)
        rows = np.column_stack([rows, np.full(len(rows), np.sqrt(matrix.shape[1]))])
    rows[~has] = 0
    length = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    with np.errstate(invalid="ignore"):
        return np.where(length > 0, rows / length, np.nan)


def slow_mean(values, weights):
    known = [(w, x) for w, x in zip(weights, values, strict=True) if not np.isnan(x)]
    return sum(w * x for w, x in known) / sum(w for w, _ in known) if known else np.nan


def slow_likeness(X, labels, weights):
    ids = sorted(set(labels.tolist()) - {-1})
    n, n_views = X.shape
    close = np.full((n, len(ids), n_views), np.nan)
    within, between = np.full((2, len(ids), n_views), np.nan)
    typical = np.full((n, n_views), np.nan)
    for v in range(n_views):
        rows = slow_rows(X, v)
        known = ~np.isnan(rows[:, 0])
        cosine = rows @ rows.T
        pairs = [cosine[i, j] for i in range(n) for j in range(n) if i != j and known[i] and known[j]]
        base = np.mean(pairs)
        alike = (cosine - base) / (1 - base)
        spread = np.mean(((rows[known] - rows[known].mean(axis=0)) ** 2).sum(axis=1))
        for c, label in enumerate(ids):
            members = [i for i in range(n) if labels[i] == label and known[i]]
            others = [i for i in range(n) if labels[i] != label and known[i]]
            inner = [alike[i, j] for i in members for j in members if i != j]
            outer = [alike[i, j] for i in members for j in others]
            within[c, v] = np.mean(inner) if inner else np.nan
            between[c, v] = np.mean(outer) if outer else np.nan
            for i in np.flatnonzero(known):
                rest = [j for j in members if j != i]
                if rest:
                    close[i, c, v] = 1 - ((rows[i] - rows[rest].mean(axis=0)) ** 2).sum() / spread
                    if i in members:
                        typical[i, v] = alike[i, rest].mean() - alike[i, others].mean()
    combined = np.array([[slow_mean(close[i, c], weights) for c in range(len(ids))] for i in range(n)])
    return ids, close, combined, within, between, [slow_mean(row, weights) for row in typical]


@pytest.mark.parametrize("block_bytes", [200, None])
def test_against_the_slow_twin(three_views, monkeypatch, block_bytes):
    X, labels = three_views
    weights = np.array([0.5, 0.3, 0.2])
    if block_bytes:
        monkeypatch.setattr(blocks, "BLOCK_BYTES", block_bytes)
    profiles = cluster_profiles(X, labels, view_weights=weights, n_jobs=1)
    found = profiles.likeness
    ids, close, combined, within, between, typical = slow_likeness(X, labels, weights)
    np.testing.assert_allclose(found.within, within, atol=1e-5)
    np.testing.assert_allclose(found.between, between, atol=1e-5)
    np.testing.assert_allclose(found.typical, np.where(labels >= 0, typical, np.nan), atol=1e-5)
    cohesion = np.clip((within - between) / (1 - between), 0, 1)
    np.testing.assert_allclose(found.cohesion(), cohesion, atol=1e-5)
    for i, label in enumerate(labels):
        others = [c for c, one in enumerate(ids) if one != label]
        best = max(others, key=lambda c: combined[i, c])
        assert found.runner_up[i] == best
        np.testing.assert_allclose(found.rival[i], close[i, best], atol=1e-5)
        if label >= 0:
            home = ids.index(label)
            np.testing.assert_allclose(found.own[i], close[i, home], atol=1e-5)
            np.testing.assert_allclose(found.margin[i], combined[i, home] - combined[i, best], atol=1e-5)
        else:
            assert np.isnan(found.own[i]).all() and np.isnan(found.margin[i])


def test_blocks_and_threads_do_not_matter(three_views, monkeypatch):
    X, labels = three_views
    plain = cluster_profiles(X, labels, n_jobs=1)
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 500)
    one, two = cluster_profiles(X, labels, n_jobs=1), cluster_profiles(X, labels, n_jobs=2)
    assert one.to_dict() == two.to_dict()
    assert [p.exemplars for p in one] == [p.exemplars for p in plain]


def test_the_order_of_items_does_not_matter(three_views, seed):
    X, labels = three_views
    tags = [[f"t{label}", "all"] if label >= 0 else [] for label in labels]
    names = [f"file{i}" for i in range(60)]
    order = np.random.default_rng(seed).permutation(60)
    plain = cluster_profiles(X, labels, tags, item_names=names)
    mixed = cluster_profiles(X[order], labels[order], [tags[i] for i in order], item_names=[names[i] for i in order])
    for one in plain:
        other = mixed[one.label]
        assert (one.name, one.over, one.under) == (other.name, other.over, other.under)
        assert one.exemplars == tuple(order[list(other.exemplars)])
        assert [b.item for b in one.borderline] == [order[b.item] for b in other.borderline]
        assert [near.label for near in one.nearest] == [near.label for near in other.nearest]


def test_three_points_on_a_line_stay_three():
    line = np.array([[0.0], [0.1], [5.0], [5.1], [10.0], [10.1], [2.7]])
    profiles = cluster_profiles(line, [0, 0, 1, 1, 2, 2, 1])
    assert profiles[1].cohesion > 0.3 and profiles[0].cohesion > 0.9
    assert [near.label for near in profiles[0].nearest] == [1, 2]
    assert profiles.grouping.labels[profiles.likeness.runner_up[6]] == 0
    margin = profiles.likeness.margin
    assert margin[6] < min(margin[2], margin[3])


def test_tags_by_hand():
    labels = [0] * 10 + [1] * 10
    tags = [["dog"]] * 8 + [["x"]] * 2 + [["dog"]] * 2 + [["x"]] * 8
    one = cluster_profiles(None, labels, tags)[0]
    (over,), (under,) = one.over, one.under
    assert (over.tag, over.count, over.looked_at, over.expected, over.lift) == ("dog", 8, 10, 5.0, 1.6)
    assert (over.share, over.share_elsewhere) == (0.8, 0.2)
    assert over.score == pytest.approx(4 * (8 * np.log(1.6) + 2 * np.log(0.4)))
    assert (under.tag, under.count, under.expected, under.lift) == ("x", 2, 5.0, 0.4)
    assert under.score == pytest.approx(-over.score)
    assert (one.name.name, one.n_tagged) == ("dog", 10)


def test_cohesion_at_its_ends():
    equal = np.repeat([[0.0, 1.0], [1.0, 0.0]], 5, axis=0)
    profiles = cluster_profiles({"a": equal, "b": np.tile([[0.0], [1.0]], (5, 1))}, [0] * 5 + [1] * 5)
    a, b = profiles[0].views
    assert a.cohesion == pytest.approx(1.0, abs=1e-6)
    assert b.cohesion < 0.1  # both values in both clusters
    assert a.contribution > 0.9 and a.contribution + b.contribution == pytest.approx(1.0)


def test_exemplars_are_typical_and_borderline_items_lie_between():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 1, (40, 6)), rng.normal(6, 1, (40, 6)), [[0.5] * 6, [2.9] * 6]])
    labels = np.repeat([0, 1, 0], [40, 40, 2])
    one = cluster_profiles(X, labels)[0]
    assert one.borderline[0].item == 81 and one.borderline[0].other == 1
    assert 81 not in one.exemplars and len(one.exemplars) == 12
    distance = np.linalg.norm(X - X[labels == 0].mean(axis=0), axis=1)
    assert distance[list(one.exemplars)].mean() < distance[labels == 0].mean() + 0.5


def test_weights_of_a_model_act_and_a_silent_view_has_no_part():
    X = {"a": np.repeat([[0.0], [9.0]], 6, axis=0), "b": np.tile([[0.0], [1.0], [2.0]], (4, 1)), "c": np.ones((12, 2))}
    with pytest.warns(UserWarning, match="'c'"):
        model = RobustMultiviewKMeans(n_clusters=2, n_init=1, random_state=0).fit(X)
    profiles = cluster_profiles(X, model.labels_, view_weights=model)
    assert profiles.view_weights == pytest.approx(dict(zip("abc", model.view_weights_, strict=True)))
    c = profiles[0].views[2]
    assert (c.within, c.cohesion, c.contribution, c.weight) == (None, None, 0.0, 0.0)
    by_name = cluster_profiles(X, model.labels_, view_weights={"a": 3, "b": 1})
    assert by_name.view_weights == {"a": 0.75, "b": 0.25, "c": 0.0}


def test_the_owner_s_names_hold():
    found = cluster_profiles(np.eye(4), [0, 0, 1, 1], [["a"]] * 2 + [["b"]] * 2, names={0: "Our dog", 5: "gone"})
    assert (found[0].name.name, found[0].name.source, found[1].name.name) == ("Our dog", "owner", "b")


@pytest.mark.parametrize(
    ("X", "labels", "tags"),
    [
        (None, [0, 1], None),
        (None, [0, 1], [[], []]),
        (None, [], None),
        (np.eye(3), [-1, -1, -1], [["a"], ["b"], []]),
        (np.eye(3), [0, 0, 0], [["a"], ["b"], []]),
        (np.eye(3), [0, 1, 2], [["a"], ["b"], []]),
        (np.ones((4, 2)), [0, 0, 1, 1], None),
        (np.full((4, 2), np.nan), [0, 0, 1, 1], None),
        (csr_matrix((4, 3)), [0, 0, 4, -1], None),
        (np.array([[1e30], [-1e30], [0], [1e-30]]), [0, 0, 1, 1], None),
        (np.zeros((0, 2)), [], []),
    ],
)
def test_degenerate_data(X, labels, tags):
    profiles = cluster_profiles(X, labels, tags)
    assert sorted(profiles.clusters) == sorted(set(labels) - {-1})
    assert len(profiles.outside) == list(labels).count(-1)
    for one in profiles:
        assert one.cohesion is None or 0 <= one.cohesion <= 1
        assert len(one.exemplars) == (one.size + 1) // 2
    json.dumps(profiles.to_dict(), allow_nan=False)


def test_single_precision_and_memory_maps(three_views, tmp_path):
    X, labels = three_views
    looks = X["looks"].astype(np.float32)
    np.save(tmp_path / "looks.npy", looks)
    kept = np.load(tmp_path / "looks.npy", mmap_mode="r")
    assert cluster_profiles(kept, labels).to_dict() == cluster_profiles(looks, labels).to_dict()


def test_a_profile_is_plain_data(three_views):
    X, labels = three_views
    profiles = cluster_profiles(X, labels, [["a"]] * 60)
    plain = json.loads(json.dumps(profiles.to_dict(), allow_nan=False))
    assert [one["label"] for one in plain["clusters"]] == [one.label for one in profiles]
    assert plain["clusters"][0]["size"] == max(one.size for one in profiles)
    assert repr(profiles) == f"ClusterProfiles(4 clusters, 60 items, {list(labels).count(-1)} in none)"
    with pytest.raises(ParameterError, match="there is no cluster 77; the labels are 0, 1, 2, 9"):
        profiles[77]


def test_errors_say_what_to_do():
    with pytest.raises(ParameterError, match="labels has 2 entries but there are 3 items"):
        cluster_profiles(np.eye(3), [0, 1])
    with pytest.raises(ViewError, match="tags describe 2 items but there are 3"):
        cluster_profiles(np.eye(3), [0, 1, 1], [["a"], ["b"]])
    with pytest.raises(ParameterError, match=r"'b' is not a view"):
        cluster_profiles({"a": np.eye(2)}, [0, 1], view_weights={"b": 1})
    with pytest.raises(ParameterError, match=r"view_weights must be 1 finite number\(s\) of at least 0"):
        cluster_profiles({"a": np.eye(2)}, [0, 1], view_weights=[-1])


def test_confidence_is_half_where_two_clusters_are_as_close():
    X = np.array([[0.0], [0.1], [0.2], [5.0], [5.2], [2.0]])
    found = cluster_profiles(X, [0, 0, 0, 1, 1, 1])
    assert found.confidence == pytest.approx(np.clip(0.5 + found.likeness.margin, 0, 1), abs=1e-6)
    assert found.confidence[5] < found.confidence[4] and found.confidence[0] > 0.5
    assert cluster_profiles(None, [0, 1], [["a"], ["b"]]).confidence is not None


def test_a_text_among_pictures_does_not_stand_for_them():
    """What only a view of little say speaks of is no exemplar, however well it fits there."""
    rng = np.random.default_rng(3)
    looks = np.repeat([[5.0, 0.0], [0.0, 5.0]], 20, axis=0) + rng.normal(size=(40, 2))
    words = np.full((40, 2), np.nan)
    looks[:3] = np.nan
    words[:3], words[20:23] = (9.0, 0.0), (0.0, 9.0)
    profiles = cluster_profiles(
        {"looks": looks, "words": words}, np.repeat([0, 1], 20), view_weights={"looks": 0.95, "words": 0.05}
    )
    assert not {0, 1, 2} & set(profiles[0].exemplars)
