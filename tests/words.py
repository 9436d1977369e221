"""The page of words, made from signatures, routes and schema: ``python -m tests.words`` writes it anew."""

import inspect
import sqlite3
from pathlib import Path

import manyview
from manyview.collection import layout
from manyview.web.openapi import description
from manyview.workflow.methods_table import METHODS

PAGE = Path(__file__).parents[1] / "docs" / "words.md"
# What it is; on the command line, as a parameter of estimators and of Collection's verbs, in the gallery, on disk.
THINGS = (
    ("how many clusters", "--clusters", "n_clusters", "n_clusters", "k", None),
    ("where random numbers start", "--seed", "random_state", "seed", "seed", None),
    ("how many threads", "--jobs", "n_jobs", "n_jobs", None, None),
    ("how many nearest items are asked", None, "n_neighbors", None, None, None),
    ("a way to cluster", "--method", None, "method", "method", "method"),
    ("one description of all items", "--view", None, "views", "views", "view_id"),
    ("an item, by number", "--item", None, "item", "item", "item_id"),
    ("an item, by the owner's name", None, None, None, "key", "key"),
    ("a tag", "--tag", None, "tag", "tag", "tag_id"),
    ("a cluster, the same in every run", "--cluster", None, None, "cluster", "cluster_id"),
    ("a cluster of one run", None, None, None, None, "label"),
    ("a run", "--run", None, None, "run", "run_id"),
    ("how sure an item's place is", None, None, None, "confidence", "confidence"),
    ("how likely a proposal is right", None, None, None, "probability", "probability"),
    ("the least of that", "--min-probability", None, "min_probability", None, None),
    ("the order of proposals, no probability", None, None, None, "score", "score"),
    ("how complete the owner's tags are", "--completeness", "completeness", "completeness", None, None),
    ("who says it", "--who", None, "who", "who", "who"),
)
HEAD = """# Words

One thing has one word on each surface, and the same one wherever that is possible. This page is made from the code, by
`python -m tests.words`.

| what | command line | estimators | `Collection` | gallery, routes | on disk |
| --- | --- | --- | --- | --- | --- |
"""
METHOD_HEAD = """
A *label* is a cluster's number in one run and never a tag; a *cluster* keeps its number across runs. A *score* orders
proposals and means nothing by itself; a *probability* can be compared, added up and asked for.

| method on the command line, in the gallery and on disk | class | what it does |
| --- | --- | --- |
"""


def options():
    """Options of all commands, each with its spellings."""
    from typer.main import get_command

    from manyview.cli.main import app

    parts = (part for command in get_command(app).commands.values() for part in command.params)
    return {part.opts[-1]: part.opts for part in parts if part.param_type_name == "option" and not part.hidden}


def parameters(things):
    return {name: [name] for thing in things for name in inspect.signature(thing).parameters}


def estimators():
    """Parameters of the estimators."""
    kinds = (getattr(manyview, name) for name in manyview.__all__)
    return parameters(kind for kind in kinds if hasattr(kind, "get_params"))


def verbs():
    """Parameters of what a collection can do."""
    return parameters(verb for _, verb in inspect.getmembers(manyview.Collection, inspect.isfunction))


def fields():
    """Names in requests, answers and addresses."""
    said = description()
    names = {field for model in said["components"]["schemas"].values() for field in model.get("properties", {})}
    routes = [route for methods in said["paths"].values() for route in methods.values()]
    names |= {part["name"] for route in routes for part in route.get("parameters", [])}
    return {name: [name] for name in names}


def columns():
    """Columns of the catalogue."""
    catalog = sqlite3.connect(":memory:")
    for step in layout.MIGRATIONS:
        catalog.executescript(step)
    tables = catalog.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    names = {row[1] for (table,) in tables for row in catalog.execute(f"PRAGMA table_info({table})")}
    catalog.close()
    return {name: [name] for name in names}


def cell(name, spellings):
    """How it is written; a KeyError: nothing is called that any more."""
    return "" if name is None else ", ".join(f"`{one}`" for one in spellings[name])


def page():
    """The whole page."""
    surfaces = (options(), estimators(), verbs(), fields(), columns())
    lines = []
    for what, *names in THINGS:
        cells = [cell(name, known) for name, known in zip(names, surfaces, strict=True)]
        lines.append(f"| {what} | {' | '.join(cells)} |\n")
    methods = (f"| `{row.name}` | `{row.estimator_name}` | {row.sentence} |\n" for row in METHODS.values())
    return HEAD + "".join(lines) + METHOD_HEAD + "".join(methods)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
