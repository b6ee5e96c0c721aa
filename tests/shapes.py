"""Data of several shapes whose information is known, and what the default's maps make of them."""

from functools import cache

import numpy as np
from scipy.integrate import trapezoid
from scipy.special import digamma, gammaln, xlogy
from scipy.stats import multivariate_t, norm

from pydine.inputs.table import Question
from pydine.latents.flows import Latents
from pydine.latents.workshop import Workshop
from pydine.units.ladder import LadderSettings


def flow_of(x, y, z, settings, n_jobs=None, by_column=False):
    """Maps and latents of arrays (n, dx), (n, dy), (n, dz), from a workshop of their own."""
    question = Question.of(x, y, z)
    return Workshop(question.table, settings, n_jobs=n_jobs).flow(question, by_column)


def paired(d, rho):
    """Unit variances, and a correlation of rho between the i-th column of x and the i-th of y."""
    matrix = np.eye(2 * d)
    matrix[range(d), range(d, 2 * d)] = matrix[range(d, 2 * d), range(d)] = rho
    return matrix


def gaussian(n, d=1, rho=0.6, seed=0):
    both = np.random.default_rng(seed).standard_normal((n, 2 * d)) @ np.linalg.cholesky(paired(d, rho)).T
    return both[:, :d], both[:, d:]


def student(n, d=1, degrees=2.0, rho=0.5, seed=0):
    both = multivariate_t(np.zeros(2 * d), paired(d, rho), df=degrees, seed=seed).rvs(n)
    return both[:, :d], both[:, d:]


def parabola(n, noise=0.7, seed=0):
    x, e = np.random.default_rng(seed).standard_normal((2, n, 1))
    return x, x**2 + noise * e


def ring(n, width=0.2, seed=0):
    rng = np.random.default_rng(seed)
    angle, radius = rng.uniform(0.0, 2.0 * np.pi, n), rng.normal(1.0, width, n)
    return (radius * np.cos(angle))[:, None], (radius * np.sin(angle))[:, None]


def given_z(x, y, seed=9):
    """Both sides moved along curves of a z, which is returned as well: given it, the information is what it was."""
    z = np.random.default_rng(seed).standard_normal((len(x), 1))
    return x + 1.5 * np.sin(1.5 * z), y + np.tanh(2.0 * z) + 0.5 * z**2, z


def gaussian_truth(d, rho):
    return -0.5 * d * np.log(1.0 - rho * rho)


def student_entropy(d, degrees, log_determinant):
    """Of a Student vector with d columns: -E ln p, where E ln(1 + q / v) = psi((v + d) / 2) - psi(v / 2)."""
    half, whole = 0.5 * degrees, 0.5 * (degrees + d)
    constant = gammaln(whole) - gammaln(half) - 0.5 * d * np.log(degrees * np.pi) - 0.5 * log_determinant
    return whole * (digamma(whole) - digamma(half)) - constant


def student_truth(d, degrees, rho):
    """h(X) + h(Y) - h(X, Y); the scale matrix of both has the determinant (1 - rho^2)^d."""
    return 2.0 * student_entropy(d, degrees, 0.0) - student_entropy(2 * d, degrees, d * np.log(1.0 - rho * rho))


@cache
def parabola_truth(noise):
    """h(Y) - h(noise), with the density of Y as an integral over x."""
    x, y = np.linspace(-8.0, 8.0, 1601), np.linspace(-8.0 * noise, 40.0 + 8.0 * noise, 1001)
    density = trapezoid(norm.pdf(x) * norm.pdf(y[:, None], x**2, noise), x)
    return -trapezoid(xlogy(density, density), y) - norm.entropy(scale=noise)


@cache
def ring_truth(width):
    """Of the masses of a fine grid; an angle takes 1 / (2 pi radius) of the radius's density."""
    place = np.linspace(-2.5, 2.5, 1000)  # none of them is 0
    radius = np.hypot(place[:, None], place)
    masses = norm.pdf(radius, 1.0, width) / radius
    masses /= masses.sum()
    rows, columns = masses.sum(axis=1), masses.sum(axis=0)
    return xlogy(masses, masses).sum() - xlogy(rows, rows).sum() - xlogy(columns, columns).sum()


def latents_of(x, y, z=None):
    """What the default's maps make of a sample."""
    z = np.empty((len(x), 0)) if z is None else z
    return flow_of(x, y, z, LadderSettings(), by_column=True)[1]


def as_latents(both, dx):
    """Rows (d, n) taken as latents as they are."""
    d, n = both.shape
    return Latents((dx, d - dx, 0), both, np.empty((0, n)), both @ both.T, n - 1)
