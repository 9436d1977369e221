import os
import socket
import stat
import subprocess
import unicodedata
from pathlib import Path

import pytest

from manyview import Collection, errors
from manyview.collection.safety import check
from manyview.ingest import folder as folder_reading

from . import makers as m


def problems(collection):
    return {problem.path: problem.reason for problem in collection.items.problems()}


def keys(collection):
    return [item.key for item in collection.items]


def create(root, **options):
    return Collection.create(root.parent / "c.manyview", root, **options)


NAMES = [
    b"plain.png",
    b"\xff\xfe not utf-8.png",
    b"latin-\xe9.png",
    b"new\nline.png",
    b"tab\there.png",
    b"\x1b[31mred.png",
    "\u202egnp.exe.png".encode(),
    b"x" * 251 + b".png",
    b"-leading dash.png",
    b"trailing pipe|",
    b"<img src=x onerror=alert(1)>.png",
    b"quotes ' \" `.png",
    unicodedata.normalize("NFC", "café.png").encode(),
    unicodedata.normalize("NFD", "café.png").encode(),
    b"CASE.png",
    b"case.png",
    b"con.png",
    b"nul",
    b"aux.jpg",
    b"back\\slash.png",
    b"percent%20.png",
    b"semi;colon.png",
    b"comma,.png",
    b"$(touch x).png",
    b"*.png",
    b"?.png",
    b" leading blank.png",
    b"trailing blank ",
    b"two..dots.png",
    b"~tilde.png",
    b"#hash.png",
    b"&amp;.png",
    b"=1+1.png",
    b"@at.png",
    "犬.png".encode(),
    "شجرة.png".encode(),
    "👩‍🚀.png".encode(),
    b"null\xc0\x80.png",
    b"\xed\xa0\x80 surrogate.png",
    b"DEL\x7f.png",
]


def test_forty_names_make_the_round_trip(root, record_property):
    record_property("count", len(NAMES))
    assert len(NAMES) == 40
    content = m.encoded("PNG")
    for name in NAMES:
        with open(os.path.join(os.fsencode(root), name), "wb") as file:
            file.write(content)
    with create(root) as collection:
        found = {os.fsencode(item.key): item for item in collection.items}
        assert set(found) == set(NAMES) and problems(collection) == {}
        assert [os.fsencode(key) for key in keys(collection)] == sorted(NAMES)
        for name, item in found.items():
            assert os.fsencode(item.path) == os.path.join(os.fsencode(root), name)
            assert Path(item.path).read_bytes() == content
            assert collection.items.find(item.key).id == item.id
        with Collection.open(collection.path) as reader:
            assert keys(reader) == keys(collection)
    assert check.problems(root.parent / "c.manyview") == []


@pytest.fixture
def deep_root(root):
    """A folder that is removed here: pytest's own tidying cannot go a thousand levels down."""
    yield root
    subprocess.run(["rm", "-rf", str(root)], check=True)


def test_trees_of_every_kind(deep_root, tmp_path):
    root = deep_root
    picture = m.encoded("PNG")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.png").write_bytes(picture)
    (root / "good.png").write_bytes(picture)
    (root / "loop").symlink_to(root)
    (root / "circle").symlink_to(root / "circle")
    (root / "nowhere.png").symlink_to(root / "none.png")
    (root / "out.png").symlink_to(outside / "secret.png")
    (root / "out").symlink_to(outside)
    (root / "within.png").symlink_to(root / "good.png")
    os.link(root / "good.png", root / "hard.png")
    os.mkfifo(root / "pipe.png")
    (root / "folder.jpg").mkdir()
    (root / "folder.jpg" / "inside.png").write_bytes(picture)
    (root / "empty.jpg").write_bytes(b"")
    (root / ".hidden.png").write_bytes(picture)
    (root / ".git").mkdir()
    (root / ".git" / "x.png").write_bytes(picture)
    here = os.getcwd()
    os.chdir(root)  # the name of a socket must be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.png")
    os.chdir(here)
    deep = str(root)
    for _ in range(1000):
        deep += "/d"
        os.mkdir(deep)
    Path(deep, "deep.png").write_bytes(picture)
    n_open = len(os.listdir("/proc/self/fd"))
    with create(root) as collection:
        assert keys(collection) == [
            "/".join(["d"] * 1000 + ["deep.png"]),
            "folder.jpg/inside.png",
            "good.png",
            "hard.png",
        ]
        assert problems(collection) == {
            "loop": "link",
            "circle": "link",
            "nowhere.png": "link",
            "within.png": "link",
            "out.png": "outside",
            "out": "outside",
            "pipe.png": "not a file",
            "socket.png": "not a file",
            "empty.jpg": "empty",
        }
        assert [problem.path for problem in collection.last_report.bad] == ["empty.jpg"]
    assert len(os.listdir("/proc/self/fd")) == n_open


