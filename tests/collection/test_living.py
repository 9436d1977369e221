"""Where items are: what follows from the tables, whatever stands in them."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from manyview import Collection
from manyview.collection.living import Links

N, K = 12, 4
ITEMS = st.integers(1, N)
PAIRS = st.tuples(ITEMS, ITEMS).filter(lambda pair: pair[0] < pair[1])


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    folder = tmp_path_factory.mktemp("living")
    np.save(folder / "given.npy", np.arange(2.0 * N).reshape(N, 2))
    with Collection.create(folder / "c.manyview", folder / "given.npy") as made:
        made.save_run("rmkmc", [n % K for n in range(N)])  # clusters 1 to K
        for _ in range(2):
            made.living.new_cluster()
        yield made


class _Stop(Exception):
    pass


def standing(collection, placed, held, merged, links, copies):
    """Where items are with these words, which are taken back afterwards."""
    catalog = collection._catalog
    try:
        with collection.transaction():
            catalog.run_many("INSERT INTO placements VALUES (?, ?)", placed.items())
            catalog.run_many("INSERT INTO pinned_items VALUES (?, ?)", held.items())
            catalog.run_many("UPDATE clusters SET merged_into = ? WHERE id = ?", ((b, a) for a, b in merged.items()))
            catalog.run_many("INSERT INTO links VALUES (?, ?, ?)", ((a, b, int(t)) for (a, b), t in links.items()))
            catalog.run_many("UPDATE items SET duplicate_of = ? WHERE id = ?", ((a, b) for b, a in copies.items()))
            found = collection.living.standing(1)
            raise _Stop
    except _Stop:
        return found, dict(zip(found.ids.tolist(), found.clusters.tolist(), strict=True))


def end(merged, cluster):
    seen = []
    while cluster in merged and cluster not in seen:
        seen.append(cluster)
        cluster = merged[cluster]
    return min(seen[seen.index(cluster) :]) if cluster in seen else cluster


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.dictionaries(ITEMS, st.integers(1, K + 2), max_size=4),
    st.dictionaries(ITEMS, st.integers(1, K + 2), max_size=4),
    st.dictionaries(st.integers(1, K), st.integers(1, K + 2), max_size=3),
    st.dictionaries(PAIRS, st.booleans(), max_size=6),
    st.dictionaries(st.integers(7, N), st.integers(1, 6), max_size=3),
)
def test_every_word_holds(collection, placed, held, merged, links, copies):
    merged = {a: b for a, b in merged.items() if a != b}
    found, now = standing(collection, placed, held, merged, links, copies)
    assert found.ids.tolist() == list(range(1, N + 1))
    groups = Links([(a, b, int(t)) for (a, b), t in links.items()])
    for (a, b), together in links.items():
        if together:
            assert now[a] == now[b]
        elif groups.leader(a) != groups.leader(b):
            assert now[a] != now[b] or now[a] == -1
    linked = {item for pair in links for item in pair}
    for item in set(range(1, N + 1)) - linked:
        said = placed.get(item, held.get(item, 1 + (item - 1) % K))
        if item in copies and item not in placed:
            assert now[item] == now[copies[item]]
        else:
            assert now[item] == end(merged, said)
    assert (found.clusters[(found.wanted >= 0) & (found.clusters == -1)] == -1).all()
    assert all(now[item] >= 0 for item in set(range(1, N + 1)) - linked if item not in copies)


def test_the_stronger_claim_stays(collection):
    apart = {(1, 5): False}  # both are in cluster 1
    _, now = standing(collection, {}, {}, {}, apart, {})
    assert (now[1], now[5]) == (1, -1)  # nobody has found it a place yet
    _, now = standing(collection, {}, {5: 1}, {}, apart, {})
    assert (now[1], now[5]) == (-1, 1)  # the pinned one stays
    _, now = standing(collection, {1: 1}, {5: 1}, {}, apart, {})
    assert (now[1], now[5]) == (1, -1)  # moved is stronger than pinned
    _, now = standing(collection, {}, {}, {}, {**apart, (5, 9): True}, {})
    assert (now[1], now[5], now[9]) == (-1, 1, 1)  # two are stronger than one


def test_a_place_that_was_found_counts_while_the_link_does(collection):
    collection.living.adjust(1, [(5, 3, 1)])
    try:
        assert standing(collection, {}, {}, {}, {(1, 5): False}, {})[1][5] == 3
        assert standing(collection, {}, {}, {}, {}, {})[1][5] == 1
        assert standing(collection, {}, {}, {}, {(2, 5): False}, {})[1][5] == 1
        assert standing(collection, {}, {}, {3: 1}, {(1, 5): False}, {})[1][5] == -1  # merged into where it must not be
        assert standing(collection, {7: 3}, {}, {}, {(1, 5): False, (5, 7): False}, {})[1][5] == -1
    finally:
        collection._catalog.run("DELETE FROM adjustments")


def test_items_that_only_a_person_placed_are_there(collection):
    catalog = collection._catalog
    try:
        with collection.transaction():
            catalog.run("DELETE FROM labels WHERE item_id IN (3, 4)")
            catalog.run("INSERT INTO placements VALUES (3, 2)")
            found = collection.living.standing(1)
            raise _Stop
    except _Stop:
        assert found.ids.tolist() == [1, 2, *range(4 - 1, 4), *range(5, N + 1)]
        assert found.of([3, 4, 99]) == [2, -1, -1] and found.labels[2] == -1
        assert {c: m.size for c, m in found.members().items()} == {1: 3, 2: 4, 3: 2, 4: 2}


def test_a_stopped_update_keeps_where_it_began(collection):
    ids, clusters = np.array([1, 2]), np.array([3, -1])
    assert [part.tolist() for part in collection.living.start_update(ids, clusters)] == [[1, 2], [3, -1]]
    later = collection.living.start_update(np.array([5]), np.array([5]))
    assert [part.tolist() for part in later] == [[1, 2], [3, -1]]
    collection.living.end_update()
    assert collection.living.start_update(np.array([5]), np.array([5]))[0].tolist() == [5]
    collection.living.end_update()
