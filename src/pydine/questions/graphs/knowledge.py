"""What is known of a causal graph before the search: times, and arrows that cannot be or must be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrow = tuple[int, int]  # from a cause to its effect, by position


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Which arrows a graph of p columns may have, and which it must have.

    Parameters
    ----------
    may : ndarray of bool, shape (p, p)
        Entry (i, j): whether i may cause j.
    must : ndarray of bool, shape (p, p)
        Entry (i, j): whether i is known to cause j.
    tiers : ndarray of int, shape (p,)
        When columns come about: no column causes one of an earlier tier.
    """

    may: NDArray[np.bool_]
    must: NDArray[np.bool_]
    tiers: NDArray[np.intp]

    @classmethod
    def nothing(cls, p: int) -> Knowledge:
        """Nothing is known of p columns."""
        return cls(~np.eye(p, dtype=np.bool_), np.zeros((p, p), dtype=np.bool_), np.zeros(p, dtype=np.intp))

    @classmethod
    def read(cls, names: Sequence[str], tiers: Any, forbidden: Any, required: Any) -> Knowledge:
        """Read the arguments of `causal_graph`, and refuse what contradicts itself."""
        found = cls.nothing(len(names))
        found.tiers[:] = _tiers(names, tiers)
        found.may[:] &= found.tiers[:, None] <= found.tiers[None, :]
        for i, j in _arrows("forbidden", names, forbidden):
            found.may[i, j] = False
        for i, j in _arrows("required", names, required):
            if not found.may[i, j]:
                raise ValueError(
                    f"required has the arrow {names[i]!r} to {names[j]!r}, but tiers or forbidden rule it out; change "
                    "one of them."
                )
            found.must[i, j], found.may[j, i] = True, False
        if _has_cycle(found.must):
            raise ValueError("required must not have cycles, but some of its arrows form one; leave one of them out.")
        return found

    @property
    def joinable(self) -> NDArray[np.bool_]:
        """Which pairs may be joined at all, in one direction or the other, shape (p, p)."""
        both: NDArray[np.bool_] = self.may | self.may.T
        return both

    def may_separate(self, k: int, i: int, j: int) -> bool:
        """Whether k may be conditioned on to separate i and j: it is no later than the later of them."""
        return bool(self.tiers[k] <= max(self.tiers[i], self.tiers[j]))

    def of(self, columns: NDArray[np.intp]) -> Knowledge:
        """The same for columns in another order."""
        square = np.ix_(columns, columns)
        return Knowledge(self.may[square], self.must[square], self.tiers[columns])


def _tiers(names: Sequence[str], tiers: Any) -> list[int]:
    """The tier of each column: given as a mapping of names to numbers, or as lists of names, the earliest first."""
    if tiers is None:
        return [0] * len(names)
    if isinstance(tiers, Mapping):
        given = {str(name): tier for name, tier in tiers.items()}
    else:
        given = {}
        for number, group in enumerate(tiers):
            for name in [group] if isinstance(group, str) else group:
                if str(name) in given:
                    raise ValueError(f"tiers must name each column once, but name {str(name)!r} twice.")
                given[str(name)] = number
    for name in given:
        _known("tiers", name, names)
    missing = [name for name in names if name not in given]
    if missing:
        raise ValueError(f"tiers must place every column, but {missing[0]!r} is missing.")
    if not all(isinstance(given[name], int | np.integer) for name in names):
        raise ValueError("tiers must be whole numbers, or lists of names with the earliest first.")
    return [int(given[name]) for name in names]


def _arrows(label: str, names: Sequence[str], arrows: Iterable[Any]) -> list[Arrow]:
    """Pairs of names, cause and effect, as positions."""
    found = []
    for arrow in arrows:
        if isinstance(arrow, str) or not isinstance(arrow, Iterable) or len(pair := list(arrow)) != 2:
            raise ValueError(f"{label} must hold pairs of names, a cause and its effect, but got {arrow!r}.")
        i, j = (_known(label, str(name), names) for name in pair)
        if i == j:
            raise ValueError(f"{label} must hold pairs of two columns, but got {arrow!r}.")
        found.append((i, j))
    return found


def _known(label: str, name: str, names: Sequence[str]) -> int:
    if name not in names:
        raise ValueError(f"{label} names the column {name!r}, which the search does not have; leave it out.")
    return names.index(name)


def _has_cycle(arrows: NDArray[np.bool_]) -> bool:
    reached = arrows.copy()
    for k in range(len(arrows)):
        reached |= np.logical_and.outer(reached[:, k], reached[k])
    return bool(reached.diagonal().any())
