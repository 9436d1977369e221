"""Which cluster continues which: worked out by hand, and against every possible matching."""

from itertools import permutations

import numpy as np
import pytest

from manyview.workflow.clusters.identity import (
    FLOOR,
    Then,
    continued_clusters,
    identities_of_labels,
    overlap_table,
    parts_of_merges,
)


def items(*parts):
    """Pairs of label and identity, each so many times -> two arrays."""
    rows = [(label, own) for label, own, count in parts for _ in range(count)]
    return np.array([row[0] for row in rows], dtype=np.int64), np.array([row[1] for row in rows], dtype=np.int64)


def test_renumbered_labels_keep_their_identities():
    labels, own = items((0, 7, 5), (1, 3, 4), (2, 9, 6))
    assert continued_clusters(labels, own) == {0: 7, 1: 3, 2: 9}


def test_the_larger_part_of_a_split_keeps_the_identity_and_a_union_the_larger_one():
    labels, own = items((0, 1, 6), (1, 1, 4), (2, 2, 7), (2, 3, 3))
    assert continued_clusters(labels, own) == {0: 1, 2: 2}


def test_scrambled_clusters_continue_nothing():
    # a quarter of each goes everywhere: likeness 2 * 5 / 40 = 0.25, below the floor
    labels, own = items(*((label, identity, 5) for label in range(4) for identity in range(1, 5)))
    assert 2 * 5 / 40 < FLOOR and continued_clusters(labels, own) == {}


def test_an_identity_of_many_does_not_end_on_a_few():
    # 1 goes mostly into 2's and 3's labels; the five that are left alone do not take its name away
    labels, own = items((0, 1, 50), (0, 2, 60), (1, 1, 49), (1, 3, 80), (2, 1, 5))
    assert continued_clusters(labels, own) == {0: 2, 1: 3}


def test_items_in_no_cluster_do_not_count():
    labels, own = items((0, 1, 3), (-1, 1, 1), (0, -1, 2), (-1, -1, 4))
    assert continued_clusters(labels, own) == {0: 1}
    assert continued_clusters(np.array([], dtype=np.int64), np.array([], dtype=np.int64)) == {}


def test_a_persons_cluster_comes_first_where_it_has_half():
    labels, own = items((0, 1, 10), (0, 2, 12), (1, 1, 0))
    assert continued_clusters(labels, own) == {0: 2}
    assert continued_clusters(labels, own, [1]) == {0: 1}  # 20 / 32 of the items are shared
    labels, own = items((0, 1, 8), (0, 2, 30))
    assert continued_clusters(labels, own, [1]) == {0: 2}  # 16 / 46: a name does not move to strangers


def found(labels, *owns, **options):
    ids = np.arange(labels.size)
    return identities_of_labels(ids, labels, [Then(ids, own) for own in owns], **options)


def test_what_a_person_placed_does_not_draw_the_others_after_it():
    labels, own = items((0, 5, 8), (0, 2, 22))  # 5 was split off 2 by hand; the run finds both as one
    assert found(labels, own, by_hand=np.flatnonzero(own == 5)) == {0: 2}
    labels, own = items((0, 5, 22), (0, 2, 8))
    assert found(labels, own, by_hand=np.flatnonzero(own == 5)) == {0: 2}
    labels, own = items((0, 5, 22), (1, 2, 8))  # the run finds the part by itself
    assert found(labels, own, by_hand=np.flatnonzero(own == 5)) == {0: 5, 1: 2}


def test_a_cluster_that_was_lost_for_a_while_comes_back():
    labels, older = items((0, 1, 10), (1, 2, 9), (2, 3, 8))
    newest = np.where(older == 2, 1, older)  # the run between had no 2
    assert found(labels, newest) == {0: 1, 2: 3}
    assert found(labels, newest, older) == {0: 1, 1: 2, 2: 3}
    # what is there now is not brought back a second time
    newest = np.where(older == 2, 3, older)
    newest[:3] = 2
    assert 2 not in found(labels, newest, older).values()
    # found again, a merged part stays in the merge
    assert found(labels, np.where(older == 2, 1, older), older, merged={2: 1}) == {0: 1, 1: 2, 2: 3}
    # a piece that no run knew, of a merge
    labels, newest = items((0, 1, 10), (1, 1, 6), (2, 3, 8))
    assert found(labels, newest, merged={2: 1}) == {0: 1, 1: 2, 2: 3}
    assert found(labels, newest) == {0: 1, 2: 3}


