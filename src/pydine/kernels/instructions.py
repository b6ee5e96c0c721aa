"""The language of kernels, and how it becomes LLVM's: loops over numbers in arrays, written as Python.

Numba understands all of Python, and takes a second for every thirty lines: it copies, types and rewrites each
expression many times. Kernels need little of it. Here their syntax tree is walked once, and every node becomes the
instructions that it stands for. What surrounds a kernel stays Numba's: calls from Python, specialisation by types,
allocation, optimisation by LLVM, and machine code on disk. A kernel is also valid code for Numba as it is, which is
how it is compiled when its indices are to be checked, and what the tests compare with.

The language: numbers (float32, float64, integers, booleans), arrays of them, and tuples; assignments, `for` over
`range`, `while`, `if`, `break`, `continue` and `return`; arithmetic, comparisons, `and`, `or`, `not`, `if` within an
expression; elements, rows and slices (of the first axis that no number selects); `shape`, `ndim`, `dtype`, `copy()`;
`range`, `len`, `min`, `max`, `abs`, `int`, `float`; of NumPy `empty`, `zeros`, `ones`, `sqrt`, `isfinite` and
types; calls of other kernels and of `arithmetic`, which are inlined. A name keeps the type of its first value, an
index is not negative unless it is a constant, and what is known from types alone is decided before compilation.
"""

# mypy: disable-error-code="attr-defined,arg-type,call-overload,no-untyped-def,no-untyped-call,misc"

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

INDEX, BIT = ir.IntType(64), ir.IntType(1)
KINDS: dict[Any, Any] = {
    types.float32: ir.FloatType(),
    types.float64: ir.DoubleType(),
    types.int64: INDEX,
    types.int32: ir.IntType(32),
    types.boolean: BIT,
}
CASTS = {np.float32: types.float32, np.float64: types.float64, np.int32: types.int32, np.int64: types.int64}
CASTS |= {int: types.int64, float: types.float64}


class RefusedError(Exception):
    """A kernel that is not written in the language."""


@dataclass(frozen=True, eq=False)
class Number:
    """A number that is known when the kernel runs; one that is known before is Python's own."""

    kind: Any
    value: ir.Value


@dataclass(frozen=True, eq=False)
class Array:
    """An array: where it begins, its lengths, and its strides in bytes unless it is C-contiguous."""

    kind: Any
    data: ir.Value
    shape: tuple[ir.Value, ...]
    strides: tuple[ir.Value, ...] | None = None
    owner: ir.Value | None = None  # the place of Numba's own record of it, if it was made here


@dataclass(frozen=True, eq=False)
class Slot:
    """Where a variable is: places in memory, which LLVM turns into registers, and how to put them together."""

    parts: tuple[ir.Value, ...]
    like: Any


def is_known(value: Any) -> bool:
    """Whether a value is known before the kernel runs."""
    return not isinstance(value, (Number, Array)) and not (isinstance(value, tuple) and not all(map(is_known, value)))


