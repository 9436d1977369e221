"""``manyview papers``: the list, a run on tiny data, what it refuses, and what it writes."""

import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from manyview.cli.main import app
from manyview.cli.papers import _interpreters
from manyview.papers import catalog
from manyview.papers.measures import judged_by
from manyview.papers.tables import Absent, Found, Paper, Row, Table, Task

Y = np.repeat([0, 1], 5)


def rows(task, scale):
    return [Row("RMKMC", lambda seed: Found(Y), "RMKMC", shows=("samples",)), Row("other", lambda seed: Found(Y * 0))]


TABLE = Table(
    kind="table",
    number="5",
    on="made",
    title="Table 5 <made>",
    figures=("ACC",),
    protocol={"paper": "as printed", "defaults": "ours"},
    load=lambda sources, scale: Task("ten items", Y, ("a", "b"), lambda item: np.zeros((4, 4), dtype=np.uint8)),
    rows=rows,
    judge=judged_by("ACC"),
    seeds=(3, 2, 1),
    same_data=True,
)


@pytest.fixture(autouse=True)
def tiny(monkeypatch, tmp_path):
    far = replace(TABLE, number="7", needs=("corel5k",))
    paper = Paper("rmkmc", "A paper", "Method", (TABLE, far), (Absent("table", "4", "MSRC", "the data are not here"),))
    monkeypatch.setattr(catalog, "PAPERS", (paper,))
    monkeypatch.chdir(tmp_path)


def run(*words):
    return CliRunner().invoke(app, ["papers", *words])


def test_the_list_says_what_can_be_run():
    found = run()
    assert found.exit_code == 0
    assert "table 5  made  ready" in found.output and "needs corel5k.npz" in found.output
    assert "not here: the data are not here" in found.output
    listed = json.loads(run("--json").output)["papers"][0]["tables"]
    assert [one["ready"] for one in listed] == [True, False]


def test_a_run_prints_ours_beside_the_papers_and_writes_a_private_page(tmp_path):
    found = run("rmkmc", "--table", "5")
    assert found.exit_code == 0 and "0.789 (+0.211)" in found.output
    page = tmp_path / "manyview-papers" / "rmkmc-table-5-made-paper.html"
    assert "Table 5 &lt;made&gt;" in page.read_text() and "data:image/" in page.read_text()
    kept = json.loads(page.with_suffix(".json").read_text())
    assert kept["rows"][0]["runs"] == 3 and kept["made"]["numpy"] == np.__version__
    assert kept["command"] == "manyview papers rmkmc --table 5 --on made --paper-protocol"
    assert kept["command"] in page.read_text()
    made = [tmp_path / "manyview-papers", *(tmp_path / "manyview-papers").rglob("*")]
    assert all(path.stat().st_mode & 0o077 == 0 for path in made)


def test_protocols_seeds_and_json():
    found = json.loads(run("rmkmc", "--table", "5", "--defaults", "--seeds", "4", "--json").output)["tables"]
    assert found[0]["words"] == "ours" and found[0]["rows"][0]["runs"] == 4
    assert found[0]["page"].endswith("defaults.html") and found[0]["command"].endswith("--defaults --seeds 4")


def test_quick_alone_runs_everything_there_is_data_for():
    found = run("--quick")
    assert "wrote manyview-papers/rmkmc-table-5-made-paper-quick.html" in found.output
    assert "rmkmc table 7 on made: needs corel5k.npz (--data FOLDER)" in found.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nobody"], "there is no paper 'nobody'; there are rmkmc, and all."),
        (["rmkmc", "--table", "9"], "has no table 9 that can be run; there are table 5, table 7."),
        (["rmkmc", "--on", "nothing"], "no table is on a collection 'nothing'; there are made."),
        (["--data", "nowhere"], "--data must be a folder with collections; there is no folder nowhere."),
        (["rmkmc", "--table", "4"], "table 4 (MSRC) cannot be run: the data are not here."),
    ],
)
def test_what_is_not_there_is_said(words, said):
    found = run(*words)
    assert found.exit_code == 2 and said in found.output


def test_without_its_data_a_table_is_named_and_left_out():
    found = run("rmkmc", "--table", "7")
    assert found.exit_code == 0 and "nothing of this can be run with the data at hand" in found.output
    left_out = json.loads(run("rmkmc", "--table", "7", "--json").output)["left_out"]
    assert left_out == [{"paper": "rmkmc", "table": "table 7", "on": "made", "missing": ["corel5k.npz"]}]


def test_of_all_papers_none_is_blamed(monkeypatch):
    (one,) = catalog.PAPERS
    monkeypatch.setattr(catalog, "PAPERS", (one, replace(one, name="aplsa")))
    found = run("all", "--table", "9")
    assert (
        found.exit_code == 2 and "no paper has a table 9 that can be run; there are table 5, table 7." in found.output
    )


def test_a_peer_is_an_interpreter_that_exists(tmp_path):
    found = run("rmkmc", "--peer", "imml=nowhere/python")
    assert found.exit_code != 0 and "--peer must be PACKAGE=PYTHON" in found.output
    assert run("rmkmc", "--peer", "imml").exit_code != 0
    assert _interpreters([f"imml={sys.executable}"]) == {"imml": sys.executable}
