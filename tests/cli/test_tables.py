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


def test_what_is_said_of_a_table_is_true_of_it(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("id,text,tags,height,artist\n1,a dog,x,40,Ann\n2,,x,52.5,7\n1,twice,,3,\n,no id,,,\n")
    done = run("init", table, code=3)
    assert "  1 text, 1 row without text or file\n" in done.stdout and "  1 tag, 2 in all; " in done.stdout
    assert "numbers become a view in Python only: Collection.create(..., views={'numbers': ['height']})" in done.stdout
    assert done.stderr.startswith("2 rows could not be used:\n  t.csv:")
    assert run("show", tmp_path / "t.manyview", "--problems").stdout.startswith("2 rows could not be read:\n")
    (tmp_path / "u.csv").write_text("id,file,text\n1,no.jpg,\n2,no.jpg,a dog\n,,b\n")
    assert run("init", tmp_path / "u.csv", code=3).stderr.startswith("1 file and 1 row could not be used:\n")


def test_an_answer_that_was_given_before_is_no_new_entry(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("id,text,tags\n1,a dog,x\n2,a cat,y\n")
    run("init", table)
    path = tmp_path / "t.manyview"
    assert "(entry 1, 1 item)" in run("accept", path, "--item", 2, "--tag", "pet").stdout
    assert run("accept", path, "--item", 2, "--tag", "PET").stdout == (
        "1 answer was the same before; nothing was changed\n"
    )
    said = run("accept", path, "--item", 1, "--item", 2, "--tag", "pet").stdout
    assert said.startswith("1 answer was the same before\naccepted 'pet' for 1 (entry 2, 1 item)\n")
    assert "(entry 3, 1 item)" in run("reject", path, "--item", 2, "--tag", "pet").stdout
    assert "(entry 4, 1 item)" in run("reject", path, "--item", 2, "--tag", "pet", "--why", "a slip").stdout


def test_a_search_by_a_field_that_there_is_not_says_so(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("id,text,tags\n1,a dog at 12:30 note:bring,x\n2,a cat,y\n")
    run("init", table)
    path = tmp_path / "t.manyview"
    said = run("show", path, "--search", "tag:x -Artist:Turner foo:bar").stdout
    assert "Nothing was found. There is no field 'Artist'; fields are tag:, cluster:, kind:, " in said
    assert run("show", path, "--search", "tag:nothing https://x.y").stdout.splitlines()[2] == "Nothing was found."
    assert "no field" not in run("show", path, "--search", "note:bring").stdout


def test_nothing_is_advised_that_texts_cannot_do(tmp_path):
    table, path = tmp_path / "t.csv", tmp_path / "t.manyview"
    lines = [f"{n},{('a dog barks', 'a boat sails', 'a cat sleeps')[n % 3]} {n}" for n in range(30)]
    table.write_text("\n".join(["id,text", *lines]), encoding="utf-8")
    run("init", table)
    said = run("fit", path, "-k", 3).stdout
    assert "--first-tags" not in said and f"manyview edit {path} tag CLUSTER WORD" in said
    asked = run("suggest", path, code=2).stderr
    assert "Tag a cluster or a few items first, in the gallery" in asked and "--first-tags" not in asked
    assert "has none. Tag a cluster in the gallery" in run("suggest", path, "--first-tags", code=2).stderr
    assert "embedding" not in run("show", path, "--search", "dog").stdout
    run("edit", path, "tag", 1, "pet")
    assert "for tags that are missing" in run("fit", path, "-k", 3).stdout


def test_one_very_long_word_sticks_out_alone(capsys):
    print_table(("tag", ">items"), [("dog", 5), ("x" * 300, 1), ("sea", 12)])
    assert capsys.readouterr().out.splitlines() == [
        "  tag  items",
        "  dog      5",
        f"  {'x' * 300}      1",
        "  sea     12",
    ]
    paths = [f"/{'deep/' * 20}{n}.jpg" for n in range(3)]
    print_table(("item", ">n"), [(path, 1) for path in paths])
    assert len({len(line) for line in capsys.readouterr().out.splitlines()}) == 1


def test_what_joins_letters_is_written_and_bytes_are_shown_as_bytes():
    from manyview.cli.talk import safe

    assert safe("\u06a9\u062a\u0627\u0628\u200c\u0647\u0627") == "\u06a9\u062a\u0627\u0628\u200c\u0647\u0627"
    assert safe("\U0001f468\u200d\U0001f467") == "\U0001f468\u200d\U0001f467"
    assert safe("latin\udce9\u202e\x1b.jpg") == r"latin\xe9\u202e\x1b.jpg"
