"""What the paper proves of DINE, as functions: the sample complexity of Theorem 2 and the variance of Lemma 2.

Duong and Nguyen (AAAI 2023), section "Theoretical Results" and its supplement.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real


def sample_complexity(
    accuracy: float, failure: float, *, bound: float, lipschitz: float, radius: float, n_parameters: int
) -> int:
    """Rows that suffice for general DINE to be within an accuracy of the truth (Theorem 2).

    n >= 72 M^2 / eps^2 (c ln(96 K L sqrt(c) / eps) + ln(2 / delta)). The bound is the paper's as it is printed: a
    statement about growth, polynomial in 1 / eps, and far above what is needed in practice. Its proof spends delta on
    one of the three log-likelihoods; who wants all three at once with probability 1 - delta takes delta / 3.

    Parameters
    ----------
    accuracy : float
        eps, nats, above 0.
    failure : float
        delta, the probability with which the accuracy may be missed, between 0 and 1.
    bound : float
        M: log-densities lie in [-M, M], nats.
    lipschitz : float
        L: log-densities are L-Lipschitz in the parameters.
    radius : float
        K: the parameters' norm is at most K.
    n_parameters : int
        c, at least 1.

    Returns
    -------
    int
        The least number of rows that the theorem asks for, at least 1.

    Examples
    --------
    >>> sample_complexity(0.5, 0.05, bound=1.0, lipschitz=1.0, radius=1.0, n_parameters=1)
    2577
    """
    for name, value in (("accuracy", accuracy), ("bound", bound), ("lipschitz", lipschitz), ("radius", radius)):
        _check_positive(name, value)
    if not 0.0 < failure < 1.0:
        raise ValueError(f"failure must be a probability strictly between 0 and 1, but got {failure!r}.")
    _check_count("n_parameters", n_parameters)
    cover = n_parameters * math.log(96.0 * radius * lipschitz * math.sqrt(n_parameters) / accuracy)
    rows = 72.0 * bound**2 / accuracy**2 * (cover + math.log(2.0 / failure))
    return max(1, math.ceil(rows))  # a coarse accuracy and a small domain make the formula negative


def log_determinant_variance(d: int, n: int) -> float:
    """Asymptotic variance of the log-determinant of a covariance matrix of d columns and n Gaussian rows: 2 d / n.

    Cai, Liang and Zhou (2015), corollary 1, on which the paper's proof of Lemma 2 rests.
    """
    _check_count("d", d)
    _check_count("n", n)
    return 2.0 * d / n


def variance_bound(dx: int, dy: int, n: int) -> float:
    """Bound on the asymptotic variance of DINE-Gaussian, O(d / n), with the constants of the proof of Lemma 2.

    Var I_n <= (Var ln det S_x + Var ln det S_y + Var ln det S_xy) / 3 = 4 (dx + dy) / (3 n). The inequality holds for
    Gaussian latents, where `asymptotic_variance` is at most min(dx, dy) / n; for any three variables whatever, the
    factor before the bracket would have to be 3/4.

    Parameters
    ----------
    dx, dy : int
        Columns of x and y.
    n : int
        Rows.

    Returns
    -------
    float
        Squared nats.
    """
    _check_count("dx", dx)
    _check_count("dy", dy)
    return (
        log_determinant_variance(dx, n) + log_determinant_variance(dy, n) + log_determinant_variance(dx + dy, n)
    ) / 3.0


def asymptotic_variance(canonical_correlations: Iterable[float], n: int) -> float:
    """Variance of the Gaussian closed form to first order, sum of r_i^2 / n: what Lemma 2 bounds, exactly.

    By the delta method: the sample correlation of a Gaussian pair has variance (1 - r^2)^2 / n, and -1/2 ln(1 - r^2)
    the derivative r / (1 - r^2); canonical pairs are independent. Normal scores of ranks have the same first order.

    Parameters
    ----------
    canonical_correlations : iterable of float
        Of the Gaussian latents x' and y'; in the paper's datasets d times rho.
    n : int
        Rows.

    Returns
    -------
    float
        Squared nats. At independence it is 0: there the variance falls faster than 1 / n.
    """
    _check_count("n", n)
    correlations = list(canonical_correlations)
    for r in correlations:
        if not -1.0 <= r <= 1.0:
            raise ValueError(f"canonical_correlations must lie between -1 and 1, but one is {r!r}.")
    return math.fsum(r * r for r in correlations) / n


def _check_positive(name: str, value: object) -> None:
    if not isinstance(value, Real) or not 0.0 < float(value) < math.inf:
        raise ValueError(f"{name} must be a finite number above 0, but got {value!r}.")


def _check_count(name: str, value: int) -> None:
    if value != int(value) or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1, but got {value!r}.")
