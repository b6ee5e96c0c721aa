"""Data with known information for `DINE` and `mutual_information`, and both algorithms."""

import numpy as np

from pydine import DINE

# Both algorithms have to keep these promises; the second is quick enough on few rows.
ESTIMATORS = {"default": DINE, "paper": lambda **changes: DINE.paper(**{"max_iter": 60, **changes})}


def gaussian(n, d, rho, seed=0):
    """Columns of x and y that pair up with a correlation of rho; -0.5 d ln(1 - rho^2) nats."""
    x, e = np.random.default_rng(seed).standard_normal((2, n, d))
    return x, rho * x + np.sqrt(1.0 - rho * rho) * e


def curved(n, rho, seed=0):
    """z moves location and scale of both sides along curves; given z there are -0.5 ln(1 - rho^2) nats."""
    (a, e), z = np.random.default_rng(seed).standard_normal((2, n)), np.random.default_rng(seed + 1).uniform(-2, 2, n)
    b = rho * a + np.sqrt(1.0 - rho * rho) * e
    x = 2.0 * np.sin(2.0 * z) + np.exp(0.5 * np.cos(3.0 * z)) * a
    y = 2.0 * np.cos(2.0 * z) + np.exp(0.5 * np.sin(2.0 * z)) * b
    return x, y, z


def truth(d, rho):
    return -0.5 * d * np.log(1.0 - rho * rho)
