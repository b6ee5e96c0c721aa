"""Conditional flows of the latents: the paper's density-based definition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pydine.bases.base import FittedBase, in_errors, mixed
from pydine.bases.elliptical import new_scores, scores_of
from pydine.bases.gaussian import GaussianBase
from pydine.bases.mixture import MixtureBase
from pydine.bases.stack import Member, Stack
from pydine.bases.student import StudentBase
from pydine.kernels.mixing import smooth_step
from pydine.latents.flows import Latents
from pydine.latents.scores import ScoreMap
from pydine.types import FloatArray
from pydine.units.ladder import LadderSettings
from pydine.units.unit import MARGINAL, FittedUnit
from pydine.work.cache import UnitCache, fit_units
from pydine.work.plan import Unit, autoregressive
from pydine.work.tasks import UnitTask

# answer: standard errors by which held-out rows must be predicted better than by the stack so far, for flows to begin
# to count and to count in full. What the first direction could see at most decides for it, what it has seen for
# the other one.
FIRST_DIRECTION, SECOND_DIRECTION = (0.0, 1.0), (1.0, 2.0)


@dataclass(frozen=True)
class FlowBase:
    """Conditional flows of the latents: E[ln p(y | x, z) - ln p(y | z)] on held-out rows (paper, density-based CMI).

    The side with fewer columns is predicted from the other: fewer flows to fit. Where both have as many, y is predicted
    from x, and, if that sees more than the plain bases and mixtures of Gaussians do, x from y as well. All are stacked:
    flows that see nothing more do not count.

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
        return self.fit_beside(MixtureBase(folds).stack(plain, latents), latents)

    def fit_beside(self, stack: Stack, latents: Latents) -> FittedBase:
        """Fit the flows, and add them to a stack of models of the same latents."""
        dx, dy, _ = latents.dimensions
        first, *second = ("y", "x") if dx == dy else ("y",) if dy < dx else ("x",)
        flows = _Direction(first, latents, self)
        part = smooth_step(flows.most_errors_above(stack), *FIRST_DIRECTION)
        larger = stack.joined_by(flows.member(), part) if part > 0.0 else stack
        for side in second:
            part = smooth_step(in_errors(larger.held_out - stack.held_out), *SECOND_DIRECTION)
            larger = larger.joined_by(_Direction(side, latents, self).member(), part) if part > 0.0 else larger
        return larger.as_base("flow")


@dataclass(frozen=True)
class _DirectionRatio:
    """Log-ratios by flows of one side: their densities with the other side in the context, less those without it."""

    maps: tuple[ScoreMap, ...]
    units: list[tuple[Unit, float, FittedUnit]]

    def __call__(self, both: FloatArray, z: FloatArray) -> FloatArray:
        columns = np.vstack([new_scores(self.maps, both), z])
        total: FloatArray = np.zeros(both.shape[1])
        for unit, sign, fitted in self.units:
            total += sign * fitted.log_density(columns[unit.target], columns[list(unit.context)])
        return total


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
        dx, dy, dz = latents.dimensions
        self._latents, self._base = latents, base
        self._maps, scores = scores_of(latents)
        self._columns = np.vstack([scores, latents.z])
        x, y, self._z = range(dx), range(dx, dx + dy), range(dx + dy, dx + dy + dz)
        self._targets, others = (y, x) if side == "y" else (x, y)
        first, second = latents.sides
        self._name = f"{second} given {first}" if side == "y" else f"{first} given {second}"
        self._seeing = self._fit((*others, *self._z))

    def _fit(self, context: Sequence[int]) -> tuple[list[tuple[Unit, FittedUnit]], FloatArray]:
        """Flows of the targets given other columns, and the log-densities (n,) of rows that they have not seen."""
        units, columns, base = autoregressive(self._targets, context), self._columns, self._base
        tasks = [UnitTask(columns[u.target], columns[list(u.context)], base.ladder, is_crossed=True) for u in units]
        fitted, densities = zip(*fit_units(tasks, base.cache, base.n_jobs), strict=True)
        return list(zip(units, fitted, strict=True)), np.sum(densities, axis=0)

    def most_errors_above(self, stack: Stack) -> float:
        """By how many standard errors the flows could predict held-out rows better than a stack, at most.

        Without the other side a flow is at least as good as none at all, so log-ratios can be no larger than these.
        """
        columns = self._columns
        most = self._seeing[1] - sum(MARGINAL.log_density(columns[target], columns[:0]) for target in self._targets)
        return in_errors(mixed(np.array([stack.held_out, most]), stack.folds)[0] - stack.held_out)

    def member(self) -> Member:
        """Both kinds of flows, as a member of a stack."""
        (with_other, density), (without_other, alone) = self._seeing, self._fit(self._z)
        signed = [(unit, 1.0, fitted) for unit, fitted in with_other]
        signed += [(unit, -1.0, fitted) for unit, fitted in without_other]
        ratio = _DirectionRatio(self._maps, signed)
        return Member(self._name, ratio, density - alone, ratio(self._latents.both, self._latents.z))
