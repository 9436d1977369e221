"""``manyview show``: the clusters of a run, or its items."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ..figures import percent, when
from .talk import CollectionPath, files_and_rows, print_json, print_table, safe, say, spoken

_ORDERS = ("name", "date", "newest")


@spoken
def show(
    collection: CollectionPath,
    others: Annotated[
        list[str] | None, typer.Argument(metavar="[ITEM]...", help="With --like: more items, by name or number.")
    ] = None,
    run: Annotated[int | None, typer.Option(metavar="N", help="Number of the run. Default: the newest.")] = None,
    items: Annotated[bool, typer.Option("--items", help="List the items, each with its path and cluster.")] = False,
    search: Annotated[
        str | None,
        typer.Option(
            metavar="WORDS",
            help='Only items like these: tag:beach -tag:people untagged "some words"; or what is seen: sunset.',
        ),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(
            metavar="ORDER", help="Order of the items: name, date (oldest first) or newest. Default: as they came."
        ),
    ] = None,
    more: Annotated[
        bool, typer.Option("--more", help="With --search: also pictures that fit less well, the best first.")
    ] = False,
    like: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ITEM", help="More like this: items that are like it, or like several, in every view. Repeatable."
        ),
    ] = None,
    alike: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            metavar="SHARE",
            help="With --like: how much alike. Of the pairs of items picked blindly, this share is less alike: 0.9999 "
            "almost the same, 0.9 somewhat alike. Default: 0.99.",
        ),
    ] = None,
    cluster: Annotated[int | None, typer.Option(metavar="N", help="One cluster in full, by its number.")] = None,
    item: Annotated[
        str | None,
        typer.Option(
            metavar="ITEM", help="When and where this item was made, and why it is in its cluster; by name or number."
        ),
    ] = None,
    problems: Annotated[
        bool, typer.Option("--problems", help="List the files that could not be read, or only in part, and why.")
    ] = False,
    level: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Show this many clusters: a coarser or finer level, before edits (consensus)."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show the clusters of a run as they are now: names, sizes, tags, cohesion."""
    import numpy as np

    from ..errors import ParameterError
    from ..workflow.clusters.levels import level_clusters
    from ..workflow.collection import Collection
    from ..workflow.reading.index import Index
    from ..workflow.reading.typical import best_clusters

    with Collection.open(collection) as found:
        if problems:
            _show_problems(found, as_json)
            return
        search = _asked(found, search, like or [], others or [], alike)
        if search is not None and run is None and level is None and found.runs.newest() is None:
            _search_unfitted(found, search, more, collection, as_json)
            return
        which = found.runs.get_fit(run)
        if item is not None:
            _show_reason(found, which, item, as_json)
            return
        places = None
        if level is None:
            clusters = best_clusters(Index(found), which)
        else:
            cut, clusters = level_clusters(found, which, level)
            numbers = [cut.identities.get(label, -1) for label in cut.labels.tolist()]
            places = cut.ids, cut.labels, np.array(numbers)
        if cluster is not None:
            _show_cluster(found, clusters, cluster, as_json)
            return
        if order not in (None, *_ORDERS):
            raise ParameterError(f"items are ordered by {', '.join(_ORDERS)}; got {order!r}.")
        items = items or search is not None or order is not None
        table = _items(found, which.id, places) if items else []
        answer = None
        if search is not None:
            answer = found.search(search, run=which.id)
            table = _found(table, [*answer.hits, *(answer.more if more else ())])
        if order is not None:
            table = _ordered(found, table, order)
    plain = {
        "run": which.id,
        "method": which.method,
        "made_at": which.made_at,
        "views": which.views,
        "settings": which.settings,
        "clusters": [_plain(one) for one in clusters],
    }
    if as_json:
        told = {} if answer is None else {"query": answer.query, "seen": answer.seen, "sentence": answer.sentence}
        print_json({**plain, **told, "items": table} if items else plain)
        return
    say(f"{safe(collection)}, run {which.id}: {which.method}, {when(which.made_at)}")
    for line in which.figures.get("said", ()):
        say(f"  {safe(line)}")
    say()
    if items:
        names = {label: one.name for one in clusters for label in one.labels} if level else {}
        names = names or {one.id: one.name for one in clusters}
        by = "label" if level else "cluster"
        rows = [
            (row["id"], row["path"] or row["key"], row["cluster"] or "", names.get(row[by], "none")) for row in table
        ]
        more_of = ("taken",) if order in ("date", "newest") else ()
        rows = [(*cells, *(row[name][:10] for name in more_of)) for cells, row in zip(rows, table, strict=True)]
        if answer is None:
            print_table((">id", "item", ">cluster", "name", *more_of), rows)
            return
        _say_answer(answer, bool(table))
        if table:
            is_mixed = answer.seen is not None or any(row["how"] != "words" for row in table)
            matched = [(*cells, _matched(row)) if is_mixed else cells for cells, row in zip(rows, table, strict=True)]
            print_table((">id", "item", ">cluster", "name", *more_of, *(("matched by",) if is_mixed else ())), matched)
    else:
        print_clusters(clusters)


