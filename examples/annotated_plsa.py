"""Cluster forty scene photographs alone, and again with the help of other people's tagged photographs.

Run it with ``python examples/annotated_plsa.py [FOLDER]``. FOLDER holds ``scene8.tar`` (scene photographs of known
classes) and ``flickr8k-captioned.tar`` (photographs with tags), each with a ``manifest.csv`` of columns file, label
and tags; without it, ``images`` in the folder that the environment variable MANYVIEW_DATA names is looked at, or in
``shared/data`` beside the repository. The classes are used to judge the clusters, never to find them. Writes
``demo-output/scenes-alone.jpg`` and ``demo-output/scenes-with-tags.jpg``.
"""

from __future__ import annotations

import csv
import io
import os
import sys
import tarfile
import time
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from sklearn.preprocessing import MultiLabelBinarizer

from manyview import PLSA, AnnotatedPLSA, BagOfWords, annotation_matrix, metrics

N_CLUSTERS, PER_CLASS, N_DRAWS = 4, 10, 10
TILE, GAP, NAME_WIDTH = 96, 4, 230
INK, PAPER, GREY, LINE = (32, 33, 36), (255, 255, 255), (110, 113, 119), (222, 225, 230)


def main() -> int:
    folder = data_folder()
    needed = [folder / "scene8.tar", folder / "flickr8k-captioned.tar"]
    if not all(path.is_file() for path in needed):
        print("This example needs photographs, which are not shipped: scene8.tar and flickr8k-captioned.tar.")
        print("Name their folder:  python examples/annotated_plsa.py FOLDER   (or set MANYVIEW_DATA).")
        return 2
    (scenes, scene_rows), (tagged, tagged_rows) = (read_tar(path) for path in needed)
    start = time.perf_counter()
    # A coarse grid: a few dozen visual words per photograph, which is when help is worth most.
    book = BagOfWords(n_words=300, step=32, cell_widths=(6,), random_state=0).fit([*scenes, *tagged])
    words, tagged_words = book.transform(scenes), book.transform(tagged)
    binarizer = MultiLabelBinarizer(sparse_output=True)
    tags = binarizer.fit_transform([[tag for tag in row["tags"].split(";") if tag] for row in tagged_rows])
    annotations = annotation_matrix(tags, tagged_words)
    print(f"{len(scenes)} scenes, {len(tagged)} tagged photographs with {annotations.shape[0]} different tags,")
    print(f"{words.sum() / len(scenes):.0f} visual words per scene: {time.perf_counter() - start:.0f} s\n")

    classes = sorted({row["label"] for row in scene_rows})[:N_CLUSTERS]
    y = np.array([row["label"] for row in scene_rows])
    print(f"{N_DRAWS} draws of {N_CLUSTERS * PER_CLASS} photographs ({', '.join(classes)}), entropy of the classes in")
    print(f"the clusters (nats, 0 is perfect, {np.log(N_CLUSTERS):.3f} is no information):")
    entropies = []
    for draw in range(N_DRAWS):
        rng = np.random.default_rng(draw)
        rows = np.concatenate([rng.choice(np.flatnonzero(y == c), PER_CLASS, replace=False) for c in classes])
        alone = PLSA(N_CLUSTERS, random_state=draw).fit(words[rows])
        helped = AnnotatedPLSA(N_CLUSTERS, random_state=draw).fit(words[rows], annotations=annotations)
        finer = AnnotatedPLSA(N_CLUSTERS, n_topics=16, random_state=draw).fit(words[rows], annotations=annotations)
        entropies.append([metrics.class_entropy(y[rows], model.labels_) for model in (alone, helped, finer)])
        if draw == 0:
            shown = rows, alone, helped
    mean, deviation = np.mean(entropies, axis=0), np.std(entropies, axis=0, ddof=1)
    methods = ("alone (PLSA)", "with tags (AnnotatedPLSA)", "with tags, 16 topics, then k-means")
    for name, m, d in zip(methods, mean, deviation, strict=True):
        print(f"  {name:<36} {m:.3f} ± {d:.3f}")
    for name, values in zip(methods[1:], np.transpose(entropies)[1:], strict=True):
        gain = np.transpose(entropies)[0] - values
        print(f"  gained {name}: {gain.mean():+.3f} ± {gain.std(ddof=1) / np.sqrt(N_DRAWS):.3f} (standard error)")
    print("\nWhether others' tags help depends on both sides: docs/annotated_plsa.md says when.\n")

    rows, alone, helped = shown
    pictures = [scenes[row] for row in rows]
    names = [[tag for tag, _ in best] for best in helped.top_tags(binarizer.classes_, n=3)]
    output = Path("demo-output")
    output.mkdir(exist_ok=True)
    sheets = [
        (alone, "scenes-alone.jpg", f"alone: entropy {entropies[0][0]:.3f}", None),
        (helped, "scenes-with-tags.jpg", f"with tags: entropy {entropies[0][1]:.3f}", names),
    ]
    for model, file, title, cluster_names in sheets:
        contact_sheet(pictures, y[rows], model.labels_, f"forty scenes, {title}", cluster_names).save(output / file)
        print(f"wrote {output / file}")
    return 0


def data_folder() -> Path:
    if len(sys.argv) > 1:
        return Path(sys.argv[1])
    named = os.environ.get("MANYVIEW_DATA")
    data = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data"
    return data / "images"


def read_tar(path: Path) -> tuple[list[Image.Image], list[dict[str, str]]]:
    """The pictures of a tar file and their rows of its manifest."""
    with tarfile.open(path) as tar:
        manifest = io.TextIOWrapper(tar.extractfile(f"{path.stem}/manifest.csv"), encoding="utf-8")
        rows = list(csv.DictReader(manifest))
        files = [io.BytesIO(tar.extractfile(f"{path.stem}/{row['file']}").read()) for row in rows]
    return [Image.open(file).convert("L") for file in files], rows


def contact_sheet(
    pictures: list[Image.Image], y: np.ndarray, labels: np.ndarray, title: str, names: list[list[str]] | None
) -> Image.Image:
    """One row per cluster, its pictures sorted by class, with the likeliest tags where there are any."""
    n_columns = max(1, int(np.bincount(labels).max()))
    row_height = TILE + 24
    sheet = Image.new("RGB", (NAME_WIDTH + n_columns * (TILE + GAP) + 16, 64 + N_CLUSTERS * row_height), PAPER)
    draw, font, small = ImageDraw.Draw(sheet), ImageFont.load_default(18), ImageFont.load_default(12)
    draw.text((16, 18), title, INK, font)
    for k in range(N_CLUSTERS):
        top = 64 + k * row_height
        members = np.flatnonzero(labels == k)
        members = members[np.argsort(y[members], kind="stable")]
        draw.line((16, top - 8, sheet.width - 16, top - 8), LINE)
        draw.text((16, top), f"cluster {k}: {members.size}", INK, font)
        if names is not None:
            draw.text((16, top + 26), ", ".join(names[k]), GREY, small)
        for column, item in enumerate(members):
            x = NAME_WIDTH + column * (TILE + GAP)
            picture = pictures[item].convert("RGB").resize((TILE, TILE))
            sheet.paste(picture, (x, top))
            draw.text((x, top + TILE), str(y[item]), GREY, small)
    return sheet


if __name__ == "__main__":
    sys.exit(main())
