"""Keywords as other programs keep them, in new sidecars and in those that are there."""

from manyview import Collection
from manyview.ingest.sidecar import read_sidecar
from manyview.writeback.editor import read_words
from tests.collection.samples import png, sidecar
from tests.ingest import makers as m

from .test_write_back import listed, snapshot, words


class TestOtherPrograms:
    """A program reads one list of keywords and no other, and a sidecar before the picture."""

    def test_a_new_sidecar_holds_the_keywords_of_the_picture(self, tmp_path):
        source = tmp_path / "pictures"
        source.mkdir()
        packet = m.xmp("sea", "AC/DC", paths=("Places|Ireland|Sea",), digikam=("Places/Ireland/Sea", "People/Anna"))
        picture = m.jpeg(m.app13(m.iim(b"holiday", b"Family", b"refused")), m.app1_xmp(packet))
        (source / "p.jpg").write_bytes(picture)
        with Collection.create(tmp_path / "c.manyview", source) as collection:
            assert collection.tagging.words_of(1) == ["holiday", "Family", "refused", "sea", "AC/DC", "Anna"]
            collection.decide([(1, "beach"), (1, "family")], True)
            collection.decide([(1, "refused")], False)
            shown = collection.apply(dry_run=True).changes[0]
            assert shown.lines() == ["+ Family", "+ beach", "= holiday", "= sea", "= AC/DC", "= Anna"]
            done = collection.apply()
            assert done.sentence.startswith("2 tags put into 1 sidecar (1 new); 1 tag that you took away or renamed ")
            new = source / "p.jpg.xmp"
            assert words(new) == ["holiday", "sea", "AC/DC", "Anna", "Family", "beach"]
            paths = ["holiday", "Places|Ireland|Sea", "AC/DC", "People|Anna", "Family", "beach"]
            assert read_words(new.read_bytes())[1] == paths
            assert listed(new) == ["holiday", "Places/Ireland/Sea", "AC|DC", "People/Anna", "Family", "beach"]
            assert collection.read(source).n_same == 1
            names = [word.casefold() for word in collection.tagging.words_of(1)]
            assert sorted(names) == ["ac/dc", "anna", "beach", "family", "holiday", "sea"]
            assert collection.apply().changes == []
            collection.undo()
            assert snapshot(source) == {new.with_name("p.jpg").relative_to(source): picture}

    def test_a_new_sidecar_holds_the_keywords_of_a_document(self, tmp_path):
        source = tmp_path / "texts"
        source.mkdir()
        (source / "a.md").write_text("---\ntags: [sea, old town]\n---\nwords")
        (source / "b.rtf").write_text(r"{\rtf1{\info{\keywords sea; ship}}words}")
        with Collection.create(tmp_path / "c.manyview", source) as collection:
            collection.decide([(1, "beach"), (2, "beach")], True)
            collection.decide([(2, "ship")], False)
            collection.apply()
            assert words(source / "a.md.xmp") == listed(source / "a.md.xmp") == ["sea", "old town", "beach"]
            assert words(source / "b.rtf.xmp") == ["sea", "beach"]
            assert collection.read(source).n_same == 2 and collection.apply().changes == []

    def test_words_above_a_keyword_stay_above_it(self, tmp_path):
        """Lightroom writes `Rome`, `Italy` and `Places` into dc:subject and `Places|Italy|Rome` into its own list."""
        source = tmp_path / "pictures"
        source.mkdir()
        packet = m.xmp("Rome", "Italy", "Places", "Dog", paths=("Places|Italy|Rome", "Animals|Dog"))
        for name in ("p.jpg", "q.jpg"):
            (source / name).write_bytes(m.jpeg(m.app1_xmp(packet)))
        with Collection.create(tmp_path / "c.manyview", source) as collection:
            collection.decide([(1, "beach"), (2, "beach")], True)
            collection.decide([(2, "Rome")], False)
            collection.apply()
            new = source / "p.jpg.xmp"
            assert words(new) == ["Rome", "Italy", "Places", "Dog", "beach"]
            assert read_words(new.read_bytes())[1] == ["Places|Italy|Rome", "Animals|Dog", "beach"]
            assert listed(new) == ["Places/Italy/Rome", "Animals/Dog", "beach"]
            other = source / "q.jpg.xmp"
            assert words(other) == ["Italy", "Places", "Dog", "beach"]
            assert listed(other) == ["Places/Italy", "Places", "Animals/Dog", "beach"]
            assert collection.read(source).n_same == 2 and collection.apply().changes == []

    def test_a_list_that_a_sidecar_lacks_begins_with_what_it_has(self, four):
        four.decide([(1, "dog")], True)
        four.apply()
        assert words(four.source / "p000.xmp") == ["even", "number 0", "dog"]
        assert listed(four.source / "p000.xmp") == ["even", "number 0", "dog"]

    def test_what_a_program_has_taken_out_of_its_sidecar_does_not_come_back(self, tmp_path):
        source = tmp_path / "pictures"
        source.mkdir()
        (source / "p.jpg").write_bytes(m.jpeg(m.app13(m.iim(b"kept", b"taken out"))))
        (source / "p.jpg.xmp").write_text(sidecar("kept"), encoding="utf-8")
        with Collection.create(tmp_path / "c.manyview", source) as collection:
            collection.decide([(1, "dog")], True)
            collection.apply()
            assert words(source / "p.jpg.xmp") == listed(source / "p.jpg.xmp") == ["kept", "dog"]

    def test_a_sidecar_without_keywords_gets_those_of_the_picture(self, tmp_path):
        source = tmp_path / "pictures"
        source.mkdir()
        (source / "p.jpg").write_bytes(m.jpeg(m.app13(m.iim(b"kept"))))
        (source / "p.jpg.xmp").write_text(sidecar(), encoding="utf-8")
        with Collection.create(tmp_path / "c.manyview", source) as collection:
            collection.decide([(1, "dog")], True)
            collection.apply()
            assert words(source / "p.jpg.xmp") == listed(source / "p.jpg.xmp") == ["kept", "dog"]

    def test_a_word_that_stands_in_the_picture_itself_is_told_of(self, tmp_path):
        source = tmp_path / "pictures"
        source.mkdir()
        (source / "p.jpg").write_bytes(m.jpeg(m.app13(m.iim(b"kept", b"wrong"))))
        with Collection.create(tmp_path / "c.manyview", source) as collection:
            assert collection.apply().sentence == "no sidecar needs writing"
            collection.decide([(1, "wrong")], False)
            inside = "stands in the pictures themselves: `--to embedded` changes JPEG, PNG and TIFF files"
            done = collection.apply()
            assert done.sentence == f"no sidecar needs writing; 1 tag that you took away or renamed {inside}"
            assert done.to_dict()["inside_pictures"] == 1 and done.failed == []
            assert "inside" not in collection.apply("embedded", dry_run=True).sentence
            collection.undo()
            assert collection.apply().sentence == "no sidecar needs writing"

    def test_a_word_goes_from_every_list(self, tmp_path):
        source = tmp_path / "pictures"
        source.mkdir()
        (source / "p.png").write_bytes(png(1))
        packet = m.xmp(
            "dog", paths=("Animals|Dog", "cat"), digikam=("Animals/Dog", "cat"), microsoft=("Animals/Dog", "cat")
        )
        tree = m.mwg(("Animals", ("Dog",)), ("cat",)).partition(b"<mwg-kw:Keywords")[2].partition(b"</rdf:Desc")[0]
        packet = packet.replace(b"</rdf:Description>", b"<mwg-kw:Keywords" + tree + b"</rdf:Description>")
        (source / "p.png.xmp").write_bytes(packet)
        before = snapshot(source)
        with Collection.create(tmp_path / "c.manyview", source) as collection:
            assert collection.tagging.words_of(1) == ["dog", "cat"]
            collection.decide([(1, "dog")], False)
            done = collection.apply()
            assert done.changes[0].lines() == ["- dog (Animals|Dog)"]
            left = read_sidecar(str(source / "p.png.xmp"))
            assert left.tags == ["cat"] and left.paths == [("cat",)]
            assert b"Animals" not in (source / "p.png.xmp").read_bytes()
            collection.undo()
            assert snapshot(source) == before

    def test_a_word_that_stands_in_one_list_only_goes_and_is_counted(self, tmp_path):
        source = tmp_path / "pictures"
        source.mkdir()
        (source / "p.png").write_bytes(png(1))
        (source / "p.png.xmp").write_bytes(m.xmp(digikam=("Animals/Dog", "cat")))
        with Collection.create(tmp_path / "c.manyview", source) as collection:
            collection.decide([(1, "dog")], False)
            assert collection.apply().sentence == "1 taken out of 1 sidecar"
            assert listed(source / "p.png.xmp") == ["cat"]

    def test_after_another_program_wrote_undo_takes_only_the_accepted_words(self, tmp_path):
        source = tmp_path / "pictures"
        source.mkdir()
        (source / "p.jpg").write_bytes(m.jpeg(m.app13(m.iim(b"kept"))))
        with Collection.create(tmp_path / "c.manyview", source) as collection:
            collection.decide([(1, "dog")], True)
            collection.apply()
            new = source / "p.jpg.xmp"
            new.write_bytes(new.read_bytes().replace(b"kept</rdf:li>", b"kept</rdf:li><rdf:li>theirs</rdf:li>"))
            collection.undo()
            assert words(new) == listed(new) == ["kept", "theirs"]
