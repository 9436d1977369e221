"""How the command line talks: sentences and tables on stdout, progress on stderr, errors without a traceback."""

from __future__ import annotations

import functools
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from ..errors import ManyviewError, OldFormat, ParameterError
from ..figures import counted, percent
from ..steps import STEP, seconds_left, still
from .stopping import INTERRUPTED, STOPPED

__all__ = [
    "FAILED",
    "SOME_BAD",
    "CollectionPath",
    "OldMinScore",
    "files_and_rows",
    "given",
    "print_bad",
    "print_json",
    "print_table",
    "probability_of",
    "progress",
    "safe",
    "say",
    "settings",
    "spoken",
]

Command = TypeVar("Command", bound=Callable[..., Any])

FAILED, USED_WRONGLY, SOME_BAD = 1, 2, 3


class _Settings:
    debug = False


settings = _Settings()
"""What was asked for before the name of the command."""


def spoken(command: Command) -> Command:
    """Turn errors into one sentence and an exit code."""

    @functools.wraps(command)
    def guarded(*args: Any, **kwargs: Any) -> None:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _note  # type: ignore[assignment]
                try:
                    command(*args, **kwargs)
                except OldFormat as old:  # nothing was done yet: a collection is opened first of all
                    _bring_up_to_date(old)
                    command(*args, **kwargs)
        except typer.Exit:
            raise
        except KeyboardInterrupt:
            typer.echo(STOPPED, err=True)
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:  # the reader of a pipe has seen enough
            sys.stderr.close()
            raise typer.Exit(0) from None
        except Exception as error:
            if settings.debug:
                raise
            error = _in_our_words(error, (*args, *kwargs.values()))
            known = isinstance(error, (ManyviewError, OSError))
            sentence = str(error) if known else f"something went wrong inside manyview: {type(error).__name__}: {error}"
            typer.echo(f"error: {safe(sentence, lines=True)}", err=True)
            if not known:
                typer.echo("Run it again as `manyview --debug ...` to see where.", err=True)
            raise typer.Exit(USED_WRONGLY if isinstance(error, ParameterError) else FAILED) from None

    return guarded  # type: ignore[return-value]


def _bring_up_to_date(old: OldFormat) -> None:
    """Make a collection of an older format one of this; where it cannot be written, what was said of it stands."""
    from ..workflow.collection import Collection

    try:
        Collection.open(old.root, write=True).close()
    except (ManyviewError, OSError):
        raise old from None
    _note(f"{old.root} was written by an older manyview, and has been brought up to date.")


def _in_our_words(error: Exception, given: Sequence[Any]) -> Exception:
    """An error that nobody foresaw may come from a damaged catalogue: then it is that."""
    if isinstance(error, (ManyviewError, OSError)):
        return error
    from ..collection.catalog import damaged
    from ..collection.layout import CATALOG
    from ..workflow.repair import damage_of

    for path in given:
        if isinstance(path, Path) and (path / CATALOG).is_file() and (why := damage_of(path)):
            return damaged(path, why)
    return error


def _note(message: Any, *_: Any) -> None:
    """A warning as a sentence, without the line of code it comes from."""
    typer.echo(f"note: {safe(message, lines=True)}", err=True)


CollectionPath = Annotated[Path, typer.Argument(metavar="NAME.manyview", help="The collection.")]
"""The first argument of nearly every command."""

OldMinScore = Annotated[float | None, typer.Option("--min-score", hidden=True)]
"""What ``--min-probability`` was called; it goes with the next release."""


def probability_of(given: float | None, old: float | None) -> float | None:
    """``--min-probability``, from 0 to 1, which may still be given by its old name."""
    from ..data.checks import check_number

    for one in (given, old):
        if one is not None:
            check_number("min_probability", one, low=0, high=1)
    if old is None:
        return given
    if given is not None:
        raise ParameterError("--min-score is the old name of --min-probability; give --min-probability alone.")
    typer.echo("note: --min-score is called --min-probability now; the old name goes with the next release.", err=True)
    return old


def given(options: dict[str, Any]) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name, value in options.items() if value is not None}


def safe(text: Any, *, lines: bool = False) -> str:
    """A stranger's text for the terminal: control characters and half characters are shown, not obeyed."""
    kept = _JOINERS + ("\n" if lines else "")
    return "".join(char if char.isprintable() or char in kept else _shown(char) for char in str(text))


