"""ARCHITECTURE.md speaks of what is there."""

import re
from pathlib import Path

import manyview

ROOT = Path(__file__).parents[1]
SOURCE = Path(manyview.__file__).parent
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def test_every_room_has_its_row():
    rooms = {path.name for path in SOURCE.iterdir() if path.is_dir() and path.name[0] != "_"}
    table = TEXT.split("| room |")[1].split("\n\n")[0]
    named = {name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert named - {"testing"} == rooms


def test_no_folder_is_a_long_list():
    """At most twenty files beside ``__init__.py``; ``cli`` has one for each command, ``end_to_end`` one for a story."""
    for top in (SOURCE, ROOT / "tests"):
        for folder in {path.parent for path in top.rglob("*.py")} - {SOURCE / "cli", ROOT / "tests" / "end_to_end"}:
            names = sorted(path.name for path in folder.glob("*.py") if path.name != "__init__.py")
            assert len(names) <= 20, f"{folder} holds {len(names)} files, make a sub-room: {names}"
    for folder in {path.parent for path in (ROOT / "frontend" / "src").rglob("*.svelte")} | {ROOT / "frontend/src/lib"}:
        names = sorted(path.name for path in folder.iterdir() if path.is_file())
        assert len(names) <= 20, f"{folder} holds {len(names)} files, make a sub-room: {names}"


def test_tests_are_where_their_source_is():
    """A folder of tests is called like the folder of what it tests; some are about all of it.

    ``ground`` tests the files beside the rooms.
    """
    stories = {"browser", "end_to_end", "golden", "ground", "no_code"}
    for path in (ROOT / "tests").rglob("__init__.py"):
        room = path.parent.relative_to(ROOT / "tests")
        if room.parts and room.parts[0] not in stories:
            assert (SOURCE / room).is_dir(), f"tests/{room} has no src/manyview/{room}"


def test_the_picture_names_every_room_and_flat():
    picture = TEXT.split("```")[1]
    for path in SOURCE.rglob("__init__.py"):
        name = path.parent.name
        if path.parent != SOURCE:
            assert re.search(rf"\b{name}\b", picture), name


def test_the_files_it_names_are_there():
    for name in set(re.findall(r"`([\w/]+\.(?:py|md))`", TEXT)):
        if not any(word in name for word in ("NAME", "FLAT", "FAMILY")):
            assert any((top / name).exists() for top in (ROOT, SOURCE, ROOT / "tests")), name
    for name in set(re.findall(r"`((?:tests|docs|src|frontend)/[\w/]*/)`", TEXT)):
        assert (ROOT / name).is_dir(), name


def test_its_words_are_those_of_the_code():
    homes = [SOURCE / "collection" / "living.py", SOURCE / "workflow" / "clusters" / "living.py"]
    living = "".join(path.read_text() for path in homes)
    for word in ("own", "standing", "settle", "adjust"):
        assert f"| {word}" in TEXT and re.search(rf"\b{word}\b", living), word


def test_the_names_it_sends_people_to_exist():
    for name in ("PictureExtractor", "MultiviewEstimator", "default_views", "known_tags"):
        assert name in TEXT
        assert any(name in path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")), name
