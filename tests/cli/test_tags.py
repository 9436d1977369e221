"""suggest, accept, reject and eval, as a person gives them."""

import csv
import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace

import pytest

from manyview import Collection
from manyview.cli.main import app
from manyview.cli.suggest import _print_groups
from tests.workflow.tagged import make_tagged, truth


def run(*arguments, code=0):
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        app([str(argument) for argument in arguments])
    assert (ended.value.code or 0) == code, (ended.value.code, out.getvalue(), err.getvalue())
    return out.getvalue() if code == 0 else err.getvalue()


def ask(*arguments):
    return json.loads(run(*arguments, "--json"))


def read(table):
    return list(csv.DictReader(io.StringIO(table.read_text(encoding="utf-8"))))


@pytest.fixture
def path(tmp_path):
    run("init", make_tagged(tmp_path, n_items=160), "-o", tmp_path / "items.manyview")
    return tmp_path / "items.manyview"


def test_from_proposals_to_decisions(path, tmp_path):
    table = tmp_path / "proposals.csv"
    said = run("suggest", path, "--rows", 5, "-o", table, "--jobs", 1)
    rows = read(table)
    n_worth = sum(float(row["probability"]) >= 0.5 for row in rows)
    assert f"{n_worth} proposals are worth asking, {800 - n_worth} less likely" in said and ", which carr" in said
    assert "very likely" in said and "Next: manyview serve" in said and "--at-least 0.8" in said
    assert f"... and {n_worth - 5} more" in said and f"wrote {table}" in said
    assert "... and 795 more" in run("suggest", path, "--open", "--rows", 5, "--min-probability", 0)
    assert list(rows[0]) == ["id", "item", "tag", "probability", "reason", "answer"] and len(rows) == 800
    scores = [float(row["probability"]) for row in rows]
    assert scores == sorted(scores, reverse=True)

    found = ask("suggest", path, "--min-probability", 0.5, "--top", 1)
    assert found["said"][-1] == "nothing has changed since these were made."  # and so the same run
    items = [row["id"] for row in found["proposals"]]
    assert len(items) == len(set(items)) and all(row["probability"] >= 0.5 for row in found["proposals"])
    assert {line["min_probability"] for line in found["lines"]} == {0.9, 0.7, 0.5}

    # what a person leaves in the file is accepted, pair by pair
    kept = [row for row in rows[:40] if row["tag"] in truth(int(row["id"]))]
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(kept)
    assert f"accepted {len(kept)} tags (entry 1" in run("accept", path, "--from", table)
    assert "'snow' for 7 (entry 2, 1 item)" in run("reject", path, "--item", 7, "--tag", "snow", "--why", "sand")
    above = ask("accept", path, "--min-probability", 0.6, "--who", "anna")
    assert above["entry"] == 3 and above["who"] == "anna" and above["pairs"] >= above["items"] > 0
    assert "nothing was changed" in run("accept", path, "--min-probability", 0.6)

    again = ask("suggest", path, "--jobs", 1)
    assert again["run"] == found["run"] + 1
    with Collection.open(path) as collection:
        number = collection.items.find("7").id
        assert collection._catalog.row("SELECT why FROM decisions WHERE item_id = ? AND answer = 0", (number,)) == (
            "sand",
        )
    assert not any(row["item"] == "7" and row["tag"] == "snow" for row in again["proposals"])


def test_tables_by_item_and_by_tag(path, tmp_path):
    run("suggest", path, "--jobs", 1)
    by_item = ask("suggest", path, "--open", "--by", "item")["proposals"]
    assert [row["id"] for row in by_item] == sorted(row["id"] for row in by_item)
    by_tag = ask("suggest", path, "--open", "--by", "tag", "--min-probability", 0.3)["proposals"]
    assert [row["tag"] for row in by_tag] == sorted(row["tag"] for row in by_tag)
    assert {row["tag"] for row in ask("suggest", path, "--open", "--tag", "SNOW")["proposals"]} == {"snow"}
    assert {row["item"] for row in ask("suggest", path, "--open", "--item", "7")["proposals"]} == {"7"}
    assert "--by must be one of probability, item, tag" in run("suggest", path, "--open", "--by", "informative", code=2)
    run("suggest", path, "--open", "-o", tmp_path / "all.json")
    assert len(json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))) == 800
    everything = ask("reject", path, "--all", "--tag", "snow")
    assert everything["pairs"] == len({row["id"] for row in by_item if row["tag"] == "snow"})


