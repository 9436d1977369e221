"""Clusterings against known classes: by hand, by slow literal loops, by scikit-learn, by properties."""

from __future__ import annotations

import itertools
import math
import tracemalloc
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyview import metrics
from manyview.errors import ParameterError

Measure = Callable[..., float]

# Six items. Cells (class, cluster): (a, 0) 2, (a, 1) 1, (b, 1) 2, (c, 1) 1; cluster sizes 2 and 4.
CLASSES = ["a", "a", "a", "b", "b", "c"]
LABELS = [0, 0, 1, 1, 1, 1]

HIGHER: list[Measure] = [
    metrics.clustering_accuracy,
    metrics.normalized_mutual_info,
    metrics.purity,
    metrics.average_precision,
    metrics.rand_index,
    metrics.adjusted_rand_index,
    metrics.pairwise_f1,
]
LOWER: list[Measure] = [metrics.class_entropy, metrics.cluster_entropy]
EVERY = HIGHER + LOWER


def named(measure: Measure) -> str:
    return measure.__name__


@st.composite
def groupings(draw: st.DrawFn, most: int = 6) -> tuple[list[int], list[int]]:
    """The classes and the clusters of one to thirty items, at most six of each."""
    n = draw(st.integers(1, 30))
    group = st.lists(st.integers(0, draw(st.integers(0, most - 1))), min_size=n, max_size=n)
    return draw(group), draw(group)


def test_accuracy_by_hand() -> None:
    # a - 0 and b - 1 give 2 + 2 of 6; class c is left without a cluster.
    assert metrics.clustering_accuracy(CLASSES, LABELS) == pytest.approx(4 / 6)


def test_accuracy_is_not_greedy() -> None:
    # Cells (0,0) 3, (0,1) 2, (1,0) 2, (1,1) 0. Taking the largest cell first gives 3 + 0; the best is 2 + 2.
    classes, labels = [0, 0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 0, 0]
    assert metrics.clustering_accuracy(classes, labels) == pytest.approx(4 / 7)


def test_accuracy_counts_surplus_clusters_as_wrong_but_purity_does_not() -> None:
    classes, labels = [0, 0, 0, 0, 1, 1], [0, 0, 5, 5, 9, 9]
    assert metrics.clustering_accuracy(classes, labels) == pytest.approx(4 / 6)
    assert metrics.purity(classes, labels) == 1.0


def test_purity_by_hand() -> None:
    # Largest cells: 2 in cluster 0, 2 (class b) in cluster 1.
    assert metrics.purity(CLASSES, LABELS) == pytest.approx(4 / 6)


def test_purity_weighs_items_not_clusters() -> None:
    # Cluster 0: one item, pure. Cluster 1: 2 of 4. The mean over items is 3 / 5, over clusters 3 / 4.
    assert metrics.purity([0, 0, 0, 1, 1], [0, 1, 1, 1, 1]) == pytest.approx(3 / 5)


def test_pairs_by_hand() -> None:
    # 15 pairs. Same class 3 + 1 = 4, same cluster 1 + 6 = 7, both 1 (a in 0) + 1 (b in 1) = 2.
    # Hence TP 2, FP 5, FN 2, TN 6.
    assert metrics.rand_index(CLASSES, LABELS) == pytest.approx(8 / 15)
    assert metrics.pairwise_f1(CLASSES, LABELS) == pytest.approx(4 / 11)
    # Expected TP 4 * 7 / 15, largest (4 + 7) / 2: (2 - 28/15) / (5.5 - 28/15) = 2 / 54.5.
    assert metrics.adjusted_rand_index(CLASSES, LABELS) == pytest.approx(2 / 54.5)


