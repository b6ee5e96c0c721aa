"""The kinds of columns, by name."""

from __future__ import annotations

from collections.abc import Callable

from pydine.inputs.kinds import Kind
from pydine.latents.kinds.angles import AngleColumn, CycleColumn
from pydine.latents.kinds.column import Column
from pydine.latents.kinds.continuous import ContinuousColumn
from pydine.latents.kinds.nominal import NominalColumn
from pydine.latents.kinds.ordinal import OrdinalColumn
from pydine.types import FloatArray

KINDS: dict[Kind, Callable[[FloatArray], Column]] = {
    Kind.CONTINUOUS: ContinuousColumn,
    Kind.ORDINAL: OrdinalColumn,
    Kind.NOMINAL: NominalColumn,
    Kind.ANGLE: AngleColumn,
    Kind.CYCLE: CycleColumn,
}


def column_of(values: FloatArray, kind: Kind) -> Column:
    """A column (n,) of a kind."""
    return KINDS[kind](values)
