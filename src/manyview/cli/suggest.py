"""``manyview suggest``: the tags that items lack, as a table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from ..figures import percent
from .stopping import stopped_at_once
from .talk import (
    SOME_BAD,
    CollectionPath,
    OldMinScore,
    print_bad,
    print_json,
    print_table,
    probability_of,
    progress,
    safe,
    say,
    spoken,
)

_KEPT = 5
"""Proposals per item that are kept, however few are shown."""
_LINES = (0.9, 0.7, 0.5)
_ORDERS = ("probability", "item", "tag")


@spoken
def suggest(
    collection: CollectionPath,
    top: Annotated[int, typer.Option(min=1, metavar="N", help="Proposals per item.")] = _KEPT,
    min_probability: Annotated[
        float | None, typer.Option(metavar="P", help="Only proposals at least this likely (0 to 1).")
    ] = None,
    tag: Annotated[str | None, typer.Option(metavar="TAG", help="Only this tag.")] = None,
    item: Annotated[str | None, typer.Option(metavar="ITEM", help="Only this item, by name or number.")] = None,
    by: Annotated[
        str, typer.Option(metavar="ORDER", help="Order of the table: probability, item or tag.")
    ] = "probability",
    rows: Annotated[int, typer.Option(min=0, metavar="N", help="Rows of the table; 0 shows all.")] = 30,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="PATH", help="Write all proposals to a .csv or .json file.")
    ] = None,
    completeness: Annotated[
        float | None, typer.Option(metavar="SHARE", help="Share of the true tags that are recorded, if you know it.")
    ] = None,
    rare_words: Annotated[
        bool, typer.Option("--rare-words", help="Propose rare words more often; more of the proposals are then wrong.")
    ] = False,
    first_tags: Annotated[
        bool, typer.Option("--first-tags", help="Words for pictures nobody has tagged, by what each cluster shows.")
    ] = False,
    each_picture: Annotated[
        bool, typer.Option("--each-picture", help="First tags picture by picture; less sure than by cluster.")
    ] = False,
    language: Annotated[
        str | None,
        typer.Option(
            metavar="CODE", help="Language of first tags: en, de, fr, es, it, pt or nl. Default: the last fit's."
        ),
    ] = None,
    only_open: Annotated[
        bool, typer.Option("--open", help="Compute nothing; list the proposals of the last run that are still open.")
    ] = False,
    doubtful: Annotated[
        bool, typer.Option("--doubtful", help="Instead, list recorded tags that do not seem to belong.")
    ] = False,
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed gives the same proposals.")] = 0,
    jobs: Annotated[int | None, typer.Option(metavar="N", help="Threads. Default: all cores.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    min_score: OldMinScore = None,
) -> None:
    """Propose the tags that items lack, each with a reason and how likely it is right.

    Of the proposals with probability 0.8, four in five should be right. The table lists what is worth asking: a
    probability of 0.5 or more. --min-probability 0 lists all. Nothing is changed until you accept.
    """
    from ..errors import ParameterError
    from ..workflow.collection import Collection
    from ..workflow.proposing.asking import how_sure, is_known
    from ..workflow.proposing.first_tags import first_tags as propose_first
    from ..workflow.proposing.suggest import line, suggest_tags
    from ..writeback.proposal_files import is_proposals, kind_of_file, write_proposals

    least = probability_of(min_probability, min_score)
    by = "probability" if by == "score" else by  # its old name
    if by not in _ORDERS:
        raise ParameterError(f"--by must be one of {', '.join(_ORDERS)}; got {by!r}.")
    if only_open and (first_tags or each_picture):
        raise ParameterError("--open computes nothing; leave it out, or --first-tags and --each-picture.")
    said: list[str] = []
    bad: list[Any] = []
    with stopped_at_once(), progress() as bar, Collection.open(collection, write=not only_open) as found:
        number = None if item is None else found.items.named(item).id
        if output is not None:
            found.check_output(output, is_proposals)
            kind_of_file(output)
        if first_tags or each_picture:
            by = "probability" if each_picture else "tag"
            done = propose_first(found, "picture" if each_picture else "cluster", language=language, progress=bar)
            said, bad = done.said, done.computed.bad
        elif not only_open:
            done = suggest_tags(
                found,
                top=max(top, _KEPT),
                completeness=completeness,
                rare_words=rare_words,
                seed=seed,
                n_jobs=jobs,
                progress=bar,
            )
            said, bad = done.said, done.computed.bad
        run = found.runs.get(kind="suggest")
        if doubtful:
            _print_doubtful(found, tag, number, rows, collection, as_json)
            return
        # The first rows of all proposals can be looked up, however many there are; anything else takes them all.
        is_first = output is None and not as_json and by == "probability" and number is None and rows > 0
        if is_first and top >= run.settings.get("top", top + 1):
            told = _first_rows(found, tag, least, rows)
        else:
            told = _all_rows(found, tag, number, least, top, by)
        lines = [(p, line(found, p, tag=tag)) for p in _LINES if item is None]
    sure = {(one.item_id, one.tag): how_sure(one, run) for one in told.proposals}
    if output is not None:
        write_proposals(output, told.table)
    if as_json:
        print_json(_plain(told, run, said, lines, sure, bad))
    else:
        counted = f"{told.n_worth} {'proposal is' if told.n_worth == 1 else 'proposals are'} worth asking"
        say(f"{safe(collection)}, run {run.id}: {counted}, {told.n_all - told.n_worth} less likely")
        for sentence in said or run.figures.get("said", ()):
            say(f"  {safe(sentence)}")
        say()
        if first_tags and not each_picture:
            _print_groups(told.table, collection)
        else:
            print_proposals(told.listed, lambda row: sure[row.id, row.tag], rows, told.n_listed)
            if told.listed:
                _print_lines(lines, collection, is_known(run))
            elif least:
                say("  none is that likely; --min-probability 0 lists the less likely ones")
            elif told.n_all:
                say("  none is more likely right than wrong; --min-probability 0 lists the less likely ones")
            else:
                say("  none is open: every item has these tags, or you have answered already")
        if output is not None:
            say(f"wrote {safe(output)}")
    print_bad(bad)
    if bad:
        raise typer.Exit(SOME_BAD)


class _Told(NamedTuple):
    """The proposals that were asked for, and how many there are."""

    proposals: list[Any]
    table: list[Any]
    """The same as people see them."""
    listed: list[Any]
    """Those of the table that are printed."""
    n_all: int
    n_worth: int
    """Those that are worth asking."""
    n_listed: int


def _first_rows(found: Any, tag: str | None, least: float | None, rows: int) -> _Told:
    """The likeliest, and the counts of all, without reading the others."""
    from ..workflow.proposing.asking import WORTH_ASKING
    from ..workflow.proposing.suggest import line, open_proposals
    from ..writeback.proposal_files import shown

    worth_least = max(least or 0.0, WORTH_ASKING)
    n_all, n_worth = (line(found, one, tag=tag).n for one in (least or 0.0, worth_least))
    n_listed, from_ = (n_worth, worth_least) if least is None else (n_all, least)
    proposals = open_proposals(found, tag=tag, min_probability=from_ or None, top=rows)
    table = shown(found, proposals)
    return _Told(proposals, table, table, n_all, n_worth, n_listed)


def _all_rows(found: Any, tag: str | None, item: int | None, least: float | None, top: int, by: str) -> _Told:
    """Every proposal, at most ``top`` of an item, in an order."""
    from ..workflow.proposing.asking import WORTH_ASKING
    from ..workflow.proposing.suggest import open_proposals
    from ..writeback.proposal_files import shown

    proposals = open_proposals(found, tag=tag, item=item, min_probability=least or None)
    table = shown(found, proposals, top)
    if by != "probability":
        table.sort(key=lambda row: row.id if by == "item" else row.tag)
    likely = {(one.item_id, one.tag) for one in proposals if (one.probability or 0.0) >= WORTH_ASKING}
    worth = [row for row in table if (row.id, row.tag) in likely]
    listed = table if least is not None else worth
    return _Told(proposals, table, listed, len(table), len(worth), len(listed))


def _plain(
    told: _Told, run: Any, said: list[str], lines: list[Any], sure: dict[tuple[int, str], str], bad: list[Any]
) -> dict[str, Any]:
    """The same for machines."""
    from ..workflow.proposing.asking import WORTH_ASKING

    table = told.table
    return {
        "run": run.id,
        "completeness": run.figures.get("completeness"),
        "completeness_source": run.figures.get("completeness_source"),
        "said": said,
        "worth_asking": {"min_probability": WORTH_ASKING, "n": told.n_worth},
        "expected_precision": sum(row.probability for row in table) / len(table) if table else None,
        "lines": [{"min_probability": p, "n": a.n, "expected_precision": a.expected_precision} for p, a in lines],
        "proposals": [{**row._asdict(), "sure": sure[row.id, row.tag]} for row in table],
        "bad": [problem._asdict() for problem in bad],
    }


def print_proposals(table: list[Any], sure: Callable[[Any], str], rows: int = 0, n_all: int | None = None) -> None:
    """A line per proposal: item, tag, how sure, reason; how many more there are, of ``n_all`` or of the table."""
    listed = table if rows <= 0 else table[:rows]
    if listed:
        cells = [(row.item, row.tag, sure(row), row.reason.partition(": ")[2]) for row in listed]
        print_table(("item", "tag", ">how sure", "reason"), cells)
    n_more = (len(table) if n_all is None else n_all) - len(listed)
    if n_more:
        say(f"  ... and {n_more} more; --rows 0 shows all, -o FILE.csv keeps them")


def _print_groups(table: list[Any], collection: Path) -> None:
    """A line per word, the surest first: one decision for all its pictures."""
    groups: dict[str, list[Any]] = {}
    for row in table:
        groups.setdefault(row.tag, []).append(row)
    right = {word: round(sum(row.probability for row in of) / len(of), 2) for word, of in groups.items()}
    found = sorted(groups.items(), key=lambda group: (-right[group[0]], -len(group[1]), group[0]))
    cells = [(f"{word}?", len(of), percent(right[word]), ", ".join(row.item for row in of[:3])) for word, of in found]
    if not cells:
        say("  no cluster shows something clearly enough; --each-picture looks at every picture by itself")
        return
    print_table(("first tag", ">pictures", ">should be right", "such as"), cells)
    say(f"\n  Next: manyview accept {safe(collection)} --tag {safe(found[0][0])}; or reject, for good")


def _print_lines(lines: list[Any], collection: Path, is_trusted: bool) -> None:
    say()
    for p, above in lines:
        if above.n and is_trusted:
            proposals = "1 proposal" if above.n == 1 else f"{above.n} proposals"
            say(
                f"  probability {p} and above: {proposals}, {percent(above.expected_precision)} of them should be right"
            )
    if not is_trusted:
        say("  Percentages need to know how complete your tags are: answer 30 proposals and run this again,")
        say("  or say how complete: --completeness 0.7; with 1 nothing is proposed for items that have tags")
    say(f"  Next: manyview serve {safe(collection)}, to answer in the browser; or")
    say(f"  manyview accept {safe(collection)} --at-least 0.8, which asks about some and accepts many, guaranteed.")
    say("  Without a guarantee: accept --min-probability 0.9, or --item NAME --tag WORD. To say no: reject")


def _print_doubtful(found: Any, tag: str | None, item: int | None, rows: int, collection: Path, as_json: bool) -> None:
    """Recorded tags that may be mistakes."""
    doubts = [one for one in found.doubtful() if tag in (None, one.tag) and item in (None, one.item_id)]
    names = found.runs.rows.item_names(one.item_id for one in doubts)
    if as_json:
        print_json({"doubtful": [{**one._asdict(), "item": names[one.item_id]} for one in doubts]})
        return
    say(f"{safe(collection)}: {len(doubts)} recorded {'tag is' if len(doubts) == 1 else 'tags are'} doubtful")
    listed = doubts if rows <= 0 else doubts[:rows]
    if listed:
        cells = [(names[one.item_id], one.tag, one.reason.partition(": ")[2]) for one in listed]
        print_table(("item", "tag", "reason"), cells)
    if len(listed) < len(doubts):
        say(f"  ... and {len(doubts) - len(listed)} more; --rows 0 shows all")
    if doubts:
        say(f"  Next: manyview reject {safe(collection)} --item NAME --tag WORD takes one away; accept keeps it")
