"""``manyview accept --at-least``: asks about random ones of the likeliest proposals, and accepts the rest when enough
of them were right."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import typer

from ..figures import percent
from .talk import FAILED, print_json, safe, say

__all__ = ["accept_at_least"]

_PATIENCE = 120.0
"""Seconds to wait for others that are writing."""


def accept_at_least(
    path: Path, share: float, tag: str | None, who: str | None, *, dry_run: bool, as_json: bool
) -> None:
    """The whole conversation; nothing is locked while it waits for a person."""
    from ..workflow.collection import Collection
    from ..workflow.proposing.audit import accept_rest, answer_question, plan_audit, start_audit, take_back

    def write(change: Any, *args: Any, **options: Any) -> Any:
        with Collection.open(path, write=True, wait=_PATIENCE) as found:
            return change(found, *args, who=who, **options)

    tell = _to_stderr if as_json else say
    if dry_run:
        with Collection.open(path) as found:
            told = plan_audit(found, share, tag=tag)
        if as_json:
            print_json({**told._asdict(), "share": share, "is_worth_it": told.is_worth_it})
        else:
            _say_plan(tell, told, share)
        return
    audit = write(start_audit, share, tag=tag)
    if audit.now.asked == 0:
        with Collection.open(path) as found:
            _say_plan(tell, plan_audit(found, share, tag=tag), share)
    else:
        tell(f"continuing after {audit.now.asked} answers, {audit.now.right} of them yes")
    if audit.question is not None:
        tell("  y: right   n: wrong   u: undo the last answer   q: stop, and continue later")
    while audit.question is not None:
        letter = _ask(path, audit, tell)
        if letter in ("y", "n"):
            audit = write(answer_question, audit.id, audit.question, letter == "y")
        elif letter == "u":
            audit = write(take_back, audit.id)
        elif letter in ("q", ""):
            tell("stopped; every answer is kept, and the same command continues from there")
            break
        else:
            tell("  please answer y, n, u or q")
    entry = write(accept_rest, audit.id) if audit.now.verdict == "proved" and audit.n_rest else None
    if as_json:
        now = audit.now
        told_now = {"verdict": now.verdict, "share": share, "of": now.n, "asked": now.asked, "right": now.right}
        print_json({**told_now, "accepted": audit.n_rest, "entry": None if entry is None else entry.id})
    elif entry is not None:
        say(f"{safe(entry.summary)} (entry {entry.id}; `manyview undo` takes it back)")
    elif audit.now.verdict == "proved":
        say(f"all {audit.now.n} are answered: {audit.now.right} yes")
    elif audit.now.verdict == "given up":
        say(
            f"{percent(share)} cannot be guaranteed: {audit.now.right} of {audit.now.asked} answers were yes. They are "
            "kept;"
        )
        say("nothing else was accepted. Try a smaller share, or run `manyview suggest` again: it learns from answers.")
    if audit.now.verdict != "proved":
        raise typer.Exit(FAILED)


def _say_plan(tell: Any, told: Any, share: float) -> None:
    if told.n == 0:
        tell(f"no proposals are likely enough to guarantee {percent(share)}")
        return
    tell(f"{told.n} proposals are likely enough to try for {percent(share)}.")
    if told.reached < 0.5:
        tell("If their probabilities are right, it will hardly be reached; try a smaller share.")
        return
    tell(f"If their probabilities are right, about {told.answers} answers bring about {told.tags} tags.")
    if not told.is_worth_it:
        tell(
            "That saves little: you would answer most of these yourself. `manyview serve` shows them one by one, or "
            "24 at a time."
        )


def _ask(path: Path, audit: Any, tell: Any) -> str:
    """One question; the first letter of the answer, "" where nobody answers any more."""
    from ..workflow.collection import Collection

    with Collection.open(path) as found:
        item = found.items.get(audit.question.item_id)
    tell(f"  {audit.now.asked + 1:3d}  {safe(item.path or item.key)}")
    typer.echo(f"       {safe(audit.question.tag)}? ", nl=False, err=True)
    if sys.stdin.isatty():
        letter = typer.getchar(echo=True)
        typer.echo(err=True)
    else:
        letter = sys.stdin.readline().strip()
    return letter[:1].lower()


def _to_stderr(text: str = "") -> None:
    typer.echo(text, err=True)
