"""Jointly Gaussian latents: the paper's closed form."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from pydine.bases.base import FittedBase, or_independent
from pydine.bases.closed_form import (
    SMALLEST_VARIANCE,
    gaussian_information,
    gaussian_standard_error,
    is_singular,
    rank_effect,
    wishart_bias,
    without_chance,
)
from pydine.bases.elliptical import EllipticalRatio
from pydine.latents.flows import Latents
from pydine.types import FloatArray
from pydine.units.rows import dealt

# answer: the deviation of values between partitions over that between the folds of one: what follows is 0.6 to 1.9 of
# what benchmarks/partitions.py measures.
FOLD_FACTOR = 1.25


@dataclass(frozen=True)
class GaussianBase:
    """Jointly Gaussian latents and the closed form 0.5 ln(det S_x det S_y / det S_xy) (paper, DINE-Gaussian).

    Parameters
    ----------
    folds : int
    corrected : bool
        Whether the closed form's bias and that of ranks are taken off.
    """

    folds: int = 3
    corrected: bool = True

    def fit(self, latents: Latents) -> FittedBase:
        """Take the closed form of the latents' covariance."""
        (dx, dy, _), dof = latents.dimensions, latents.dof
        covariance = latents.cross_product / dof
        value, error = gaussian_information(covariance, dx), gaussian_standard_error(covariance, dx, dof)
        details: dict[str, object] = {}
        chance = wishart_bias(dx, dy, dof) if self.corrected else 0.0
        if self.corrected:
            ranks = rank_effect(covariance, dx, dof, latents.n_rows)
            details = {"wishart_bias": chance, "rank_bias": ranks.bias}
            value, error = value - chance - ranks.bias, error * ranks.inflation
        ratio = EllipticalRatio(covariance, np.inf, dx)
        return FittedBase("gaussian", value, error, ratio, partial(self._held_out, latents), details, chance=chance)

    def _held_out(self, latents: Latents) -> FloatArray:
        """Log-ratios with the covariance of the other folds, less chance, mixed with independence.

        A Gaussian whose covariance is only estimated predicts a Student vector. Columns may be copies of each other, or
        constant, in all rows but those that are held out; ranks of n rows tell columns apart to about 1/n, so that
        much is taken to be noise of each column's own, and the covariance is regular.
        """
        both, dx, ratios = latents.both, latents.dimensions[0], np.empty(latents.n_rows)
        total = both @ both.T
        own = np.diag(np.diag(total)) / latents.n_rows**3
        for rows in dealt(latents.outwards, self.folds):
            part = both[:, rows]
            dof = latents.dof * (1.0 - len(rows) / latents.n_rows)
            learned = without_chance((total - part @ part.T) / dof + own, dx, dof)
            ratios[rows] = EllipticalRatio(learned, max(dof - len(both) + 1.0, 1.0), dx).of(part)
        return or_independent(ratios, dealt(latents.outwards, self.folds))


def algorithmic_error(latents: Latents) -> float:
    """How far the closed form moves with what is arbitrary in its flows, in nats: which rows were in which fold.

    Each fold's models by themselves would give another value, and from how far these are apart follows how far the
    values of whole partitions are. Several partitions share the choice of rungs, so that averaging over them takes less
    off than it would if they were independent.
    """
    if latents.fold_products is None:
        return 0.0
    values = [
        gaussian_information(product, latents.dimensions[0])
        for product in latents.fold_products
        if not is_singular(product)  # in a fold's own latents columns may coincide that differ in all of them
    ]
    return FOLD_FACTOR * float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def algorithmic_errors(fold_products: FloatArray) -> FloatArray:
    """The same for all pairs of p columns, from cross-products of each fold's latents, (folds, p, p) to (p, p)."""
    scales = np.sqrt(np.einsum("kii->ki", fold_products))
    return fold_errors((fold_products / (scales[:, :, None] * scales[:, None, :])) ** 2)


def fold_errors(squares: FloatArray) -> FloatArray:
    """The same from squared correlations of pairs in each fold's latents, (folds, ...) to (...)."""
    values = -0.5 * np.log(np.maximum(1.0 - squares, SMALLEST_VARIANCE))
    errors: FloatArray = FOLD_FACTOR * np.std(values, axis=0, ddof=1)
    return errors
