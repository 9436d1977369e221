"""A pair of models of one's own, for pictures and texts, in place of the recipe that ships: a tiny one, of colours."""

import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from manyview import Collection
from manyview.errors import ParameterError, StoreError
from manyview.features import towers
from manyview.meaning.own_model import ABSENT
from manyview.meaning.words import english_words
from manyview.workflow.clusters.living import current_clusters
from manyview.workflow.compute import compute_views
from manyview.workflow.looks import has_looks
from manyview.workflow.own_model import own_model
from manyview.workflow.proposing.first_tags import cluster_tags, tag_for_cluster
from manyview.workflow.reading.index import Index
from manyview.workflow.reading.word_answers import word_answers

from ..features.tiny_onnx import FLOAT, INT64, colour_pair, constant, mean_colour, node, tensor_type, write_model

MEANINGS = {"elephant": (1, -1, -1), "kitchen": (-1, 1, -1), "sailboat": (-1, -1, 1), "zorp": (1, -1, -1)}
"""The last is no photo word: only the text network knows it."""


@pytest.fixture(autouse=True)
def in_english(monkeypatch):
    monkeypatch.setenv("LC_ALL", "C.UTF-8")


def make_pair(folder, **changed):
    return colour_pair(folder, MEANINGS, [*english_words(), *ABSENT], **changed)


def paint(folder, colours, n=12, start=0):
    rng = np.random.default_rng(start)
    for number, colour in enumerate(np.repeat(colours, n, axis=0), start):
        pixels = np.clip(colour + rng.integers(-30, 30, size=(24, 24, 3)), 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"DSC{number:04}.png")


