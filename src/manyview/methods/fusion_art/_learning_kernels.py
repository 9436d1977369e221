"""The loops of FusionART that learn: present items, move prototypes, widen bounds, weigh the channels again.

Names, tuples and letters are those of ``_fusion_art_kernels``, whose loops find the winner and say
which match passes.
"""

import numpy as np

from ...kernel import kernel
from ._kernels import add_counts, scale_row, tracked_winner, winner
from ._state import (
    DIVISOR,
    GRID,
    KEPT,
    MEMBERS,
    N_CLUSTERS,
    NORM,
    PRESENTED,
    REACH,
    REFRESH,
    SCATTER,
    SKIP,
    SMALL_NORM,
    SPILL,
    STRIDE,
    TAG_SQUARE,
    TAG_SUM,
)


@kernel
def erode(x, corner, ceiling, rate):
    """Move a content prototype towards x ^ w by ``rate``. Returns its new norm, and the spill of x."""
    norm = 0.0
    spill = 0.0
    grid, step, one, none = np.float32(GRID), np.float32(1.0 / GRID), np.float32(1.0), np.float32(0.0)
    keep = np.float32(1.0 - rate)
    for i in range(x.shape[0]):
        # Sums of the two halves are on the grid and at most 1, so float32 holds them exactly.
        here, there = x[i], one - x[i]
        least = min(here, corner[i])
        new = np.rint((least + keep * (corner[i] - least)) * grid) * step
        least = min(there, ceiling[i])
        new_ceiling = np.rint((least + keep * (ceiling[i] - least)) * grid) * step
        corner[i] = new
        ceiling[i] = new_ceiling
        norm += np.float64(new + new_ceiling)
        spill += np.float64(max(new - here, none) + max(new_ceiling - there, none))
    return norm, spill


@kernel
def set_content_scatter(figures, total_scatter, members, choice, width, k, j):
    """D of a content channel by the paper's (15) unrolled, and what follows from it."""
    norm = figures[NORM, k, j]
    figures[REACH, k, j] = norm / (choice + norm)
    new = (width - norm + 2.0 * figures[SPILL, k, j] / members) / max(norm, SMALL_NORM * width)
    total_scatter[k] += new - figures[SCATTER, k, j]
    figures[SCATTER, k, j] = new


@kernel
def set_tag_scatter(figures, numbers, total_scatter, choice, fuzzy, k, j):
    """D of a tag channel, exact: 2 (1 - S2 / (L S1)); for fuzzy tags the bound of content channels."""
    members = np.float64(numbers[MEMBERS, k, j])
    total = np.float64(numbers[TAG_SUM, k, j])
    divisor = 0.0
    norm = 0.0
    new = 0.0
    if total > 0.0 and fuzzy:
        norm = figures[NORM, k, j]
        divisor = GRID
        new = (total / members - norm + 2.0 * figures[SPILL, k, j] / members) / max(norm, SMALL_NORM)
    elif total > 0.0:
        norm = total / members
        divisor = members
        new = 2.0 * (1.0 - np.float64(numbers[TAG_SQUARE, k, j]) / (members * total))
    figures[NORM, k, j] = norm
    figures[DIVISOR, k, j] = divisor
    figures[REACH, k, j] = 1.0 / (divisor * (choice + norm)) if divisor > 0.0 else 0.0
    total_scatter[k] += new - figures[SCATTER, k, j]
    figures[SCATTER, k, j] = new


@kernel
def widen(field, rules, raw, has):
    """Widen the bounds to hold one row, and map every prototype to the new bounds.

    Boxes keep their place in the units of the data; rounding is downwards, so a box never shrinks and D stays an
    upper bound. Only features that widened are touched.
    """
    n_clusters = field.tally[N_CLUSTERS]
    for k in range(rules.content_at.shape[0] - 1):
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
                if field.numbers[MEMBERS, k, j] > 0:
                    corner = (field.corner[j, i] * span + (low - new_low)) * scale
                    ceiling = (field.ceiling[j, i] * span + (new_high - high)) * scale
                    field.corner[j, i] = np.floor(min(max(corner, 0.0), 1.0) * GRID) * (1.0 / GRID)
                    field.ceiling[j, i] = np.floor(min(max(ceiling, 0.0), 1.0) * GRID) * (1.0 / GRID)
            field.low[i], field.high[i], field.stretch[i] = new_low, new_high, GRID * scale
        if not widened:
            continue
        field.varies[k] = True
        for j in range(n_clusters):
            members = field.numbers[MEMBERS, k, j]
            if members > 0:
                total = 0.0
                corner_row, ceiling_row = field.corner[j, start:stop], field.ceiling[j, start:stop]
                for i in range(corner_row.shape[0]):
                    total += np.float64(corner_row[i]) + np.float64(ceiling_row[i])
                field.figures[NORM, k, j] = total
                field.figures[SPILL, k, j] *= factor
                width = np.float64(stop - start)
                set_content_scatter(field.figures, field.total_scatter, members, rules.choice, width, k, j)