class Instructions:
    """Values and their instructions: what an operation becomes."""

    def __init__(self, context: Any, builder: Any, made: list[Any], functions: dict[Any, Any]) -> None:
        self.context, self.builder, self.made, self.functions = context, builder, made, functions
        self.is_apart = False  # a function within a kernel makes no arrays, and raises nothing

    # --- numbers ---

    def number(self, value: Any) -> Number:
        """A value as one that is known when the kernel runs."""
        if isinstance(value, Number):
            return value
        if isinstance(value, (bool, np.bool_)):
            return Number(types.boolean, ir.Constant(BIT, int(value)))
        if isinstance(value, (int, np.integer)):
            return Number(types.int64, ir.Constant(INDEX, int(value)))
        if isinstance(value, np.float32):
            return Number(types.float32, ir.Constant(ir.FloatType(), float(value)))
        if isinstance(value, float):
            return Number(types.float64, ir.Constant(ir.DoubleType(), float(value)))
        raise RefusedError(f"a number is needed in place of {value}")

    def cast(self, value: Any, kind: Any) -> ir.Value:
        """The instructions that make a number one of another kind."""
        if isinstance(value, (bool, int, float)) and kind in (types.float32, types.float64):
            return ir.Constant(KINDS[kind], float(np.float32(value)) if kind == types.float32 else float(value))
        number, build, to = self.number(value), self.builder, KINDS[kind]
        before, given = number.kind, number.value
        if before == kind:
            return given
        if kind == types.boolean:
            zero = ir.Constant(given.type, 0)
            return (
                build.fcmp_unordered("!=", given, zero)
                if before in types.real_domain
                else build.icmp_signed("!=", given, zero)
            )
        if before == types.boolean:
            given = build.zext(given, INDEX)
            return self.cast(Number(types.int64, given), kind)
        if before in types.real_domain:
            if kind in types.real_domain:
                return build.fpext(given, to) if kind == types.float64 else build.fptrunc(given, to)
            return build.fptosi(given, to)
        if kind in types.real_domain:
            return build.sitofp(given, to)
        return build.sext(given, to) if to.width > given.type.width else build.trunc(given, to)

    def common(self, *values: Any) -> Any:
        """The kind of number that holds all of these, as Numba has it."""
        kinds = {self.number(value).kind for value in values}
        if len(kinds) == 1:
            return kinds.pop()
        if kinds & {types.float32, types.float64}:
            return types.float64
        return types.int64

    def index(self, value: Any) -> ir.Value:
        """A number as an index."""
        return self.cast(value, types.int64)

    def binary(self, operation: ast.operator, left: Any, right: Any) -> Any:
        """An arithmetic operation."""
        if is_known(left) and is_known(right):
            return _PYTHON[type(operation)](left, right)
        build, kind = self.builder, self.common(left, right)
        name = type(operation)
        if name is ast.Div and kind not in types.real_domain:
            kind = types.float64
        elif kind == types.boolean and name not in (ast.BitAnd, ast.BitOr):
            kind = types.int64
        a, b = self.cast(left, kind), self.cast(right, kind)
        if kind in types.real_domain:
            if name not in _OF_REALS:
                raise RefusedError(f"{name.__name__} of floating-point numbers")
            return Number(kind, getattr(build, _OF_REALS[name])(a, b))
        if name in (ast.FloorDiv, ast.Mod):
            return Number(kind, self._floor(a, b, name is ast.Mod))
        flags = ("nsw",) if name in (ast.Add, ast.Sub, ast.Mult) else ()
        if name not in _OF_INTEGERS:
            raise RefusedError(f"{name.__name__} of integers")
        return Number(kind, getattr(build, _OF_INTEGERS[name])(a, b, flags=flags))

    def _floor(self, a: ir.Value, b: ir.Value, remainder: bool) -> ir.Value:
        """Quotient or remainder towards minus infinity; 0 where the divisor is."""
        build, zero, one = self.builder, ir.Constant(a.type, 0), ir.Constant(a.type, 1)
        void = build.icmp_signed("==", b, zero)
        b = b if isinstance(b, ir.Constant) else build.select(void, one, b)
        quotient = build.sdiv(a, b)
        rest = build.sub(a, build.mul(quotient, b))
        below = build.and_(build.icmp_signed("!=", rest, zero), build.icmp_signed("<", build.xor(rest, b), zero))
        if remainder:
            return build.select(void, zero, build.add(rest, build.select(below, b, zero)))
        return build.select(void, zero, build.sub(quotient, build.select(below, one, zero)))

    def negative(self, value: Any) -> Any:
        """Minus a number."""
        if is_known(value):
            return -value
        kind = value.kind
        if kind in types.real_domain:
            return Number(kind, self.builder.fneg(value.value))
        return Number(kind, self.builder.sub(ir.Constant(KINDS[kind], 0), value.value, flags=("nsw",)))

    def compare(self, operation: ast.cmpop, left: Any, right: Any) -> Any:
        """A comparison, of numbers or of tuples."""
        if isinstance(operation, ast.In):
            return self.either([self.compare(ast.Eq(), left, one) for one in right])
        if isinstance(left, tuple) and isinstance(right, tuple):
            if not isinstance(operation, ast.Eq) or len(left) != len(right):
                raise RefusedError("tuples are compared by == only, with others of their length")
            return self.both([self.compare(operation, a, b) for a, b in zip(left, right, strict=True)])
        sign, evaluate = _COMPARISONS[type(operation)]
        if is_known(left) and is_known(right):
            return evaluate(left, right)
        kind = self.common(left, right)
        a, b = self.cast(left, kind), self.cast(right, kind)
        if kind in types.real_domain:
            compare = self.builder.fcmp_unordered if sign == "!=" else self.builder.fcmp_ordered
            return Number(types.boolean, compare(sign, a, b))
        return Number(types.boolean, self.builder.icmp_signed(sign, a, b))

    def both(self, values: list[Any]) -> Any:
        """Whether all of these hold."""
        return self._joined(values, self.builder.and_, False)

    def either(self, values: list[Any]) -> Any:
        """Whether one of these holds."""
        return self._joined(values, self.builder.or_, True)

    def _joined(self, values: list[Any], join: Any, decisive: bool) -> Any:
        if any(is_known(value) and bool(value) is decisive for value in values):
            return decisive
        unknown = [self.cast(value, types.boolean) for value in values if not is_known(value)]
        if not unknown:
            return not decisive
        result = unknown[0]
        for value in unknown[1:]:
            result = join(result, value)
        return Number(types.boolean, result)

    def chosen(self, test: Any, left: Any, right: Any) -> Any:
        """One of two values, of which both are there already."""
        if isinstance(left, tuple):
            return tuple(self.chosen(test, a, b) for a, b in zip(left, right, strict=True))
        if isinstance(left, Array):
            pairs = zip((left.data, *left.shape), (right.data, *right.shape), strict=True)
            data, *shape = (self.builder.select(test, a, b) for a, b in pairs)
            return Array(left.kind, data, tuple(shape))
        kind = self.common(left, right)
        return Number(kind, self.builder.select(test, self.cast(left, kind), self.cast(right, kind)))

    # --- arrays ---

    def element(self, array: Array, indices: list[Any]) -> ir.Value:
        """Where an element is, or the first one of what the first indices select."""
        build = self.builder
        if array.strides is not None:
            place = build.ptrtoint(array.data, INDEX)
            for index, stride in zip(indices, array.strides, strict=False):
                place = build.add(place, build.mul(self.index(index), stride))
            return build.inttoptr(place, array.data.type)
        offset = ir.Constant(INDEX, 0)
        for axis, length in enumerate(array.shape):
            if axis > 0:
                offset = build.mul(offset, length, flags=("nsw",))
            if axis < len(indices):
                offset = build.add(offset, self._from_end(indices[axis], length), flags=("nsw",))
        return build.gep(array.data, [offset], inbounds=True)

    def _from_end(self, index: Any, length: ir.Value) -> ir.Value:
        found = self.index(index)
        return self.builder.add(length, found) if is_known(index) and index < 0 else found

    def load(self, array: Array, indices: list[Any]) -> Any:
        """An element, or the part of an array that the first indices select."""
        place = self.element(array, indices)
        if len(indices) < len(array.shape):
            rest = None if array.strides is None else array.strides[len(indices) :]
            return Array(array.kind, place, array.shape[len(indices) :], rest)
        found = self.builder.load(place)
        if array.kind in KINDS:
            return Number(array.kind, found)
        if not isinstance(array.kind, types.Integer):
            raise RefusedError(f"arrays of {array.kind}")
        longer = (
            found
            if found.type == INDEX
            else (self.builder.sext if array.kind.signed else self.builder.zext)(found, INDEX)
        )
        return Number(types.int64, longer)

    def sliced(self, array: Array, low: Any, high: Any) -> Array:
        """A slice of the first axis."""
        build, length = self.builder, array.shape[0]
        end = length if high is None else self._from_end(high, length)
        if high is not None:
            end = build.select(build.icmp_signed("<", end, length), end, length)
        begin = ir.Constant(INDEX, 0) if low is None else self._from_end(low, length)
        if low is not None:
            begin = build.select(build.icmp_signed("<", begin, end), begin, end)
        data = array.data if low is None else self.element(array, [Number(types.int64, begin)])
        return replace(array, data=data, shape=(build.sub(end, begin), *array.shape[1:]), owner=None)

    def fill(self, array: Array, value: Any) -> None:
        """Write a number to all elements of a C-contiguous array."""
        if array.strides is not None:
            raise RefusedError("only C-contiguous arrays are filled")
        given, count = self.cast(value, array.kind), ir.Constant(INDEX, 1)
        for length in array.shape:
            count = self.builder.mul(count, length, flags=("nsw",))
        with cgutils.for_range(self.builder, count, intp=INDEX) as loop:
            self.builder.store(given, self.builder.gep(array.data, [loop.index], inbounds=True))

    def copied(self, array: Array) -> Array:
        """A copy of a C-contiguous array."""
        if array.strides is not None:
            raise RefusedError("only C-contiguous arrays are copied")
        made = self._allocated(types.Array(array.kind, len(array.shape), "C"), list(array.shape))
        count = ir.Constant(INDEX, 1)
        for length in array.shape:
            count = self.builder.mul(count, length, flags=("nsw",))
        with cgutils.for_range(self.builder, count, intp=INDEX) as loop:
            given = self.builder.load(self.builder.gep(array.data, [loop.index], inbounds=True))
            self.builder.store(given, self.builder.gep(made.data, [loop.index], inbounds=True))
        return made

    def made_array(self, shape: Any, kind: Any, value: Any = None) -> Array:
        """A new array, filled with a value if there is one; it is given back when the kernel ends."""
        lengths = [self.index(length) for length in (shape if isinstance(shape, tuple) else (shape,))]
        kind = CASTS.get(kind, kind)
        array = self._allocated(types.Array(kind, len(lengths), "C"), lengths)
        if value is not None:
            self.fill(array, value)
        return array

    def _allocated(self, of: Any, lengths: list[ir.Value]) -> Array:
        if self.is_apart:
            raise RefusedError("a function of its own makes no arrays")
        if self.context is None:  # only types are of interest
            return Array(of.dtype, ir.Constant(KINDS[of.dtype].as_pointer(), None), tuple(lengths), None, lengths[0])
        from numba.np.arrayobj import _empty_nd_impl

        place = cgutils.alloca_once(self.builder, self.context.get_value_type(of), zfill=True)
        self.context.nrt.decref(self.builder, of, self.builder.load(place))  # of an earlier turn of a loop
        made = _empty_nd_impl(self.context, self.builder, of, lengths)
        self.builder.store(made._getvalue(), place)
        self.made.append((of, place))
        return Array(of.dtype, made.data, tuple(lengths), None, place)


