import json
import os
import sys
import time
from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyview import Collection, errors
from manyview.collection.safety import check
from manyview.ingest.rows import table_rows

from . import makers as m


def create(tmp_path, name, content, **options):
    path = tmp_path / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content, encoding="utf-8")
    return Collection.create(tmp_path / f"{name}.manyview", path, **options)


def problems(collection):
    return [(problem.path, problem.reason) for problem in collection.items.problems()]


CSV = "file,label,tags,caption\na.jpg,x,dog;Beach,A dog\nb.png,y,,\nsub/c.jpg,x,beach,Sand | sea\n"


@pytest.fixture
def pictures(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.jpg").write_bytes(m.jpeg())
    (tmp_path / "b.png").write_bytes(m.encoded("PNG"))
    (tmp_path / "sub" / "c.jpg").write_bytes(m.jpeg(m.app13(m.iim(b"in the file"))))
    return tmp_path


def test_a_csv_with_usual_names_needs_no_options(pictures):
    with create(pictures, "manifest.csv", CSV) as collection:
        items = list(collection.items)
        assert [item.key for item in items] == ["a.jpg", "b.png", "sub/c.jpg"]
        assert items[2].path == str(pictures / "sub" / "c.jpg") and items[2].kind == "picture"
        assert collection.tags.names == ("beach", "dog") and collection.tags.yes.toarray().tolist() == [
            [1, 1],
            [0, 0],
            [1, 0],
        ]
        assert collection.items.texts() == ["A dog", None, "Sand | sea"]
        assert collection.items.fields() == [{"label": "x"}, {"label": "y"}, {"label": "x"}]
        assert problems(collection) == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", "key;words;t\n1;a|b;x\n2;c;y\n"),
        ("t.tsv", "key\twords\tt\n1\ta|b\tx\n2\tc\ty\n"),
        ("t.jsonl", '{"key": 1, "words": ["a", "b"], "t": "x"}\n\n{"key": 2, "words": "c", "t": "y"}\n'),
        ("bom.csv", "\ufeffkey,words,t\n1,a|b,x\n2,c,y\n"),
        ("utf16.csv", "key,words,t\n1,a|b,x\n2,c,y\n".encode("utf-16")),
        ("crlf.csv", "key,words,t\r\n1,a|b,x\r\n2,c,y\r\n"),
    ],
)
def test_tables_of_every_form_say_the_same(tmp_path, name, content):
    with create(tmp_path, name, content, id="key", tags="words", tag_sep="|", text="t") as collection:
        assert [item.key for item in collection.items] == ["1", "2"]
        assert [collection.tagging.words_of(n) for n in (1, 2)] == [["a", "b"], ["c"]]
        assert collection.items.texts() == ["x", "y"]


def test_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pyarrow.table(
        {
            "id": [7, 8, 9],
            "tags": [["a", "b"], [], None],
            "looks": [[1.0, 2.0], [3.0, 4.0], None],
            "r": [0.5, None, 1.5],
            "raw": [b"\xff\x00", b"x", None],
            "note": ["n", None, "m"],
        }
    )
    parquet.write_table(table, tmp_path / "t.parquet")
    with Collection.create(
        tmp_path / "t.manyview", tmp_path / "t.parquet", views={"looks": "looks", "red": ["r"]}
    ) as collection:
        assert [item.key for item in collection.items] == ["7", "8", "9"]
        assert collection.tagging.words_of(1) == ["a", "b"]
        views = collection.views()
        assert views["looks"][:2].tolist() == [[1, 2], [3, 4]] and views.mask.tolist() == [
            [True, True],
            [True, False],
            [False, True],
        ]
        assert collection.items.fields()[0]["note"] == "n"
    (tmp_path / "broken.parquet").write_bytes((tmp_path / "t.parquet").read_bytes()[:-50])
    with pytest.raises(errors.StoreError, match=r"broken.parquet cannot be read as Parquet"):
        Collection.create(tmp_path / "b.manyview", tmp_path / "broken.parquet")


@pytest.fixture
def arrow():
    return pytest.importorskip("pyarrow", reason="not installed: pip install 'manyview[tables]'")


def parquet_collection(tmp_path, table, name="t.parquet", **options):
    from pyarrow import parquet

    parquet.write_table(table, tmp_path / name, row_group_size=2)
    return Collection.create(tmp_path / f"{name}.manyview", tmp_path / name, **options)


