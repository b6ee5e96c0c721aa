import numpy as np
import pytest

from pydine import mutual_information
from pydine.bases.closed_form import rank_effect
from pydine.latents.linear_effect import LinearEffect

RHO, N = 0.9, 300
COVARIANCE = np.array([[1.0, RHO], [RHO, 1.0]])


def linear(seed, dz=5, rho=RHO):
    """Columns that follow z in a line, and what is left of both given z."""
    rng = np.random.default_rng([seed, dz])
    z, slopes, (x, noise) = rng.normal(size=(N, dz)), rng.normal(size=(2, dz)), rng.normal(size=(2, N))
    left = np.vstack([x, rho * x + np.sqrt(1.0 - rho**2) * noise])
    return *(slopes @ z.T + left), z, left


def test_columns_that_follow_z_in_a_line_are_as_dependent_given_z_as_they_are():
    """Without what ranks do to columns that z moves, 0.1 nats were missing of 0.83."""
    differences = []
    for seed in range(12):
        x, y, z, (a, b) = linear(seed)
        differences.append(mutual_information(np.exp(x), y, z).value - mutual_information(a, b).value)
    assert abs(np.mean(differences)) < 0.06


def test_without_an_effect_ranks_do_what_they_do_without_z():
    z = np.random.default_rng(0).normal(size=(1, N))
    none, plain = LinearEffect(z, np.zeros((2, 1))), rank_effect(COVARIANCE, 1, N - 1.0, N)
    given = rank_effect(COVARIANCE, 1, N - 2.0, N, none)
    assert given.bias == pytest.approx(plain.bias, abs=0.006)
    assert given.inflation == pytest.approx(plain.inflation, abs=0.1)


def test_the_more_z_explains_the_more_ranks_take():
    z = np.random.default_rng(0).normal(size=(2, N))
    weak, strong = (
        rank_effect(COVARIANCE, 1, N - 3.0, N, LinearEffect(z, slope * np.eye(2))).bias for slope in (0.3, 0.9)
    )
    assert strong < 2.0 * weak < 0.0


def test_what_chance_explains_is_no_effect():
    rng = np.random.default_rng(0)
    found = LinearEffect.of(rng.normal(size=(2, N)), rng.normal(size=(40, N)))
    assert ((found.slopes @ found.z).var(axis=1) < 0.1).all()


def test_too_few_rows_to_see_any():
    rng = np.random.default_rng(0)
    assert LinearEffect.of(rng.normal(size=(2, 30)), rng.normal(size=(20, 30))) is None


def test_order_and_signs():
    x, y, z, _ = linear(0)
    found = mutual_information(x, y, z, base="gaussian")
    order = np.random.default_rng(1).permutation(N)
    again = mutual_information(y[order], -x[order], -z[order][:, ::-1], base="gaussian")
    assert again.value == pytest.approx(found.value, abs=1e-9)
    assert again.standard_error == pytest.approx(found.standard_error, abs=1e-9)
