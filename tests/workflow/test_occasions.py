"""Order by date, years and cameras, and the views of when and where."""

import json

import numpy as np
import pytest

from manyview import Collection
from manyview.web.api.clusters import clusters_page
from manyview.web.api.items import facets, items_page
from manyview.web.api.search import search_page
from manyview.web.site_data import site_answers
from manyview.workflow.compute import compute_views
from manyview.workflow.reading.index import Index
from tests.cli.test_tags import ask, run

ROWS = [
    ("a", "2019-06-01T10:00:00", "Canon", "48.1", "11.5", "0"),
    ("b", "2021-01-01", "Pixel", "48.1", "11.5", "0"),
    ("c", "", "", "", "", "1"),
    ("d", "2018", "Canon", "35.6", "139.7", "1"),
    ("e", "2019-06-02T10:00:00", "Canon", "35.6", "139.7", "1"),
]


@pytest.fixture
def path(tmp_path):
    table = tmp_path / "t.csv"
    lines = ["id,taken,camera,latitude,longitude,x", *map(",".join, ROWS)]
    table.write_text("\n".join(lines) + "\n")
    with Collection.create(tmp_path / "t.manyview", table, id="id", views={"x": ["x"]}) as made:
        made.fit("rmkmc", 2, views=["x"])
    return tmp_path / "t.manyview"


def test_orders_and_facets(path):
    with Collection.open(path) as found:
        index = Index(found)
        for sort, expected in (("date", "daebc"), ("newest", "beadc")):
            assert "".join(item.key for item in items_page(index, sort=sort).items) == expected
            assert "".join(item.key for item in search_page(index, sort=sort).items) == expected
        counts = facets(index)
        assert [(one.name, one.count) for one in counts.years] == [("2018", 1), ("2019", 2), ("2021", 1)]
        assert [(one.name, one.count) for one in counts.cameras] == [("Canon", 3), ("Pixel", 1)]
        assert [one.name for one in facets(index, "date:2019").years] == ["2019"]
        assert clusters_page(index).years == counts.years


def test_the_command_line(path):
    assert [row["key"] for row in ask("show", path, "--order", "date")["items"]] == list("daebc")
    found = ask("show", path, "--search", "date:2019-06", "--order", "newest")["items"]
    assert [(row["key"], row["taken"]) for row in found] == [("e", "2019-06-02T10:00:00"), ("a", "2019-06-01T10:00:00")]
    said = run("show", path, "--order", "newest")
    assert "taken" in said and "2021-01-01" in said
    assert "ordered by name, date, newest; got 'size'" in run("show", path, "--order", "size", code=2)


def test_positions_leave_only_where_they_are_asked_for(path):
    with Collection.open(path) as found:
        for positions in (False, True):
            answers = dict(site_answers(Index(found), lambda *_: None, positions=positions))
            text = json.dumps({name: value for name, value in answers.items() if name.startswith("items-")})
            assert ("139.7" in text) == positions and '"2019-06-01T10:00:00"' in text and "Canon" in text


def test_views_that_have_to_be_named(path):
    with Collection.open(path, write=True) as found:
        compute_views(found, ["date", "place"])
        X = found.views(["date", "place"])
        assert X["date"].shape == (5, 3) and X["place"].shape == (5, 2)
        assert X.mask.tolist() == [[True, True], [True, True], [False, False], [False, True], [True, True]]
        assert list(found.fit("rmkmc", 2).views) == ["x"]
        made = found.fit("rmkmc", 2, views=["place"])
        _, labels = found.runs.labels(made.id)
        assert labels[0] == labels[1] != labels[3] == labels[4] and labels[2] == -1
        assert np.isfinite(found.views(["date"])["date"][[0, 1, 4]]).all()


def test_times_of_files_do_not_count(tmp_path):
    from PIL import Image

    (tmp_path / "photos").mkdir()
    Image.new("RGB", (8, 8)).save(tmp_path / "photos" / "a.png")
    with Collection.create(tmp_path / "p.manyview", tmp_path / "photos") as found:
        done = compute_views(found, ["date"])
        assert found.view_names == () and "days of capture, and there are none" in str(done.notes[0])