_PYTHON: dict[Any, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
_OF_REALS: dict[Any, str] = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
_OF_INTEGERS: dict[Any, str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.LShift: "shl",
    ast.RShift: "ashr",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
}
_COMPARISONS: dict[Any, tuple[str, Any]] = {
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
}


# --- Numba's values ---------------------------------------------------------------------------------------------------


def entering(to: Instructions, kind: Any, value: ir.Value) -> Any:
    """One of Numba's values as one of a kernel."""
    if isinstance(kind, types.Array):
        record = to.context.make_array(kind)(to.context, to.builder, value)
        shape = tuple(cgutils.unpack_tuple(to.builder, record.shape, kind.ndim))
        strides = None if kind.layout == "C" else tuple(cgutils.unpack_tuple(to.builder, record.strides, kind.ndim))
        return Array(kind.dtype, record.data, shape, strides)
    if isinstance(kind, types.Boolean):
        return Number(types.boolean, value)
    if isinstance(kind, types.Integer):
        wider = value if value.type == INDEX else (to.builder.sext if kind.signed else to.builder.zext)(value, INDEX)
        return Number(types.int64, wider)
    if kind in types.real_domain:
        return Number(kind, value)
    if isinstance(kind, types.BaseTuple):
        parts = cgutils.unpack_tuple(to.builder, value)
        return tuple(entering(to, one, part) for one, part in zip(kind, parts, strict=True))
    raise RefusedError(f"an argument of type {kind}")


def leaving(to: Instructions, kind: Any, value: Any) -> Any:
    """What a kernel returns as one of Numba's values."""
    if kind == types.none:
        return to.context.get_dummy_value()
    if isinstance(kind, types.BaseTuple):
        parts = [leaving(to, one, part) for one, part in zip(kind, value, strict=True)]
        return to.context.make_tuple(to.builder, kind, parts)
    if isinstance(kind, types.Array):
        if value.owner is None:
            raise RefusedError("only whole arrays that were made here are returned, by the name that they were given")
        record = to.builder.load(value.owner)
        to.context.nrt.incref(to.builder, kind, record)
        return record
    return to.cast(value, kind)


def for_numba(emit: Callable[..., Any]) -> Callable[..., Any]:
    """What Numba calls to write the instructions of a function of its own."""

    def generate(context, builder, signature, given):
        to = Instructions(context, builder, [], {})
        values = [entering(to, kind, value) for kind, value in zip(signature.args, given, strict=True)]
        return leaving(to, signature.return_type, emit(to, *values))

    return generate


# --- values of functions ---------------------------------------------------------------------------------------------


def described(value: Any) -> Any:
    """What a function has to be written for: kinds of numbers and arrays, and what is known."""
    if isinstance(value, (list, tuple)):
        return tuple(map(described, value))
    if isinstance(value, Array):
        return value.kind, len(value.shape), value.strides is None
    return value.kind if isinstance(value, Number) else repr(value)


def values_in(value: Any) -> list[ir.Value]:
    """All that has to be handed over to a function."""
    if isinstance(value, (list, tuple)):
        return [one for part in value for one in values_in(part)]
    if isinstance(value, Array):
        return [value.data, *value.shape, *(value.strides or ())]
    return [value.value] if isinstance(value, Number) else []


def renewed(value: Any, parts: Any) -> Any:
    """The same value, of what a function was handed over."""
    if isinstance(value, (list, tuple)):
        return type(value)(renewed(one, parts) for one in value)
    if isinstance(value, Array):
        data, shape = next(parts), tuple(next(parts) for _ in value.shape)
        return Array(
            value.kind, data, shape, None if value.strides is None else tuple(next(parts) for _ in value.shape)
        )
    return Number(value.kind, next(parts)) if isinstance(value, Number) else value
