"""Collections that are small, poor, odd or changed since: every command says something sensible."""

import json
import os

import numpy as np
import pytest
from PIL import Image

from manyview import Collection, errors
from tests.features.tiny_onnx import mean_colour

from .samples import make_pictures
from .test_command_line import run


@pytest.fixture
def noise(tmp_path):
    """A folder of so many different pictures."""

    def make(n_pictures, name="p"):
        folder = tmp_path / name
        folder.mkdir()
        for number in range(n_pictures):
            pixels = np.random.default_rng(number).integers(0, 256, (32, 32, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(folder / f"{number}.png")
        return folder

    return make


@pytest.fixture
def ready(tmp_path):
    """Twenty items in two groups, with a view that is called as one of ours."""
    rng = np.random.default_rng(0)
    half = np.repeat([[0.0], [6.0]], 10, axis=0)
    np.savez(tmp_path / "r.npz", looks=rng.normal(size=(20, 4)) + half, gist=rng.normal(size=(20, 3)) + half)
    run("init", tmp_path / "r.npz")
    return tmp_path / "r.manyview"


def labels(path):
    return [item["label"] for item in json.loads(run("show", path, "--items", "--json").stdout)["items"]]


def test_ready_features_alone(ready):
    run("fit", ready, "-k", 2)
    assert len(set(labels(ready)[:10])) == 1 and labels(ready)[0] != labels(ready)[10]
    assert "only 20 different items" in run("fit", ready, "-k", 21, code=2).stderr
    assert (
        "no view 'nope'. Present: gist, looks, tags. Can be computed: none."
        in run("fit", ready, "--view", "nope", code=2).stderr
    )
    assert "made of pictures" in run("fit", ready, "--view", "hog", code=2).stderr
    assert "no tag is on two items" in run("fit", ready, "--view", "tags", code=2).stderr
    assert "run 2" in run("fit", ready, "-m", "rmkmc", "-k", 2).stdout


def test_a_view_that_came_with_the_source_is_never_replaced(ready):
    said = run("features", ready, "--view", "gist", "--again").stdout
    assert "came with the source" in said
    with Collection.open(ready) as collection:
        assert collection.views(["gist"])["gist"].shape == (20, 3)


def test_the_list_of_views_says_what_is_there_and_what_others_need(ready, tmp_path):
    states = json.loads(run("features", ready, "--list", "--json").stdout)["views"]
    assert states["gist"] == states["looks"] == "there"
    assert states["embedding"] == states["llc"] == "needs pictures or clips"
    (tmp_path / "t.csv").write_text("id,text,taken\n1,a dog runs,2019-06-14\n2,the cat,\n", encoding="utf-8")
    run("init", tmp_path / "t.csv")
    states = json.loads(run("features", tmp_path / "t.manyview", "--list", "--json").stdout)["views"]
    assert states["words"] == "possible" and states["caption"] == "default"
    assert states["date"] == "possible" and states["place"] == "needs positions"
    assert states["motion"] == states["motion_words"] == "needs clips"


def test_tags_alone_and_nothing_at_all(tmp_path):
    lines = [f"{n},{'cat;pet' if n % 2 else 'car;road'}" for n in range(12)] + ["12,"]
    (tmp_path / "t.csv").write_text("\n".join(["id,tags", *lines]), encoding="utf-8")
    run("init", tmp_path / "t.csv")
    said = run("fit", tmp_path / "t.manyview", "-k", 2).stdout
    assert "no computed views; tags" in said and "1 item in no cluster, for want of any view: 12." in said
    found = labels(tmp_path / "t.manyview")
    assert len(set(found[:12:2])) == len(set(found[1:12:2])) == 1 and found[0] != found[1] and found[12] == -1
    assert '3 is in "cat"' in run("show", tmp_path / "t.manyview", "--item", "3").stdout  # by its name, not its number
    assert "other views" in run("fit", tmp_path / "t.manyview", "-m", "hml-rf", "-k", 2, code=2).stderr
    (tmp_path / "n.csv").write_text("id,other\n1,2\n2,3\n", encoding="utf-8")
    run("init", tmp_path / "n.csv")
    assert "nothing to cluster by" in run("fit", tmp_path / "n.manyview", code=2).stderr
    (tmp_path / "empty").mkdir()
    assert "nothing that can be read" in run("init", tmp_path / "empty").stdout


def test_texts_alone(tmp_path):
    (tmp_path / "d" / "sub").mkdir(parents=True)
    for number in range(8):
        words = "the cat sat on another mat" if number % 2 else "a car drives down some road"
        (tmp_path / "d" / ("sub" if number % 2 else ".") / f"{number}.txt").write_text(f"{words} {number}")
    run("init", tmp_path / "d")
    assert "views: caption" in run("fit", tmp_path / "d.manyview", "-k", 2).stdout
    found = labels(tmp_path / "d.manyview")
    assert sorted(found) == [0] * 4 + [1] * 4 and len(set(found[:4])) == 1
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "a.txt").write_text("hundertzwölf")
    (tmp_path / "e" / "b.txt").write_text("dreiundachtzig")
    run("init", tmp_path / "e")
    assert "no word is in two texts" in run("fit", tmp_path / "e.manyview", code=2).stderr


def test_few_pictures_and_equal_ones(noise, tmp_path):
    run("init", noise(3))
    assert "too few to find a number" in run("fit", tmp_path / "p.manyview").stdout
    assert "2 clusters" in run("fit", tmp_path / "p.manyview", "-k", 2).stdout
    same = tmp_path / "same"
    same.mkdir()
    for number in range(4):
        Image.new("RGB", (32, 32), (200, 10, 10)).save(same / f"{number}.png")
    run("init", same)
    assert "1 cluster," in run("fit", tmp_path / "same.manyview").stdout
    assert labels(tmp_path / "same.manyview") == [0] * 4
    assert "only 1 different item" in run("fit", tmp_path / "same.manyview", "-k", 2, code=2).stderr


def test_init_again_brings_up_to_date(noise, tmp_path):
    folder, path = noise(6, "trip.2020"), tmp_path / "trip.2020.manyview"
    run("init", folder)
    run("fit", path, "-k", 2)
    assert "nothing new" in run("init", folder).stdout
    (folder / "0.png").unlink()
    Image.new("RGB", (32, 32), (0, 255, 0)).save(folder / "1.png")
    Image.new("RGB", (32, 32), (0, 0, 255)).save(folder / "new.png")
    run("fit", path, "-k", 2)  # nobody has looked yet
    assert "1 new, 1 changed, 1 gone" in run("init", folder).stdout
    run("show", path, "--items")
    assert json.loads(run("features", path, "--json").stdout)["new_rows"] == {"embedding": 2}
    run("fit", path, "-k", 2)
    assert len(labels(path)) == 6
    assert "holds a collection already" in run("init", noise(2, "other"), "-o", path, code=1).stderr


def test_a_changed_table_computes_what_changed(tmp_path):
    table = make_pictures(tmp_path / "shapes")
    words = ("round red thing", "lines in a row", "a thing")
    lines = table.read_text(encoding="utf-8").splitlines()
    text = "\n".join([lines[0], *(line + words[n % 3] for n, line in enumerate(lines[1:]))]) + "\n"
    table.write_text(text, encoding="utf-8")
    path = tmp_path / "s.manyview"
    run("init", table, "-o", path)
    run("features", path)
    table.write_text(text.replace("round red thing", "lines", 1), encoding="utf-8")
    Image.new("RGB", (64, 64), (0, 255, 0)).save(table.parent / "05.png")
    run("init", table, "-o", path)
    rows = json.loads(run("features", path, "--json").stdout)["new_rows"]
    assert rows == {"embedding": 2, "caption": 2}


def test_a_disk_that_is_away_costs_nothing(noise, tmp_path):
    folder, path = noise(4), tmp_path / "p.manyview"
    run("init", folder)
    os.rename(folder, tmp_path / "away")
    assert "connect that first" in run("features", path, code=1).stderr
    os.rename(tmp_path / "away", folder)
    os.rename(folder / "0.png", tmp_path / "0.png")
    assert "0.png" in run("features", path, code=3).stderr
    os.rename(tmp_path / "0.png", folder / "0.png")
    assert json.loads(run("features", path, "--json").stdout)["new_rows"] == {"embedding": 1}
    os.rename(folder, tmp_path / "away")
    assert "connect that first" in run("features", path, "--again", code=1).stderr
    run("fit", path, "-k", 2)  # the views are there


@pytest.mark.filterwarnings("default::manyview.errors.ViewWarning")
def test_a_model_that_was_named_is_remembered(noise, tmp_path):
    folder, path = noise(4), tmp_path / "p.manyview"
    mean_colour(tmp_path / "m.onnx")
    run("init", folder)
    said = run("features", path, "--model", tmp_path / "m.onnx").stderr
    assert said.startswith("note: ") and "preprocessor_config.json" in said and ".py" not in said
    Image.new("RGB", (32, 32), (0, 0, 255)).save(folder / "new.png")
    run("init", folder)
    found = json.loads(run("features", path, "--json").stdout)
    assert found["new_rows"] == {"embedding": 1} and found["views"]["embedding"]["columns"] == 3
    (tmp_path / "m.onnx").unlink()
    assert "not there any more" in run("fit", path, "-k", 2).stdout
    run("features", path, "--model", tmp_path / "nowhere.onnx", "--again", code=1)
    assert json.loads(run("features", path, "--again", "--json").stdout)["views"]["embedding"]["columns"] == 1280


def test_aplsa_takes_help_from_another_collection(tmp_path):
    theirs = make_pictures(tmp_path / "theirs")
    run("init", theirs, "-o", tmp_path / "theirs.manyview", "--image", "file", "--tags", "words")
    mine, path = tmp_path / "mine", tmp_path / "mine.manyview"
    mine.mkdir()
    for number in (0, 1, 2, 3, 6, 7, 8, 9):
        with Image.open(theirs.parent / f"{number:02d}.png") as picture:
            picture.transpose(Image.Transpose.ROTATE_180).save(mine / f"{number}.png")
    run("init", mine)
    assert "--annotations" in run("fit", path, "-m", "aplsa", "-k", 2, code=2).stderr
    assert "aplsa only" in run("fit", path, "--annotations", tmp_path / "theirs.manyview", code=2).stderr
    before = (tmp_path / "theirs.manyview" / "catalog.sqlite").read_bytes()
    said = run("fit", path, "-m", "aplsa", "-k", 2, "--annotations", tmp_path / "theirs.manyview").stdout
    assert "10 items with 4 tags" in said and "views: visual_words" in said
    assert (tmp_path / "theirs.manyview" / "catalog.sqlite").read_bytes() == before
    found = labels(path)
    assert len(set(found[:4])) == len(set(found[4:])) == 1 and found[0] != found[4]
    assert f"{found[0]}: disc" in said and f"{found[4]}: stripes" in said
    with Collection.open(path) as collection:
        assert collection.runs.model().labels_.tolist() == found
    assert "visual_words" not in run("fit", path, "-k", 2).stdout  # it serves other methods only where it is named
    assert "can teach nothing" in run("fit", path, "-m", "aplsa", "-k", 2, "--annotations", path, code=2).stderr


def test_aplsa_over_texts(tmp_path):
    mine = [f"{n},{'the cat purrs' if n % 2 else 'a car drives'} {n}" for n in range(8)]
    theirs = [f"{n},{'my cat purrs,animal' if n % 2 else 'car drives off,machine'}" for n in range(12)]
    (tmp_path / "a.csv").write_text("\n".join(["id,text", *mine]), encoding="utf-8")
    (tmp_path / "b.csv").write_text("\n".join(["id,text,tags", *theirs]), encoding="utf-8")
    run("init", tmp_path / "a.csv")
    run("init", tmp_path / "b.csv")
    said = run("fit", tmp_path / "a.manyview", "-m", "aplsa", "-k", 2, "--annotations", tmp_path / "b.manyview").stdout
    found = labels(tmp_path / "a.manyview")
    assert len(set(found[::2])) == len(set(found[1::2])) == 1 and found[0] != found[1]
    assert f"{found[0]}: machine" in said and f"{found[1]}: animal" in said


def test_collection_fit(ready):
    with Collection.open(ready, write=True) as collection:
        made = collection.fit("rmkmc", 2, seed=3)
        assert made.method == "rmkmc" and made.settings["seed"] == 3 and len(collection.runs.clusters(made.id)) == 2
        assert collection.fit(n_clusters=2).method == "consensus"
    with Collection.open(ready) as collection, pytest.raises(errors.StoreError, match="open for reading"):
        collection.fit()


def test_init_says_which_columns_it_took(tmp_path):
    rows = "".join(f"A-{n}|Hund {n}|{n}.jpg|Hund; Wiese\n" for n in range(3))
    (tmp_path / "t.csv").write_text(f"Signatur|Titel|Bild|Schlagworte\n{rows}", encoding="utf-8")
    told = run("init", tmp_path / "t.csv").stdout
    assert (
        "3 items\n  columns: none has a usual name\n  only shown with the items: 'Signatur', 'Titel', 'Bild'," in told
    )
    assert "say what a column is with --id, --image, --text, --tags\n" in told and "Next" not in told
    told = run("init", tmp_path / "t.csv", "--id", "Signatur", "--text", "Titel", "--tags", "Schlagworte").stdout
    assert "columns: id 'Signatur', text 'Titel', tags 'Schlagworte'\n" in told and "2 different tags" in told
    assert "'Bild'; say what a column is with --image\n" in told and "Next: manyview fit" in told
