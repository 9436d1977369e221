"""Curves over numbers of clusters, as SVG."""

from __future__ import annotations

from collections.abc import Iterable

from ..types import Floats, Places

__all__ = ["curve", "picture"]


def picture(*panels: str) -> str:
    """One or more of ``curve``, each 260 high, as the text of an SVG file."""
    height, body = 260 * len(panels), "\n".join(panels)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 {height}" font-family="sans-serif" font-size="13">\n'
        f'<rect width="640" height="{height}" fill="white"/>\n{body}\n</svg>\n'
    )


def curve(numbers: Places, values: Floats, chosen: Iterable[int], title: str, top: int) -> str:
    """One curve: the mean of ``values`` (m, r), a band of one standard deviation, and a mark at each number chosen."""
    mean, spread = values.mean(axis=1), values.std(axis=1)
    low, high = float((mean - spread).min()), float((mean + spread).max())
    height = high - low if high > low else 1.0

    def place(number: float, value: float) -> str:
        across = (number - numbers[0]) / max(1, numbers[-1] - numbers[0])
        return f"{70 + 540 * across:.1f},{top + 210 - 165 * (value - low) / height:.1f}"

    above = [place(n, v) for n, v in zip(numbers, mean + spread, strict=True)]
    below = [place(n, v) for n, v in zip(numbers, mean - spread, strict=True)]
    line = " ".join(place(n, v) for n, v in zip(numbers, mean, strict=True))
    marks = [place(one, float(mean[numbers == one][0])).split(",") for one in chosen]
    left = [
        f'<text x="62" y="{top + 214 - 165 * f:.0f}" text-anchor="end">{low + f * height:.3g}</text>' for f in (0, 1)
    ]
    step = max(1, numbers.size // 12)
    ticks = [
        f'<text x="{place(n, low).split(",")[0]}" y="{top + 230}" text-anchor="middle">{n}</text>'
        for n in numbers[::step]
    ]
    return "\n".join(
        [
            f'<text x="70" y="{top + 26}" font-weight="bold">{title}</text>',
            f'<polyline points="70,{top + 40} 70,{top + 210} 610,{top + 210}" fill="none" stroke="#888"/>',
            f'<polygon points="{" ".join(above + below[::-1])}" fill="#3b6ea5" opacity="0.2"/>',
            f'<polyline points="{line}" fill="none" stroke="#3b6ea5" stroke-width="2"/>',
            *(f'<circle cx="{x}" cy="{y}" r="5" fill="#c23b22"/>' for x, y in marks),
            *left,
            *ticks,
        ]
    )