def test_what_may_not_be_read_is_named_and_what_was_known_below_is_not_gone(root, monkeypatch):
    (root / "closed").mkdir()
    for name in ("a.png", "b.png", "closed/c.png"):
        (root / name).write_bytes(m.encoded("PNG"))
    with create(root) as collection:
        assert keys(collection) == ["a.png", "b.png", "closed/c.png"]
        real_open, real_scan = os.open, os.scandir

        def refuse(path, *rest, **options):
            if str(path).endswith("b.png"):
                raise PermissionError(13, "Permission denied")
            return real_open(path, *rest, **options)

        def refuse_folder(path):
            if str(path).endswith("closed"):
                raise PermissionError(13, "Permission denied")
            return real_scan(path)

        monkeypatch.setattr(os, "open", refuse)
        monkeypatch.setattr(os, "scandir", refuse_folder)
        os.utime(root / "b.png", ns=(1, 1))
        report = collection.read(root)
        assert problems(collection) == {"b.png": "unreadable", "closed": "unreadable"}
        assert keys(collection) == ["a.png", "closed/c.png"] and len(report.bad) == 2
        monkeypatch.undo()
        collection.read(root)
        assert keys(collection) == ["a.png", "b.png", "closed/c.png"] and problems(collection) == {}


def test_a_file_that_vanishes_or_is_swapped_between_scan_and_read(root, monkeypatch):
    for name in ("a.png", "b.png", "c.png", "d.png"):
        (root / name).write_bytes(m.encoded("PNG"))
    real = folder_reading.scan

    def scan_then_change(folder):
        found = real(folder)
        (root / "a.png").unlink()
        (root / "b.png").unlink()
        (root / "b.png").symlink_to("/etc/passwd")
        (root / "c.png").unlink()
        os.mkfifo(root / "c.png")
        (root / "d.png").write_bytes(m.encoded("PNG") + b"more")
        return found

    monkeypatch.setattr(folder_reading, "scan", scan_then_change)
    with create(root) as collection:
        assert problems(collection) == {"a.png": "missing", "b.png": "link", "c.png": "not a file"}
        assert keys(collection) == ["d.png"]
        assert (
            collection.items.facts(1).size == (root / "d.png").stat().st_size
        )  # of what was read, not of what was seen


def test_what_a_file_is_shows_in_its_bytes_not_in_its_name(root):
    (root / "really.jpg").write_bytes(m.encoded("PNG"))
    (root / "picture").write_bytes(m.encoded("JPEG"))
    (root / "clip.txt").write_bytes(m.mp4())
    (root / "page.jpg").write_text("<html><body>no picture</body></html>")
    (root / "draw.png").write_text("<svg onload='alert(1)'/>")
    (root / "notes.txt").write_text("words")
    (root / "page.html").write_text("<p>words</p>")
    (root / "false.pdf").write_text("words")
    (root / "data.bin").write_bytes(b"\0" * 100)
    (root / "empty.nef").write_bytes(b"")
    (root / "lost.CR3").write_bytes(bytes(3000))
    (root / "network.cap").write_bytes(b"\xd4\xc3\xb2\xa1")
    with create(root) as collection:
        found = {item.key: (item.kind, item.format) for item in collection.items}
        assert found == {
            "really.jpg": ("picture", "png"),
            "picture": ("picture", "jpeg"),
            "clip.txt": ("video", "mp4"),
            "notes.txt": ("document", "text"),
            "page.html": ("document", "html"),
        }
        assert problems(collection) == {
            "page.jpg": "unknown format",
            "draw.png": "unknown format",
            "false.pdf": "unknown format",
            "data.bin": "unsupported",
            "empty.nef": "empty",
            "lost.CR3": "empty",
            "network.cap": "unsupported",
        }
        assert "SVG" in next(p.sentence for p in collection.items.problems() if p.path == "draw.png")
        assert collection.last_report.formats == {"png": 1, "jpeg": 1, "mp4": 1, "text": 1, "html": 1}


def test_reading_again_notices_what_is_new_changed_and_gone(root):
    for name in ("a.jpg", "b.jpg", "c.jpg"):
        (root / name).write_bytes(m.jpeg(m.app13(m.iim(name[:1].encode()))))
    with create(root) as collection:
        ids = collection.items.ids
        collection.add_view("looks", "1", [[1.0], [2.0], [3.0]])
        collection.thumbs.add({1: b"a", 2: b"b"})
        collection.decide([(1, "mine"), (3, "kept")], True)
        (root / "b.jpg").write_bytes(m.jpeg(m.app13(m.iim(b"other words"))))
        (root / "c.jpg").unlink()
        (root / "d.jpg").write_bytes(m.jpeg())
        (root / "a.xmp").write_bytes(m.xmp("beside"))
        report = collection.read(root)
        assert (report.n_new, report.n_changed, report.n_gone, report.n_same) == (1, 2, 1, 0)
        assert keys(collection) == ["a.jpg", "b.jpg", "d.jpg"] and collection.items.ids.tolist() == [1, 2, 4]
        assert sorted(collection.tagging.words_of(1)) == ["a", "beside", "mine"]  # a decision is not lost
        assert collection.tagging.words_of(2) == ["other words"]
        # the pixels of b changed, those of a did not: only its sidecar is new
        assert collection.missing_rows("looks", "1").tolist() == [2, 4]
        assert collection.thumbs.get(1) == b"a" and collection.thumbs.get(2) is None
        (root / "c.jpg").write_bytes(m.jpeg(m.app13(m.iim(b"c"))))  # the same bytes again
        (root / "a.xmp").unlink()
        report = collection.read(root)
        assert keys(collection) == ["a.jpg", "b.jpg", "c.jpg", "d.jpg"]
        assert ids.tolist() == [1, 2, 3] and collection.items.ids.tolist() == [1, 2, 3, 4]
        assert sorted(collection.tagging.words_of(3)) == ["c", "kept"] and sorted(collection.tagging.words_of(1)) == [
            "a",
            "mine",
        ]
        assert str(collection.read(root)).endswith("0 new, 4 as before")


