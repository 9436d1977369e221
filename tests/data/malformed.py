"""Matrices that are wrong or odd, made by seed: what comes in, and the plain matrix it means if it means one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

N_ROWS, N_COLUMNS = 12, 6


@dataclass(frozen=True)
class Case:
    """``given`` goes in; ``meant`` is the same in plain form, or None where only an error is right."""

    name: str
    given: Any
    meant: Any


def make(seed: int) -> Case:
    """The case of this seed. Every kind comes equally often, in an order that mixes them."""
    rng = np.random.default_rng(seed)
    kinds = np.random.default_rng(0).permutation([*DENSE, *STRIDED, *COMPRESSED, *SPARSE]).tolist()
    name = kinds[seed % len(kinds)]
    counts = rng.poisson(0.8, size=(N_ROWS, N_COLUMNS)).astype(np.float64)
    counts[rng.integers(0, N_ROWS, 3), rng.integers(0, N_COLUMNS, 3)] += 3
    if rng.random() < 0.4:  # tags
        counts = (counts > 0).astype(np.float64)
    for makers in (DENSE, STRIDED, COMPRESSED, SPARSE):
        if name in makers:
            return Case(name, *makers[name](rng, counts))
    raise KeyError(name)


# --- dense: types and shapes ---


def _typed(dtype: str, seen: str | None) -> Callable[..., tuple[Any, Any]]:
    return lambda rng, x: (x.astype(dtype), None if seen is None else x.astype(dtype).astype(seen))


def _spoiled(value: float) -> Callable[..., tuple[Any, Any]]:
    def make(rng: np.random.Generator, x: Any) -> tuple[Any, Any]:
        x[rng.integers(N_ROWS), rng.integers(N_COLUMNS)] = value
        return x, None

    return make


DENSE: dict[str, Callable[..., tuple[Any, Any]]] = {
    **{f"dense {kind}": _typed(kind, "f8") for kind in (">f8", ">i4", "<u2", "?", "i1", "u8", ">i8", "longdouble")},
    **{f"dense {kind}": _typed(kind, "f4") for kind in ("f2", ">f4", ">f2")},
    **{f"dense {kind}": _typed(kind, None) for kind in ("c16", "S5", "U5", "M8[s]", "m8[s]", "V8")},
    "dense object": lambda rng, x: (x.astype(object), x),
    "dense words": lambda rng, x: (np.where(x > 0, "sea", x.astype(object)), None),
    "dense record": lambda rng, x: (np.zeros(x.shape, dtype=[("a", "f8"), ("b", "i4")]), None),
    "dense NaN": _spoiled(np.nan),
    "dense inf": _spoiled(np.inf),
    "dense 0-D": lambda rng, x: (np.float64(3.0), None),
    "dense 1-D": lambda rng, x: (x[:, 0], None),
    "dense 3-D": lambda rng, x: (x.reshape(N_ROWS, 2, 3), None),
    "dense no rows": lambda rng, x: (x[:0], None),
    "dense no columns": lambda rng, x: (x[:, :0], None),
    "dense ragged": lambda rng, x: ([[1.0, 2.0], [3.0]], None),
    "dense None": lambda rng, x: (None, None),
    "dense masked": lambda rng, x: (np.ma.masked_less(x, 1), None),
    "dense huge rows": lambda rng, x: (np.broadcast_to(x[:1], (2 ** int(rng.integers(36, 58)), N_COLUMNS)), None),
    "dense huge columns": lambda rng, x: (np.broadcast_to(x[:, :1], (N_ROWS, 2 ** int(rng.integers(30, 55)))), None),
    "dense huge both": lambda rng, x: (np.broadcast_to(1.0, (2**26, 2**26)), None),
}

# --- dense: where the numbers lie ---


def _unaligned(rng: np.random.Generator, x: Any) -> tuple[Any, Any]:
    raw = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:]
    return raw.view(np.float64).reshape(x.shape), x


def _overlapping(rng: np.random.Generator, x: Any) -> tuple[Any, Any]:
    step = int(rng.integers(0, 3))
    shown = np.lib.stride_tricks.as_strided(x.ravel(), (N_ROWS, N_COLUMNS), (8 * step, 8), writeable=False)
    return shown, shown.copy()


STRIDED: dict[str, Callable[..., tuple[Any, Any]]] = {
    "unaligned": _unaligned,
    "overlapping": _overlapping,
    "turned": lambda rng, x: (x[::-1, ::-1], x[::-1, ::-1].copy()),
    "every other": lambda rng, x: (np.repeat(np.repeat(x, 2, 0), 3, 1)[::2, ::3], x),
    "fortran": lambda rng, x: (np.asfortranarray(x), x),
    "field of records": lambda rng, x: (np.rec.fromarrays([x, x], names="a,b")["a"], x),
    "matrix class": lambda rng, x: (np.asmatrix(x), x),
    "rows repeated": lambda rng, x: (np.broadcast_to(x[:1], x.shape), np.repeat(x[:1], N_ROWS, 0)),
}

# --- the three parts of CSR, CSC and BSR ---

_FORMATS = ("csr", "csc", "bsr")
_HUGE = (2**31 - 1, 2**31, 2**40, 2**62)


def _index(rng: np.random.Generator, value: int) -> Any:
    def change(parts: dict[str, Any]) -> None:
        parts["indices"] = parts["indices"].astype(np.int64)
        parts["indices"][rng.integers(parts["indices"].size)] = value

    return change


def _pointer(rng: np.random.Generator, value: int, where: int | None = None) -> Any:
    def change(parts: dict[str, Any]) -> None:
        parts["indptr"] = parts["indptr"].astype(np.int64)
        parts["indptr"][rng.integers(1, parts["indptr"].size) if where is None else where] = value

    return change


def _part(name: str, remake: Callable[[Any], Any]) -> Any:
    def change(parts: dict[str, Any]) -> None:
        parts[name] = remake(parts[name])

    return change


def _changed(choose: Callable[[np.random.Generator], Any], sound: bool = False) -> Callable[..., tuple[Any, Any]]:
    """A compressed matrix one part of which is replaced behind SciPy's back."""

    def make(rng: np.random.Generator, x: Any) -> tuple[Any, Any]:
        form = _FORMATS[rng.integers(len(_FORMATS))]
        kind = getattr(sparse, f"{form}_{'matrix' if rng.random() < 0.5 else 'array'}")
        matrix = kind(x, blocksize=(2, 3)) if form == "bsr" else kind(x)
        parts = {name: getattr(matrix, name).copy() for name in ("data", "indices", "indptr")}
        choose(rng)(parts)
        for name, part in parts.items():
            setattr(matrix, name, part)
        matrix.has_sorted_indices = matrix.has_canonical_format = True  # as if looked at before
        return matrix, sparse.csr_matrix(x) if sound else None

    return make


