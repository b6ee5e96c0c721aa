"""MIND against the maximum-entropy copula computed in another way."""

import numpy as np
import pytest

from pydine.baselines.mind import copula_entropy, mind
from pydine.experiments.datasets import paper_mi

# Mean estimates of the paper's authors over seeds 0 to 4 of the cell n = 200, d = 2, at each correlation. At +-0.99
# they are 2.1, where the maximum-entropy copula has 3.5: their normalising constant came from 64 uniform points.
AUTHORS = {-0.75: 0.620, -0.5: 0.245, 0.0: 0.028, 0.5: 0.232, 0.75: 0.620}


def entropy_on_a_grid(spearman: float, cells: int = 300) -> float:
    """Entropy of the density a(u) a(v) exp(-t (u - v)^2) with uniform margins and this correlation, by bisection."""
    u = (np.arange(cells) + 0.5) / cells
    low, high = 0.0, 2000.0
    for _ in range(40):
        t = (low + high) / 2
        kernel, a = np.exp(-t * (u[:, None] - u) ** 2), np.ones(cells)
        for _ in range(100):
            a = np.sqrt(a * cells / (kernel @ a))  # margins become uniform
        density = kernel * a[:, None] * a
        low, high = (t, high) if 12 * np.mean(density * np.outer(u - 0.5, u - 0.5)) < spearman else (low, t)
    return -float(np.mean(density * np.log(density)))


@pytest.mark.parametrize("spearman", [0.3, 0.8, 0.97])
def test_pair_on_a_grid(spearman: float) -> None:
    expected = entropy_on_a_grid(spearman)
    for sign in (1, -1):
        assert copula_entropy(np.array([[1, sign * spearman], [sign * spearman, 1]])) == pytest.approx(
            expected, abs=2e-3
        )


def test_independent_pairs_add_up() -> None:
    pair = np.array([[1, 0.9], [0.9, 1]])
    four = np.kron(np.eye(4), pair)
    assert copula_entropy(four) == pytest.approx(4 * copula_entropy(pair), abs=0.01)


def test_constraints_only_lower_entropy() -> None:
    free = copula_entropy(np.eye(3))
    one = copula_entropy(np.array([[1, 0.6, 0], [0.6, 1, 0], [0, 0, 1]]))
    two = copula_entropy(np.array([[1, 0.6, 0.6], [0.6, 1, 0], [0.6, 0, 1]]))
    assert free == pytest.approx(0, abs=1e-5)
    assert free > one > two


@pytest.mark.slow
def test_only_ranks_matter() -> None:
    x, e = np.random.default_rng(0).standard_normal((2, 100, 2))
    y = x + e
    assert mind(np.exp(x), y**3) == mind(x, y)
    assert mind(x, -y) == pytest.approx(mind(x, y), abs=1e-3)
    assert mind(y, x) == pytest.approx(mind(x, y), abs=1e-3)


@pytest.mark.slow
def test_as_the_authors_of_the_paper_measured() -> None:
    for rho, theirs in AUTHORS.items():
        datasets = [paper_mi(200, 2, rho, seed) for seed in range(5)]
        ours = np.mean([mind(a.x, a.y, random_state=a.seed) for a in datasets])
        assert ours == pytest.approx(theirs, rel=0.25, abs=0.1)


@pytest.mark.slow
def test_many_columns() -> None:
    """Six pairs at a correlation of 0.99: six times the value of a pair, where uniform points would see nothing."""
    a = paper_mi(1000, 6, 0.99, 0)
    pair = -copula_entropy(np.array([[1, 0.989], [0.989, 1]]))
    assert mind(a.x, a.y) == pytest.approx(6 * pair, rel=0.03)


@pytest.mark.parametrize("noise", [1e-12, 1e-3])
def test_columns_that_almost_agree(noise: float) -> None:
    x, e = np.random.default_rng(0).standard_normal((2, 100, 2))
    with pytest.raises(ArithmeticError, match="almost functions of each other, or there are too many; leave some out"):
        mind(x, x + noise * e)
