import numpy as np
import pytest
from scipy.sparse import csr_matrix, random_array

from manyview import Collection, errors
from manyview.collection import segment_files

from .samples import looks


@pytest.fixture
def collection(tmp_path):
    np.save(tmp_path / "given.npy", np.arange(20.0).reshape(10, 2))
    with Collection.create(tmp_path / "ten.manyview", tmp_path / "given.npy") as made:
        yield made


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
def test_rows_come_back_whatever_the_segments(collection, seed, dtype, sparse):
    rng = np.random.default_rng(seed)
    whole = rng.normal(size=(10, 5)).astype(dtype) * (rng.random((10, 5)) < (0.4 if sparse else 1))
    order = rng.permutation(np.arange(1, 10))  # item 10 never gets a row
    for part in np.array_split(order, 4):
        ids = np.sort(part)
        rows = whole[ids - 1]
        collection.add_view("x", "1", csr_matrix(rows) if sparse else rows, ids)
    for _ in range(2):
        views = collection.views(["x"])
        matrix = views["x"].toarray() if sparse else views["x"]
        assert matrix.dtype == dtype and np.array_equal(matrix[:9], whole[:9])
        assert views.mask[:, 0].tolist() == [True] * 9 + [False]
        assert not matrix[9].any() if sparse else np.isnan(matrix[9]).all()
        assert collection.missing_rows("x", "1").tolist() == [10]
        collection.merge_view("x")
    assert len(list((collection.path / "views" / "x").iterdir())) == (3 if sparse else 1)


def test_one_segment_is_mapped_and_read_only(collection):
    collection.add_view("x", "1", looks(collection.items.ids))
    matrix = collection.views(["x"])["x"]
    assert isinstance(matrix, np.memmap) and not matrix.flags.writeable
    assert isinstance(collection.views()["given"], np.memmap)


def test_large_gatherings_go_to_a_file_that_vanishes(collection, monkeypatch):
    monkeypatch.setattr(segment_files, "_IN_MEMORY", 10)
    ids = collection.items.ids
    collection.add_view("x", "1", looks(ids[5:]), ids[5:])
    collection.add_view("x", "1", looks(ids[:5]), ids[:5])
    matrix = collection.views(["x"])["x"]
    assert isinstance(matrix, np.memmap) and np.array_equal(matrix, looks(ids))


def test_a_row_given_again_replaces_the_old_one(collection):
    ids = collection.items.ids
    collection.add_view("x", "1", looks(ids))
    collection.add_view("x", "1", looks(ids[2:4]) + 100, ids[2:4])
    expected = looks(ids)
    expected[2:4] += 100
    assert np.array_equal(collection.views(["x"])["x"], expected)
    collection.merge_view("x")
    assert np.array_equal(collection.views(["x"])["x"], expected)


def test_an_item_that_has_nothing_to_show_is_not_asked_again(collection):
    rows = looks(collection.items.ids)
    rows[3] = np.nan
    assert collection.add_view("x", "1", rows) == 9
    assert collection.missing_rows("x", "1").size == 0
    assert collection.views(["x"]).mask[:, 0].tolist() == [True] * 3 + [False] + [True] * 6
    collection.segments.drop_rows([4, 5])
    assert collection.missing_rows("x", "1").tolist() == [4, 5]


def test_another_version_replaces_the_view(collection):
    ids = collection.items.ids
    collection.add_view("x", "1", looks(ids), columns=["a", "b", "c"], settings={"side": 8})
    collection.segments.put_state("x", {"words": ["é", "b"], "book": np.arange(6.0).reshape(2, 3)})
    state = collection.segments.state("x")
    assert state["words"] == ["é", "b"] and np.array_equal(state["book"], np.arange(6.0).reshape(2, 3))
    info = collection.segments.info("x")
    assert info.columns == ("a", "b", "c") and info.settings == {"side": 8}
    assert collection.missing_rows("x", "2").tolist() == ids.tolist()
    collection.add_view("x", "2", np.ones((2, 4)), ids[:2])
    assert collection.views(["x"])["x"].shape == (10, 4)
    assert collection.segments.state("x") == {}
    collection.remove_view("x")
    assert collection.view_names == ("given",)
    assert {path.name for path in (collection.path / "views").iterdir()} <= {"given", "x"}


def test_items_that_are_gone_have_no_row_and_come_back_with_it(collection):
    collection.add_view("x", "1", looks(collection.items.ids))
    collection.items.gone([2])
    assert collection.views(["x"])["x"][:, 0].tolist() == [1, 3, 4, 5, 6, 7, 8, 9, 10]
    collection._catalog.run("UPDATE items SET state = 'here' WHERE id = 2")
    assert np.array_equal(collection.views(["x"])["x"], looks(collection.items.ids))


@pytest.mark.parametrize(
    ("rows", "ids", "words"),
    [
        (np.ones((3, 2)), [1, 2], "3 rows for 2 items"),
        (np.ones((2, 2)), [2, 1], "ascending order"),
        (np.ones((2, 2)), [1, 1], "ascending order"),
        (np.array([[1.0, np.nan], [1, 1]]), [1, 2], "NaN in row 0, column 1"),
        (np.array([[1.0, np.inf], [1, 1]]), [1, 2], "inf in row 0, column 1"),
        (np.ones((2, 0)), [1, 2], "no columns"),
        (np.ones(2), [1, 2], "must be 2-D"),
        (np.array([["a"], ["b"]]), [1, 2], "not numbers"),
    ],
)
def test_wrong_rows_are_refused_by_name(collection, rows, ids, words):
    with pytest.raises(errors.ViewError, match="view 'x'.*" + words):
        collection.add_view("x", "1", rows, np.array(ids))
    assert collection.view_names == ("given",)


def test_rows_of_another_form_need_another_version(collection):
    ids = collection.items.ids
    collection.add_view("x", "1", looks(ids[:5]), ids[:5])
    with pytest.raises(errors.ViewError, match="dense float32 rows of 3 columns, but the new rows are dense float64"):
        collection.add_view("x", "1", looks(ids[5:]).astype(float), ids[5:])
    with pytest.raises(errors.ViewError, match="has no view 'y'; it has 'given', 'x'"):
        collection.views(["y"])
    with pytest.raises(errors.ViewError, match="3 columns but 1 names"):
        collection.add_view("z", "1", looks(ids), columns=["a"])


@pytest.mark.parametrize("name", ["größe", "a/b", "..", "x" * 300, "con.", "-v", "", "a\nb"])
def test_any_name_is_a_view(collection, name):
    collection.add_view(name, "1", looks(collection.items.ids))
    assert np.array_equal(collection.views([name])[name], looks(collection.items.ids))
    outside = {path.name for path in collection.path.parent.iterdir()}
    assert outside == {"given.npy", "ten.manyview"}


def test_a_sparse_segment_that_was_tampered_with_is_refused(collection):
    matrix = csr_matrix(random_array((10, 4), density=0.5, rng=np.random.default_rng(0)))
    collection.add_view("words", "1", matrix)
    (path,) = (collection.path / "views" / "words").glob("*.indices.npy")
    indices = np.load(path)
    indices[0] = 99
    np.save(path, indices)
    with pytest.raises(errors.StoreError, match="view 'words'"):
        collection.views(["words"])
