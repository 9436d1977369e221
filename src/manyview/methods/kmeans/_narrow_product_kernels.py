"""Products of many rows with few columns, accumulated in registers.

BLAS copies both factors into an order of its own first. With only tens of columns that costs a third of the work; here
only the columns are. A tile of a few rows times up to four vectors of columns stays in registers while it runs over a
panel of features, of which the columns' part stays in the first cache, and calls rows in from memory before their turn.
It needs wide registers that multiply and add at once. A few columns that would leave most of a vector empty are
multiplied along the features instead.
"""

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic

from ...kernel import kernel
from .._fetch_kernels import LINE, emit_call_in

__all__ = ["narrow_product", "suits"]


def _register_bytes() -> int:
    """Of the registers numba multiplies and adds in; 0 where they are so narrow that BLAS is the better way."""
    features = (config.CPU_FEATURES or binding.get_host_cpu_features().flatten()).split(",")
    if "+avx512f" in features:
        return 64
    return 32 if "+avx2" in features and "+fma" in features else 0


_WIDTH = _register_bytes()
_BYTES = _WIDTH or 32
_MOST_VECTORS = 4 if _BYTES == 64 else 3  # of columns in a tile: there are 32 of the wide registers, else 16
MOST_COLUMNS = 200 if _BYTES == 64 else 64  # from there on BLAS is as quick
_ROWS = 240  # taken through all panels together; whole tiles of every shape
_PANEL = 128 if _BYTES == 64 else 256
_AHEAD = 24  # rows from now that are called in from memory


def suits(F: np.ndarray) -> bool:
    """Is ``narrow_product`` the quick way to multiply by F on this machine? Where not, BLAS is.

    Nor does it suit where Numba's compiler is off (``NUMBA_DISABLE_JIT=1``): what it is made of is machine code.
    """
    return _WIDTH > 0 and not config.DISABLE_JIT and F.shape[1] <= MOST_COLUMNS


def _tile(n_rows, n_vectors):
    """A function that adds the products of ``n_rows`` rows with ``n_vectors`` vectors of columns over one panel.

    Called as ``add(X, F, out, i, column, start, stop)``: rows from i on, columns from ``column`` on, features from
    start to stop.
    """

    @intrinsic
    def add(typing, X, F, out, i, column, start, stop):
        signature = types.void(X, F, out, *[types.intp] * 4)

        def generate(context, builder, signature, args):
            bits = signature.args[0].dtype.bitwidth
            n_lanes, in_line = 8 * _BYTES // bits, 8 * LINE // bits
            number, vector = ir.IntType(64), ir.VectorType(ir.FloatType() if bits == 32 else ir.DoubleType(), n_lanes)
            i, column, start, stop = args[3:]
            arrays = [
                context.make_array(kind)(context, builder, one)
                for kind, one in zip(signature.args[:3], args[:3], strict=True)
            ]
            X, F, out = (one.data for one in arrays)
            d, width, _ = (cgutils.unpack_tuple(builder, one.shape, 2)[1] for one in arrays)
            shape = ir.FunctionType(vector, [vector] * 3)
            multiply_add = cgutils.get_or_insert_function(builder.module, shape, f"llvm.fma.v{n_lanes}f{bits}")

            def place(base, row, at):
                where = builder.gep(base, [builder.add(builder.mul(row, width), at)])
                return builder.bitcast(where, vector.as_pointer())

            columns = [builder.add(column, number(n_lanes * c)) for c in range(n_vectors)]
            rows = [builder.add(i, number(r)) for r in range(n_rows)]
            goals = [[place(out, row, c) for c in columns] for row in rows]
            loaded = [[builder.load(goal, align=4) for goal in line] for line in goals]
            before = builder.block
            features, done = builder.append_basic_block("features"), builder.append_basic_block("done")
            builder.branch(features)
            builder.position_at_end(features)
            j = builder.phi(number)
            sums = [[builder.phi(vector) for _ in columns] for _ in rows]
            f = [builder.load(place(F, j, c), align=4) for c in columns]
            # So many features call in one of as many rows each.
            soon = builder.add(builder.add(i, number(_AHEAD)), builder.and_(j, number(in_line - 1)))
            soon = builder.add(builder.mul(soon, d), builder.and_(j, number(-in_line)))
            emit_call_in(builder, builder.gep(X, [soon]))
            lanes = ir.Constant(ir.VectorType(ir.IntType(32), n_lanes), [0] * n_lanes)
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
_ROWS_BY_ONE, _ROWS_BY_TWO, _ROWS_BY_THREE, _ROWS_BY_FOUR = (16, 12, 8, 6) if _BYTES == 64 else (12, 6, 4, 3)
_rows_by_one, _rows_by_two = _tile(_ROWS_BY_ONE, 1), _tile(_ROWS_BY_TWO, 2)
_rows_by_three, _rows_by_four = _tile(_ROWS_BY_THREE, 3), _tile(_ROWS_BY_FOUR, 4)


