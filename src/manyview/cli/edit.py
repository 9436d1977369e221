"""``manyview edit``: a person's word on clusters; ``manyview history``: what was done so far."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from ..figures import when
from .talk import CollectionPath, given, print_json, print_table, safe, say, spoken

_ACTIONS = """rename CLUSTER [NAME] | tag CLUSTER [WORD] | merge CLUSTER CLUSTER ... | split CLUSTER |
move ITEM ... | pin CLUSTER | unpin CLUSTER | link ITEM ITEM | unlink ITEM ITEM"""
_HOW = {
    "rename": "rename CLUSTER NAME (an empty NAME takes a name away; without NAME a guessed name is kept)",
    "tag": "tag CLUSTER [WORD] (its members get the word, by default its name)",
    "merge": "merge CLUSTER CLUSTER ... [--into CLUSTER]",
    "split": "split CLUSTER [--parts N]",
    "move": "move ITEM ... --to CLUSTER, or --new [--name NAME]",
    "pin": "pin CLUSTER",
    "unpin": "unpin CLUSTER",
    "link": "link ITEM ITEM [--apart]",
    "unlink": "unlink ITEM ITEM",
}


@spoken
def edit(
    collection: CollectionPath,
    action: Annotated[str, typer.Argument(metavar="ACTION", help=_ACTIONS)],
    what: Annotated[list[str], typer.Argument(metavar="WHAT", help="Clusters by number; items by name or number.")],
    into: Annotated[
        int | None, typer.Option(metavar="CLUSTER", help="merge: the cluster whose number and name stay.")
    ] = None,
    parts: Annotated[int | None, typer.Option(metavar="N", help="split: number of parts. Default: 2.")] = None,
    to: Annotated[int | None, typer.Option(metavar="CLUSTER", help="move: the target cluster.")] = None,
    new: Annotated[bool, typer.Option("--new", help="move: into a new cluster.")] = False,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="move --new: its name.")] = None,
    apart: Annotated[bool, typer.Option("--apart", help="link: keep them apart instead of together.")] = False,
    who: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who does it, for the history. Default: your user name.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Rename, merge, split or pin clusters; move and link items. Edits survive refits; `undo` takes them back."""
    from ..errors import ParameterError
    from ..workflow.clusters.living import current_clusters
    from ..workflow.collection import Collection

    if action not in _HOW:
        raise ParameterError(f"there is no edit {action!r}; there are {', '.join(_HOW)}.")
    options = {"into": into, "parts": parts, "to": to, "new": new or None, "name": name, "apart": apart or None}
    chosen = given(options)
    own = {"merge": {"into"}, "split": {"parts"}, "move": {"to", "new", "name"}, "link": {"apart"}}.get(action, set())
    if other := sorted(chosen.keys() - own):
        raise ParameterError(f"--{other[0]} is not for {action}: {_HOW[action]}.")
    with Collection.open(collection, write=True) as found:
        entry = _call(found, action, what, chosen)(who=who)
        changed = [_number(what[0])] if action == "tag" else entry.detail["clusters"]
        clusters = [one for one in current_clusters(found) if one.id in changed]
    if as_json:
        print_json(
            {
                "entry": entry.id,
                "kind": entry.kind,
                "summary": entry.summary,
                "clusters": [
                    {"cluster": one.id, "name": one.name, "size": one.size, "pinned": one.is_pinned} for one in clusters
                ],
            }
        )
        return
    say(f"{safe(entry.summary)} (entry {entry.id})")
    for one in clusters:
        say(f"  {one.id}: {safe(one.name)}, {one.size} items{', pinned' if one.is_pinned else ''}")
    if action == "rename" and clusters and clusters[0].is_named:
        say(f"\nNext: manyview edit {safe(collection)} tag {clusters[0].id} gives its members that word as a tag")


def _call(collection: Any, action: str, what: list[str], given: dict[str, Any]) -> Callable[..., Any]:
    """The edit that was asked for, ready to be called."""
    from functools import partial

    from ..errors import ParameterError
    from ..workflow.clusters import edits
    from ..workflow.proposing.first_tags import guessed_name, tag_members

    wanted = {"rename": (1, 2), "tag": (1, 2), "merge": (1 if "into" in given else 2, None), "move": (1, None)}
    low, high = wanted.get(action, (2, 2) if action in ("link", "unlink") else (1, 1))
    if len(what) < low or (high is not None and len(what) > high):
        raise ParameterError(f"use it as: {_HOW[action]}.")
    if action in ("move", "link", "unlink"):
        items = [collection.items.named(name).id for name in what]
        if action != "move":
            together = None if action == "unlink" else "apart" not in given
            return partial(edits.link, collection, items[0], items[1], together)
        if ("to" in given) == ("new" in given):
            raise ParameterError(f"say where to: {_HOW[action]}.")
        return partial(edits.move, collection, items, given.get("to"), name=given.get("name"))
    numbers = [_number(word) for word in (what[:1] if action in ("rename", "tag") else what)]
    if action == "rename":
        return partial(
            edits.rename, collection, numbers[0], what[1] if what[1:] else guessed_name(collection, numbers[0])
        )
    if action == "tag":
        return partial(tag_members, collection, numbers[0], what[1] if what[1:] else None)
    if action == "merge":
        return partial(edits.merge, collection, numbers, into=given.get("into"))
    if action == "split":
        return partial(edits.split, collection, numbers[0], given.get("parts", 2))
    return partial(edits.pin, collection, numbers[0], action == "pin")


def _number(word: str) -> int:
    from ..errors import ParameterError

    if not (word.isascii() and word.isdigit()):
        raise ParameterError(f"give a cluster by its number, as `manyview show` lists it; got {word!r}.")
    return int(word)


@spoken
def history(
    collection: CollectionPath,
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="Number of entries to list, newest first.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List what was done, by whom and when; `undo` takes an entry back by its number."""
    from ..workflow.collection import Collection

    with Collection.open(collection) as found:
        entries = list(found.history)
    shown = entries[-limit:]
    if as_json:
        print_json({"n": len(entries), "entries": [entry._asdict() for entry in shown]})
        return
    if not shown:
        say(f"{safe(collection)}: nothing was done yet.")
        return
    rows = [(one.id, when(one.at), one.who, one.summary, one.undone_by or "") for one in shown]
    print_table((">entry", "when", "who", "what", ">undone by"), rows)
    if len(entries) > len(shown):
        say(f"  ... {len(entries) - len(shown)} older ones; --limit shows more")
