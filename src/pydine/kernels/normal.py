"""Tails and quantiles of the standard normal distribution, and of mixtures, with the same bits on every machine.

SciPy's functions use the C library's logarithm, which has variants for each processor. Units are trained on normal
quantiles of ranks, so these must not differ.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,call-arg,unreachable,var-annotated"

from __future__ import annotations

from functools import lru_cache

import numpy as np

from pydine.kernels.arithmetic import SQRT_HALF, check, exp, log, log_tail, upper_tail
from pydine.kernels.compilation import compiled
from pydine.types import FloatArray

SQRT_2PI = 2.5066282746310002  # fact
TINY = 1e-300  # guard: least probability, to divide by or for its logarithm
FARTHEST = -1e150  # guard: in deviations; farther out the square of the distance would overflow
TABLES_KEPT = 8  # memory: of scores, one for each number of rows


@compiled(inlined=True)
def _guess(log_tail_):
    """A quantile of the lower tail from its logarithm, to 5e-4 (Hastings 1955)."""
    s = np.sqrt(-2.0 * log_tail_)
    return (2.515517 + s * (0.802853 + s * 0.010328)) / (1.0 + s * (1.432788 + s * (0.189269 + s * 0.001308))) - s


@compiled(inlined=True)
def _smaller_tail(lower, upper):
    return max(min(lower, upper), 1e-300)


@compiled("(float64[::1], float64[::1], float64[::1])")
def quantiles(lower: FloatArray, upper: FloatArray, out: FloatArray) -> None:
    """Write normal quantiles to `out`, from lower and upper tail probabilities, whichever is smaller; shapes (n,).

    Each of two Halley iterations triples the correct digits. Rows are in the inner loops, so that these vectorise.
    """
    n = lower.shape[0]
    check(upper.shape[0] == n and out.shape[0] == n)
    for i in range(n):
        out[i] = _guess(log(_smaller_tail(lower[i], upper[i])))
    for _ in range(2):
        for i in range(n):
            x = out[i]
            u = (upper_tail(max(-x, 0.0)) - _smaller_tail(lower[i], upper[i])) * SQRT_2PI * exp(0.5 * x * x)
            out[i] = x - u / (1.0 + 0.5 * x * u)
    for i in range(n):
        quantile = min(out[i], 0.0)
        out[i] = quantile if lower[i] < upper[i] else -quantile


@compiled("(float64[::1],)")
def log_quantiles(log_lower: FloatArray) -> FloatArray:
    """Normal quantiles of lower tails given as logarithms, each below -100, shape (n,): by Newton's method."""
    out = np.empty(log_lower.shape[0])
    for i in range(len(out)):
        x = _guess(log_lower[i])
        for _ in range(6):
            log_ratio, t = log_tail(-x * SQRT_HALF)
            # The derivative of ln(Phi) is phi / Phi, which is close to -x this far out.
            value = log(0.5 * t) + log_ratio
            hazard = exp(-0.5 * x * x - value) / SQRT_2PI if x > -1e7 else -x
            x -= (value - log_lower[i]) / hazard
        out[i] = x
    return out


@lru_cache(maxsize=TABLES_KEPT)
def rank_scores(n: int) -> FloatArray:
    """Normal scores Phi^-1(rank / (n + 1)) of the ranks 0, 1/2, 1, 3/2, ... of n rows, shape (2 n + 2,).

    The score of rank r is at position 2 r. Scores are exactly antisymmetric about the middle rank.
    """
    lower = normal_quantile(np.arange(1.0, n + 2.0) / (2.0 * n + 2.0))
    lower[-1] = 0.0
    table: FloatArray = np.concatenate([[-np.inf], lower, -lower[-2::-1]])
    table.flags.writeable = False
    return table


def normal_quantile(p: FloatArray) -> FloatArray:
    """Normal quantiles of probabilities strictly between 0 and 1, same shape."""
    flat = np.ascontiguousarray(p, dtype=np.float64).ravel()
    out = np.empty(len(flat))
    quantiles(flat, 1.0 - flat, out)
    return out.reshape(p.shape)


@compiled("(float64[::1], float64[::1])")
def step_moments(lower, upper):
    """Mean of a standard normal variable between cut points (n,), and the log-probability of that interval."""
    n = lower.shape[0]
    check(upper.shape[0] == n)
    means, logs = np.empty(n), np.empty(n)
    for i in range(n):
        flip = lower[i] + upper[i] > 0.0  # tails are small on the side where the step lies
        a = -upper[i] if flip else lower[i]
        b = -lower[i] if flip else upper[i]
        below = upper_tail(-a) if a < 0.0 else 1.0 - upper_tail(a)
        above = upper_tail(-b) if b < 0.0 else 1.0 - upper_tail(b)
        mass = max(above - below, TINY)
        mean = (exp(-0.5 * a * a) - exp(-0.5 * b * b)) / (SQRT_2PI * mass)
        means[i] = -mean if flip else mean
        logs[i] = log(mass)
    return means, logs


# --- tails of mixtures ------------------------------------------------------------------------------------------------


@compiled("(float64, float64[:, ::1], float64[:, ::1], float64[::1], float64[::1])")
def add_tails(weight, shares, z, lower, upper):
    """Add `weight` times the transformer's two tails (paper, "Transformer") to `lower` and `upper`.

    tau(t; x) = sum_j w_j Phi(z_j) and 1 - tau, each summed from its own side: neither is ever rounded to 1.

    Parameters
    ----------
    weight : float, positive; weight of this model in a mixture of models.
    shares, z : (k, n) float64, the weights w_j and z_j of every row.
    lower, upper : (n,) float64, the tails accumulated so far.
    """
    k, n = z.shape
    check(shares.shape == (k, n) and lower.shape[0] == n and upper.shape[0] == n)
    small = np.empty(n)
    for j in range(k):
        for i in range(n):
            small[i] = upper_tail(abs(z[j, i]))
        for i in range(n):
            part = weight * shares[j, i]
            lower[i] += part * (small[i] if z[j, i] < 0.0 else 1.0 - small[i])
            upper[i] += part * (1.0 - small[i] if z[j, i] < 0.0 else small[i])


@compiled("(float64, float64[:, ::1], float64[:, ::1], int64, float64[::1])")
def add_log_tail(weight, shares, z, side, log_tails):
    """Add, in logarithms, `weight` times one tail: for the few rows so far out that the tail itself underflows.

    `side` is 1 for the lower tail and -1 for the upper one; `log_tails` (n,) float64 holds what was accumulated so
    far, -inf to begin with; the rest is as in `add_tails`.
    """
    k, n = z.shape
    check(shares.shape == (k, n) and log_tails.shape[0] == n)
    for i in range(n):
        for j in range(k):
            distance = max(side * z[j, i], FARTHEST)
            log_ratio, t = log_tail(abs(distance) * SQRT_HALF)
            below = log(0.5 * t) + log_ratio  # ln Phi(-|distance|)
            log_phi = below if distance < 0.0 else log(1.0 - exp(below))
            term = log(max(weight * shares[j, i], TINY)) + log_phi
            high, low = max(log_tails[i], term), min(log_tails[i], term)
            log_tails[i] = high + log(1.0 + exp(low - high))
