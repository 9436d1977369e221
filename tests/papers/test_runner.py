"""Cells are kept one by one, and a run that was cut off goes on."""

import json
from dataclasses import replace

import numpy as np
import pytest

from manyview.papers.measures import confusion, judged_by
from manyview.papers.results import summed_up, text
from manyview.papers.runner import Cells, run_table, slug
from manyview.papers.sources import Sources
from manyview.papers.tables import Best, Found, Row, Scale, Study, Table, Task, Trace

Y = np.repeat([0, 1], 4)


class Rows:
    """Two rows and a curve; counts how often each ran, and stops where it is told to."""

    def __init__(self):
        self.ran, self.stop_at = [], None

    def __call__(self, task, scale):
        def run(name, labels):
            def once(seed):
                if self.stop_at == len(self.ran):
                    raise KeyboardInterrupt
                self.ran.append((name, seed))
                return Found(np.asarray(labels), traces={"loss": Trace([2.0, 1.0 + seed])})

            return once

        wrong = [0, 0, 0, 1, 1, 1, 1, 1]
        return [
            Row("right", run("right", Y), "RMKMC", shows=("confusion", "samples")),
            Row("once", run("once", wrong), seeds=1),
            Row("at 2", run("at 2", wrong), study="curve", x=2.0),
            Row("at 1", run("at 1", Y), study="curve", x=1.0),
        ]


def table(rows):
    return Table(
        kind="table",
        number="5",
        on="made",
        title="A table",
        figures=("ACC", "purity"),
        protocol={"paper": "as printed", "defaults": "ours"},
        load=lambda sources, scale: Task("eight items", Y, ("a", "b"), data=None),
        rows=rows,
        judge=judged_by("ACC", "purity"),
        seeds=(3, 2, 1),
        same_data=True,
        studies=(Study("curve", "A curve", "x", ("ACC",), level="right"),),
        best=(Best("best", "curve", "ACC", "NKMC"),),
        compared=(("right", "at 2"),),
    )


def test_means_differences_curves_and_the_best(tmp_path):
    summary, _ = run_table("rmkmc", table(Rows()), Sources(), Scale(), tmp_path)
    right, once, best = summary["rows"][:3]
    assert right["runs"] == 3 and once["runs"] == 1 and right["figures"]["ACC"]["mean"] == 1.0
    assert right["figures"]["ACC"]["published"] == 0.7889
    assert right["figures"]["ACC"]["difference"] == pytest.approx(1 - 0.7889)
    assert once["figures"]["ACC"] == {"mean": 0.875, "deviation": 0.0}
    assert best["name"] == "best (1)" and best["figures"]["ACC"]["published"] == 0.7282
    curve = summary["studies"][0]["lines"]
    assert curve[0]["points"] == [[1.0, 1.0, 0.0], [2.0, 0.875, 0.0]]
    assert curve[1] == {"name": "right", "points": [[1.0, 1.0, 0.0], [2.0, 1.0, 0.0]]}
    loss = next(trace for trace in summary["traces"] if trace["row"] == "right")["points"]
    assert (
        loss[0] == [1.0, 2.0, 0.0]
        and loss[1][:2] == [2.0, 2.0]
        and loss[1][2] == pytest.approx(np.std([1, 2, 3]), 1e-5)
    )
    assert summary["confusions"][0]["shares"] == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    assert [one["size"] for one in summary["samples"][0]["clusters"]] == [4, 4]
    assert summary["tests"][0] == {"rows": ["right", "at 2"], "figure": "ACC", "p": None}  # neither ever varies
    names = [row["name"] for row in summary["rows"]]
    assert "SMKMC" in names and "RMKMC" not in names  # printed rows that none of ours stands beside
    assert "0.789 (+0.211)" in text(summary)


def test_a_run_that_was_stopped_goes_on(tmp_path):
    rows = Rows()
    rows.stop_at = 5
    with pytest.raises(KeyboardInterrupt):
        run_table("rmkmc", table(rows), Sources(), Scale(), tmp_path)
    rows.stop_at = None
    first = list(rows.ran)
    run_table("rmkmc", table(rows), Sources(), Scale(), tmp_path)
    assert len(rows.ran) == 10 and len(set(rows.ran)) == 10 and rows.ran[:5] == first
    run_table("rmkmc", table(rows), Sources(), Scale(), tmp_path)
    assert len(rows.ran) == 10
    run_table("rmkmc", table(rows), Sources(), Scale(), tmp_path, fresh=True)
    assert len(rows.ran) == 20


def test_half_a_line_and_cells_of_another_edition_are_left_out(tmp_path):
    path = tmp_path / "cells" / "one.jsonl"
    cells = Cells(path, {"version": "1"})
    cells.add({"row": "a", "seed": 0})
    cells.add({"row": "a", "seed": 1})
    path.write_bytes(path.read_bytes()[:-4])
    again = Cells(path, {"version": "1"})
    assert list(again.found) == [("a", 0)]
    again.add({"row": "a", "seed": 1})
    assert [json.loads(line) for line in path.read_text().splitlines()][1:] == list(again.found.values())
    assert Cells(path, {"version": "2"}).found == {}


def test_files_of_other_runs_have_other_names():
    one = table(Rows())
    names = {
        slug("rmkmc", one, Scale(protocol, quick)) for protocol in ("paper", "defaults") for quick in (True, False)
    }
    assert len(names) == 4 and "rmkmc-table-5-made-paper" in names


def test_items_without_a_class_are_no_row_of_the_confusion():
    def once(seed):
        labels = np.array([0, 0, 0, 1, 1, 2, 2, 2])
        return Found(labels, judged=np.arange(8) > 1)

    rows = [Row("ours", once, "RMKMC", shows=("confusion",))]
    y = np.array([0, 0, 1, 1, 1, 2, 2, 2])
    made = replace(
        table(lambda task, scale: rows),
        load=lambda sources, scale: Task("eight items", y, ("", "a", "b")),
        seeds=(1, 1, 1),
        studies=(),
        best=(),
        compared=(),
    )
    summary, _ = run_table("rmkmc", made, Sources(), Scale())
    (found,) = summary["confusions"]
    assert found["classes"] == ["a", "b"]
    assert found["shares"] == [[0.6667, 0.0, 0.3333], [0.0, 1.0, 0.0]]


def test_confusion_matches_clusters_with_classes():
    y, labels = [0, 0, 0, 1, 1, 2], [7, 7, 3, 3, 3, 5]
    assert confusion(y, labels, 3).tolist() == [[2, 1, 0, 0], [0, 2, 0, 0], [0, 0, 1, 0]]
    many = confusion([0, 0, 1, 1], [0, 1, 2, 3], 2)
    assert many[:, -1].tolist() == [1, 1] and np.trace(many) == 2
    few = confusion([0, 0, 1, 2], [0, 0, 0, 0], 3)
    assert few[:, 0].tolist() == [2, 1, 1] and few.sum() == 4


def test_a_sum_of_nothing_is_still_a_table():
    summary = summed_up("rmkmc", table(Rows()), Task("nothing", Y, ("a", "b")), Rows()(None, None), [], {}, Scale())
    assert all(row["runs"] == 0 for row in summary["rows"]) and "-" in text(summary)
