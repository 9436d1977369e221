"""The list of promises is whole: every promise has its tests, and every count its place."""

import ast
import re
from pathlib import Path

import pytest

from . import torture
from .promises import N_PROMISES, PARTS

TESTS = Path(__file__).parent
NO_COUNTS = {
    "MANYVIEW_BROWSER",  # a browser test that cannot run fails
    "MANYVIEW_PROGRAMS",  # a test beside another program that cannot run fails
    "MANYVIEW_CORPUS",  # a folder
    "MANYVIEW_DATA",  # a folder
    "MANYVIEW_SEEDS",  # of any test that draws numbers
}


def test_every_promise_has_a_part():
    assert sorted({number for part in PARTS for number in part.promises}) == list(range(1, N_PROMISES + 1))
    assert len({part.name for part in PARTS}) == len(PARTS)
    assert [part.name for part in PARTS if not part.nodes] == []


def names_in(path):
    """Functions, classes and methods of a file, as pytest names them."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{inner.name}" for inner in node.body if isinstance(inner, ast.FunctionDef)}
    return found


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_its_tests_are_there(part):
    for node in part.nodes:
        name, _, inside = node.partition("::")
        assert (TESTS / name).is_file(), node
        assert not inside or inside in names_in(TESTS / name), node


def test_every_count_is_known():
    known = {name for part in PARTS for name in part.counts} | NO_COUNTS
    read = re.compile(r'environ(?:\.get\(|\[)\s*"(MANYVIEW_\w+)"|"(MANYVIEW_\w+)" (?:not )?in os\.environ')
    for path in TESTS.rglob("*.py"):
        found = {a or b for a, b in read.findall(path.read_text(encoding="utf-8"))}
        assert found <= known, f"{path}: {sorted(found - known)} belong into tests/promises.py"


def test_counts_are_read_by_some_test():
    text = "".join(path.read_text(encoding="utf-8") for path in TESTS.rglob("*.py") if path.name != "promises.py")
    for part in PARTS:
        assert [name for name in part.counts if f'"{name}"' not in text] == [], part.name


def test_a_row_is_kept_and_shown(tmp_path, monkeypatch):
    monkeypatch.setattr(torture, "RESULTS", tmp_path / "rows.json")
    row = {"part": "kills", "date": "2026-01-02", "commit": "abc", "counts": {"MANYVIEW_KILLS": 50}, "count": 300}
    row |= {"unit": "kills", "seconds": 1.5, "verdict": "BROKEN: 1 of 6 failed", "skipped": []}
    torture.keep(row)
    torture.keep({**row, "verdict": "held"})
    assert [one["verdict"] for one in torture.rows()] == ["BROKEN: 1 of 6 failed", "held"]
    page = tmp_path / "page.md"
    page.write_text(f"before\n{torture.BEGIN}\nold\n{torture.END}\nafter\n", encoding="utf-8")
    torture.write_table(page)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n") and text.endswith("after\n") and "\nold\n" not in text
    assert "| 300 kills (kills 50 of 200) | held | 2026-01-02 | abc |" in text


def test_the_page_shows_the_newest_rows():
    assert torture.table() in torture.PAGE.read_text(encoding="utf-8"), "run python -m tests.torture --only-table"
