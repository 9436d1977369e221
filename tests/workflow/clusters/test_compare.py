"""Two runs, item by item."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from manyview.errors import ParameterError
from manyview.workflow.clusters.compare import compare_runs

from ..living_samples import make


@pytest.fixture
def collection(tmp_path):
    with make(tmp_path, 2, 4) as made:
        yield made


def test_matched_clusters_flows_and_agreement(collection):
    one = collection.save_run("rmkmc", [0, 0, 0, 1, 1, 2, 2, -1], names={0: "a", 1: "b", 2: "c"})
    two = collection.save_run("rmkmc", [5, 5, 7, 7, 7, 7, -1, 5], names={5: "x", 7: "y"})
    numbers = {run.id: {row.label: row.id for row in collection.runs.clusters(run.id)} for run in (one, two)}
    a, b, c = (numbers[one.id][label] for label in range(3))
    x, y = numbers[two.id][5], numbers[two.id][7]
    found = compare_runs(collection, one.id, two.id)
    pairs = {(m.first, m.second): (m.shared, m.first_size, m.second_size) for m in found.matched}
    assert pairs == {(a, x): (2, 3, 3), (b, y): (2, 2, 4), (c, None): (0, 2, 0)}
    assert {(m.first, m.second): m.share for m in found.matched}[a, x] == pytest.approx(2 / 4)
    assert set(found.flows) == {(a, y, 1), (c, y, 1), (c, -1, 1), (-1, x, 1)}
    assert found.movers == {3: (a, y), 6: (c, y), 7: (c, -1), 8: (-1, x)}
    assert found.same == pytest.approx(4 / 6) and found.n_items == 8
    inside = [0, 1, 2, 3, 4, 5]
    first, second = np.array([0, 0, 0, 1, 1, 2]), np.array([5, 5, 7, 7, 7, 7])
    assert found.ari == pytest.approx(adjusted_rand_score(first[inside], second[inside]))
    plain = found.to_dict()
    assert plain["agreement"].keys() == {"ari", "nmi", "same"} and plain["matched"][0].keys() >= {
        "first",
        "second",
        "share",
    }
    assert {"from", "to", "size"} == plain["flows"][0].keys() and len(plain["movers"]) == 4


def test_a_run_agrees_with_itself_and_items_of_one_run_only_are_counted(collection):
    one = collection.save_run("rmkmc", [0, 0, 0, 1, 1, 2, 2, 2])
    found = compare_runs(collection, one.id, one.id)
    assert (found.ari, found.same, found.flows, found.movers) == (pytest.approx(1.0), 1.0, (), {})
    assert found.nmi == pytest.approx(1.0)
    ids = collection.items.ids
    two = collection.save_run("rmkmc", [0, 0, 1], ids[:3])
    part = compare_runs(collection, one.id, two.id)
    assert (part.n_items, part.only_first, part.only_second) == (3, 5, 0)
    three = collection.save_run("rmkmc", [0, 0], ids[6:])
    with pytest.raises(ParameterError, match="no item in common"):
        compare_runs(collection, two.id, three.id)
    with pytest.raises(ParameterError, match="has no run 99"):
        compare_runs(collection, one.id, 99)
