"""Loops of the SIFT descriptor, for upright patches of one size.

A patch has 4 x 4 cells of ``width`` pixels; each cell holds a histogram of gradient directions in 8 bins. A pixel
is shared out linearly over the two nearest cells each way and the two nearest directions, and weighs less towards
the rim (Gaussian of two cells).
"""

import numpy as np

from ..kernel import kernel


@kernel
def gradients(image, magnitude, direction):
    """Strength of the gradient and its direction in bins, 0 to 8, counter-clockwise from the right.

    IN  image: float32 (h, w)      OUT magnitude, direction: float32 (h, w); zero on the outermost pixels
    """
    height, width = image.shape
    for r in range(1, height - 1):
        above, here, below = image[r - 1], image[r], image[r + 1]
        strength, bins = magnitude[r], direction[r]
        for c in range(1, width - 1):
            dx, dy = here[c + 1] - here[c - 1], above[c] - below[c]
            strength[c] = np.sqrt(dx * dx + dy * dy)
            angle = np.arctan2(dy, dx) * (4.0 / np.pi)
            angle = angle if angle >= 0 else angle + 8.0
            bins[c] = angle if angle < 8.0 else 0.0


@kernel
def describe(magnitude, direction, rows, columns, width, min_contrast, out):
    """The descriptor at each point, as bytes.

    Normalised to length one, cut off at 0.2 so that no single edge decides, normalised again and times 512. Patches
    whose mean gradient is below ``min_contrast`` hold nothing but noise and are all zero.

    IN  magnitude, direction: float32 (h, w); rows, columns: int64 (n,), pixels; width: of a cell in pixels
    OUT out: uint8 (n, 128), ordered by row of cells, column of cells, direction
    """
    height, length = magnitude.shape
    radius = int(np.ceil(2.5 * width))
    n_offsets = 2 * radius + 1
    cell, share, fade = np.empty(n_offsets, np.int64), np.empty(n_offsets), np.empty(n_offsets)
    for o in range(n_offsets):
        distance = (o - radius) / width
        position = distance + 1.5
        cell[o] = int(np.floor(position))
        share[o] = position - np.floor(position)
        # Beyond the cells' reach a pixel counts nothing.
        fade[o] = np.exp(-distance * distance / 8.0) if -1.0 < position < 4.0 else 0.0
    # One cell more on each side and one direction more take what falls outside; they are folded back or dropped.
    histogram = np.empty((6, 6, 9))
    for n in range(rows.shape[0]):
        histogram[:] = 0.0
        strength, weight = 0.0, 0.0
        for i in range(n_offsets):
            r = rows[n] + i - radius
            if fade[i] == 0.0 or r < 1 or r >= height - 1:
                continue
            strong, turned = magnitude[r], direction[r]
            upper, lower = histogram[cell[i] + 1], histogram[cell[i] + 2]
            down = share[i]
            for j in range(n_offsets):
                c = columns[n] + j - radius
                if fade[j] == 0.0 or c < 1 or c >= length - 1:
                    continue
                importance = fade[i] * fade[j]
                value = strong[c] * importance
                strength += value
                weight += importance
                bin_low = int(turned[c])
                turn = turned[c] - bin_low
                left, right = cell[j] + 1, cell[j] + 2
                a, b = value * (1.0 - down), value * down
                a_right, b_right = a * share[j], b * share[j]
                a_left, b_left = a - a_right, b - b_right
                upper[left, bin_low] += a_left * (1.0 - turn)
                upper[left, bin_low + 1] += a_left * turn
                upper[right, bin_low] += a_right * (1.0 - turn)
                upper[right, bin_low + 1] += a_right * turn
                lower[left, bin_low] += b_left * (1.0 - turn)
                lower[left, bin_low + 1] += b_left * turn
                lower[right, bin_low] += b_right * (1.0 - turn)
                lower[right, bin_low + 1] += b_right * turn
        _write(histogram, strength <= min_contrast * weight, out[n])


@kernel
def _write(histogram, flat, out):
    """Fold the ninth direction into the first, normalise and round. OUT out: uint8 (128,)"""
    squares = 0.0
    for r in range(1, 5):
        for c in range(1, 5):
            histogram[r, c, 0] += histogram[r, c, 8]
            for o in range(8):
                squares += histogram[r, c, o] ** 2
    limit = 0.2 * np.sqrt(squares)
    clipped = 0.0
    for r in range(1, 5):
        for c in range(1, 5):
            for o in range(8):
                clipped += min(histogram[r, c, o], limit) ** 2
    factor = 0.0 if flat or clipped <= 0.0 else 512.0 / np.sqrt(clipped)
    for r in range(1, 5):
        for c in range(1, 5):
            for o in range(8):
                value = np.rint(min(histogram[r, c, o], limit) * factor)
                out[(4 * (r - 1) + c - 1) * 8 + o] = np.uint8(min(value, 255.0))
