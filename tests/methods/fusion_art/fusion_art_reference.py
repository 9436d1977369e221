"""GHF-ART as plainly as it can be written: every step of every presentation, over every cluster, from the members."""

from fractions import Fraction

import numpy as np


def literal_art(content, tags, rho=(0.1, 0.1), alpha=0.01, beta=1.0, adaptive=True, gamma=(0.5, 0.5)):
    """One pass in the given order. content: (n, d) in [0, 1]; tags: lists of tag numbers, or None for content only.

    Returns labels, the contributions after every presentation, and the mean difference D of every channel.
    """
    clusters, labels, trace = [], [], []
    gamma = np.array(gamma, dtype=float)
    for i, raw in enumerate(np.asarray(content, dtype=float)):
        x = np.concatenate([raw, 1.0 - raw])
        own = tags[i] if tags is not None else []
        best, winner = -1.0, -1
        for j, c in enumerate(clusters):
            common = np.minimum(x, c["w"]).sum()
            value = gamma[0] * common / (alpha + c["w"].sum())
            passes = common / raw.size >= rho[0]
            if tags is not None and len(own) and c["counts"]:
                held = sum(c["counts"].get(m, 0) for m in own)
                shared = held / len(c["members"])
                passes = passes and Fraction(held, len(c["members"]) * len(own)) >= Fraction(str(rho[1]))
                value += gamma[1] * shared / (alpha + sum(c["counts"].values()) / len(c["members"]))
            if passes and value > best:
                best, winner = value, j
        if winner < 0:
            winner = len(clusters)
            clusters.append({"w": x.copy(), "members": [], "counts": {}, "spill": 0.0})
        c = clusters[winner]
        if c["members"]:
            least = np.minimum(x, c["w"])
            c["w"] = beta * least + (1.0 - beta) * c["w"]
            c["spill"] += np.maximum(c["w"] - x, 0.0).sum()
        c["members"].append(i)
        for m in own:
            c["counts"][m] = c["counts"].get(m, 0) + 1
        labels.append(winner)
        differences = np.array([_content_difference(c, raw.size) for c in clusters]).mean()
        if tags is not None:
            differences = np.array(
                [differences, np.mean([tag_difference([tags[i] for i in c["members"]]) for c in clusters])]
            )
            if adaptive:
                # A channel in which no tag was seen yet has no say; it could change no choice.
                seen = np.array([True, any(c["counts"] for c in clusters)])
                gamma = np.where(seen, np.exp(-differences), 0.0)
                gamma = gamma / gamma.sum()
        else:
            gamma = np.array([1.0])
        trace.append(gamma.copy())
    return np.array(labels), np.array(trace), clusters


def _content_difference(cluster, width):
    """The bound (15), unrolled: for beta 1 it is the definition (11)."""
    norm, members = cluster["w"].sum(), len(cluster["members"])
    return (width - norm + 2.0 * cluster["spill"] / members) / norm


def tag_difference(members):
    """Definition (11) of a tag channel, from the members."""
    size = len(members)
    counts = {}
    for tags in members:
        for m in tags:
            counts[m] = counts.get(m, 0) + 1
    if not counts:
        return 0.0
    p = np.array(list(counts.values())) / size
    numbers = {m: k for k, m in enumerate(counts)}
    distance = 0.0
    for tags in members:
        x = np.zeros(p.size)
        x[[numbers[m] for m in tags]] = 1.0
        distance += np.abs(p - x).sum()
    return distance / size / p.sum()


def content_difference(w, rows):
    """Definition (11) of a complement-coded content channel. w: (2 d,); rows: (n, d)"""
    coded = np.hstack([rows, 1.0 - rows])
    return np.abs(w - coded).sum(axis=1).mean() / w.sum()
