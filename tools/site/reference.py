"""The reference: every public name from its docstring, every command from its own help."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

import click
from typer.main import get_command

import manyview
from manyview.cli.main import app

from .sections import SECTIONS
from .staging import contents, write

__all__ = ["GROUPS", "MODULES", "command_page", "members", "write_reference"]

# The public names of the package by what they are for; a test compares them with ``manyview.__all__``.
GROUPS = {
    "Data": ("Views", "TagTable", "TagHierarchy", "Collection", "on"),
    "Clusters": (
        "ConsensusClustering",
        "RobustMultiviewKMeans",
        "FusionART",
        "TagForest",
        "AnnotatedPLSA",
        "PLSA",
        "annotation_matrix",
        "CrossModalClustering",
        "AcceleratedKMeans",
        "HierarchicalKMeans",
        "ConcatenatedKMeans",
        "SingleViewKMeans",
        "suggest_n_clusters",
    ),
    "Tags": ("TagCompleter", "hidden_tags_experiment"),
    "Transformers": ("CanonicalFusion", "AssociationNetwork", "BagOfWords", "LocalityCoding"),
    "Names and reports": ("name_clusters", "cluster_profiles", "explain_item", "ClusterReport", "write_report"),
    "Keeping models": ("save", "load"),
}
MODULES = {
    "metrics": "Measures of clusters and of proposed tags.",
    "datasets": "Collections that ship with the package.",
    "features": "From pictures, clips and texts to views.",
    "meaning": "What pictures show, in words.",
    "completion": "What `TagCompleter` proposes.",
    "evaluation": "The experiment that hides tags and looks for them.",
    "errors": "Errors and warnings.",
    "testing": "Checks for estimators of your own.",
}


def write_reference(target: Path) -> None:
    """The first page of the section, a page for each public name or module, and the page of the commands."""
    section = next(one for one in SECTIONS if one.name == "reference")
    lines = [f"# {section.title}", "", section.words, ""]
    lines += ["- [Every command](commands.md), with its options", "- [Every public name in one list](names.md)"]
    lines += ["- [One word for one thing](words.md): command line, Python, web and disk", ""]
    for caption, names in GROUPS.items():
        lines += [f"## {caption}", "", "| name | what it is |", "| --- | --- |"]
        for name in names:
            thing = getattr(manyview, name)
            lines.append(f"| [`{name}`](api/{name}.rst) | {_first_line(thing)} |")
            write(target / f"reference/api/{name}.rst", _thing_page(name, thing))
        lines.append("")
    lines += ["## Modules", "", "| module | what is in it |", "| --- | --- |"]
    for name, words in MODULES.items():
        lines.append(f"| [`manyview.{name}`](api/{name}.rst) | {words} |")
        write(target / f"reference/api/{name}.rst", _module_page(name, getattr(manyview, name)))
    write(target / "reference/commands.md", command_page())
    listed = "\n".join(lines) + "\n"
    for caption, names in GROUPS.items():
        listed += contents([f"api/{name}" for name in names], hidden=True, caption=caption)
    listed += contents([f"api/{name}" for name in MODULES], hidden=True, caption="Modules")
    listed += contents(["commands", "names", "words"], hidden=True, caption="More")
    write(target / "reference/index.md", listed)


def _first_line(thing: Any) -> str:
    words = (inspect.getdoc(thing) or "").split("\n\n")[0]
    return " ".join(words.split()).replace("``", "`").replace("|", "\\|")


def members(thing: type) -> list[str]:
    """The public methods and properties that manyview itself gives a class, base classes first asked last."""
    found: dict[str, None] = {}
    for base in thing.__mro__:
        if base.__module__.startswith("manyview"):
            for name, value in vars(base).items():
                kind = inspect.isfunction(value) or isinstance(value, (property, classmethod, staticmethod))
                if kind and not name.startswith("_") and inspect.getdoc(getattr(thing, name)):
                    found[name] = None
    return list(found)


def _thing_page(name: str, thing: Any) -> str:
    return f"{name}\n{'=' * len(name)}\n\n.. currentmodule:: manyview\n\n" + _directive(name, f"manyview.{name}", thing)


def _module_page(name: str, module: ModuleType) -> str:
    title = f"manyview.{name}"
    parts = [f"{title}\n{'=' * len(title)}\n", f".. automodule:: {title}\n", f".. currentmodule:: {title}\n"]
    public = [one for one in module.__all__ if one not in manyview.__all__]
    parts += [_directive(one, f"{title}.{one}", getattr(module, one)) for one in public]
    elsewhere = [one for one in module.__all__ if one in manyview.__all__]
    if elsewhere:
        parts.append("See also " + ", ".join(f":doc:`{one}`" for one in elsewhere) + ".\n")
    return "\n".join(parts)


def _directive(name: str, where: str, thing: Any) -> str:
    if not inspect.isclass(thing):
        return f".. autofunction:: {where}\n"
    if issubclass(thing, BaseException):
        return f".. autoexception:: {where}\n"
    shown = members(thing)
    return f".. autoclass:: {where}\n" + (f"   :members: {', '.join(shown)}\n" if shown else "")


def command_page() -> str:
    """Every command with its arguments and options, from what ``--help`` says."""
    top = get_command(app)
    assert isinstance(top, click.Group) or hasattr(top, "commands")
    lines = ["# Every command", "", f"{top.help} This page is made from what `--help` says.", ""]
    lines += ["| command | what it does |", "| --- | --- |"]
    for name, command in top.commands.items():
        lines.append(f"| [`manyview {name}`](#manyview-{name}) | {_cell(_sentence(command.help))} |")
    lines += ["", _cell(top.epilog or ""), ""]
    for name, command in top.commands.items():
        lines += _command(f"manyview {name}", command, 2)
    return "\n".join(lines) + "\n"


def _command(name: str, command: Any, depth: int) -> list[str]:
    context = command.make_context(name, [], resilient_parsing=True)
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [f"{'#' * depth} {name}", "", f"```text\n{name} {usage}\n```", "", (command.help or "").strip(), ""]
    shown = [part for part in command.params if not getattr(part, "hidden", False)]
    for caption, kind in (("argument", "argument"), ("option", "option")):
        parts = [part for part in shown if part.param_type_name == kind]
        if parts:
            lines += [f"| {caption} | what it does |", "| --- | --- |"]
            lines += [_parameter(part, context) for part in parts] + [""]
    if command.epilog:
        lines += [command.epilog, ""]
    for below, one in getattr(command, "commands", {}).items():
        lines += _command(f"{name} {below}", one, depth + 1)
    return lines


def _parameter(part: Any, context: click.Context) -> str:
    if part.param_type_name == "argument":
        record = part.get_help_record(context)
        name, words = record if record else (part.make_metavar(context), part.help or "")
        return f"| `{name}` | {_cell(words)} |"
    name, words = part.get_help_record(context)
    return f"| `{name}` | {_cell(words)} |"


def _sentence(words: str | None) -> str:
    text = " ".join((words or "").split())
    return text.split(". ")[0].rstrip(".") + "." if text else ""


def _cell(words: str) -> str:
    return " ".join(words.split()).replace("|", "\\|").replace("<", "&lt;").replace("[", "\\[")
