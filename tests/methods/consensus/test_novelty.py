"""What is unlike everything known: the promise about false alarms, the power to see, and a literal twin."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from manyview import Views
from manyview.methods.consensus.novelty import FALSE_ALARMS, measure_strangeness


def draw(n, seed, shift=0.0):
    rng = np.random.default_rng(seed)
    kinds = rng.integers(3, size=n)
    return Views(
        {
            "a": (3.0 * kinds[:, None] + rng.standard_normal((n, 6)) + shift).astype(np.float32),
            "b": rng.standard_normal((n, 3)).astype(np.float32) + shift,
        }
    )


def test_few_familiar_items_are_called_strange():
    known = draw(1500, 0)
    share = np.mean([measure_strangeness(known, draw(400, seed)).strange.mean() for seed in range(1, 6)])
    assert share <= FALSE_ALARMS  # 2,000 items; with two views far fewer than one in a hundred
    one = known[["b"]]
    share = np.mean([measure_strangeness(one, draw(400, seed)[["b"]]).strange.mean() for seed in range(1, 11)])
    assert 0.002 <= share <= 2 * FALSE_ALARMS  # 4,000 items, one view: about one in a hundred, and not none


def test_strangers_are_seen_and_grouped():
    known, near, far = draw(800, 0), draw(6, 1, shift=40.0), draw(2, 2, shift=-60.0)
    new = Views({name: np.vstack([near[name], far[name], known[name][:5]]) for name in known.names})
    found = measure_strangeness(known, new)
    assert found.strange.tolist() == [True] * 8 + [False] * 5
    groups = found.groups(np.arange(8))
    assert len(set(groups[:6].tolist())) == 1 and groups[0] not in groups[6:]
    assert found.neighbours[8:, 0].tolist() == [0, 1, 2, 3, 4]  # themselves


def test_one_familiar_view_is_enough_and_a_missing_one_says_nothing():
    known = draw(500, 0)
    new = Views(
        {"a": np.vstack([known["a"][:1], known["a"][:1] + 50, known["a"][:1] + 50]), "b": known["b"][:3] + 50},
        mask=np.array([[True, True], [True, False], [False, False]]),
    )
    found = measure_strangeness(known, new)
    assert found.strange.tolist() == [False, True, False] and np.isnan(found.familiarity[2])


def test_familiarity_is_the_rank_of_the_fourth_distance():
    known, new = draw(300, 0)[["b"]], draw(20, 1, shift=1.0)[["b"]]
    found = measure_strangeness(known, new)
    from manyview.blocks import workers
    from manyview.data.spaces import learn_points, to_points

    with workers(1) as threads:
        rows, _, learned = learn_points("b", known["b"], np.ones(300, dtype=bool), "rank", threads)
        queries, _ = to_points(learned, new["b"], np.ones(20, dtype=bool), threads)
    apart = np.linalg.norm(rows[:, None].astype(float) - rows[None], axis=2)
    usual = np.sort(apart, axis=1)[:, 4]  # the first is the item itself
    reach = np.sort(np.linalg.norm(queries[:, None].astype(float) - rows[None], axis=2), axis=1)[:, 3]
    share = [(1 + (usual >= distance - 1e-9).sum()) / 301 for distance in reach]
    assert found.familiarity == pytest.approx(share, abs=1e-12)


def test_too_few_known_items_to_judge_by_and_sparse_views():
    assert not measure_strangeness(draw(60, 0), draw(5, 1, shift=100.0)).strange.any()
    rng = np.random.default_rng(0)
    words = csr_matrix((rng.random((400, 30)) < 0.2).astype(np.float32))
    empty = csr_matrix((2, 30), dtype=np.float32)
    found = measure_strangeness(Views({"words": words}), Views({"words": empty}))
    assert np.isnan(found.familiarity).all()
    again = measure_strangeness(Views({"words": words}), Views({"words": words[:10]}))
    assert not again.strange.any()


def test_the_number_of_threads_changes_nothing():
    known, new = draw(1200, 0), draw(50, 1, shift=2.0)
    one, two = (measure_strangeness(known, new, n_jobs=jobs) for jobs in (1, 2))
    assert np.array_equal(one.familiarity, two.familiarity) and np.array_equal(one.neighbours, two.neighbours)
