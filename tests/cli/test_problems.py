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
