import io
import struct
import time
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import savemat
from scipy.sparse import csc_matrix, csr_matrix, save_npz

from manyview import Collection, errors
from manyview.ingest.ready import open_features


def create(path):
    return Collection.create(path.with_suffix(".manyview"), path)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(3, 2),
        np.arange(6, dtype=np.float32).reshape(3, 2),
        np.asfortranarray(np.arange(6.0).reshape(3, 2)),
        np.arange(6, dtype=">f8").reshape(3, 2),
        np.arange(6).reshape(3, 2),
        np.arange(6, dtype=np.float16).reshape(3, 2),
    ],
)
def test_npy_of_every_form(tmp_path, array):
    np.save(tmp_path / "looks.npy", array)
    with create(tmp_path / "looks.npy") as collection:
        views = collection.views()
        assert views.names == ("looks",) and np.array_equal(views["looks"], array)
        assert [item.key for item in collection.items] == ["0", "1", "2"]


@pytest.mark.parametrize("dtype", [np.uint8, np.bool_, np.float32])
def test_a_table_of_tags_is_read_in_blocks(tmp_path, dtype, monkeypatch):
    monkeypatch.setattr("manyview.blocks.BLOCK_BYTES", 100)
    tags = (np.random.default_rng(0).random((23, 5)) < 0.3).astype(dtype)
    np.savez(tmp_path / "a.npz", view_x=np.ones((23, 2)), tags=tags, tag_names=np.array(list("abcde")))
    found = open_features(str(tmp_path / "a.npz")).tags
    assert [found[row] for row in range(23)] == [["abcde"[c] for c in np.flatnonzero(row)] for row in tags]


def test_rows_of_nan_lack_the_view_and_other_nan_is_refused(tmp_path):
    rows = np.arange(6.0).reshape(3, 2)
    rows[1] = np.nan
    np.save(tmp_path / "a.npy", rows)
    with create(tmp_path / "a.npy") as collection:
        assert collection.views().mask[:, 0].tolist() == [True, False, True]
    rows[0, 1] = np.inf
    np.save(tmp_path / "b.npy", rows)
    with pytest.raises(errors.ViewError, match="view 'b' contains inf in row 0, column 1"):
        create(tmp_path / "b.npy")


def test_npz_with_views_tags_and_classes(tmp_path):
    words = csr_matrix(np.array([[0, 2, 0], [1, 0, 0], [0, 0, 3], [0, 0, 0]]))
    tags = csr_matrix(np.array([[1, 0], [1, 1], [0, 0], [0, 1]]))
    pieces = {}
    for name, matrix in (("view_words", words), ("tags", tags)):
        pieces |= {
            f"{name}_data": matrix.data.astype(np.uint8),
            f"{name}_indices": matrix.indices.astype(np.uint16),
            f"{name}_indptr": matrix.indptr,
            f"{name}_shape": np.array(matrix.shape),
        }
    np.savez_compressed(
        tmp_path / "all.npz",
        **pieces,
        view_looks=np.eye(4, dtype=np.float32),
        tag_names=np.array(["Hund", "犬"]),
        y=np.array([0, 1, 1, 0]),
        class_names=np.array(["in", "out"]),
        ids=np.array(["a", "b", "c", "d"]),
        not_a_view=np.ones((7, 7)),
    )
    with create(tmp_path / "all.npz") as collection:
        views = collection.views()
        assert set(views.names) == {"looks", "words"}
        assert views["words"].toarray().tolist() == words.toarray().tolist() and views["words"].dtype == np.float32
        assert [item.key for item in collection.items] == ["a", "b", "c", "d"]
        assert collection.tags.names == ("Hund", "犬") and np.array_equal(collection.tags.yes.toarray(), tags.toarray())
        assert [row["label"] for row in collection.items.fields()] == ["in", "out", "out", "in"]


def test_plain_npz_and_scipys_own(tmp_path):
    np.savez(tmp_path / "two.npz", a=np.ones((3, 2)), b=np.zeros((3, 4)), scalar=np.array(5))
    with create(tmp_path / "two.npz") as collection:
        assert collection.views().n_features == {"a": 2, "b": 4}
    save_npz(tmp_path / "sparse.npz", csr_matrix(np.eye(3)))
    with create(tmp_path / "sparse.npz") as collection:
        assert collection.views()["sparse"].toarray().tolist() == np.eye(3).tolist()


def test_mat_files_with_cells_and_items_in_columns(tmp_path):
    rng = np.random.default_rng(0)
    one, two = rng.normal(size=(6, 4)), rng.normal(size=(6, 9))
    cells = np.empty((1, 2), dtype=object)
    cells[0, 0], cells[0, 1] = one.T, two
    savemat(tmp_path / "views.mat", {"X": cells, "Y": np.array([[1, 1, 2, 2, 3, 3]]).T, "name": "words"})
    with create(tmp_path / "views.mat") as collection:
        views = collection.views()
        assert np.allclose(views["X1"], one) and np.allclose(views["X2"], two)
        assert [row["label"] for row in collection.items.fields()] == [1, 1, 2, 2, 3, 3]


