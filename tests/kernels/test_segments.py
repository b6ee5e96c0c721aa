"""Shares along a line that change at unknown places, beside the sum over all ways to cut it."""

from itertools import combinations

import numpy as np
from scipy.special import gammaln

from pydine.kernels.segments import segment_shares


def one_by_one(counts, prior, rate):
    """Every way to cut the line, one after the other."""
    bins, total, mean = len(counts), 0.0, np.zeros(counts.shape)
    for size in range(bins):
        for cuts in combinations(range(1, bins), size):
            shares, log_chance = np.empty(counts.shape), size * np.log(rate) + (bins - 1 - size) * np.log(1.0 - rate)
            for first, last in zip((0, *cuts), (*cuts, bins), strict=True):
                here = counts[first:last].sum(axis=0) + prior
                shares[first:last] = here / here.sum()
                log_chance += (gammaln(here) - gammaln(prior)).sum() - gammaln(here.sum()) + gammaln(prior.sum())
            total += np.exp(log_chance)
            mean += np.exp(log_chance) * shares
    return mean / total


def test_all_ways_to_cut_it_are_averaged():
    counts = np.random.default_rng(0).integers(0, 4, (7, 3)).astype(float)
    prior = np.array([0.5, 0.3, 0.2])
    np.testing.assert_allclose(segment_shares(counts, prior, 0.3), one_by_one(counts, prior, 0.3), rtol=1e-9)


def test_an_edge_is_found():
    counts = np.zeros((64, 2))
    counts[:23, 0] = counts[23:, 1] = 8.0
    shares = segment_shares(counts, np.array([0.4, 0.6]), 8.0 / 64)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)
    assert shares[22, 0] > 0.95
    assert shares[23, 0] < 0.05


def test_nothing_changes_where_nothing_does():
    shares = segment_shares(np.full((50, 2), 10.0), np.array([0.5, 0.5]), 8.0 / 50)
    np.testing.assert_allclose(shares, 0.5, atol=0.02)


def test_the_other_way_round():
    counts = np.random.default_rng(1).integers(0, 9, (40, 3)).astype(float)
    prior = np.array([0.5, 0.3, 0.2])
    there, back = segment_shares(counts, prior, 0.1), segment_shares(np.ascontiguousarray(counts[::-1]), prior, 0.1)
    np.testing.assert_allclose(there, back[::-1], rtol=1e-9)
