"""A table of a paper as one self-contained page: ours beside the paper's, curves, confusion, sample clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..figures import percent
from .charts import dot_chart, line_chart, matrix_chart, network_chart
from .frame import style, whole_page
from .markup import Markup, clipped, tag
from .pictures import PictureSource, data_addresses

__all__ = ["paper_page"]

_PICTURES = 3_000_000  # characters of pictures in one page
_TRACES = 12  # curves of single runs in one chart
_ABREAST = 5  # figures whose deviations stand beside them; of more they stand below


def paper_page(summary: Mapping[str, Any], pictures: PictureSource | None = None) -> str:
    """The page of a run of ``papers.runner.run_table``; ``pictures`` gives the picture of an item."""
    body = tag(
        "main",
        _front(summary),
        _figures(summary),
        _charts(summary),
        _confusions(summary),
        _network(summary),
        _samples(summary, pictures),
        _tests(summary),
        _end(summary),
    )
    return whole_page(summary["title"], body, style("page.css", "papers.css"))


def _front(summary: Mapping[str, Any]) -> Markup:
    quick = "A quick run: does it all work? Not for numbers. " if summary["quick"] else ""
    of = "one run" if summary["seeds"] == 1 else f"the mean and deviation of {summary['seeds']} runs"
    protocol = {"paper": "The paper's protocol", "defaults": "Our defaults"}[summary["protocol"]]
    protocol = protocol if summary["place"] else "Protocol"
    command = summary.get("command", "")
    return tag(
        "header",
        tag("h1", summary["title"]),
        tag("p", summary["reference"], ". ", summary["place"], class_="quiet"),
        tag("p", tag("strong", f"{protocol}. "), summary["words"], class_="lead"),
        tag("p", tag("strong", "Data. "), summary["data"], ". ", summary["versus"], class_="lead"),
        tag("p", quick, f"Each row is {of}, where chance plays a part.", class_="lead"),
        tag("p", tag("code", command), class_="quiet") if command else None,
    )


def _figures(summary: Mapping[str, Any]) -> Markup:
    names = summary["figures"]
    lower = set(summary["lower_is_better"])
    judged = [name for name in names if name not in summary["neutral"]]
    rivals = [row for row in summary["rows"] if "mean" in row["figures"].get(_chief(summary), {})]
    best = {name: _best(rivals, name, name in lower) for name in judged}
    arrows = [f"{name} ↓" if name in lower else name for name in names]
    head = tag(
        "thead",
        tag(
            "tr",
            tag("th", "method", scope="col"),
            *[tag("td", name) for name in arrows],
            tag("td", "runs"),
            tag("td", "seconds"),
        ),
    )
    rows = [_row(row, names, best) for row in summary["rows"]]
    said = "Below each of our figures stands the paper's"
    said += (
        ", and in brackets ours less the paper's."
        if summary["same_data"]
        else ", of other data: no difference is shown."
    )
    return tag(
        "section",
        tag("h2", "Figures"),
        tag(
            "div",
            tag("table", head, tag("tbody", *rows), class_="figures many" if len(names) > _ABREAST else "figures"),
            class_="scroll",
            tabindex="0",
            role="region",
            aria_label="Figures",
        ),
        tag("p", said, class_="quiet") if _has_paper(summary) else None,
        *[tag("p", sentence, class_="quiet") for sentence in summary.get("failed", ())],
        class_="cluster",
    )


def _chief(summary: Mapping[str, Any]) -> str:
    """The figure by which rows are compared: that of all classes together where there is one for each."""
    names: Sequence[str] = summary["figures"]
    return "overall" if "overall" in names else names[0]


def _has_paper(summary: Mapping[str, Any]) -> bool:
    return any("published" in figure for row in summary["rows"] for figure in row["figures"].values())


def _best(rows: Sequence[Mapping[str, Any]], name: str, lower: bool) -> float | None:
    means = [row["figures"][name]["mean"] for row in rows if "mean" in row["figures"].get(name, {})]
    return (min if lower else max)(means) if means else None


def _row(row: Mapping[str, Any], names: Sequence[str], best: Mapping[str, float | None]) -> Markup:
    cells = []
    for name in names:
        figure = row["figures"].get(name, {})
        ours = None
        if "mean" in figure:
            spread = None
            if figure["deviation"]:
                spread = tag("small", f" ± {_number(figure['deviation'])}", class_="spread")
            is_best = figure["mean"] == best.get(name)
            ours = tag("span", _number(figure["mean"]), spread, class_="best" if is_best else None)
        beside = None
        if "published" in figure:
            apart = f" ({figure['difference']:+.3f})" if "difference" in figure else ""
            beside = tag("small", f"paper {figure['published']:.3f}{apart}")
        cells.append(tag("td", ours, beside))
    ran = row["runs"] > 0
    name = clipped(row["name"], 90) if ran else f"{clipped(row['name'], 70)} (not run here)"
    seconds = "" if row["seconds"] is None else f"{row['seconds']:.2f}"
    last = [tag("td", row["runs"] if ran else ""), tag("td", seconds)]
    return tag("tr", tag("th", name, scope="row"), *cells, *last, class_=None if ran else "absent")


def _number(value: float) -> str:
    """Shares with three digits; counts of clusters and the like, which may be means, with one, or none if whole."""
    if abs(value) > 1 and float(value).is_integer():
        return f"{value:.0f}"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"


def _charts(summary: Mapping[str, Any]) -> Markup | None:
    parts: list[Any] = []
    dots = dot_chart(summary["rows"], _chief(summary), beside=summary["same_data"])
    if dots is not None:
        title = f"{_chief(summary)}: mean and deviation"
        title += ", and the paper's (rings)" if summary["same_data"] else ""
        parts.append(tag("div", tag("h3", title), dots))
    for study in summary["studies"]:
        drawn = line_chart(study["lines"], study["x"], study["y"], log=study["log"])
        if drawn is not None:
            note = tag("p", study["note"], class_="quiet") if study["note"] else None
            parts.append(tag("div", tag("h3", f"{study['title']}: {study['y']}"), drawn, note))
    lower = set(summary["lower_is_better"])
    parts += [_trace(name, group, name in lower) for name, group in _by_name(summary["traces"]).items()]
    return tag("section", tag("h2", "Curves"), tag("div", *parts, class_="pair"), class_="cluster") if parts else None


def _by_name(traces: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for trace in traces:
        found.setdefault(trace["name"], []).append(trace)
    return found


def _trace(name: str, group: Sequence[Mapping[str, Any]], lower: bool) -> Markup:
    """A line for each row: the mean of its runs, or the first where they were not taken at the same places.

    Of more than twelve, those that are best on the whole.
    """
    means = [sum(point[1] for point in trace["points"]) / len(trace["points"]) for trace in group]
    best = sorted(range(len(group)), key=lambda place: means[place] if lower else -means[place])[:_TRACES]
    lines = [{"name": group[place]["row"], "points": group[place]["points"]} for place in sorted(best)]
    drawn = line_chart(lines, group[0]["x"], name)
    some = f", the best {_TRACES} of {len(group)}" if len(group) > _TRACES else ""
    return tag("div", tag("h3", f"{name[:1].upper()}{name[1:]}, over {group[0]['x']}{some}"), drawn)


def _confusions(summary: Mapping[str, Any]) -> Markup | None:
    parts = []
    for one in summary["confusions"]:
        drawn = matrix_chart(one["shares"], one["classes"], [*one["classes"], "rest"])
        parts.append(tag("div", tag("h3", one["row"]), drawn))
    if not parts:
        return None
    said = (
        "Rows are classes, columns the clusters matched with them (one cluster a class, as many right as can be). "
        "The last column holds clusters that are left over. Mean over the runs."
    )
    return tag(
        "section",
        tag("h2", "Which classes are taken for which"),
        tag("p", said, class_="facts"),
        tag("div", *parts, class_="pair"),
        class_="cluster",
    )


def _network(summary: Mapping[str, Any]) -> Markup | None:
    if not summary["network"] or not summary["network"]["nodes"]:
        return None
    said = "The commonest tags, each with its three strongest links among them; larger dots are on more items."
    return tag(
        "section",
        tag("h2", "The network of tags"),
        tag("p", said, class_="facts"),
        network_chart(summary["network"]),
        class_="cluster",
    )


def _samples(summary: Mapping[str, Any], pictures: PictureSource | None) -> Markup | None:
    if pictures is None or not summary["samples"]:
        return None
    items = [item for one in summary["samples"] for cluster in one["clusters"] for item in cluster["items"]]
    shown = data_addresses(items, pictures, _PICTURES)
    parts: list[Any] = []
    for one in summary["samples"]:
        clusters = [_cluster(cluster, shown) for cluster in one["clusters"]]
        parts.append(tag("div", tag("h3", one["row"]), *clusters))
    said = "Some members of the largest clusters of the first run, drawn by chance; those of another class are framed."
    return tag(
        "section",
        tag("h2", "Clusters"),
        tag("p", said, class_="facts"),
        tag("div", *parts, class_="pair"),
        class_="cluster",
    )


def _cluster(cluster: Mapping[str, Any], shown: Mapping[int, Markup]) -> Markup:
    odd = set(cluster["odd"])
    tiles = [
        tag(
            "li",
            tag("img", src=shown[item], alt="", width=64, height=64, loading="lazy"),
            class_="odd" if item in odd else None,
        )
        for item in cluster["items"]
        if item in shown
    ]
    said = f"{cluster['size']} items, {percent(cluster['share'])} of them {clipped(cluster['class'], 40)}"
    return tag("div", tag("p", said, class_="quiet"), tag("ul", *tiles, class_="tiles"), class_="sample")


def _tests(summary: Mapping[str, Any]) -> Markup | None:
    if not summary["tests"]:
        return None
    rows = [
        tag(
            "tr",
            tag("th", f"{one['rows'][0]} and {one['rows'][1]}, {one['figure']}", scope="row"),
            tag("td", "both never vary" if one["p"] is None else f"p = {one['p']:.4f}"),
        )
        for one in summary["tests"]
    ]
    said = "Welch's t-test between the runs of two rows."
    table = tag("table", tag("tbody", *rows), class_="figures")
    return tag(
        "section", tag("h2", "Is the difference chance?"), tag("p", said, class_="facts"), table, class_="cluster"
    )


def _end(summary: Mapping[str, Any]) -> Markup:
    made = summary["made"]
    versions = ", ".join(f"{name} {made[name]}" for name in made if name != "date")
    return tag(
        "footer",
        f"Made {made['date']} with {versions}. ",
        "This page is one file: it runs no script and asks nothing of the network.",
    )
