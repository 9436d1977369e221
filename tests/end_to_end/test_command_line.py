"""From a table of pictures to clusters and a report, through the command line as a person runs it."""

import hashlib
import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest
from PIL import Image

from manyview.cli.main import app

from .samples import make_pictures


class Done(NamedTuple):
    stdout: str
    stderr: str


def run(*arguments, code=0):
    """The command in this process; ``test_the_installed_command`` starts a real one."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        app([str(argument) for argument in arguments])
    assert (ended.value.code or 0) == code, (ended.value.code, out.getvalue(), err.getvalue())
    return Done(out.getvalue(), err.getvalue())


def digests(folder: Path) -> dict[str, str]:
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    table = make_pictures(folder / "shapes")
    before = digests(table.parent)
    run("init", table, "-o", folder / "shapes.manyview", "--image", "file", "--tags", "words")
    run("fit", folder / "shapes.manyview", "-k", 2)
    return folder / "shapes.manyview", table.parent, before


def test_init_says_what_it_found(tmp_path):
    table = make_pictures(tmp_path / "shapes")
    said = run("init", table, "-o", tmp_path / "s.manyview", "--image", "file", "--tags", "words").stdout
    assert "12 items" in said and "12 png" in said.lower()
    assert "4 different tags" in said and "17 % of the items have no tag" in said
    assert "Next: manyview fit" in said


def test_fit_groups_and_names(pictures):
    path, _, _ = pictures
    found = json.loads(run("show", path, "--json", "--items").stdout)
    labels = {Path(item["path"]).name: item["label"] for item in found["items"]}
    assert len({labels[f"{n:02d}.png"] for n in range(6)}) == 1
    assert len({labels[f"{n:02d}.png"] for n in range(6, 12)}) == 1
    assert sorted(one["name"].split(",")[0] for one in found["clusters"]) == ["disc", "stripes"]
    assert {one["cluster"] for one in found["items"]} == {one["cluster"] for one in found["clusters"]}


def test_the_table_shows_names_and_sizes(pictures):
    said = run("show", pictures[0]).stdout
    assert "disc" in said and "stripes" in said and "views: embedding" in said


def test_a_cluster_and_an_item_explain_themselves(pictures):
    path = pictures[0]
    number = json.loads(run("show", path, "--json").stdout)["clusters"][0]["cluster"]
    assert "more often than elsewhere" in run("show", path, "--cluster", number).stdout
    assert "no cluster 99" in run("show", path, "--cluster", 99, code=2).stderr
    reason = run("show", path, "--item", "00.png").stdout
    assert "disc" in reason
    assert "there is no item" in run("show", path, "--item", "nobody.png", code=2).stderr


def test_report_is_one_inert_file(pictures, tmp_path):
    page = tmp_path / "page.html"
    run("report", pictures[0], "-o", page)
    html = page.read_text(encoding="utf-8")
    assert "disc" in html and "data:image/" in html
    assert "<script" not in html and "http-equiv" in html


def test_originals_are_untouched(pictures):
    _, folder, before = pictures
    assert digests(folder) == before


def test_doctor_finds_the_collection_whole(pictures):
    found = json.loads(run("doctor", pictures[0], "--json").stdout)
    assert found["problems"] == [] and found["parts"]["numpy"]
    assert 'pip install "manyview[' in run("doctor").stdout or all(found["extras"].values())


def test_a_bad_file_is_named_and_the_rest_goes_on(tmp_path):
    table = make_pictures(tmp_path / "shapes")
    whole = (table.parent / "03.png").read_bytes()
    (table.parent / "03.png").write_bytes(whole[: len(whole) // 2])
    path = tmp_path / "s.manyview"
    run("init", table.parent, "-o", path)  # the folder itself: tags are not known then
    done = run("features", path, code=3)
    assert "03.png" in done.stderr and "could not be used" in done.stderr
    assert "11 items" in done.stdout
    assert run("features", path).stdout.count("embedding")  # the same again: nothing left to do, nothing bad


def test_used_wrongly(tmp_path):
    assert "does not exist" in run("init", tmp_path / "nowhere", code=1).stderr
    assert "is not a manyview collection" in run("show", tmp_path, code=1).stderr
    assert run("fit", tmp_path, "-k", "many", code=2).stderr
    Image.new("RGB", (8, 8)).save(tmp_path / "one.png")
    run("init", tmp_path, "-o", tmp_path / "one.manyview")
    assert "at least two" in run("fit", tmp_path / "one.manyview", code=2).stderr
    assert "no method" in run("fit", tmp_path / "one.manyview", "-m", "magic", code=2).stderr


def test_names_cannot_command_the_terminal(tmp_path):
    folder = tmp_path / "p"
    folder.mkdir()
    for number in range(4):
        Image.new("RGB", (32, 32), (60 * number, 0, 0)).save(folder / f"\x1b[31m{number}.png", format="PNG")
    run("init", folder, "-o", tmp_path / "p.manyview")
    done = run("fit", tmp_path / "p.manyview", "-k", 2)
    assert "\x1b" not in done.stdout + done.stderr + run("show", tmp_path / "p.manyview", "--items").stdout


def test_the_installed_command(pictures):
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-m", "manyview"]
    done = subprocess.run([*command, "show", str(pictures[0])], capture_output=True, env=environment, timeout=120)
    assert done.returncode == 0 and b"stripes" in done.stdout, done
    done = subprocess.run(
        [*command, "show", str(pictures[0].parent)], capture_output=True, env=environment, timeout=120
    )
    assert done.returncode == 1 and b"Traceback" not in done.stderr, done


def test_help_is_quick_to_import():
    code = (
        "import sys, manyview.cli.main; print([m for m in ('numpy', 'sklearn', 'scipy', 'numba') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
    assert "demo" in run("--help").stdout
