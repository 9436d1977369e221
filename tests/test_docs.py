"""The documentation is true: its code runs, and it leaves nothing out."""

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import manyview

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(manyview.__path__, "manyview.")
    if not module.name.endswith(("_kernels", "__main__"))
)
LONG = {
    "README.md",
    "consensus.md",
    "robust_kmeans.md",
    "first_minutes.md",
    "data_scientist.md",
    "researcher.md",
}  # whole collections: with the slow tests
SAID = {"n_clusters.md": "trials.n_clusters", "tag_forest.md": "tags.twins()"}  # results that stand beside the code
ESTIMATORS = [name for name in manyview.__all__ if hasattr(getattr(manyview, name), "get_params")]


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.slow if page.name in LONG else ()) for page in PAGES],
    ids=lambda page: page.name,
)
def test_examples_run(page, tmp_path, monkeypatch, capsys):
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(page), "exec"), names)  # noqa: S102  our own pages
    if page.name in SAID:
        given = repr(eval(SAID[page.name], names))  # noqa: S307  our own pages
        assert re.search(rf"^(print\()?{re.escape(SAID[page.name])}\)? +# {re.escape(given)}:", text, re.MULTILINE), (
            given
        )


@pytest.mark.parametrize("name", MODULES)
def test_doctests(name):
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert "://" in target or (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_public_name_is_in_the_list_of_names():
    listed = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    names = [name for name in (*manyview.__all__, "load", "save") if not name.startswith("__")]
    names += [f"metrics.{name}" for name in manyview.metrics.__all__]
    names += [f"datasets.{name}" for name in manyview.datasets.__all__]
    names += [f"testing.{name}" for name in manyview.testing.__all__]
    names += [f"errors.{name}" for name in manyview.errors.__all__]
    assert [name for name in names if f"`{name}" not in listed] == []


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_parameter_and_result_is_described(name):
    estimator = getattr(manyview, name)
    words = inspect.getdoc(estimator) or ""
    for base in estimator.__mro__:
        words += inspect.getdoc(base) or "" if base.__module__.startswith("manyview") else ""
    missing = [p for p in estimator().get_params() if not re.search(rf"\b{p}\b", words)]
    assert missing == []


PUBLIC = [thing for name in manyview.__all__ if callable(thing := getattr(manyview, name))] + [
    thing
    for module in (manyview.features, manyview.metrics, manyview.datasets, manyview.meaning, manyview.testing)
    for name in module.__all__
    if callable(thing := getattr(module, name))
]


def described(thing):
    """Parameter -> what stands behind the colon, of the docstring's own list of parameters."""
    _, _, rest = (inspect.getdoc(thing) or "").partition("Parameters\n----------\n")
    lines = re.split(r"\n\n\w[\w ]*\n-{4,}\n", f"{rest}\n\n")[0].split("\n")
    entries = [re.match(r"(\w+(?:, \w+)*)(?: : (.*))?$", line) for line in lines]
    return {name: one[2] or "" for one in entries if one for name in one[1].split(", ")}


@pytest.mark.parametrize("thing", dict.fromkeys(PUBLIC), ids=lambda thing: thing.__name__)
def test_defaults_are_those_of_the_signature(thing):
    given = inspect.signature(thing).parameters
    for name, words in described(thing).items():
        said = re.search(r"default=(.+)$", words)
        if said and name in given:
            assert given[name].default == ast.literal_eval(said[1]), f"{name} of {thing.__name__}"


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_parameter_has_a_line_and_says_its_default(name):
    estimator = getattr(manyview, name)
    told = described(estimator)
    for one in inspect.signature(estimator).parameters.values():
        if one.default != "deprecated":
            assert one.name in told, f"{name} says nothing of {one.name}"
            needed = one.default is not None and one.default is not inspect.Parameter.empty
            assert "default=" in told[one.name] or not needed, f"{name} does not say the default of {one.name}"


@pytest.mark.parametrize("name", [n for n in (*manyview.__all__, "load", "save") if callable(getattr(manyview, n))])
def test_public_things_speak(name):
    thing = getattr(manyview, name)
    assert (inspect.getdoc(thing) or "").split("\n")[0].endswith((".", ":")), f"{name} needs a first line"
    if inspect.isclass(thing):
        for method, value in vars(thing).items():
            if inspect.isfunction(value) and not method.startswith("_"):
                short = method in ("keys", "values", "n_items", "n_views")
                assert short or inspect.getdoc(value), f"{name}.{method} needs a docstring"


def test_examples_are_short_and_importable():
    for path in (ROOT / "examples").glob("*.py"):
        compile(path.read_text(encoding="utf-8"), str(path), "exec")


def test_the_repository_names_no_registry_and_no_machine():
    words = [".".join(("pypi", "org")), "/".join(("", "root", "")), "/".join(("", "work", "main"))]
    for path in [*ROOT.glob("*.md"), *ROOT.glob("*.toml"), *(ROOT / "requirements").iterdir(), ROOT / "Makefile"]:
        text = path.read_text(encoding="utf-8")
        assert not [word for word in words if word in text], path.name


def test_every_command_and_option_is_described():
    from typer.main import get_command

    from manyview.cli.main import app

    page = (ROOT / "docs" / "command_line.md").read_text(encoding="utf-8")
    for name, command in get_command(app).commands.items():
        start = page.index(f"## `manyview {name}")
        section = page[start : page.find("\n## ", start + 1)]
        shown = [part for part in command.params if not getattr(part, "hidden", False)]
        options = [option for part in shown for option in part.opts if option.startswith("-")]
        assert [option for option in options if f"`{option}`" not in section] == [], name
        assert [part.name for part in shown if part.metavar is None and not getattr(part, "is_flag", False)] == [], name


def test_the_page_of_words_is_made_from_the_code():
    from .words import PAGE, page

    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m tests.words`"
