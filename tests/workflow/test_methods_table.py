"""The table of methods: whoever asks reads the same rows, and a further method is a further row."""

import re
from pathlib import Path

import pytest

import manyview
from manyview import errors
from manyview.cli.main import app
from manyview.web.api.runs import methods_page
from manyview.workflow.evaluate import evaluate
from manyview.workflow.methods_table import METHODS, Method, find_method
from manyview.workflow.reading.index import Index

from .tagged import make_collection


def test_every_row_names_a_class_that_takes_what_it_is_given():
    for row in METHODS.values():
        model = row.make(3 if row.takes_k else None, 0, 1)
        assert type(model) is getattr(manyview, row.estimator_name)
        assert row.takes_k == ("n_clusters" in model.get_params())


def test_a_seventh_method_is_a_row(tmp_path, monkeypatch):
    row = Method("plain", "ConcatenatedKMeans", "kmeans.baselines", "k-means of all views side by side")
    monkeypatch.setitem(METHODS, row.name, row)
    with make_collection(tmp_path, n_items=60) as collection:
        run = collection.fit("plain", 3)
        assert run.method == "plain" and isinstance(collection.runs.model(run.id), manyview.ConcatenatedKMeans)
        listed = methods_page(Index(collection)).methods[-1]
        assert (listed.name, listed.says, listed.takes_k, listed.needs_annotations) == (
            "plain",
            row.sentence,
            True,
            False,
        )
        judged = evaluate(collection, hide_tags=None, labels="label", method="plain", draws=1)
        assert "plain" in judged.clusters
    with pytest.raises(errors.ParameterError, match="there is no method 'other'; there are consensus, .*, plain"):
        find_method("other")


def test_the_command_line_and_its_page_name_every_method(capsys):
    with pytest.raises(SystemExit):
        app(["fit", "--help"])
    said = re.sub(r"[^\w,.-]+", " ", capsys.readouterr().out)
    page = (Path(__file__).parents[2] / "docs" / "command_line.md").read_text(encoding="utf-8")
    for name in METHODS:
        assert name in said and f"`{name}`" in page
