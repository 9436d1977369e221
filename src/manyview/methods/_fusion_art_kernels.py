"""The loops of FusionART: find the cluster an item resonates with, learn it, weigh the channels again.

Words and the paper's symbols: ``corner`` and ``ceiling`` are the two halves of a complement-coded content prototype
w; ``norm`` is |w|; ``members`` L; ``spill`` E, a bound on how far members lie below w; ``scatter`` D, the paper's
Difference; ``shares`` gamma.

Content lives on a grid of steps 2**-24 inside [0, 1]. Numbers on it, and one minus them, are exact in float32, and
sums of up to 2**29 of them are exact in float64. So every intersection and norm is exact, no order of additions can
change a label, and vector registers may be used freely.

Channels are numbered content first, then tags: K = Kc + Kt. Arrays over clusters have room for more than there are.
"""

from typing import NamedTuple

import numpy as np

from ..kernel import kernel

GRID = 2.0**24
# An upper bound may be wrong by rounding; with this margin pruning never changes a label.
MARGIN = 1.0 + 1e-9
SMALL_NORM = 1e-6
REFRESH = 1024
N_CLUSTERS, PRESENTED, KEPT, STRIDE = 0, 1, 2, 3
FREE, SKIP = -1, -2
TRACK_PRINTED, TRACK_MONOTONE = 1, 2
TRACK_STEP = 1e-6


class Field(NamedTuple):
    """Everything that is learned. All arrays; ``room`` is the number of clusters there is space for."""

    low: np.ndarray  # float64 (d,), bounds of each content feature, all content channels side by side
    high: np.ndarray
    stretch: np.ndarray  # float64 (d,): steps of the grid per unit of the data; 0 where a feature has no range
    corner: np.ndarray  # float32 (room, d), on the grid
    ceiling: np.ndarray  # float32 (room, d), one minus the upper corner
    counts: np.ndarray  # (n_tags, room), int32; float32 on the grid where tags are learned the fuzzy way
    norm: np.ndarray  # float64 (K, room)
    divisor: np.ndarray  # float64 (Kt, room): members, 1 for fuzzy tags; 0 where no tag was ever seen
    reach: np.ndarray  # float64 (K, room): norm / (choice + norm); for tags 1 / (divisor * (choice + norm))
    members: np.ndarray  # int64 (K, room), members that have the channel
    tag_sum: np.ndarray  # int64 (Kt, room): S1
    tag_square: np.ndarray  # int64 (Kt, room): S2
    spill: np.ndarray  # float64 (K, room): E
    scatter: np.ndarray  # float64 (K, room): D
    size: np.ndarray  # int64 (room,), all members
    group: np.ndarray  # int64 (room,), number of the person's group, or -1
    total_scatter: np.ndarray  # float64 (K,)
    seen_in: np.ndarray  # int64 (K,), clusters in which the channel was ever present
    shares: np.ndarray  # float64 (K,): gamma
    varies: np.ndarray  # bool (K,), can this channel tell items apart at all
    tally: np.ndarray  # int64 (4,): clusters, presentations, history rows, presentations per history row
    history: np.ndarray  # float64 (rows, K)
    history_at: np.ndarray  # int64 (rows,)


class Rules(NamedTuple):
    """The settings, in the form the loops want."""

    content_at: np.ndarray  # int64 (Kc + 1,), where each content channel begins
    tags_at: np.ndarray  # int64 (Kt + 1,)
    vigilance: np.ndarray  # float64 (K,)
    content_need: np.ndarray  # float64 (Kc,): smallest intersection that passes
    tag_need: np.ndarray  # float64 (Kt, most tags + 1): the same, by the number of tags of the item
    choice: float  # alpha
    rate: float  # beta
    adaptive: bool
    fuzzy: bool
    tracking: int
    prune: bool


class Block(NamedTuple):
    """Some rows of the data, content side by side and tags as lists."""

    raw: np.ndarray  # float64 (n, d)
    has: np.ndarray  # bool (n, K)
    tag_start: np.ndarray  # int64 (Kt, n)
    tag_stop: np.ndarray  # int64 (Kt, n)
    tag_ids: np.ndarray  # int64, rows of ``counts``


