"""The site's parts that need no Sphinx: figures, notebooks, examples, the reference, and what reads the built pages."""

import ast
import json
import re
from pathlib import Path

import pytest
from typer.main import get_command

import manyview
from tools import figures
from tools.site import cells, checks, docstrings, examples, reference, sections, staging

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


def test_figures_are_those_of_the_kept_results():
    assert [page.name for page in figures.stale()] == [], "run `python -m tools.figures`"


def test_some_figures_are_marked():
    marked = [page.name for page in figures.PAGES if "<!-- kept:" in page.read_text(encoding="utf-8")]
    assert {"README.md", "consensus.md", "n_clusters.md", "tag_completion.md"} <= set(marked)


@pytest.fixture
def kept(tmp_path, monkeypatch):
    rows = [{"method": "ours", "NMI": [0.75, 0.1]}, {"method": "k-means", "NMI": [0.5, 0.0], "s": [1234.4, 0.0]}]
    tables = [{"title": "digits: 10 classes", "rows": rows}, {"title": "mean over all", "rows": rows[:1]}]
    (tmp_path / "made.json").write_text(json.dumps({"tables": tables}), encoding="utf-8")
    monkeypatch.setattr(figures, "RESULTS", tmp_path)
    figures._kept.cache_clear()
    yield
    figures._kept.cache_clear()


def test_a_table_is_filled_and_other_columns_stay(kept):
    text = (
        "<!-- kept: made\nours = ours / NMI\nplain = k-means / NMI as .2f\nrow mean = mean over all\n-->\n"
        "| set | ours | plain | said |\n| --- | --- | --- | --- |\n"
        "| digits | .1 | .2 | by hand |\n| mean | .7 | | x |\n"
    )
    found = figures.filled(text)
    assert "| digits | .750 | .50 | by hand |\n| mean | .750 | | x |\n" in found
    assert figures.filled(found) == found


def test_a_table_of_methods_and_a_number_are_filled(kept):
    text = "<!-- kept: made; digits\ns = s as ,.0f\n-->\n| m | s |\n| --- | --- |\n| k-means | 7 |\n"
    assert figures.filled(text).endswith("| k-means | 1,234 |\n")
    assert figures.filled("**<!-- kept: made; digits; ours; NMI; .0% -->9 %<!-- end -->**") == (
        "**<!-- kept: made; digits; ours; NMI; .0% -->75 %<!-- end -->**"
    )


def test_a_deviation_and_the_list_of_a_docstring_are_filled(kept):
    found = figures.filled("<!-- kept: made; digits; ours; NMI; ± -->0<!-- end -->")
    assert found == "<!-- kept: made; digits; ours; NMI; ± -->.750 ± .100<!-- end -->"
    head = "    .. kept: made; *; {s:,.0f} s, NMI {NMI:.2f}\n\n"
    found = figures.filled(f"{head}    - k-means: 3 s\n\n    words\n")
    assert found == f"{head}    - k-means: 1,234 s, NMI .50\n\n    words\n"


def test_runs_of_papers_are_tables(kept, tmp_path):
    nmi = {"mean": 0.25, "deviation": 0.0, "published": 0.5, "published_deviation": None, "difference": -0.25}
    row = {"name": "ours", "figures": {"NMI": nmi, "ACC": {"published": 0.5, "published_deviation": 0.125}}}
    run = {"table": "table 5", "on": "digits", "protocol": "paper", "rows": [row]}
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "rmkmc-table-5-digits-paper.json").write_text(json.dumps(run), encoding="utf-8")
    asked = "<!-- kept: papers/rmkmc; table 5 on digits, paper; ours; NMI -->"
    assert figures.filled(f"{asked}.9<!-- end -->") == f"{asked}.250<!-- end -->"
    with pytest.raises(figures.NotKept):
        figures.filled(f"{asked.replace('NMI', 'ACC')}.9<!-- end -->")
    spec = (
        "<!-- kept: papers/rmkmc; *\nours = table 5 on digits, paper; NMI\n"
        "printed = table 5 on digits, paper; NMI, printed\n"
        "difference = table 5 on digits, paper; NMI, difference as +.3f\n-->\n"
    )
    table = "| | ours | printed | difference |\n| --- | --- | --- | --- |\n"
    assert figures.filled(f"{spec}{table}| ours | 0 | 0 | 0 |\n").endswith("| ours | .250 | .500 | -.250 |\n")


@pytest.mark.parametrize(
    "text",
    [
        "    .. kept: made; *; {NMI:.2f}\n\n    - nobody: .1\n",
        "<!-- kept: made; digits; nobody; NMI -->.1<!-- end -->",
        "<!-- kept: made; letters; ours; NMI -->.1<!-- end -->",
        "<!-- kept: made; digits\nACC = ACC\n-->\n| m | NMI |\n| --- | --- |\n| ours | .7 |\n",
        "<!-- kept: made\nb = nobody / NMI\n-->\n| set | b |\n| --- | --- |\n| digits | .3 |\n",
    ],
)
def test_a_figure_that_nobody_kept_is_an_error(kept, text):
    with pytest.raises(figures.NotKept):
        figures.filled(text)


