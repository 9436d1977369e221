"""A collection that keeps growing: batches arrive, clusters open, the say of each channel settles.

Run it with ``python examples/fusion_art_stream.py``. Photos of six themes come in twelve batches; the themes turn up
one after the other, looks are weak and some tags are noise. No batch is kept and none is seen twice. It prints a line
per batch and writes ``demo-output/fusion_art_stream.svg``. A few seconds, plus compiling on the first run.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

from manyview import FusionART, metrics

THEMES = ["beach", "dogs", "wedding", "snow", "city", "garden"]
WORDS = {
    "beach": ["sea", "sand", "wave", "holiday"],
    "dogs": ["dog", "puppy", "park", "ball"],
    "wedding": ["bride", "church", "dance", "family"],
    "snow": ["snow", "ski", "mountain", "holiday"],
    "city": ["street", "night", "tower", "bus"],
    "garden": ["flower", "bee", "tree", "family"],
}
NOISE = ["nikon", "canon", "2012", "best", "geotagged", "square", "bw", "me", "explore", "favourite"]
TAGS = sorted({word for words in WORDS.values() for word in words}) + NOISE
N_BATCHES, BATCH, N_FEATURES = 12, 250, 24
COLOURS = ("#2563aa", "#c2571a", "#4d7c3a")


def batch(rng: np.random.Generator, number: int, centres: np.ndarray) -> tuple[dict, np.ndarray]:
    """Looks and tags of one batch. A new theme turns up every second batch."""
    themes = rng.integers(min(len(THEMES), 1 + number // 2), size=BATCH)
    looks = np.clip(centres[themes] + 0.16 * rng.standard_normal((BATCH, N_FEATURES)), 0, 1)
    tags = np.zeros((BATCH, len(TAGS)))
    for row, theme in enumerate(themes):
        if rng.random() < 0.05:
            continue  # nobody tagged this one
        own = rng.permutation(WORDS[THEMES[theme]])[: rng.integers(1, 4)]
        for word in [*own, *rng.choice(NOISE, rng.integers(0, 3), replace=False)]:
            tags[row, TAGS.index(str(word))] = 1
    return {"looks": looks, "tags": csr_matrix(tags)}, themes


def main() -> None:
    rng = np.random.default_rng(0)
    centres = 0.5 + 0.22 * rng.standard_normal((len(THEMES), N_FEATURES))
    model = FusionART(vigilance={"looks": 0.3, "tags": 0.15})
    lines = []
    print("batch  items  clusters  new  purity   looks   tags")
    for number in range(N_BATCHES):
        views, themes = batch(rng, number, centres)
        before = getattr(model, "n_clusters_", 0)
        labels = model.partial_fit(views).labels_
        purity = metrics.purity(themes, labels)
        lines.append((model.cluster_sizes_.sum(), model.n_clusters_, purity))
        looks, tags = model.contributions_
        print(
            f"{number + 1:5}  {model.cluster_sizes_.sum():5}  {model.n_clusters_:8}  {model.n_clusters_ - before:3}  "
            f"{purity:6.3f}  {looks:6.3f} {tags:6.3f}"
        )
    print("\nthe largest clusters:")
    for j in np.argsort(-model.cluster_sizes_)[:6]:
        print(" ", model.explain_cluster(int(j), names={"tags": TAGS}, top=3)["text"])
    one, _ = batch(rng, N_BATCHES, centres)
    print("\none more photo:")
    print(" ", model.explain({name: view[:1] for name, view in one.items()}, names={"tags": TAGS})[0]["text"])
    kept = sum(array.nbytes for array in model.field_.values())
    print(f"\nall that is kept: {kept / 1024:.0f} KiB for {model.cluster_sizes_.sum():,} photos")
    path = Path("demo-output") / "fusion_art_stream.svg"
    path.parent.mkdir(exist_ok=True)
    path.write_text(draw(model, lines), encoding="utf-8")
    print(f"\nwritten: {path}")


def draw(model: FusionART, lines: list[tuple[int, int, float]]) -> str:
    """Two panels over the number of photos seen: the say of each channel, and the number of clusters."""
    n_items = lines[-1][0]
    share, at = model.contributions_history_, model.history_items_
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 470" font-family="sans-serif" font-size="13">',
        '<rect width="760" height="470" fill="white"/>',
    ]
    parts += _panel("say of each channel", 40, 1.0, n_items)
    for k, name in enumerate(("looks", "tags")):
        points = " ".join(f"{_x(a, n_items):.1f},{_y(v, 40, 1.0):.1f}" for a, v in zip(at, share[:, k], strict=True))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[k]}" stroke-width="2"/>')
        parts.append(f'<text x="668" y="{_y(share[-1, k], 40, 1.0) + 4:.0f}" fill="{COLOURS[k]}">{name}</text>')
    top = float(max(clusters for _, clusters, _ in lines))
    parts += _panel("clusters", 260, top, n_items)
    steps = [(0, 0), *((seen, clusters) for seen, clusters, _ in lines)]
    points = " ".join(f"{_x(seen, n_items):.1f},{_y(clusters, 260, top):.1f}" for seen, clusters in steps)
    parts.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[2]}" stroke-width="2"/>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _x(seen: float, n_items: int) -> float:
    return 60 + 600 * seen / n_items


def _y(value: float, top: int, largest: float) -> float:
    return top + 160 * (1 - value / largest)


def _panel(title: str, top: int, largest: float, n_items: int) -> list[str]:
    parts = [f'<text x="60" y="{top - 12}" fill="#202124" font-weight="bold">{title}</text>']
    for value in (0.0, largest / 2, largest):
        y = _y(value, top, largest)
        parts.append(f'<line x1="60" y1="{y}" x2="660" y2="{y}" stroke="#dee1e6"/>')
        parts.append(f'<text x="52" y="{y + 4}" text-anchor="end" fill="#6e7177">{value:g}</text>')
    for part in range(5):
        seen = n_items * part // 4
        parts.append(
            f'<text x="{_x(seen, n_items):.0f}" y="{top + 180}" text-anchor="middle" fill="#6e7177">{seen:,}</text>'
        )
    return parts


if __name__ == "__main__":
    main()