def _asked(found: Any, search: str | None, like: list[str], others: list[str], alike: float | None) -> str | None:
    """The search that words and items to be alike ask for together."""
    from ..errors import ParameterError
    from ..workflow.reading.alike import LEAST, check_asked

    if not like:
        if alike is not None or others:
            what = (
                "--alike says how much like what --like names" if alike is not None else f"{others[0]!r} has no place"
            )
            raise ParameterError(f"{what}; did you mean --like {' '.join(others) or 'ITEM'}?")
        return search
    numbers = [found.items.named(name).id for name in (*like, *others)]
    asked = f"like:{check_asked(numbers, LEAST if alike is None else alike)}"
    return asked if search is None else f"{asked} {search}"


def _say_answer(answer: Any, is_listed: bool) -> None:
    if answer.sentence:
        say(answer.sentence + (" --more shows what fits best all the same." if answer.more and not is_listed else ""))


def _search_unfitted(found: Any, search: str, more: bool, collection: Path, as_json: bool) -> None:
    """A search before the first fit: tags, words, and what pictures show where they have been looked at."""
    from ..workflow.looks import can_have_looks, has_looks

    answer = found.search(search)
    known = {one.id: one for one in found.items}
    hits = [*answer.hits, *(answer.more if more else ())]
    table = [
        {
            "id": one.id,
            "key": one.key,
            "path": one.path,
            "label": None,
            "cluster": None,
            "how": hit.how,
            "score": hit.score,
        }
        for hit in hits
        for one in [known[hit.item]]
    ]
    if as_json:
        told = {"query": answer.query, "seen": answer.seen, "sentence": answer.sentence}
        print_json({"run": None, "clusters": [], **told, "items": table})
        return
    say(f"{safe(collection)}: no clusters yet\n")
    _say_answer(answer, bool(table))
    if table:
        rows = [(row["id"], row["path"] or row["key"], _matched(row)) for row in table]
        print_table((">id", "item", "matched by"), rows)
    if can_have_looks(found) and not has_looks(found):
        say(f"\nNext: manyview features {safe(collection)} --view embedding, and pictures are found by what they show")


def _ordered(collection: Any, table: list[dict[str, Any]], order: str) -> list[dict[str, Any]]:
    """Items in an order, each with when it was taken; those without a date last."""
    from ..data.tags import match_key

    dates = zip(collection.items.ids.tolist(), collection.reading.field("taken"), strict=True)
    taken = {number: value if isinstance(value, str) else "" for number, value in dates}
    dated = [{**row, "taken": taken[row["id"]]} for row in table]
    if order == "name":
        return sorted(dated, key=lambda row: match_key(row["key"]))
    known = sorted((row for row in dated if row["taken"]), key=lambda row: row["taken"], reverse=order == "newest")
    return [*known, *(row for row in dated if not row["taken"])]


def _found(table: Sequence[dict[str, Any]], hits: Sequence[Any]) -> list[dict[str, Any]]:
    """The items that a search found, in its order, with how each was matched."""
    known = {row["id"]: row for row in table}
    return [{**known[hit.item], "how": hit.how, "score": hit.score} for hit in hits if hit.item in known]


def _matched(row: dict[str, Any]) -> str:
    if row["how"] == "alike":
        return f"alike, {int(1e4 * row['score']) / 100:.2f} %"  # 100 only where nothing tells them apart
    return f"looks, {row['score']:.2f}" if row["how"] == "looks" else str(row["how"])


def _plain(one: Any) -> dict[str, Any]:
    """A cluster as JSON; "label" is there where one label of the run, and no other, is in it."""
    return {
        "cluster": None if one.id < 0 else one.id,
        "label": one.labels[0] if len(one.labels) == 1 else None,
        "labels": list(one.labels),
        "name": one.name,
        "size": one.size,
        "pinned": one.is_pinned,
        "named": one.is_named,
        "guessed": one.is_guess,
        "profile": one.profile,
    }


