"""Scalar functions that LLVM can vectorise inside the kernel: exp and log as short polynomials.

A call into the C library stops the vectoriser, and one likelihood needs a dozen exponentials a row.
In float64 (used to check gradients) the exact library functions take their place.
"""

# Overloads are type-level code: Numba calls them with its own types, so Python annotations would mislead here.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,call-arg,var-annotated,unreachable"

from __future__ import annotations

import math

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

_f = np.float32


@intrinsic
def _float_from_bits(typing_context, bits):
    def generate(context, builder, signature, args):
        return builder.bitcast(args[0], ir.FloatType())

    return types.float32(types.int32), generate


@intrinsic
def _bits_from_float(typing_context, value):
    def generate(context, builder, signature, args):
        return builder.bitcast(args[0], ir.IntType(32))

    return types.int32(types.float32), generate


def like(value, reference):
    """Return `value` as a number of the type of `reference`, so that float32 code stays float32."""
    raise RuntimeError("only for compiled code")


@overload(like, inline="always")
def _like(value, reference):
    kind = reference.dtype if isinstance(reference, types.Array) else reference
    if kind == types.float32:
        return lambda value, reference: np.float32(value)
    return lambda value, reference: np.float64(value)


def exp(x):
    """Return e to the power x; in float32 to a relative 4e-7 + 8e-8 |x| for -87 < x < 88, clamped beyond."""
    raise RuntimeError("only for compiled code")


@overload(exp, inline="always")
def _exp(x):
    if x != types.float32:
        return lambda x: math.exp(x)

    def exp_float32(x):
        # e^x = 2^n e^r with |r| <= ln(2) / 2: a Taylor polynomial of degree 6 is exact to float32.
        t = min(max(x, _f(-87.0)), _f(88.0)) * _f(1.44269504)
        n = np.floor(t + _f(0.5))
        r = (t - n) * _f(0.69314718)
        p = _f(0.008333333) + r * _f(0.0013888889)
        p = _f(0.16666667) + r * (_f(0.041666667) + r * p)
        p = _f(1) + r * (_f(1) + r * (_f(0.5) + r * p))
        return p * _float_from_bits(np.int32((np.int32(n) + np.int32(127)) << np.int32(23)))

    return exp_float32


def log(x):
    """Return the natural logarithm of a positive normal number."""
    raise RuntimeError("only for compiled code")


@overload(log, inline="always")
def _log(x):
    if x != types.float32:
        return lambda x: math.log(x)

    def log_float32(x):
        # x = 2^e (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)); ln(1 + f) = 2 artanh(f / (2 + f)).
        bits = _bits_from_float(x)
        e = np.int32((bits - np.int32(0x3F3504F3)) >> np.int32(23))
        f = _float_from_bits(np.int32(bits - np.int32(e << np.int32(23)))) - _f(1)
        s = f / (_f(2) + f)
        q = s * s
        p = _f(2) * s * (_f(1) + q * (_f(0.33333334) + q * (_f(0.2) + q * (_f(0.14285715) + q * _f(0.11111111)))))
        return p + _f(0.69314718) * _f(e)

    return log_float32