def test_entropies_by_hand() -> None:
    # Cluster 0 is pure; cluster 1 is shared 1/4, 1/2, 1/4: 1.5 bits. By size 4/6 * 1.5, plainly 1.5 / 2.
    assert metrics.class_entropy(CLASSES, LABELS, base=2) == pytest.approx(1.0)
    assert metrics.class_entropy(CLASSES, LABELS, base=2, weighted=False) == pytest.approx(0.75)
    # Class a is shared 2/3, 1/3: log2(3) - 2/3 bits; b and c sit in one cluster. By size 3/6, plainly 1/3.
    split = math.log2(3) - 2 / 3
    assert metrics.cluster_entropy(CLASSES, LABELS, base=2) == pytest.approx(split / 2)
    assert metrics.cluster_entropy(CLASSES, LABELS, base=2, weighted=False) == pytest.approx(split / 3)


def test_entropies_are_in_nats_unless_told() -> None:
    assert metrics.class_entropy(CLASSES, LABELS) == pytest.approx(math.log(2))
    assert metrics.cluster_entropy(LABELS, CLASSES) == pytest.approx(math.log(2))


def test_mutual_information_by_hand() -> None:
    # In bits: I = H(class) - 1 = (1/2 + log2(3)/3 + log2(6)/6) - 1, H(cluster) = log2(3) - 2/3.
    of_classes = 0.5 + math.log2(3) / 3 + math.log2(6) / 6
    of_clusters = math.log2(3) - 2 / 3
    shared = of_classes - 1
    found = metrics.normalized_mutual_info(CLASSES, LABELS)
    assert found == pytest.approx(2 * shared / (of_classes + of_clusters))
    found = metrics.normalized_mutual_info(CLASSES, LABELS, average="max")
    assert found == pytest.approx(shared / of_classes)


def test_average_precision_by_hand() -> None:
    # Cluster 0 is a's, 2 of 2; cluster 1 is b's, 2 of 4; c owns none. Plain mean of 1, 1/2, 0.
    assert metrics.average_precision(CLASSES, LABELS, per_class=True) == {"a": 1.0, "b": 0.5, "c": 0.0}
    assert metrics.average_precision(CLASSES, LABELS) == pytest.approx(0.5)


def test_average_precision_weighs_the_clusters_of_a_class_by_size() -> None:
    # Class 0 owns cluster 0 (1 of 1) and cluster 1 (2 of 3): 3 / 4; a plain mean of the two would be 5 / 6.
    found = metrics.average_precision([0, 0, 0, 1, 1], [0, 1, 1, 1, 2], per_class=True)
    assert found == {0: 0.75, 1: 1.0}


def test_average_precision_gives_a_tied_cluster_to_each_class() -> None:
    # Cluster 1 holds one of each: class a (2 + 1) / (2 + 2), class b 1 / 2.
    found = metrics.average_precision(["a", "a", "a", "b"], [0, 0, 1, 1], per_class=True)
    assert found == {"a": 0.75, "b": 0.5}


def test_pure_but_split_clusters_look_as_in_the_ghf_art_table() -> None:
    # Its table 6: purity 1, average precision 1 and class entropy 0 beside a cluster entropy above 0.
    classes, labels = [0, 0, 1, 1], [0, 1, 2, 2]
    assert metrics.purity(classes, labels) == 1.0
    assert metrics.average_precision(classes, labels) == 1.0
    assert metrics.class_entropy(classes, labels) == 0.0
    assert metrics.cluster_entropy(classes, labels) == pytest.approx(math.log(2) / 2)


def test_entropy_of_the_aplsa_example() -> None:
    # One pure cluster and one split in halves: half of ln 2.
    assert metrics.class_entropy([0, 0, 0, 1], [0, 0, 1, 1]) == pytest.approx(0.346574, abs=5e-7)
    assert metrics.class_entropy([0, 0, 0, 1], [0, 0, 1, 1], base=2) == pytest.approx(0.5)


@pytest.mark.parametrize("k", [2, 4, 5, 8])
def test_one_cluster_of_balanced_classes_has_the_largest_entropy(k: int) -> None:
    classes = np.repeat(np.arange(k), 50)
    assert metrics.class_entropy(classes, np.zeros(50 * k, dtype=int)) == pytest.approx(math.log(k))