def test_every_example_is_in_the_gallery():
    helpers = {"drawing", "shipped"}
    written = {path.stem for path in (ROOT / "examples").glob("*.py")} - helpers
    assert written == {name for group in examples.EXAMPLES.values() for name in group}
    assert {path.stem for path in NOTEBOOKS} == set(examples.NOTEBOOKS)


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_examples_only_import_what_there_is(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("manyview"):
            module = __import__(node.module, fromlist=["*"])
            assert [name.name for name in node.names if not hasattr(module, name.name)] == []


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=() if path.stem == "missing_tags" else pytest.mark.slow) for path in NOTEBOOKS],
    ids=lambda path: path.stem,
)
def test_notebooks_run_and_keep_nothing(path, tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.chdir(tmp_path)
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert all(cell["outputs"] == [] for cell in stored["cells"] if cell["cell_type"] == "code")
    done = list(cells.run_cells(cells.read_notebook(path), path.name, lambda value: []))
    assert any(one.printed or one.value_html for one in done)
    import matplotlib.pyplot as plt

    plt.close("all")


def test_a_script_is_cut_into_words_and_code(tmp_path):
    path = tmp_path / "one.py"
    path.write_text('"""Title\n\nWords about ``it``.\n"""\n\n# %%\n# Some *words*.\nx = 2\nprint(x)\n\n# %%\nx + 1\n')
    read = cells.read_script(path)
    assert [(cell.text, cell.is_code) for cell in read] == [
        ("# Title\n\nWords about `it`.", False),
        ("Some *words*.", False),
        ("x = 2\nprint(x)", True),
        ("x + 1", True),
    ]
    done = list(cells.run_cells(read, "one"))
    assert done[2].printed == "2\n" and done[3].value_html == "<pre>3</pre>"


def test_the_reference_has_every_public_name_once():
    grouped = [name for names in reference.GROUPS.values() for name in names]
    assert len(grouped) == len(set(grouped))
    assert {*grouped, *reference.MODULES, "__version__"} == {*manyview.__all__, "load", "save"}


def test_the_reference_shows_methods_that_bases_of_ours_give():
    shown = reference.members(manyview.RobustMultiviewKMeans)
    assert {"fit", "predict", "fit_predict"} <= set(shown)
    assert "get_params" not in shown and not any(name.startswith("_") for name in shown)


def test_the_page_of_commands_has_every_option():
    from manyview.cli.main import app

    page = reference.command_page()
    for name, command in get_command(app).commands.items():
        section = page.split(f"\n## manyview {name}\n")[1].split("\n## ")[0]
        shown = [part for part in command.params if not getattr(part, "hidden", False)]
        assert [
            option for part in shown for option in part.opts if option.startswith("--") and option not in section
        ] == []


def test_every_page_of_the_docs_has_its_place():
    placed = sections.pages()
    written = {str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")}
    assert written - set(placed) == set()
    own = [page for name, page in placed.items() if name != "README.md"]
    assert len(own) == len(set(own))


def test_links_are_bent_to_pages_files_and_words(tmp_path):
    placed = {"docs/a.md": "guide/a.md", "CHANGELOG.md": "about/changelog.md"}
    text = (
        "[b](../CHANGELOG.md#x) ![p](images/wall.jpg) [r](../benchmarks/results) [e](../examples/consensus.py) [o](https://example.org)\n"
        "```\n[code](a.md)\n```\n"
    )
    found = staging.bent(text, "docs/a.md", "guide/a.md", placed, tmp_path)
    assert (
        "[b](../about/changelog.md#x) ![p](../files/docs/images/wall.jpg) r [e](../examples/consensus.md) [o](https://example.org)"
        in found
    )
    assert "[code](a.md)" in found
    assert (tmp_path / "files/docs/images/wall.jpg").exists()


def test_what_leads_nowhere_or_comes_from_elsewhere_is_found(tmp_path):
    (tmp_path / "good.html").write_text('<h1 id="top">x</h1><a href="#top">x</a><a href="https://example.org">out</a>')
    assert checks.look_through(tmp_path) == []
    bad = [
        '<a href="lost.html">x</a>',
        '<a href="good.html#lost">x</a>',
        '<img src="https://example.org/a.png">',
        '<img src="lost.png">',
        '<link rel="stylesheet" href="//example.org/a.css">',
        '<script src="https://example.org/a.js"></script>',
        '<p style="background: url(https://example.org/b.png)">x</p>',
    ]
    for number, text in enumerate(bad):
        (tmp_path / f"bad{number}.html").write_text(text)
    (tmp_path / "a.css").write_text("@import 'https://example.org/x.css'; b { src: url(http://example.org/f.woff2) }")
    (tmp_path / "a.js").write_text('/* https://example.org/licence */ fetch("https://example.org/data.json")')
    found = checks.look_through(tmp_path)
    assert len(found) == len(bad) + 3
    assert {re.match(r"[^:]+", line)[0] for line in found} == {f"bad{n}.html" for n in range(len(bad))} | {
        "a.css",
        "a.js",
    }


def test_lists_without_a_heading_get_one():
    lines = ["Words.", "", "kind : what it is,", "    and more", "name : its name", "", "Other words."]
    assert docstrings.with_headings(lines, "Parameters") == [
        *("Words.", "", "Parameters", "----------", "kind : what it is,", "    and more", "name : its name"),
        *("", "Notes", "-----", "Other words."),
    ]
    plain = ["Words.", "", "Parameters", "----------", "a : int", "", "Notes", "-----", "x : y"]
    assert docstrings.with_headings(plain, "Parameters") == plain
