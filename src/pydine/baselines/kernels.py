"""Tests of causal-learn: KCIT (Zhang et al. 2011), RCIT (Strobl, Zhang and Visweswaran 2019), Fisher's z."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from causallearn.utils.cit import CIT
from causallearn.utils.KCI.KCI import KCI_CInd, KCI_UInd
from causallearn.utils.RCIT.RCIT import RCIT, RIT
from numpy.typing import ArrayLike

from pydine.baselines.arrays import columns

SMALLEST_P = float(np.finfo(np.float64).eps)  # 1 - cdf cannot tell anything smaller from 0


def kcit(x: ArrayLike, y: ArrayLike, z: ArrayLike | None = None) -> float:
    """Test independence of X and Y given Z with kernels, at the defaults of causal-learn.

    Parameters
    ----------
    x, y
        Samples, shapes (n,) or (n, dx) and (n,) or (n, dy).
    z
        Samples of the conditioning variable, shape (n,) or (n, dz).

    Returns
    -------
    float
        p-value, from a gamma approximation; at least 2.2e-16. Time grows with the cube of n.
    """
    x, y = columns(x), columns(y)
    result = KCI_UInd().compute_pvalue(x, y) if z is None else KCI_CInd().compute_pvalue(x, y, columns(z))
    return _p_value(result[0])


def rcit(x: ArrayLike, y: ArrayLike, z: ArrayLike | None = None, random_state: int = 0) -> float:
    """Test independence of X and Y given Z with random Fourier features; as :func:`kcit`, in linear time.

    ``random_state`` is the seed of the features.
    """
    x, y = columns(x), columns(y)
    with _seeded(random_state):
        result = RIT().compute_pvalue(x, y) if z is None else RCIT().compute_pvalue(x, y, columns(z))
    return _p_value(result[0])


def fisher_z(x: ArrayLike, y: ArrayLike, z: ArrayLike | None = None) -> float:
    """Test whether the partial correlation of X and Y, one column each, given Z is zero; as :func:`kcit`."""
    sides = [columns(x), columns(y), *([] if z is None else [columns(z)])]
    for label, side in zip("xy", sides, strict=False):
        if side.shape[1] != 1:
            raise ValueError(f"{label} must have one column for Fisher's z, but has {side.shape[1]}; use kcit or rcit.")
    data = np.hstack(sides)
    return _p_value(CIT(data, "fisherz")(0, 1, list(range(2, data.shape[1]))))


def _p_value(p: float) -> float:
    if not np.isfinite(p):
        raise ArithmeticError(f"causal-learn returned {p} as a p-value; look for columns that nearly repeat others.")
    return float(np.clip(p, SMALLEST_P, 1.0))


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seed NumPy's global generator, from which causal-learn draws, and leave it as it was."""
    before = np.random.get_state()  # noqa: NPY002
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002
