"""Curves, dots and matrices as SVG inside a page; colours come from the page's style, light or dark."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from .markup import Markup, clipped, tag

__all__ = ["dot_chart", "line_chart", "matrix_chart", "network_chart"]

_WIDTH, _HEIGHT = 480, 270
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 12, 14, 44
_N_COLOURS = 6
_LABELLED = 16  # classes up to which a matrix has numbers in its cells


def line_chart(lines: Sequence[Mapping[str, Any]], x_label: str, y_label: str, *, log: bool = False) -> Markup | None:
    """Lines with a band of one deviation: each has a name and points (x, y, deviation); None for a single place."""
    shown = [line for line in lines if line["points"]]
    if len({x for line in shown for x, *_ in line["points"]}) < 2:
        return None
    points = [point for line in shown for point in line["points"]]
    across = _axis([math.log10(x) if log else x for x, *_ in points])
    up = _axis([value for _, y, spread in points for value in (y - spread, y + spread)])

    def place(x: float, y: float) -> tuple[float, float]:
        x = math.log10(x) if log else x
        width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
        return _LEFT + width * across.share(x), _TOP + height * (1 - up.share(y))

    drawn = [_grid(up, place, points[0][0]), _x_ticks(sorted({x for x, *_ in points}), place, up.low)]
    for number, line in enumerate(shown):
        colour = number % _N_COLOURS
        if any(spread for *_, spread in line["points"]):
            edge = [place(x, y + d) for x, y, d in line["points"]] + [place(x, y - d) for x, y, d in line["points"]][
                ::-1
            ]
            drawn.append(tag("polygon", points=_joined(edge), class_=f"band v{colour}"))
        drawn.append(
            tag(
                "polyline",
                points=_joined([place(x, y) for x, y, _ in line["points"]]),
                class_=f"line c{colour}{_dashed(number)}",
            )
        )
        if len(line["points"]) <= 40:
            drawn += [tag("circle", cx=_n(cx), cy=_n(cy), r=3, class_=f"v{colour}") for cx, cy in _dots(line, place)]
    drawn.append(tag("text", x_label, x=(_LEFT + _WIDTH - _RIGHT) // 2, y=_HEIGHT - 6, text_anchor="middle"))
    said = f"{y_label} over {x_label}: " + "; ".join(_told(line) for line in shown)
    names = [line["name"] for line in shown]
    return tag("div", _svg(_WIDTH, _HEIGHT, said, *drawn), _legend(names) if len(names) > 1 else None, class_="chart")


def _dots(line: Mapping[str, Any], place: Any) -> list[tuple[float, float]]:
    return [place(x, y) for x, y, _ in line["points"]]


def _told(line: Mapping[str, Any]) -> str:
    (x0, y0, _), (x1, y1, _) = line["points"][0], line["points"][-1]
    return f"{line['name']} from {y0:.3g} at {x0:.4g} to {y1:.3g} at {x1:.4g}"


class _axis:
    """The range of some values with a little room around it."""

    def __init__(self, values: Sequence[float]) -> None:
        low, high = min(values), max(values)
        room = 0.04 * (high - low) or 0.05 * abs(high) or 0.05
        self.low, self.high = low - room, high + room

    def share(self, value: float) -> float:
        return (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        """About four round numbers inside."""
        rough = (self.high - self.low) / 4
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough)
        first = math.ceil(self.low / step)
        return [round(number * step, 12) for number in range(first, math.floor(self.high / step) + 1)]


def _grid(up: _axis, place: Any, x: float) -> Markup:
    lines = []
    for value in up.ticks():
        y = place(x, value)[1]
        lines.append(tag("line", x1=_LEFT, y1=_n(y), x2=_WIDTH - _RIGHT, y2=_n(y), class_="rule"))
        lines.append(tag("text", f"{value:.4g}", x=_LEFT - 6, y=_n(y + 4), text_anchor="end"))
    return tag("g", *lines)


def _x_ticks(values: Sequence[float], place: Any, bottom: float) -> Markup:
    """Numbers below the points, as many as there is room for."""
    texts, last = [], -math.inf
    for value in values:
        x, shown = place(value, bottom)[0], f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
        half = max(19, 4 * len(shown))
        if x - half >= last:
            texts.append(tag("text", shown, x=_n(x), y=_HEIGHT - _BOTTOM + 18, text_anchor="middle"))
            last = x + half
    return tag("g", *texts)


def dot_chart(rows: Sequence[Mapping[str, Any]], figure: str, *, beside: bool) -> Markup | None:
    """A line for each row: our mean with its deviation, and, where asked for, the paper's figure as a ring."""
    shown = [(row["name"], row["figures"][figure]) for row in rows if "mean" in row["figures"].get(figure, {})]
    if len(shown) < 2:
        return None
    values = [value for _, one in shown for value in (one["mean"] - one["deviation"], one["mean"] + one["deviation"])]
    values += [one["published"] for _, one in shown if beside and "published" in one]
    across = _axis(values)
    height, top = 38 * len(shown) + 34, 6
    width = _WIDTH - 2 * _RIGHT

    def at(value: float) -> float:
        return _RIGHT + width * across.share(value)

    drawn: list[Any] = []
    for value in across.ticks():
        drawn.append(tag("line", x1=_n(at(value)), y1=top, x2=_n(at(value)), y2=height - 24, class_="rule"))
        drawn.append(tag("text", f"{value:.4g}", x=_n(at(value)), y=height - 8, text_anchor="middle"))
    for number, (name, one) in enumerate(shown):
        y = top + 38 * number + 28
        drawn.append(tag("text", name[:70], x=_RIGHT, y=y - 12))
        low, high = at(one["mean"] - one["deviation"]), at(one["mean"] + one["deviation"])
        drawn.append(tag("line", x1=_n(low), y1=y, x2=_n(high), y2=y, class_="line c0"))
        drawn.append(tag("circle", cx=_n(at(one["mean"])), cy=y, r=5, class_="v0"))
        if beside and "published" in one:
            drawn.append(tag("circle", cx=_n(at(one["published"])), cy=y, r=5, class_="ring"))
    said = f"{figure}: " + "; ".join(f"{name} {one['mean']:.3f}" for name, one in shown)
    return tag("div", _svg(_WIDTH, height, said, *drawn), class_="chart")