def test_values_of_parquet_are_kept_as_a_person_would_write_them(tmp_path, arrow):
    moment = datetime(2019, 6, 14, 12, 3, 4, tzinfo=UTC)
    table = arrow.table(
        {
            "id": [7.0, 8.0, None, 2.5],  # whole numbers in a column with a gap
            "tags": [["a", None, "b"], [], None, ["c"]],
            "kind": arrow.array(["x", "y", None, "x"]).dictionary_encode(),
            "when": arrow.array([moment, None, moment, None], arrow.timestamp("us", "UTC")),
            "fine": arrow.array([1600000000123456789, 1, 2, None], arrow.timestamp("ns")),
            "took": arrow.array([1_500_000_001, 1, 2, None], arrow.duration("ns")),
            "day": [date(2019, 6, 14), None, None, None],
            "price": [Decimal("1.50"), None, None, None],
            "place": [{"city": "Rome", "at": [1.5, None]}, None, None, {"city": None, "at": None}],
            "words": [b"caf\xc3\xa9", b"\xff\x00", None, b""],
            "share": [0.5, float("nan"), float("inf"), None],
            "large": arrow.array([2**64 - 1, 1, None, None], arrow.uint64()),
        }
    )
    with parquet_collection(tmp_path, table) as collection:
        assert [item.key for item in collection.items] == ["7", "8", "2.5"]
        assert problems(collection) == [("t.parquet:3", "bad row")]
        assert [collection.tagging.words_of(item.id) for item in collection.items] == [["a", "b"], [], ["c"]]
        first, second, last = collection.items.fields()
    assert first == {
        **{
            "kind": "x",
            "when": "2019-06-14T12:03:04+00:00",
            "fine": "2020-09-13T12:26:40.123456",
            "took": "0:00:01.500000",
        },
        **{"day": "2019-06-14", "price": "1.50", "place": '{"city": "Rome", "at": [1.5, null]}', "words": "café"},
        **{"share": 0.5, "large": 2**64 - 1},
    }
    assert "words" not in second and "share" not in second and last["place"] == '{"city": null, "at": null}'


def test_lists_of_one_length_are_a_view_and_others_a_gap(tmp_path, arrow):
    table = arrow.table(
        {
            "looks": arrow.array([[1.0, 2.0], None, [5.0, 6.0]], arrow.list_(arrow.float32(), 2)),
            "sound": arrow.array([[1.0, 2.0], [3.0], [5.0, None]], arrow.large_list(arrow.float64())),
        }
    )
    with parquet_collection(tmp_path, table, views={"looks": "looks", "sound": "sound"}) as collection:
        assert collection.views().mask.tolist() == [[True, True], [False, False], [True, False]]


def test_pictures_kept_in_a_table_are_found_by_their_paths_and_their_bytes_stay_where_they_are(pictures, arrow):
    paths = ["a.jpg", "none.jpg", None]
    cells = arrow.array([{"bytes": b"x" * 99, "path": path} for path in paths])
    table = arrow.table({"image": cells, "caption": ["one", "two", "three"]})
    with parquet_collection(pictures, table) as collection:
        assert [(item.key, item.path) for item in collection.items] == [
            ("a.jpg", str(pictures / "a.jpg")),
            ("none.jpg", None),
            ("row 3", None),
        ]
        (problem,) = collection.last_report.bad
        assert problem.path == "none.jpg" and "Pictures inside a table are not read; write them" in problem.sentence


def test_parquet_that_cannot_be_used_is_refused_with_a_sentence(tmp_path, arrow):
    twice = arrow.Table.from_arrays([arrow.array([1]), arrow.array([2])], names=["a", "a"])
    with pytest.raises(errors.StoreError, match=r"two columns called 'a'. Rename one"):
        parquet_collection(tmp_path, twice)
    os.mkfifo(tmp_path / "pipe.parquet")
    for name, content in (("text.parquet", b"hello"), ("nothing.parquet", b""), ("pipe.parquet", None)):
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(errors.StoreError, match=rf"{name} cannot be (read as Parquet|used): .*[^.]\.$"):
            Collection.create(tmp_path / f"{name}.manyview", tmp_path / name)


def test_large_parquet_comes_in_parts(tmp_path, arrow):
    from pyarrow import parquet

    with parquet.ParquetWriter(tmp_path / "t.parquet", arrow.schema([("id", arrow.int64())])) as writer:
        for part in range(5):
            writer.write_table(arrow.table({"id": range(3000 * part, 3000 * part + 3000)}))
    names, rows = table_rows(str(tmp_path / "t.parquet"))
    assert names == ["id"] and next(rows).values == {"id": 0}
    assert [row.values["id"] for row in rows] == list(range(1, 15000))


