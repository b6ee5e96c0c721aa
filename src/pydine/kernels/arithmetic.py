"""Arithmetic that gives the same bits on every machine, and that LLVM can vectorise inside the kernels.

Two things make compiled floating-point code differ between processors. Sums are reordered to fit a vector unit, and
exp, log and similar functions come from a library with variants for each processor (and prevent vectorisation). So no
compiled function here allows reordering: a sum runs over a fixed number of lanes, whatever the vector unit's width, and
the lanes are added up as a fixed tree. The functions are built from additions, multiplications and divisions, whose
rounding IEEE 754 defines. They exist for float32, in which units are trained, and for float64.
"""

# Overloads are type-level code: Numba calls them with its own types, so Python annotations would mislead here.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,call-arg,var-annotated,unreachable"

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

_f = np.float32
# precision: bytes of a sum's accumulators, whose number affects its last digits: the widest vector there is, or two or
# four narrower ones.
LANE_BYTES = 64
SQRT_HALF = 0.7071067811865476  # fact

# --- doors ------------------------------------------------------------------------------------------------------------


def check(fits):
    """Refuse arrays that do not fit each other, at the door of a kernel: beyond it no index is checked.

    It is not inlined: a kernel that itself raises is not vectorised, and takes up to seven times as long.
    """
    raise RuntimeError("only for compiled code")


@overload(check)
def _check(fits):
    def evaluate(fits):
        if not fits:
            raise ValueError("arrays of a kernel do not fit each other")

    return evaluate


# --- bits -------------------------------------------------------------------------------------------------------------


def _reinterpreted(before, after, as_after):
    """A function for compiled code that reinterprets the bits of one type as another; it needs no instruction."""

    @intrinsic
    def cast(typing_context, value):
        def generate(context, builder, signature, args):
            return builder.bitcast(args[0], as_after)

        return after(before), generate

    return cast


_float_from_bits = _reinterpreted(types.int32, types.float32, ir.FloatType())
_bits_from_float = _reinterpreted(types.float32, types.int32, ir.IntType(32))
_double_from_bits = _reinterpreted(types.int64, types.float64, ir.DoubleType())
_bits_from_double = _reinterpreted(types.float64, types.int64, ir.IntType(64))


@intrinsic
def like(typing_context, value, reference):
    """A float64 as a number of the type of `reference`, or of its entries, so that float32 code stays float32."""
    kind = reference.dtype if isinstance(reference, types.Array) else reference
    kind = types.float32 if kind == types.float32 else types.float64

    def generate(context, builder, signature, args):
        return args[0] if kind == types.float64 else builder.fptrunc(args[0], ir.FloatType())

    return kind(types.float64, reference), generate


# --- sums of products over fixed lanes --------------------------------------------------------------------------------


def _row(context, builder, kind, value, index=None):
    """A pointer to the first entry of a C-contiguous vector, or of a row of a matrix, and its length."""
    array = context.make_array(kind)(context, builder, value)
    if index is None:
        return array.data, builder.extract_value(array.shape, 0)
    width = builder.extract_value(array.shape, 1)
    return builder.gep(array.data, [builder.mul(index, width)]), width


def _tree_sum(builder, lanes, count):
    """Add up the lanes of a vector: the upper half to the lower half, until one lane is left."""
    while count > 1:
        count //= 2
        halves = [
            builder.shuffle_vector(
                lanes, lanes, ir.Constant(ir.VectorType(ir.IntType(32), count), list(range(k, k + count)))
            )
            for k in (0, count)
        ]
        lanes = builder.fadd(*halves)
    return builder.extract_element(lanes, ir.Constant(ir.IntType(32), 0))


