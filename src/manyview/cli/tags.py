"""``manyview tags``: the words of a collection, and a person's care for them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..figures import counted
from .talk import CollectionPath, print_json, print_table, safe, say, spoken

if TYPE_CHECKING:
    from ..workflow.collection import Collection
    from ..workflow.vocabulary.listing import Kin, TagLine

_ACTIONS = (
    "rename TAG NEW | merge TAG TAG ... | alias WORD TAG | retire TAG | silence TAG | restore TAG | parent TAG [TAG]"
)


@spoken
def tags(
    collection: CollectionPath,
    action: Annotated[
        str | None, typer.Argument(metavar="ACTION", help=f"Without one, the tags are listed. {_ACTIONS}")
    ] = None,
    words: Annotated[list[str] | None, typer.Argument(metavar="TAG", help="Tags, in any spelling.")] = None,
    into: Annotated[
        str | None, typer.Option(metavar="TAG", help="merge: the tag that stays. Default: the one on most items.")
    ] = None,
    order: Annotated[
        str, typer.Option(metavar="ORDER", help="Order of the list: count, name or last (use).")
    ] = "count",
    find: Annotated[str, typer.Option(metavar="LETTERS", help="List only tags that contain these letters.")] = "",
    rows: Annotated[int, typer.Option(min=1, metavar="N", help="Number of tags to list.")] = 40,
    kin: Annotated[
        bool, typer.Option("--kin", help="List tags that may mean the same, or always occur together.")
    ] = False,
    tree: Annotated[
        bool, typer.Option("--tree", help="List the tags that are above or below others in the hierarchy.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say how much an action would change.")] = False,
    who: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who does it, for the history. Default: your user name.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List the tags with how often and when they were used; or rename, merge and tidy them.

    alias: WORD means TAG from now on. retire: take TAG off every item, and never propose it. silence: keep it on its
    items, and never propose it. restore: end any of these. parent: the tag above it in the hierarchy.

    Each change is one entry of the history; `apply` brings it to the files, and `undo` takes it back.
    """
    from ..workflow.collection import Collection
    from ..workflow.vocabulary.care import care_for
    from ..workflow.vocabulary.listing import kin_of_tags, list_tags

    if action is None:
        with Collection.open(collection) as found:
            if tree:
                _show_tree(found, as_json)
                return
            lines = list_tags(found, order, find)
            related = kin_of_tags(found, meaning=kin)
        _list(collection, lines, related, rows, kin, as_json, find)
        return
    with Collection.open(collection, write=not dry_run) as found:
        done = care_for(found, action, *(words or []), into=into, dry_run=dry_run, who=who)
    entry = None if done.entry is None else done.entry.id
    if as_json:
        print_json({"entry": entry, "summary": done.summary, "items": done.n_items, "files": done.n_files})
        return
    say(f"{'would have ' if dry_run else ''}{safe(done.sentence)}{'' if entry is None else f' (entry {entry})'}")
    if entry is not None and done.n_files:
        say(f"\nNext: manyview apply {safe(collection)} --dry-run shows what changes in the files")


def _show_tree(collection: Collection, as_json: bool) -> None:
    from ..workflow.reading.index import Index
    from ..workflow.vocabulary.tree import tag_tree

    nodes = tag_tree(Index(collection))
    if as_json:
        print_json({"tree": [{**node._asdict(), "path": list(node.path)} for node in nodes]})
        return
    if not nodes:
        say(f"no tag of {safe(collection.path)} stands below another; `tags ... parent TAG PARENT` puts one there.")
        return
    print_table(("tag", ">items"), [("  " * node.depth + node.name, node.n_items) for node in nodes])


def _list(path: Path, lines: list[TagLine], related: list[Kin], rows: int, kin: bool, as_json: bool, find: str) -> None:
    if as_json:
        told = [{**line._asdict(), "path": list(line.path), "aliases": list(line.aliases)} for line in lines]
        print_json({"n": len(lines), "tags": told, "kin": [one._asdict() for one in related]})
        return
    if kin:
        for one in related:
            counts = " and ".join(map(str, one.counts))
            say(f"  {safe(one.sentence)} ({counts} items)")
        say(f"{len(related)} to look at" if related else "no tags that may be one were found")
        if related:
            say(f"\nNext: manyview tags {safe(path)} merge TAG TAG, or alias, or parent")
        return
    if not lines:
        say(f"{safe(path)}: no {f'tag contains {safe(find)!r}' if find else 'tags'}.")
        return
    table = [(line.tag, line.n_items, line.last, " > ".join(line.path[:-1]), _note(line)) for line in lines[:rows]]
    print_table(("tag", ">items", "last use", "below", ""), table)
    if len(lines) > rows:
        say(f"  ... and {len(lines) - rows} more; --rows N shows more")
    if related:
        what = counted(len(related), "pair or group", "pairs or groups")
        say(f"{what} may be one; --kin lists {'it' if len(related) == 1 else 'them'}, with synonyms")


def _note(line: TagLine) -> str:
    notes = ["retired"] * line.is_retired + ["never proposed"] * line.is_silent
    notes += [f"also {', '.join(line.aliases)}"] if line.aliases else []
    return "; ".join(notes)