@pytest.fixture
def coloured(tmp_path):
    """Twelve red, twelve green and twelve blue pictures, read by the pair."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    paint(folder, [(230, 20, 20), (20, 230, 20), (20, 20, 230)])
    with Collection.create(tmp_path / "c.manyview", folder) as made:
        compute_views(made, model=str(make_pair(tmp_path / "pair")), n_jobs=1)
        yield made


def words_of(collection):
    return {one.name.split(", ")[0].rstrip("?") for one in current_clusters(collection)}


def test_names_first_tags_and_search_follow_the_pair(coloured):
    coloured.fit("rmkmc", 3)
    assert words_of(coloured) == {"elephant", "kitchen", "sailboat"}
    assert all(one.is_guess for one in current_clusters(coloured))
    reds = set(coloured.items.ids[:12].tolist())
    groups = {one.word: set(one.items) for one in cluster_tags(coloured)}
    assert groups["elephant"] == reds and len(groups["kitchen"]) == len(groups["sailboat"]) == 12
    number = next(one.id for one in current_clusters(coloured) if one.name.startswith("elephant"))
    assert set(tag_for_cluster(coloured, number, "elephant").items) == reds
    coloured.first_tags("picture")
    assert {row.tag for row in coloured.runs.proposals() if row.item_id in reds} >= {"elephant"}
    found = coloured.search("zorp")  # free text
    assert found.seen == "plain" and {hit.item for hit in found.hits} == reds
    assert {one.word for one in cluster_tags(coloured, language="de")} == {"Elefant", "Küche", "Segelboot"}
    assert {hit.item for hit in coloured.search("Elefant").hits} == reds


def test_what_is_not_there_is_refused_by_the_line(coloured):
    own = own_model(coloured)
    seen = own.see(coloured.views(["embedding"])["embedding"])
    kept = coloured.segments.state("embedding")["pair"]
    vectors = towers.tower_vectors(kept["folder"], kept["text"], 3, [f"a photo of {text}" for text in ABSENT])
    scores = own.slope * (seen.rows @ vectors.T) + own.start
    best = np.sort(scores, axis=0)[-5:].mean(axis=0)
    assert np.isclose(np.quantile(best, 0.85), 0.45, atol=1e-4) and np.isclose(scores.mean(), 0.08, atol=1e-4)
    refused = [coloured.search(text).seen == "none" for text in ABSENT]
    assert np.isclose(np.mean(refused), 0.85)
    answer = coloured.search(ABSENT[int(np.argmin(best))])
    assert (answer.hits, answer.sentence, len(answer.more)) == ([], "Nothing here seems to show that.", 36)


def test_the_line_stays_while_a_collection_grows_a_little(coloured, tmp_path):
    folder, before = tmp_path / "pictures", own_model(coloured)
    for start, n, same in ((36, 1, True), (37, 40, False)):
        paint(folder, [(230, 230, 20)], n, start)
        coloured.add(folder)
        compute_views(coloured, n_jobs=1)
        now = own_model(coloured)
        assert ((now.slope, now.start) == (before.slope, before.start)) == same


def test_a_pair_is_remembered_and_said_to_be_gone(coloured, tmp_path):
    coloured.fit("rmkmc", 3)
    assert not compute_views(coloured, n_jobs=1).notes
    (tmp_path / "pair").rename(tmp_path / "elsewhere")
    towers._held.clear()
    (note,) = compute_views(coloured, n_jobs=1).notes
    assert note.kind == "model gone" and str(tmp_path / "pair") in note.sentence
    assert {one.word for one in cluster_tags(coloured)} == {"elephant", "kitchen", "sailboat"}  # kept with the view
    assert coloured.search("sailboat").seen == "plain"
    answer = coloured.search("zorp")
    assert answer.seen is None and answer.hits == []
    assert answer.sentence.startswith("Pictures were not asked: ") and "is not there any more" in answer.sentence
    assert "--model" in answer.sentence
    compute_views(coloured, model=str(tmp_path / "elsewhere"), n_jobs=1)
    assert coloured.search("zorp").seen == "plain"
    assert not compute_views(coloured, n_jobs=1).notes  # where it is now is what is remembered


def test_a_text_model_that_changed_is_not_asked_before_its_words_are_read_anew(coloured, tmp_path):
    before = own_model(coloured).words
    make_pair(tmp_path / "pair", seed=1)
    towers._held.clear()
    answer = coloured.search("zorp")
    assert answer.seen is None and "has changed since" in answer.sentence
    (note,) = compute_views(coloured, n_jobs=1).notes
    assert note.kind == "model changed" and "text model" in note.sentence
    assert not np.array_equal(own_model(coloured).words, before) and coloured.search("zorp").seen == "plain"


def test_a_picture_model_that_changed_makes_all_rows_anew_and_says_so(coloured, tmp_path):
    before = coloured.segments.info("embedding").version
    mean_colour(tmp_path / "pair" / "picture.onnx", size=4, name="image_embeds")
    done = compute_views(coloured, n_jobs=1)
    assert [note.kind for note in done.notes] == ["model changed"] and "made anew" in done.notes[0].sentence
    assert done.rows == {"embedding": 36} and coloured.segments.info("embedding").version != before
    assert coloured.search("zorp").seen == "plain" and not compute_views(coloured, n_jobs=1).notes


def test_a_pair_that_tells_nothing_apart_names_nothing(coloured, tmp_path):
    table = constant("table", np.ones((2000, 3), dtype=np.float32))
    axes = constant("axes", np.array([1], dtype=np.int64))
    write_model(
        tmp_path / "pair" / "text.onnx",
        [tensor_type("input_ids", INT64, ["n", "tokens"])],
        [tensor_type("text_embeds", FLOAT, ["n", 3])],
        [
            node("Gather", ["table", "input_ids"], ["rows"], axis=0),
            node("ReduceSum", ["rows", "axes"], ["text_embeds"], keepdims=0),
        ],
        [table, axes],
    )
    for path in (tmp_path / "pictures").iterdir():
        Image.new("RGB", (24, 24), (230, 20, 20)).save(path)
    coloured.add(tmp_path / "pictures")
    (note,) = compute_views(coloured, again=True, model=str(tmp_path / "pair"), n_jobs=1).notes
    assert note.kind == "pair fails" and "tells nothing apart" in note.sentence
    assert not has_looks(coloured) and coloured.search("zorp").seen is None


def test_the_recipe_is_never_asked_about_rows_of_another_model(coloured, tmp_path, monkeypatch):
    def never(*given):
        raise AssertionError("the shipped text model was asked")

    monkeypatch.setattr("manyview.workflow.reading.content.sentence_vectors", never)
    monkeypatch.setattr("manyview.workflow.reading.content.see", never)
    coloured.search("zorp")
    compute_views(coloured, model=str(tmp_path / "pair" / "picture.onnx"), again=True, n_jobs=1)
    assert not has_looks(coloured) and coloured.search("zorp").seen is None  # a picture model alone
    compute_views(coloured, again=True, n_jobs=1)
    assert has_looks(coloured) and own_model(coloured) is None  # the model that ships


def test_too_few_pictures_for_a_line(tmp_path):
    (tmp_path / "few").mkdir()
    paint(tmp_path / "few", [(230, 20, 20)], 5)
    with Collection.create(tmp_path / "few.manyview", tmp_path / "few") as made:
        (note,) = compute_views(made, model=str(make_pair(tmp_path / "pair")), n_jobs=1).notes
        assert note.kind == "few pictures" and "from 20 pictures on; there are 5" in note.sentence
        assert made.search("elephant").seen is None
        with pytest.raises(ParameterError, match="on enough pictures"):
            made.first_tags("picture")


def test_a_pair_that_cannot_serve_is_refused_before_any_picture_is_opened(coloured, tmp_path):
    pair = tmp_path / "pair"
    before = coloured.segments.info("embedding")
    make_pair(pair, n_columns=4)
    with pytest.raises(ParameterError, match="gives 4 numbers for a text, picture.onnx beside it 3"):
        compute_views(coloured, model=str(pair), again=True, n_jobs=1)
    (pair / "text.onnx").write_bytes(b"no model")
    with pytest.raises(StoreError, match="text.onnx cannot be read as an ONNX model"):
        compute_views(coloured, model=str(pair), again=True, n_jobs=1)
    (pair / "tokenizer.json").unlink()
    with pytest.raises(StoreError, match="no pair of models: tokenizer.json not found"):
        compute_views(coloured, model=str(pair), again=True, n_jobs=1)
    assert coloured.segments.info("embedding") == before


def test_exported_answers_are_the_pairs(coloured, tmp_path):
    coloured.fit("rmkmc", 3)
    coloured.first_tags()
    coloured.accept(tag="elephant")
    coloured.edit_tags("rename", "elephant", "zorp")
    found = word_answers(Index(coloured))
    best, items, _ = found["found"][found["words"]["zorp"]]
    assert best >= 0.55 and set(items[:12]) == set(coloured.items.ids[:12].tolist())
    (tmp_path / "pair" / "text.onnx").unlink()
    assert "zorp" not in word_answers(Index(coloured))["words"]


def test_nothing_is_loaded_before_it_is_needed(coloured):
    code = (
        "import sys; from manyview import Collection\n"
        f"c = Collection.open({str(coloured.path)!r})\n"
        "from manyview.workflow.looks import has_looks\n"
        "assert has_looks(c) and c.search('sailboat').seen == 'plain'\n"
        "print([m for m in ('onnxruntime', 'tokenizers') if m in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"
