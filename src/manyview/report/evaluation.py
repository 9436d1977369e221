"""What `manyview eval` found, as a section of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..figures import percent
from .markup import Markup, clipped, tag

__all__ = ["evaluation_section"]

_TAG_FIGURES = ("P@1", "P@5", "R@5", "C@5", "ECE")
_LINES = 5


def evaluation_section(found: Mapping[str, Any] | None) -> Markup | None:
    """Tables of an evaluation as ``Runs.evaluation`` gives it; None where there is none."""
    if not found:
        return None
    parts: list[Any] = [tag("h2", "How good it is on these items")]
    draws = "one draw" if found["draws"] == 1 else f"{found['draws']} draws"
    parts.append(tag("p", f"{found['n_items']:,} items, {draws}, {found['made_at']}.", class_="facts"))
    tables = []
    if "tags" in found:
        tables.append(_tag_table(found["tags"]))
    if "clusters" in found:
        tables.append(_cluster_table(found["clusters"]))
    if found.get("tags", {}).get("promises"):
        tables.append(_promise_table(found["tags"]["promises"]))
    return tag("section", *parts, tag("div", *tables, class_="columns"), class_="cluster")


def _tag_table(tags: Mapping[str, Any]) -> Markup:
    title = f"{percent(tags['hide'])} of the tags hidden: precision, recall, items with a hit, calibration error"
    return _table(title, _TAG_FIGURES, tags["methods"])


def _cluster_table(clusters: Mapping[str, Any]) -> Markup:
    title = f"{clusters['n_clusters']} clusters against the {clusters['n_classes']} classes of "
    figures = list(next(iter(clusters["methods"].values())))
    return _table(title + clipped(clusters["labels"], 40), figures, clusters["methods"])


def _table(title: str, figures: Sequence[str], rows: Mapping[str, Mapping[str, Any]]) -> Markup:
    head = tag("tr", tag("th", "method", scope="col"), *[tag("td", name, class_="figure") for name in figures])
    lines = [
        tag(
            "tr",
            tag("th", clipped(name, 40), scope="row"),
            *[tag("td", f"{found[f]['mean']:.3f}" if f in found else "", class_="figure") for f in figures],
        )
        for name, found in rows.items()
    ]
    return tag("div", tag("h3", title), tag("table", head, *lines))


def _promise_table(promises: Sequence[Mapping[str, Any]]) -> Markup:
    head = tag(
        "tr",
        tag("th", "probability from", scope="col"),
        *[tag("td", name, class_="figure") for name in ("proposals", "promised", "right")],
    )
    lines = [
        tag(
            "tr",
            tag("th", f"{one.get('min_probability', one.get('min_score'))}", scope="row"),
            tag("td", f"{one['n']:,}", class_="figure"),
            tag("td", percent(one["promised"]), class_="figure"),
            tag("td", percent(one["kept"]), class_="figure"),
        )
        for one in promises[::2][:_LINES]
    ]
    return tag("div", tag("h3", "What suggest promised, and what was right"), tag("table", head, *lines))
