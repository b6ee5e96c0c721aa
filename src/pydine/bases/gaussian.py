"""Jointly Gaussian latents: the paper's closed form."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from pydine.bases.base import FittedBase, or_independent
from pydine.bases.closed_form import (
    gaussian_information,
    gaussian_standard_error,
    rank_effect,
    wishart_bias,
    without_chance,
    without_rank_noise,
)
from pydine.bases.elliptical import EllipticalRatio
from pydine.latents.flows import Latents
from pydine.types import FloatArray


@dataclass(frozen=True)
class GaussianBase:
    """Jointly Gaussian latents and the closed form 0.5 ln(det S_x det S_y / det S_xy) (paper, DINE-Gaussian).

    Parameters
    ----------
    folds : int
    corrected : bool
        Whether the biases of the closed form and of ranks are subtracted.
    """

    folds: int = 3
    corrected: bool = True

    def fit(self, latents: Latents) -> FittedBase:
        """Apply the closed form to the latents' covariance."""
        (dx, dy, _), dof = latents.dimensions, latents.dof
        covariance = latents.cross_product / dof
        # As many independent rows would have the same variance: log-ratios are the closed form's influence function.
        ratio = EllipticalRatio(covariance, np.inf, dx)
        effect = latents.rows.effect_of(lambda: ratio.of(latents.both)) * latents.depleted
        dof = max(dof / effect, len(covariance) + 1.0)
        value = noisy = gaussian_information(covariance, dx)
        if self.corrected:
            covariance = without_rank_noise(covariance, latents.kept_by_ranks)
            value = gaussian_information(covariance, dx)
        error = gaussian_standard_error(covariance, dx, dof) * float(np.exp(2.0 * (value - noisy) / min(dx, dy)))
        details: dict[str, object] = {}
        chance = wishart_bias(dx, dy, dof) if self.corrected else 0.0
        if self.corrected:
            ranks = rank_effect(covariance, dx, dof, latents.n_rows)
            details = {"wishart_bias": chance, "rank_bias": ranks.bias * effect - (value - noisy)}
            value, error = value - chance - ranks.bias * effect, error * ranks.inflation
        held_out = partial(self._held_out, latents, effect)
        return FittedBase("gaussian", value, error, ratio, held_out, details, chance=chance)

    def _held_out(self, latents: Latents, effect: float) -> FloatArray:
        """Log-ratios with the bias-corrected covariance of the other folds, mixed with independence.

        The predictive distribution of a Gaussian whose covariance is estimated is a Student-t. Columns may be copies of
        each other, or constant, in all rows but those that are held out. Ranks of n rows resolve columns to about 1/n,
        so noise of that size is added to each column, and the covariance is never singular.
        """
        both, dx, ratios = latents.both, latents.dimensions[0], np.empty(latents.n_rows)
        total = both @ both.T
        own = np.diag(np.diag(total)) / latents.n_rows**3
        folds = latents.rows.folds(latents.outwards, self.folds)
        for rows, away in folds:
            part = both[:, away]
            dof = latents.dof * (1.0 - len(away) / latents.n_rows)
            free = max(dof / effect, len(both) + 1.0)
            learned = without_chance((total - part @ part.T) / dof + own, dx, free)
            ratios[rows] = EllipticalRatio(learned, max(free - len(both) + 1.0, 1.0), dx).of(both[:, rows])
        return or_independent(ratios, folds)