def _emit_dots(builder, lefts, length, rights):
    """Sums of products of some vectors with others: first in whole vectors of lanes, then the remainder one by one."""
    kind = lefts[0].type.pointee
    size = 4 if isinstance(kind, ir.FloatType) else 8
    count = LANE_BYTES // size
    vector = ir.VectorType(kind, count)
    pairs = [(left, right) for left in range(len(lefts)) for right in range(len(rights))]
    sums = [cgutils.alloca_once_value(builder, ir.Constant(vector, [0.0] * count)) for _ in pairs]
    step = ir.Constant(length.type, count)
    whole = builder.mul(builder.udiv(length, step), step)

    def load(pointer, place):
        return builder.load(builder.bitcast(builder.gep(pointer, [place]), vector.as_pointer()), align=size)

    def add_products(totals, a, b):
        for total, (left, right) in zip(totals, pairs, strict=True):
            builder.store(builder.fadd(builder.load(total), builder.fmul(a[left], b[right])), total)

    with cgutils.for_range_slice(builder, ir.Constant(length.type, 0), whole, step, length.type) as (place, _):
        add_products(sums, [load(left, place) for left in lefts], [load(right, place) for right in rights])
    results = [cgutils.alloca_once_value(builder, _tree_sum(builder, builder.load(s), count)) for s in sums]
    one = ir.Constant(length.type, 1)
    with cgutils.for_range_slice(builder, whole, length, one, length.type) as (place, _):
        a, b = ([builder.load(builder.gep(row, [place])) for row in rows] for rows in (lefts, rights))
        add_products(results, a, b)
    return [builder.load(result) for result in results]


@intrinsic
def dot(typing_context, a, b):
    """Sum of products of two C-contiguous vectors of one dtype and length."""

    def generate(context, builder, signature, args):
        left, length = _row(context, builder, signature.args[0], args[0])
        right, _ = _row(context, builder, signature.args[1], args[1])
        return _emit_dots(builder, [left], length, [right])[0]

    return a.dtype(a, b), generate


@intrinsic
def row_sum(typing_context, a, i):
    """Sum of row i of a C-contiguous matrix whose width is a whole number of lanes: the kernels pad theirs."""

    def generate(context, builder, signature, args):
        left, length = _row(context, builder, signature.args[0], args[0], args[1])
        kind = left.type.pointee
        size = 4 if isinstance(kind, ir.FloatType) else 8
        count = LANE_BYTES // size
        vector = ir.VectorType(kind, count)
        total = cgutils.alloca_once_value(builder, ir.Constant(vector, [0.0] * count))
        step = ir.Constant(length.type, count)
        with cgutils.for_range_slice(builder, ir.Constant(length.type, 0), length, step, length.type) as (place, _):
            pointer = builder.bitcast(builder.gep(left, [place]), vector.as_pointer())
            builder.store(builder.fadd(builder.load(total), builder.load(pointer, align=size)), total)
        return _tree_sum(builder, builder.load(total), count)

    return a.dtype(a, types.intp), generate


@intrinsic
def row_dot(typing_context, a, i, b, j):
    """Sum of products of row i of one C-contiguous matrix and row j of another, of one dtype and width."""

    def generate(context, builder, signature, args):
        left, length = _row(context, builder, signature.args[0], args[0], args[1])
        right, _ = _row(context, builder, signature.args[2], args[2], args[3])
        return _emit_dots(builder, [left], length, [right])[0]

    return a.dtype(a, types.intp, b, types.intp), generate


def _four_rows(context, builder, kind, value, first):
    """Pointers to four rows of a C-contiguous matrix, from the `first` on, and their length."""
    places = [builder.add(first, ir.Constant(first.type, k)) for k in range(4)]
    rows = [_row(context, builder, kind, value, place) for place in places]
    return [pointer for pointer, _ in rows], rows[0][1]


@intrinsic
def row_dots(typing_context, a, i, b, j):
    """`row_dot` with each of the four rows j to j + 3, so that row i is read only once."""

    def generate(context, builder, signature, args):
        left, length = _row(context, builder, signature.args[0], args[0], args[1])
        rights, _ = _four_rows(context, builder, signature.args[2], args[2], args[3])
        return context.make_tuple(builder, signature.return_type, _emit_dots(builder, [left], length, rights))

    return types.UniTuple(a.dtype, 4)(a, types.intp, b, types.intp), generate


