"""``manyview apply`` and ``manyview undo``."""

import json
import os

import pytest

from manyview import Collection
from tests.collection.samples import picture_folder
from tests.collection.small_disk import MEGABYTE, WAYS, run_on_small_disk
from tests.end_to_end.test_command_line import run
from tests.writeback.test_write_back import snapshot, words


@pytest.fixture
def ready(tmp_path):
    """Four pictures, of which three got a tag, and one lost one."""
    source = picture_folder(tmp_path / "pictures", 4)
    path = tmp_path / "c.manyview"
    with Collection.create(path, source) as collection:
        collection.decide([(1, "dog"), (2, "\x1b[31mred"), (3, "dog")], True)
        collection.decide([(1, "even")], False)
    return path, source


def test_apply_and_undo(ready):
    path, source = ready
    before = snapshot(source)
    shown = run("apply", path, "--dry-run").stdout
    assert shown.startswith(f"in {source}:\np000.xmp\n  + dog\n  - even\n") and "\x1b" not in shown
    assert "\np001.png.xmp (new)\n" in shown and shown.count(str(source)) == 1
    assert "3 tags would be put into, 1 would be taken out of 3 sidecars (1 new)" in shown
    assert snapshot(source) == before
    shown = run("apply", path).stdout
    assert "3 tags put into, 1 taken out of 3 sidecars (1 new)" in shown and f"manyview undo {path} 3" in shown
    assert words(source / "p000.xmp") == ["number 0", "dog"]
    assert run("apply", path).stdout == "no sidecar needs writing\n"
    assert "undid 3: put 3 tags into and took 1 tag out of 3 sidecars" in run("undo", path).stdout
    assert snapshot(source) == before
    again = json.loads(run("apply", path, "--json", "--naming", "stem").stdout)
    assert again["entry"] == 5 and [os.path.basename(one["path"]) for one in again["files"]] == [
        "p000.xmp",
        "p001.xmp",
        "p002.xmp",
    ]
    assert json.loads(run("undo", path, "5", "--json").stdout) == {
        "entry": 6,
        "undoes": 5,
        "summary": "undid 5: put 3 tags into and took 1 tag out of 3 sidecars",
        "stay": [],
    }


def test_undo_names_the_later_entries_that_it_passes_over(ready):
    path, source = ready
    run("fit", path, "-k", "1")
    entry = json.loads(run("apply", path, "--json").stdout)["entry"]
    (source / "p003.png").rename(source / "elsewhere.png")
    run("add", path)
    said = run("undo", path).stdout
    assert f"undid {entry}: put 3 tags" in said
    assert f"later entries stay, which changed nothing that could be taken back: {entry + 1} (" in said
    assert "1 moved" in said


def test_what_fails_is_named(ready):
    path, source = ready
    (source / "p000.xmp").write_bytes(b"<broken")
    done = run("apply", path, code=3)
    assert "p000.png" in done.stderr and "not well-formed" in done.stderr
    assert "1 failed; the next `apply` tries again" in done.stdout
    (source / "p002.xmp").write_bytes(b"<broken")
    assert "undone but for 1 file," in run("undo", path, code=1).stderr
    failed = json.loads(run("apply", path, "--json", code=3).stdout)["failed"]
    assert [one["path"] for one in failed] == ["p000.png", "p002.png"]
    assert run("apply", path, code=1).stdout == "no sidecar was written; 2 failed; the next `apply` tries again\n"


def test_tables(ready, tmp_path):
    path, _ = ready
    assert "4 items" in run("apply", path, "--to", "csv", "-o", tmp_path / "t.csv").stdout
    assert (tmp_path / "t.csv").read_bytes().startswith(b"id,item,path,accepted,tags\r\n1,p000.png,")
    run("apply", path, "--to", "json", "--output", tmp_path / "t.json")
    assert len(json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))["items"]) == 4
    assert "-o FILE" in run("apply", path, "--to", "csv", code=2).stderr


def test_tags_of_items_without_files_are_not_passed_over(tmp_path):
    table, path = tmp_path / "texts.csv", tmp_path / "texts.manyview"
    table.write_text("id,text\na,It rains.\nb,The sun shines.\n", encoding="utf-8")
    run("init", table, "-o", path)
    told = "no sidecar needs writing"
    assert run("apply", path).stdout == f"{told}\n"
    assert f"Next: manyview apply {path} --to csv -o FILE" in run("accept", path, "--item", "a", "--tag", "wet").stdout
    told += "; 1 accepted tag belongs to items without a file: `manyview apply --to csv -o FILE` writes a table"
    for options in ((), ("--dry-run",)):
        assert run("apply", path, *options).stdout.startswith(told)
    assert json.loads(run("apply", path, "--json").stdout)["without_file"] == 1