class Room(NamedTuple):
    """Space to work in."""

    x: np.ndarray  # float32 (d,), the item at hand, on the grid
    overlap: np.ndarray  # (Kt, room), sums of counts over the item's tags
    upper: np.ndarray  # float64 (room,)
    allowed: np.ndarray  # bool (room,), clusters that may win
    mark: np.ndarray  # bool (n_tags,), all False between uses
    match: np.ndarray  # float64 (K, room), for match tracking only
    limit: np.ndarray  # float64 (K,), likewise


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
def intersection(x, corner, ceiling):
    """|x ^ w| of a complement-coded channel, exact. x, corner, ceiling: float32 on the grid."""
    total = 0.0
    one = np.float32(1.0)
    for i in range(x.shape[0]):
        total += np.float64(min(x[i], corner[i]) + min(one - x[i], ceiling[i]))
    return total


@kernel
def erode(x, corner, ceiling, rate):
    """Move a content prototype towards x ^ w by ``rate``. Returns its new norm, and the spill of x."""
    norm = 0.0
    spill = 0.0
    keep = 1.0 - rate
    for i in range(x.shape[0]):
        here = np.float64(x[i])
        old = np.float64(corner[i])
        least = min(here, old)
        new = np.floor((least + keep * (old - least)) * GRID + 0.5) * (1.0 / GRID)
        corner[i] = new
        there = 1.0 - here
        old = np.float64(ceiling[i])
        least = min(there, old)
        new_ceiling = np.floor((least + keep * (old - least)) * GRID + 0.5) * (1.0 / GRID)
        ceiling[i] = new_ceiling
        norm += new + new_ceiling
        spill += max(new - here, 0.0) + max(new_ceiling - there, 0.0)
    return norm, spill


@kernel
def widen(field, rules, raw, has):
    """Widen the bounds to hold one row, and map every prototype to the new bounds.

    Boxes keep their place in the units of the data; rounding is downwards, so a box never shrinks and D stays an
    upper bound. Only features that widened are touched.
    """
    n_content = rules.content_at.shape[0] - 1
    n_clusters = field.tally[N_CLUSTERS]
    for k in range(n_content):
        if not has[k]:
            continue
        start, stop = rules.content_at[k], rules.content_at[k + 1]
        factor = 0.0
        widened = False
        for i in range(start, stop):
            low, high = field.low[i], field.high[i]
            new_low, new_high = min(low, raw[i]), max(high, raw[i])
            if new_low == low and new_high == high:
                factor = 1.0
                continue
            widened = True
            span = high - low
            scale = 1.0 / (new_high - new_low)
            factor = max(factor, span * scale)
            for j in range(n_clusters):
                if field.members[k, j] > 0:
                    corner = (field.corner[j, i] * span + (low - new_low)) * scale
                    ceiling = (field.ceiling[j, i] * span + (new_high - high)) * scale
                    field.corner[j, i] = np.floor(min(max(corner, 0.0), 1.0) * GRID) * (1.0 / GRID)
                    field.ceiling[j, i] = np.floor(min(max(ceiling, 0.0), 1.0) * GRID) * (1.0 / GRID)
            field.low[i], field.high[i], field.stretch[i] = new_low, new_high, GRID * scale
        if not widened:
            continue
        field.varies[k] = True
        for j in range(n_clusters):
            if field.members[k, j] > 0:
                total = 0.0
                corner_row, ceiling_row = field.corner[j, start:stop], field.ceiling[j, start:stop]
                for i in range(corner_row.shape[0]):
                    total += np.float64(corner_row[i]) + np.float64(ceiling_row[i])
                field.norm[k, j] = total
                field.spill[k, j] *= factor
                _content_scatter(field, rules, k, j, np.float64(stop - start))


@kernel
def _content_scatter(field, rules, k, j, width):
    """D of a content channel by the paper's (15) unrolled, and what follows from it."""
    norm = field.norm[k, j]
    field.reach[k, j] = norm / (rules.choice + norm)
    new = (width - norm + 2.0 * field.spill[k, j] / field.members[k, j]) / max(norm, SMALL_NORM * width)
    field.total_scatter[k] += new - field.scatter[k, j]
    field.scatter[k, j] = new


