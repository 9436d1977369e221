"""Which sidecar is written for which picture."""

import os

import pytest

from manyview import Collection
from manyview.writeback.naming import Place
from tests.collection.samples import png, sidecar

from .test_write_back import reason, snapshot, states, words


class TestNaming:
    def test_full_stem_and_what_is_there(self, four):
        (four.source / "p003.png.XMP").write_text(sidecar("own"), encoding="utf-8")
        (four.source / "p003.xmp").write_text(sidecar("both"), encoding="utf-8")
        four.decide([(n, "dog") for n in (1, 2, 4)], True)
        four.decide([(4, "Both")], True)  # it stands in the other one
        names = [os.path.basename(change.path) for change in four.apply(naming="stem").changes]
        assert names == ["p000.xmp", "p001.xmp", "p003.png.XMP"]

    def test_a_picture_and_its_raw_file_do_not_fight(self, tmp_path):
        source = tmp_path / "pictures"
        source.mkdir()
        for name in ("a.jpg.png", "a.png", "a.tif", "b.png"):
            (source / name).write_bytes(png(1))
        (source / "a.xmp").write_text(sidecar("shared", "both"), encoding="utf-8")
        (source / "b.nef").write_bytes(b"raw")  # no item: what it is, is not known here
        (source / "b.xmp").write_text(sidecar("raw"), encoding="utf-8")
        before = snapshot(source)
        with Collection.create(tmp_path / "c.manyview", source) as collection:
            number = {item.key: item.id for item in collection.items}
            collection.decide([(number["a.png"], "one"), (number["a.tif"], "two"), (number["b.png"], "three")], True)
            done = collection.apply()
            assert sorted(os.path.basename(change.path) for change in done.changes) == [
                "a.png.xmp",
                "a.tif.xmp",
                "b.png.xmp",
            ]
            assert (source / "a.xmp").read_bytes() == before[(source / "a.xmp").relative_to(source)]
            collection.read(source)
            assert collection.tagging.words_of(number["a.png"]) == ["shared", "both", "one"]
            assert collection.tagging.words_of(number["a.tif"]) == ["shared", "both", "two"]
            collection.decide([(number["a.png"], "both"), (number["a.png"], "shared")], False)
            collection.decide([(number["a.tif"], "both"), (number["b.png"], "raw")], False)
            done = collection.apply()  # "both" goes for both; "shared" stays for the other, "raw" for the raw file
            assert words(source / "a.xmp") == ["shared"] and words(source / "b.xmp") == ["raw"]
            assert {p.path for p in done.failed} == {"a.png", "b.png"}
            assert "a.tif shares it" in reason(collection, number["a.png"])
            assert states(collection)[number["a.tif"]] == "written"
            collection.decide([(number["a.tif"], "shared")], False)
            collection.apply()
            assert words(source / "a.xmp") == [] and states(collection)[number["a.png"]] == "written"

    @pytest.mark.parametrize("naming", ["stem", "full"])
    def test_two_documents_of_one_name_do_not_fight(self, tmp_path, naming):
        source = tmp_path / "letters"
        source.mkdir()
        for name in ("same.md", "same.txt"):
            (source / name).write_text("Dear Anna, it rains.", encoding="utf-8")
        if naming == "full":
            (source / "same.xmp").write_text(sidecar("shared"), encoding="utf-8")
        with Collection.create(tmp_path / "c.manyview", source) as collection:
            number = {item.key: item.id for item in collection.items}
            collection.decide([(number["same.txt"], "one")], True)
            collection.decide([(number["same.md"], "two")], True)
            assert len(collection.apply(naming=naming).changes) == 2
            assert words(source / "same.txt.xmp")[-1] == "one" and words(source / "same.md.xmp")[-1] == "two"
            collection.read(source)
            shared = ["shared"] if naming == "full" else []
            assert collection.tagging.words_of(number["same.txt"]) == [*shared, "one"]
            collection.decide([(item, "shared") for item in number.values()], False)
            collection.apply()
            assert naming == "stem" or words(source / "same.xmp") == []

    def test_a_sidecar_is_never_planned_twice(self, four, monkeypatch):
        four.decide([(1, "dog")], True)
        four.decide([(2, "cat")], True)
        monkeypatch.setattr("manyview.writeback.naming.Folder.place", lambda *_: Place("one.xmp", ()))
        done = four.apply()
        assert words(four.source / "one.xmp") == ["dog"] and [one.path for one in done.failed] == ["p001.png"]
        assert "for another file just now" in done.failed[0].sentence
        monkeypatch.undo()
        four.apply()
        assert words(four.source / "p001.png.xmp") == ["cat"]

    def test_a_name_as_long_as_can_be(self, tmp_path):
        source = tmp_path / "pictures"
        source.mkdir()
        name = "x" * 251 + ".png"
        (source / name).write_bytes(png(1))
        with Collection.create(tmp_path / "c.manyview", source) as collection:
            collection.decide([(1, "dog")], True)
            assert [os.path.basename(c.path) for c in collection.apply().changes] == ["x" * 251 + ".xmp"]
            assert collection.read(source).n_same == 1
            collection.undo()
            assert os.listdir(source) == [name]
