"""Every table of every paper runs on tiny data, by both protocols, and its page holds what it should."""

import json
import re
from dataclasses import replace

import pytest

from manyview.papers import hml_rf_rows
from manyview.papers.catalog import PAPERS
from manyview.papers.results import text
from manyview.papers.runner import run_table
from manyview.papers.sources import Sources
from manyview.papers.tables import Scale, printed
from manyview.report.papers import paper_page

from .made import Y, task

# one of each kind: tables of the same rows on other data would repeat them
KINDS = {(paper.name, table.rows): (paper, table) for paper in reversed(PAPERS) for table in reversed(paper.tables)}
IDS = [f"{paper.name} {table.name}" for paper, table in KINDS.values()]


def small(paper, table):
    return replace(table, load=lambda sources, scale: task(paper.name, table))


@pytest.mark.parametrize(("paper", "table"), KINDS.values(), ids=IDS)
def test_the_rows_run_and_the_page_is_whole(paper, table):
    scale = Scale("paper", quick=True, seeds=1)
    summary, data = run_table(paper.name, small(paper, table), Sources(), scale)
    summary = json.loads(json.dumps(summary))  # plain numbers and words
    ran = [row for row in summary["rows"] if row["runs"]]
    assert ran and all(set(row["figures"]) <= set(summary["figures"]) for row in ran)
    assert all("mean" in row["figures"][summary["figures"][0]] for row in ran if "clusters of" not in row["name"])
    assert all(study["lines"] for study in summary["studies"] if study["name"] not in ("words",))
    page = paper_page({**summary, "command": "manyview papers"}, data.picture)
    assert "<script" not in page and not re.search(r"(src|href)=.(?!data:)", page)
    assert all(name in page for name in ("Figures", summary["data"], "manyview papers"))
    assert text(summary).count("\n") >= len(summary["rows"])


@pytest.mark.parametrize(("paper", "table"), KINDS.values(), ids=IDS)
@pytest.mark.parametrize("protocol", ["paper", "defaults"])
@pytest.mark.parametrize("quick", [False, True])
def test_rows_have_names_of_their_own_and_stand_beside_printed_ones(paper, table, protocol, quick):
    rows = table.rows(task(paper.name, table), Scale(protocol, quick))
    assert len({row.name for row in rows}) == len(rows)
    assert {row.study for row in rows} - {""} <= {study.name for study in table.studies}
    known = printed(paper.name)[1].get(table.published or table.name)
    named = {row.published for row in rows} | {best.published for best in table.best}
    assert known is None or named - {""} <= set(known.rows)
    assert known is None or set(table.figures) & {name for row in known.rows.values() for name in row}
    assert all(name in {row.name for row in rows} for pair in table.compared for name in pair)
    assert all(study.level in ("", *(row.name for row in rows)) for study in table.studies)


def test_every_paper_has_a_table_on_what_ships():
    for paper in PAPERS:
        assert any(not table.needs for table in paper.tables), paper.name
        for table in paper.tables:
            assert set(table.protocol) == {"paper", "defaults"}
            assert (table.published or table.name) in (*printed(paper.name)[1], "none", "figure 4", "figure 8")


def test_a_method_that_finds_nothing_loses_nothing(monkeypatch):
    monkeypatch.setattr(hml_rf_rows, "_methods", lambda scale: [("spectral, looks", "", lambda data, seed: 0 * Y)])
    paper = next(paper for paper in PAPERS if paper.name == "hml-rf")
    table = next(table for table in paper.tables if table.number == "3")
    (row,) = hml_rf_rows.removed(task("hml-rf", table), Scale("paper", quick=True))
    assert set(row.run(0).figures.values()) == {0.0}