def test_a_tag_is_accepted_where_it_is_likely_and_elsewhere_only_when_asked(path):
    run("suggest", path, "--jobs", 1)
    rows = [row for row in ask("suggest", path, "--open", "--min-probability", 0)["proposals"] if row["tag"] == "snow"]
    n_likely = sum(row["probability"] >= 0.5 for row in rows)
    n_left = len(rows) - n_likely
    assert n_likely and n_left
    said = run("accept", path, "--tag", "snow")
    assert (
        f"accepted 'snow' for {n_likely} items" in said
        and f"{n_left} more are less likely than 50 %; --all takes them too" in said
    )
    said = run("accept", path, "--tag", "snow")
    assert "nothing was changed" in said and f"{n_left} more are less likely than 50 %" in said
    found = ask("accept", path, "--tag", "snow", "--all")
    assert (found["pairs"], found["unlikely"], found["left_out"]) == (n_left, n_left, 0)
    run("undo", path)
    assert f"; {n_left} of them less likely than 50 %)" in run("accept", path, "--tag", "snow", "--all")

    item = ask("suggest", path, "--open", "--min-probability", 0)["proposals"][-1]["item"]
    open_of_it = ask("suggest", path, "--open", "--min-probability", 0, "--item", item)["proposals"]
    n_likely = sum(row["probability"] >= 0.5 for row in open_of_it)
    found = ask("accept", path, "--item", item)
    assert (found["pairs"], found["left_out"]) == (n_likely, len(open_of_it) - n_likely)
    assert ask("reject", path, "--item", item)["pairs"] == found["left_out"]  # a no to those costs nothing
    assert ask("accept", path, "--item", item, "--tag", "anything at all")["pairs"] == 1


def test_old_words_are_understood_for_one_release(path, tmp_path):
    run("suggest", path, "--jobs", 1)
    err = io.StringIO()
    for arguments in (("suggest", path, "--open"), ("reject", path, "--tag", "snow"), ("accept", path)):
        with redirect_stdout(io.StringIO()), redirect_stderr(err), pytest.raises(SystemExit) as ended:
            app([*map(str, arguments), "--min-score", "0.3"])
        assert not ended.value.code
    assert err.getvalue().count("--min-score is called --min-probability now") == 3
    assert "--min-score" not in run("accept", "--help") and "--min-probability" in run("accept", "--help")
    assert "the old name" in run("accept", path, "--min-score", 0.3, "--min-probability", 0.2, code=2)
    assert ask("suggest", path, "--open", "--by", "score") == ask("suggest", path, "--open")

    # a file of before, with the column `score`
    row = ask("suggest", path, "--open")["proposals"][0]
    (tmp_path / "old.csv").write_text(
        f"id,item,tag,score,reason\n{row['id']},{row['item']},{row['tag']},0.4,why\n", encoding="utf-8"
    )
    assert "accepted" in run("accept", path, "--from", tmp_path / "old.csv")


def test_cells_are_text_for_spreadsheets(tmp_path):
    table = tmp_path / "odd.csv"
    lines = [f"=cmd{n},{'@a|+b' if n % 3 else '@a'}" for n in range(40)]
    table.write_text("\n".join(["id,tags", *lines]), encoding="utf-8")
    run("init", table, "--tag-sep", "|", "-o", tmp_path / "odd.manyview")
    run("suggest", tmp_path / "odd.manyview", "-o", tmp_path / "out.csv", "--jobs", 1)
    rows = read(tmp_path / "out.csv")
    assert all(row["item"].startswith("'=cmd") and row["tag"] in ("'@a", "'+b") for row in rows)
    run("accept", tmp_path / "odd.manyview", "--from", tmp_path / "out.csv")
    with Collection.open(tmp_path / "odd.manyview") as collection:
        assert collection.tags.names == ("+b", "@a")


def test_nobody_is_sent_on_to_accept_where_nothing_is_open(tmp_path):
    rows = "\n".join(f"{n},holiday at place {n % 3},holiday" for n in range(12))
    (tmp_path / "t.csv").write_text(f"id,text,tags\n{rows}\n", encoding="utf-8")
    run("init", tmp_path / "t.csv")
    said = run("suggest", tmp_path / "t.manyview", "--jobs", 1)
    assert "0 proposals are worth asking, 0 less likely" in said and "none is open" in said and "Next:" not in said
    above = run("suggest", tmp_path / "t.manyview", "--open", "--min-probability", 0.9)
    assert "none is that likely" in above and "--at-least" not in above