def _misfit(name: str, remake: Callable[[Any], Any], sound: bool = False) -> Callable[..., tuple[Any, Any]]:
    return _changed(lambda rng: _part(name, remake), sound)


COMPRESSED: dict[str, Callable[..., tuple[Any, Any]]] = {
    "index beyond": _changed(lambda rng: _index(rng, N_ROWS + int(rng.integers(0, 1000)))),
    "index far beyond": _changed(lambda rng: _index(rng, _HUGE[rng.integers(len(_HUGE))])),
    "index negative": _changed(lambda rng: _index(rng, -int(rng.integers(1, 2**40)))),
    "indptr beyond": _changed(lambda rng: _pointer(rng, 10 ** int(rng.integers(3, 15)))),
    "indptr negative": _changed(lambda rng: _pointer(rng, -int(rng.integers(1, 2**40)))),
    "indptr falls": _changed(lambda rng: _part("indptr", lambda p: p[::-1])),
    "indptr starts late": _changed(lambda rng: _pointer(rng, 1, 0)),
    "indptr returns to 0": _changed(lambda rng: _pointer(rng, 0, -1)),
    "indptr short": _misfit("indptr", lambda p: p[:-2]),
    "indptr long": _misfit("indptr", lambda p: np.append(p, p[-1])),
    "indptr empty": _misfit("indptr", lambda p: p[:0]),
    "indptr float": _misfit("indptr", lambda p: p.astype(float)),
    "indptr 2-D": _misfit("indptr", lambda p: p[None]),
    "indices short": _misfit("indices", lambda p: p[:-1]),
    "indices empty": _misfit("indices", lambda p: p[:0]),
    "indices float": _misfit("indices", lambda p: p + 0.5),
    "indices words": _misfit("indices", lambda p: p.astype("U3")),
    "indices list": _misfit("indices", lambda p: p.tolist()),
    "data short": _misfit("data", lambda p: p[:-1]),
    "data flat": _misfit("data", lambda p: p.reshape(1, 1, 1, -1)),
    "data complex": _misfit("data", lambda p: p.astype(complex)),
    "data words": _misfit("data", lambda p: p.astype("U3")),
    "data NaN": _misfit("data", lambda p: np.where(p > 0, np.nan, p)),
    "data inf": _misfit("data", lambda p: np.where(p > 0, np.inf, p)),
    "data object": _misfit("data", lambda p: p.astype(object), sound=True),
    "data big-endian": _misfit("data", lambda p: p.astype(">f8"), sound=True),
    "indices big-endian": _misfit("indices", lambda p: p.astype(">i4"), sound=True),
    "indptr big-endian": _misfit("indptr", lambda p: p.astype(">i8"), sound=True),
    "indices int64": _misfit("indices", lambda p: p.astype(np.int64), sound=True),
    "indptr unsigned": _misfit("indptr", lambda p: p.astype(np.uint64), sound=True),
    "indices strided": _misfit("indices", lambda p: np.repeat(p, 3)[::3], sound=True),
    "data longdouble": _misfit("data", lambda p: p.astype(np.longdouble), sound=True),
}