def test_independent_balanced_halves_share_nothing() -> None:
    classes, labels = [0, 0, 1, 1], [0, 1, 0, 1]
    assert metrics.normalized_mutual_info(classes, labels) == pytest.approx(0.0, abs=1e-12)
    assert metrics.normalized_mutual_info(classes, labels, average="max") == pytest.approx(0.0, abs=1e-12)
    assert metrics.adjusted_rand_index(classes, labels) == pytest.approx(-0.5)


def slow_accuracy(classes: list[int], labels: list[int]) -> float:
    """Try every way to pair up as many names as there are."""
    k = max(*classes, *labels) + 1
    cells = Counter(zip(labels, classes, strict=True))
    names = itertools.permutations(range(k))
    return max(sum(cells[cluster, name[cluster]] for cluster in range(k)) for name in names) / len(classes)


def slow_pairs(classes: list[int], labels: list[int]) -> tuple[int, int, int, int]:
    both = only_cluster = only_class = neither = 0
    for i in range(len(classes)):
        for j in range(i + 1, len(classes)):
            same_class, same_cluster = classes[i] == classes[j], labels[i] == labels[j]
            both += same_class and same_cluster
            only_cluster += same_cluster and not same_class
            only_class += same_class and not same_cluster
            neither += not same_class and not same_cluster
    return both, only_cluster, only_class, neither


def slow_entropy(what: list[int], inside: list[int]) -> tuple[float, float]:
    """Entropy of ``what`` inside each group of ``inside``: mean by size, and plain mean."""
    members = {g: [w for w, h in zip(what, inside, strict=True) if h == g] for g in set(inside)}
    entropy = {g: -sum(c / len(m) * math.log(c / len(m)) for c in Counter(m).values()) for g, m in members.items()}
    by_size = sum(len(members[g]) * entropy[g] for g in members) / len(what)
    return by_size, sum(entropy.values()) / len(entropy)


def slow_precision(classes: list[int], labels: list[int]) -> dict[int, float]:
    held = {c: [0, 0] for c in sorted(set(classes))}
    for k in set(labels):
        inside = Counter(c for c, label in zip(classes, labels, strict=True) if label == k)
        for c, count in inside.items():
            if count == max(inside.values()):
                held[c][0] += count
                held[c][1] += sum(inside.values())
    return {c: right / size if size else 0.0 for c, (right, size) in held.items()}


@given(groupings())
@settings(max_examples=40, deadline=None)
def test_accuracy_equals_trying_every_naming(pair: tuple[list[int], list[int]]) -> None:
    assert metrics.clustering_accuracy(*pair) == pytest.approx(slow_accuracy(*pair), abs=1e-12)


@given(groupings())
@settings(max_examples=40, deadline=None)
def test_pair_measures_equal_the_double_loop(pair: tuple[list[int], list[int]]) -> None:
    both, only_cluster, only_class, neither = slow_pairs(*pair)
    pairs = both + only_cluster + only_class + neither
    joined = 2 * both + only_cluster + only_class
    assert metrics.rand_index(*pair) == pytest.approx((both + neither) / pairs if pairs else 1.0)
    assert metrics.pairwise_f1(*pair) == pytest.approx(2 * both / joined if joined else 1.0)


@given(groupings())
@settings(max_examples=40, deadline=None)
def test_entropies_equal_the_literal_sum(pair: tuple[list[int], list[int]]) -> None:
    classes, labels = pair
    by_size, plain = slow_entropy(classes, labels)
    assert metrics.class_entropy(classes, labels) == pytest.approx(by_size, abs=1e-12)
    assert metrics.class_entropy(classes, labels, weighted=False) == pytest.approx(plain, abs=1e-12)
    by_size, plain = slow_entropy(labels, classes)
    assert metrics.cluster_entropy(classes, labels) == pytest.approx(by_size, abs=1e-12)
    assert metrics.cluster_entropy(classes, labels, weighted=False) == pytest.approx(plain, abs=1e-12)


@given(groupings())
@settings(max_examples=40, deadline=None)
def test_average_precision_equals_the_literal_loop(pair: tuple[list[int], list[int]]) -> None:
    slow = slow_precision(*pair)
    assert metrics.average_precision(*pair, per_class=True) == pytest.approx(slow)
    assert metrics.average_precision(*pair) == pytest.approx(sum(slow.values()) / len(slow))


