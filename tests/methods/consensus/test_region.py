"""Where the number of clusters is looked for: what two halves of the neighbours say together, by its definition."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from manyview.blocks import workers
from manyview.methods.consensus import _region as module
from manyview.methods.consensus._communities import communities


def planted(sizes, inside, outside, seed):
    """A graph of groups: two items of one group are linked with one chance, two others with another."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(sizes)), sizes)
    chance = np.where(group[:, None] == group, inside, outside)
    W = np.triu(rng.uniform(size=chance.shape) < chance, 1).astype(float)
    W[np.arange(group.size - 1), np.arange(1, group.size)] += 0.1  # nobody is alone
    return csr_matrix(W + W.T)


def pairs_of(sizes, inside, outside, n_pairs=2):
    return [tuple(planted(sizes, inside, outside, [p, half]) for half in (0, 1)) for p in range(n_pairs)]


def test_every_neighbour_is_in_one_half():
    lists = [np.arange(60).reshape(6, 10).astype(np.int32), np.arange(18).reshape(6, 3).astype(np.int32)]
    first, second = module.halves_of(lists, np.random.default_rng(0))
    for near, a, b in zip(lists, first, second, strict=True):
        assert np.array_equal(np.sort(np.hstack([a, b]), axis=1), near)
        assert a.shape[1] == near.shape[1] // 2
    assert np.unique(np.sort(first[0] % 10, axis=1), axis=0).shape[0] > 1, "every row is dealt by itself"
    alone = np.zeros((4, 1), dtype=np.int32)
    assert [half[0].tolist() for half in module.halves_of([alone], np.random.default_rng(0))] == [alone.tolist()] * 2


def test_shared_information_by_its_definition():
    a, b = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 1, 2, 2])

    class Swap:
        """A shuffle that is known: the last item comes first."""

        def permutation(self, labels):
            return np.roll(labels, 1)

    def information(x, y):
        total = 0.0
        for i in np.unique(x):
            for j in np.unique(y):
                p = np.mean((x == i) & (y == j))
                total += p * np.log(p / (np.mean(x == i) * np.mean(y == j))) if p else 0.0
        return total

    chance = information(a, np.roll(b, 1))
    shared, entropy = module.shared_information(a, b, Swap())
    assert shared == pytest.approx(information(a, b) - chance)
    assert entropy == pytest.approx((np.log(2) + np.log(3)) / 2 - chance)
    rng = np.random.default_rng(0)
    accident, much = module.shared_information(rng.integers(20, size=400), rng.integers(20, size=400), rng)
    assert abs(accident) < 0.05 * much, "partitions that have nothing to do with each other share nothing"


@pytest.mark.parametrize("sizes", [[30, 40, 50], [25] * 8, [12, 40] * 5])
def test_groups_that_both_halves_show_are_counted(sizes):
    with workers(1) as threads:
        found = module.likely_region(pairs_of(sizes, 0.5, 0.01), 2, 40, 0, threads)
    assert found.number == pytest.approx(len(sizes))
    assert found.agreement > 0.95


def test_the_best_of_all_resolutions_is_taken():
    """The search written out, on groups that run into each other."""
    pairs = pairs_of([40] * 5, 0.3, 0.06)
    graphs = [graph for pair in pairs for graph in pair]
    rng, resolution, told = np.random.default_rng(3), 0.2, []
    while True:
        cuts = [communities(graph, 3 + g, resolution) for g, graph in enumerate(graphs)]
        number = np.prod([cut.max() + 1.0 for cut in cuts]) ** 0.25
        if number > 20:
            break
        both = [module.shared_information(cuts[p], cuts[p + 1], rng) for p in (0, 2)]
        shared, entropy = np.mean(both, axis=0)
        if number >= 3:
            told.append((shared - 0.7 * entropy, number, shared / entropy))
        resolution *= 1.24
    assert len(told) > 3
    _, number, agreement = max(told)
    for n_jobs in (1, 2):
        with workers(n_jobs) as threads:
            found = module.likely_region(pairs, 3, 20, 3, threads)
        assert found == (pytest.approx(number, abs=1e-6), pytest.approx(agreement))


def test_a_graph_in_too_many_parts_has_a_number_all_the_same():
    apart = csr_matrix(np.kron(np.eye(10), np.ones((2, 2)) - np.eye(2)))
    with workers(1) as threads:
        assert module.likely_region([(apart, apart)], 2, 4, 0, threads) == (10.0, 0.0)
