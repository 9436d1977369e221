from importlib import resources

import numpy as np
import pytest

from manyview import datasets
from manyview.datasets import load_handwritten
from manyview.errors import StoreError


def test_the_numerals_are_complete():
    data = load_handwritten()
    assert data.views.n_features == {"fou": 76, "fac": 216, "kar": 64, "pix": 240, "zer": 47, "mor": 6}
    assert data.views.mask.all() and {m.dtype for m in data.views.values()} == {np.dtype(np.float32)}
    assert np.bincount(data.y).tolist() == [200] * 10
    assert data.class_names == tuple("0123456789")
    assert "CC BY 4.0" in data.notice
    X, y = load_handwritten(return_X_y=True)
    assert X.shape == (2000, 6) and np.array_equal(y, data.y)


def test_pixels_show_a_digit():
    zero = load_handwritten().views["pix"][0].reshape(16, 15)
    assert zero[8, 7] == 0 and zero[8, 1] > 0 and zero[0, 7] > 0  # a ring: hollow in the middle


def test_what_ships_has_a_notice():
    from pathlib import Path

    folder = Path(datasets.__file__).parent
    for part in folder.iterdir():
        if part.is_dir() and part.name != "__pycache__":
            assert (part / "NOTICE.md").is_file()


@pytest.mark.parametrize(
    ("package", "name", "words"),
    [
        ("manyview.datasets", "emoji/LICENSE-OFL-1.1.txt", ("SIL OPEN FONT LICENSE", "PERMISSION & CONDITIONS")),
        (
            "manyview.datasets",
            "emoji/LICENSE-UNICODE.txt",
            ("UNICODE, INC. LICENSE AGREEMENT", "written authorization"),
        ),
        (
            "manyview.datasets",
            "emoji/NOTICE.md",
            ("LICENSE-OFL-1.1.txt", "LICENSE-UNICODE.txt", "LICENSE-APACHE-2.0.txt"),
        ),
        ("manyview.datasets", "photographs/NOTICE.md", ("CC BY-SA 4.0 <https://", "GCompris")),
        ("manyview.features", "models/LICENSE-APACHE-2.0.txt", ("Apache License", "END OF TERMS AND CONDITIONS")),
        ("manyview.features", "models/NOTICE.md", ("Google LLC", "ML Illustrated", "LICENSE-APACHE-2.0.txt")),
    ],
)
def test_licences_ship_in_full(package, name, words):
    text = (resources.files(package) / name).read_text(encoding="utf-8")
    assert [word for word in words if word not in text] == []


def test_every_photograph_has_author_licence_and_source_in_the_notice_and_in_the_file(tmp_path):
    rows = datasets.unpack_photographs(tmp_path)
    notice = (tmp_path / "NOTICE.md").read_text(encoding="utf-8")
    listed = [line.strip("| ").split(" | ") for line in notice.splitlines() if ".jpg |" in line]
    assert [entry[0] for entry in listed] == [row["file"] for row in rows]
    assert {path.name for path in (tmp_path / "photographs").iterdir()} == {row["file"] for row in rows}
    for file, author, licence, source in listed:
        assert author and source.startswith("https://")
        assert licence in {"public domain", "CC0 1.0", "CC BY 2.0", "CC BY 3.0", "CC BY-SA 4.0"}
        said = (tmp_path / "photographs" / file).read_bytes()
        assert f">{licence}<".encode() in said and b"<dc:creator>" in said and b"<dc:source>https://" in said


def test_half_of_the_photographs_carry_their_tags(tmp_path):
    from manyview.workflow.start import start_collection

    rows = {row["file"]: row for row in datasets.unpack_photographs(tmp_path)}
    with start_collection(tmp_path / "p.manyview", tmp_path / "photographs") as collection:
        tags, words = collection.tags, {}
        for item, has in zip(collection.items, tags.yes.toarray(), strict=True):
            words[item.key] = {tags.names[j] for j in np.flatnonzero(has)}
    assert sum(row["is_tagged"] == "1" for row in rows.values()) == len(rows) / 2 == 114
    for file, row in rows.items():
        assert words[file] == (set(row["tags"].split("; ")) if row["is_tagged"] == "1" else set())


def test_unpacking_mends_what_was_cut_off(tmp_path):
    datasets.unpack_photographs(tmp_path)
    one = tmp_path / "photographs" / "clownfish.jpg"
    whole = one.read_bytes()
    one.write_bytes(whole[:100])
    datasets.unpack_photographs(tmp_path)
    assert one.read_bytes() == whole


@pytest.mark.parametrize("name", ["tags.csv", "NOTICE.md"])
def test_unpacking_replaces_nothing_of_somebody_else(tmp_path, name):
    (tmp_path / name).write_text("my own words", encoding="utf-8")
    if name == "tags.csv":
        with pytest.raises(StoreError, match=r"tags\.csv is there already, .* Choose another folder"):
            datasets.unpack_photographs(tmp_path)
    else:
        datasets.unpack_photographs(tmp_path)
    assert (tmp_path / name).read_text(encoding="utf-8") == "my own words"
