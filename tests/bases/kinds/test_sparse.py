"""Tables of many labels: truths, and intervals that know what the rows do not tell."""

import numpy as np
import pytest

from pydine.bases.kinds.sparse import fit_sparse, mixing
from pydine.bases.kinds.tables import entropy, most_entropy


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def drawn(rng, joint, n):
    """Codes of n rows of a table of probabilities, and its information."""
    joint = joint / joint.sum()
    independent = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    there = joint > 0.0
    truth = float((joint[there] * np.log(joint[there] / independent[there])).sum())
    return (*np.divmod(rng.choice(joint.size, n, p=joint.ravel()), joint.shape[1]), truth)


TABLES = {
    "copy": lambda rng, k: np.eye(k),
    "noisy copy": lambda rng, k: 0.7 * np.eye(k) + 0.3 / k,
    "five others": lambda rng, k: rng.dirichlet(np.ones(5), size=k),
    "independent": lambda rng, k: np.ones((k, k)),
    "nested": lambda rng, k: np.eye(6)[rng.integers(6, size=k)],
}


@pytest.mark.parametrize("k", [30, 200])
@pytest.mark.parametrize("name", TABLES)
def test_twenty_rows_a_label_are_enough(name, k):
    errors, truth = [], 0.0
    for seed in range(4):
        rng = np.random.default_rng([seed, k])
        x, y, truth = drawn(rng, TABLES[name](rng, k), 20 * k)
        errors.append(fit_sparse(x, y, np.zeros_like(x)).value - truth)
    assert abs(np.mean(errors)) < max(0.05 * truth, 0.02)


@pytest.mark.parametrize("name", TABLES)
def test_errors_know_what_five_rows_a_label_leave_open(name):
    for seed in range(4):
        rng = np.random.default_rng([seed, 5])
        x, y, truth = drawn(rng, TABLES[name](rng, 100), 500)
        found = fit_sparse(x, y, np.zeros_like(x))
        below, above = found.standard_error, np.hypot(found.standard_error, found.hidden)
        assert -2.5 * above < found.value - truth < 2.5 * below


def test_two_rows_a_label_in_each_part_leave_room_up_to_what_few_labels_may_say():
    """Shares of three labels vary less evenly than a gamma distribution would have factors vary, and tell more."""
    short = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x, z = rng.integers(400, size=2400), rng.integers(3, size=2400)
        shares = rng.dirichlet(np.ones(3), size=(3, 400))
        y = (rng.random(2400)[:, None] > shares[z, x].cumsum(axis=1)).sum(axis=1)
        mean = shares.mean(axis=1, keepdims=True)
        truth = float((shares * np.log(shares / mean)).sum(axis=2).mean())
        found = fit_sparse(x, y, z)
        short += found.value + 2.0 * found.hidden < truth
    assert short <= 1


def test_z_of_one_value_and_of_several_that_mean_nothing(rng):
    x, y, truth = drawn(rng, 0.7 * np.eye(60) + 0.3 / 60, 6000)
    alone = fit_sparse(x, y, np.zeros_like(x)).value
    given = fit_sparse(x, y, rng.integers(3, size=len(x))).value
    assert alone == pytest.approx(truth, abs=0.05)
    assert given == pytest.approx(truth, abs=0.15)


def test_the_sides_may_be_exchanged_and_labels_renamed(rng):
    x, y, _ = drawn(rng, rng.dirichlet(np.ones(30), size=40), 900)
    z, names = np.zeros_like(x), rng.permutation(40)
    found = fit_sparse(x, y, z)
    for other in (fit_sparse(y, x, z), fit_sparse(names[x], y, z)):
        assert other.value == pytest.approx(found.value, abs=1e-9)
        assert other.standard_error == pytest.approx(found.standard_error, abs=1e-9)


def test_mixing_maximises_the_likelihood(rng):
    likelihoods, number = rng.random((40, 7)) ** 3, rng.integers(1, 9, size=40).astype(float)
    shares = mixing(likelihoods, number, np.ones(7))
    assert shares.min() >= 0.0
    assert shares.sum() == pytest.approx(1.0)
    # Kuhn and Tucker: no component gains by a larger share, and those that have one lose nothing.
    slopes = likelihoods.T @ (number / number.sum() / (likelihoods @ shares))
    assert slopes.max() < 1.0 + 1e-3
    np.testing.assert_allclose(slopes[shares > 1e-3], 1.0, atol=1e-2)


def test_the_entropy_of_many_labels_may_be_more_than_that_of_the_sample(rng):
    misses = [np.log(300) > most_entropy(rng.integers(300, size=1500)) for _ in range(20)]
    assert np.mean(misses) < 0.2
    assert entropy(rng.integers(300, size=1500)) < np.log(300) - 0.05
