"""After every command nothing of a collection, a report or an export can be read by others."""

import pytest

from ..collection.test_modes import open_to_others, umask  # noqa: F401  a fixture
from .samples import make_pictures
from .test_command_line import run

COMMANDS = (
    "init {table} -o {c} --image file --tags words",
    "features {c}",
    "fit {c} -k 2",
    "show {c}",
    "edit {c} rename 1 named",
    "show {c} --search dog",
    "suggest {c} --first-tags",
    "suggest {c} -o {out}/proposals.csv",
    "suggest {c} -o {out}/proposals.json",
    "accept {c} --item 1 --tag new",
    "tags {c} rename new newer",
    "duplicates {c} -o {out}/copies.csv",
    "bring {c} {out}",
    "apply {c} --to xmp",
    "apply {c} --to csv -o {out}/tags.csv",
    "apply {c} --to json -o {out}/tags.json",
    "map {c}",
    "eval {c}",
    "report {c} -o {out}/report.html",
    "export-site {c} -o {out}/site",
    "add {c}",
    "undo {c}",
    "doctor {c}",
)


@pytest.mark.slow  # every command, twice
def test_private_after_every_command(tmp_path, umask, record_property):  # noqa: F811
    record_property("count", len(COMMANDS))
    out = tmp_path / "out"
    out.mkdir(mode=0o700)
    table = make_pictures(tmp_path / "shapes")
    for command in COMMANDS:
        run(*command.format(table=table, c=tmp_path / "c.manyview", out=out).split())
        assert open_to_others(tmp_path / "c.manyview", out) == [], command


@pytest.mark.slow
def test_what_is_asked_to_be_public_is(tmp_path, umask):  # noqa: F811
    table = make_pictures(tmp_path / "shapes")
    c = tmp_path / "c.manyview"
    run("init", table, "-o", c, "--image", "file")
    run("fit", c, "-k", 2)
    run("report", c, "-o", tmp_path / "report.html", "--public")
    run("export-site", c, "-o", tmp_path / "site", "--public")
    assert (tmp_path / "report.html").stat().st_mode & 0o777 == 0o644
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "site").rglob("*")} == {0o755, 0o644}
    assert open_to_others(c) == []
