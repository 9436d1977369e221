"""What examples draw, kept as files for light and for dark pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["Keeper"]

# the colours of the examples, and what they become on a dark page: the tokens of the gallery
DARK = {
    "#1b1f24": "#e7ebef",
    "#59636e": "#a2adb9",
    "#e0e4e8": "#2d333a",
    "#0b63c5": "#6cb0ff",
    "#d0720c": "#f0a04b",
    "#12805c": "#4cc39a",
    "#a5378f": "#dd86cc",
    "#8a6d00": "#d6b84a",
    "#5a6472": "#9aa5b1",
}


class Keeper:
    """Saves every open figure below ``folder``; figures of lines as SVG, of pictures as WebP, each twice."""

    def __init__(self, folder: Path, stem: str) -> None:
        self.folder, self.stem, self.n = folder, stem, 0
        folder.mkdir(parents=True, exist_ok=True)

    def __call__(self, value: Any) -> list[str]:
        """The names of what was kept, without ``-dark``: open figures of matplotlib, or a value that is a picture."""
        import matplotlib.pyplot as plt
        from PIL import Image

        kept = []
        if isinstance(value, Image.Image):
            kept.append(self._name("webp"))
            for name in (kept[-1], dark(kept[-1])):
                value.save(self.folder / name, quality=88)
        for number in plt.get_fignums():
            kept.append(self._figure(plt.figure(number)))
        plt.close("all")
        return kept

    def _figure(self, figure: Any) -> str:
        has_pictures = any(axes.images for axes in figure.axes)
        name = self._name("webp" if has_pictures else "svg")
        more = {"pil_kwargs": {"quality": 85}} if has_pictures else {"metadata": {"Date": None}}
        figure.savefig(self.folder / name, transparent=True, dpi=150, **more)
        for artist, setter, colour in list(_coloured(figure)):
            getattr(artist, setter)(DARK[colour])
        figure.savefig(self.folder / dark(name), transparent=True, dpi=150, **more)
        return name

    def _name(self, kind: str) -> str:
        self.n += 1
        return f"{self.stem}-{self.n}.{kind}"


def dark(name: str) -> str:
    """The name of the same picture for dark pages."""
    stem, kind = name.rsplit(".", 1)
    return f"{stem}-dark.{kind}"


def _coloured(figure: Any) -> Iterator[tuple[Any, str, str]]:
    """Artists with one of our colours, and how to give them another."""
    from matplotlib.colors import to_hex

    for artist in figure.findobj():
        for what in ("color", "facecolor", "edgecolor", "markerfacecolor", "markeredgecolor"):
            getter = getattr(artist, f"get_{what}", None)
            setter = f"set_{what}"
            if getter is None or not hasattr(artist, setter) or (what == "color" and hasattr(artist, "get_facecolor")):
                continue
            value = getter()
            try:
                colour = to_hex(value[0] if getattr(value, "ndim", 1) == 2 and len(value) == 1 else value)
            except (ValueError, TypeError, IndexError):
                continue  # none, or one for each point
            if colour in DARK and _opaque(value):
                yield artist, setter, colour


def _opaque(value: Any) -> bool:
    from matplotlib.colors import to_rgba_array

    alpha: float = to_rgba_array(value)[0, 3]
    return alpha == 1