@kernel
def fade(counts, ids, mark, first, stop, rate, j):
    """Fuzzy learning of tags: those the item lacks lose weight. Returns the new norm, and the item's spill."""
    for q in range(ids.shape[0]):
        mark[ids[q]] = True
    norm = 0
    spill = 0
    for m in range(first, stop):
        if counts[m, j] > 0 and not mark[m]:
            counts[m, j] = np.int32(counts[m, j] * (1.0 - rate) + 0.5)
            spill += counts[m, j]
        norm += counts[m, j]
    for q in range(ids.shape[0]):
        mark[ids[q]] = False
    return norm / GRID, spill / GRID


@kernel
def weigh(shares, total_scatter, seen_in, varies):
    """gamma = exp(-D) / sum exp(-D), D the mean over the clusters in which the channel was ever present."""
    least = np.inf
    for k in range(shares.shape[0]):
        shares[k] = total_scatter[k] / seen_in[k] if seen_in[k] > 0 else 0.0
        if varies[k]:
            least = min(least, shares[k])
    if least == np.inf:
        for k in range(shares.shape[0]):
            shares[k] = 1.0 / shares.shape[0]
        return
    total = 0.0
    for k in range(shares.shape[0]):
        shares[k] = np.exp(least - shares[k]) if varies[k] else 0.0
        total += shares[k]
    for k in range(shares.shape[0]):
        shares[k] /= total


@kernel
def unlearn(field, rules, block, row, j, spills):
    """Take an item out of cluster j before it is presented again. Counts are exact; boxes stay as they are."""
    n_content = rules.content_at.shape[0] - 1
    figures, numbers = field.figures, field.numbers
    for k in range(field.shares.shape[0]):
        n_tags = block.n_tags[row, k - n_content] if k >= n_content else 0
        if not block.has[row, k] or (rules.fuzzy and k >= n_content and n_tags == 0):
            continue
        if k >= n_content:
            begin = block.tag_start[row, k - n_content]
            for q in range(begin, begin + n_tags):
                if not rules.fuzzy:
                    m = block.tag_ids[q]
                    numbers[TAG_SQUARE, k, j] -= 2 * np.int64(field.counts[m, j]) - 1
                    field.counts[m, j] -= 1
            numbers[TAG_SUM, k, j] -= n_tags
        numbers[MEMBERS, k, j] -= 1
        members = numbers[MEMBERS, k, j]
        figures[SPILL, k, j] = max(figures[SPILL, k, j] - spills[k], 0.0)
        if members == 0:
            field.seen_in[k] -= 1
            field.total_scatter[k] -= figures[SCATTER, k, j]
            for f in range(figures.shape[0]):
                figures[f, k, j] = 0.0
            if k >= n_content:
                for m in range(rules.tags_at[k - n_content], rules.tags_at[k - n_content + 1]):
                    field.counts[m, j] = 0
        elif k < n_content:
            width = np.float64(rules.content_at[k + 1] - rules.content_at[k])
            set_content_scatter(figures, field.total_scatter, members, rules.choice, width, k, j)
        else:
            set_tag_scatter(figures, numbers, field.total_scatter, rules.choice, rules.fuzzy, k, j)
    field.size[j] -= 1


@kernel
def keep_history(scatter, total_scatter, shares, tally, history, history_at):
    """Take down the shares of now in bounded space, and free the sums of D from drift, each when it is time."""
    n_channels = shares.shape[0]
    if tally[PRESENTED] % REFRESH == 0:
        for k in range(n_channels):
            total = 0.0
            for j in range(tally[N_CLUSTERS]):
                total += scatter[k, j]
            total_scatter[k] = total
    if tally[KEPT] == history_at.shape[0]:
        # Full: keep every second row, which leaves the multiples of twice the stride.
        kept = tally[KEPT] // 2
        for h in range(kept):
            history_at[h] = history_at[2 * h + 1]
            for k in range(n_channels):
                history[h, k] = history[2 * h + 1, k]
        tally[KEPT] = kept
        tally[STRIDE] *= 2
    if tally[PRESENTED] % tally[STRIDE] == 0:
        for k in range(n_channels):
            history[tally[KEPT], k] = shares[k]
        history_at[tally[KEPT]] = tally[PRESENTED]
        tally[KEPT] += 1


