"""The planner: turns a question about columns into the unique units that answer it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Unit:
    """One target column and its context columns, as positions in a table of columns."""

    target: int
    context: tuple[int, ...]


def autoregressive(targets: Sequence[int], given: Sequence[int]) -> list[Unit]:
    """Units of an autoregressive flow over `targets` given other columns: h_i = c_i(x_<i, z) (paper, "Conditioner")."""
    return [Unit(target, (*targets[:i], *given)) for i, target in enumerate(targets)]


def columnwise(targets: Sequence[int], given: Sequence[int]) -> list[Unit]:
    """Units that map each of `targets` by itself, given the other columns."""
    return [Unit(target, tuple(given)) for target in targets]


def unique(units: Iterable[Unit]) -> list[Unit]:
    """Every unit once, in the order of first appearance."""
    return list(dict.fromkeys(units))
