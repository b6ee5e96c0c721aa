"""Latent classes of both sides' latents: sharp edges, which Gaussians blur."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pydine.kernels.classes import classes_log_ratio, fit_classes
from pydine.kernels.normal import normal_quantile
from pydine.types import FloatArray, must_fit

# answer: knots of a profile for the cube root of the number of rows, as for histograms (Scott 1979); 12 to 32 knots
# predict 1000 held-out rows of the same shapes equally well.
KNOTS = 2.2
JEFFREYS = 0.5  # convention: rows that each knot counts in addition (Jeffreys 1946)
ITERATIONS = 25  # answer: of EM, at most, for mixtures of Gaussians and of classes
LEAST_DENSITY = 1e-3  # guard: of a class at a knot, at the start


@dataclass(frozen=True)
class Classes:
    """A mixture of classes within each of which two columns are independent: p(x, y) = sum_k w_k f_k(x) g_k(y).

    Ranks close the gaps between clusters, which leaves sharp edges; blocks, steps and tiles have them anyway. A
    Gaussian has none, but what a class says of one column may have any shape: here it is piecewise linear in the
    column's probability.

    Parameters
    ----------
    weights : ndarray, shape (k,)
    profiles : ndarray, shape (2, knots, k)
        Densities of the two columns in each class, relative to the standard normal one, at evenly spaced probabilities.
    """

    kind: ClassVar[str] = "classes"

    weights: FloatArray
    profiles: FloatArray

    def __post_init__(self) -> None:
        """Refuse parts that do not fit each other."""
        must_fit(self, self.profiles.ndim == 3 and self.profiles.shape[::2] == (2, *self.weights.shape))

    @property
    def edge(self) -> float:
        """The share of the rows over which an edge extends: from one knot to the next."""
        knots: int = self.profiles.shape[1]
        return 1.0 / knots

    @classmethod
    def of(cls, weights: FloatArray, means: FloatArray, covariances: FloatArray, rows: FloatArray) -> Classes:
        """Fit classes to rows (2, n) of normal scores, starting from the margins of a mixture's Gaussians."""
        knots = round(KNOTS * rows.shape[1] ** (1.0 / 3.0))
        scores = normal_quantile((np.arange(knots) + 0.5) / knots)[:, None]
        variances = np.diagonal(covariances, axis1=1, axis2=2).T
        far = (scores - means.T[:, None]) ** 2 / variances[:, None]
        profiles = np.exp(0.5 * (scores**2 - far)) / np.sqrt(variances)[:, None] + LEAST_DENSITY
        found = cls(weights.copy(), np.ascontiguousarray(profiles / profiles.mean(axis=1, keepdims=True)))
        fit_classes(rows, found.weights, found.profiles, JEFFREYS, ITERATIONS)
        return found

    def log_ratio(self, rows: FloatArray, dx: int) -> FloatArray:  # noqa: ARG002 - as mixtures of Gaussians have it
        """ln p(x, y) - ln p(x) - ln p(y) of rows (2, n) of normal scores, in nats, shape (n,)."""
        ratios: FloatArray = classes_log_ratio(rows, self.weights, self.profiles)
        return ratios
