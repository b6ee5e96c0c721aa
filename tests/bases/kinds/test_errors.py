"""Standard errors of densities and tables: of true log-ratios, of what is learned, and close to a bound."""

import numpy as np
import pytest
from scipy.stats import binom

from pydine.bases.kinds.blur import left_to_learn
from pydine.bases.kinds.densities import MixedEstimate, balanced, variance_inflation
from pydine.bases.kinds.tables import fit_table
from pydine.inputs.reading import read_question
from pydine.latents.kinds.question import MixedColumns
from pydine.results.intervals import interval_ends


def flipped(share):
    """The probabilities of rows that agree and that do not, of two bits, and the log-ratios of such rows."""
    chances = np.array([1.0 - share, share])
    return chances, np.log(2.0 * chances)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.4])
def test_the_variance_of_timid_ratios_is_restored(share):
    chances, true = flipped(share)
    rows = np.repeat(true, np.rint(1000 * chances).astype(int))
    drawn = np.log1p(0.75 * np.expm1(rows))  # a quarter of independence
    information = rows.mean()
    assert variance_inflation(rows, information) == pytest.approx(1.0)
    assert drawn.var() < 0.75 * rows.var()
    assert variance_inflation(drawn, information) * drawn.var() == pytest.approx(rows.var(), rel=0.15)


def test_ratios_that_are_not_timid_keep_their_variance():
    assert variance_inflation(np.array([0.5, -1000.0]), 0.1) == 1.0
    assert variance_inflation(np.zeros(3), 0.0) == 1.0


def test_the_error_of_what_is_learned():
    """Normal columns of unit variance and unknown means: ratios of their density to that at 0, with p means learned."""
    n, p, folds = 60, 12, 3
    shares, errors = [], []
    for seed in range(400):
        x = np.random.default_rng(seed).normal(0.4, 1.0, (n, p))
        held = np.empty(n)
        for rows in np.arange(n).reshape(folds, -1):
            mean = np.delete(x, rows, axis=0).mean(axis=0)
            held[rows] = x[rows] @ mean - 0.5 * mean @ mean
        seen = x @ x.mean(axis=0) - 0.5 * x.mean(axis=0) @ x.mean(axis=0)
        true = x.sum(axis=1) * 0.4 - 0.5 * p * 0.16
        shares.append(0.6 * (seen.mean() - held.mean()) / n)
        errors.append((0.6 * seen + 0.4 * held - true).mean())
        assert balanced(seen, held, folds)[1] ** 2 > shares[-1]
    assert np.mean(errors) == pytest.approx(0.0, abs=4.0 * np.std(errors) / 20.0)
    assert np.var(errors) == pytest.approx(np.mean(shares), rel=0.2)


@pytest.mark.parametrize("share", [0.01, 0.02, 0.05])
def test_intervals_hold_close_to_the_entropy(share):
    """The number of flipped bits is binomial: the exact chance that the lower end is above the truth."""
    n, (chances, ratios) = 500, flipped(share)
    truth, missed = chances @ ratios, 0.0
    for flips in range(60):
        x = np.arange(n) % 2
        y = np.where(np.arange(n) < flips, 1 - x, x)
        found = fit_table(x, y, np.zeros(n, dtype=np.intp))
        estimate = MixedEstimate(found.value, found.standard_error, found.ratios, found.ratios, {}, bound=np.log(2.0))
        low = interval_ends(found.value, *estimate.errors, bounds=np.log(2.0))[0]
        missed += binom.pmf(flips, n, share) * float(low > truth)
    assert missed <= 0.035


def test_labels_are_learned_faster_than_numbers():
    rng = np.random.default_rng(0)
    x, y, z = rng.random(200) < 0.5, rng.standard_normal(200), rng.standard_normal(200)
    labels = np.array(list("abcd"))[rng.integers(4, size=200)]
    of_labels, of_numbers = (left_to_learn(MixedColumns.of(read_question(x, y, given))) for given in (labels, z))
    assert of_labels == pytest.approx(np.sqrt(2.0) - 1.0)
    assert of_numbers == 1.0
