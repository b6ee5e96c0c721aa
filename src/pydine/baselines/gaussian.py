"""The yardsticks: a Gaussian copula, which needs no training, and an oracle, which knows the true latents."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri
from scipy.stats import rankdata

from pydine.baselines.arrays import columns
from pydine.bases.closed_form import corrected_information


def gaussian_copula(x: ArrayLike, y: ArrayLike, z: ArrayLike | None = None) -> float:
    """Estimate I(X;Y) or I(X;Y|Z) as if a Gaussian copula joined X and Y and Z acted linearly.

    Normal scores of the ranks of every column of x and y; z, as it is, and an intercept projected out of both
    sides; then the Gaussian closed form without its bias. No training: an estimator that trains and loses to
    this one has not earned its cost.

    Parameters
    ----------
    x, y
        Samples, shapes (n,) or (n, dx) and (n,) or (n, dy).
    z
        Samples of the conditioning variable, shape (n,) or (n, dz).

    Returns
    -------
    float
        Information in nats. Not clipped at zero, so that it is not biased there.
    """
    return oracle(_normal_scores(x), _normal_scores(y), z)


def oracle(latent_x: ArrayLike, latent_y: ArrayLike, z: ArrayLike | None = None) -> float:
    """Estimate the information of jointly Gaussian samples by the closed form without its bias.

    Given the true latents of a dataset, this is what an estimator would say that had learned every transform
    perfectly: none that has to learn them can be expected to do better.

    Parameters
    ----------
    latent_x, latent_y
        Gaussian samples, shapes (n,) or (n, dx) and (n,) or (n, dy).
    z
        If given, shape (n,) or (n, dz): projected out of both sides, its rank taken off the degrees of
        freedom. The true latents do not need it; with it, the oracle pays what every estimator pays that is
        safe against a linear effect of z.

    Returns
    -------
    float
        Information in nats. Not clipped at zero, so that it is not biased there.
    """
    x, y = columns(latent_x), columns(latent_y)
    intercept = np.ones((len(x), 1))
    basis = _orthonormal(intercept if z is None else np.hstack([intercept, columns(z)]))
    x, y = x - basis @ (basis.T @ x), y - basis @ (basis.T @ y)
    both = np.hstack([x, y])
    return corrected_information(both.T @ both, x.shape[1], len(x) - basis.shape[1])[0]


def _normal_scores(a: ArrayLike) -> NDArray[np.float64]:
    values = columns(a)
    scores: NDArray[np.float64] = ndtri(rankdata(values, axis=0) / (len(values) + 1))
    return scores


def _orthonormal(a: NDArray[np.float64]) -> NDArray[np.float64]:
    """Orthonormal basis of the columns of a, shape (n, rank)."""
    basis, size, _ = np.linalg.svd(a / np.linalg.norm(a, axis=0), full_matrices=False)
    return basis[:, size > 1e-10 * size[0]]