def test_a_name_comes_back_to_its_items_and_not_to_one_that_was_moved_there():
    labels, older = items((0, 1, 20), (1, 2, 18), (2, 3, 30), (2, 2, 1))
    moved = [68]  # a person put one of the last group into 2
    newest = np.where(older == 2, 1, older)  # a coarser level: 1 and 2 are one
    newest[moved] = 2
    assert found(labels, newest, older, by_hand=moved) == {0: 1, 1: 2, 2: 3}
    newest = np.where(older <= 2, 9, older)  # the same, and another cluster than both: it continues as the larger
    assert found(labels, newest, older) == {0: 9, 1: 2, 2: 3}
    newest[moved] = 2
    assert found(labels, newest, older, by_hand=moved, first=[2]) == {0: 9, 1: 2, 2: 3}
    labels, older = items((0, 1, 10), (1, 2, 18), (2, 3, 30), (2, 2, 1))
    moved = [58]
    newest = np.where(older <= 2, 9, older)
    newest[moved] = 2
    assert found(labels, newest, older, by_hand=moved) == {0: 1, 1: 9, 2: 3}
    assert found(labels, newest, older, by_hand=moved, first=[2]) == {0: 9, 1: 2, 2: 3}
    assert found(labels, newest, older, by_hand=moved, first=[2, 9]) == {0: 1, 1: 9, 2: 3}  # named since


@pytest.mark.parametrize("turned", [False, True])
def test_halves_that_were_one_for_a_while_are_told_apart_by_what_they_were_before(turned):
    ids = np.arange(8)
    two, one = np.array([1, 1, 1, 1, 2, 2, 2, 2]), np.full(8, 2)
    labels = np.array([1, 1, 1, 1, 0, 0, 0, 0]) if turned else np.array([0, 0, 0, 0, 1, 1, 1, 1])
    found = identities_of_labels(ids, labels, [Then(ids, one), Then(ids[1:], two[1:])])
    assert found == {int(labels[0]): 1, int(labels[-1]): 2}


def test_items_that_are_new_or_gone_do_not_matter():
    then = Then(np.array([1, 2, 3, 4]), np.array([7, 7, 8, 8]))
    assert identities_of_labels(np.array([2, 4, 9]), np.array([1, 0, 1]), [then]) == {1: 7, 0: 8}
    assert identities_of_labels(np.array([2, 4, 9]), np.array([1, 0, 1]), []) == {}


@pytest.mark.parametrize("draw", range(20))
def test_the_matching_shares_as_much_as_any(draw):
    rng = np.random.default_rng(draw)
    labels, own = rng.integers(4, size=40), rng.integers(1, 5, size=40)
    matched = continued_clusters(labels, own)
    table, rows, columns = overlap_table(labels, own)
    assert [[((labels == r) & (own == c)).sum() for c in columns] for r in rows] == table.tolist()

    def allowed(r, c):
        return 2 * table[r, c] >= FLOOR * ((labels == rows[r]).sum() + (own == columns[c]).sum())

    best = max(
        sum(table[r, c] for r, c in zip(range(4), order, strict=True) if allowed(r, c))
        for order in permutations(range(4))
    )
    assert sum(((labels == r) & (own == c)).sum() for r, c in matched.items()) == best
    assert len(set(matched.values())) == len(matched)


def test_parts_of_a_merge_are_found_again():
    merged = {3: 1, 4: 1}
    labels, own = items((0, 1, 6), (0, 2, 5), (1, 3, 4), (1, 2, 5), (2, 3, 4), (2, 4, 5), (3, 2, 9))
    assert parts_of_merges(labels, own, merged) == {0: 3, 2: 4}  # 0 has nothing of 3 or 4, but most of the merge
    assert parts_of_merges(labels, own, {}) == {}