def test_without_the_extra_parquet_is_refused_with_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    with pytest.raises(errors.MissingExtra, match=r'pip install "manyview\[tables\]"'):
        Collection.create(tmp_path / "t.manyview", tmp_path / "t.parquet")


def test_bad_rows_are_named_and_the_others_go_on(pictures):
    rows = [
        "id,file,tags",
        "1,a.jpg,x",
        "2,none.jpg,y",
        "3,none.jpg,",
        "1,b.png,z",
        "5",
        "6,b.png,q,r",
        ",b.png,",
        "8,,w",
    ]
    with create(pictures, "t.csv", "\n".join(rows)) as collection:
        assert [item.key for item in collection.items] == ["1", "2", "8"]
        assert [item.path is not None for item in collection.items] == [
            True,
            False,
            False,
        ]  # a record without its picture
        assert problems(collection) == [
            ("none.jpg", "missing"),
            ("t.csv:5", "duplicate id"),
            ("t.csv:6", "bad row"),
            ("t.csv:7", "bad row"),
            ("t.csv:8", "bad row"),
        ]
        assert "has 4 cells, but the table has 3 columns" in collection.items.problems()[3].sentence


def test_a_file_that_is_missing_in_several_rows_is_named_with_all_of_them(pictures):
    table = pictures / "t.csv"
    rows = [f"{n},{'gone.png' if n < 3 else 'lost.png'},red" for n in range(10)]
    table.write_text("\n".join(["id,file,tags", *rows, "x,single.png,blue"]), encoding="utf-8")
    with Collection.create(pictures / "t.manyview", table) as collection:
        told = {problem.path: problem.sentence for problem in collection.last_report.bad}
    assert told == {
        "gone.png": "3 rows (2, 3, 4): there is no such file.",
        "lost.png": "7 rows (5, 6, 7, 8, 9, ...): there is no such file.",
        "single.png": "row 12: there is no such file.",
    }


def test_paths_of_windows_and_addresses(pictures):
    table = "id,image,text\n1,sub\\c.jpg,one\n2,sub\\gone.png,two\n3,https://example.org/p.png,three\n"
    with create(pictures, "w.csv", table) as collection:
        assert [item.path for item in collection.items] == [str(pictures / "sub" / "c.jpg"), None, None]
        said = {problem.path: problem.sentence for problem in collection.items.problems()}
    assert said == {
        "sub\\gone.png": "row 3: there is no such file.",
        "https://example.org/p.png": "row 4: it is an address, and nothing is fetched; name a file.",
    }


def test_nothing_outside_the_tables_folder_is_read(pictures, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "secret.jpg").write_bytes(m.jpeg())
    (pictures / "link.jpg").symlink_to(elsewhere / "secret.jpg")
    (pictures / "inner.jpg").symlink_to(pictures / "a.jpg")
    names = [
        str(elsewhere / "secret.jpg"),
        f"../{elsewhere.name}/secret.jpg",
        "link.jpg",
        "a\0.jpg",
        "http://x/y.jpg",
        "sub",
    ]
    rows = [json.dumps({"id": str(n), "image": name, "tags": "t"}) for n, name in enumerate(names)]
    rows.append(json.dumps({"id": "inner", "image": "inner.jpg"}))
    with create(pictures, "t.jsonl", "\n".join(rows)) as collection:
        paths = [item.path for item in collection.items]
        assert paths[:3] == [None] * 3 and paths[4:6] == [None] * 2
        assert paths[-1] == str(pictures / "a.jpg")  # a link inside leads to the file itself
        reasons = [reason for _, reason in problems(collection)]
        assert reasons.count("outside") == 3 and set(reasons) == {"outside", "missing", "not a file"}
    with create(pictures, "u.jsonl", "\n".join(rows[:1]), root=elsewhere) as collection:
        assert [item.path for item in collection.items] == [str(elsewhere / "secret.jpg")]


def test_views_of_columns_and_files(tmp_path):
    np.save(tmp_path / "deep.npy", np.arange(8, dtype=np.float32).reshape(4, 2))
    content = "id,r,g,note\na,1,2,x\nb,,3,x\na,5,6,x\nc,7,oops,x\n"
    with create(
        tmp_path, "t.csv", content, views={"colour": ["r", "g"]}, features={"deep": tmp_path / "deep.npy"}
    ) as c:
        views = c.views()
        assert views.names == ("colour", "deep")
        assert views["deep"].tolist() == [[0, 1], [2, 3], [6, 7]]  # the third row was not kept
        assert views["colour"][0].tolist() == [1, 2] and views.mask[:, 0].tolist() == [True, False, False]
        assert c.items.fields() == [{"note": "x"}] * 3
    with pytest.raises(errors.ViewError, match="view 'deep' has 4 rows .* but the table has 1"):
        create(tmp_path, "u.csv", "id\na\n", features={"deep": tmp_path / "deep.npy"})
    with pytest.raises(errors.ViewError, match="column 'note' of the table holds no numbers"):
        create(tmp_path, "v.csv", content, views={"colour": ["note"]})
    with pytest.raises(errors.ParameterError, match="no column 'blue'"):
        create(tmp_path, "w.csv", content, views={"colour": ["blue"]})


