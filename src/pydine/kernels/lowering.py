"""How the syntax tree of a kernel becomes LLVM's instructions; see `instructions` for its language."""

# Numba calls with its own types, and a method for each kind of node finds its own.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,arg-type,call-overload,union-attr,attr-defined"

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.registry import CPUDispatcher

from pydine.kernels.functions import FUNCTIONS
from pydine.kernels.instructions import (
    BIT,
    INDEX,
    KINDS,
    Array,
    Instructions,
    Number,
    RefusedError,
    Slot,
    described,
    is_known,
    renewed,
    values_in,
)
from pydine.kernels.variables import Variables

EMITTERS: dict[Any, Callable[..., Any]] = dict(FUNCTIONS)  # functions that emit instructions; `arithmetic` adds some
VARIANTS: dict[Any, dict[Any, Any]] = {}  # and those with a body for each kind of number


@cache
def tree(function: Any) -> ast.FunctionDef:
    """The syntax tree of a function."""
    found = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    if not isinstance(found, ast.FunctionDef):
        raise RefusedError(f"{function} is not a function")
    return found


@cache
def assigned(function: Any) -> frozenset[str]:
    """The names that a function assigns to."""
    return frozenset(n.id for n in ast.walk(tree(function)) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


class Lowering(Variables):
    """One function, within the instructions of the kernel that it is part of."""

    def __init__(self, function: Any, to: Instructions) -> None:
        free = inspect.getclosurevars(function).nonlocals if function.__closure__ else {}
        super().__init__(to, {**vars(builtins), **function.__globals__, **free})
        self.function, self.exit = function, None
        self.loops: list[tuple[Any, Any]] = []

    def call(self, arguments: list[Any]) -> Any:
        """The function's instructions, and what it returns."""
        definition = tree(self.function)
        parameters = [one.arg for one in definition.args.args]
        if len(parameters) != len(arguments):
            raise RefusedError(f"{self.function.__name__} has {len(parameters)} arguments, not {len(arguments)}")
        for name, value in zip(parameters, arguments, strict=True):
            if name in assigned(self.function):
                self.assign(name, value)
            else:
                self.names[name] = value
        returns = [node for node in ast.walk(definition) if isinstance(node, ast.Return)]
        last = definition.body[-1]
        if not returns:
            self.body(definition.body)
            return None
        if returns == [last]:
            self.body(definition.body[:-1])
            return self.value(last.value)
        self.exit = self.builder.append_basic_block("exit")
        if not self.body(definition.body):
            self.builder.branch(self.exit)
        self.builder.position_at_end(self.exit)
        return self.names.get("return") and self.read("return")

    # --- statements ---

    def body(self, statements: list[ast.stmt]) -> bool:
        """The instructions of statements; returns whether they end by going elsewhere."""
        for statement in statements:
            handle = getattr(self, f"on_{type(statement).__name__}", None)
            if handle is None:
                raise RefusedError(f"{type(statement).__name__} in {self.function.__name__}, line {statement.lineno}")
            try:
                if handle(statement):
                    return True
            except RefusedError as error:
                if not error.args[0].endswith("]"):
                    error.args = (f"{error.args[0]} [{self.function.__name__}: {ast.unparse(statement)[:80]}]",)
                raise
        return False

    def on_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.value(node.value)

    def on_Assign(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        for target in node.targets:
            self.store(target, value)

    def on_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self.assign(node.target.id, self.to.binary(node.op, self.read(node.target.id), self.value(node.value)))
            return
        array, indices = self.place(node.target)
        where = self.to.element(array, indices)
        before = Number(array.kind, self.builder.load(where))
        after = self.to.binary(node.op, before, self.value(node.value))
        self.builder.store(self.to.cast(after, array.kind), where)

    def store(self, target: ast.expr, value: Any) -> None:
        """Assign a value to a name, a tuple or an element."""
        if isinstance(target, ast.Name):
            self.assign(target.id, value)
        elif isinstance(target, ast.Tuple):
            values = self.unpacked(value)
            if len(values) != len(target.elts):
                raise RefusedError(f"{len(values)} values for {len(target.elts)} names")
            for one, part in zip(target.elts, values, strict=True):
                self.store(one, part)
        elif isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice):
            if target.slice.lower or target.slice.upper:
                raise RefusedError("only whole arrays are filled")
            self.to.fill(self.value(target.value), value)
        else:
            array, indices = self.place(target)
            if len(indices) != len(array.shape):
                raise RefusedError("rows are not assigned to")
            self.builder.store(self.to.cast(value, array.kind), self.to.element(array, indices))

    def unpacked(self, value: Any) -> tuple[Any, ...]:
        """The parts of a tuple; of an array of two entries, say, these."""
        if not isinstance(value, tuple):
            raise RefusedError("only tuples are unpacked")
        return value

    def place(self, node: Any) -> tuple[Array, list[Any]]:
        """The array and the indices of an element."""
        array = self.value(node.value)
        if not isinstance(array, Array):
            raise RefusedError(f"{ast.unparse(node.value)} is not an array")
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return array, [self.value(part) for part in parts]

    def on_For(self, node: ast.For) -> bool:
        call = node.iter
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"):
            raise RefusedError("for runs over range only")
        if node.orelse or not isinstance(node.target, ast.Name):
            raise RefusedError("for has one name, and no else")
        given = [self.value(one) for one in call.args]
        begin, end, step = (0, given[0], 1) if len(given) == 1 else (*given, 1)[:3]
        if all(map(is_known, given)) and self.selects_known(node):
            for k in range(begin, end, step):
                self.names[node.target.id] = k
                self.body(node.body)
            return False
        self.loop(node, begin, end, step)
        return False

    def selects_known(self, node: ast.For) -> bool:
        """Whether a loop selects from what is known before the kernel runs: a tuple, or an array of constants."""
        for one in ast.walk(node):
            if isinstance(one, ast.Subscript) and isinstance(one.value, ast.Name):
                base = self.names.get(one.value.id, self.outside.get(one.value.id))
                if isinstance(base, Slot):
                    base = base.like
                if isinstance(base, (tuple, np.ndarray)):
                    return True
        return False

    def loop(self, node: ast.For, begin: Any, end: Any, step: Any) -> None:
        """A loop over whole numbers; a step that is not constant is positive."""
        build = self.builder
        first, last, each = map(self.to.index, (begin, end, step))
        head, inside, onwards, after = (
            build.append_basic_block(f"for.{name}") for name in ("head", "body", "next", "end")
        )
        self.slot(node.target.id, Number(types.int64, first))
        before = build.block
        build.branch(head)
        build.position_at_end(head)
        turn = build.phi(INDEX)
        turn.add_incoming(first, before)
        build.cbranch(build.icmp_signed("<" if not is_known(step) or step > 0 else ">", turn, last), inside, after)
        build.position_at_end(inside)
        self.assign(node.target.id, Number(types.int64, turn))
        self.loops.append((onwards, after))
        if not self.body(node.body):
            build.branch(onwards)
        self.loops.pop()
        build.position_at_end(onwards)
        turn.add_incoming(build.add(turn, each, flags=("nsw",)), onwards)
        self.marked(build.branch(head))
        build.position_at_end(after)

    def marked(self, jump: Any) -> None:
        """Ask LLVM to use vectors, but not to unroll: that takes twice as long to compile, and is no faster."""
        module = self.builder.module
        loop = module.add_metadata([module.add_metadata(["llvm.loop.unroll.disable"])])
        loop.operands = (loop, *loop.operands)
        jump.set_metadata("llvm.loop", loop)

    def on_While(self, node: ast.While) -> None:
        build = self.builder
        head, inside, after = (build.append_basic_block(f"while.{name}") for name in ("head", "body", "end"))
        build.branch(head)
        build.position_at_end(head)
        build.cbranch(self.truth(node.test), inside, after)
        build.position_at_end(inside)
        self.loops.append((head, after))
        if not self.body(node.body):
            build.branch(head)
        self.loops.pop()
        build.position_at_end(after)

    def on_Break(self, node: ast.Break) -> bool:
        self.builder.branch(self.loops[-1][1])
        return True

    def on_Continue(self, node: ast.Continue) -> bool:
        self.builder.branch(self.loops[-1][0])
        return True

    def on_Return(self, node: ast.Return) -> bool:
        if node.value is not None:
            self.assign("return", self.value(node.value))
        self.builder.branch(self.exit)
        return True

    def on_If(self, node: ast.If) -> bool:
        test = self.value(node.test)
        if is_known(test):
            return self.body(node.body if test else node.orelse)
        build = self.builder
        yes, no, after = (build.append_basic_block(f"if.{name}") for name in ("yes", "no", "end"))
        build.cbranch(self.to.cast(test, types.boolean), yes, no)
        gone = []
        for block, statements in ((yes, node.body), (no, node.orelse)):
            build.position_at_end(block)
            gone.append(self.body(statements))
            if not gone[-1]:
                build.branch(after)
        build.position_at_end(after)
        if all(gone):
            build.unreachable()
        return all(gone)

    # --- expressions ---

    def value(self, node: Any) -> Any:
        """The value of an expression."""
        handle = getattr(self, f"of_{type(node).__name__}", None)
        if handle is None:
            raise RefusedError(f"{type(node).__name__}")
        return handle(node)

    def truth(self, node: ast.expr) -> ir.Value:
        return self.to.cast(self.value(node), types.boolean)

    def of_Constant(self, node: ast.Constant) -> Any:
        return node.value

    def of_Name(self, node: ast.Name) -> Any:
        return self.read(node.id)

    def of_Tuple(self, node: ast.Tuple) -> Any:
        return tuple(map(self.value, node.elts))

    def of_BinOp(self, node: ast.BinOp) -> Any:
        return self.to.binary(node.op, self.value(node.left), self.value(node.right))

    def of_UnaryOp(self, node: ast.UnaryOp) -> Any:
        value = self.value(node.operand)
        if isinstance(node.op, ast.USub):
            return self.to.negative(value)
        if not isinstance(node.op, ast.Not):
            raise RefusedError(type(node.op).__name__)
        return (
            not value
            if is_known(value)
            else Number(types.boolean, self.builder.not_(self.to.cast(value, types.boolean)))
        )

    def of_Compare(self, node: ast.Compare) -> Any:
        values = list(map(self.value, (node.left, *node.comparators)))
        pairs = zip(node.ops, values[:-1], values[1:], strict=True)
        return self.to.both([self.to.compare(sign, left, right) for sign, left, right in pairs])

    def of_BoolOp(self, node: ast.BoolOp) -> Any:
        join, decisive = (self.to.both, False) if isinstance(node.op, ast.And) else (self.to.either, True)
        result = self.value(node.values[0])
        for one in node.values[1:]:
            if is_known(result):
                result = result if bool(result) is decisive else self.value(one)
            elif is_plain(one):
                result = join([result, self.value(one)])
            else:
                result = self.branched(result, one, decisive)
        return result

    def branched(self, first: Any, second: ast.expr, decisive: bool) -> Any:
        """`and` or `or` whose second part is evaluated only if the first does not decide."""
        build = self.builder
        test, begin = self.to.cast(first, types.boolean), build.block
        more, after = build.append_basic_block("more"), build.append_basic_block("decided")
        build.cbranch(test, *((after, more) if decisive else (more, after)))
        build.position_at_end(more)
        found = self.truth(second)
        end = build.block
        build.branch(after)
        build.position_at_end(after)
        joined = build.phi(BIT)
        joined.add_incoming(ir.Constant(BIT, int(decisive)), begin)
        joined.add_incoming(found, end)
        return Number(types.boolean, joined)

    def of_IfExp(self, node: ast.IfExp) -> Any:
        test = self.value(node.test)
        if is_known(test):
            return self.value(node.body if test else node.orelse)
        condition = self.to.cast(test, types.boolean)
        if is_plain(node.body) and is_plain(node.orelse):
            return self.to.chosen(condition, self.value(node.body), self.value(node.orelse))
        build = self.builder
        yes, no, after = (build.append_basic_block(f"choice.{name}") for name in ("yes", "no", "end"))
        build.cbranch(condition, yes, no)
        build.position_at_end(yes)
        left = self.to.number(self.value(node.body))
        left_end = build.block
        build.position_at_end(no)
        right = self.to.number(self.value(node.orelse))
        kind = self.to.common(left, right)
        chosen = [(self.to.cast(right, kind), build.block)]
        build.branch(after)
        build.position_at_end(left_end)
        chosen.append((self.to.cast(left, kind), build.block))
        build.branch(after)
        build.position_at_end(after)
        result = build.phi(KINDS[kind])
        for value, block in chosen:
            result.add_incoming(value, block)
        return Number(kind, result)

    def of_Attribute(self, node: ast.Attribute) -> Any:
        value = self.value(node.value)
        if not isinstance(value, Array):
            return getattr(value, node.attr)
        if node.attr == "shape":
            return tuple(Number(types.int64, length) for length in value.shape)
        if node.attr not in ("ndim", "dtype"):
            raise RefusedError(f"the attribute {node.attr} of an array")
        return len(value.shape) if node.attr == "ndim" else value.kind

    def of_Subscript(self, node: ast.Subscript) -> Any:
        base = self.value(node.value)
        if not isinstance(base, Array):
            return base[self.value(node.slice)]
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        indices = [self.value(part) for part in parts if not isinstance(part, ast.Slice)]
        slices = [part for part in parts if isinstance(part, ast.Slice)]
        if not slices:
            return self.to.load(base, indices)
        if len(slices) > 1 or parts[-1] is not slices[0] or slices[0].step is not None:
            raise RefusedError("one slice, after all indices, and without a step")
        low, high = (None if one is None else self.value(one) for one in (slices[0].lower, slices[0].upper))
        return self.to.sliced(self.to.load(base, indices) if indices else base, low, high)

    def of_Call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Attribute):
            owner = self.value(node.func.value)
            if isinstance(owner, Array):
                if node.func.attr != "copy":
                    raise RefusedError(f"the method {node.func.attr}")
                return self.to.copied(owner)
        called, given = self.value(node.func), [self.value(one) for one in node.args]
        given += [self.value(one.value) for one in node.keywords]
        if called in EMITTERS:
            return EMITTERS[called](self.to, *given)
        if called in VARIANTS:
            kind = self.to.number(given[0]).kind
            called = VARIANTS[called][kind if kind == types.float32 else types.float64]
        if isinstance(called, CPUDispatcher):
            kernel = inspect.unwrap(called.py_func)
            if called.targetoptions["inline"] != "always":
                return self.apart(kernel, given)
            called = kernel
        if not inspect.isfunction(called):
            raise RefusedError(f"a call of {ast.unparse(node.func)}")
        return Lowering(called, self.to).call(given)

    def apart(self, kernel: Any, given: list[Any]) -> Any:
        """A call of a kernel whose instructions stand only once, in a function of their own that returns a number."""
        found = self.to.functions.get((kernel, shape := described(given)))
        if found is None:
            found = self.to.functions[kernel, shape] = self.written(kernel, given)
        function, kind = found
        return Number(kind, self.builder.call(function, values_in(given)))

    def written(self, kernel: Any, given: list[Any]) -> tuple[ir.Function, Any]:
        """A function of LLVM with the instructions of a kernel, and the kind of number that it returns."""
        module, types_of = self.builder.module, [value.type for value in values_in(given)]
        scratch = ir.Function(ir.Module(), ir.FunctionType(ir.VoidType(), types_of), "scratch")
        kind = self.filled(scratch, kernel, given).kind
        signature = ir.FunctionType(KINDS[kind], types_of)
        function = ir.Function(module, signature, module.get_unique_name(f"pydine.{kernel.__name__}"))
        function.linkage = "internal"
        self.filled(function, kernel, given)
        return function, kind

    def filled(self, function: ir.Function, kernel: Any, given: list[Any]) -> Number:
        """Write a kernel's instructions to a function of LLVM."""
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        to = Instructions(None, builder, [], self.to.functions)
        to.is_apart = True
        result = to.number(Lowering(kernel, to).call(renewed(given, iter(function.args))))
        if isinstance(function.return_value.type, ir.VoidType):
            builder.ret_void()
        else:
            builder.ret(result.value)
        return result


def is_plain(node: ast.expr) -> bool:
    """Whether evaluating an expression early does no harm: it reads no element and calls nothing but comparisons."""
    return not any(isinstance(one, (ast.Subscript, ast.Call, ast.Div, ast.FloorDiv)) for one in ast.walk(node))
