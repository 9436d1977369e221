"""Data at hand: files by their names, pieces of sparse matrices, pictures of a tar, features kept."""

import io
import tarfile

import numpy as np
import pytest
from PIL import Image
from scipy.sparse import csr_matrix

from manyview.errors import ParameterError
from manyview.papers.pictures import tar_pictures
from manyview.papers.sources import Sources, sparse_block, stored_tags, stored_views, tf_idf

WORDS = csr_matrix(np.array([[2, 0, 1], [0, 0, 0], [0, 3, 0]]))


def pieces(name, matrix):
    parts = {"data": matrix.data.astype(np.uint8), "indices": matrix.indices.astype(np.uint16)}
    parts |= {"indptr": matrix.indptr, "shape": np.array(matrix.shape)}
    return {f"{name}_{key}": value for key, value in parts.items()}


@pytest.fixture
def folder(tmp_path):
    np.savez(
        tmp_path / "corel5k.npz",
        view_looks=np.ones((3, 2), dtype=np.float32),
        view_looks_names=np.array(["a", "b"]),
        tag_names=np.array(["x", "y", "z"]),
        y=np.array([0, 1, 1], dtype=np.int32),
        **pieces("view_words", WORDS),
        **pieces("tags", WORDS.minimum(1)),
    )
    return tmp_path


def picture(colour):
    out = io.BytesIO()
    Image.new("RGB", (8, 6), colour).save(out, "PNG")
    return out.getvalue()


@pytest.fixture
def tar(tmp_path):
    manifest = "file,label,tags,caption\n1.png,cat,cat;pet,A cat. | Asleep.\n2.png,,,\n"
    with tarfile.open(tmp_path / "scene8.tar", "w") as made:
        for name, content in (
            ("manifest.csv", manifest.encode()),
            ("1.png", picture("red")),
            ("2.png", picture("blue")),
        ):
            entry = tarfile.TarInfo(f"scene8/{name}")
            entry.size = len(content)
            made.addfile(entry, io.BytesIO(content))
    return tmp_path / "scene8.tar"


def test_what_is_missing_is_named(folder):
    needs = ("corel5k", "scene8", "numerals")
    assert Sources().missing(needs) == ["corel5k.npz", "scene8.tar"]
    assert Sources(folder).missing(needs) == ["scene8.tar"]
    (folder / "images").mkdir()
    (folder / "images" / "scene8.tar").touch()
    assert Sources(folder).missing(needs) == []
    with pytest.raises(ParameterError, match="there is no newsgroups_ten.npz in .*--data FOLDER"):
        Sources(folder).matrices("newsgroups_ten")


def test_an_extra_that_is_missing_is_named(monkeypatch):
    monkeypatch.setattr("manyview.papers.sources.find_spec", lambda name: None)
    assert Sources().missing(("opencv",)) == ['pip install "manyview[opencv]"']
    monkeypatch.setattr("manyview.papers.sources.find_spec", lambda name: name)
    assert Sources().missing(("opencv",)) == []


def test_stored_matrices_come_back(folder):
    with Sources(folder).matrices("corel5k") as stored:
        assert (sparse_block(stored, "view_words") != WORDS).nnz == 0
        views = stored_views(stored)
        tags, words = stored_tags(stored)
    assert views.names == ("looks", "words") or list(views.names) == ["looks", "words"]
    assert words == ["x", "y", "z"] and tags.toarray().tolist() == [[1, 0, 1], [0, 0, 0], [0, 1, 0]]
    rows = tf_idf(WORDS)
    assert np.linalg.norm(rows.toarray(), axis=1).round(6).tolist() == [1, 0, 1]


def test_pictures_of_a_tar(tar, tmp_path):
    found = tar_pictures("scene8", tar, tmp_path / "features")
    assert found.tags == [["cat", "pet"], []] and found.captions[0] == ["A cat.", "Asleep."]
    assert found.labels["label"].tolist() == ["cat", ""]
    assert [one.getpixel((0, 0)) for one in found] == [(255, 0, 0), (0, 0, 255)]
    part = found.part([1])
    assert len(part) == 1 and part.picture(0).getpixel((0, 0)) == (0, 0, 255)


def test_features_are_computed_once_for_the_same_items(tar, tmp_path):
    made = []

    def make():
        made.append(1)
        return np.arange(4.0).reshape(2, 2)

    for _ in range(2):
        found = tar_pictures("scene8", tar, tmp_path / "features")
        assert found.kept("rows v1", make).tolist() == [[0, 1], [2, 3]]
    assert len(made) == 1
    found.kept("rows v2", make)
    found.part([1, 0]).kept("rows v1", make)
    assert len(made) == 3
    tar_pictures("scene8", tar, None).kept("rows v1", make)
    assert len(made) == 4