@intrinsic
def tile_dots(typing_context, a, i, b, j):
    """`row_dots` of each of the four rows i to i + 3, one after the other, so that all rows are read only once."""

    def generate(context, builder, signature, args):
        lefts, length = _four_rows(context, builder, signature.args[0], args[0], args[1])
        rights, _ = _four_rows(context, builder, signature.args[2], args[2], args[3])
        return context.make_tuple(builder, signature.return_type, _emit_dots(builder, lefts, length, rights))

    return types.UniTuple(a.dtype, 16)(a, types.intp, b, types.intp), generate


# --- exp and log ------------------------------------------------------------------------------------------------------

# These two are inlined late, by LLVM, and still vectorise. The tails below must be inlined by Numba for that. If these
# were too, each call would be typed and lowered separately, and compilation would take a quarter longer.


def exp(x):
    """Return e to the power x; x is clamped to -87 to 88 in float32, and to -708 to 709 in float64.

    The relative error is 4e-7 + 8e-8 |x| in float32, 4e-16 in float64.
    """
    raise RuntimeError("only for compiled code")


@overload(exp)
def _exp(x):
    # e^x = 2^n e^r with |r| <= ln(2) / 2: Taylor polynomials, of degree 6 and 13, are exact to the last bit or two.
    def exp_float32(x):
        t = min(max(x, _f(-87.0)), _f(88.0)) * _f(1.44269504)
        n = np.floor(t + _f(0.5))
        r = (t - n) * _f(0.69314718)
        p = _f(0.008333333) + r * _f(0.0013888889)
        p = _f(0.16666667) + r * (_f(0.041666667) + r * p)
        p = _f(1) + r * (_f(1) + r * (_f(0.5) + r * p))
        return p * _float_from_bits(np.int32((np.int32(n) + np.int32(127)) << np.int32(23)))

    def exp_float64(x):
        x = min(max(x, -708.0), 709.0)
        # Adding 1.5 * 2^52 rounds to an integer, which is then in the last bits. Few vector units can convert a float64
        # to an integer.
        shifted = x * 1.4426950408889634 + 6755399441055744.0
        n = shifted - 6755399441055744.0
        r = (x - n * 0.6931471803691238) - n * 1.9082149292705877e-10  # ln 2 in two parts: the first product is exact
        p = 2.505210838544172e-08 + r * (2.08767569878681e-09 + r * 1.6059043836821613e-10)
        p = 2.48015873015873e-05 + r * (2.7557319223985893e-06 + r * (2.755731922398589e-07 + r * p))
        p = 0.008333333333333333 + r * (0.001388888888888889 + r * (0.0001984126984126984 + r * p))
        p = 0.5 + r * (0.16666666666666666 + r * (0.041666666666666664 + r * p))
        p = 1.0 + r * (1.0 + r * p)
        return p * _double_from_bits((_bits_from_double(shifted) + 1023) << 52)

    return exp_float32 if x == types.float32 else exp_float64


def log(x):
    """Return the natural logarithm of a positive normal number."""
    raise RuntimeError("only for compiled code")


