"""Products of many rows with few columns, accumulated in registers.

BLAS copies both factors into an order of its own first. With only tens of columns that costs a third of the work; here
nothing is copied. A tile of a few rows times up to four vectors of columns stays in registers while it runs over a
panel of features, of which the columns' part stays in the first cache. It needs registers of sixteen numbers.
"""

from functools import cache

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ..kernel import kernel

__all__ = ["narrow_product", "suits"]

MOST_COLUMNS = 112  # from there on BLAS is as quick
_LANES = 16
_ROWS = 240  # taken through all panels together: they stay in the second cache; whole tiles of every shape
_PANEL = 128


def suits(F: np.ndarray, out: np.ndarray) -> bool:
    """Is ``narrow_product`` the quick way to multiply by F on this machine? Where not, BLAS is."""
    is_float32 = bool(F.dtype == out.dtype == np.float32)  # beside a float64 view, products are float64
    return is_float32 and _LANES <= F.shape[1] <= MOST_COLUMNS and _has_wide_registers()


@cache
def _has_wide_registers() -> bool:
    return bool(binding.get_host_cpu_features().get("avx512f"))


def _tile(n_rows, n_vectors):
    """A function that adds the products of ``n_rows`` rows with ``n_vectors`` vectors of columns over one panel.

    Called as ``add(X, F, out, i, column, last, start, stop)``: rows from i on, vectors of columns one after the other
    from ``column`` on but the last of them at ``last``, features from start to stop.
    """

    @intrinsic
    def add(typing, X, F, out, i, column, last, start, stop):
        signature = types.void(X, F, out, *[types.intp] * 5)

        def generate(context, builder, signature, args):
            number, vector = ir.IntType(64), ir.VectorType(ir.FloatType(), _LANES)
            i, column, last, start, stop = args[3:]
            arrays = [
                context.make_array(kind)(context, builder, one)
                for kind, one in zip(signature.args[:3], args[:3], strict=True)
            ]
            X, F, out = (one.data for one in arrays)
            d, K, _ = (cgutils.unpack_tuple(builder, one.shape, 2)[1] for one in arrays)
            shape = ir.FunctionType(vector, [vector] * 3)
            multiply_add = cgutils.get_or_insert_function(builder.module, shape, f"llvm.fma.v{_LANES}f32")

            def place(base, row, width, at):
                where = builder.gep(base, [builder.add(builder.mul(row, width), at)])
                return builder.bitcast(where, vector.as_pointer())

            columns = [builder.add(column, number(_LANES * c)) for c in range(n_vectors - 1)] + [last]
            rows = [builder.add(i, number(r)) for r in range(n_rows)]
            goals = [[place(out, row, K, c) for c in columns] for row in rows]
            loaded = [[builder.load(goal, align=4) for goal in line] for line in goals]
            before = builder.block
            features, done = builder.append_basic_block("features"), builder.append_basic_block("done")
            builder.branch(features)
            builder.position_at_end(features)
            j = builder.phi(number)
            sums = [[builder.phi(vector) for _ in columns] for _ in rows]
            f = [builder.load(place(F, j, K, c), align=4) for c in columns]
            lanes = ir.Constant(ir.VectorType(ir.IntType(32), _LANES), [0] * _LANES)
            nothing = ir.Constant(vector, ir.Undefined)
            added = []
            for row, line in zip(rows, sums, strict=True):
                x = builder.load(builder.gep(X, [builder.add(builder.mul(row, d), j)]))
                x = builder.shuffle_vector(builder.insert_element(nothing, x, ir.IntType(32)(0)), nothing, lanes)
                added.append([builder.call(multiply_add, [x, *pair]) for pair in zip(f, line, strict=True)])
            following = builder.add(j, number(1))
            loops = [(j, start, following)]
            for lines in zip(sums, loaded, added, strict=True):
                loops += zip(*lines, strict=True)
            for phi, first, then in loops:
                phi.add_incoming(first, before)
                phi.add_incoming(then, features)
            builder.cbranch(builder.icmp_signed("<", following, stop), features, done)
            builder.position_at_end(done)
            for line, results in zip(goals, added, strict=True):
                for goal, result in zip(line, results, strict=True):
                    builder.store(result, goal, align=4)
            return context.get_dummy_value()

        return signature, generate

    return add


_one_by_one, _one_by_two, _one_by_three, _one_by_four = (_tile(1, c) for c in (1, 2, 3, 4))
_sixteen_by_one, _twelve_by_two, _eight_by_three, _six_by_four = _tile(16, 1), _tile(12, 2), _tile(8, 3), _tile(6, 4)


@kernel
def narrow_product(X, F, out):
    """``out = X F``, for at least sixteen columns.

    Each sum runs over the features in order, whatever the number of rows: a row's products do not depend on its block.

    IN  X: float32 (n, d); F: float32 (d, K)
    OUT out: float32 (n, K); all in C order
    """
    K = F.shape[1]
    n_vectors = -(-K // _LANES)  # the last ends with the last column and may overlap the one before
    for first in range(0, X.shape[0], _ROWS):
        x = X[first : first + _ROWS]
        o = out[first : first + _ROWS]
        o[:] = 0
        for start in range(0, x.shape[1], _PANEL):
            stop = min(start + _PANEL, x.shape[1])
            done = 0
            while done < n_vectors:
                left = n_vectors - done
                n = left if left <= 4 else 3  # the last is never alone: it would add to what it shares a second time
                column = done * _LANES
                last = K - _LANES if n == left else column + (n - 1) * _LANES
                _panel(x, F, o, n, column, last, start, stop)
                done += n


@kernel
def _panel(X, F, out, n_vectors, column, last, start, stop):
    """Add one panel of features to all rows."""
    i = 0
    if n_vectors == 3:
        while i + 8 <= X.shape[0]:
            _eight_by_three(X, F, out, i, column, last, start, stop)
            i += 8
        while i < X.shape[0]:
            _one_by_three(X, F, out, i, column, last, start, stop)
            i += 1
    elif n_vectors == 4:
        while i + 6 <= X.shape[0]:
            _six_by_four(X, F, out, i, column, last, start, stop)
            i += 6
        while i < X.shape[0]:
            _one_by_four(X, F, out, i, column, last, start, stop)
            i += 1
    elif n_vectors == 2:
        while i + 12 <= X.shape[0]:
            _twelve_by_two(X, F, out, i, column, last, start, stop)
            i += 12
        while i < X.shape[0]:
            _one_by_two(X, F, out, i, column, last, start, stop)
            i += 1
    else:
        while i + 16 <= X.shape[0]:
            _sixteen_by_one(X, F, out, i, column, last, start, stop)
            i += 16
        while i < X.shape[0]:
            _one_by_one(X, F, out, i, column, last, start, stop)
            i += 1