@given(groupings())
@settings(max_examples=40, deadline=None)
def test_agrees_with_scikit_learn(pair: tuple[list[int], list[int]]) -> None:
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score, rand_score

    assert metrics.rand_index(*pair) == rand_score(*pair)
    assert metrics.adjusted_rand_index(*pair) == adjusted_rand_score(*pair)
    for average in ("arithmetic", "max"):
        expected = normalized_mutual_info_score(*pair, average_method=average)
        found = metrics.normalized_mutual_info(*pair, average=average)
        assert found == pytest.approx(expected, abs=1e-12)


@given(groupings())
@settings(max_examples=40, deadline=None)
def test_entropies_are_what_scikit_learn_builds_homogeneity_from(pair: tuple[list[int], list[int]]) -> None:
    from sklearn.metrics import completeness_score, homogeneity_score
    from sklearn.metrics.cluster import contingency_matrix

    classes, labels = pair
    of_classes, _ = slow_entropy(classes, [0] * len(classes))
    of_labels, _ = slow_entropy(labels, [0] * len(labels))
    mixed = (1 - homogeneity_score(classes, labels)) * of_classes
    scattered = (1 - completeness_score(classes, labels)) * of_labels
    assert metrics.class_entropy(classes, labels) == pytest.approx(mixed, abs=1e-9)
    assert metrics.cluster_entropy(classes, labels) == pytest.approx(scattered, abs=1e-9)
    assert metrics.purity(classes, labels) == contingency_matrix(classes, labels).max(axis=0).sum() / len(labels)


@pytest.mark.parametrize("measure", EVERY, ids=named)
@given(pair=groupings(), data=st.data())
@settings(max_examples=20, deadline=None)
def test_names_and_order_do_not_matter(
    measure: Measure, pair: tuple[list[int], list[int]], data: st.DataObject
) -> None:
    classes, labels = pair
    expected = measure(classes, labels)
    order = data.draw(st.permutations(range(len(classes))))
    class_names = data.draw(st.permutations(range(6)))
    cluster_names = data.draw(st.permutations(["x", "", "Zebra", "y y", "é", "-1"]))
    renamed = [class_names[classes[i]] - 3 for i in order], [cluster_names[labels[i]] for i in order]
    assert measure(*renamed) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("measure", EVERY, ids=named)
@given(classes=st.lists(st.integers(0, 4), min_size=1, max_size=20))
@settings(max_examples=20, deadline=None)
def test_the_same_grouping_is_perfect(measure: Measure, classes: list[int]) -> None:
    labels = [10 - c for c in classes]
    assert measure(classes, labels) == pytest.approx(1.0 if measure in HIGHER else 0.0, abs=1e-12)


@given(groupings())
@settings(max_examples=40, deadline=None)
def test_bounds_and_order_of_the_measures(pair: tuple[list[int], list[int]]) -> None:
    classes, labels = pair
    report = metrics.cluster_report(classes, labels)
    assert list(report) == [measure.__name__ for measure in EVERY]
    for measure in HIGHER:
        lowest = -0.5 if measure is metrics.adjusted_rand_index else 0.0
        assert lowest - 1e-12 <= report[measure.__name__] <= 1.0
    assert 0.0 <= report["class_entropy"] <= math.log(len(set(classes))) + 1e-12
    assert 0.0 <= report["cluster_entropy"] <= math.log(len(set(labels))) + 1e-12
    assert report["clustering_accuracy"] <= report["purity"] + 1e-12
    assert report["purity"] >= max(Counter(classes).values()) / len(classes) - 1e-12
    by_largest = metrics.normalized_mutual_info(classes, labels, average="max")
    assert by_largest <= report["normalized_mutual_info"] + 1e-12


