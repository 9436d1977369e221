"""A round of robust multi-view k-means on a graphics processor. As ``_robust_assignment``, with tensors for labels.

Labels, residuals and sums are those of every other engine but for the order of float64 sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ....data.source import Rows, RowSource
from ....gpu.cheapest import Views, cheapest_clusters, make_views
from ....gpu.device import device_name, to_device
from ....gpu.pieces import cut_by_cluster
from ....gpu.sums import lengths_and_sums
from .._robust_assignment import Frame, Partial, Round, assign_block, open_views

__all__ = ["round_leaf", "suits"]

_ALIGNED = 16


def suits(source: RowSource, shared: Round) -> bool:
    """Dense views of one type, by the rule of the paper; the others are worked on by threads."""
    views = shared.frame.views
    return shared.frame.rule == "literal" and not any(v.is_sparse for v in views) and len({v.dtype for v in views}) == 1


@dataclass
class _Held:
    """Rows on the device, and where the columns of each view are among theirs."""

    views: Views
    weight: Any
    all_count: bool  # is every weight above zero?
    columns: list[slice]
    eps: Any


def _held(rows: Rows, frame: Frame) -> _Held:
    """The rows of a group on the device; they stay there as long as the rows are open."""
    import torch

    key = ("device", frame.key)
    if key not in rows.made:
        opened = open_views(rows, frame)
        widths = [-(-view.n_features // _ALIGNED) * _ALIGNED for view in opened]
        starts = [sum(widths[:v]) for v in range(len(widths))]
        columns = [slice(start, start + view.n_features) for start, view in zip(starts, opened, strict=True)]
        n_rows = opened[0].present.size
        matrix = torch.zeros((n_rows, sum(widths)), dtype=getattr(torch, str(opened[0].dtype)), device=device_name())
        scale = torch.zeros(sum(widths), dtype=torch.float64, device=device_name())
        for view, here in zip(opened, columns, strict=True):
            to_device(view.matrix, matrix[:, here])
            if view.shift is not None:
                matrix[:, here] -= to_device(view.shift)
            scale[here] = to_device(view.scale).double()
        present = to_device(np.array([view.present for view in opened], dtype=np.uint8))
        views = make_views(matrix, present, widths, scale)
        weight = to_device(rows["weight"]).double()
        rows.made[key] = _Held(views, weight, bool((weight > 0).all()), columns, to_device(frame.eps).double())
    held: _Held = rows.made[key]
    return held


def _points(held: _Held, points: Any) -> Any:
    """Centroids of all views side by side, in the type of the rows."""
    import torch

    together = np.zeros((len(points[0]), held.views.rows.shape[1]))
    for part, here in zip(points, held.columns, strict=True):
        together[:, here] = part
    return torch.from_numpy(together).to(device_name()).to(held.views.rows.dtype)


def round_leaf(rows: Rows, shared: Round, state: Any) -> tuple[Partial, Any]:
    """Assign the rows of a group, measure their residuals, and add them up for the next centroids."""
    import torch

    frame = shared.frame
    held = _held(rows, frame)
    labels = state if isinstance(state, torch.Tensor) else to_device(state).int()
    centroids = _points(held, shared.points)
    weights = 0.5 * to_device(shared.weights)[:, None] / _lengths(rows, held, shared, labels).double()
    fresh, tied = cheapest_clusters(held.views, centroids, weights)
    if tied.numel():
        fresh[tied] = _settled(rows, shared, tied, weights)
    pieces = cut_by_cluster(fresh, frame.n_clusters)
    lengths, sums, mass, totals = lengths_and_sums(held.views, held.weight, centroids, held.eps, pieces)
    rows.kept["lengths", frame.key, "device"] = (shared.name, lengths)
    counts = pieces.sizes if held.all_count else torch.bincount(fresh[held.weight > 0], minlength=frame.n_clusters)
    n_moved = _moved(rows, shared, labels, fresh)
    # One answer, one wait: numbers of rows are exact in float64.
    found = torch.cat([sums, mass, totals, counts.double()[:, None], n_moved.double().expand(counts.numel(), 1)], dim=1)
    answer, (width, V) = found.cpu().numpy(), (sums.shape[1], held.views.n_views)
    return Partial(
        [np.ascontiguousarray(answer[:, here]) for here in held.columns],
        list(np.ascontiguousarray(answer[:, width : width + V].T)),
        answer[:, width + V : width + 2 * V].sum(axis=0),
        answer[:, -2].astype(np.int64),
        n_moved=int(answer[0, -1]),
    ), fresh


def _lengths(rows: Rows, held: _Held, shared: Round, labels: Any) -> Any:
    """Residuals of the round before (V, n): as they were kept, or from its labels and points again."""
    import torch

    if shared.first_lengths is not None:
        lengths = to_device(shared.first_lengths)[:, None].expand(held.views.present.shape)
        return torch.where(held.views.present != 0, lengths, torch.inf)
    name, kept = rows.kept.get(("lengths", shared.frame.key, "device"), ("", None))
    if kept is not None and name == shared.last_name:
        return kept
    pieces = cut_by_cluster(labels, shared.frame.n_clusters)
    return lengths_and_sums(held.views, held.weight, _points(held, shared.last), held.eps, pieces)[0]


def _settled(rows: Rows, shared: Round, tied: Any, weights: Any) -> Any:
    """Labels of rows that are tied, as this process decides them."""
    which = tied.cpu().numpy()
    few = rows.taken(which)
    labels = assign_block(open_views(few, shared.frame), slice(0, which.size), shared, weights[:, tied].cpu().numpy())
    return to_device(labels.astype(np.int32))


def _moved(rows: Rows, shared: Round, before: Any, fresh: Any) -> Any:
    """How many rows have another label than before, as a tensor."""
    import torch

    here = {i - rows.start: k for i, k in shared.reseeded.items() if 0 <= i - rows.start < before.numel()}
    if here:
        before = before.clone()
        before[torch.tensor(list(here), device=device_name())] = torch.tensor(
            list(here.values()), dtype=before.dtype, device=device_name()
        )
    return (fresh != before).sum()
