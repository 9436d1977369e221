"""Which sidecar is written for which picture."""

import os

from manyview import Collection
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
