"""Scripts and notebooks as cells of words and code, and what the code prints, draws and returns.

A script is cut at lines that begin with ``# %%``: the comment that follows is Markdown, the rest is code. Its docstring
comes first.
"""

from __future__ import annotations

import ast
import contextlib
import html
import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Cell", "Outcome", "read_notebook", "read_script", "run_cells"]


@dataclass(frozen=True)
class Cell:
    """A piece of a page: Markdown where ``is_code`` is false."""

    text: str
    is_code: bool


@dataclass
class Outcome:
    """What running a cell left: printed lines, pictures (by ``draw``) and the value of its last line."""

    cell: Cell
    printed: str = ""
    pictures: list[str] = field(default_factory=list)
    value_html: str = ""


def read_script(path: Path) -> list[Cell]:
    """The cells of a script."""
    text = path.read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(text)) or ""
    body = re.sub(r'\A"""(?:.|\n)*?"""\n', "", text)
    cells = [Cell("# " + docstring.replace("``", "`"), False)]
    for part in re.split(r"^# %%[^\n]*\n", body, flags=re.MULTILINE):
        words, code = _cut(part)
        cells += [Cell(words, False)] if words else []
        cells += [Cell(code, True)] if code else []
    return cells


def _cut(part: str) -> tuple[str, str]:
    """The comment that a part begins with, without its marks, and the code below it."""
    lines = part.splitlines()
    first = next((number for number, line in enumerate(lines) if not line.startswith("#")), len(lines))
    words = "\n".join(line[1:].removeprefix(" ") for line in lines[:first])
    return words.strip(), "\n".join(lines[first:]).strip()


def read_notebook(path: Path) -> list[Cell]:
    """The cells of a notebook."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    texts = [("".join(cell["source"]), cell["cell_type"] == "code") for cell in stored["cells"]]
    return [Cell(text.strip(), is_code) for text, is_code in texts if text.strip()]


def run_cells(cells: list[Cell], name: str, draw: Callable[[Any], list[str]] | None = None) -> Iterator[Outcome]:
    """Run the code in one namespace, cell by cell; ``draw`` keeps values and open figures as pictures."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in cells:
        done = Outcome(cell)
        if cell.is_code:
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                value = _run(cell.text, name, names)
            done.printed = said.getvalue()
            if draw is not None:
                done.pictures = draw(value)
            if value is not None and not done.pictures:
                done.value_html = _as_html(value)
        yield done


def _run(text: str, name: str, names: dict[str, Any]) -> Any:
    """The value of the last line where it is an expression, as a notebook shows it."""
    tree = ast.parse(text, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), names)  # noqa: S102  our own examples
    if last is None:
        return None
    value = eval(compile(ast.Expression(last.value), name, "eval"), names)  # noqa: S307
    return None if text.rstrip().endswith(";") else value


def _as_html(value: Any) -> str:
    if hasattr(value, "_repr_html_") and (shown := value._repr_html_()):
        return str(shown)
    return f"<pre>{html.escape(repr(value))}</pre>"