def header(shape, descr="'<f8'"):
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    text += b" " * (118 - len(text)) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def zipped(name, content):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return held.getvalue()


def pickled():
    held = io.BytesIO()
    np.save(held, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    return held.getvalue()


def pieces(indices=(0, 1), indptr=(0, 1, 2), shape=(2, 3), name=""):
    """A sparse matrix as ``scipy.sparse.save_npz`` writes it, whether its pieces fit or not."""
    held = io.BytesIO()
    parts = {"data": np.ones(2), "indices": indices, "indptr": indptr, "shape": shape}
    np.savez(held, **{name + part: np.array(value) for part, value in parts.items()})
    return held.getvalue()


def matlab_sparse(row):
    """A MATLAB file with a sparse matrix one of whose rows is changed."""
    held = io.BytesIO()
    savemat(held, {"X": csc_matrix((np.ones(2), ([0x0102, 0x0304], [0, 1])), shape=(0x0400, 2))})
    content = held.getvalue()
    assert content.count(struct.pack("<i", 0x0304)) == 1
    return content.replace(struct.pack("<i", 0x0304), struct.pack("<i", row))


BAD = {
    "beyond.npz": (pieces(indices=(0, 3)), "indices go from 0 to 2, but 3 is among them"),
    "wraps.npz": (pieces(indices=(0, 2**32)), "4294967296 is among them"),
    "negative.npz": (pieces(indices=(0, -1)), "-1 is among them"),
    "falls.npz": (pieces(indptr=(0, 2, 0)), "indptr does not rise from 0"),
    "promises.npz": (pieces(indptr=(0, 1, 99)), "indptr promises 99 entries"),
    "wide.npz": (pieces(shape=(2, 2**40)), "view 'wide' claims 1099511627776 columns"),
    "part.npz": (pieces(shape=(2, 2**40), name="view_x_"), "view 'view_x' claims 1099511627776 columns"),
    "tags.npz": (pieces(shape=(2, 2**40), name="tags_"), "view 'tags' claims 1099511627776 columns"),
    "long.npz": (pieces(shape=(2**40, 2)), "indptr has 3 entries where 1099511627777 are needed"),
    "float.npz": (pieces(indices=(0.0, 1.0)), "indices are not a 1-D array of integers"),
    "shape.npz": (pieces(shape=(2, 3, 4)), "a shape of 3 int64 numbers"),
    "beyond.mat": (matlab_sparse(0x7FFFFFFF), "indices go from 0 to 1023, but 2147483647 is among them"),
    "negative.mat": (matlab_sparse(-5), "-5 is among them"),
    "forged.npy": (header((2**16, 2**16)), "promises 34359738368 bytes of numbers but holds 0"),
    "negative.npy": (header((-1, 2)), "a length cannot be negative"),
    "short.npy": (header((3, 2)) + bytes(40), "promises 48 bytes of numbers but holds 40"),
    "long.npy": (header((3, 2)) + bytes(56), "promises 48 bytes of numbers but holds 56"),
    "object.npy": (pickled(), "Python objects, which could run code"),
    "code.npy": (header("__import__('os').abort()") + bytes(48), "header is damaged"),
    "words.npy": (b"not numpy at all", "header is damaged"),
    "empty.npy": (b"", "header is damaged"),
    "vector.npy": (header((6,)) + bytes(48), "one row per item is needed"),
    "none.npy": (header((0, 2)), "has no values"),
    "bomb.npz": (zipped("a.npy", header((2**15, 2**10)) + bytes(2**28)), "which it cannot really hold"),
    "forged.npz": (zipped("a.npy", header((2**16, 2**16)) + bytes(8)), "promises 34359738368 bytes"),
    "pickled.npz": (zipped("a.npy", pickled()), "Python objects"),
    "cut.npz": (zipped("a.npy", header((3, 2)) + bytes(48))[:-30], "cannot be unpacked"),
    "words.npz": (b"not a zip", "cannot be unpacked"),
    "nothing.npz": (zipped("readme.txt", b"x"), "holds no 2-D array of numbers"),
    "v73.mat": (b"MATLAB 7.3 MAT-file" + bytes(500), "save it with '-v7'"),
    "words.mat": (b"not a mat file at all" * 20, "cannot be read as a MATLAB file"),
}


@pytest.mark.parametrize("name", BAD)
def test_features_made_to_do_harm(tmp_path, name):
    content, words = BAD[name]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(errors.StoreError, match=words) as refusal:
        create(path)
    assert str(path) in str(refusal.value)


def test_rows_that_do_not_match_are_named(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.ones((3, 2)), y2=np.ones((4, 2)), z=np.ones((3, 3)))
    with pytest.raises(errors.ViewError, match="view 'y2' has 4 rows where others have 3"):
        create(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", view_x=np.ones((2, 2)), ids=np.array(["a", "a"]))
    with pytest.raises(errors.StoreError, match="id 'a' appears twice"):
        create(tmp_path / "b.npz")
    np.savez(tmp_path / "c.npz", view_x=np.ones((2, 2)), tags=np.ones((2, 2)), tag_names=np.array(["a"]))
    with pytest.raises(errors.StoreError, match="2 tags but 1 names"):
        create(tmp_path / "c.npz")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=6), st.floats(0.2, 1))
