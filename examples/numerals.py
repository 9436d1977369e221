"""Cluster 2,000 handwritten numerals by six descriptions at once, and draw what was found.

Run it with ``make demo`` or ``python examples/numerals.py``. It takes a few seconds, uses no labels to find the
clusters, and writes ``demo-output/numerals.png``: every cluster with its most typical and its least typical members,
and how much each description counted.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from manyview import ConcatenatedKMeans, RobustMultiviewKMeans, Views, metrics
from manyview.datasets import load_handwritten

VIEWS = {
    "fou": "Fourier shape",
    "fac": "profile correlations",
    "kar": "Karhunen-Loeve",
    "pix": "pixels",
    "zer": "Zernike moments",
    "mor": "morphology",
}
CELL, SCALE, MARGIN, NAME_WIDTH = 40, 2, 24, 190
N_TYPICAL, N_ODD = 18, 4
INK, PAPER, GREY, ACCENT, LINE = (32, 33, 36), (255, 255, 255), (110, 113, 119), (37, 99, 170), (222, 225, 230)


def main() -> None:
    data = load_handwritten()
    print(f"{data.views}\n")
    start = time.perf_counter()
    model = RobustMultiviewKMeans(n_clusters=10, random_state=0).fit(data.views)
    seconds = time.perf_counter() - start
    print(f"RobustMultiviewKMeans, best of ten starts: {seconds:.1f} s, {model.n_iter_} rounds\n")
    print("how much each view counts:")
    for name, weight in sorted(zip(data.views.names, model.view_weights_, strict=True), key=lambda pair: -pair[1]):
        print(f"  {VIEWS[name]:<22} {weight:5.2f} {'#' * round(40 * weight)}")
    print("\nclusters, with the digits that are in them (known here, never used to find them):")
    for k in range(model.n_clusters_):
        counts = np.bincount(data.y[model.labels_ == k], minlength=10)
        order = [digit for digit in np.argsort(-counts) if counts[digit]]
        print(f"  {k}: {counts.sum():4d} items: " + ", ".join(f"{counts[digit]} x {digit}" for digit in order[:4]))
    baseline = ConcatenatedKMeans(10, random_state=0).fit(data.views)
    ours, theirs = (metrics.clustering_accuracy(data.y, fitted.labels_) for fitted in (model, baseline))
    print(f"\naccuracy against the digits: {ours:.3f}")
    print(f"plain k-means on all views side by side, prepared alike: {theirs:.3f}")
    path = Path("demo-output") / "numerals.png"
    path.parent.mkdir(exist_ok=True)
    contact_sheet(data.views, model, data.views["pix"]).save(path)
    print(f"\nwrote {path}")


def contact_sheet(views: Views, model: RobustMultiviewKMeans, pixels: np.ndarray) -> Image.Image:
    """One row per cluster: its most typical members on the left, its oddest on the right."""
    distance = distances_to_centre(views, model)
    clusters = sorted(range(model.n_clusters_), key=lambda k: -int((model.labels_ == k).sum()))
    top, row_height = 150, CELL + 18
    width = 2 * MARGIN + NAME_WIDTH + CELL * (N_TYPICAL + N_ODD + 1)
    sheet = Image.new("RGB", (width, top + row_height * len(clusters) + MARGIN), PAPER)
    draw, font, small = ImageDraw.Draw(sheet), ImageFont.load_default(18), ImageFont.load_default(13)
    draw.text((MARGIN, 16), f"{views.n_items:,} numerals, {model.n_clusters_} clusters", INK, font)
    draw_weights(draw, small, views.names, model.view_weights_, width)
    columns = MARGIN + NAME_WIDTH
    draw.text((columns, top - 24), "most typical", GREY, small)
    draw.text((columns + CELL * (N_TYPICAL + 1), top - 24), "least typical", GREY, small)
    for row, k in enumerate(clusters):
        y = top + row * row_height
        members = np.flatnonzero(model.labels_ == k)
        ranked = members[np.argsort(distance[members])]
        draw.line((MARGIN, y - 9, width - MARGIN, y - 9), LINE)
        draw.text((MARGIN, y + 3), f"cluster {k}", INK, font)
        draw.text((MARGIN, y + 24), f"{members.size} items", GREY, small)
        odd = ranked[max(N_TYPICAL, ranked.size - N_ODD) :]
        for column, item in enumerate(ranked[:N_TYPICAL]):
            sheet.paste(tile(pixels[item]), (columns + CELL * column, y))
        for column, item in enumerate(odd):
            sheet.paste(tile(pixels[item]), (columns + CELL * (N_TYPICAL + 1 + column), y))
    return sheet


def draw_weights(
    draw: ImageDraw.ImageDraw, font: ImageFont.FreeTypeFont, names: tuple[str, ...], weights: np.ndarray, width: int
) -> None:
    """A stacked bar of the view weights, with the names under their parts in order of weight."""
    left, right, y = MARGIN, width - MARGIN, 52
    x = float(left)
    for rank, v in enumerate(np.argsort(-weights)):
        end = x + (right - left) * float(weights[v])
        fade = rank / len(names)
        colour = tuple(round(a + (b - a) * fade) for a, b in zip(ACCENT, (205, 220, 236), strict=True))
        draw.rectangle((x, y, end - 2, y + 14), fill=colour)
        draw.rectangle((left + 172 * rank, y + 24, left + 172 * rank + 10, y + 34), fill=colour)
        draw.text((left + 172 * rank + 15, y + 21), f"{VIEWS[names[v]]} {weights[v]:.2f}", GREY, font)
        x = end


def tile(values: np.ndarray) -> Image.Image:
    """A numeral of 16 x 15 pixel averages, 0 to 6, dark on white."""
    grey = (255 - values.reshape(16, 15) / 6 * 225).astype(np.uint8)
    image = Image.fromarray(grey).resize((15 * SCALE, 16 * SCALE), Image.Resampling.BICUBIC)
    cell = Image.new("RGB", (CELL, CELL), PAPER)
    cell.paste(image.convert("RGB"), ((CELL - image.width) // 2, (CELL - image.height) // 2))
    return cell


def distances_to_centre(views: Views, model: RobustMultiviewKMeans) -> np.ndarray:
    """Each item's weighted distance to the centre of its cluster, in the scaled units of the model."""
    total = np.zeros(views.n_items)
    for name, weight in zip(views.names, model.view_weights_, strict=True):
        difference = views[name] - model.cluster_centers_[name][model.labels_]
        total += weight * np.linalg.norm(difference * model.view_factor_[name], axis=1)
    return total


if __name__ == "__main__":
    sys.exit(main())
