"""Why is this item here, and what is this cluster about: answers as plain data and as a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ParameterError
from ...figures import percent
from ._reader import Channels, Reader
from ._state import DIVISOR, MEMBERS, NORM, SCATTER, SLACK, Block, Field, Rules

__all__ = ["explain_cluster", "explain_items"]

Names = Mapping[str, Sequence[str]]


def explain_cluster(
    field: Field, rules: Rules, channels: Channels, groups: list[Any], j: int, names: Names, top: int
) -> dict[str, Any]:
    """Size, group, and for each view its scatter with the tags or the content features that matter. O(J d)."""
    _check_names(channels, names)
    views: dict[str, Any] = {}
    for k, view in enumerate(channels.names):
        part: dict[str, Any] = {
            "kind": "content" if k < channels.n_content else "tags",
            "members": int(field.numbers[MEMBERS, k, j]),
            "scatter": float(field.figures[SCATTER, k, j]),
            "contribution": float(field.shares[k]),
        }
        if k < channels.n_content:
            part["features"] = _telling_features(field, rules, k, j, names.get(view), top)
        else:
            part["tags"] = _key_tags(field, rules, k, j, names.get(view), top)
        views[view] = part
    size, group = int(field.size[j]), int(field.group[j])
    found = {
        "cluster": j,
        "size": size,
        "share": size / max(1, int(field.size.sum())),
        "group": groups[group] if group >= 0 else None,
        "views": {name: views[name] for name in _view_order(channels)},
    }
    return {**found, "text": _cluster_sentence(found)}


def _key_tags(field: Field, rules: Rules, k: int, j: int, names: Any, top: int) -> list[dict[str, Any]]:
    """The tags of the largest probability; lift compares it with the probability over all clusters."""
    t, n_clusters = k - (rules.content_at.size - 1), int(field.tally[0])
    counts = field.counts[int(rules.tags_at[t]) : int(rules.tags_at[t + 1]), :n_clusters]
    divisor = field.figures[DIVISOR, k, :n_clusters]
    if divisor[j] == 0:
        return []
    own = counts[:, j] / divisor[j]
    weight = np.where(divisor > 0, field.numbers[MEMBERS, k, :n_clusters], 0)
    overall = (counts / np.where(divisor > 0, divisor, 1.0)) @ weight / max(1, weight.sum())
    order = np.argsort(-own, kind="stable")[:top]
    return [
        {
            "tag": _name(names, m),
            "index": int(m),
            "probability": float(own[m]),
            "lift": float(own[m] / overall[m]) if overall[m] > 0 else 1.0,
        }
        for m in order.tolist()
        if own[m] > 0
    ]


def _telling_features(field: Field, rules: Rules, k: int, j: int, names: Any, top: int) -> list[dict[str, Any]]:
    """Features that set the cluster apart, each with its range in the units of the input.

    ``separation`` is how much wider the cluster's box would have to be on this feature to take in another cluster,
    averaged over the others by size: what this feature says against joining them, in the method's own measure.
    """
    if field.numbers[MEMBERS, k, j] == 0:
        return []
    cut = slice(int(rules.content_at[k]), int(rules.content_at[k + 1]))
    n_clusters = int(field.tally[0])
    own = field.corner[j, cut].astype(np.float64) + field.ceiling[j, cut]
    separation = np.zeros(own.size)
    total = 0.0
    for a in range(n_clusters):
        if a != j and field.numbers[MEMBERS, k, a] > 0:
            weight = float(field.numbers[MEMBERS, k, a])
            hull = np.minimum(field.corner[j, cut], field.corner[a, cut]).astype(np.float64)
            hull += np.minimum(field.ceiling[j, cut], field.ceiling[a, cut])
            separation += weight * (own - hull)
            total += weight
    separation /= max(total, 1.0)
    low, span = field.low[cut], field.high[cut] - field.low[cut]
    ranked = separation if total else own
    return [
        {
            "feature": _name(names, i),
            "index": int(i),
            "low": float(low[i] + field.corner[j, cut][i] * span[i]),
            "high": float(low[i] + (1.0 - field.ceiling[j, cut][i]) * span[i]),
            "firmness": float(own[i]),
            "separation": float(separation[i]),
        }
        for i in np.argsort(-ranked, kind="stable")[:top].tolist()
    ]


def explain_items(
    field: Field, rules: Rules, reader: Reader, labels: NDArray[Any], names: Names, top: int
) -> list[dict[str, Any]]:
    """For each item the choice value of its cluster, split by channel and, in tag channels, by tag."""
    _check_names(reader.channels, names)
    answers = []
    for row in range(reader.n_items):
        j = int(labels[row])
        if j < 0:
            answers.append({"cluster": -1, "choice": 0.0, "views": {}, "text": "It resembles no cluster."})
        else:
            block = reader.block(slice(row, row + 1), field)
            answers.append(_explain_item(field, rules, reader.channels, block, j, names, top))
    return answers


def _explain_item(
    field: Field, rules: Rules, channels: Channels, block: Block, j: int, names: Names, top: int
) -> dict[str, Any]:
    from ._kernels import intersection

    views: dict[str, Any] = {}
    for k, view in enumerate(channels.names):
        share = float(field.shares[k])
        part: dict[str, Any] = {"contribution": share, "match": None, "vigilance": float(rules.vigilance[k])}
        part["value"] = 0.0
        views[view] = part
        if not block.has[0, k] or field.numbers[MEMBERS, k, j] == 0:
            continue
        weight = share / (rules.choice + float(field.figures[NORM, k, j]))
        if k < channels.n_content:
            cut = slice(int(rules.content_at[k]), int(rules.content_at[k + 1]))
            common = float(intersection(block.coded[0, cut], field.corner[j, cut], field.ceiling[j, cut]))
            part["match"] = common / (cut.stop - cut.start)
        else:
            t = k - channels.n_content
            ids = block.tag_ids[block.tag_start[0, t] : block.tag_start[0, t] + block.n_tags[0, t]]
            if ids.size == 0 or field.figures[DIVISOR, k, j] == 0:
                continue
            own = field.counts[ids, j] / field.figures[DIVISOR, k, j]
            common = float(field.counts[ids, j].sum(dtype=np.int64)) / float(field.figures[DIVISOR, k, j])
            part["match"] = common / ids.size
            order = np.argsort(-own, kind="stable")[:top].tolist()
            first = int(rules.tags_at[t])
            part["tags"] = [
                {
                    "tag": _name(names.get(view), int(ids[q]) - first),
                    "index": int(ids[q]) - first,
                    "probability": float(own[q]),
                    "value": float(own[q] * weight),
                }
                for q in order
            ]
        part["value"] = common * weight
    total = sum(part["value"] for part in views.values())
    for part in views.values():
        part["share"] = part["value"] / total if total > 0 else 0.0
        part["passes"] = part["match"] is None or part["match"] >= part["vigilance"] * SLACK
    ordered = {name: views[name] for name in _view_order(channels)}
    found = {"cluster": j, "size": int(field.size[j]), "choice": total, "views": ordered}
    return {**found, "text": _item_sentence(found)}


def _view_order(channels: Channels) -> list[str]:
    return [name for _, name in sorted(zip(channels.views, channels.names, strict=True))]


def _cluster_sentence(found: dict[str, Any]) -> str:
    parts = []
    for name, part in found["views"].items():
        if part.get("tags"):
            listed = ", ".join(
                f"{_word('tag', tag['tag'])} ({percent(tag['probability'])})" for tag in part["tags"][:3]
            )
            parts.append(f"{name} {listed}")
        elif part.get("features"):
            listed = ", ".join(
                f"{_word('feature', feature['feature'])} {feature['low']:.3g} to {feature['high']:.3g}"
                for feature in part["features"][:2]
            )
            parts.append(f"{name} {listed}")
    what = "; ".join(parts) if parts else "nothing in common yet"
    whose = f", the group {found['group']!r}" if found["group"] is not None else ""
    return f"Cluster {found['cluster']}{whose} holds {found['size']} items ({percent(found['share'])}): {what}."


def _item_sentence(found: dict[str, Any]) -> str:
    parts = []
    for name, part in sorted(found["views"].items(), key=lambda pair: -pair[1]["share"]):
        if part["share"] > 0:
            known = [tag for tag in part.get("tags", []) if tag["probability"] > 0][:2]
            why = f", mostly {' and '.join(_word('tag', tag['tag']) for tag in known)}" if known else ""
            parts.append(f"{name} speaks for {percent(part['share'])} of it{why}")
    return f"Joins cluster {found['cluster']} ({found['size']} items): {'; '.join(parts) or 'nothing speaks for it'}."


def _word(kind: str, name: Any) -> str:
    return f"{kind} {name}" if isinstance(name, int) else str(name)


def _name(names: Any, index: int) -> Any:
    return index if names is None else str(names[index])


def _check_names(channels: Channels, names: Names) -> None:
    widths = dict(zip(channels.names, channels.widths, strict=True))
    for view, listed in names.items():
        if view not in widths:
            raise ParameterError(f"names are given for view {view!r}; the views are {', '.join(channels.names)}.")
        width = widths[view]
        if len(listed) != width:
            raise ParameterError(f"view {view!r} has {width} features, but {len(listed)} names were given.")
