"""Doubtful tags: kept with the proposals, answered once, undone, taken out of the sidecar."""

from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from manyview import Collection
from manyview.completion.completer import TagCompleter
from manyview.workflow.proposing.suggest import suggest_tags
from manyview.writeback.apply import apply_tags


@pytest.fixture
def collection(tmp_path, monkeypatch):
    """Six pictures with sidecars; the completer doubts two of their tags."""
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    for n, words in enumerate(["sea sand", "sea sand", "sea sand", "sea sand", "snow ski", "sea sand snow"]):
        Image.new("RGB", (40, 30), (40 * n, 10, 90)).save(pictures / f"{n}.png")
        bag = "".join(f"<rdf:li>{word}</rdf:li>" for word in words.split())
        (pictures / f"{n}.png.xmp").write_text(
            '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
            '<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:subject><rdf:Bag>'
            f"{bag}</rdf:Bag></dc:subject></rdf:Description></rdf:RDF></x:xmpmeta>",
            encoding="utf-8",
        )

    def doubtful(self, top):
        names = list(self.tag_names_)
        found = [(5, "snow", 0.96), (0, "sand", 0.7), (1, "sand", 0.2)]  # the last is more likely right than wrong
        rows, tags, doubt = zip(*((item, names.index(tag), p) for item, tag, p in found), strict=True)
        return SimpleNamespace(items=np.array(rows), columns=np.array(tags), probabilities=1 - np.array(doubt))

    monkeypatch.setattr(TagCompleter, "doubtful", doubtful)
    with Collection.create(tmp_path / "c.manyview", pictures) as made:
        made.add_view("looks", "1", np.eye(6, 3, dtype=np.float32))
        monkeypatch.setattr("manyview.workflow.proposing.suggest.default_views", lambda _: [])
        suggest_tags(made, n_jobs=1)
        yield made


def test_they_are_asked_once(collection):
    first, second = collection.doubtful()
    item = collection.items.find("5.png").id
    assert (first.item_id, first.tag, first.doubt) == (item, "snow", 0.96)
    assert first.reason == "snow: seldom goes with sand (on 0 of 4 other items with it)."
    assert second.tag == "sand" and collection.doubtful(top=1) == [first]
    entry = collection.accept([(second.item_id, "sand")])  # it is right
    assert collection.doubtful() == [first]
    collection.undo(entry)
    assert collection.doubtful() == [first, second]


def test_taking_one_away_reaches_the_sidecar_and_comes_back(collection, tmp_path):
    doubt = collection.doubtful()[0]
    sidecar = tmp_path / "pictures" / "5.png.xmp"
    before = sidecar.read_bytes()
    entry = collection.reject([(doubt.item_id, doubt.tag)], why="there is no snow")
    assert doubt not in collection.doubtful()
    assert "snow" not in [collection.tags.names[t] for t in collection.tags.yes[5].indices]
    apply_tags(collection, "xmp")
    assert b"snow" not in sidecar.read_bytes() and b"sand" in sidecar.read_bytes()
    collection.undo()
    assert sidecar.read_bytes() == before
    collection.undo(entry)
    assert doubt in collection.doubtful()
