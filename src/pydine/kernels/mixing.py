"""Mixtures of models, from their log-densities of rows, with the same bits on every machine."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,call-arg,unreachable,var-annotated"

from __future__ import annotations

import numpy as np

from pydine.kernels.arithmetic import check, dot, exp, log
from pydine.kernels.compilation import compiled
from pydine.types import FloatArray

LEAST_WEIGHT = 1e-300  # guard: least weight, for its logarithm
MOST_STEPS = 100  # guard: of EM, which ends when no weight moves


@compiled("(float64[:, ::1],)")
def mixture_weights(log_densities: FloatArray) -> FloatArray:
    """Weights of a mixture of models that maximise the likelihood of rows, by EM.

    Parameters
    ----------
    log_densities : ndarray, shape (models, n)
        Each model's log-density of each (held-out) row, in nats.

    Returns
    -------
    ndarray, shape (models,)
    """
    m, n = log_densities.shape
    check(m > 0)
    ratios, inverse = np.empty((m, n)), np.empty(n)
    for i in range(n):
        top = log_densities[0, i]
        for j in range(1, m):
            top = max(top, log_densities[j, i])
        inverse[i] = top
    for j in range(m):
        for i in range(n):
            ratios[j, i] = exp(log_densities[j, i] - inverse[i])
    weights, fresh = np.full(m, 1.0 / m), np.empty(m)
    for _ in range(MOST_STEPS):
        for i in range(n):
            inverse[i] = 0.0
        for j in range(m):
            for i in range(n):
                inverse[i] += weights[j] * ratios[j, i]
        for i in range(n):
            inverse[i] = 1.0 / inverse[i]
        for j in range(m):
            fresh[j] = weights[j] * dot(ratios[j], inverse) / n
        change = 0.0
        for j in range(m):
            change = max(change, abs(fresh[j] - weights[j]))
            weights[j] = fresh[j]
        if change < 1e-4:
            break
    return weights


@compiled("(float64[:, ::1], float64[::1])")
def mixture_log_density(log_densities: FloatArray, weights: FloatArray) -> FloatArray:
    """Log-densities of rows under a mixture, shapes (models, n) and (models,) to (n,)."""
    m, n = log_densities.shape
    check(m > 0 and weights.shape[0] == m)
    top, sums = np.empty(n), np.zeros(n)
    shifts = np.empty(m)
    for j in range(m):
        shifts[j] = log(max(weights[j], LEAST_WEIGHT))
    for i in range(n):
        top[i] = log_densities[0, i] + shifts[0]
    for j in range(1, m):
        for i in range(n):
            top[i] = max(top[i], log_densities[j, i] + shifts[j])
    for j in range(m):
        for i in range(n):
            sums[i] += exp(log_densities[j, i] + shifts[j] - top[i])
    for i in range(n):
        sums[i] = log(sums[i]) + top[i]
    return sums


@compiled("(float64[::1], float64[::1], float64[::1])")
def mixture_moments(logits, means, log_scales):
    """Mean and variance of a mixture of Gaussians whose logits, means and log-scales have shape (k,)."""
    k = logits.shape[0]
    check(k > 0 and means.shape[0] == k and log_scales.shape[0] == k)
    top = logits[0]
    for j in range(1, k):
        top = max(top, logits[j])
    total_weight, mean, square = 0.0, 0.0, 0.0
    for j in range(k):
        w, s = exp(logits[j] - top), exp(log_scales[j])
        total_weight += w
        mean += w * means[j]
        square += w * (s * s + means[j] * means[j])
    mean /= total_weight
    return mean, square / total_weight - mean * mean


@compiled("(float64[::1],)")
def total(values):
    """Sum of a vector, shape (n,)."""
    return dot(values, np.ones(values.shape[0]))


@compiled("(float64,)")
def logarithm(value):
    """The natural logarithm of a positive number."""
    return log(value)


@compiled("(float64,)")
def exponential(value):
    """E to the power of a number between -708 and 709."""
    return exp(value)


def best_mixture(log_densities: FloatArray) -> FloatArray:
    """Log-densities (n,) of rows under the mixture of models (models, n) that predicts them best, in nats."""
    best: FloatArray = mixture_log_density(log_densities, mixture_weights(log_densities))
    return best


def smooth_step(value: float, low: float, high: float) -> float:
    """0 up to `low`, 1 from `high` on, and a smooth rise in between."""
    t = min(max((value - low) / (high - low), 0.0), 1.0)
    return t * t * (3.0 - 2.0 * t)