@kernel
def _tag_scatter(field, rules, k, j, n_content):
    """D of a tag channel, exact: 2 (1 - S2 / (L S1)); for fuzzy tags the bound of content channels."""
    t = k - n_content
    members = np.float64(field.members[k, j])
    total = np.float64(field.tag_sum[t, j])
    new = 0.0
    if total == 0.0:
        field.divisor[t, j] = 0.0
        field.reach[k, j] = 0.0
        field.norm[k, j] = 0.0
    elif rules.fuzzy:
        norm = field.norm[k, j]
        field.divisor[t, j] = 1.0
        field.reach[k, j] = 1.0 / (rules.choice + norm)
        new = (total / members - norm + 2.0 * field.spill[k, j] / members) / max(norm, SMALL_NORM)
    else:
        field.norm[k, j] = total / members
        field.divisor[t, j] = members
        field.reach[k, j] = 1.0 / (rules.choice * members + total)
        new = 2.0 * (1.0 - np.float64(field.tag_square[t, j]) / (members * total))
    field.total_scatter[k] += new - field.scatter[k, j]
    field.scatter[k, j] = new


@kernel
def weigh(field, rules):
    """gamma = exp(-D) / sum exp(-D), D the mean over the clusters in which the channel was ever present."""
    if not rules.adaptive:
        return
    shares = field.shares
    n_channels = shares.shape[0]
    least = np.inf
    for k in range(n_channels):
        shares[k] = field.total_scatter[k] / field.seen_in[k] if field.seen_in[k] > 0 else 0.0
        if field.varies[k]:
            least = min(least, shares[k])
    if least == np.inf:
        shares[:] = 1.0 / n_channels
        return
    total = 0.0
    for k in range(n_channels):
        shares[k] = np.exp(least - shares[k]) if field.varies[k] else 0.0
        total += shares[k]
    for k in range(n_channels):
        shares[k] /= total


@kernel
def add_overlaps(field, rules, block, room, row, n_content):
    """Sum the counts of the item's tags for every cluster; rows of ``counts`` are contiguous over clusters."""
    n_clusters = field.tally[N_CLUSTERS]
    for t in range(block.tag_start.shape[0]):
        ids = block.tag_ids[block.tag_start[t, row] : block.tag_stop[t, row]]
        if not block.has[row, n_content + t] or ids.shape[0] == 0:
            continue
        overlap = room.overlap[t, :n_clusters]
        overlap[:] = 0
        for q in range(ids.shape[0]):
            counts = field.counts[ids[q], :n_clusters]
            for j in range(counts.shape[0]):
                overlap[j] += counts[j]


@kernel
def choice_value(field, rules, block, room, row, j, best, strict):
    """T of one cluster, or -1 where it fails a vigilance (``strict``) or cannot reach ``best``."""
    n_content = rules.content_at.shape[0] - 1
    total = 0.0
    for t in range(block.tag_start.shape[0]):
        k = n_content + t
        n_tags = block.tag_stop[t, row] - block.tag_start[t, row]
        divisor = field.divisor[t, j]
        if block.has[row, k] and n_tags > 0 and divisor > 0.0:
            common = room.overlap[t, j] / divisor
            if strict and common < rules.tag_need[t, n_tags]:
                return -1.0
            total += field.shares[k] * (common / (rules.choice + field.norm[k, j]))
    rest = 0.0
    for k in range(n_content):
        if block.has[row, k] and field.members[k, j] > 0:
            # The intersection is at most the norm, so a box that is too wide fails unseen.
            if strict and field.norm[k, j] < rules.content_need[k]:
                return -1.0
            rest += field.shares[k] * field.reach[k, j]
    for k in range(n_content):
        if block.has[row, k] and field.members[k, j] > 0:
            if rules.prune and (total + rest) * MARGIN < best:
                return -1.0
            start, stop = rules.content_at[k], rules.content_at[k + 1]
            common = intersection(room.x[start:stop], field.corner[j, start:stop], field.ceiling[j, start:stop])
            if strict and common < rules.content_need[k]:
                return -1.0
            total += field.shares[k] * (common / (rules.choice + field.norm[k, j]))
            rest -= field.shares[k] * field.reach[k, j]
    return total