def test_used_wrongly(ready):
    path, _ = ready
    assert "not to 'paper'" in run("apply", path, "--to", "paper", code=2).stderr
    assert "no entry 77" in run("undo", path, "77", code=2).stderr
    run("undo", path)
    run("undo", path)
    assert "nothing to undo" in run("undo", path, code=1).stderr


@pytest.mark.parametrize("way", WAYS)
def test_a_disk_that_is_full(way, tmp_path):
    assert run_on_small_disk(way, tmp_path, "tests.cli.full_picture_disk", tmp_path, size=MEGABYTE) == "refused once\n"


def test_no_list_is_written_over_a_source(tmp_path, run=run):
    table = tmp_path / "mine.csv"
    table.write_text("id,text,tags\n" + "".join(f"A{n},a dog in snow {n},dog\n" for n in range(6)), encoding="utf-8")
    before = table.read_bytes()
    run("init", table, "-o", tmp_path / "c.manyview")
    for command in (("suggest", "-o"), ("duplicates", "-o"), ("report", "-o"), ("apply", "--to", "csv", "-o")):
        told = run(command[0], tmp_path / "c.manyview", *command[1:], table, code=2).stderr
        assert "was made of" in told, command
    assert table.read_bytes() == before


def test_a_file_of_somebody_is_kept_and_an_earlier_list_replaced(tmp_path):
    table, path = tmp_path / "mine.csv", tmp_path / "c.manyview"
    table.write_text("id,text,tags\n" + "".join(f"A{n},a dog in snow {n},dog\n" for n in range(6)), encoding="utf-8")
    run("init", table, "-o", path)
    run("fit", path, "-k", 2, "--jobs", 1)
    run("suggest", path, "--jobs", 1)
    strangers = {  # each close to what one of the commands writes
        "holiday.txt": "Dear diary",
        "a.csv": "id,item,tag\n1,A1,dog\n",
        "b.json": '[{"id": 1, "item": "A1", "tag": "dog"}]',
        "c.html": "<!doctype html><html><head></head><body>manyview</body></html>",
    }
    for name, content in strangers.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    lists = {("suggest", "--open"): "csv json", ("duplicates",): "csv json", ("report",): "html"}
    lists |= {("apply", "--to", form): form for form in ("csv", "json")}
    for n, ((verb, *options), endings) in enumerate(lists.items()):
        for name in strangers:
            told = run(verb, path, *options, "-o", tmp_path / name, code=2).stderr
            assert "would be lost. Nothing was written; choose another name" in told, (verb, name)
        for ending in endings.split():
            own = tmp_path / f"own{n}.{ending}"
            own.write_bytes(b"")
            for _ in range(2):  # an empty file and an earlier list are replaced
                run(verb, path, *options, "-o", own)
    for other in ("own1.csv", "own2.html", "own4.json"):  # another command's list is not
        assert "would be lost" in run("suggest", path, "--open", "-o", tmp_path / other, code=2).stderr
    assert "would be lost" in run("report", path, code=2).stderr  # nor by the name that it takes itself, c.html
    assert {name: (tmp_path / name).read_text(encoding="utf-8") for name in strangers} == strangers


def test_a_place_that_cannot_be_is_said_before_anything_is_worked_out(tmp_path):
    table, path = tmp_path / "mine.csv", tmp_path / "c.manyview"
    table.write_text("id,tags\n" + "".join(f"A{n},dog\n" for n in range(6)), encoding="utf-8")
    run("init", table, "-o", path)
    for verb, *options in (("suggest",), ("duplicates",), ("apply", "--to", "csv")):
        for place in (tmp_path / "none" / "list.csv", tmp_path):
            told = run(verb, path, *options, "-o", place, code=1).stderr
            assert "cannot be written: it is a folder, or its folder does not exist" in told, (verb, place)
    with Collection.open(path) as found:
        assert len(found.runs) == 0
    assert sorted(one.name for one in tmp_path.iterdir()) == ["c.manyview", "mine.csv"]
