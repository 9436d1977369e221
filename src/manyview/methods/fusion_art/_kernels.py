"""The loops of FusionART that look: scale rows, find the cluster an item resonates with, label items.

Content lives on a grid of steps 2**-24 inside [0, 1]. Numbers on it, and one minus them, are exact in float32, and
sums of up to 2**29 of them are exact in float64. So every intersection and norm is exact, no order of additions can
change a label, and vector registers may be used freely.

``field``, ``rules``, ``block`` and ``room`` are the tuples of ``_fusion_art_state``, which gives types and shapes.
Loops that run once per item take the arrays they need instead of whole tuples: handing over an array
costs two atomic operations. j is a cluster, k a channel, t = k - Kc a tag channel, row a row of the block.
"""

import numpy as np

from ...kernel import kernel
from ._state import DIVISOR, GRID, MARGIN, MEMBERS, N_CLUSTERS, NORM, REACH, SLACK, TRACK_PRINTED, TRACK_STEP


@kernel
def scale_row(raw, low, high, stretch, x):
    """Bring one row to [0, 1] and onto the grid; values outside are clipped. Returns how many were outside."""
    outside = 0
    for i in range(x.shape[0]):
        value = (raw[i] - low[i]) * stretch[i]
        outside += (raw[i] < low[i]) | (raw[i] > high[i])
        x[i] = np.floor(min(max(value, 0.0), GRID) + 0.5) * (1.0 / GRID)
    return outside


@kernel
def scale_rows(X, rows, has, low, high, stretch, coded, start):
    """Scale chosen rows of one view. Returns how many values were outside the bounds.

    IN  X: (m, width) float; rows: intp (n,); has: bool (n,), rows that are there
    OUT coded: float32 (n, d), of which the columns from ``start`` on are written
    """
    outside = 0
    for i in range(rows.shape[0]):
        if has[i]:
            outside += scale_row(X[rows[i]], low, high, stretch, coded[i, start : start + X.shape[1]])
    return outside


@kernel
def gather_tags(indices, indptr, rows, first, ids):
    """Column numbers of some CSR rows, one row after another, ``first`` added. OUT ids: int64"""
    at = 0
    for i in range(rows.shape[0]):
        for q in range(indptr[rows[i]], indptr[rows[i] + 1]):
            ids[at] = indices[q] + first
            at += 1


@kernel
def intersection(x, corner, ceiling):
    """|x ^ w| of a complement-coded channel, exact. x, corner, ceiling: float32 on the grid."""
    total = 0.0
    one = np.float32(1.0)
    for i in range(x.shape[0]):
        total += np.float64(min(x[i], corner[i]) + min(one - x[i], ceiling[i]))
    return total


@kernel
def add_counts(counts, ids, n_clusters, overlap):
    """Sum the counts of some tags for every cluster. OUT overlap: int64 (room,)"""
    overlap = overlap[:n_clusters]
    for j in range(overlap.shape[0]):
        overlap[j] = 0
    for q in range(ids.shape[0]):
        row = counts[ids[q], :n_clusters]
        for j in range(row.shape[0]):
            overlap[j] += row[j]


@kernel
def winner(
    corner, ceiling, figures, members, shares, content_at, content_need, tag_need,
    has, n_tags, x, overlap, upper, left, allowed, n_clusters, choice, prune, strict,
):  # fmt: skip
    """The allowed cluster of the largest T, the lowest number on ties; among those that match, if ``strict``.

    Bounds on T cost one pass over clusters; content is read only where the bound is above the best T so far. The
    cluster of the largest bound is tried first. Returns -1 if there is none.

    IN  members: int64 (K, room); has: bool (K,); n_tags: int64 (Kt,); the rest as in the tuples they come from
    OUT upper: float64 (room,), bounds on T; left: int64 (room,), clusters that are left after the tags
    """
    n_content = content_at.shape[0] - 1
    upper = upper[:n_clusters]
    for j in range(upper.shape[0]):
        upper[j] = 0.0
    for k in range(n_content):
        if has[k]:
            share = shares[k]
            reach = figures[REACH, k, :n_clusters]
            for j in range(upper.shape[0]):
                upper[j] += share * reach[j]
    for t in range(n_tags.shape[0]):
        if has[n_content + t] and n_tags[t] > 0:
            share = shares[n_content + t]
            need = tag_need[t, n_tags[t]] * (2.0 - MARGIN) if strict and prune else -1.0
            reach = figures[REACH, n_content + t, :n_clusters]
            divisor = figures[DIVISOR, n_content + t, :n_clusters]
            common = overlap[t, :n_clusters]
            for j in range(upper.shape[0]):
                more = upper[j] + share * (common[j] * reach[j])
                upper[j] = more if common[j] >= need * divisor[j] else -9.0
    n_left = 0
    for j in range(upper.shape[0]):
        left[n_left] = j
        n_left += (upper[j] >= 0.0) & allowed[j]
    first = np.int64(-1)
    top = -1.0
    for c in range(n_left):
        if upper[left[c]] > top:
            top = upper[left[c]]
            first = left[c]
    best = -1.0
    found = np.int64(-1)
    for turn in range(-1 if prune and first >= 0 else 0, n_left):
        j = first if turn < 0 else left[turn]
        bound = upper[j] * MARGIN
        if prune and (bound < best or (bound <= best and j >= found) or (turn >= 0 and j == first)):
            continue
        total = 0.0
        matches = True
        for t in range(n_tags.shape[0]):
            k = n_content + t
            if has[k] and n_tags[t] > 0 and figures[DIVISOR, k, j] > 0.0:
                common_here = overlap[t, j] / figures[DIVISOR, k, j]
                matches = matches and overlap[t, j] >= tag_need[t, n_tags[t]] * figures[DIVISOR, k, j]
                total += shares[k] * (common_here / (choice + figures[NORM, k, j]))
        rest = 0.0
        for k in range(n_content):
            if has[k] and members[k, j] > 0:
                # The intersection is at most the norm, so a box that is too wide fails unseen.
                matches = matches and figures[NORM, k, j] >= content_need[k]
                rest += shares[k] * figures[REACH, k, j]
        for k in range(n_content):
            if (strict and not matches) or (prune and (total + rest) * MARGIN < best):
                break
            if has[k] and members[k, j] > 0:
                start, stop = content_at[k], content_at[k + 1]
                common_here = intersection(x[start:stop], corner[j, start:stop], ceiling[j, start:stop])
                matches = matches and common_here >= content_need[k]
                total += shares[k] * (common_here / (choice + figures[NORM, k, j]))
                rest -= shares[k] * figures[REACH, k, j]
        if strict and not matches:
            continue
        if total > best or (total == best and j < found):
            best = total
            found = j
    return found