@kernel
def winner(field, rules, block, room, row, strict):
    """The allowed cluster of the largest T, the lowest number on ties; among those that match, if ``strict``.

    Bounds on T cost one pass over clusters; content is read only where the bound is above the best T so far. The
    cluster of the largest bound is tried first. Returns -1 if there is none.
    """
    n_content = rules.content_at.shape[0] - 1
    n_clusters = field.tally[N_CLUSTERS]
    upper = room.upper[:n_clusters]
    allowed = room.allowed[:n_clusters]
    upper[:] = 0.0
    for k in range(n_content):
        if block.has[row, k]:
            reach = field.reach[k, :n_clusters]
            share = field.shares[k]
            for j in range(upper.shape[0]):
                upper[j] += share * reach[j]
    for t in range(block.tag_start.shape[0]):
        n_tags = block.tag_stop[t, row] - block.tag_start[t, row]
        if block.has[row, n_content + t] and n_tags > 0:
            overlap = room.overlap[t, :n_clusters]
            reach = field.reach[n_content + t, :n_clusters]
            divisor = field.divisor[t, :n_clusters]
            share = field.shares[n_content + t]
            need = rules.tag_need[t, n_tags] * (2.0 - MARGIN) if strict and rules.prune else -1.0
            for j in range(upper.shape[0]):
                more = upper[j] + share * (overlap[j] * reach[j])
                upper[j] = more if overlap[j] >= need * divisor[j] else -9.0
    best = -1.0
    found = -1
    first = 0
    top = -1.0
    for j in range(upper.shape[0]):
        upper[j] = upper[j] if allowed[j] else -9.0
        if upper[j] > top:
            top = upper[j]
            first = j
    if top < 0.0:
        return -1
    if rules.prune:
        value = choice_value(field, rules, block, room, row, first, best, strict)
        if value >= 0.0:
            best = value
            found = first
        upper[first] = -9.0
    for j in range(upper.shape[0]):
        if upper[j] < 0.0:
            continue
        bound = upper[j] * MARGIN
        if rules.prune and (bound < best or (bound <= best and j > found)):
            continue
        value = choice_value(field, rules, block, room, row, j, best, strict)
        if value > best or (value >= 0.0 and value == best and j < found):
            best = value
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
            if not block.has[row, k]:
                continue
            if k < n_content:
                if field.members[k, j] == 0:
                    continue
                start, stop = rules.content_at[k], rules.content_at[k + 1]
                common = intersection(room.x[start:stop], field.corner[j, start:stop], field.ceiling[j, start:stop])
                size = np.float64(stop - start)
            else:
                t = k - n_content
                n_tags = block.tag_stop[t, row] - block.tag_start[t, row]
                if n_tags == 0 or field.divisor[t, j] == 0.0:
                    continue
                common = room.overlap[t, j] / field.divisor[t, j]
                size = np.float64(n_tags)
            room.match[k, j] = common / size
            total += field.shares[k] * (common / (rules.choice + field.norm[k, j]))
        upper[j] = total
    room.limit[:] = rules.vigilance
    while True:
        found = -1
        best = -1.0
        for j in range(n_clusters):
            if upper[j] > best:
                best = upper[j]
                found = j
        if found < 0:
            return -1
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
def _learn_tags(field, rules, ids, mark, t, k, j):
    """Count the tags of one more member; or, the fuzzy way, let the absent ones fade. Returns the spill."""
    spill = 0.0
    counts = field.counts
    if not rules.fuzzy:
        for q in range(ids.shape[0]):
            old = np.int64(counts[ids[q], j])
            field.tag_square[t, j] += 2 * old + 1
            counts[ids[q], j] += 1
    elif field.tag_sum[t, j] == 0:
        for q in range(ids.shape[0]):
            counts[ids[q], j] = 1
        field.norm[k, j] = ids.shape[0]
    else:
        for q in range(ids.shape[0]):
            mark[ids[q]] = True
        norm = 0.0
        for m in range(rules.tags_at[t], rules.tags_at[t + 1]):
            value = np.float64(counts[m, j])
            if value > 0.0 and not mark[m]:
                value = np.floor(value * (1.0 - rules.rate) * GRID + 0.5) * (1.0 / GRID)
                counts[m, j] = value
                spill += value
            norm += value
        field.norm[k, j] = norm
        for q in range(ids.shape[0]):
            mark[ids[q]] = False
    field.tag_sum[t, j] += ids.shape[0]
    return spill


