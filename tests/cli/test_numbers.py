"""Numbers and moments: what options that take a number say to anything else, and how times are told."""

import inspect
import time
from typing import get_args

import pytest
from typer.testing import CliRunner

from manyview.cli.main import app
from manyview.figures import when


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("fit x.manyview -k ten", "'-k' / '--clusters': expected a whole number, at least 1; got 'ten'."),
        ("fit x.manyview -k 0", "'-k' / '--clusters': expected a whole number, at least 1; got '0'."),
        ("fit x.manyview -k 2.5", "'-k' / '--clusters': expected a whole number, at least 1; got '2.5'."),
        ("suggest x.manyview --min-probability high", "'--min-probability': expected a number; got 'high'."),
        ("suggest x.manyview --min-probability nan", "'--min-probability': expected a number; got 'nan'."),
        ("serve x.manyview --port 70000", "'--port': expected a whole number, at least 0, at most 65535; got '70000'."),
        ("compare x.manyview one 2", "'RUN': expected a whole number; got 'one'."),
    ],
)
def test_what_is_no_number_is_told_what_was_expected_and_what_came(words, told):
    shown = CliRunner().invoke(app, words.split())
    assert shown.exit_code == 2
    assert told in shown.output


def test_moments_are_told_as_a_clock_on_the_wall_shows_them(monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert when("2026-11-17T16:44:21+00:00") == "2026-11-18 01:44"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_every_number_of_every_command_is_worded():
    n_numbers = 0
    for command in app.registered_commands:
        for one in inspect.signature(command.callback, eval_str=True).parameters.values():
            taken, *option = get_args(one.annotation) or (None,)
            if taken in (int, float, int | None, float | None):
                assert option[0].parser is not None, (command.callback, one.name)
                n_numbers += 1
    assert n_numbers > 30
