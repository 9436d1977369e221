"""Progress for a program that watches."""

import json

from manyview.cli.talk import progress


def test_progress_is_a_line_of_json_for_each_step(monkeypatch, capsys):
    monkeypatch.setenv("MANYVIEW_PROGRESS", "json")
    with progress() as report:
        for done in range(1001):
            report("reading <files>", done, 1000)
        report("fitting", 0, 1)
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert lines[0] == {"stage": "reading <files>", "done": 0, "of": 1000}
    assert lines[-2] == {"stage": "reading <files>", "done": 1000, "of": 1000}
    assert lines[-1] == {"stage": "fitting", "done": 0, "of": 1}
    assert len(lines) < 50  # not one for each file


def test_nothing_where_nobody_looks(monkeypatch):
    monkeypatch.delenv("MANYVIEW_PROGRESS", raising=False)
    with progress() as report:
        assert report is None