@kernel
def tracked_winner(field, rules, block, room, row):
    """Search in the order of T, changing the vigilance after each cluster that fails (the paper's (10)).

    ``printed`` sets every channel's vigilance to the failed cluster's match plus a little; ``monotone`` does so only
    for channels that passed, and never lowers one.
    """
    n_content = rules.content_at.shape[0] - 1
    n_channels = field.shares.shape[0]
    n_clusters = field.tally[N_CLUSTERS]
    upper = room.upper[:n_clusters]
    for j in range(n_clusters):
        upper[j] = -1.0
        if not room.allowed[j]:
            continue
        total = 0.0
        for k in range(n_channels):
            room.match[k, j] = 1.0
            if not block.has[row, k] or field.numbers[MEMBERS, k, j] == 0:
                continue
            if k < n_content:
                start, stop = rules.content_at[k], rules.content_at[k + 1]
                x = block.coded[row, start:stop]
                common = intersection(x, field.corner[j, start:stop], field.ceiling[j, start:stop])
                size = stop - start
            else:
                size = block.n_tags[row, k - n_content]
                if size == 0 or field.figures[DIVISOR, k, j] == 0.0:
                    continue
                common = room.overlap[k - n_content, j] / field.figures[DIVISOR, k, j]
            room.match[k, j] = common / np.float64(size)
            total += field.shares[k] * (common / (rules.choice + field.figures[NORM, k, j]))
        upper[j] = total
    for k in range(n_channels):
        room.limit[k] = rules.vigilance[k] if k < n_content else rules.vigilance[k] * SLACK
    while True:
        found = np.int64(-1)
        best = -1.0
        for j in range(n_clusters):
            if upper[j] > best:
                best = upper[j]
                found = j
        if found < 0:
            return found
        passes = True
        for k in range(n_channels):
            passes = passes and room.match[k, found] >= room.limit[k]
        if passes:
            return found
        upper[found] = -1.0
        for k in range(n_channels):
            raised = room.match[k, found] + TRACK_STEP
            if rules.tracking == TRACK_PRINTED:
                room.limit[k] = raised
            elif room.match[k, found] >= room.limit[k]:
                room.limit[k] = max(room.limit[k], raised)


@kernel
def place_rows(field, rules, block, room, novelty, labels):
    """Label rows with the field as it stands. OUT labels: int64 (n,); -1 where ``novelty`` finds no match"""
    n_content, n_clusters = rules.content_at.shape[0] - 1, field.tally[N_CLUSTERS]
    for row in range(labels.shape[0]):
        has, n_tags = block.has[row], block.n_tags[row]
        for t in range(n_tags.shape[0]):
            if has[n_content + t] and n_tags[t] > 0:
                begin = block.tag_start[row, t]
                add_counts(field.counts, block.tag_ids[begin : begin + n_tags[t]], n_clusters, room.overlap[t])
        labels[row] = -1
        for strict in (novelty, False):
            found = winner(
                field.corner, field.ceiling, field.figures, field.numbers[MEMBERS], field.shares, rules.content_at,
                rules.content_need, rules.tag_need, has, n_tags, block.coded[row], room.overlap, room.upper,
                room.left, room.allowed, n_clusters, rules.choice, rules.prune, strict,
            )  # fmt: skip
            if strict and found < 0:
                break
            labels[row] = found
            if not novelty:
                break
