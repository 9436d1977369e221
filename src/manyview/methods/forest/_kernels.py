"""Compiled loops of TagForest: grow one tree on binned features, and send items down finished trees.

Symbols of the paper: S the items at a node, L and R those of its children, P(i) the summed values of tag i,
q = sum_i P(i)^2. The best split has the largest q_L/|L| + q_R/|R|, which is the layer-wise Gini gain (5) up to terms
that are the same for every split.
"""

import numpy as np

from ...kernel import kernel

TIE = 1.0 + 1e-12  # scores closer than this count as equal; the one found first is kept
GAIN = 1.0 + 1e-9  # a split must beat its node by this
INSERTION = 48  # below this many items, insertion sort beats counting
FAINT = 0.02  # a share of an item below this is not divided any further

_GOLDEN, _MIX1, _MIX2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@kernel
def below(state, bound):
    """A random integer in [0, bound), from splitmix64. state: uint64 (1,), advanced."""
    state[0] += _GOLDEN
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * _MIX1
    z = (z ^ (z >> np.uint64(27))) * _MIX2
    z = z ^ (z >> np.uint64(31))
    return np.int64(((z >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


@kernel
def draw(features, first, stop, state):
    """Put a random one of features[first:stop] at ``first`` and return it. features: int32 (d,), permuted."""
    pick = first + below(state, stop - first)
    features[first], features[pick] = features[pick], features[first]
    return features[first]


@kernel
def target_layer(layer_ptr, tag, value, members, total, square, touched, slot, local_ptr, local_tag, local_value, mate):
    """Find the first layer whose values are not constant on the node, and copy its tags side by side.

    layer_ptr: int64 (n_layers, n + 1); tag: int32, value: float32, the layers' CSR rows one after the other; members:
    int32 (|S|,). OUT local_ptr, local_tag, local_value: CSR rows of the tags that vary; mate: float64 (|S|,), sum over
    an item's tags of v P_S. total, square, slot, touched are scratch, left clean (zeros, slot -1).
    Returns (layer, number of tags that vary, q_S); layer -1 where every layer is constant.
    """
    n = members.shape[0]
    for layer in range(layer_ptr.shape[0]):
        ptr = layer_ptr[layer]
        n_touched = 0
        for a in range(n):
            s = members[a]
            for e in range(ptr[s], ptr[s + 1]):
                i, v = tag[e], np.float64(value[e])
                if square[i] == 0.0:
                    touched[n_touched] = i
                    n_touched += 1
                total[i] += v
                square[i] += v * v
        n_local = 0
        for j in range(n_touched):
            i = touched[j]
            if n * square[i] - total[i] * total[i] > 1e-6 * n:
                slot[i] = n_local
                n_local += 1
        used = 0
        if n_local > 0:
            for a in range(n):
                s = members[a]
                local_ptr[a] = used
                weight = 0.0
                for e in range(ptr[s], ptr[s + 1]):
                    if slot[tag[e]] >= 0:
                        local_tag[used] = slot[tag[e]]
                        local_value[used] = value[e]
                        weight += value[e] * total[tag[e]]
                        used += 1
                mate[a] = weight
            local_ptr[n] = used
        q = 0.0
        for j in range(n_touched):
            i = touched[j]
            if slot[i] >= 0:
                q += total[i] * total[i]
            slot[i] = -1
            total[i] = 0.0
            square[i] = 0.0
        if n_local > 0:
            return layer, n_local, q
    return -1, 0, 0.0


@kernel
def sort_codes(column, members, codes, order, spare_codes, spare_order, counts):
    """Sort the node's items by their code of one feature, in a stable way.

    column: uint8 or uint16 (n,); members: int32 (|S|,). OUT codes: int32 (|S|,), ascending; order: int32 (|S|,),
    positions within the node. Returns False, with nothing written, where all codes are equal.
    """
    n = members.shape[0]
    low = np.int64(column[members[0]])
    high = low
    for a in range(n):
        code = np.int64(column[members[a]])
        spare_codes[a] = code
        low, high = min(low, code), max(high, code)
    if low == high:
        return False
    if n < INSERTION:
        for a in range(n):
            code = spare_codes[a]
            at = a
            while at > 0 and codes[at - 1] > code:
                codes[at] = codes[at - 1]
                order[at] = order[at - 1]
                at -= 1
            codes[at] = code
            order[at] = a
        return True
    if high < 256:
        counting_pass(n, spare_codes, np.int64(0), codes, order, counts)
        return True
    # Two passes, the low byte first; the second must carry the positions of the first along.
    counting_pass(n, spare_codes, np.int64(0), codes, spare_order, counts)
    for r in range(n):
        spare_codes[r] = codes[r]
    counting_pass(n, spare_codes, np.int64(8), codes, order, counts)
    for r in range(n):
        order[r] = spare_order[order[r]]
    return True


@kernel
def counting_pass(n, codes, shift, out, order, counts):
    """One stable pass of a radix sort over eight bits of the first n codes. counts: int64 (257,) scratch."""
    for b in range(257):
        counts[b] = 0
    for a in range(n):
        counts[((codes[a] >> shift) & 255) + 1] += 1
    for b in range(256):
        counts[b + 1] += counts[b]
    for a in range(n):
        bucket = (codes[a] >> shift) & 255
        at = counts[bucket]
        counts[bucket] = at + 1
        out[at] = codes[a]
        order[at] = a


@kernel
def best_cut(
    n, codes, order, local_ptr, local_tag, local_value, mate, left, n_local, q, inverse, min_leaf, first, best
):
    """Sweep the items in order and find the best cut: (score, items on the left), 0 items where none beats best.

    n: |S|; codes, order: int32; left: float64, P_L, zeros, left clean; inverse: float64, 1/k; cuts before ``first``
    items are on the left are not looked at. With c = sum_i P_S(i) P_L(i), q_R = q_S - 2 c + q_L, so that moving an item
    touches only its own tags, and only on the left.
    """
    q_left, cross, n_left = 0.0, 0.0, 0
    for r in range(n - min_leaf):
        a = order[r]
        for e in range(local_ptr[a], local_ptr[a + 1]):
            i, v = local_tag[e], local_value[e]
            p = left[i]
            q_left += v * (p + p + v)
            left[i] = p + v
        cross += mate[a]
        if codes[r] != codes[r + 1] and r + 1 >= min_leaf and r + 1 >= first:
            score = q_left * inverse[r + 1] + (q - 2.0 * cross + q_left) * inverse[n - r - 1]
            if score > best * TIE:
                best, n_left = score, r + 1
    for i in range(n_local):
        left[i] = 0.0
    return best, n_left


@kernel
def absent_first(n, n_absent, codes, order, spare_codes, spare_order):
    """Move the last n_absent of n sorted items, those without a code, to the front."""
    for r in range(n):
        spare_codes[r], spare_order[r] = codes[r], order[r]
    for r in range(n):
        at = (r + n_absent) % n
        codes[at], order[at] = spare_codes[r], spare_order[r]


@kernel
def middle_cut(n, codes, min_leaf):
    """The cut of n sorted codes nearest to the middle that leaves enough on both sides; 0 where there is none."""
    for away in range(n):
        for at in (n // 2 - away, n // 2 + away):
            if min_leaf <= at <= n - min_leaf and 0 < at < n and codes[at - 1] != codes[at]:
                return at
    return 0


@kernel
def grow_tree(
    columns, layer_ptr, tag, value, items, quota, view_start, n_tags, min_leaf, min_split, max_leaf, missing, seed
):
    """Grow one tree. All arrays IN; ``items`` is permuted.

    columns: uint8 or uint16 (d, n), codes by feature, ``missing`` where an item has none; items: int32, those that
    take part; quota: int64 (n_views,), features tried per view; view_start: int64 (n_views + 1,). Nodes of at most
    max_leaf items are leaves once pure; larger pure ones are halved on a feature drawn at random.
    Returns, per node, feature int32 (-1 for leaves), cut int32 (codes up to it go left), child int32 (the left one,
    the right one follows; the leaf's number for leaves), absent int8 (where items without a code go: 1 left, 0
    right, -1 not known), size int32; per item, leaf int32 (-1 where it takes no part); and, per leaf, whether tags
    still vary in it.
    """
    n, n_root, n_features = columns.shape[1], items.shape[0], columns.shape[0]
    n_views = quota.shape[0]
    capacity = 2 * (n_root // max(1, min_leaf)) + 3
    feature = np.full(capacity, -1, dtype=np.int32)
    cut, child, size = np.zeros((3, capacity), dtype=np.int32)
    absent = np.full(capacity, -1, dtype=np.int8)
    leaf = np.full(n, -1, dtype=np.int32)
    mixed = np.zeros(capacity, dtype=np.bool_)
    stack = np.zeros((capacity, 3), dtype=np.int64)
    features = np.arange(n_features).astype(np.int32)

    widest = 0
    for layer in range(layer_ptr.shape[0]):
        widest = max(widest, layer_ptr[layer, n] - layer_ptr[layer, 0])
    total, square, left = np.zeros(n_tags), np.zeros(n_tags), np.zeros(n_tags)
    touched, slot = np.zeros(n_tags, dtype=np.int32), np.full(n_tags, -1, dtype=np.int32)
    local_ptr = np.zeros(n_root + 1, dtype=np.int32)
    local_tag, local_value = np.zeros(widest, dtype=np.int32), np.zeros(widest)
    mate = np.zeros(n_root)
    codes, order, spare_codes, spare_order = np.zeros((4, n_root), dtype=np.int32)
    counts = np.zeros(257, dtype=np.int64)
    inverse = 1.0 / np.maximum(1.0, np.arange(n_root + 1))
    state = np.array([seed], dtype=np.uint64)

    n_nodes, n_leaves, depth = 1, 0, 1
    stack[0, 2] = n_root
    while depth > 0:
        depth -= 1
        node, start, stop = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        members = items[start:stop]
        n_here = stop - start
        size[node] = n_here
        splittable = n_here >= 2 * min_leaf and n_here >= min_split
        layer, n_local, q = -1, 0, 0.0
        if splittable:
            layer, n_local, q = target_layer(
                layer_ptr, tag, value, members, total, square, touched, slot, local_ptr, local_tag, local_value, mate
            )
        chosen, chosen_cut, missing_left = -1, 0, False
        if splittable and (layer >= 0 or n_here > max_leaf):
            best = q / n_here * GAIN if layer >= 0 else 0.0
            for view in range(n_views):
                first, end = view_start[view], view_start[view + 1]
                # Each view's share of features; a node that is only halved takes the first that can do it.
                for f_at in range(first, min(first + quota[view], end) if layer >= 0 else end):
                    if layer < 0 and chosen >= 0:
                        break
                    f = draw(features, f_at, end, state)
                    if not sort_codes(columns[f], members, codes, order, spare_codes, spare_order, counts):
                        continue
                    if layer < 0:
                        at = middle_cut(n_here, codes, min_leaf)
                        if at > 0:
                            chosen, chosen_cut = f, codes[at - 1]
                        continue
                    # Once with the items that have no code on the right, and once on the left.
                    n_absent = 0
                    while codes[n_here - 1 - n_absent] == missing:
                        n_absent += 1
                    for side in range(2 if n_absent > 0 else 1):
                        if side == 1:
                            absent_first(n_here, n_absent, codes, order, spare_codes, spare_order)
                        best, at = best_cut(
                            n_here, codes, order, local_ptr, local_tag, local_value, mate, left, n_local, q,
                            inverse, min_leaf, side * (n_absent + 1), best,
                        )  # fmt: skip
                        if at > 0:
                            chosen, chosen_cut, missing_left = f, codes[at - 1], side == 1
        if chosen < 0:
            child[node] = n_leaves
            mixed[n_leaves] = layer >= 0
            for a in range(n_here):
                leaf[members[a]] = n_leaves
            n_leaves += 1
            continue
        column = columns[chosen]
        at, n_kept = 0, 0
        saw_absent = False
        for a in range(n_here):
            s = members[a]
            is_absent = column[s] == missing
            saw_absent |= is_absent
            if missing_left if is_absent else column[s] <= chosen_cut:
                members[at] = s
                at += 1
            else:
                spare_order[n_kept] = s
                n_kept += 1
        for a in range(n_kept):
            members[at + a] = spare_order[a]
        feature[node], cut[node], child[node] = chosen, chosen_cut, n_nodes
        if saw_absent:
            absent[node] = 1 if missing_left else 0
        stack[depth, 0], stack[depth, 1], stack[depth, 2] = n_nodes + 1, start + at, stop
        stack[depth + 1, 0], stack[depth + 1, 1], stack[depth + 1, 2] = n_nodes, start, start + at
        depth += 2
        n_nodes += 2
    return (
        feature[:n_nodes].copy(), cut[:n_nodes].copy(), child[:n_nodes].copy(), absent[:n_nodes].copy(),
        size[:n_nodes].copy(), leaf, mixed[:n_leaves].copy(),
    )  # fmt: skip


@kernel
def route(columns, feature, cut, child, absent, size, tree_start, missing, leaves):
    """The leaf of every item in every tree. Without a code it goes where training sent such, or to the larger side.

    columns: (d, n) codes; feature, cut, child, absent, size: all trees' nodes one after the other; tree_start: int64
    (n_trees + 1,). OUT leaves: int32 (n, n_trees), numbers within each tree.
    """
    for t in range(tree_start.shape[0] - 1):
        root = tree_start[t]
        for s in range(columns.shape[1]):
            node = root
            while feature[node] >= 0:
                code = columns[feature[node], s]
                below_it = root + child[node]
                if code != missing:
                    node = below_it + (0 if code <= cut[node] else 1)
                elif absent[node] >= 0:
                    node = below_it + 1 - absent[node]
                else:
                    node = below_it + (0 if size[below_it] >= size[below_it + 1] else 1)
            leaves[s, t] = child[node]


@kernel
def route_shares(columns, feature, cut, child, absent, size, tree_start, leaf_start, missing):
    """All leaves that every item reaches, with shares: where a code is lacking and training never saw that, both sides.

    As ``route``; leaf_start: int64 (n_trees,), first leaf of each tree. Returns ptr int64 (n + 1,), leaf int64 (numbers
    over all trees) and share float32; the shares of an item sum to one within each tree.
    """
    n, n_trees = columns.shape[1], tree_start.shape[0] - 1
    ptr = np.zeros(n + 1, dtype=np.int64)
    leaf, share = np.empty(n * n_trees + 64, dtype=np.int64), np.empty(n * n_trees + 64, dtype=np.float32)
    node_stack, share_stack = np.empty(4096, dtype=np.int64), np.empty(4096)
    used = 0
    for s in range(n):
        for t in range(n_trees):
            root = tree_start[t]
            node_stack[0], share_stack[0] = root, 1.0
            depth = 1
            while depth > 0:
                depth -= 1
                node, part = node_stack[depth], share_stack[depth]
                while feature[node] >= 0:
                    code = columns[feature[node], s]
                    below_it = root + child[node]
                    if code != missing:
                        node = below_it + (0 if code <= cut[node] else 1)
                        continue
                    if absent[node] >= 0:
                        node = below_it + 1 - absent[node]
                        continue
                    larger = 0 if size[below_it] >= size[below_it + 1] else 1
                    other = part * size[below_it + 1 - larger] / size[node]
                    if other >= FAINT and depth < node_stack.shape[0]:
                        node_stack[depth], share_stack[depth] = below_it + 1 - larger, other
                        depth += 1
                        part -= other
                    node = below_it + larger
                if used == leaf.shape[0]:
                    longer_leaf, longer_share = np.empty(2 * used, dtype=np.int64), np.empty(2 * used, dtype=np.float32)
                    for e in range(used):
                        longer_leaf[e], longer_share[e] = leaf[e], share[e]
                    leaf, share = longer_leaf, longer_share
                leaf[used], share[used] = leaf_start[t] + child[node], part
                used += 1
        ptr[s + 1] = used
    return ptr, leaf[:used].copy(), share[:used].copy()