# --- other sparse formats, and shapes ---


def _coo(rows: Any, columns: Any, shape: tuple[int, int] = (N_ROWS, N_COLUMNS)) -> Any:
    matrix = sparse.coo_matrix(shape)
    matrix.data, matrix.coords = np.ones(len(rows)), (np.array(rows), np.array(columns))
    return matrix


def _unsorted(rng: np.random.Generator, x: Any) -> tuple[Any, Any]:
    plain = sparse.csr_matrix(x)
    turned = plain[:, ::-1].copy()
    turned.indices = (N_COLUMNS - 1 - turned.indices).astype(turned.indices.dtype)
    turned.has_sorted_indices = turned.has_canonical_format = True  # a lie
    return turned, plain


def _twice(rng: np.random.Generator, x: Any) -> tuple[Any, Any]:
    half = sparse.coo_matrix(x / 2)
    rows, columns = np.tile(half.row, 2), np.tile(half.col, 2)
    return sparse.coo_matrix((np.tile(half.data, 2), (rows, columns)), shape=x.shape), sparse.csr_matrix(x)


def _dia(rng: np.random.Generator, x: Any) -> tuple[Any, Any]:
    matrix = sparse.dia_matrix(x)
    matrix.offsets = matrix.offsets[:-1] if rng.random() < 0.5 else matrix.offsets.astype(float)
    return matrix, None


def _lil(rng: np.random.Generator, x: Any) -> tuple[Any, Any]:
    matrix = sparse.lil_matrix(x + 1)
    columns = matrix.rows[int(rng.integers(N_ROWS))]
    columns[-1] = (-9, 10**9, None)[rng.integers(3)] if rng.random() < 0.7 else columns.append(3)
    return matrix, None


def _dok(rng: np.random.Generator, x: Any) -> tuple[Any, Any]:
    matrix = sparse.dok_matrix(x)
    matrix._dict[((99, 0), (0, 10**9), (-50, 1))[rng.integers(3)]] = 1.0
    return matrix, None


SPARSE: dict[str, Callable[..., tuple[Any, Any]]] = {
    "coo row": lambda rng, x: (_coo([0, int(rng.integers(N_ROWS, 2**40))], [0, 1]), None),
    "coo column": lambda rng, x: (_coo([0, 1], [0, -int(rng.integers(1, 2**40))]), None),
    "coo lengths": lambda rng, x: (_coo([0, 1, 2], [0, 1]), None),
    "coo many rows": lambda rng, x: (_coo([0], [0], (2 ** int(rng.integers(34, 62)), N_COLUMNS)), None),
    "coo many columns": lambda rng, x: (_coo([0], [0], (N_ROWS, 2 ** int(rng.integers(30, 62)))), None),
    "csc many rows": lambda rng, x: (sparse.csc_matrix((2 ** int(rng.integers(34, 60)), N_COLUMNS)), None),
    "csr many columns": lambda rng, x: (sparse.csr_matrix((N_ROWS, 2 ** int(rng.integers(30, 62)))), None),
    "csr no columns": lambda rng, x: (sparse.csr_matrix((N_ROWS, 0)), None),
    "csr no rows": lambda rng, x: (sparse.csr_matrix((0, N_COLUMNS)), None),
    "coo 1-D": lambda rng, x: (sparse.coo_array(x[0]), None),
    "operator": lambda rng, x: (sparse.linalg.aslinearoperator(x), None),
    "dia": _dia,
    "lil": _lil,
    "dok": _dok,
    "unsorted": _unsorted,
    "twice": _twice,
    **{
        f"sound {form}": lambda rng, x, form=form: (sparse.csr_matrix(x).asformat(form), sparse.csr_matrix(x))
        for form in ("csc", "coo", "bsr", "dia", "lil", "dok")
    },
}
