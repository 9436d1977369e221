"""HML-RF written out slowly, straight from the paper's formulas with the corrections: one tree, affinity, soft tags."""

import numpy as np


def gini(values):
    """(2): the sum over tags of 2 p (1 - p), p the mean value of a tag."""
    p = values.mean(axis=0)
    return float((2 * p * (1 - p)).sum())


def gain(values, left):
    """(5) for one layer: impurity of the node minus the weighted impurity of its children."""
    share = left.mean()
    return gini(values) - share * gini(values[left]) - (1 - share) * gini(values[~left])


def impure_layer(layers, rows):
    for number, values in enumerate(layers):
        here = values[rows]
        n = rows.size
        if (n * (here**2).sum(axis=0) - here.sum(axis=0) ** 2 > 1e-6 * n).any():
            return number
    return None


def best_split(X, layers, rows, min_leaf, min_split=2):
    """(layer, gain, who goes left) of all features and cuts, missing values (NaN) on either side; None for a leaf."""
    layer = impure_layer(layers, rows)
    if rows.size < max(2 * min_leaf, min_split) or layer is None:
        return None
    values, best, side = layers[layer][rows], 1e-12, None
    for feature in range(X.shape[1]):
        column = X[rows, feature]
        absent = np.isnan(column)
        points = np.unique(column[~absent])
        for cut in points if absent.any() else points[:-1]:
            for with_absent in (False, True) if absent.any() else (False,):
                left = np.where(absent, with_absent, column <= cut)
                if min_leaf <= left.sum() <= rows.size - min_leaf:
                    found = gain(values, left)
                    if found > best:
                        best, side = found, left
    return None if side is None else (layer, best, side)


def soft_tags(Y, layers, shrink=5.0, keep=5):
    """(6) to (9) item by item; one dense table per layer."""
    n = Y.shape[0]
    o = Y.sum(axis=0)
    co = Y.T @ Y
    result = []
    for k, tags in enumerate(layers):
        hard = np.zeros(Y.shape)
        hard[:, tags] = Y[:, tags]
        below = [j for layer in layers[k + 1 :] for j in layer]
        lacking = [s for s in range(n) if hard[s].sum() == 0 and sum(Y[s, j] for j in below) > 0]
        positive, negative = np.zeros(Y.shape), np.zeros(Y.shape)
        for s in lacking:
            for i in tags:
                for j in below:
                    if Y[s, j]:
                        expected = o[i] * o[j] / n
                        positive[s, i] += co[i, j] / o[j]
                        if expected > 0:
                            negative[s, i] += max(0.0, expected - co[i, j]) / (expected + shrink)
        for table in (positive, negative):
            largest = table.max(axis=0)
            table[:, largest > 0] /= largest[largest > 0]
        soft = positive * (1 - negative)
        soft[soft < 0.01] = 0
        for s in lacking:
            order = sorted(range(Y.shape[1]), key=lambda i: (-soft[s, i], i))
            soft[s, order[keep:]] = 0
        result.append(hard + soft)
    return result


def affinity(leaves):
    """(10)."""
    return (leaves[:, None, :] == leaves[None, :, :]).mean(axis=2)


def neighbourhood_scores(leaves, Y):
    """(11) with the item left out, and the mean frequency where no neighbourhood is sure; NaN without any mates."""
    n, m = Y.shape
    result, frequency = np.full((n, m), np.nan), np.full((n, m), np.nan)
    for x in range(n):
        shares, votes = [], []
        for t in range(leaves.shape[1]):
            mates = [s for s in range(n) if s != x and leaves[s, t] == leaves[x, t]]
            if mates:
                share = Y[mates].mean(axis=0)
                shares.append(share)
                votes.append(np.where(share == 1, 1, np.where(share == 0, -1, 0)))
        if shares:
            frequency[x] = np.mean(shares, axis=0)
            yes, no = (np.array(votes) == 1).sum(axis=0), (np.array(votes) == -1).sum(axis=0)
            result[x] = np.where(yes + no > 0, yes / np.maximum(1, yes + no), frequency[x])
    return result, frequency
