"""``manyview accept`` and ``manyview reject``: a person's word on proposals."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .talk import print_json, safe, say, spoken

_PATIENCE = 120.0
"""Seconds to wait for others that are writing."""

_Collection = Annotated[Path, typer.Argument(help="NAME.manyview")]
_Item = Annotated[list[str] | None, typer.Option(help="An item, by its name or number; may be repeated.")]
_Tag = Annotated[str | None, typer.Option(help="A tag; with --item that very pair, proposed or not.")]
_Score = Annotated[float | None, typer.Option(help="Open proposals that are at least so likely.")]
_All = Annotated[bool, typer.Option("--all", help="Every open proposal.")]
_From = Annotated[
    Path | None, typer.Option("--from", help="The pairs in a file, such as `suggest -o` wrote, after you edited it.")
]
_Reviewed = Annotated[
    bool, typer.Option("--reviewed", help="You looked at each: the answers tell how complete the tags are.")
]
_Who = Annotated[str | None, typer.Option(help="Who says so; the user when not given.")]
_Why = Annotated[str | None, typer.Option(help="A word on why, kept with the answers.")]
_Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@spoken
def accept(
    collection: _Collection,
    item: _Item = None,
    tag: _Tag = None,
    min_score: _Score = None,
    everything: _All = False,
    pairs_from: _From = None,
    reviewed: _Reviewed = False,
    who: _Who = None,
    why: _Why = None,
    as_json: _Json = False,
) -> None:
    """Say yes to proposals, by item, tag or score. One entry of the history; `undo` takes it back."""
    _decide(True, collection, item, tag, min_score, everything, pairs_from, reviewed, who, why, as_json)


@spoken
def reject(
    collection: _Collection,
    item: _Item = None,
    tag: _Tag = None,
    min_score: _Score = None,
    everything: _All = False,
    pairs_from: _From = None,
    reviewed: _Reviewed = False,
    who: _Who = None,
    why: _Why = None,
    as_json: _Json = False,
) -> None:
    """Say no to proposals, by item, tag or score: they are not made again. `undo` takes it back."""
    _decide(False, collection, item, tag, min_score, everything, pairs_from, reviewed, who, why, as_json)


def _decide(
    answer: bool,
    path: Path,
    items: list[str] | None,
    tag: str | None,
    min_score: float | None,
    everything: bool,
    pairs_from: Path | None,
    reviewed: bool,
    who: str | None,
    why: str | None,
    as_json: bool,
) -> None:
    from ..errors import ParameterError
    from ..workflow.collection import Collection
    from ..workflow.decide import accept, choose, reject
    from ..writeback.proposal_files import read_pairs

    if everything and min_score is not None:
        raise ParameterError("--all and --min-score are two lines; give one of them.")
    with Collection.open(path, write=True, wait=_PATIENCE) as found, found.transaction():
        numbers = [found.items.named(name).id for name in items or ()]
        if pairs_from is not None:
            if items or tag or everything or min_score is not None:
                raise ParameterError("--from names the pairs; leave --item, --tag, --min-score and --all out.")
            pairs, is_reviewed = read_pairs(found, pairs_from), True
        else:
            line = 0.0 if everything else min_score
            pairs, is_reviewed = choose(found, min_score=line, tag=tag, items=numbers or None)
        entry: Any = None
        if pairs:
            decide = accept if answer else reject
            entry = decide(found, pairs, who=who, why=why, reviewed=is_reviewed or reviewed)
    n_items = len({number for number, _ in pairs})
    if as_json:
        told = {"entry": None if entry is None else entry.id, "answer": answer, "pairs": len(pairs), "items": n_items}
        print_json({**told, "who": None if entry is None else entry.who})
    elif entry is None:
        say("no open proposal is like that; nothing was changed")
    else:
        say(f"{safe(entry.summary)} (entry {entry.id}, {n_items} {'item' if n_items == 1 else 'items'})")
