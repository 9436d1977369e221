"""The printed figures are whole, and say what the papers say of themselves."""

import ast
import json
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import manyview
from manyview.papers.catalog import PAPERS
from manyview.papers.tables import printed

from .parts import PARTS


def test_every_paper_has_its_figures():
    for paper in PAPERS[:-1]:  # the last, missing views and labels, is no one paper's
        reference, tables = printed(paper.name)
        assert any(year in reference for year in ("2009", "2013", "2014", "2015", "2017"))
        for name, table in tables.items():
            assert table.place and table.data and table.rows, name
            for row in table.rows.values():
                assert all(value >= 0 and (spread is None or spread >= 0) for value, spread in row.values()), name


def test_known_values():
    assert printed("rmkmc")[1]["table 5"].rows["RMKMC"] == {
        "ACC": (0.7889, 0.075),
        "NMI": (0.807, 0.033),
        "purity": (0.8247, 0.052),
    }
    assert printed("ghf-art")[1]["table 7"].rows["GHF-ART"]["purity"] == (0.7994, 0.018)
    assert printed("hml-rf")[1]["table 2"].rows["HML-RF"]["NMI"] == (0.67, None)
    assert printed("cca-ahkmc")[1]["table 1"].rows["fused, R=128"]["ACE"] == (2.5343, None)


def test_overall_precision_is_the_mean_of_the_classes():
    """GHF-ART's Table 1 says so of itself, but for three rows of its own."""
    off = []
    for name, row in printed("ghf-art")[1]["table 1"].rows.items():
        classes = [value for figure, (value, _) in row.items() if figure != "overall"]
        if abs(np.mean(classes) - row["overall"][0]) > 0.001:
            off.append(name)
    assert len(off) <= 2, off


def test_the_tasks_of_aplsa_add_up():
    """The average row is the mean of the eleven, and the groups by size are means of theirs."""
    tables = printed("aplsa")[1]
    whole = tables["table 2"].rows
    tasks = [row for name, row in whole.items() if name != "average"]
    assert len(tasks) == 11
    for figure, (value, _) in whole["average"].items():
        assert np.mean([row[figure][0] for row in tasks]) == pytest.approx(value, abs=0.0015)
    sizes = {"2-way": 7, "4-way": 2, "5-way": 1, "8-way": 1}
    for figure in tasks[0]:
        total = sum(n * tables[f"table 2, {way}"].rows[figure]["entropy"][0] for way, n in sizes.items())
        assert total / 11 == pytest.approx(whole["average"][figure][0], abs=0.0015)


@pytest.mark.parametrize("part", PARTS, ids=lambda one: f"{one.paper}: {one.part}")
def test_every_part_is_where_the_docs_say_and_held_by_tests_that_exist(part):
    """What is there has tests; what has none says that it is missing."""
    assert bool(part.where) == bool(part.held) == (not part.verdict.startswith("missing"))
    for test in part.held:
        file, name = test.split("::")
        tree = ast.parse((Path(__file__).parents[1] / file).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    name, _, settings = part.where.rstrip(")").partition("(")
    if name.startswith(("papers", "features")):
        import_module(f"manyview.{name}")
    elif name:
        found = getattr(manyview, name)
        for setting in filter(None, settings.split(", ")):
            key, value = setting.split("=")
            found(**{key: ast.literal_eval(value)})


def test_every_paper_has_its_parts():
    assert {part.paper for part in PARTS} == {paper.name for paper in PAPERS} - {"missing"}


def test_the_list_in_the_docs_is_made_from_the_code():
    from .page import PAGE, page

    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m tests.papers.page`"


def test_a_paper_is_judged_by_its_own_method_and_no_other():
    from .page import own_row

    rival = {"name": "K-means", "published": "K-means", "runs": 10}
    own = {"name": "GHF-ART, adaptive weights", "published": "GHF-ART, adaptive weights", "runs": 10}
    not_run = {"name": "GHF-ART", "published": "GHF-ART", "runs": 0}
    assert own_row("ghf-art", [rival, not_run, own]) is own
    assert own_row("ghf-art", [rival, own, timed := {"name": "GHF-ART, 90 items", "published": "", "runs": 3}]) is own
    assert own_row("ghf-art", [rival, timed]) is timed
    with pytest.raises(LookupError, match="K-means"):
        own_row("ghf-art", [rival, not_run])


def test_every_kept_run_says_its_command_its_versions_and_its_date():
    from .page import KEPT

    for path in KEPT.glob("*.json"):
        run = json.loads(path.read_text(encoding="utf-8"))
        assert run["command"].startswith(f"manyview papers {run['paper']} "), path.name
        assert {"date", "manyview", "python", "numpy"} <= run["made"].keys(), path.name
        assert not run["quick"], path.name
