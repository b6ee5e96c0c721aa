"""Conditional flows of the latents: the paper's density-based definition."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pydine.bases.base import FittedBase
from pydine.bases.elliptical import new_scores, scores_of
from pydine.bases.gaussian import GaussianBase
from pydine.bases.mixture import MixtureBase
from pydine.bases.stack import Member, Stack
from pydine.bases.student import StudentBase
from pydine.latents.flows import Latents
from pydine.latents.scores import ScoreMap
from pydine.types import FloatArray
from pydine.units.ladder import LadderSettings
from pydine.units.unit import MARGINAL, FittedUnit
from pydine.work.cache import UnitCache, fit_units
from pydine.work.tasks import Unit, UnitTask, autoregressive


@dataclass(frozen=True)
class FlowBase:
    """Conditional flows of the latents: E[ln p(y | x, z) - ln p(y | z)] on held-out rows (paper, density-based CMI).

    The side with fewer columns is predicted from the other, so that fewer flows are fitted; where both have as many, y
    is predicted from x. They are stacked with the plain bases and with mixtures: flows that find nothing more get no
    weight.

    Parameters
    ----------
    ladder : LadderSettings
    n_jobs : int or None
    cache : UnitCache, optional
    """

    ladder: LadderSettings
    n_jobs: int | None = None
    cache: UnitCache | None = None

    def fit(self, latents: Latents) -> FittedBase:
        """Fit the flows and stack them with the plain bases and with mixtures of Gaussians."""
        folds = self.ladder.folds
        plain = [GaussianBase(folds).fit(latents), StudentBase(folds).fit(latents)]
        mixtures = MixtureBase(folds)
        return self.fit_beside(mixtures.with_z(mixtures.stack(plain, latents), latents), latents)

    def fit_beside(self, stack: Stack, latents: Latents) -> FittedBase:
        """Fit the flows, and add them to a stack of models of the same latents."""
        dx, dy, _ = latents.dimensions
        flows = _Direction("y" if dy <= dx else "x", latents, self)
        part = stack.evidence_of(flows.most())
        return (stack.joined_by(flows.member(), part) if part > 0.0 else stack).as_base("flow")


@dataclass(frozen=True)
class _DirectionRatio:
    """Log-ratios by flows of one side: log-densities with the other side in the context, less those without it."""

    maps: tuple[ScoreMap, ...]
    units: list[tuple[Unit, float, FittedUnit]]

    def __call__(self, both: FloatArray, z: FloatArray) -> FloatArray:
        return self.of_scores(new_scores(self.maps, both), z)

    def of_scores(self, scores: FloatArray, z: FloatArray) -> FloatArray:
        columns = np.vstack([scores, z])
        total: FloatArray = np.zeros(scores.shape[1])
        for unit, sign, fitted in self.units:
            total += sign * fitted.log_density(columns[unit.target], columns[list(unit.context)])
        return total


class _Columns(NamedTuple):
    """Scores (d, n) of both sides and z, and the positions of the predicted columns, of the other side and of z."""

    maps: tuple[ScoreMap, ...]
    scores: FloatArray
    targets: range
    others: range
    z: range

    @classmethod
    def of(cls, side: str, latents: Latents) -> _Columns:
        dx, dy, dz = latents.dimensions
        maps, scores = scores_of(latents)
        x, y = range(dx), range(dx, dx + dy)
        targets, others = (y, x) if side == "y" else (x, y)
        return cls(maps, np.vstack([scores, latents.z]), targets, others, range(dx + dy, dx + dy + dz))

    def units(self, with_other: bool) -> list[Unit]:
        """Units of the targets, autoregressively, given z and, if `with_other`, the other side."""
        return autoregressive(self.targets, (*(self.others if with_other else ()), *self.z))


_Flows = tuple[list[tuple[Unit, FittedUnit]], FloatArray]  # and their log-densities of rows that they have not seen


class _Direction:
    """Flows of one side's latents given z, with the other side and without it.

    Parameters
    ----------
    side : str
        ``"x"`` or ``"y"``, the side that is predicted.
    latents : Latents
    base : FlowBase
    """

    def __init__(self, side: str, latents: Latents, base: FlowBase) -> None:
        self._latents, self._base, self._columns = latents, base, _Columns.of(side, latents)
        first, second = latents.sides
        self._name = f"{second} given {first}" if side == "y" else f"{first} given {second}"
        self._seeing = self._fit(with_other=True)

    def _fit(self, with_other: bool) -> _Flows:
        """Flows of the targets given z, with the other side or without, and held-out log-densities of rows (n,)."""
        units, columns, base = self._columns.units(with_other), self._columns.scores, self._base
        rows = self._latents.rows
        tasks = [UnitTask(columns[u.target], columns[list(u.context)], base.ladder, True, rows) for u in units]
        fitted, densities = zip(*fit_units(tasks, base.cache, base.n_jobs), strict=True)
        return list(zip(units, fitted, strict=True)), np.sum(densities, axis=0)

    def most(self) -> FloatArray:
        """Upper bounds of held-out log-ratios (n,): flows given z alone are at least as good as the marginal model."""
        columns = self._columns.scores
        marginal = [MARGINAL.log_density(columns[target], columns[:0]) for target in self._columns.targets]
        most: FloatArray = self._seeing[1] - np.sum(marginal, axis=0)
        return most

    def held_out(self) -> FloatArray:
        """Log-ratios (n,) of rows that the flows have not seen."""
        return self._seeing[1] - self._alone[1]

    @cached_property
    def _alone(self) -> _Flows:
        return self._fit(with_other=False)

    def member(self) -> Member:
        """Both kinds of flows, as a member of a stack."""
        signed = [(unit, 1.0, fitted) for unit, fitted in self._seeing[0]]
        signed += [(unit, -1.0, fitted) for unit, fitted in self._alone[0]]
        ratio = _DirectionRatio(self._columns.maps, signed)
        return Member(self._name, ratio, self.held_out(), ratio(self._latents.both, self._latents.z))
