"""``manyview accept`` and ``manyview reject``: a person's word on proposals."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import ParameterError
from ..figures import counted, percent
from .talk import CollectionPath, OldMinScore, print_json, probability_of, safe, say, spoken

_PATIENCE = 120.0
"""Seconds to wait for others that are writing."""

_Item = Annotated[
    list[str] | None,
    typer.Option(metavar="ITEM", help="Open proposals of this item, by name or number (repeatable)."),
]
_Tag = Annotated[
    str | None,
    typer.Option(
        metavar="TAG",
        help="Open proposals of this tag, the likely ones (--all: every one); with --item that pair, proposed or not.",
    ),
]
_Probability = Annotated[float | None, typer.Option(metavar="P", help="Open proposals at least this likely (0 to 1).")]
_All = Annotated[
    bool, typer.Option("--all", help="Every open proposal, or every one of the item or tag; unlikely ones too.")
]
_From = Annotated[
    Path | None,
    typer.Option(
        "--from",
        metavar="FILE",
        help="The pairs of a file, such as one of `suggest -o`; yes and no in its column answer count, row by row.",
    ),
]
_Reviewed = Annotated[
    bool, typer.Option("--reviewed", help="You looked at each one, so the answers show how complete the tags are.")
]
_Who = Annotated[str | None, typer.Option(metavar="NAME", help="Who decides. Default: your user name.")]
_Why = Annotated[str | None, typer.Option(metavar="TEXT", help="The reason, kept with the answers.")]
_AtLeast = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        help="Guarantee that at least this share is right (such as 0.8): you are asked about a random sample first.",
    ),
]
_DryRun = Annotated[
    bool, typer.Option("--dry-run", help="With --at-least: only say how many answers it takes and what it brings.")
]
_Yes = Annotated[
    bool,
    typer.Option(
        "--yes", help="With --min-probability: do not ask first, even where probabilities are only estimated."
    ),
]
_Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@spoken
def accept(
    collection: CollectionPath,
    item: _Item = None,
    tag: _Tag = None,
    min_probability: _Probability = None,
    everything: _All = False,
    pairs_from: _From = None,
    reviewed: _Reviewed = False,
    who: _Who = None,
    why: _Why = None,
    yes: _Yes = False,
    at_least: _AtLeast = None,
    dry_run: _DryRun = False,
    as_json: _Json = False,
    min_score: OldMinScore = None,
) -> None:
    """Say yes to proposals, by item, tag or probability. One entry of the history; `undo` takes it back.

    --at-least 0.8 asks you about a random sample of the likeliest, and accepts the rest once your answers show,
    with 95 % confidence, that at least 80 % of them are right.
    """
    least = probability_of(min_probability, min_score)
    if at_least is not None:
        from .audit import accept_at_least

        if item or least is not None or everything or pairs_from is not None:
            raise ParameterError("--at-least chooses the proposals by itself; only --tag can be combined with it.")
        accept_at_least(collection, at_least, tag, who, dry_run=dry_run, as_json=as_json)
        return
    if dry_run:
        raise ParameterError("--dry-run belongs to --at-least.")
    if least is not None and not yes:
        _ask_first(collection, as_json)
    _decide(True, collection, item, tag, least, everything, pairs_from, reviewed, who, why, as_json)


@spoken
def reject(
    collection: CollectionPath,
    item: _Item = None,
    tag: _Tag = None,
    min_probability: _Probability = None,
    everything: _All = False,
    pairs_from: _From = None,
    reviewed: _Reviewed = False,
    who: _Who = None,
    why: _Why = None,
    as_json: _Json = False,
    min_score: OldMinScore = None,
) -> None:
    """Say no to proposals, by item, tag or probability: they are not made again. `undo` takes it back."""
    least = probability_of(min_probability, min_score)
    _decide(False, collection, item, tag, least, everything, pairs_from, reviewed, who, why, as_json)


def _ask_first(path: Path, as_json: bool) -> None:
    """Where it is not known how complete the tags are, a line of probability says little: a person is asked, a script
    is told."""
    from ..workflow.collection import Collection
    from ..workflow.proposing.asking import ENOUGH_ANSWERS, is_known

    with Collection.open(path) as found:
        run = found.runs.newest("suggest")
        n_answers = len(found.decisions.reviewed())
    if run is None or is_known(run):
        return
    if n_answers >= ENOUGH_ANSWERS:
        how = f"You have given {n_answers} answers: run `manyview suggest` again to use them"
    else:
        left = ENOUGH_ANSWERS - n_answers
        how = f"To know better, answer {left} proposals (`manyview serve`) and run `manyview suggest` again"
    typer.echo(f"note: for items that have tags already, the probabilities are only estimates. {how};", err=True)
    typer.echo("      or use --at-least 0.8, which asks about some of them and guarantees the rest.", err=True)
    if sys.stdin.isatty() and not as_json and not typer.confirm("Accept all of them anyway?", err=True):
        raise typer.Exit(0)


def _decide(
    answer: bool,
    path: Path,
    items: list[str] | None,
    tag: str | None,
    min_probability: float | None,
    everything: bool,
    pairs_from: Path | None,
    reviewed: bool,
    who: str | None,
    why: str | None,
    as_json: bool,
) -> None:
    from ..workflow.collection import Collection
    from ..workflow.proposing.asking import WORTH_ASKING
    from ..workflow.proposing.decide import accept, choose, reject

    if everything and min_probability is not None:
        raise ParameterError("--all and --min-probability exclude each other; give one.")
    if pairs_from is not None:
        if items or tag or everything or min_probability is not None:
            raise ParameterError("--from names the pairs; leave --item, --tag, --min-probability and --all out.")
        _decide_from(pairs_from, answer, path, who, why, as_json)
        return
    n_unlikely = n_left = 0
    with Collection.open(path, write=True, wait=_PATIENCE) as found, found.transaction():
        numbers = [found.items.named(name).id for name in items or ()]
        line = 0.0 if everything else min_probability
        chosen: dict[str, Any] = {"tag": tag, "items": numbers or None}
        takes_likely = answer and line is None and bool(items) != bool(tag)
        if takes_likely:
            line = WORTH_ASKING
        pairs, is_reviewed = choose(found, min_probability=line, **chosen)
        if answer and not is_reviewed:
            n_likely = len(choose(found, min_probability=max(line or 0.0, WORTH_ASKING), **chosen)[0])
            n_unlikely = len(pairs) - n_likely
        if takes_likely:
            n_left = len(choose(found, min_probability=0.0, **chosen)[0]) - len(pairs)
        entry: Any = None
        known = set() if why else found.decisions.repeated(pairs, answer, is_reviewed or reviewed)
        pairs = [pair for pair in pairs if pair not in known]
        if pairs:
            decide = accept if answer else reject
            entry = decide(found, pairs, who=who, why=why, reviewed=is_reviewed or reviewed)
        has_files = found.writes.has_files()
    if as_json:
        print_json(_told(entry, answer, pairs, {"unlikely": n_unlikely, "left_out": n_left}))
        return
    _say_known(len(known), bool(pairs))
    if entry is None and not known:
        say("no open proposal matches; nothing was changed")
    if entry is not None:
        _say_entry(entry, pairs, n_unlikely)
    if entry is not None and answer:
        _say_next(path, has_files)
    if n_left:
        say(f"{n_left} more {'is' if n_left == 1 else 'are'} {_below()}; --all takes them too")


def _decide_from(file: Path, answer: bool, path: Path, who: str | None, why: str | None, as_json: bool) -> None:
    """The pairs of a file: each by its own answer, where the file has answers, else all of them alike."""
    from ..workflow.collection import Collection
    from ..workflow.proposing.decide import accept, count_unlikely, reject
    from ..writeback.proposal_files import read_answers

    with Collection.open(path, write=True, wait=_PATIENCE) as found, found.transaction():
        rows = read_answers(found, file)
        has_answers = any(row.answer is not None for row in rows)
        if has_answers and not answer:
            raise ParameterError(
                f"{file} has answers in its column `answer`: `manyview accept --from` takes each row by its answer. "
                "Nothing was changed; to say no to all of them, leave that column out."
            )
        parts = {
            one: [(row.item, row.tag) for row in rows if (row.answer if has_answers else answer) is one]
            for one in (True, False)
        }
        n_open = sum(row.answer is None for row in rows) if has_answers else 0
        known = {one: set() if why else found.decisions.repeated(parts[one], one, True) for one in parts}
        parts = {one: [pair for pair in pairs if pair not in known[one]] for one, pairs in parts.items()}
        n_unlikely = count_unlikely(found, parts[True]) if answer and not has_answers else 0
        new = [tag for tag in dict.fromkeys(tag for _, tag in parts[True]) if found.tagging.find(tag) is None]
        entries = {
            one: (accept if one else reject)(found, pairs, who=who, why=why, reviewed=True)
            for one, pairs in parts.items()
            if pairs
        }
        has_files = found.writes.has_files()
    if as_json:
        more = {"unlikely": n_unlikely, "left_out": n_open, "new_tags": new}
        told = _told(entries.get(answer), answer, parts[answer], more)
        if has_answers:
            told["rejected"] = _told(entries.get(False), False, parts[False], {})
        print_json(told)
        return
    _say_known(sum(map(len, known.values())), bool(entries))
    for one, entry in entries.items():
        _say_entry(entry, parts[one], n_unlikely if one else 0)
    if new:
        named = ", ".join(repr(safe(tag)) for tag in new[:5]) + (", ..." if len(new) > 5 else "")
        say(f"{counted(len(new), 'tag is', 'tags are')} new in this collection: {named}")
    if n_open:
        say(f"{n_open} without an answer {'stays' if n_open == 1 else 'stay'} open")
    elif answer and entries and not has_answers:
        say(f"no row had an answer (yes or no in a column `answer`), so all {len(rows)} were accepted")
    if True in entries:
        _say_next(path, has_files)


def _told(entry: Any, answer: bool, pairs: list[tuple[int, str]], more: dict[str, Any]) -> dict[str, Any]:
    """What was decided, for machines."""
    return {
        "entry": None if entry is None else entry.id,
        "answer": answer,
        "pairs": len(pairs),
        "items": len({number for number, _ in pairs}),
        **(more if answer else {}),
        "who": None if entry is None else entry.who,
    }


def _say_known(n_known: int, is_more: bool) -> None:
    if n_known:
        said = counted(n_known, "answer was", "answers were")
        say(f"{said} the same before{'' if is_more else '; nothing was changed'}")


def _say_entry(entry: Any, pairs: list[tuple[int, str]], n_unlikely: int) -> None:
    n_items = len({number for number, _ in pairs})
    unlikely = f"; {n_unlikely} of them {_below()}" if n_unlikely else ""
    say(f"{safe(entry.summary)} (entry {entry.id}, {n_items} {'item' if n_items == 1 else 'items'}{unlikely})")


def _below() -> str:
    from ..workflow.proposing.asking import WORTH_ASKING

    return f"less likely than {percent(WORTH_ASKING)}"


def _say_next(path: Path, has_files: bool) -> None:
    how = (
        "--to xmp --dry-run shows what would be written" if has_files else "--to csv -o FILE writes all tags to a table"
    )
    say(f"Next: manyview apply {safe(path)} {how}; undo takes it back")
