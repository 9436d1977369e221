"""Rows called in from memory before their turn.

A loop that works long on each row leaves the processor's own guess of what comes next too little time: rows of a few
thousand bytes start a new guess each. Asking for a row some rows ahead hides the wait.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic

from ..kernel import kernel

__all__ = ["LINE", "call_in", "emit_call_in"]

LINE = 64  # bytes that come in together


def emit_call_in(builder, place):
    """Machine code that calls in the line at a pointer: to read, into the second cache, as data."""
    address, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
    shape = ir.FunctionType(ir.VoidType(), [address, *[flag] * 3])
    ask = builder.module.declare_intrinsic("llvm.prefetch", [address], shape)
    builder.call(ask, [builder.bitcast(place, address), flag(0), flag(2), flag(1)])


@intrinsic
def _line(typing, X, i, j):
    def generate(context, builder, signature, args):
        array = context.make_array(signature.args[0])(context, builder, args[0])
        width = cgutils.unpack_tuple(builder, array.shape, 2)[1]
        emit_call_in(builder, builder.gep(array.data, [builder.add(builder.mul(args[1], width), args[2])]))
        return context.get_dummy_value()

    return types.void(X, types.intp, types.intp), generate


@kernel
def call_in(X, i):
    """Ask for row i of a matrix in C order. There need not be one: asking for what is not there does nothing."""
    for j in range(0, X.shape[1], LINE // X.itemsize):
        _line(X, i, j)


if config.DISABLE_JIT:  # the same loops as plain Python: there is nothing to ask

    def call_in(X, i):
        """Do nothing."""
