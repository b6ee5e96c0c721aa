"""Conditional flows of the latents: the paper's density-based definition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pydine.bases.average import TAKES_OVER
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
from pydine.units.ladder import LadderSettings, cross_fit_ladder
from pydine.units.rungs.linear import LINEAR
from pydine.units.rungs.rung import Rung
from pydine.units.unit import MARGINAL, FittedUnit
from pydine.work.cache import UnitCache, fit_units
from pydine.work.plan import Unit, autoregressive
from pydine.work.tasks import UnitTask

# answer: standard errors by which held-out rows must be predicted better than by the stack so far, for flows to begin
# to count and to count in full. What the first direction could see at most decides for it, what it has seen for
# the other one.
FIRST_DIRECTION, SECOND_DIRECTION = (0.0, 1.0), (1.0, 2.0)
# answer: the share of the rows that flows take a first look at, and how many these must be for a look to save time. Of
# weak shapes of 3 to 8 columns a fifth of the rows shows fewer, and two fifths take longer to show no more.
LOOK_SHARE, FEWEST_LOOKED_AT = 1.0 / 3.0, 2000
# answer: standard errors by which flows must predict held-out rows better at a look, or mixtures, without one: as those
# by which a richer base takes over. With more rows flows see more.
SHAPED = TAKES_OVER


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
        worth = self._worth(first, stack, latents)
        if worth == 0.0:
            return stack.as_base("flow")
        flows = _Direction(first, latents, self)
        part = worth * smooth_step(flows.most_errors_above(stack), *FIRST_DIRECTION)
        larger = stack.joined_by(flows.member(), part) if part > 0.0 else stack
        for side in second:
            part = smooth_step(in_errors(larger.held_out - stack.held_out), *SECOND_DIRECTION)
            part *= smooth_step(in_errors(larger.held_out - stack.anchor.promise), *SECOND_DIRECTION)
            larger = larger.joined_by(_Direction(side, latents, self).member(), part) if part > 0.0 else larger
        return larger.as_base("flow")

    def _worth(self, side: str, stack: Stack, latents: Latents) -> float:
        """How far flows are worth fitting to all rows, between 0 and 1, by what they see in some of them.

        Networks take the more time to see nothing the more columns there are. Where mixtures have seen a shape, flows
        are worth it; where rows are few, a look would take as long.
        """
        rows = int(LOOK_SHARE * latents.n_rows)
        shaped = smooth_step(in_errors(stack.held_out - stack.anchor.held_out), *SHAPED)
        if shaped == 1.0 or rows < FEWEST_LOOKED_AT:
            return 1.0
        look = _Direction(side, latents, replace(self, ladder=replace(self.ladder, max_rows=rows)))
        found = 1.0
        for errors in (look.most_errors_above, look.errors_above, look.errors_beyond_lines):
            found *= smooth_step(errors(stack), *SHAPED)
            if found == 0.0:
                break
        return shaped + (1.0 - shaped) * found


@dataclass(frozen=True)
class _DirectionRatio:
    """Log-ratios by flows of one side: their densities with the other side in the context, less those without it."""

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
        dx, dy, dz = latents.dimensions
        self._latents, self._base = latents, base
        self._maps, scores = scores_of(latents)
        self._columns = np.vstack([scores, latents.z])
        x, y, self._z = range(dx), range(dx, dx + dy), range(dx + dy, dx + dy + dz)
        self._targets, self._others = (y, x) if side == "y" else (x, y)
        first, second = latents.sides
        self._name = f"{second} given {first}" if side == "y" else f"{first} given {second}"
        self._seeing = self._fit(self._others)

    def _units(self, others: Sequence[int]) -> list[Unit]:
        """The targets one after the other, given z and other columns."""
        return autoregressive(self._targets, (*others, *self._z))

    def _fit(self, others: Sequence[int]) -> _Flows:
        """Flows of the targets given z and other columns, and the log-densities (n,) of rows they have not seen."""
        units, columns, base = self._units(others), self._columns, self._base
        tasks = [UnitTask(columns[u.target], columns[list(u.context)], base.ladder, is_crossed=True) for u in units]
        fitted, densities = zip(*fit_units(tasks, base.cache, base.n_jobs), strict=True)
        return list(zip(units, fitted, strict=True)), np.sum(densities, axis=0)

    def most_errors_above(self, stack: Stack) -> float:
        """By how many standard errors the flows could predict held-out rows better than a stack, at most.

        Without the other side a flow is at least as good as none at all, so log-ratios can be no larger than these.
        """
        columns = self._columns
        most = self._seeing[1] - sum(MARGINAL.log_density(columns[target], columns[:0]) for target in self._targets)
        return _errors_above(stack, most)

    def errors_above(self, stack: Stack) -> float:
        """By how many standard errors the flows predict held-out rows better than a stack."""
        return _errors_above(stack, self._seeing[1] - self._alone[1])

    def errors_beyond_lines(self, stack: Stack) -> float:
        """The same better than a stack that has linear flows, which leave out what few rows say nothing of.

        The covariance of many columns is noisy, and what is steadier predicts rows better. That is no shape.
        """
        with_other, without_other = (sum(map(self._lines, self._units(c))) for c in (self._others, ()))
        lines, ratios = with_other - without_other, self._seeing[1] - self._alone[1]
        plain, more = (
            mixed(np.array([stack.held_out, *members]), stack.folds)[0] for members in ((lines,), (lines, ratios))
        )
        return in_errors(more - plain)

    def _lines(self, unit: Unit) -> FloatArray:
        """Held-out log-densities of a unit (n,) if it may have no rung but the linear one."""
        target, context = self._columns[unit.target], self._columns[list(unit.context)]
        return cross_fit_ladder(target, context, self._base.ladder, _linear_only)[1]

    @cached_property
    def _alone(self) -> _Flows:
        return self._fit(())

    def member(self) -> Member:
        """Both kinds of flows, as a member of a stack."""
        (with_other, density), (without_other, alone) = self._seeing, self._alone
        signed = [(unit, 1.0, fitted) for unit, fitted in with_other]
        signed += [(unit, -1.0, fitted) for unit, fitted in without_other]
        ratio = _DirectionRatio(self._maps, signed)
        return Member(self._name, ratio, density - alone, ratio(self._latents.both, self._latents.z))


def _linear_only(c: int, n_train: int, settings: LadderSettings) -> list[Rung]:  # noqa: ARG001 - the contract of rungs
    return [LINEAR]


def _errors_above(stack: Stack, ratios: FloatArray) -> float:
    """By how many standard errors a stack would predict held-out rows better with a member of log-ratios (n,)."""
    return in_errors(mixed(np.array([stack.held_out, ratios]), stack.folds)[0] - stack.held_out)