def test_eval_tells_how_good_it_is(path):
    said = run("eval", path, "--hide-tags", 0.3, "--labels", "label", "--draws", 1, "--jobs", 1)
    for words in ("suggest", "co-occurrence", "nearest neighbours", "popularity", "P@1", "ECE", "promised", "k-means"):
        assert words in said, words
    found = ask("eval", path, "--hide-tags", 0, "--labels", "label", "--draws", 1, "-m", "rmkmc", "-k", 3, "--jobs", 1)
    assert found["clusters"]["n_clusters"] == 3 and next(iter(found["clusters"]["methods"])) == "rmkmc"
    assert "tags" not in found


def test_what_cannot_be_done_is_said(path, tmp_path):
    assert "has no proposals yet" in run("accept", path, "--all", code=2)
    run("suggest", path, "--jobs", 1)
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    for arguments, words in (
        (("accept", path), "choose by item, by tag or by least probability"),
        (("accept", path, "--all", "--min-probability", 0.5), "exclude each other"),
        (("accept", path, "--all", "--from", tmp_path / "bad.csv"), "leave --item"),
        (("accept", path, "--from", tmp_path / "bad.csv"), "expected the columns id (or item) and tag"),
        (("accept", path, "--from", tmp_path / "bad.json"), "is no JSON"),
        (("accept", path, "--from", tmp_path / "none.csv"), "cannot read"),
        (("reject", path, "--tag", "snwo"), "Did you mean 'snow'"),
        (("reject", path, "--item", "nobody", "--tag", "snow"), "no item 'nobody'"),
        (("suggest", path, "--by", "colour"), "--by must be one of"),
        (("suggest", path, "-o", tmp_path / "x.xls"), ".csv or .json"),
        (("suggest", path, "--completeness", 1.5), "completeness"),
        (("eval", path, "--labels", "colour"), "no column 'colour'"),
    ):
        assert words in run(*arguments, code=2), arguments
    with Collection.open(path) as collection:
        assert len(collection.history) == 0


def test_a_list_of_another_collection_is_refused(path, tmp_path):
    """Numbers that mean other items here would put tags on the wrong ones."""
    run("suggest", path, "--jobs", 1, "-o", tmp_path / "list.csv")
    rows = read(tmp_path / "list.csv")
    for content, words in (
        (f"id,item,tag\n{rows[0]['id']},somebody else,snow\n", "here, not 'somebody else'. Nothing was changed"),
        (f"id,item,tag\n{rows[0]['id']},,\n", "row 1: its tag is empty"),
        ("id,item,tag\n,,snow\n", "row 1: its item is empty"),
        ("id,tag\nx,snow\n", "'x' is not the number of an item"),
    ):
        (tmp_path / "other.csv").write_text(content, encoding="utf-8")
        assert words in run("accept", path, "--from", tmp_path / "other.csv", code=2)
    assert "accepted" in run("accept", path, "--from", tmp_path / "list.csv", "--yes")


@pytest.mark.parametrize("ending", ["csv", "json"])
def test_the_answers_in_a_file_count(path, tmp_path, ending):
    listed = tmp_path / f"list.{ending}"
    run("suggest", path, "--jobs", 1, "-o", listed)
    rows = json.loads(listed.read_text(encoding="utf-8")) if ending == "json" else read(listed)
    assert {row["answer"] for row in rows} == {""}

    def answer(*answers, name="answer"):
        some = [{**row, name: given} for row, given in zip(rows, answers, strict=False)]
        if ending == "json":
            listed.write_text(json.dumps(some), encoding="utf-8")
            return
        with listed.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(some[0]))
            writer.writeheader()
            writer.writerows(some)

    answer("yes", "no", "maybe")
    refused = run("accept", path, "--from", listed, code=2)
    assert "row 3: its answer is 'maybe'; expected yes (y, 1, true, x), no" in refused
    answer("no", "")
    assert "`manyview accept --from` takes each row" in run("reject", path, "--from", listed, code=2)
    with Collection.open(path) as collection:
        assert len(collection.history) == 0

    answer(" Yes", "NO", "", "x", False, True if ending == "json" else "1")
    said = run("accept", path, "--from", listed, "--why", "seen")
    assert "accepted 3 " in said and "rejected 2 " in said and "1 without an answer stays open" in said
    with Collection.open(path) as collection:
        rows_of = collection._catalog.rows("SELECT item_id, tag_id, answer FROM decisions WHERE is_reviewed = 1")
        given = {(item, tag): bool(one) for item, tag, one in rows_of}
        numbers = collection.tagging.numbers([row["tag"] for row in rows[:6]])
        found = [given.get((int(row["id"]), numbers[row["tag"]])) for row in rows[:6]]
        assert found == [True, False, None, True, False, True] and len(collection.history) == 2
    answer("n", "n", "")
    told = ask("accept", path, "--from", listed)
    assert told["pairs"] == 0 and told["entry"] is None and told["left_out"] == 1
    assert told["rejected"]["pairs"] == 1 and told["rejected"]["entry"] == 3


