"""Functions of Python and NumPy in kernels, and their instructions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from pydine.kernels.instructions import CASTS, KINDS, Array, Instructions, Number, is_known


def _extreme(sign: str) -> Callable[..., Any]:
    """`min` or `max`: a later value replaces an earlier one if it is beyond it, as in Numba."""

    def emit(to: Instructions, *values: Any) -> Any:
        if all(map(is_known, values)):
            return (min if sign == "<" else max)(values)
        kind = to.common(*values)
        found, *others = (to.cast(value, kind) for value in values)
        compare = to.builder.fcmp_ordered if kind in types.real_domain else to.builder.icmp_signed
        for other in others:
            found = to.builder.select(compare(sign, other, found), other, found)
        return Number(kind, found)

    return emit


def _library(name: str) -> Callable[..., Any]:
    """A function of a real number that LLVM has an instruction for."""

    def emit(to: Instructions, value: Any) -> Any:
        number = to.number(value)
        kind = number.kind if number.kind in types.real_domain else types.float64
        declared = to.builder.module.declare_intrinsic(f"llvm.{name}", [KINDS[kind]])
        return Number(kind, to.builder.call(declared, [to.cast(number, kind)]))

    return emit


def _absolute(to: Instructions, value: Any) -> Any:
    number = to.number(value)
    if number.kind in types.real_domain:
        return _library("fabs")(to, number)
    below = to.builder.icmp_signed("<", number.value, ir.Constant(number.value.type, 0))
    return Number(number.kind, to.builder.select(below, to.negative(number).value, number.value))


def _is_finite(to: Instructions, value: Any) -> Any:
    size = _library("fabs")(to, value)
    return Number(types.boolean, to.builder.fcmp_ordered("<", size.value, to.cast(float("inf"), size.kind)))


def _cast_to(kind: Any) -> Callable[..., Any]:
    return lambda to, value: Number(kind, to.cast(value, kind))


def _length(to: Instructions, array: Any) -> Any:  # noqa: ARG001 - as all of them
    return Number(types.int64, array.shape[0]) if isinstance(array, Array) else len(array)


def _full(value: float | None) -> Callable[..., Any]:
    return lambda to, shape, kind=types.float64: to.made_array(shape, kind, value)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    min: _extreme("<"),
    max: _extreme(">"),
    abs: _absolute,
    len: _length,
    np.sqrt: _library("sqrt"),
    np.floor: _library("floor"),
    np.isfinite: _is_finite,
    np.empty: _full(None),
    np.zeros: _full(0.0),
    np.ones: _full(1.0),
    np.full: lambda to, shape, value: to.made_array(shape, types.float64, value),
    **{function: _cast_to(kind) for function, kind in CASTS.items()},
}