def test_wrong_options_are_refused_before_anything_is_made(tmp_path):
    with pytest.raises(errors.ParameterError, match=r"no column 'nope' for id; it has 'id', 'x'"):
        create(tmp_path, "t.csv", "id,x\n1,2\n", id="nope")
    (tmp_path / "folder").mkdir()
    with pytest.raises(errors.ParameterError, match="tags is an option for tables"):
        Collection.create(tmp_path / "f.manyview", tmp_path / "folder", tags="x")
    with pytest.raises(errors.ParameterError, match="is not a folder, a table"):
        create(tmp_path, "t.docx", "x")
    assert not (tmp_path / "f.manyview").exists() and not (tmp_path / "t.docx.manyview").exists()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.csv", "", "is empty"),
        ("twice.csv", "a,a\n1,2\n", "two columns called 'a'"),
        ("words.jsonl", "not json\n", "not a table of JSON lines"),
        ("quotes.csv", '"' + "x" * 200_000, "cannot be read as a table"),
    ],
)
def test_tables_that_are_none(tmp_path, name, content, words):
    with pytest.raises(errors.StoreError, match=words):
        create(tmp_path, name, content)


def test_a_table_without_rows_says_so(tmp_path):
    with create(tmp_path, "t.csv", "id,tags\n") as collection:
        assert len(collection.items) == 0 and problems(collection) == [("t.csv", "empty")]


def test_a_cell_may_hold_a_long_text(tmp_path):
    longest = "word " * 100_000
    with create(tmp_path, "long.csv", f'id,text\n1,short\n2,"{longest}"\n3,"{3 * longest}"\n4,last\n') as collection:
        assert [item.key for item in collection.items] == ["1", "2", "4"]
        assert collection.items.texts()[1] == longest.strip()
        assert [reason for _, reason in problems(collection)] == ["bad row"]


def test_names_of_columns_may_be_many(tmp_path):
    start = time.process_time()
    rows = [json.dumps({"id": n, f"own{n}": n, "text": "a b"}) for n in range(20_000)]
    with create(tmp_path, "own.jsonl", "\n".join(rows)) as collection:
        assert collection.items.fields()[7] == {"own7": 7}
        assert collection.last_report.number_columns[:2] == ["own0", "own1"]
    names = [f"c{n}" for n in range(40_000)]
    with pytest.raises(errors.StoreError, match="two columns called 'c39999'"):
        create(tmp_path, "twice.csv", ",".join([*names, names[-1]]) + "\n")
    assert time.process_time() - start < 20  # seconds; a look at every name for every row takes a minute


def test_wide_tables_formulas_and_strange_values(tmp_path):
    wide = ",".join(["id", *(f"c{n}" for n in range(10_000))]) + "\n" + ",".join(["1"] + ["=cmd()"] * 10_000) + "\n"
    with create(tmp_path, "wide.csv", wide) as collection:
        assert len(collection.items.fields()[0]) == 10_000  # kept as text; nothing is computed
    rows = [
        '{"id": "a", "v": NaN, "w": [1, {"x": null}], "tags": ["\\ud800x", "", null, 5]}',
        '{"id": "\\udc80", "text": "lone \\ud83d surrogate \\u0000"}',
        "[1]",
        "{" * 5000,
        '{"id": "z", "v": 1e999}',
    ]
    with create(tmp_path, "strange.jsonl", "\n".join(rows)) as collection:
        assert [item.key for item in collection.items] == ["a", "\udc80", "z"]
        assert collection.tagging.words_of(1) == ["\ufffdx", "5"]
        assert "lone" in collection.items.texts()[1]
        assert [reason for _, reason in problems(collection)] == ["bad row", "bad row"]