_JOINERS = "\u200c\u200d"
"""Parts of Persian words, and of signs such as a family, that steer nothing."""


def _shown(char: str) -> str:
    if "\udc80" <= char <= "\udcff":  # a byte of a name that is no UTF-8
        return f"\\x{ord(char) - 0xDC00:02x}"
    return char.encode("unicode_escape").decode("ascii")


def say(text: str = "") -> None:
    typer.echo(text)


def print_json(value: Any) -> None:
    is_utf_8 = (sys.stdout.encoding or "utf-8").lower() in ("utf-8", "utf8")  # else in letters that all encodings have
    text = json.dumps(value, ensure_ascii=not is_utf_8, default=str)
    typer.echo(text.encode("utf-8", "backslashreplace").decode("utf-8"))


def print_table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Columns side by side; numbers to the right. A header that starts with ">" is a column of numbers."""
    from rich.cells import cell_len

    right = [name.startswith(">") for name in header]
    names = [name.removeprefix(">") for name in header]
    cells = [[safe(cell) for cell in row] for row in rows]
    widths = [_room([cell_len(name), *(cell_len(row[c]) for row in cells)]) for c, name in enumerate(names)]
    for row in (names, *cells):
        rooms = [" " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
        parts = [
            room + cell if at_right else cell + room for cell, room, at_right in zip(row, rooms, right, strict=True)
        ]
        typer.echo("  " + "  ".join(parts).rstrip())


def _room(widths: Sequence[int]) -> int:
    """How wide a column is; what is far longer than the rest, such as one tag of 300 letters, sticks out alone."""
    usual = max(60, 2 * sorted(widths)[len(widths) // 2])
    return max((width for width in widths if width <= usual), default=usual)


def files_and_rows(problems: Sequence[Any]) -> str:
    """How many files and rows of tables problems are about; a row is called by its table and number."""
    n_rows = sum(problem.path.rpartition(":")[2].isdecimal() and ":" in problem.path for problem in problems)
    parts = ((len(problems) - n_rows, "file"), (n_rows, "row"))
    return " and ".join(counted(n, what) for n, what in parts if n)


def print_bad(bad: Sequence[Any], limit: int = 20) -> None:
    """The files and rows that could not be used, on stderr, each with its reason."""
    if not bad:
        return
    typer.echo(f"{files_and_rows(bad)} could not be used:", err=True)
    for problem in bad[:limit]:
        typer.echo(f"  {safe(problem.path)}: {safe(problem.sentence)}", err=True)
    if len(bad) > limit:
        typer.echo(f"  ... and {len(bad) - limit} more; `manyview doctor NAME.manyview` lists all of them", err=True)


@contextmanager
def progress() -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar on stderr with the time that is left, where that is a terminal; nothing elsewhere.

    Work in steps ("fitting: members") has one bar, which says the step, and how much of the time has passed. With
    ``MANYVIEW_PROGRESS=json`` it is a JSON object a line, for a program that watches: stage, done, of.
    """
    if os.environ.get("MANYVIEW_PROGRESS") == "json":
        yield _progress_lines()
        return
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[count]}")
    with Progress(*columns, TextColumn("{task.fields[left]}"), console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}
        started: dict[str, float] = {}

        def report(what: str, done: int, total: int) -> None:
            work, in_steps, _ = what.partition(STEP)
            if work not in tasks:
                tasks[work] = bar.add_task(work, total=total, count="", left="")
                started[work] = time.monotonic()
            count = percent(done / max(1, total)) if in_steps else f"{done}/{total}"
            left = seconds_left(time.monotonic() - started[work], done, total)
            told = "" if left is None else still(left)
            bar.update(tasks[work], description=what, completed=done, total=total, count=count, left=told)

        yield report


_SOONEST = 0.2
"""Seconds between two lines about the same stage."""


def _progress_lines() -> Callable[[str, int, int], None]:
    last: dict[str, float] = {}

    def report(what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if what not in last or done >= total or now - last[what] >= _SOONEST:
            last[what] = now
            typer.echo(json.dumps({"stage": what, "done": done, "of": total}), err=True)

    return report