@kernel
def learn(field, rules, block, room, row, j, spills):
    """Make the item a member of cluster j, which may be empty still. OUT spills: float64 (K,)"""
    n_content = rules.content_at.shape[0] - 1
    for k in range(field.shares.shape[0]):
        spills[k] = 0.0
        if not block.has[row, k]:
            continue
        if k < n_content:
            start, stop = rules.content_at[k], rules.content_at[k + 1]
            x, corner, ceiling = room.x[start:stop], field.corner[j, start:stop], field.ceiling[j, start:stop]
            if field.members[k, j] == 0:
                field.seen_in[k] += 1
                for i in range(x.shape[0]):
                    corner[i] = x[i]
                    ceiling[i] = np.float32(1.0) - x[i]
                field.norm[k, j] = x.shape[0]
            else:
                field.norm[k, j], spills[k] = erode(x, corner, ceiling, rules.rate)
            field.members[k, j] += 1
            field.spill[k, j] += spills[k]
            _content_scatter(field, rules, k, j, np.float64(stop - start))
        else:
            t = k - n_content
            ids = block.tag_ids[block.tag_start[t, row] : block.tag_stop[t, row]]
            if rules.fuzzy and ids.shape[0] == 0:
                continue  # nothing is known about its tags, so no tag fades
            if field.members[k, j] == 0:
                field.seen_in[k] += 1
            field.members[k, j] += 1
            spills[k] = _learn_tags(field, rules, ids, room.mark, t, k, j)
            field.spill[k, j] += spills[k]
            _tag_scatter(field, rules, k, j, n_content)
    field.size[j] += 1


@kernel
def unlearn(field, rules, block, room, row, j, spills):
    """Take an item out of cluster j before it is presented again. Counts are exact; content boxes stay."""
    n_content = rules.content_at.shape[0] - 1
    for k in range(field.shares.shape[0]):
        if not block.has[row, k]:
            continue
        t = k - n_content
        if k >= n_content:
            ids = block.tag_ids[block.tag_start[t, row] : block.tag_stop[t, row]]
            if rules.fuzzy and ids.shape[0] == 0:
                continue
            if not rules.fuzzy:
                for q in range(ids.shape[0]):
                    old = np.int64(field.counts[ids[q], j])
                    field.tag_square[t, j] -= 2 * old - 1
                    field.counts[ids[q], j] -= 1
            field.tag_sum[t, j] -= ids.shape[0]
        field.members[k, j] -= 1
        field.spill[k, j] = max(field.spill[k, j] - spills[k], 0.0)
        if field.members[k, j] == 0:
            field.seen_in[k] -= 1
            field.total_scatter[k] -= field.scatter[k, j]
            field.scatter[k, j] = 0.0
            field.norm[k, j] = 0.0
            field.reach[k, j] = 0.0
            field.spill[k, j] = 0.0
            if k >= n_content:
                field.divisor[t, j] = 0.0
                field.tag_sum[t, j] = 0
                for m in range(rules.tags_at[t], rules.tags_at[t + 1]):
                    field.counts[m, j] = 0
        elif k < n_content:
            _content_scatter(field, rules, k, j, np.float64(rules.content_at[k + 1] - rules.content_at[k]))
        else:
            _tag_scatter(field, rules, k, j, n_content)
    field.size[j] -= 1