def test_a_sidecar_whose_picture_was_moved_without_it_is_told_of(root):
    for name in ("a.jpg", "b.jpg", "c.jpg"):
        (root / name).write_bytes(m.jpeg(m.app13(m.iim(name.encode()))))
    for name in ("a.jpg.xmp", "b.xmp", "c.xmp"):
        (root / name).write_bytes(m.xmp("beside"))
    with create(root) as collection:
        assert problems(collection) == {} and collection.last_report.left_out_sentences == []
        (root / "below").mkdir()
        (root / "a.jpg").rename(root / "below" / "a.jpg")
        report = collection.read(root)
        assert problems(collection) == {"a.jpg.xmp": "sidecar alone"} and report.bad == []
        assert report.left_out_sentences == [
            "1 sidecar stands without its picture and was not read; `manyview show --problems` lists them"
        ]
        (root / "b.jpg").unlink()
        assert collection.read(root).left_out_sentences == [
            "2 sidecars stand without their pictures and were not read; `manyview show --problems` lists them"
        ]
        (root / "a.jpg.xmp").rename(root / "below" / "a.jpg.xmp")
        (root / "b.xmp").unlink()
        assert collection.read(root).left_out_sentences == [] and problems(collection) == {}
        assert sorted(collection.tagging.words_of(1)) == ["a.jpg", "beside"]


def test_a_folder_that_is_not_there_takes_nothing_away(root):
    (root / "a.png").write_bytes(m.encoded("PNG"))
    with create(root) as collection:
        source = collection.items.sources()[0]["path"]
        root.rename(root.parent / "elsewhere")
        with pytest.raises(errors.StoreError, match="does not exist"):
            collection.read(root)
        with pytest.raises(errors.StoreError, match="connect that first"):
            folder_reading.read_folder(collection, 1, source)
        assert keys(collection) == ["a.png"]


def test_collections_inside_the_folder_are_passed_over(root):
    (root / "a.png").write_bytes(m.encoded("PNG"))
    with Collection.create(root / "own.manyview", root) as collection:
        collection.thumbs.add({1: m.encoded("JPEG")})
        assert str(collection.read(root)).endswith("0 new, 1 as before")


def test_ingest_opens_no_original_for_writing(root):
    (root / "a.png").write_bytes(m.encoded("PNG"))
    (root / "a.xmp").write_bytes(m.xmp("x"))
    for path in (*root.iterdir(), root):
        path.chmod(path.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in root.iterdir()}
    try:
        create(root).close()
    finally:
        root.chmod(0o755)
    assert {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in root.iterdir()} == before


def test_what_was_said_of_a_file_stays_until_it_is_read_again(root):
    (root / "a.png").write_bytes(m.encoded("PNG"))
    (root / "a.xmp").write_text("<broken", encoding="utf-8")
    with create(root) as collection:
        said = collection.items.problems()
        assert [(one.path, one.is_bad) for one in said] == [("a.png", False)]
        collection.read(root)
        assert collection.items.problems() == said
        (root / "a.xmp").write_bytes(m.xmp("x"))
        collection.read(root)
        assert collection.items.problems() == []


WIDE = int(os.environ.get("MANYVIEW_WIDE_FOLDER", "3000"))


@pytest.mark.slow
def test_a_folder_of_very_many_files(root, record_property):
    content = m.encoded("PNG")
    for number in range(WIDE):
        (root / f"{number}.png").write_bytes(content)
    (root / "bad.png").write_bytes(b"")
    record_property("count", WIDE)
    with create(root) as collection:
        assert len(collection.items) == WIDE and problems(collection) == {"bad.png": "empty"}
        assert collection.read(root).n_same == WIDE


def test_a_file_that_comes_back_is_back(tmp_path):
    root = tmp_path / "pictures"
    root.mkdir()
    (root / "a.jpg").write_bytes(m.jpeg())
    with Collection.create(tmp_path / "c.manyview", root) as collection:
        (root / "a.jpg").rename(tmp_path / "a.jpg")
        assert str(collection.read(root)).endswith("0 new, 1 gone")
        (tmp_path / "a.jpg").rename(root / "a.jpg")
        assert str(collection.read(root)).endswith("0 new, 1 back")
