"""Tables of the command line: columns that line up in every script; and tables as collections."""

import pytest

from manyview.cli.talk import print_table

from ..end_to_end.test_command_line import run


def test_columns_line_up_whatever_the_script(capsys):
    rows = [("猫の写真", 7), ("cafe\u0301", 1234), ("a\x1b[31m", 0)]
    print_table(("tag", ">items"), rows)
    assert capsys.readouterr().out.split("\n") == [
        "  tag        items",
        "  猫の写真       7",
        "  cafe\u0301        1234",
        "  a\\x1b[31m      0",
        "",
    ]


@pytest.mark.parametrize("rows", [[], [("",)]])
def test_an_empty_table_is_its_header(rows, capsys):
    print_table(("name",), rows)
    assert capsys.readouterr().out.rstrip() == "  name"


def test_what_changed_in_a_table_is_counted(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("id,text,tags\n1,a dog,x\n2,a cat,y\n3,a boat,\n")
    run("init", table)
    table.write_text("id,text,tags\n1,a dog runs,x\n2,a cat,z\n3,a boat,\n")
    assert "since the last time: 2 changed\n" in run("init", table).stdout
    assert "since the last time: nothing new\n" in run("init", table).stdout
    table.write_text("id,text,tags\n1,a dog runs,x\n2,a cat,z\n")
    assert "since the last time: 1 gone\n" in run("init", table).stdout
    table.write_text("id,text,tags\n1,a dog runs,x\n2,a cat,z\n3,a boat,\n")
    assert "since the last time: 1 back\n" in run("init", table).stdout
