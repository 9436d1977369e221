"""Tables of the command line: columns that line up in every script."""

import pytest

from manyview.cli.talk import print_table


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
