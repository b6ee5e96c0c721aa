"""Conditional flows of the latents: the paper's density-based definition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from pydine.bases.average import averaged
from pydine.bases.base import FittedBase, LogRatio, in_errors, mean_and_error, mixed
from pydine.bases.elliptical import new_scores, score_maps
from pydine.bases.gaussian import GaussianBase
from pydine.bases.student import StudentBase
from pydine.kernels.mixing import mixture_log_density, smooth_step
from pydine.latents.flows import Latents
from pydine.latents.scores import ScoreMap
from pydine.types import FloatArray, RowArray
from pydine.units.cache import UnitCache, fit_units
from pydine.units.ladder import LadderSettings
from pydine.units.plan import Unit, autoregressive
from pydine.units.rows import dealt
from pydine.units.tasks import UnitTask
from pydine.units.unit import MARGINAL, FittedUnit

# Standard errors by which held-out rows must be predicted better: for the flows of the other direction to begin to
# count, and to count in full; and for flows to be pursued at all.
SECOND_DIRECTION, LEAST_ERRORS = (2.0, 3.0), 1.0


@dataclass(frozen=True)
class FlowBase:
    """Conditional flows of the latents: E[ln p(y | x, z) - ln p(y | z)] on held-out rows (paper, density-based CMI).

    The side with fewer columns is predicted from the other: fewer flows to fit. Where both have as many, y is predicted
    from x, and, if that sees more than the plain bases do, x from y as well. If it sees nothing more, they stand.

    The densities of all (both directions and the plain bases) are mixed with weights that maximise the likelihood of
    held-out rows. Flows fall short of what they could learn, so the mean log-ratio of held-out rows alone would be too
    low; that of the better plain base is too, by about as much where latents are near Gaussian, and its value is known
    without that loss. So the value is the plain base's plus what the mixture predicts better than it.

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
        """Fit the flows and mix them with the plain bases."""
        folds = self.ladder.folds
        return self.fit_beside([GaussianBase(folds).fit(latents), StudentBase(folds).fit(latents)], latents)

    def fit_beside(self, plain: Sequence[FittedBase], latents: Latents) -> FittedBase:
        """Fit the flows and mix them with plain bases that were fitted to the same latents."""
        anchor, folds = averaged(plain), dealt(latents.outwards, self.ladder.folds)
        members: list[FittedBase | _Direction] = list(plain)
        stacks = [_stack(members, folds)]
        dx, dy, _ = latents.dimensions
        joined = 1.0  # how far the last direction counts
        for side in ("y", "x") if dx == dy else ("y",) if dy < dx else ("x",):
            direction = _Direction.fit(side, latents, self, anchor.held_out)
            if direction is None:
                break
            members.append(direction)
            stacks.append(_stack(members, folds))
            if len(stacks) == 3:
                break
            joined = smooth_step(in_errors(stacks[-1][0] - anchor.held_out), *SECOND_DIRECTION)
            if joined == 0.0:
                break
        parts = [1.0] if len(stacks) == 1 else [1.0] if len(stacks) == 2 else [1.0 - joined, joined]
        ratios, weights = _blended(stacks[-len(parts) :], parts)
        gain, _ = mean_and_error(ratios - anchor.held_out)
        ratio = _MixtureRatio(tuple(member.log_ratio for member in members), weights)
        names = [member.name for member in members]
        details = {**anchor.details, "mixture": dict(zip(names, weights.tolist(), strict=True))}
        error = max(anchor.standard_error, mean_and_error(ratios)[1])
        return FittedBase("flow", anchor.value + gain, error, ratio, partial(np.asarray, ratios), details)


def _blended(stacks: Sequence[tuple[FloatArray, FloatArray]], parts: Sequence[float]) -> tuple[FloatArray, FloatArray]:
    """Log-ratios (n,) and weights (members,) of stacks, each counted by its part; the last one has most members."""
    ratios, weights = (np.zeros(len(a)) for a in stacks[-1])
    for (part_ratios, part_weights), part in zip(stacks, parts, strict=True):
        ratios += part * part_ratios
        weights[: len(part_weights)] += part * part_weights
    return ratios, weights


@dataclass(frozen=True)
class _MixtureRatio:
    """Log-ratios under a mixture of models."""

    members: tuple[LogRatio, ...]
    weights: FloatArray

    def __call__(self, both: FloatArray, z: FloatArray) -> FloatArray:
        held = np.array([member(both, z) for member in self.members])
        ratios: FloatArray = mixture_log_density(held, self.weights)
        return ratios


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


@dataclass(frozen=True)
class _Direction:
    """Flows of one side's latents given z, with the other side and without it."""

    name: str
    log_ratio: LogRatio
    held_out: FloatArray

    @classmethod
    def fit(cls, side: str, latents: Latents, base: FlowBase, plain: FloatArray) -> _Direction | None:
        """Fit the flows of side ``"x"`` or ``"y"``, or return None if they see no more than `plain` log-ratios (n,)."""
        ladder = base.ladder
        dx, dy, dz = latents.dimensions
        maps, scores = score_maps(latents.both)
        columns = np.vstack([scores, latents.z])
        x, y, z = range(dx), range(dx, dx + dy), range(dx + dy, dx + dy + dz)
        targets, others = (y, x) if side == "y" else (x, y)

        def fit(units: list[Unit]) -> tuple[list[FittedUnit], FloatArray]:
            tasks = [UnitTask(columns[u.target], columns[list(u.context)], ladder, is_crossed=True) for u in units]
            fitted, densities = zip(*fit_units(tasks, base.cache, base.n_jobs), strict=True)
            return list(fitted), np.sum(densities, axis=0)

        seeing, blind = autoregressive(targets, (*others, *z)), autoregressive(targets, z)
        with_other, density = fit(seeing)
        # Without the other side a flow is at least as good as none at all, so log-ratios can be no larger than these.
        most = density - sum(MARGINAL.log_density(columns[target], columns[:0]) for target in targets)
        folds = dealt(latents.outwards, ladder.folds)
        if in_errors(mixed(np.array([plain, most]), folds)[0] - plain) < LEAST_ERRORS:
            return None
        without_other, alone = fit(blind)
        units = [(unit, 1.0, fitted) for unit, fitted in zip(seeing, with_other, strict=True)]
        units += [(unit, -1.0, fitted) for unit, fitted in zip(blind, without_other, strict=True)]
        name = "y given x" if side == "y" else "x given y"
        return cls(name, _DirectionRatio(maps, units), density - alone)


def _stack(members: Sequence[FittedBase | _Direction], folds: Sequence[RowArray]) -> tuple[FloatArray, FloatArray]:
    return mixed(np.array([member.held_out for member in members]), folds)
