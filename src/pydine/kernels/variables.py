"""The variables of a kernel: places in memory, which LLVM turns into registers."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numba.core import cgutils

from pydine.kernels.instructions import Array, Instructions, Number, RefusedError, Slot


class Variables:
    """The names within a function, and those outside of it that it uses."""

    def __init__(self, to: Instructions, outside: dict[str, Any]) -> None:
        self.to, self.builder, self.outside = to, to.builder, outside
        self.names: dict[str, Any] = {}

    def slot(self, name: str, value: Any) -> Any:
        """The place of a variable, which is made for its first value."""
        found = self.names.get(name)
        if not isinstance(found, Slot):
            found = self.names[name] = self.new_slot(value)
        return found

    def new_slot(self, value: Any) -> Any:
        """A place for values of one type."""
        if isinstance(value, tuple):
            return Slot(tuple(self.new_slot(one) for one in value), ())
        if isinstance(value, Array):
            parts = (value.data, *value.shape, *(value.strides or ()))
            return Slot(tuple(cgutils.alloca_once(self.builder, one.type) for one in parts), value)
        if value is None or isinstance(value, (np.ndarray, type)):
            return value
        number = self.to.number(value)
        return Slot((cgutils.alloca_once(self.builder, number.value.type),), number)

    def assign(self, name: str, value: Any) -> None:
        """Give a variable a value."""
        self.write(name, self.slot(name, value), value)

    def write(self, name: str, slot: Any, value: Any) -> None:
        """Put a value into its place."""
        if not isinstance(slot, Slot):
            return
        if slot.like == ():
            for place, one in zip(slot.parts, value, strict=True):
                self.write(name, place, one)
        elif isinstance(slot.like, Array):
            if not isinstance(value, Array) or value.kind != slot.like.kind or len(value.shape) != len(slot.like.shape):
                raise RefusedError(f"{name} becomes an array of another type")
            if value.owner is not slot.like.owner:
                self.names[name] = replace(slot, like=replace(slot.like, owner=None))
            for place, one in zip(slot.parts, (value.data, *value.shape, *(value.strides or ())), strict=True):
                self.builder.store(one, place)
        else:
            kind = slot.like.kind
            if self.to.common(Number(kind, slot.like.value), value) != kind:
                raise RefusedError(f"{name} begins as {kind}, and becomes {self.to.number(value).kind}")
            self.builder.store(self.to.cast(value, kind), slot.parts[0])

    def read(self, name: str) -> Any:
        """The value of a variable, or of a name from outside."""
        if name in self.names:
            return self.loaded(self.names[name])
        if name not in self.outside:
            raise RefusedError(f"{name} is not known")
        return self.outside[name]

    def loaded(self, slot: Any) -> Any:
        """What is in a place."""
        if not isinstance(slot, Slot):
            return slot
        if slot.like == ():
            return tuple(map(self.loaded, slot.parts))
        found = [self.builder.load(part) for part in slot.parts]
        if isinstance(slot.like, Number):
            return Number(slot.like.kind, found[0])
        axes = len(slot.like.shape)
        strides = tuple(found[1 + axes :]) or None
        return Array(slot.like.kind, found[0], tuple(found[1 : 1 + axes]), strides, slot.like.owner)
