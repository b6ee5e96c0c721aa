"""Frequencies of codes along a line that change at unknown places: a Bayesian average over all segmentations."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,call-arg,unreachable,var-annotated"

from __future__ import annotations

import numpy as np

from pydine.kernels.arithmetic import check, exp, log
from pydine.kernels.compilation import compiled

NOTHING = -50.0  # guard: logarithm of a share that is negligible in a sum in float64


@compiled()
def _evidence(counts, prior):
    """Log-evidence of segments from bin i up to before bin j, (bins + 1, bins + 1), and running sums (bins + 1, k)."""
    bins, codes = counts.shape
    check(prior.shape[0] == codes)
    sums = np.zeros((bins + 1, codes))
    rows = 0
    for b in range(bins):
        for c in range(codes):
            sums[b + 1, c] = sums[b, c] + counts[b, c]
            rows += int(counts[b, c])
    whole = 0.0
    for c in range(codes):
        whole += prior[c]
    rising = np.zeros((codes + 1, rows + 1))  # ln of a (a + 1) ... (a + m - 1)
    for c in range(codes + 1):
        first = whole if c == codes else prior[c]
        for m in range(rows):
            rising[c, m + 1] = rising[c, m] + log(first + m)
    found = np.zeros((bins + 1, bins + 1))
    for i in range(bins):
        for j in range(i + 1, bins + 1):
            value, inside = 0.0, 0.0
            for c in range(codes):
                here = sums[j, c] - sums[i, c]
                value += rising[c, int(here)]
                inside += here
            found[i, j] = value - rising[codes, int(inside)]
    return found, sums


@compiled()
def _paths(weights, ahead):
    """Log of the summed weights of all segmentations before each place, or after it if `ahead`, shape (bins + 1,)."""
    bins = weights.shape[0] - 1
    check(weights.shape[1] == bins + 1)
    logs = np.zeros(bins + 1)
    for step in range(1, bins + 1):
        place = bins - step if ahead else step
        top = -np.inf
        for other in range(step):
            k = bins - other if ahead else other
            term = logs[k] + (weights[place, k] if ahead else weights[k, place])
            top = max(top, term)
        total = 0.0
        for other in range(step):
            k = bins - other if ahead else other
            term = logs[k] + (weights[place, k] if ahead else weights[k, place]) - top
            if term > NOTHING:
                total += exp(term)
        logs[place] = top + log(total)
    return logs


@compiled("(float64[:, ::1], float64[::1], float64)")
def segment_shares(counts, prior, rate):
    """Posterior mean of the probabilities of codes in every bin, which are constant within segments of a line.

    A priori, there is a cut between any two neighbouring bins with the same probability, independently, and the
    probabilities in each segment have a Dirichlet distribution. The posterior mean is a sum over all possible segments
    (Fearnhead 2006).

    Parameters
    ----------
    counts : (bins, codes) float64, whole numbers
    prior : (codes,) float64, parameters of the Dirichlet distribution
    rate : float, probability of a cut between two bins

    Returns
    -------
    (bins, codes) float64
    """
    bins, codes = counts.shape
    weights, sums = _evidence(counts, prior)
    cut, whole = log(rate), log(1.0 - rate)
    for i in range(bins):
        for j in range(i + 1, bins + 1):
            weights[i, j] += (j - i - 1.0) * whole + (cut if j < bins else 0.0)
    before, after = _paths(weights, False), _paths(weights, True)
    all_prior = 0.0
    for c in range(codes):
        all_prior += prior[c]
    changes = np.zeros((bins + 1, codes))
    for i in range(bins):
        for j in range(i + 1, bins + 1):
            chance = before[i] + weights[i, j] + after[j] - before[bins]
            if chance < NOTHING:
                continue
            chance, inside = exp(chance), all_prior
            for c in range(codes):
                inside += sums[j, c] - sums[i, c]
            for c in range(codes):
                share = chance * (sums[j, c] - sums[i, c] + prior[c]) / inside
                changes[i, c] += share
                changes[j, c] -= share
    shares = np.empty((bins, codes))
    for c in range(codes):
        running = 0.0
        for b in range(bins):
            running += changes[b, c]
            shares[b, c] = running
    return shares
