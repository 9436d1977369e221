"""How long work will take: by the last run of its kind, in proportion to the items."""

import pytest

from manyview.workflow.reading import estimate
from manyview.workflow.reading.estimate import all_estimates, estimate_work, facts_of

from ..tagged import make_collection, make_tagged


def test_an_estimate_grows_with_the_collection(tmp_path, monkeypatch):
    monkeypatch.setattr(estimate, "_START", 0.0)
    with make_collection(tmp_path, n_items=60) as collection:
        assert "by experience" in estimate_work(collection, "fit").sentence
        runs = {"fit": collection.fit("rmkmc", 4, n_jobs=1), "suggest": collection.suggest(n_jobs=1)}
        for kind, run in runs.items():
            assert run.figures["n_items"] == 60
            found = estimate_work(collection, kind)
            assert found.seconds == pytest.approx(run.seconds) and f"by run {run.id}" in found.sentence
        (tmp_path / "more").mkdir()
        collection.add(make_tagged(tmp_path / "more", n_items=120, seed=1))
        for kind, run in runs.items():
            found = estimate_work(collection, kind)
            assert found.seconds == pytest.approx(run.seconds * len(collection.items) / 60)
        assert len(collection.items) > 100


def test_everything_that_can_be_done_has_its_estimate(tmp_path):
    with make_collection(tmp_path, n_items=60) as collection:
        rows = all_estimates(collection)
        assert [(row.work, row.method) for row in rows] == [
            *(("fit", name) for name in ("consensus", "rmkmc", "ghf-art", "hml-rf", "cca")),
            ("suggest", None),
            ("map", None),
        ]
        assert all(row.estimate.seconds > 0 and row.estimate.memory > 1e8 for row in rows)


def facts(n_items, n_tags=500):
    shape = estimate.Shape(n_items, 3, 196)
    return estimate.Facts(shape, {"row": n_items}, n_tags, 4 * n_items, False, 0, 1)


def test_costs_grow_with_the_items_until_landmarks_stand_for_them():
    for name in ("consensus", "rmkmc", "ghf-art", "hml-rf", "cca", "aplsa"):
        small, large = (estimate._of_method(facts(n), name, 20) for n in (10_000, 100_000))
        assert 2 < large[0] / small[0] < 30 and large[1] > 1.5 * small[1]
    _, at_limit = estimate._cost(facts(100_000), "fit", None, 50)
    _, beyond = estimate._cost(facts(1_000_000), "fit", None, 50)
    assert beyond < at_limit + 300 * 900_000  # labels and members, no votes
    assert beyond < 3e9


def test_facts_are_those_of_the_collection(tmp_path):
    with make_collection(tmp_path, n_items=60) as collection:
        found = facts_of(collection)
        tags = collection.tags
        assert (found.shape.n_items, found.n_tags, found.n_tag_uses) == (60, tags.n_tags, tags.yes.nnz)
        assert found.shape.n_views == len(collection.view_names) + 1
        assert not found.lacks_views