@kernel
def count_presentation(field):
    """Keep the history of the shares in bounded space, and the sums of D free of drift."""
    tally = field.tally
    tally[PRESENTED] += 1
    if tally[PRESENTED] % REFRESH == 0:
        for k in range(field.shares.shape[0]):
            total = 0.0
            for j in range(tally[N_CLUSTERS]):
                total += field.scatter[k, j]
            field.total_scatter[k] = total
    if tally[PRESENTED] % tally[STRIDE] != 0:
        return
    if tally[KEPT] == field.history_at.shape[0]:
        # Full: keep every second row, which leaves the multiples of twice the stride.
        kept = tally[KEPT] // 2
        for h in range(kept):
            field.history[h] = field.history[2 * h + 1]
            field.history_at[h] = field.history_at[2 * h + 1]
        tally[KEPT] = kept
        tally[STRIDE] *= 2
        if tally[PRESENTED] % tally[STRIDE] != 0:
            return
    field.history[tally[KEPT]] = field.shares
    field.history_at[tally[KEPT]] = tally[PRESENTED]
    tally[KEPT] += 1


@kernel
def present_rows(field, rules, block, room, start, forced, previous, spills, keep_spills, labels):
    """Present rows ``start, start + 1, ...`` one after another; stops where there is no room for a new cluster.

    IN  forced: int64 (n,), the cluster an item must join, FREE or SKIP
        previous: int64 (n,), the cluster it left behind in the epoch before, or -1
    OUT spills: float64 (n, K), each item's own spill, or (1, K) if they are not to be kept; labels: int64 (n,)
    Returns the number of the first row that was not presented.
    """
    n_content = rules.content_at.shape[0] - 1
    tally = field.tally
    for row in range(start, labels.shape[0]):
        if tally[N_CLUSTERS] == field.size.shape[0]:
            return row
        if forced[row] == SKIP:
            continue
        has = block.has[row]
        own = spills[row if keep_spills else 0]
        raw = block.raw[row]
        for k in range(n_content):
            first, stop = rules.content_at[k], rules.content_at[k + 1]
            if has[k]:
                low, high, stretch = field.low[first:stop], field.high[first:stop], field.stretch[first:stop]
                x = room.x[first:stop]
                if scale_row(raw[first:stop], low, high, stretch, x) > 0:
                    widen(field, rules, raw, has)
                    scale_row(raw[first:stop], low, high, stretch, x)
        left = previous[row]
        alone = left >= 0 and field.size[left] == 1
        if left >= 0 and not alone:
            unlearn(field, rules, block, room, row, left, own)
        if forced[row] >= 0:
            j = forced[row]
        else:
            add_overlaps(field, rules, block, room, row, n_content)
            if rules.tracking > 0:
                j = tracked_winner(field, rules, block, room, row)
            else:
                j = winner(field, rules, block, room, row, True)
        if alone:
            if j == left or j < 0:
                labels[row] = left
                count_presentation(field)
                continue
            unlearn(field, rules, block, room, row, left, own)
            room.allowed[left] = False
        if j < 0:
            j = tally[N_CLUSTERS]
            tally[N_CLUSTERS] += 1
        learn(field, rules, block, room, row, j, own)
        weigh(field, rules)
        count_presentation(field)
        labels[row] = j
    return labels.shape[0]


@kernel
def place_rows(field, rules, block, room, novelty, labels):
    """Label rows with the field as it stands. OUT labels: int64 (n,); -1 where ``novelty`` finds no match"""
    n_content = rules.content_at.shape[0] - 1
    for row in range(labels.shape[0]):
        for k in range(n_content):
            if block.has[row, k]:
                first, stop = rules.content_at[k], rules.content_at[k + 1]
                low, high, stretch = field.low[first:stop], field.high[first:stop], field.stretch[first:stop]
                scale_row(block.raw[row, first:stop], low, high, stretch, room.x[first:stop])
        add_overlaps(field, rules, block, room, row, n_content)
        j = winner(field, rules, block, room, row, False)
        if novelty and j >= 0 and choice_value(field, rules, block, room, row, j, -1.0, True) < 0.0:
            if winner(field, rules, block, room, row, True) < 0:
                j = -1
        labels[row] = j
