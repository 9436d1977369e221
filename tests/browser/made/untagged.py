"""Six hundred photographs that nobody has tagged: pieces of twelve that come with scikit-image."""

from __future__ import annotations

import random
from pathlib import Path

import skimage
from PIL import Image, ImageEnhance, ImageOps

SUBJECTS = {
    "astronaut.png": "astronaut",
    "brick.png": "wall",
    "camera.png": "photographer",
    "chelsea.png": "cat",
    "coffee.png": "coffee",
    "coins.png": "coins",
    "grass.png": "grass",
    "hubble_deep_field.jpg": "galaxies",
    "moon.png": "moon",
    "motorcycle_left.png": "motorcycle",
    "page.png": "page",
    "rocket.jpg": "rocket",
}
EACH = 50


def take_photographs(folder: Path) -> dict[str, str]:
    """Cut, mirrored and exposed at random, in no order, called as a camera calls them: name -> what it shows."""
    draw, made = random.Random(0), []  # noqa: S311  not a secret
    for name, subject in SUBJECTS.items():
        with Image.open(Path(skimage.__file__).parent / "data" / name) as opened:
            whole = opened.convert("RGB")
        for _ in range(EACH):
            side = int(min(whole.size) * draw.uniform(0.6, 0.95))
            left, top = draw.randint(0, whole.width - side), draw.randint(0, whole.height - side)
            part = whole.crop((left, top, left + side, top + side)).resize((160, 160))
            if draw.random() < 0.5:
                part = ImageOps.mirror(part)
            made.append((ImageEnhance.Brightness(part).enhance(draw.uniform(0.8, 1.2)), subject))
    draw.shuffle(made)
    folder.mkdir()
    shows = {}
    for number, (picture, subject) in enumerate(made):
        shows[f"DSC{number:05}.jpg"] = subject
        picture.save(folder / f"DSC{number:05}.jpg", quality=90)
    return shows