@overload(log)
def _log(x):
    # x = 2^e (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)); ln(1 + f) = 2 artanh(f / (2 + f)).
    def log_float32(x):
        bits = _bits_from_float(x)
        e = np.int32((bits - np.int32(0x3F3504F3)) >> np.int32(23))
        f = _float_from_bits(np.int32(bits - np.int32(e << np.int32(23)))) - _f(1)
        s = f / (_f(2) + f)
        q = s * s
        p = _f(2) * s * (_f(1) + q * (_f(0.33333334) + q * (_f(0.2) + q * (_f(0.14285715) + q * _f(0.11111111)))))
        return p + _f(0.69314718) * _f(e)

    def log_float64(x):
        bits = _bits_from_double(x)
        e = (bits - np.int64(0x3FE6A09E667F3BCD)) >> np.int64(52)
        f = _double_from_bits(bits - (e << np.int64(52))) - 1.0
        s = f / (2.0 + f)
        q = s * s
        p = 1.0 / 19.0 + q * (1.0 / 21.0 + q * (1.0 / 23.0))
        p = 1.0 / 13.0 + q * (1.0 / 15.0 + q * (1.0 / 17.0 + q * p))
        p = 1.0 / 7.0 + q * (1.0 / 9.0 + q * (1.0 / 11.0 + q * p))
        p = q * (1.0 / 3.0 + q * (1.0 / 5.0 + q * p))
        n = np.float64(e)
        return n * 0.6931471803691238 + (2.0 * (s + s * p) + n * 1.9082149292705877e-10)

    return log_float32 if x == types.float32 else log_float64


# --- the normal distribution ----------------------------------------------------------------------------------------

# ln(erfc(x) / t) + x^2 with t = 2 / (2 + x) is smooth in t from x = 0 to infinity: its Chebyshev coefficients on
# [0, 1], computed with 60 digits. The first one left out is 1.2e-16.
ERFC = np.array(
    [
        -0.6513268598908547,
        0.6419697923564903,
        0.019476473204185836,
        -0.009561514786808632,
        -0.0009465953444820369,
        0.00036683949785276145,
        4.252332480690777e-05,
        -2.0278578112534243e-05,
        -1.6242900046470255e-06,
        1.3036558355805232e-06,
        1.5626441722066143e-08,
        -8.523809591492654e-08,
        6.529054439098851e-09,
        5.059343495551469e-09,
        -9.913641564930331e-10,
        -2.273651222931836e-10,
        9.646791102015527e-11,
        2.3940380830391147e-12,
        -6.886027526497553e-12,
        8.944879273090726e-13,
        3.130921399342958e-13,
        -1.1270822361367252e-13,
        3.810905255189232e-16,
        7.106097613609237e-15,
        -1.5230282014571043e-15,
        -9.457494571291234e-17,
    ]
)


ERFC_FLOAT32 = ERFC[:13].astype(np.float32)


def log_tail(x):
    """Return ln(erfc(x) / t) and t = 2 / (2 + x) for x >= 0: it does not underflow, however small the tail."""
    raise RuntimeError("only for compiled code")


@overload(log_tail, inline="always")
def _log_tail(x):
    def evaluate_float32(x):
        t = _f(2) / (_f(2) + x)
        u = _f(4) * t - _f(2)
        d, e = ERFC_FLOAT32[-1], _f(0)
        for k in range(len(ERFC_FLOAT32) - 2, 0, -1):
            d, e = u * d - e + ERFC_FLOAT32[k], d
        return (_f(0.5) * u * d - e + ERFC_FLOAT32[0]) - x * x, t

    def evaluate(x):
        t = 2.0 / (2.0 + x)
        u = 4.0 * t - 2.0
        d, e = ERFC[-1], 0.0
        for k in range(len(ERFC) - 2, 0, -1):  # Clenshaw's recurrence
            d, e = u * d - e + ERFC[k], d
        return (0.5 * u * d - e + ERFC[0]) - x * x, t

    return evaluate_float32 if x == types.float32 else evaluate


def upper_tail(z):
    """Return 1 - Phi(z), the upper tail of the standard normal distribution, for z >= 0.

    The relative error is 1e-14 in float64, and that of `exp` in float32.
    """
    raise RuntimeError("only for compiled code")


@overload(upper_tail, inline="always")
def _upper_tail(z):
    def evaluate(z):
        log_ratio, t = log_tail(z * SQRT_HALF)
        return 0.5 * t * exp(log_ratio)

    def evaluate_float32(z):
        log_ratio, t = log_tail(z * _f(SQRT_HALF))
        return _f(0.5) * t * exp(log_ratio)

    return evaluate_float32 if z == types.float32 else evaluate
