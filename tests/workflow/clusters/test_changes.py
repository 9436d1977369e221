"""A change report says what two states show, and nothing else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyview.workflow.clusters.changes import Flow, change_report
from manyview.workflow.fit import fit_collection

from ..living_samples import make


def state(**clusters):
    """Item -> cluster, with names like i1=3."""
    items = {int(name[1:]): cluster for name, cluster in clusters.items()}
    return np.array(sorted(items)), np.array([items[item] for item in sorted(items)])


def test_a_report_worked_out_by_hand():
    before = state(i1=1, i2=1, i3=1, i4=1, i5=2, i6=2, i7=3, i8=-1, i9=3)
    after = state(i1=1, i2=1, i3=4, i4=4, i5=1, i6=1, i7=-1, i8=1, i10=4, i11=-1)
    found = change_report(before, after, changed=[3, 10], names={1: "dogs", 9: "not there"})
    assert (found.n_before, found.n_after, found.n_kept, found.n_moved) == (9, 10, 2, 6)
    assert (found.n_new, found.n_gone, found.n_changed) == (2, 1, 1)
    assert found.flows == (Flow(1, 4, 2), Flow(2, 1, 2), Flow(-1, 1, 1), Flow(3, -1, 1))
    assert found.sizes == {1: (4, 5), 2: (2, 0), 3: (2, 0), 4: (0, 3)} and found.new_items == {-1: 1, 4: 1}
    assert found.opened == (4,) and found.closed == (2, 3)
    assert found.split == {1: (1, 4)} and found.merged == {}  # half of 1 is not most of it
    assert [one.item for one in found.movers] == [3, 4, 5, 6, 7, 8] and found.names == {1: "dogs"}
    said = found.lines()
    assert said[0] == "2 of 8 items that were there before are in the same cluster (25.0 %)"
    assert said[1] == "2 new, 1 changed, 1 gone"
    assert "opened: 4, 3 items" in said and "closed: 2, its items went 2 to 1 (dogs)" in said
    assert "split: 1 (dogs) into 1 (dogs), 4" in said and "2 items moved from 2 to 1 (dogs)" in said
    plain = found.to_dict()
    assert plain["flows"][0] == {"from": 1, "to": 4, "size": 2} and plain["sizes"]["1"] == [4, 5]


def test_merged_clusters():
    before = state(i1=1, i2=1, i3=2, i4=2, i5=2, i6=3)
    after = state(i1=1, i2=1, i3=1, i4=1, i5=3, i6=3)
    found = change_report(before, after)
    assert found.merged == {1: (1, 2)} and found.split == {2: (1, 3)} and found.closed == (2,)


def test_nothing_changed():
    same = state(i1=1, i2=2)
    found = change_report(same, same)
    assert found.lines() == ["2 of 2 items that were there before are in the same cluster (100.0 %)"]
    nobody = np.zeros(0, dtype=np.int64)
    assert change_report((nobody, nobody), same).new_items == {1: 1, 2: 1}


@given(
    st.dictionaries(st.integers(1, 30), st.integers(-1, 4)),
    st.dictionaries(st.integers(1, 30), st.integers(-1, 4)),
)
def test_the_parts_add_up(first, second):
    def as_state(clusters):
        ids = np.array(sorted(clusters), dtype=np.int64)
        return ids, np.array([clusters[item] for item in ids.tolist()], dtype=np.int64)

    found = change_report(as_state(first), as_state(second))
    assert found.n_kept + found.n_moved + found.n_gone == found.n_before == len(first)
    assert found.n_kept + found.n_moved + found.n_new == found.n_after == len(second)
    assert sum(flow.size for flow in found.flows) == found.n_moved == len(found.movers)
    assert sum(found.new_items.values()) == found.n_new
    for cluster, (before, after) in found.sizes.items():
        left = sum(flow.size for flow in found.flows if flow.source == cluster)
        came = sum(flow.size for flow in found.flows if flow.target == cluster)
        gone = sum(1 for item, one in first.items() if one == cluster and item not in second)
        assert before - left - gone + came + found.new_items.get(cluster, 0) == after


def test_every_mover_of_a_refit_has_a_reason(tmp_path):
    with make(tmp_path) as collection:
        fit_collection(collection, n_clusters=4)
        before = collection.runs.assignment()
        changes = fit_collection(collection, n_clusters=3).changes
        after = collection.runs.assignment()
        assert changes.n_moved == int((before[1] != after[1]).sum()) > 0
        assert {one.reason for one in changes.movers} <= {"closed", "merged"} and all(
            m.sentence for m in changes.movers
        )
        changes = fit_collection(collection, n_clusters=5).changes
        assert {one.reason for one in changes.movers} == {"opened"}
        kept = collection.history.get(3)
        assert kept.kind == "fit" and kept.detail["changes"]["n_moved"] == changes.n_moved


@pytest.mark.parametrize("method", ["consensus", "rmkmc"])
def test_a_refit_with_the_same_settings_moves_nobody(tmp_path, method):
    with make(tmp_path) as collection:
        fit_collection(collection, method, 4)
        again = fit_collection(collection, method, 4)
        assert again.changes.n_moved == 0 and ("continues" in again.run.settings) == (method == "consensus")
        fresh = fit_collection(collection, method, 4, fresh=True)
        assert "continues" not in fresh.run.settings and fresh.changes.n_moved == 0
