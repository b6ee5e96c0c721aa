"""The question "is X independent of Y given Z?": a test on the latents of the default's flows."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from pydine.bases.closed_form import SMALLEST_VARIANCE
from pydine.inputs.sample import read_sample
from pydine.latents.flows import Latents
from pydine.nulls.blocks import BLOCKS, LEAST_LEFT, Sides, simes
from pydine.questions.estimation import CacheLike, RandomState, Settings, estimate, is_integer
from pydine.results import IndependenceTestResult
from pydine.types import FloatArray
from pydine.units.cache import UnitCache

# What the blocks (see BLOCKS) count in a statistic. Half of "auto" is the paper's own: correlation is what is met most.
STATISTICS = {
    "auto": np.array([3.0, 1.0, 1.0, 1.0]) / 6.0,
    "gaussian": np.array([1.0, 0.0, 0.0, 0.0]),
    "general": np.array([0.0, 1.0, 1.0, 1.0]) / 3.0,
}
METHODS = ("permutation", "analytic")
FORMULAS = ("plus-one", "paper")
ROUNDING = 1e-9  # a permutation that comes as close as this to the statistic reaches it


def independence_test(
    x: Any,
    y: Any,
    z: Any = None,
    *,
    data: Any = None,
    statistic: str = "auto",
    method: str = "permutation",
    algorithm: str = "ladder",
    n_permutations: int = 999,
    alpha: float = 0.05,
    pvalue_formula: str = "plus-one",
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    nan_policy: str = "raise",
    cache: CacheLike = None,
) -> IndependenceTestResult:
    """Test whether X is independent of Y, or independent of Y given Z.

    Flows map X and Y, given Z, to latents, once (Duong and Nguyen, AAAI 2023, Algorithm 2); the test asks whether the
    latents depend on each other. What is assumed is that the flows, and the projection of functions of Z after them,
    leave nothing of Z that both sides share.

    Parameters
    ----------
    x, y, z : array-like of shape (n,) or (n, d), column, frame, or names of columns of `data`
        Observations of X, Y and, for the conditional test, Z.
    data : frame, optional
        Where named columns are found.
    statistic : {"auto", "gaussian", "general"}, default="auto"
        ``"gaussian"``: the information of the latents by the closed form (the paper's), which sees correlation.
        ``"general"``: squares of the latents against latents and squares, which sees dependence without correlation.
        ``"auto"``: all of them, with one honest p-value.
    method : {"permutation", "analytic"}, default="permutation"
        Compare with permutations of the latents of Y, or with Wilks' distribution: the latter is instant, reaches
        p-values far below 1 / n_permutations, and assumes that latents are close to normal.
    algorithm : {"ladder", "paper"}, default="ladder"
        The flows, as in `DINE`. With ``"paper"`` correlations are not studentised either: ``statistic="gaussian"``,
        ``pvalue_formula="paper"`` and this are the paper's Algorithm 2 to the letter.
    n_permutations : int, default=999
    alpha : float, default=0.05
        Level of the decision.
    pvalue_formula : {"plus-one", "paper"}, default="plus-one"
        (r + 1) / (B + 1) where r of B permutations reach the statistic, or the paper's r / B, which may be 0.
    random_state : int, numpy.random.RandomState, numpy.random.Generator or None, default=0
        The same integer gives the same p-value.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    nan_policy : {"raise", "omit"}, default="raise"
    cache : UnitCache or folder, optional
        Where fitted flows are looked for first, and kept. The result does not depend on it.

    Returns
    -------
    IndependenceTestResult
        ``pvalue``, ``rejected``, ``statistic``, ``estimate`` (nats), ``null_distribution``, ``block_pvalues``.

    Examples
    --------
    >>> import numpy as np
    >>> import pydine
    >>> rng = np.random.default_rng(0)
    >>> z = rng.standard_normal(500)
    >>> x, y = z + rng.standard_normal((2, 500))
    >>> pydine.independence_test(x, y).rejected
    True
    >>> pydine.independence_test(x, y, z).rejected
    False
    """
    _check(statistic, method, pvalue_formula, n_permutations, alpha)
    settings = Settings.of(
        algorithm, base="gaussian", random_state=random_state, n_jobs=n_jobs, cache=UnitCache.of(cache)
    ).seeded()
    fit = estimate(read_sample(x, y, z, data=data, nan_policy=nan_policy), settings)
    sides = _sides(fit.latents, studentised=algorithm != "paper")
    blocks = sides.statistics()
    pvalues = sides.pvalues(blocks)
    value, null = _summary(statistic, blocks, pvalues), None
    if method == "analytic":
        pvalue = float(_combined(statistic, pvalues))
    else:
        permuted = sides.permuted_statistics(n_permutations)
        null = _summary(statistic, permuted, sides.pvalues(permuted))
        reached = int(np.count_nonzero(null >= value * (1.0 - ROUNDING)))
        pvalue = reached / n_permutations if pvalue_formula == "paper" else (reached + 1) / (n_permutations + 1)
    return IndependenceTestResult(
        float(value),
        pvalue,
        fit.information,
        float(alpha),
        statistic,
        method,
        null,
        dict(zip(BLOCKS, pvalues.tolist(), strict=True)),
    )


def analytic_pvalue(latents: Latents, statistic: str = "auto") -> tuple[float, FloatArray]:
    """The analytic test on latents: its p-value, and those of the blocks, shape (4,)."""
    sides = _sides(latents, studentised=True)
    pvalues = sides.pvalues(sides.statistics())
    return float(_combined(statistic, pvalues)), pvalues


def _sides(latents: Latents, *, studentised: bool) -> Sides:
    """Latents and their squares, with the same functions of z projected out of all."""
    columns = latents.both / latents.both.std(axis=1, keepdims=True)
    squares, dx, rows = squares_of(columns, latents), latents.dimensions[0], latents.outwards
    columns, squares = columns[:, rows], squares[:, rows]
    x, y = (columns[:dx], squares[:dx]), (columns[dx:], squares[dx:])
    return Sides.of(x, y, latents.dof, latents.leverages[rows] if studentised else None)


def squares_of(columns: FloatArray, latents: Latents) -> FloatArray:
    """Squares of columns (d, n) of unit variance, with the functions of z that latents are free of projected out.

    A projection leaves less of a row the more it takes up, so residuals are first divided by what is left of them:
    otherwise the squares of both sides would follow that. The squares of two values that are as frequent as each other
    are constant: the column stands in their place.
    """
    left = np.maximum(1.0 - latents.leverages, LEAST_LEFT)
    squares = latents.without_z(columns * columns / left)
    varies = squares.var(axis=1, keepdims=True) > SMALLEST_VARIANCE
    chosen: FloatArray = np.where(varies, squares, columns)
    return chosen


def _summary(statistic: str, blocks: np.ndarray, pvalues: np.ndarray) -> Any:
    """The number that is compared: nats for one block, -ln of the combined p-value for several."""
    return blocks[..., 0] if statistic == "gaussian" else -np.log(_combined(statistic, pvalues))


def _combined(statistic: str, pvalues: np.ndarray) -> Any:
    weights = STATISTICS[statistic]
    return simes(pvalues[..., weights > 0.0], weights[weights > 0.0])


def _check(statistic: str, method: str, formula: str, n_permutations: int, alpha: float) -> None:
    for name, value, choices in (
        ("statistic", statistic, tuple(STATISTICS)),
        ("method", method, METHODS),
        ("pvalue_formula", formula, FORMULAS),
    ):
        if value not in choices:
            raise ValueError(f"{name} must be {' or '.join(map(repr, choices))}, but got {value!r}.")
    if not is_integer(n_permutations) or n_permutations < 1:
        raise ValueError(f"n_permutations must be an integer of at least 1, but got {n_permutations!r}.")
    level: Any = alpha
    if not isinstance(level, Real) or not 0.0 < float(level) < 1.0:
        raise ValueError(f"alpha must be a number strictly between 0 and 1, but got {alpha!r}.")
