"""Kernels as functions of Numba: their types, and the function that Numba compiles in place of them."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,call-overload,arg-type"

from __future__ import annotations

from functools import cache
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from pydine.kernels.instructions import INDEX, KINDS, Array, Instructions, Number, entering, leaving
from pydine.kernels.lowering import Lowering, tree


def direct(function: Any) -> Any:
    """A function for Numba to compile that consists of a kernel's instructions, with the kernel's names.

    Raises
    ------
    RefusedError
        When it is compiled, if the kernel is not written in the language.
    """

    @intrinsic
    def instructions(typing_context, arguments):
        returned = _returned(function, arguments)

        def generate(context, builder, signature, given):
            parts = cgutils.unpack_tuple(builder, given[0])
            made: list[Any] = []
            to = Instructions(context, builder, made, {})
            values = [entering(to, kind, part) for kind, part in zip(arguments, parts, strict=True)]
            result = leaving(to, returned, Lowering(function, to).call(values))
            for kind, place in made:
                context.nrt.decref(builder, kind, builder.load(place))
            return result

        return returned(arguments), generate

    names = [one.arg for one in tree(function).args.args]
    source = f"def {function.__name__}({', '.join(names)}):\n    return instructions(({', '.join(names)},))"
    scope: dict[str, Any] = {"instructions": instructions, "__name__": function.__module__}
    exec(compile(source, function.__code__.co_filename, "exec"), scope)
    found = scope[function.__name__]
    found.__code__ = found.__code__.replace(co_firstlineno=function.__code__.co_firstlineno)
    found.__doc__, found.__module__, found.__wrapped__ = function.__doc__, function.__module__, function
    return found


@cache
def _returned(function: Any, arguments: Any) -> Any:
    """The type of what a kernel returns: its instructions are written once, and thrown away."""
    module = ir.Module()
    place = ir.Function(module, ir.FunctionType(ir.VoidType(), []), "types")
    to = Instructions(None, ir.IRBuilder(place.append_basic_block("entry")), [], {})
    return _type_of(to, Lowering(function, to).call([_stand_in(one) for one in arguments]))


def _stand_in(kind: Any) -> Any:
    """A value of one of Numba's types, of which only the type counts."""
    if isinstance(kind, types.Array):
        element = KINDS.get(kind.dtype) or ir.IntType(kind.dtype.bitwidth)
        some = tuple(ir.Constant(INDEX, ir.Undefined) for _ in range(kind.ndim))
        pointer = ir.Constant(element.as_pointer(), None)
        return Array(kind.dtype, pointer, some, None if kind.layout == "C" else some)
    if isinstance(kind, types.BaseTuple):
        return tuple(map(_stand_in, kind))
    number = kind if kind in types.real_domain or isinstance(kind, types.Boolean) else types.int64
    return Number(number, ir.Constant(KINDS[number], ir.Undefined))


def _type_of(to: Instructions, value: Any) -> Any:
    if value is None:
        return types.none
    if isinstance(value, tuple):
        return types.Tuple([_type_of(to, one) for one in value])
    if isinstance(value, Array):
        return types.Array(value.kind, len(value.shape), "C")
    return to.number(value).kind