def _items(collection: Any, run_id: int, places: tuple[Any, Any, Any] | None) -> list[dict[str, Any]]:
    """Items with their labels and clusters: those of ``places``, or where they are now."""
    if places is None:
        standing = collection.living.standing(run_id)
        places = standing.ids, standing.labels, standing.clusters
    ids, labels, identities = places
    known = {one.id: one for one in collection.items}
    return [
        {
            "id": number,
            "key": known[number].key,
            "path": known[number].path,
            "label": label,
            "cluster": None if identity < 0 else identity,
        }
        for number, label, identity in zip(ids.tolist(), labels.tolist(), identities.tolist(), strict=True)
        if number in known
    ]


def print_clusters(clusters: Sequence[Any]) -> None:
    """A line per cluster."""
    rows = []
    for one in clusters:
        over = one.profile.get("over", [])
        tags = ", ".join(f"{share['tag']} {share['count']}" for share in over[:4])
        cohesion = one.profile.get("cohesion")
        name = f"{one.name} (pinned)" if one.is_pinned else one.name
        rows.append(("" if one.id < 0 else one.id, name, one.size, "" if cohesion is None else f"{cohesion:.2f}", tags))
    header = (">cluster", "name", ">size", ">cohesion", "tags, and on how many")
    shown = len(header) if any(row[-1] for row in rows) else len(header) - 1
    print_table(header[:shown], [row[:shown] for row in rows])


def _show_cluster(collection: Any, clusters: Sequence[Any], number: int, as_json: bool) -> None:
    from ..errors import ParameterError

    one = next((one for one in clusters if one.id == number), None)
    if one is None:
        raise ParameterError(
            f"there is no cluster {number} in this run; there are {', '.join(str(c.id) for c in clusters)}."
        )
    if as_json:
        print_json(_plain(one))
        return
    say(
        f"cluster {one.id}: {safe(one.name or '')}, {one.size} items, {one.profile.get('n_tagged', 0)} of them tagged\n"
    )
    for key, title in (("over", "more often than elsewhere"), ("under", "less often than elsewhere")):
        if one.profile.get(key):
            say(f"  tags {title}:")
            rows = [(t["tag"], t["count"], f"{t['expected']:.1f}", f"{t['lift']:.1f}") for t in one.profile[key]]
            print_table(("tag", ">on", ">expected", ">lift"), rows)
            say()
    if one.profile.get("words"):
        say("  words of its texts, the most telling first:")
        rows = [(t["tag"], t["count"], f"{t['expected']:.1f}", f"{t['lift']:.1f}") for t in one.profile["words"]]
        print_table(("word", ">in", ">expected", ">lift"), rows)
        say()
    if hint := one.profile.get("name", {}).get("hint"):
        say(f"  seems to show, but not clearly: {safe(', '.join(hint))}\n")
    if one.profile.get("views"):
        shares = [
            (v["view"], "" if v["cohesion"] is None else f"{v['cohesion']:.2f}", percent(v["contribution"]))
            for v in one.profile["views"]
        ]
        print_table(("view", ">cohesion", ">sets it apart"), shares)
        say()
    for key, title in (("exemplars", "typical"), ("borderline", "borderline")):
        numbers = [e["item"] if isinstance(e, dict) else e for e in one.profile.get(key, [])]
        if numbers:
            say(f"  {title}: " + ", ".join(safe(collection.items.get(n).key) for n in numbers[:8]))


def _show_problems(collection: Any, as_json: bool) -> None:
    found = collection.items.problems()
    if as_json:
        rows = [{"path": one.path, "reason": one.reason, "sentence": one.sentence, "bad": one.is_bad} for one in found]
        print_json({"problems": rows})
        return
    if not found:
        say("every file could be read.")
    for bad, title in ((True, "could not be read"), (False, "left out or read in part")):
        these = [one for one in found if one.is_bad == bad]
        if these:
            say(f"{files_and_rows(these)} {title}:")
        for one in these:
            say(f"  {safe(one.path)}: {safe(one.sentence)}")


def _show_reason(collection: Any, run: Any, name: str, as_json: bool) -> None:
    from ..workflow.reading.explain import explain_in_run

    item = collection.items.named(name)
    reason = explain_in_run(collection, run, item.id)
    _, fields = collection.reading.text_and_fields(item.id)
    if as_json:
        print_json({"item": item.id, "path": item.path, **reason.to_dict(), "sentence": str(reason), "fields": fields})
    else:
        for field, value in fields.items():
            say(f"{safe(field.replace('_', ' '))}: {safe(str(value))}")
        say(safe(str(reason)))