def words_of(collection):
    return [sorted(collection.tagging.words_of(item.id)) for item in collection.items]


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("\"['sea', 'old town']\"", ["old town", "sea"]),
        ('"[""sea"", ""Smith, John""]"', ["Smith, John", "sea"]),
        ("\"['sea' 'sand']\"", ["sand", "sea"]),
        ("[]", []),
        ('"sea\nsand"', ["sand", "sea"]),
        ("NA", []),
        ("NaN", []),
        ("nap", ["nap"]),
    ],
)
def test_cells_of_tags_as_programs_write_them(tmp_path, cell, words):
    with create(tmp_path, "t.csv", f"id,text,tags\na,one,{cell}\n") as collection:
        assert words_of(collection) == [words]


def test_what_spreadsheets_add_to_a_table(tmp_path):
    table = "sep=;\r\nid;text;tags;;\r\na;one, two;sea;;\r\nb;three;sand\r\nc;four;salt;;over\r\n"
    with create(tmp_path, "t.csv", table) as collection:
        assert [item.key for item in collection.items] == ["a", "b"] and words_of(collection) == [["sea"], ["sand"]]
        assert problems(collection) == [("t.csv:5", "bad row")]


def test_a_quote_that_is_never_closed_is_said_with_what_it_swallows(tmp_path):
    table = 'id,text\na,5" nail\nb,"two\nlines"\nc,"open\nd,four\ne,five\n'
    with create(tmp_path, "t.csv", table) as collection:
        assert [item.key for item in collection.items] == ["a", "b"]
        (problem,) = collection.items.problems()
        assert problem.path == "t.csv:5" and "never closed, so that the 2 lines behind it" in problem.sentence


def test_decimal_commas_are_numbers(tmp_path):
    table = "id;a;b;c\nx;1,5;1,234;7\ny;2;2,345;8\nz;,25;;9\n"
    with create(tmp_path, "t.csv", table, views={"size": ["a", "c"]}) as collection:
        assert np.array_equal(collection.views(["size"])["size"], [[1.5, 7], [2, 8], [0.25, 9]])
        assert collection.last_report.number_columns == []  # the commas of b may stand between thousands


@pytest.mark.parametrize(("name", "words"), [("t.xlsx", "as CSV"), ("t.json", "one object a line")])
def test_tables_in_other_forms_are_told_how_to_come(tmp_path, name, words):
    with pytest.raises(errors.ParameterError, match=words):
        create(tmp_path, name, "{}")


def test_reading_a_table_again_brings_the_collection_up_to_date(pictures):
    with create(pictures, "t.csv", "id,file,tags\n1,a.jpg,x\n2,b.png,y\n3,sub/c.jpg,z\n") as collection:
        collection.decide([(1, "mine")], True)
        collection._catalog.run("UPDATE items SET text = 'seen' WHERE id = 1")
        (pictures / "t.csv").write_text("id,file,tags\n3,sub/c.jpg,z\n1,a.jpg,other\n4,b.png,\n")
        report = collection.read(pictures / "t.csv")
        assert (report.n_new, report.n_gone, report.n_same, report.n_changed) == (1, 1, 1, 1)
        assert [(item.id, item.key) for item in collection.items] == [(1, "1"), (3, "3"), (4, "4")]
        assert sorted(collection.tagging.words_of(1)) == ["mine", "other"]
        (pictures / "a.jpg").write_bytes(m.jpeg(size=(20, 20)))
        assert collection.read(pictures / "t.csv").n_changed == 1
        assert str(collection.read(pictures / "t.csv")).endswith("t.csv: 0 new, 3 as before")
        (pictures / "t.csv").write_text("id,file,tags\n3,sub/c.jpg,z\n1,a.jpg,other\n4,b.png,\n2,b.png,y\n")
        assert str(collection.read(pictures / "t.csv")).endswith("t.csv: 0 new, 1 back, 3 as before")
    assert check.problems(pictures / "t.csv.manyview") == []


cells = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=400), st.sampled_from([".csv", ".tsv", ".jsonl"]))
def test_any_bytes_are_a_table_or_a_sentence(tmp_path_factory, content, ending):
    path = tmp_path_factory.getbasetemp() / f"fuzz{ending}"
    path.write_bytes(content)
    try:
        _, rows = table_rows(str(path))
        list(rows)
    except errors.StoreError as error:
        assert str(path) in str(error)


def test_bad_rows_are_named_in_their_order(tmp_path):
    rows = [f"{n},a,b" if n in (3, 20, 100) else f"{n},a" for n in range(2, 102)]
    with create(tmp_path, "t.csv", "\n".join(["id,text", *rows])) as collection:
        assert [path for path, _ in problems(collection)] == ["t.csv:3", "t.csv:20", "t.csv:100"]