def test_a_file_without_answers_is_accepted_whole(path, tmp_path):
    listed = tmp_path / "list.csv"
    run("suggest", path, "--jobs", 1, "-o", listed)
    n_unlikely = sum(float(row["probability"]) < 0.5 for row in read(listed))
    said = run("accept", path, "--from", listed)
    assert f"; {n_unlikely} of them less likely than 50 %)" in said and "so all 800 were accepted" in said
    item, tag = (read(listed)[0][name] for name in ("item", "tag"))
    listed.write_text(f"item,tag,ANSWER\n{item},{tag},y\n{item},{tag},n\n", encoding="utf-8")
    assert "row 2" in run("accept", path, "--from", listed, code=2)


def test_lines_are_shares(path):
    run("suggest", path, "--jobs", 1)
    listing = ("suggest", path, "--open")
    for verb in (("accept", path), ("reject", path), listing, (*listing, "--json")):
        for line in (-1, 2, 90):
            assert "at most 1" in run(*verb, "--min-probability", line, code=2), (verb, line)
    assert "at least 1" in run("suggest", path, "--open", "--top", 0, code=2)
    with Collection.open(path) as collection:
        assert len(collection.history) == 0


def test_a_run_of_proposals_has_no_clusters_to_show(path):
    run("fit", path, "-k", 4, "--jobs", 1)
    run("suggest", path, "--jobs", 1)
    for verb in ("show", "report"):
        told = run(verb, path, "--run", 2, code=2)
        assert "run 2 made proposals, not clusters. Name a run of `manyview fit`; there are 1." in told


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_computed(path, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "manyview.workflow.proposing.suggest.suggest_tags", lambda *given, **more: pytest.fail("computed")
    )
    assert ".csv or .json" in run("suggest", path, "-o", tmp_path / "x.xls", code=2)


def test_a_line_is_trusted_once_completeness_is_known(path, monkeypatch):
    run("suggest", path, "--jobs", 1)
    err = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        app(["accept", str(path), "--min-probability", "0.9"])
    assert not ended.value.code and "answer 30 proposals" in err.getvalue() and "--at-least 0.8" in err.getvalue()

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr("sys.stdin", Terminal("n\n"))
    with Collection.open(path) as before:
        n_entries = len(before.history)
    run("accept", path, "--min-probability", 0.7)
    with Collection.open(path) as after:
        assert len(after.history) == n_entries  # it asked, and was told no
    assert "accepted" in run("accept", path, "--min-probability", 0.7, "--yes")
    monkeypatch.undo()
    said = run("suggest", path, "--jobs", 1, "--completeness", 0.6, "--rows", 3)
    assert " %" in said and "of them should be right" in said and "very likely" not in said
    with redirect_stdout(io.StringIO()), redirect_stderr(err := io.StringIO()), pytest.raises(SystemExit):
        app(["accept", str(path), "--min-probability", "0.6"])
    assert "note" not in err.getvalue()


def test_doubtful_tags_are_listed(path):
    run("suggest", path, "--jobs", 1)
    with Collection.open(path, write=True) as found:
        item = found.items.named("7").id
        tag = found.tags.names[found.tags.yes[found.items.ids.tolist().index(item)].indices[0]]
        doubts = f"[[{item}, {found.tagging.find(tag)}, 0.9]]"
        found._catalog.run("UPDATE runs SET figures = json_set(figures, '$.doubtful', json(?))", (doubts,))
    said = run("suggest", path, "--open", "--doubtful")
    assert "1 recorded tag is doubtful" in said and tag in said and "manyview reject" in said
    [one] = ask("suggest", path, "--open", "--doubtful")["doubtful"]
    assert (one["item"], one["item_id"], one["tag"], one["doubt"]) == ("7", item, tag, 0.9)
    run("reject", path, "--item", 7, "--tag", tag)
    assert ask("suggest", path, "--open", "--doubtful")["doubtful"] == []


def test_first_tags_come_by_how_sure_they_are_and_then_by_how_many(capsys):
    rows = [("sea", 0.61), ("sea", 0.59), ("sea", 0.60), ("dog", 0.9), ("cat", 0.6), ("cat", 0.6)]
    _print_groups([SimpleNamespace(tag=word, probability=p, item=f"{word}.jpg") for word, p in rows], Path("c"))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if "?" in line] == ["dog?", "sea?", "cat?"]
    assert lines[-1].endswith("accept c --tag dog; or reject, for good")
