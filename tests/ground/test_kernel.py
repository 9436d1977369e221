import ast
from pathlib import Path

import numba
import numpy as np
import pytest

import manyview
from manyview.kernel import kernel

# Sums beside stores whose order is theirs whatever a compiler does.
IN_ORDER = {
    "best_cut": "reads what the item before it stored",
    "describe": "stores where it was told to, maybe the same place twice",
    "erode": "numbers of a grid, which float64 adds exactly",
    "fade": "whole numbers",
    "far_apart": "every sum on the way is stored, or the distance is a call",
    "target_layer": "stores where it was told to",
    "tracked_winner": "each number is a sum of its own",
    "weigh": "every number is a call of exp",
    "_row_in_lanes": "one sum per lane, stores where it was told to",
}


def overlap(x, w):
    total = 0.0
    for k in range(x.shape[0]):
        total += min(x[k], w[k])
    return total


def test_compiled_equals_plain():
    x, w = np.array([0.25, 1.0]), np.array([0.5, 0.75])
    assert kernel(overlap)(x, w) == overlap(x, w) == 1.0


def test_nan_keeps_its_meaning():
    @kernel
    def is_nan(x):
        return x != x

    assert is_nan(np.nan) and not is_nan(1.0)


def test_works_where_nothing_can_be_cached(monkeypatch):
    real, asked = numba.njit, []

    def njit(**options):
        asked.append(options.get("cache", False))
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return real(**options)

    monkeypatch.setattr(numba, "njit", njit)
    assert kernel(overlap)(np.ones(2), np.ones(2)) == pytest.approx(2.0)
    assert asked == [True, False]


def is_sum(node):
    """Adds numbers up in a name; what is constant or compared is a count."""
    if not isinstance(node, ast.AugAssign) or not isinstance(node.target, ast.Name) or isinstance(node.op, ast.BitOr):
        return False
    return not any(isinstance(part, ast.Compare) for part in ast.walk(node.value)) and not isinstance(
        node.value, ast.Constant
    )


def sums_beside_stores(function):
    """Innermost loops that add numbers up and store something as well."""
    for loop in (node for node in ast.walk(function) if isinstance(node, ast.For)):
        inside = [node for line in loop.body for node in ast.walk(line)]
        is_store = any(isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) for node in inside)
        if is_store and any(map(is_sum, inside)) and not any(isinstance(node, ast.For) for node in inside):
            yield loop


def test_sums_are_taken_in_loops_that_store_nothing():
    """See kernel.py: the last bit of others depends on where in memory arrays lie."""
    found = set()
    for path in Path(manyview.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(getattr(d, "id", "") == "kernel" for d in node.decorator_list):
                found |= {node.name for _ in sums_beside_stores(node)}
    assert found == set(IN_ORDER)
