"""Accepted tags in sidecars: merged with what others wrote, taken back byte for byte."""

import hashlib
import json
import os
import shutil
import sqlite3
import stat

import pytest

from manyview import Collection
from manyview.collection import layout
from manyview.collection.safety import check
from manyview.errors import ParameterError, StoreError
from manyview.ingest.sidecar import read_sidecar
from manyview.writeback.document import TAGS_LIST, Document
from manyview.writeback.editor import read_words
from tests.collection.samples import picture_folder, png, sidecar
from tests.writeback.documents import PROGRAMS, other_program


def snapshot(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def states(collection):
    return {item: state for item, (state, _) in collection.writes.states().items()}


def reason(collection, item):
    return collection.writes.states()[item][1]


def listed(path):
    """Of digiKam."""
    return Document(path.read_bytes()).values(TAGS_LIST)


def words(path):
    return read_words(path.read_bytes())[0]


def test_a_hundred_sidecars_of_other_programs_survive(tmp_path, record_property):
    record_property("count", 25 * len(PROGRAMS))
    source = tmp_path / "pictures"
    source.mkdir()
    known = {}
    for n, program in enumerate(list(PROGRAMS) * 25):
        content, held = other_program(program, 1000 + n)
        name = f"{n:03}.png"
        (source / name).write_bytes(png(n))
        (source / (f"{n:03}.xmp" if program == "lightroom" else f"{name}.xmp")).write_bytes(content)
        known[n + 1] = held
    before = snapshot(source)
    with Collection.create(tmp_path / "c.manyview", source) as collection:
        assert [sorted(collection.tagging.words_of(n)) for n in known] == [sorted(held) for held in known.values()]
        collection.decide([(n, "Neu & schön") for n in known], True)
        collection.decide([(n, held[0]) for n, held in known.items() if held and n % 3 == 0], False)
        applied = collection.apply()
        assert len(applied.changes) == 100 and applied.failed == [] and not any(c.is_new for c in applied.changes)
        for change in applied.changes:
            expected = [word for word in known[change.items[0]] if word not in change.edit.remove]
            assert words_of_file(change.path) == [*expected, "Neu & schön"]
        report = collection.read(source)
        assert report.n_same == 100 and report.n_changed == 0  # our own writing is no change by others
        assert collection.apply().changes == []
        collection.undo()
        assert snapshot(source) == before
        assert collection.read(source).n_same == 100
        assert set(states(collection).values()) == {"pending"}
        assert len(collection.apply().changes) == 100  # still accepted, so they are written again
    assert check.problems(tmp_path / "c.manyview") == []


def words_of_file(path):
    with open(path, "rb") as file:
        return read_words(file.read())[0]


def test_what_is_put_in_and_taken_out(four):
    before = snapshot(four.source)
    four.decide([(1, "dog"), (2, "dog"), (3, "even")], True)
    four.decide([(1, "EVEN")], False)
    shown = four.apply(dry_run=True)
    assert [change.lines() for change in shown.changes] == [["+ dog", "- even"], ["+ dog"]]
    assert snapshot(four.source) == before and states(four) == {} and len(four.history) == 2
    done = four.apply()
    assert [change.edit for change in done.changes] == [change.edit for change in shown.changes]
    assert words(four.source / "p000.xmp") == ["number 0", "dog"]
    assert words(four.source / "p001.png.xmp") == ["dog"]
    assert (four.source / "p002.xmp").read_bytes() == before[(four.source / "p002.xmp").relative_to(four.source)]
    assert states(four) == {1: "written", 2: "written", 3: "written"}
    assert done.entry.kind == "apply" and done.entry.detail["files"] == 2
    assert four.tagging.words_of(1) == ["number 0", "dog"]


def test_removal_writes_too_also_of_what_we_wrote(four):
    four.decide([(2, "dog")], True)
    four.apply()
    four.decide([(2, "dog")], False)
    assert four.apply().changes[0].edit.remove == ("dog",)
    assert words(four.source / "p001.png.xmp") == []
    assert four.apply().changes == []


def test_a_word_that_another_program_added_is_never_removed(four):
    four.decide([(2, "cat"), (4, "cat")], False)  # no to proposals: neither file has the word
    (four.source / "p001.xmp").write_text(sidecar("cat"), encoding="utf-8")
    assert four.apply().changes == []
    four.read(four.source)  # and not after it was seen either
    (four.source / "p003.xmp").write_text(sidecar("cat"), encoding="utf-8")
    four.read(four.source)
    assert four.apply().changes == []
    assert words(four.source / "p001.xmp") == words(four.source / "p003.xmp") == ["cat"]
    four.decide([(1, "dog")], True)
    (four.source / "p000.xmp").write_text(sidecar("even", "theirs"), encoding="utf-8")  # between reading and writing
    four.apply()
    assert words(four.source / "p000.xmp") == ["even", "theirs", "dog"]
    assert "theirs" in four.tagging.words_of(1)


def test_a_word_removed_and_added_again_by_others_stays(four):
    four.decide([(1, "even")], False)
    four.apply()
    assert words(four.source / "p000.xmp") == ["number 0"]
    (four.source / "p000.xmp").write_text(sidecar("even"), encoding="utf-8")
    four.read(four.source)
    assert four.apply().changes == []


def test_what_another_program_lost_is_written_again(four):
    four.decide([(1, "dog")], True)
    four.apply()
    (four.source / "p000.xmp").write_text(sidecar("theirs"), encoding="utf-8")
    four.read(four.source)
    assert "dog" in four.tagging.words_of(1)
    four.apply()
    assert words(four.source / "p000.xmp") == ["theirs", "dog"]


def test_paths_of_the_owners_hierarchy(tmp_path):
    source = picture_folder(tmp_path / "pictures", 4)
    text = sidecar("poodle", "mouse").replace(
        "</rdf:Description>",
        '<lr:hierarchicalSubject xmlns:lr="http://ns.adobe.com/lightroom/1.0/"><rdf:Bag><rdf:li>Animals|Dog|Poodle'
        "</rdf:li><rdf:li>Animals|Mouse</rdf:li><rdf:li>Hardware|Mouse</rdf:li></rdf:Bag></lr:hierarchicalSubject>"
        "</rdf:Description>",
    )
    (source / "p003.xmp").write_text(text, encoding="utf-8")
    with Collection.create(tmp_path / "c.manyview", source) as collection:
        collection.decide([(2, "poodle"), (2, "Dog"), (2, "mouse"), (2, "tree")], True)
        collection.apply()
        held, paths = read_words((source / "p001.png.xmp").read_bytes())
        assert held == ["poodle", "mouse", "Dog", "tree"]
        assert paths == ["Animals|Dog|Poodle", "mouse", "Animals|Dog", "tree"]  # which mouse, nobody knows
        assert listed(source / "p001.png.xmp") == ["Animals/Dog/Poodle", "mouse", "Animals/Dog", "tree"]
        collection.decide([(4, "poodle")], False)
        collection.apply()
        assert read_words((source / "p003.xmp").read_bytes()) == (["mouse"], ["Animals|Mouse", "Hardware|Mouse"])


class TestRefusals:
    def test_a_failed_write_stays_pending_and_a_rescan_loses_nothing(self, four, monkeypatch):
        four.decide([(1, "dog"), (2, "dog"), (3, "dog")], True)
        (four.source / "p000.xmp").write_bytes(b"<x:xmpmeta broken")
        before = snapshot(four.source)
        done = four.apply()
        assert [problem.path for problem in done.failed] == ["p000.png"]
        assert "p000.xmp: it is not well-formed XML" in done.failed[0].sentence
        assert states(four) == {1: "failed", 2: "written", 3: "written"}
        assert (four.source / "p000.xmp").read_bytes() == before[(four.source / "p000.xmp").relative_to(four.source)]
        for _ in range(2):
            four.read(four.source)
            assert "dog" in four.tagging.words_of(1) and states(four)[1] == "failed"
        (four.source / "p000.xmp").write_text(sidecar("theirs"), encoding="utf-8")
        assert [os.path.basename(change.path) for change in four.apply().changes] == ["p000.xmp"]
        assert states(four)[1] == "written" and words(four.source / "p000.xmp") == ["theirs", "dog"]

    def test_links_folders_and_protected_files(self, four, tmp_path):
        four.decide([(n, "dog") for n in (1, 2, 3, 4)], True)
        outside = tmp_path / "outside.xmp"
        outside.write_text(sidecar("x"), encoding="utf-8")
        (four.source / "p001.xmp").symlink_to(outside)
        (four.source / "p003.png.xmp").mkdir()
        (four.source / "p000.xmp").chmod(0o444)
        done = four.apply()
        said = {problem.path: problem.sentence for problem in done.failed}
        assert "link" in said["p001.png"] and "not a file" in said["p003.png"] and "protected" in said["p000.png"]
        assert [os.path.basename(change.path) for change in done.changes] == ["p002.xmp"]
        assert words(outside) == ["x"] and (four.source / "p001.xmp").is_symlink()

    def test_a_folder_or_picture_that_is_gone(self, tmp_path):
        source = tmp_path / "pictures"
        for folder in ("a", "b", "c"):
            (source / folder).mkdir(parents=True)
            (source / folder / "p.png").write_bytes(png(1))
        with Collection.create(tmp_path / "c.manyview", source) as collection:
            collection.decide([(1, "dog"), (2, "dog"), (3, "dog")], True)
            shutil.rmtree(source / "a")
            (source / "b" / "p.png").unlink()
            shutil.move(source / "c", tmp_path / "elsewhere")
            (source / "c").symlink_to(tmp_path / "elsewhere")
            done = collection.apply()
            assert done.changes == [] and [p.path for p in done.failed] == ["a/p.png", "b/p.png", "c/p.png"]
            assert "outside" in done.failed[2].sentence
            assert os.listdir(tmp_path / "elsewhere") == ["p.png"] and os.listdir(source / "b") == []
            assert done.entry is None and collection.history.last().kind == "decide"

    def test_another_program_is_quicker(self, four, monkeypatch):
        from manyview.writeback import file_batches

        four.decide([(1, "dog")], True)
        real = file_batches._keep

        def keep(*arguments):
            (four.source / "p000.xmp").write_text(sidecar("quick"), encoding="utf-8")
            return real(*arguments)

        monkeypatch.setattr(file_batches, "_keep", keep)
        done = four.apply()
        assert "another program" in done.failed[0].sentence and done.entry is None
        assert words(four.source / "p000.xmp") == ["quick"]
        monkeypatch.undo()
        four.apply()
        assert words(four.source / "p000.xmp") == ["quick", "dog"]

    def test_wrong_use(self, four, tmp_path):
        with pytest.raises(ParameterError, match="xmp, embedded, csv, json, not to 'pdf'"):
            four.apply("pdf")
        with pytest.raises(ParameterError, match="naming"):
            four.apply(naming="short")
        with pytest.raises(ParameterError, match="-o FILE"):
            four.apply("csv")
        with pytest.raises(ParameterError, match="output"):
            four.apply(output="x")
        four.close()
        with Collection.open(four.path) as reading:
            with pytest.raises(StoreError, match="open for reading"):
                reading.apply()
            with pytest.raises(StoreError, match="open for reading"):
                reading.undo()
            assert reading.apply(dry_run=True).changes == []


def test_mode_is_kept_and_nothing_else_is_touched(four):
    (four.source / "p000.xmp").chmod(0o640)
    originals = {p: (hashlib.sha256(p.read_bytes()).hexdigest(), p.stat()) for p in four.source.glob("*.png")}
    four.decide([(1, "dog"), (2, "dog")], True)
    four.apply()
    assert stat.S_IMODE((four.source / "p000.xmp").stat().st_mode) == 0o640
    assert sorted(os.listdir(four.source)) == sorted(
        [*(p.name for p in originals), "p000.xmp", "p001.png.xmp", "p002.xmp"]
    )
    for path, (digest, status) in originals.items():
        now = path.stat()
        assert hashlib.sha256(path.read_bytes()).hexdigest() == digest
        assert (now.st_mtime_ns, now.st_ino, now.st_mode) == (status.st_mtime_ns, status.st_ino, status.st_mode)
    four.undo()
    assert stat.S_IMODE((four.source / "p000.xmp").stat().st_mode) == 0o640


def test_pictures_of_a_table_get_sidecars_too(tmp_path):
    picture_folder(tmp_path / "pictures", 3)
    (tmp_path / "t.csv").write_text("file,tags\npictures/p000.png,red\npictures/p001.png,\n,blue\n", encoding="utf-8")
    with Collection.create(tmp_path / "c.manyview", tmp_path / "t.csv") as collection:
        collection.decide([(n, "dog") for n in collection.items.ids], True)
        done = collection.apply()
        assert sorted(os.path.basename(c.path) for c in done.changes) == ["p000.xmp", "p001.png.xmp"]
        collection.decide([(1, "dog")], False)
        assert collection.apply().changes[0].edit.remove == ("dog",)


NAMES = [
    b"latin \xe9.png", b"new\nline.png", b"tab\t.png", b"\x1b[31mred.png", "rtl \u202egnp.png".encode(), b"-dash.png",
    b"--to.png", b"pipe|.png", b"<img src=x onerror=1>.png", b"'quote\".png", "e\u0301.png".encode(),
    "\u00e9.png".encode(), b"Case.png", b"case.png", b"con.png", b"a b .png", b"$(x).png", b"`x`.png", b"%s%n.png",
    b"a;b&c.png", b"a...png", b"\xf0\x9f\x98\x80.png", b"x.png.png", b"#.png", b"?.png", b"*.png", b"[a].png",
    b"{}.png", b"\\.png", b"~.png", b"@x.png", b"=1.png", b"+.png", "\u2028.png".encode(), "\ufeff.png".encode(),
    b"nul.png", b"\xff\xfe.png", b" lead.png", "日本.png".encode(), b"z" * 247 + b".png",
]  # fmt: skip


def test_forty_names_make_the_round_trip(tmp_path, record_property):
    record_property("count", len(NAMES))
    assert len(set(NAMES)) == 40
    source = tmp_path / "pictures"
    source.mkdir()
    for name in NAMES:
        with open(os.path.join(os.fsencode(source), name), "wb") as file:
            file.write(png(len(name) % 256))
    with Collection.create(tmp_path / "c.manyview", source) as collection:
        assert len(collection.items) == 40
        collection.decide([(n, f"tag {n}") for n in collection.items.ids], True)
        done = collection.apply()
        assert len(done.changes) == 40 and done.failed == []
        for item in collection.items:
            assert read_sidecar(f"{item.path}.xmp").tags == [f"tag {item.id}"]
        assert collection.read(source).n_same == 40
        json.dumps(done.to_dict()).encode("ascii")
        collection.undo()
        assert sorted(os.listdir(os.fsencode(source))) == sorted(NAMES)


def test_tables(four, tmp_path):
    four.decide([(1, "=cmd()"), (1, "dog;cat"), (2, "@x")], True)
    assert four.apply("csv", output=tmp_path / "t.csv").n_items == 4
    import csv

    with open(tmp_path / "t.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[0]["accepted"] == '["=cmd()", "dog;cat"]' and rows[1]["accepted"] == '["@x"]'
    assert json.loads(rows[0]["tags"]) == ["even", "number 0", "=cmd()", "dog;cat"] and rows[3]["tags"] == ""
    four.apply("json", output=tmp_path / "t.json")
    items = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))["items"]
    assert items[0]["accepted"] == ["=cmd()", "dog;cat"] and items[2]["tags"] == ["even", "number 2"]
    assert items[0]["path"].endswith("p000.png") and len(items) == 4
    with pytest.raises(StoreError, match="folder"):
        four.apply("json", output=tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["c.manyview", "pictures", "t.csv", "t.json"]


def test_a_table_is_never_written_over_what_the_collection_was_made_of(tmp_path):
    picture_folder(tmp_path / "pictures", 2)
    mine = tmp_path / "t.csv"
    mine.write_text("id,file,tags,year\nA-1,pictures/p000.png,red,1920\nA-2,,blue,1955\n", encoding="utf-8")
    kept = {file: file.read_bytes() for file in (mine, tmp_path / "pictures" / "p000.png")}
    with Collection.create(tmp_path / "c.manyview", mine) as collection:
        for file in kept:
            for form in ("csv", "json"):
                with pytest.raises(ParameterError, match="was made of"):
                    collection.apply(form, output=file)
        with pytest.raises(ParameterError, match="inside the collection"):
            collection.apply("csv", output=collection.path / "catalog.sqlite")
        collection.apply("csv", output=tmp_path / "mine.csv")
    assert {file: file.read_bytes() for file in kept} == kept
    written = (tmp_path / "mine.csv").read_text(encoding="utf-8").splitlines()
    assert written[0] == "id,item,path,accepted,tags" and written[2] == "2,A-2,,,blue"
    assert written[1].startswith("1,A-1,") and written[1].endswith("p000.png,,red")


def test_a_no_that_was_said_in_an_older_format_counts(tmp_path):
    """Format 1 did not write down which tags have to go from files; its decisions and sidecars tell."""
    source = picture_folder(tmp_path / "pictures", 2)
    path = tmp_path / "c.manyview"
    path.mkdir()
    old = sqlite3.connect(path / layout.CATALOG)
    old.executescript(layout.MIGRATIONS[0])
    old.execute("INSERT INTO sources VALUES (1, 'folder', ?, ?, '{}', 1)", (os.fsencode(source), os.fsencode(source)))
    for n in (1, 2):
        name = f"p00{n - 1}.png".encode()
        old.execute(
            "INSERT INTO items (id, source_id, key, kind, path) VALUES (?, 1, ?, 'picture', ?)", (n, name, name)
        )
    old.executescript(
        "INSERT INTO tags VALUES (1, 'even', 'even'), (2, 'dog', 'dog');"
        "INSERT INTO item_tags VALUES (1, 1, 'sidecar', NULL);"
        "INSERT INTO decisions (item_id, tag_id, answer, who, at) VALUES (1, 1, 0, 'me', ''), (2, 1, 0, 'me', ''),"
        " (2, 2, 1, 'me', '');"
    )
    old.execute(f"PRAGMA application_id = {layout.APPLICATION}")
    old.execute("PRAGMA user_version = 1")
    old.commit()
    old.close()
    with Collection.open(path, write=True) as collection:
        assert [change.lines() for change in collection.apply().changes] == [["- even"], ["+ dog"]]
    assert words(source / "p000.xmp") == ["number 0"]