@kernel
def narrow_product(X, F, out):
    """``out = X F``.

    The order of a sum hangs on its column alone, whatever the number of rows: a row's products do not depend on its
    block.

    IN  X: (n, d) and F: (d, K) of one float type, in C order
    OUT out: (n, K) float
    """
    d, K = F.shape
    n_lanes = _BYTES // F.itemsize
    n_vectors, n_few = K // n_lanes, K % n_lanes
    if n_vectors == 0 or n_few > n_lanes // 4:
        n_vectors, n_few = -(-K // n_lanes), 0
    whole = K - n_few
    columns = _aligned(d, n_vectors * n_lanes, F)
    few = _aligned(n_few, d, F)
    for j in range(d):  # whole slices take seconds to compile: they bring all that words an error with them
        for k in range(whole):
            columns[j, k] = F[j, k]
        for c in range(n_few):
            few[c, j] = F[j, whole + c]
    room = _aligned(np.int64(_ROWS), n_vectors * n_lanes, F)
    for first in range(0, X.shape[0], _ROWS):
        x = X[first : first + _ROWS]
        products = room[: x.shape[0]]
        products[:] = 0
        for start in range(0, d, _PANEL):
            stop = min(start + _PANEL, d)
            done = 0
            while done < n_vectors:
                left = n_vectors - done
                n = left if left <= _MOST_VECTORS else (2 if left == 4 else 3)  # none is left alone
                _panel(x, columns, products, n, done * n_lanes, start, stop)
                done += n
        for i in range(x.shape[0]):  # whole slices take three times as long
            o = out[first + i]
            row = products[i]
            for k in range(whole):
                o[k] = row[k]
        if n_few:
            _few_columns(x, few, out[first : first + _ROWS, whole:])


@kernel
def _aligned(n, width, like):
    """Zeros (n, width) of the type of ``like``, none of whose vectors lies in two lines of the cache."""
    room = np.zeros(n * width + LINE // like.itemsize, dtype=like.dtype)
    start = -(room.ctypes.data // like.itemsize) % (LINE // like.itemsize)
    return room[start : start + n * width].reshape(n, width)


@kernel
def _few_columns(X, F, out):
    """``out = X F'``, two columns at a time: a vector holds features of one row."""
    for i in range(X.shape[0]):
        x = X[i]
        for c in range(0, F.shape[0] - 1, 2):
            f, g = F[c], F[c + 1]
            one = other = F.dtype.type(0)
            for j in range(x.shape[0]):
                one += x[j] * f[j]
                other += x[j] * g[j]
            out[i, c], out[i, c + 1] = one, other
        if F.shape[0] % 2:
            f = F[F.shape[0] - 1]
            one = F.dtype.type(0)
            for j in range(x.shape[0]):
                one += x[j] * f[j]
            out[i, F.shape[0] - 1] = one


@kernel
def _panel(X, F, out, n_vectors, column, start, stop):
    """Add one panel of features to all rows."""
    i = 0
    if n_vectors == 3:
        while i + _ROWS_BY_THREE <= X.shape[0]:
            _rows_by_three(X, F, out, i, column, start, stop)
            i += _ROWS_BY_THREE
        while i < X.shape[0]:
            _one_by_three(X, F, out, i, column, start, stop)
            i += 1
    elif n_vectors == 4:
        while i + _ROWS_BY_FOUR <= X.shape[0]:
            _rows_by_four(X, F, out, i, column, start, stop)
            i += _ROWS_BY_FOUR
        while i < X.shape[0]:
            _one_by_four(X, F, out, i, column, start, stop)
            i += 1
    elif n_vectors == 2:
        while i + _ROWS_BY_TWO <= X.shape[0]:
            _rows_by_two(X, F, out, i, column, start, stop)
            i += _ROWS_BY_TWO
        while i < X.shape[0]:
            _one_by_two(X, F, out, i, column, start, stop)
            i += 1
    else:
        while i + _ROWS_BY_ONE <= X.shape[0]:
            _rows_by_one(X, F, out, i, column, start, stop)
            i += _ROWS_BY_ONE
        while i < X.shape[0]:
            _one_by_one(X, F, out, i, column, start, stop)
            i += 1