@given(groupings(), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_splitting_clusters_cleans_them_and_scatters_the_classes(
    pair: tuple[list[int], list[int]], random: object
) -> None:
    classes, labels = pair
    split = [2 * label + random.randint(0, 1) for label in labels]  # type: ignore[attr-defined]
    assert metrics.purity(classes, split) >= metrics.purity(classes, labels) - 1e-12
    assert metrics.class_entropy(classes, split) <= metrics.class_entropy(classes, labels) + 1e-12
    assert metrics.cluster_entropy(classes, split) >= metrics.cluster_entropy(classes, labels) - 1e-12


@pytest.mark.parametrize("measure", EVERY, ids=named)
def test_unassigned_items_are_one_more_cluster(measure: Measure) -> None:
    classes = [0, 0, 0, 1, 1, 1]
    assert measure(classes, [0, 0, -1, 1, -1, -1]) == measure(classes, [0, 0, 7, 1, 7, 7])
    assert measure(classes, [0, 0, -1, 1, -1, -1]) != measure(classes, [0, 0, 0, 1, 1, 1])


@pytest.mark.parametrize("measure", EVERY, ids=named)
def test_one_item_is_a_perfect_grouping(measure: Measure) -> None:
    assert measure(["only"], [-1]) == (1.0 if measure in HIGHER else 0.0)


@pytest.mark.parametrize("measure", EVERY, ids=named)
@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.float32, bool, "U3", object])
def test_any_kind_of_name_gives_the_same_number(measure: Measure, dtype: type) -> None:
    classes, labels = [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]
    found = measure(np.array(classes).astype(dtype), np.array(labels).astype(dtype))
    assert found == measure(classes, labels)
    assert type(found) is float


@pytest.mark.parametrize("measure", EVERY, ids=named)
def test_a_pandas_column_with_its_own_index_is_read_in_order(measure: Measure) -> None:
    pandas = pytest.importorskip("pandas")
    column = pandas.Series(CLASSES, index=[5, 4, 3, 2, 1, 0])
    assert measure(column, np.array(LABELS)) == measure(CLASSES, LABELS)


def test_accuracy_of_very_many_groups_stays_small_in_memory() -> None:
    # 10,000 classes by 20,000 clusters would fill 1.6 GB as a table. Each class finds one of its two items.
    n = 20_000
    tracemalloc.start()
    try:
        found = metrics.clustering_accuracy(np.arange(n) // 2, np.arange(n))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found == pytest.approx(0.5)
    assert peak < 50e6


@pytest.mark.parametrize("measure", [*EVERY, metrics.cluster_report], ids=named)
@pytest.mark.parametrize(
    ("classes", "labels", "message"),
    [
        ([0, 1, 2], [0, 1], "3 items in y_true and 2 in labels"),
        ([], [], "y_true is empty"),
        ([[0], [1]], [0, 1], r"y_true .* shape \(2, 1\).*ravel"),
        ([0, 1], [[0, 1], [1, 0]], r"labels .* shape \(2, 2\).*one column"),
        (3, [3], r"y_true .* shape \(\).*single item"),
        ([[0, 1], [2]], [0, 1], "y_true .* different length"),
        ([0.0, math.nan], [0, 1], "y_true .* nan.* item 1"),
        ([0, 1], np.array(["a", None], dtype=object), "labels .* None for item 1"),
        (np.array(["a", 1], dtype=object), [0, 1], "y_true .* mixture"),
        ([0, 1], np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]"), "labels .* datetime64"),
    ],
)
def test_wrong_input_is_explained(measure: Measure, classes: object, labels: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        measure(classes, labels)


def test_unknown_average_is_explained() -> None:
    with pytest.raises(ParameterError, match='"arithmetic" or "max", got \'geometric\''):
        metrics.normalized_mutual_info([0, 1], [0, 1], average="geometric")  # type: ignore[arg-type]


@pytest.mark.parametrize("base", [1, 0, -2, math.nan])
@pytest.mark.parametrize("measure", LOWER, ids=named)
def test_impossible_base_is_explained(measure: Measure, base: float) -> None:
    with pytest.raises(ParameterError, match="base must be above 1"):
        measure([0, 1], [0, 1], base=base)
