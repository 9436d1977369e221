"""``show --problems``: every file that could not be read, and why."""

import io
import json
from contextlib import redirect_stdout

import pytest
from PIL import Image

from manyview.cli.main import app


def run(*arguments):
    out = io.StringIO()
    with redirect_stdout(out), pytest.raises(SystemExit) as ended:
        app([str(argument) for argument in arguments])
    return ended.value.code or 0, out.getvalue()


def test_problem_files_are_listed_with_their_reasons(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    Image.new("RGB", (20, 20), "red").save(folder / "good.png")
    whole = tmp_path / "all.manyview"
    assert run("init", folder, "-o", whole)[0] == 0
    assert run("show", whole, "--problems") == (0, "every file could be read.\n")
    (folder / "empty.jpg").write_bytes(b"")
    assert run("init", folder, "-o", whole)[0] == 3  # finished, but a file was bad
    code, said = run("show", whole, "--problems")
    assert code == 0 and said.startswith("1 file could not be read:\n") and "empty.jpg: " in said
    code, said = run("show", whole, "--problems", "--json")
    (one,) = json.loads(said)["problems"]
    assert code == 0 and one["path"].endswith("empty.jpg") and one["bad"] and one["reason"] and one["sentence"]


def test_kinds_that_are_not_read_are_told(tmp_path):
    folder = tmp_path / "letters"
    folder.mkdir()
    for name in ("a.doc", "b.DOC", "c.ppt", "README"):
        (folder / name).write_bytes(b"PK\3\4 something")
    for name in ("Thumbs.db", "desktop.ini", "d.jpg.supplemental-meta.json", "d.jpg(1).json", ".hidden.doc", "d.xmp"):
        (folder / name).write_bytes(b"{}")
    whole = tmp_path / "all.manyview"
    code, said = run("init", folder, "-o", whole)
    line = "4 files of kinds that are not read: 2 doc, 1 without an ending, 1 ppt; `manyview show --problems` lists"
    assert code == 0 and "nothing that can be read" in said and f"  {line} them\n" in said
    assert json.loads(run("init", folder, "-o", whole, "--json")[1])["not_read"] == {"doc": 2, "ppt": 1, "": 1}
    (folder / "note.txt").write_text("It rains in the harbour.", encoding="utf-8")
    assert line in run("add", whole)[1]
    for name in ("b.DOC", "c.ppt", "README"):
        (folder / name).unlink()
    assert "  1 file of a kind that is not read: 1 doc; " in run("init", folder, "-o", whole)[1]