def matrix_chart(shares: Sequence[Sequence[float]], classes: Sequence[str], columns: Sequence[str]) -> Markup:
    """Shares of each class (rows) as squares, the darker the larger; the diagonal is right."""
    n_rows, n_columns = len(shares), len(columns)
    left = 12 + 7 * min(14, max(len(name) for name in classes))
    side = min(36.0, (_WIDTH - left - _RIGHT) / n_columns)
    drawn: list[Any] = []
    for i, row in enumerate(shares):
        y = 4 + i * side
        if n_rows <= 2 * _LABELLED:
            drawn.append(tag("text", clipped(classes[i], 14), x=left - 6, y=_n(y + side / 2 + 4), text_anchor="end"))
        for j, value in enumerate(row):
            x = left + j * side
            square = {"x": _n(x), "y": _n(y), "width": _n(side - 1), "height": _n(side - 1)}
            drawn.append(tag("rect", **square, class_="track"))
            if value >= 0.005:
                drawn.append(
                    tag("rect", **square, class_="v0" if i == j else "v1", fill_opacity=f"{min(1, value):.3f}")
                )
            if value >= 0.015 and n_rows <= _LABELLED:
                said = f"{value:.2f}".replace("0.", ".")
                middle = {"x": _n(x + side / 2 - 0.5), "y": _n(y + side / 2 + 4)}
                drawn.append(tag("text", said, **middle, text_anchor="middle", class_="on" if value > 0.55 else "in"))
    height = 4 + n_rows * side + 20
    if n_rows <= _LABELLED:
        for j, name in enumerate(columns):
            short = name[: max(2, int(side // 8))]
            drawn.append(tag("text", short, x=_n(left + (j + 0.5) * side), y=_n(height - 5), text_anchor="middle"))
    right = sum(row[i] for i, row in enumerate(shares)) / n_rows
    return tag("div", _svg(_WIDTH, height, f"mean share on the diagonal {right:.3f}", *drawn), class_="chart")


def network_chart(network: Mapping[str, Any]) -> Markup:
    """Named dots with lines between them, the stronger the link the wider."""
    width, height = 720, 520
    places = [(60 + (width - 130) * one["x"], 20 + (height - 40) * one["y"]) for one in network["nodes"]]
    most = max((link[2] for link in network["links"]), default=1.0)
    largest = max(one["items"] for one in network["nodes"])
    drawn = []
    for first, second, strength in network["links"]:
        (x1, y1), (x2, y2) = places[first], places[second]
        thick = f"{0.8 + 3 * strength / most:.1f}"
        drawn.append(tag("line", x1=_n(x1), y1=_n(y1), x2=_n(x2), y2=_n(y2), class_="link", stroke_width=thick))
    for (x, y), one in zip(places, network["nodes"], strict=True):
        size = 3 + 5 * math.sqrt(one["items"] / largest)
        drawn.append(tag("circle", cx=_n(x), cy=_n(y), r=_n(size), class_="v0"))
        drawn.append(tag("text", one["name"][:18], x=_n(x), y=_n(y - size - 3), text_anchor="middle"))
    said = f"{len(network['nodes'])} tags, {len(network['links'])} links"
    return tag("div", _svg(width, height, said, *drawn), class_="chart wide")


def _svg(width: int, height: float, said: str, *drawn: Any) -> Markup:
    return tag("svg", tag("title", said), *drawn, viewBox=f"0 0 {width} {_n(height)}", role="img")


def _legend(names: Sequence[str]) -> Markup:
    marks = [
        tag("li", tag("i", class_=f"v{number % _N_COLOURS}{_dashed(number)}"), name)
        for number, name in enumerate(names)
    ]
    return tag("ul", *marks, class_="legend")


def _dashed(number: int) -> str:
    """Colours come round; the second time lines are dashed."""
    return " dash" if number >= _N_COLOURS else ""


def _joined(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{_n(x)},{_n(y)}" for x, y in points)


def _n(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")
