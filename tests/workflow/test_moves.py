"""An item is its content: what was said of it goes with it wherever its file goes."""

import os
import shutil

import numpy as np
import pytest
from PIL import Image

from manyview import Collection
from manyview.collection.safety.check import problems
from manyview.errors import ParameterError
from manyview.workflow.add import add_items

from ..collection.samples import hashes, sidecar


def picture(path, number, size=32):
    """A picture of one of three kinds, unlike every other one."""
    rng = np.random.default_rng(number)
    base = ((220, 40, 30), (30, 160, 60), (40, 60, 210))[number % 3]
    pixels = np.clip(np.array(base) + rng.integers(-30, 31, (size, size, 3)), 0, 255).astype(np.uint8)
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Eighteen pictures in two folders, grouped."""
    folder = tmp_path_factory.mktemp("made")
    for number in range(18):
        picture(folder / "pictures" / f"{2020 + number % 2}" / f"IMG_{number:02}.png", number)
    with Collection.create(folder / "c.manyview", folder / "pictures") as collection:
        collection.fit(n_clusters=3, seed=0)
    return folder


@pytest.fixture
def place(made, tmp_path):
    """A copy of it, times and all; the collection knows that its folder is here."""
    shutil.copytree(made, tmp_path / "w")
    with Collection.open(tmp_path / "w" / "c.manyview", write=True) as collection:
        add_items(collection, tmp_path / "w" / "pictures", instead_of=made / "pictures")
    return tmp_path / "w"


def say(collection, key):
    """A tag, a place and a pair for an item; its number and what was said."""
    item = collection.items.find(key).id
    run = collection.runs.get().id
    standing = collection.living.standing(run)
    elsewhere = next(c for c in sorted(set(standing.clusters.tolist())) if c != standing.of([item])[0])
    collection.accept([(item, "Food")], who="ada")
    collection.edit("move", [item], elsewhere)
    return item, elsewhere


def check(collection, item, cluster, key):
    assert collection.items.get(item).key == key
    row = collection.items.ids.tolist().index(item)
    assert collection.tags.words_of(row) == ["Food"]
    assert collection.living.standing(collection.runs.get().id).of([item]) == [cluster]


def test_a_renamed_picture_and_a_moved_folder_keep_what_was_said(place):
    with Collection.open(place / "c.manyview", write=True) as collection:
        item, cluster = say(collection, "2021/IMG_05.png")
        n = len(collection.items)
    (place / "pictures/2021/IMG_05.png").rename(place / "pictures/2020/lunch.png")
    with Collection.open(place / "c.manyview", write=True) as collection:
        added = add_items(collection)
        assert added.sentence == "0 new; 1 moved"
        check(collection, item, cluster, "2020/lunch.png")
    (place / "pictures").rename(place / "elsewhere")
    before = hashes(place / "elsewhere" / "2020")
    with Collection.open(place / "c.manyview", write=True) as collection:
        added = add_items(collection, place / "elsewhere")
        assert added.sentence == "0 new; 18 moved"
        assert len(collection.items) == n
        check(collection, item, cluster, "2020/lunch.png")
        assert [entry["path"] for entry in collection.items.sources()] == [str(place / "elsewhere")]
        assert add_items(collection).sentence == "0 new"
    assert hashes(place / "elsewhere" / "2020") == before
    assert problems(place / "c.manyview") == []


def test_files_that_changed_places_are_who_they_were(place):
    folder = place / "pictures" / "2020"
    with Collection.open(place / "c.manyview", write=True) as collection:
        ids = {name: collection.items.find(f"2020/{name}").id for name in ("IMG_00.png", "IMG_02.png", "IMG_04.png")}
    for old, new in (("IMG_04.png", "IMG_06b.png"), ("IMG_02.png", "IMG_04.png"), ("IMG_00.png", "IMG_02.png")):
        (folder / old).rename(folder / new)
        os.utime(folder / new)
    (folder / "IMG_06b.png").rename(folder / "IMG_00.png")  # around in a circle
    with Collection.open(place / "c.manyview", write=True) as collection:
        report = collection.read(place / "pictures")
        assert (report.n_moved, report.n_new, report.n_changed, report.n_gone) == (3, 0, 0, 0)
        for old, new in (("IMG_04.png", "IMG_00.png"), ("IMG_02.png", "IMG_04.png"), ("IMG_00.png", "IMG_02.png")):
            assert collection.items.find(f"2020/{new}").id == ids[old]


def test_a_file_edited_in_place_stays_and_a_copy_is_a_copy(place):
    folder = place / "pictures" / "2020"
    with Collection.open(place / "c.manyview", write=True) as collection:
        item = collection.items.find("2020/IMG_00.png").id
        picture(folder / "IMG_00.png", 100)
        shutil.copy2(folder / "IMG_02.png", folder / "copy of 02.png")
        report = collection.read(place / "pictures")
        assert (report.n_moved, report.n_new, report.n_changed) == (0, 1, 1)
        assert collection.items.find("2020/IMG_00.png").id == item
        assert collection.whereabouts.n_copies() == 1


def test_a_touched_file_keeps_what_was_computed(place):
    os.utime(place / "pictures/2020/IMG_00.png")
    with Collection.open(place / "c.manyview", write=True) as collection:
        report = collection.read(place / "pictures")
        assert report.n_changed == 1
        version = collection.segments.info("embedding").version
        assert collection.missing_rows("embedding", version).size == 0


def test_same_size_and_time_are_not_the_same_file(place):
    old = place / "pictures/2020/IMG_00.png"
    status = old.stat()
    content = bytearray(old.read_bytes())
    content[-20] ^= 1
    old.unlink()
    new = place / "pictures/2020/other.png"
    new.write_bytes(content)
    os.utime(new, ns=(status.st_atime_ns, status.st_mtime_ns))
    with Collection.open(place / "c.manyview", write=True) as collection:
        report = collection.read(place / "pictures")
        assert (report.n_moved, report.n_new, report.n_gone) == (0, 1, 1)


def test_what_is_gone_comes_back_with_its_answers(place):
    with Collection.open(place / "c.manyview", write=True) as collection:
        item, cluster = say(collection, "2020/IMG_00.png")
        (place / "pictures/2020/IMG_00.png").rename(place / "kept.png")
        assert add_items(collection).sentence.endswith("1 gone")
        picture(place / "pictures/2020/IMG_00.png", 50)  # the camera counts anew
        assert add_items(collection).n_new == 1
        other = collection.items.find("2020/IMG_00.png").id
        assert other != item and "Food" not in collection.tags.words_of(collection.items.ids.tolist().index(other))
        (place / "kept.png").rename(place / "pictures/back.png")
        added = add_items(collection)
        assert added.n_moved == 0 and "1 back" in added.said[0]
        check(collection, item, cluster, "back.png")


def test_an_overwritten_picture_is_gone_and_the_other_one_moved(place):
    folder = place / "pictures" / "2020"
    with Collection.open(place / "c.manyview", write=True) as collection:
        item, cluster = say(collection, "2020/IMG_00.png")
        other = collection.items.find("2020/IMG_02.png").id
        shutil.copy2(folder / "IMG_02.png", place / "kept.png")
        (folder / "IMG_00.png").replace(folder / "IMG_02.png")
        report = collection.read(place / "pictures")
        assert report.n_moved == 1
        check(collection, item, cluster, "2020/IMG_02.png")
        assert other not in collection.items.ids
        shutil.copy2(place / "kept.png", folder / "back.png")
        report = collection.read(place / "pictures")
        assert report.n_back == 1 and collection.items.find("2020/back.png").id == other


def test_sidecars_go_along_and_can_be_taken_back(place):
    with Collection.open(place / "c.manyview", write=True) as collection:
        item = collection.items.find("2020/IMG_00.png").id
        collection.accept([(item, "Food")])
        collection.apply("xmp")
    for name in ("IMG_00.png", "IMG_00.png.xmp"):
        (place / "pictures/2020" / name).rename(place / "pictures/2021" / name)
    with Collection.open(place / "c.manyview", write=True) as collection:
        assert add_items(collection).sentence == "0 new; 1 moved"
        assert collection.apply("xmp").entry is None
        collection.undo()
    assert not (place / "pictures/2021/IMG_00.png.xmp").exists()
    assert problems(place / "c.manyview") == []


def test_another_sidecar_is_read_at_the_new_place(place):
    (place / "pictures/2020/IMG_00.png").rename(place / "pictures/a.png")
    (place / "pictures/a.png.xmp").write_text(sidecar("harbour"))
    with Collection.open(place / "c.manyview", write=True) as collection:
        assert add_items(collection).sentence == "0 new; 1 moved"
        item = collection.items.find("a.png").id
        assert collection.tags.words_of(collection.items.ids.tolist().index(item)) == ["harbour"]


def test_a_moved_part_of_a_folder_that_is_still_there(place):
    shutil.move(place / "pictures/2021", place / "archive")
    with Collection.open(place / "c.manyview", write=True) as collection:
        numbers = collection.items.ids.tolist()
        assert add_items(collection, place / "archive").sentence == "0 new; 9 moved"
        assert collection.items.ids.tolist() == numbers
        assert add_items(collection).sentence == "0 new"


def test_what_another_picture_took_the_place_of_is_known_again_in_another_folder(place):
    folder = place / "pictures" / "2020"
    with Collection.open(place / "c.manyview", write=True) as collection:
        item, cluster = say(collection, "2020/IMG_02.png")
        shutil.copy2(folder / "IMG_02.png", place / "kept.png")
        (folder / "IMG_00.png").replace(folder / "IMG_02.png")
        collection.read(place / "pictures")
        assert item not in collection.items.ids
        (place / "other").mkdir()
        (place / "kept.png").rename(place / "other" / "found.png")
        added = add_items(collection, place / "other")
        assert "1 back" in added.said[0]
        check(collection, item, cluster, "found.png")


def forget_contents(path):
    """As an older version left it."""
    with Collection.open(path, write=True) as collection:
        collection._catalog.run("UPDATE items SET content = NULL")


def test_items_of_an_older_version_are_known_by_their_inode(place):
    forget_contents(place / "c.manyview")
    (place / "pictures/2020/IMG_00.png").rename(place / "pictures/a.png")
    with Collection.open(place / "c.manyview", write=True) as collection:
        report = collection.read(place / "pictures")
        assert (report.n_moved, report.n_new) == (1, 0)


def test_and_on_another_disk_by_what_they_show(place):
    with Collection.open(place / "c.manyview", write=True) as collection:
        item, cluster = say(collection, "2020/IMG_00.png")
        numbers = collection.items.ids.tolist()
    forget_contents(place / "c.manyview")
    for old in sorted((place / "pictures").rglob("*.png")):  # other inodes and times
        new = place / "disk" / old.relative_to(place / "pictures")
        new.parent.mkdir(parents=True, exist_ok=True)
        new.write_bytes(old.read_bytes())
    shutil.rmtree(place / "pictures")
    with Collection.open(place / "c.manyview", write=True) as collection:
        added = add_items(collection, place / "disk")
        assert added.n_moved == 18
        assert collection.items.ids.tolist() == numbers
        check(collection, item, cluster, "2020/IMG_00.png")
    assert problems(place / "c.manyview") == []


def test_older_items_get_their_content_with_the_next_views(place):
    forget_contents(place / "c.manyview")
    with Collection.open(place / "c.manyview", write=True) as collection:
        add_items(collection)
        assert collection.whereabouts.unread() == []


def test_a_moved_table_is_recognised_and_a_changed_one_is_named(tmp_path):
    np.savez(tmp_path / "a.npz", looks=np.random.default_rng(0).normal(size=(12, 3)))
    with Collection.create(tmp_path / "c.manyview", tmp_path / "a.npz") as collection:
        collection.accept([(3, "word")])
        (tmp_path / "a.npz").rename(tmp_path / "b.npz")
        add_items(collection, tmp_path / "b.npz")
        assert len(collection.items) == 12
        np.savez(tmp_path / "c.npz", looks=np.random.default_rng(1).normal(size=(12, 3)))
        (tmp_path / "b.npz").unlink()
        with pytest.raises(ParameterError, match="is no source of"):
            add_items(collection, tmp_path / "c.npz", instead_of=tmp_path / "a.npz")
        add_items(collection, tmp_path / "c.npz", instead_of=tmp_path / "b.npz")
        assert len(collection.items) == 12
        assert collection.tags.words_of(2) == ["word"]