def test_mutated_feature_files_are_read_or_refused(tmp_path_factory, changes, end):
    folder = tmp_path_factory.getbasetemp()
    held = io.BytesIO()
    np.savez(held, x=np.ones((5, 3)), y=np.arange(5))
    plain = io.BytesIO()
    np.save(plain, np.ones((5, 3)))
    for ending, whole in ((".npz", held.getvalue()), (".npy", plain.getvalue())):
        content = bytearray(whole)
        for where, value in changes:
            content[int(where * (len(content) - 1))] = value
        path = folder / f"mutated{ending}"
        path.write_bytes(bytes(content[: max(1, int(end * len(content)))]))
        try:
            open_features(str(path))
        except errors.ManyviewError as error:
            assert str(path) in str(error)


def test_reading_a_file_again_takes_as_long_as_reading_it_once(tmp_path):
    np.save(tmp_path / "a.npy", np.ones((20_000, 2), dtype=np.float32))
    with create(tmp_path / "a.npy") as collection:
        began = time.process_time()
        report = collection.read(tmp_path / "a.npy")
        assert (report.n_new, report.n_gone, report.n_same) == (0, 0, 20_000)
        assert time.process_time() - began < 10  # one set of all keys for each key took a minute


def save_tagged(path, rows, tags, words, **more):
    np.savez(path, view_x=rows, tags=tags, tag_names=np.array(words), **more)


def test_a_file_that_is_as_before_changes_nothing_on_disk(tmp_path):
    path = tmp_path / "a.npz"
    rows, tags = np.arange(30.0).reshape(10, 3), np.eye(10, 4)
    save_tagged(path, rows, tags, list("abcd"))
    with create(path) as collection:
        files = sorted(one.name for one in (collection.path / "views").rglob("*.npy"))
        seen = collection._catalog.rows("SELECT * FROM versions WHERE part = 'tags'")
        collection.read(path)
        assert sorted(one.name for one in (collection.path / "views").rglob("*.npy")) == files
        assert collection._catalog.rows("SELECT * FROM versions WHERE part = 'tags'") == seen
        assert not collection._catalog.rows("SELECT * FROM dropped_rows")
        rows[3, 1] += 1
        tags[3] = [0, 0, 1, 1]
        save_tagged(path, rows[:9], tags[:9], list("abcd"))
        report = collection.read(path)
        assert (report.n_new, report.n_gone, report.n_same) == (0, 1, 9)
        assert np.array_equal(collection.views()["x"], rows[:9])
        assert np.array_equal(collection.tags.yes.toarray(), tags[:9])


def test_words_that_differ_by_case_only_are_one_tag_of_a_row(tmp_path):
    save_tagged(tmp_path / "a.npz", np.ones((3, 2)), np.array([[1, 1, 0], [0, 1, 0], [0, 0, 1]]), ["Dog", "dog", " "])
    with create(tmp_path / "a.npz") as collection:
        assert [collection.tagging.words_of(item) for item in (1, 2, 3)] == [["Dog"], ["dog"], []]
        assert collection.tags.n_tags == 1


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_large_arrays_of_an_archive_are_mapped(tmp_path, save, monkeypatch):
    rows = np.random.default_rng(0).normal(size=(500, 7)).astype(np.float32)
    save(tmp_path / "a.npz", view_x=rows, view_y=np.asfortranarray(rows[:, :2]), ids=np.arange(500) + 5)
    monkeypatch.setattr("manyview.ingest.ready._IN_MEMORY", 1000)
    monkeypatch.setattr("manyview.ingest.ready._PIECE", 999)
    found = open_features(str(tmp_path / "a.npz"))
    base = found.views["x"]
    while base.base is not None and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap)
    assert np.array_equal(found.views["x"], rows) and np.array_equal(found.views["y"], rows[:, :2])


def test_items_are_written_in_batches(tmp_path, monkeypatch):
    monkeypatch.setattr("manyview.ingest.ready._BATCH", 7)
    ids = np.random.default_rng(1).permutation(50)
    save_tagged(tmp_path / "a.npz", np.arange(100.0).reshape(50, 2), np.eye(50, 3), list("abc"), ids=ids, y=ids % 4)
    told = []
    with Collection.create(
        tmp_path / "a.manyview", tmp_path / "a.npz", progress=lambda *said: told.append(said)
    ) as collection:
        assert [item.key for item in collection.items] == [str(one) for one in ids]
        assert [one["label"] for one in collection.items.fields()] == (ids % 4).tolist()
        assert np.array_equal(collection.views()["x"], np.arange(100.0).reshape(50, 2))
    assert told[-1] == ("reading", 50, 50) and len(told) == 8
