"""Hidden tags on the user's own data, clusters against classes, and what is kept of it."""

import numpy as np
import pytest

from manyview import Collection, errors
from manyview.report.run import report_of_run
from manyview.workflow.evaluate import evaluate
from manyview.workflow.reading.classes import read_classes

from .tagged import make_collection


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    with make_collection(tmp_path_factory.mktemp("judged"), n_items=320, recorded=0.8) as collection:
        yield collection, evaluate(collection, 0.3, "label", draws=2, n_jobs=1)


def test_suggest_beats_what_it_has_to_beat(judged):
    _, found = judged
    assert list(found.tags) == ["suggest", "co-occurrence", "nearest neighbours", "plain neighbours", "popularity"]
    ours = found.mean(found.tags, "suggest", "P@1")
    assert ours > 0.8 and ours >= found.mean(found.tags, "popularity", "P@1") + 0.3
    assert len(found.tags["suggest"]["ECE"]) == 2 and found.mean(found.tags, "suggest", "ECE") < 0.06
    assert "ECE" not in found.tags["plain neighbours"]
    assert found.mean(found.tags, "plain neighbours", "ECE") is None


def test_promises_are_kept(judged):
    _, found = judged
    assert [one.min_probability for one in found.promises] == sorted(
        (one.min_probability for one in found.promises), reverse=True
    )
    large = [one for one in found.promises if one.n >= 100]
    assert large and all(abs(one.promised - one.kept) < 0.1 for one in large)
    assert sum(one["n"] for one in found.reliability) == pytest.approx(5 * found.n_judged, abs=15)


def test_a_half_tagged_collection_is_judged_by_its_tagged_half(tmp_path):
    with make_collection(tmp_path, n_items=400, recorded=0.9, tagged=0.5) as collection:
        found = evaluate(collection, 0.4, draws=1, n_jobs=1)
        tagged = int((np.diff(collection.tags.yes.indptr) > 0).sum())
    assert found.n_judged == tagged < 250 and found.to_dict()["tags"]["n_left_out"] == 400 - tagged
    assert any(f"{tagged} items are judged; {400 - tagged} have no tag" in sentence for sentence in found.said)
    assert sum(one["n"] for one in found.reliability) == 5 * tagged
    sure = [one for one in found.promises if one.n >= 100]
    assert sure and all(one.kept > one.promised - 0.1 for one in sure)


def test_clusters_are_judged_against_classes(judged):
    _, found = judged
    assert list(found.clusters) == ["consensus", "k-means, all views", "k-means, looks", "k-means, tags"]
    assert (found.n_classes, found.n_clusters, found.n_labelled) == (4, 4, 320)
    assert found.mean(found.clusters, "consensus", "accuracy") > 0.95
    plain = found.to_dict()["clusters"]["methods"]["consensus"]["NMI"]
    assert plain["draws"] == 2 and 0 <= plain["deviation"] < 0.1


def test_what_was_found_is_kept_and_shown_in_the_report(judged):
    collection, found = judged
    kept = collection.runs.evaluation()
    assert kept["tags"] == found.to_dict()["tags"] and kept["settings"]["labels"] == "label"
    collection.fit(n_clusters=4)
    page = report_of_run(collection).html()
    assert "How good it is on these items" in page and "co-occurrence" in page and "k-means, all views" in page
    assert f"{found.to_dict()['tags']['methods']['suggest']['P@1']['mean']:.3f}" in page


def test_large_collections_are_judged_by_some_items(judged):
    collection, _ = judged
    found = evaluate(collection, None, "label", draws=1, max_items=100, n_jobs=1)
    assert found.n_items == 100 and found.n_all == 320 and not found.tags
    assert any("100 of 320 items" in sentence for sentence in found.said)
    assert "tags" not in found.to_dict()


def test_labels_come_from_a_column_a_file_or_the_folders(judged, tmp_path):
    collection, _ = judged
    column = read_classes(collection, "label")
    assert column.tolist()[:6] == [0, 1, 2, 3, 0, 1]
    lines = ["id,label", *(f"{item.key},class {n % 4}" for n, item in enumerate(collection.items) if n < 200)]
    (tmp_path / "truth.csv").write_text("\n".join(lines), encoding="utf-8")
    given = read_classes(collection, str(tmp_path / "truth.csv"))
    assert given[:200].tolist() == column[:200].tolist() and set(given[200:].tolist()) == {-1}
    folder = tmp_path / "texts"
    for name in ("a/one.txt", "a/two.txt", "b/three.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("some words", encoding="utf-8")
    with Collection.create(tmp_path / "texts.manyview", folder) as texts:
        folders = dict(zip((item.key for item in texts.items), read_classes(texts, "folder").tolist(), strict=True))
        assert folders == {"a/one.txt": 0, "a/two.txt": 0, "b/three.txt": 1}
    (tmp_path / "odd.csv").write_text("nobody,x\n", encoding="utf-8")
    (tmp_path / "one.csv").write_text("only\n", encoding="utf-8")
    for labels, words in (
        ("colour", "no column 'colour'; there are: label"),
        (str(tmp_path / "odd.csv"), "names no item"),
        (str(tmp_path / "one.csv"), "two columns"),
        (str(tmp_path / "none.csv"), "cannot read"),
    ):
        with pytest.raises(errors.ParameterError, match=words):
            read_classes(collection, labels)


def test_wrong_questions_are_refused(judged, tmp_path):
    collection, _ = judged
    for options, words in (
        ({"hide_tags": None}, "nothing to measure"),
        ({"hide_tags": 1.5}, "hide_tags"),
        ({"hide_tags": None, "labels": "label", "method": "aplsa"}, "clusters can be judged for"),
        ({"draws": 0}, "draws"),
    ):
        with pytest.raises(errors.ParameterError, match=words):
            evaluate(collection, **options)
    np.save(tmp_path / "given.npy", np.arange(40.0).reshape(20, 2))
    with Collection.create(tmp_path / "c.manyview", tmp_path / "given.npy") as bare:
        with pytest.raises(errors.ParameterError, match="occur 0 times in all, too few to hide some"):
            evaluate(bare)


def test_clusters_are_judged_where_nobody_has_tagged_anything(tmp_path):
    looks, y = np.repeat(np.eye(3, 5) * 9, 20, axis=0), np.repeat(np.arange(3), 20)
    looks += np.random.default_rng(0).normal(size=looks.shape)
    np.savez(tmp_path / "items.npz", view_looks=looks.astype(np.float32), y=y)
    with Collection.create(tmp_path / "c.manyview", tmp_path / "items.npz") as untagged:
        found = evaluate(untagged, labels="label", draws=1, n_jobs=1)
    assert found.mean(found.clusters, "consensus", "accuracy") > 0.95 and not found.tags
    assert any("too few to hide some" in sentence for sentence in found.said)