@kernel
def present_rows(field, rules, block, room, start, forced, previous, spills, keep_spills, labels):
    """Present rows ``start, start + 1, ...`` one after another; stops where there is no room for a new cluster.

    IN  forced: int64 (n,), the cluster an item must join, FREE or SKIP
        previous: int64 (n,), the cluster it left behind in the epoch before, or -1
    OUT spills: float64 (n, K), each item's own spill, or (1, K) if they are not to be kept; labels: int64 (n,)
    Returns the number of the first row that was not presented.
    """
    low, high, stretch, corner, ceiling = field.low, field.high, field.stretch, field.corner, field.ceiling
    counts, figures, numbers, shares, tally = field.counts, field.figures, field.numbers, field.shares, field.tally
    members, total_scatter, seen_in, varies = numbers[MEMBERS], field.total_scatter, field.seen_in, field.varies
    content_at, tags_at, choice, fuzzy = rules.content_at, rules.tags_at, rules.choice, rules.fuzzy
    content_need, tag_need, matching = rules.content_need, rules.tag_need, rules.tracking == 0
    overlap, upper, allowed = room.overlap, room.upper, room.allowed
    n_content, n_channels = content_at.shape[0] - 1, shares.shape[0]
    for row in range(start, labels.shape[0]):
        if tally[N_CLUSTERS] == field.size.shape[0]:
            return row
        if forced[row] == SKIP:
            continue
        own = row if keep_spills else 0
        has, n_tags, x = block.has[row], block.n_tags[row], block.coded[row]
        if block.raw.shape[0] > 0:
            raw = block.raw[row]
            widen(field, rules, raw, has)
            for k in range(n_content):
                cut = slice(content_at[k], content_at[k + 1])
                if has[k]:
                    scale_row(raw[cut], low[cut], high[cut], stretch[cut], x[cut])
        left = previous[row]
        alone = left >= 0 and field.size[left] == 1
        if left >= 0 and not alone:
            unlearn(field, rules, block, row, left, spills[own])
        n_clusters = tally[N_CLUSTERS]
        j = forced[row]
        if j < 0:
            for t in range(n_tags.shape[0]):
                if has[n_content + t] and n_tags[t] > 0:
                    begin = block.tag_start[row, t]
                    add_counts(counts, block.tag_ids[begin : begin + n_tags[t]], n_clusters, overlap[t])
            if matching:
                j = winner(
                    corner, ceiling, figures, members, shares, content_at, content_need, tag_need,
                    has, n_tags, x, overlap, upper, room.left, allowed, n_clusters, choice, rules.prune, matching,
                )  # fmt: skip
            else:
                j = tracked_winner(field, rules, block, room, row)
        tally[PRESENTED] += 1
        if alone and (j == left or j < 0):
            j = left
        else:
            if alone:
                unlearn(field, rules, block, row, left, spills[own])
                allowed[left] = False
            if j < 0:
                j = n_clusters
                tally[N_CLUSTERS] += 1
            field.size[j] += 1
            for k in range(n_channels):
                spills[own, k] = 0.0
                if not has[k] or (fuzzy and k >= n_content and n_tags[k - n_content] == 0):
                    continue  # nothing is known about its tags, so none of them fades
                fresh = members[k, j] == 0
                members[k, j] += 1
                seen_in[k] += fresh
                if k < n_content:
                    first, stop = content_at[k], content_at[k + 1]
                    if fresh:
                        for i in range(first, stop):
                            corner[j, i] = x[i]
                            ceiling[j, i] = np.float32(1.0) - x[i]
                        figures[NORM, k, j] = stop - first
                    else:
                        figures[NORM, k, j], spills[own, k] = erode(
                            x[first:stop], corner[j, first:stop], ceiling[j, first:stop], rules.rate
                        )
                    figures[SPILL, k, j] += spills[own, k]
                    set_content_scatter(figures, total_scatter, members[k, j], choice, np.float64(stop - first), k, j)
                    continue
                t = k - n_content
                begin = block.tag_start[row, t]
                varies[k] |= n_tags[t] > 0
                if fuzzy and numbers[TAG_SUM, k, j] > 0:
                    ids = block.tag_ids[begin : begin + n_tags[t]]
                    figures[NORM, k, j], spills[own, k] = fade(
                        counts, ids, room.mark, tags_at[t], tags_at[t + 1], rules.rate, j
                    )
                    figures[SPILL, k, j] += spills[own, k]
                elif fuzzy:
                    for q in range(begin, begin + n_tags[t]):
                        counts[block.tag_ids[q], j] = np.int32(GRID)
                    figures[NORM, k, j] = n_tags[t]
                else:
                    for q in range(begin, begin + n_tags[t]):
                        m = block.tag_ids[q]
                        numbers[TAG_SQUARE, k, j] += 2 * np.int64(counts[m, j]) + 1
                        counts[m, j] += 1
                numbers[TAG_SUM, k, j] += n_tags[t]
                set_tag_scatter(figures, numbers, total_scatter, choice, fuzzy, k, j)
            if rules.adaptive:
                weigh(shares, total_scatter, seen_in, varies)
        labels[row] = j
        if tally[PRESENTED] % tally[STRIDE] == 0 or tally[PRESENTED] % REFRESH == 0:
            keep_history(figures[SCATTER], total_scatter, shares, tally, field.history, field.history_at)
    return labels.shape[0]
