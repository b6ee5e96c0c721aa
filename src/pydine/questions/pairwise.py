"""The question "how much does every column tell about every other, given Z?": p units, then matrix products."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pydine.bases.closed_form import pair_information
from pydine.bases.gaussian import GaussianBase
from pydine.inputs.columns import frame_library
from pydine.inputs.variables import REST, Variables, read_variables
from pydine.latents.flows import Latents, fit_flow_of
from pydine.nulls.blocks import adjusted, pairwise_block_pvalues, simes
from pydine.nulls.screening import not_gaussian
from pydine.questions.estimation import CacheLike, RandomState, Settings, estimate
from pydine.questions.independence import STATISTICS, analytic_pvalue, squares_of
from pydine.results import PairwiseInformation
from pydine.show.progress import progress_bar
from pydine.types import FloatArray
from pydine.units.cache import UnitCache
from pydine.units.execution import run
from pydine.units.plan import autoregressive, unique

Pair = tuple[int, int]
Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]  # positions of their first and of their second variables

ADJUSTMENTS = ("bh", "holm")
ALMOST_ONE = 1.0 - 1e-12  # a correlation of more than this is one


def pairwise_information(
    data: Any,
    given: Any = None,
    *,
    groups: Mapping[str, Sequence[Any]] | None = None,
    base: str = "auto",
    test: bool = True,
    adjust: str = "bh",
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    nan_policy: str = "raise",
    cache: CacheLike = None,
    progress: bool | None = None,
) -> PairwiseInformation:
    """Estimate the information between every two variables of a table, alone or given others.

    Every column is mapped by a flow of its own, given the columns to condition on: p flows for p (p - 1) / 2 pairs,
    whose Gaussian information is then one matrix product. Pairs that do not look Gaussian (see `screening`) are fitted
    with richer bases, one by one.

    Parameters
    ----------
    data : frame, mapping of columns, or array of shape (n, p)
        One row for each observation: pandas, polars, pyarrow, NumPy.
    given : column name or list of names, or "rest", optional
        Columns of `data` to condition every pair on, or ``"rest"``: each pair given all other columns, which is the
        conditional-independence graph and needs p (p - 1) flows. A column named "rest" is asked for as ``["rest"]``.
    groups : mapping of str to list of column names, optional
        Columns that are one variable together, by its name. Other columns are variables by themselves.
    base : {"auto", "gaussian", "student", "flow"}, default="auto"
        As in `mutual_information`. ``"gaussian"`` fits no pair by itself, ``"student"`` and ``"flow"`` fit every one.
    test : bool, default=True
        Whether to test each pair for independence, by the analytic test of `independence_test`.
    adjust : {"bh", "holm"}, default="bh"
        How p-values are adjusted for the number of pairs: Benjamini-Hochberg or Holm.
    random_state : int, numpy.random.RandomState, numpy.random.Generator or None, default=0
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    nan_policy : {"raise", "omit"}, default="raise"
        What happens to rows that hold NaN or infinity in any column: refused, or left out.
    cache : UnitCache or folder, optional
        Where fitted flows are looked for first, and kept: work that was interrupted goes on where it was.
    progress : bool or None, default=None
        Whether to show a progress bar; None: on a terminal.

    Returns
    -------
    PairwiseInformation
        ``values``, ``pvalues``, ... as matrices; ``to_frame()``, ``to_matrix()``, ``plot()``, ``graph(alpha)``.

    Examples
    --------
    >>> import numpy as np
    >>> import pydine
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.standard_normal((2, 500))
    >>> found = pydine.pairwise_information({"a": a, "b": b, "sum": a + b})
    >>> found.names
    ('a', 'b', 'sum')
    >>> bool(found.values[0, 2] > 0.2), bool(found.adjusted_pvalues[0, 1] > 0.05)
    (True, True)
    """
    if adjust not in ADJUSTMENTS:
        raise ValueError(f"adjust must be {' or '.join(map(repr, ADJUSTMENTS))}, but got {adjust!r}.")
    settings = Settings(base=base, random_state=random_state, n_jobs=n_jobs, cache=UnitCache.of(cache)).seeded()
    variables = read_variables(data, given, groups, nan_policy)
    is_rest = isinstance(given, str) and given == REST
    # Fits of single pairs find the units of the whole in the cache, so there always is one.
    question = _Question(variables, replace(settings, cache=settings.cache or UnitCache()), is_rest, test, progress)
    table = question.one_by_one() if is_rest else question.together()
    names = tuple(variables.members)

    def matrix(entries: NDArray[Any], diagonal: Any = np.nan) -> Any:
        return _matrix(table.pairs, len(names), entries, diagonal)

    return PairwiseInformation(
        names=names,
        values=matrix(table.values),
        standard_errors=matrix(table.errors),
        pvalues=matrix(table.pvalues),
        adjusted_pvalues=matrix(adjusted(table.pvalues, adjust) if test else table.pvalues),
        bases=matrix(table.bases, ""),
        given=REST if is_rest else variables.given_names,
        n_samples=variables.n_samples,
        n_dropped=variables.n_dropped,
        n_units=question.n_units,
        n_general=table.n_general,
        adjustment=adjust,
        backend=frame_library(data),
    )


@dataclass
class _Pairs:
    """What is known of pairs, one entry each; filled in as it is found."""

    pairs: Pairs
    values: FloatArray
    errors: FloatArray
    pvalues: FloatArray
    bases: NDArray[np.str_]
    n_general: int = 0

    def pair(self, k: int) -> Pair:
        """Positions of the two variables of the k-th pair."""
        return int(self.pairs[0][k]), int(self.pairs[1][k])


@dataclass(frozen=True)
class _Question:
    """A table, how it is to be estimated, and whether each pair is given all other variables."""

    variables: Variables
    settings: Settings
    is_rest: bool
    test: bool
    progress: bool | None

    @cached_property
    def names(self) -> list[str]:
        """The variables, in their order."""
        return list(self.variables.members)

    @property
    def n_units(self) -> int:
        """Flows of single columns that are needed, whatever their number found in the cache."""
        sizes = self.variables.sizes
        return (len(sizes) - 1) * sum(sizes) if self.is_rest else sum(sizes)

    def together(self) -> _Pairs:
        """All pairs from one set of latents, then those that are not Gaussian one by one."""
        latents = self._latents()
        columns = _of_unit_variance(latents)
        table = self._scalar_pairs(latents, columns)
        is_group = np.array(self.variables.sizes) > 1
        base = GaussianBase(self.settings.n_folds)
        for k in np.flatnonzero(is_group[table.pairs[0]] | is_group[table.pairs[1]]).tolist():
            x, y = (list(self.variables.members[self.names[i]]) for i in table.pair(k))
            part = latents.of_columns(x, y)
            fitted = base.fit(part)
            table.values[k], table.errors[k] = fitted.value, fitted.standard_error
            table.pvalues[k] = analytic_pvalue(part)[0] if self.test else np.nan
        self._refine(table, self._doubtful(table, columns, latents.dof))
        return table

    def _latents(self) -> Latents:
        """Latents of all columns given what is given; those of one variable are independent of each other."""
        variables, settings = self.variables, self.settings
        c, dz = variables.columns.shape[1], variables.given.shape[1]
        given = range(c, c + dz)
        units = unique(u for columns in variables.members.values() for u in autoregressive(columns, given))
        blocks = variables.columns, np.empty((variables.n_samples, 0)), variables.given
        most = sum(sorted(variables.sizes)[-2:])
        with progress_bar(f"fitting {len(units):,} units", len(units) if dz else 0, self.progress) as step:
            return fit_flow_of(blocks, units, most, settings.ladder(), settings.n_jobs, settings.cache, step)[1]

    def _scalar_pairs(self, latents: Latents, columns: FloatArray) -> _Pairs:
        """Every pair of variables by their first columns: by matrix products, and all there is for single columns."""
        leading = [members[0] for members in self.variables.members.values()]
        p, n, dof = len(leading), self.variables.n_samples, latents.dof
        columns = columns[leading]
        pair = np.triu_indices(p, 1)
        correlations = (columns @ columns.T / dof)[pair]
        correlations[np.abs(correlations) > ALMOST_ONE] = 1.0
        values, errors = pair_information(correlations, dof, n)
        errors[np.isinf(values)] = np.nan
        pvalues = np.full(len(values), np.nan)
        if self.test:
            unit = columns / columns.std(axis=1, keepdims=True)
            blocks = pairwise_block_pvalues(unit, squares_of(unit, latents), dof, latents.leverages)
            pvalues = simes(blocks, STATISTICS["auto"])
        bases = np.full(len(values), "gaussian", dtype="U8")
        return _Pairs(pair, values, errors, pvalues, bases)

    def _doubtful(self, table: _Pairs, columns: FloatArray, dof: float) -> list[int]:
        """Which pairs need more than a Gaussian base: all, none, or those that the screen finds.

        A pair of groups is fitted if any two of its columns are not Gaussian.
        """
        if self.settings.base != "auto":
            return [] if self.settings.base == "gaussian" else list(range(len(table.values)))
        found = not_gaussian(columns, np.clip(columns @ columns.T / dof, -1.0, 1.0), dof)
        starts = [members[0] for members in self.variables.members.values()]  # members lie side by side
        by_variable = np.logical_or.reduceat(np.logical_or.reduceat(found, starts, axis=0), starts, axis=1)
        doubtful: list[int] = np.flatnonzero(by_variable[table.pairs] & np.isfinite(table.values)).tolist()
        return doubtful

    def one_by_one(self) -> _Pairs:
        """Every pair given all other variables: its own latents, and what is not Gaussian by richer bases."""
        pairs = list(combinations(range(len(self.names)), 2))
        plain = replace(self.settings, base="gaussian", n_jobs=None)

        def fit(pair: Pair) -> tuple[float, float, float, bool]:
            fitted = estimate(self.variables.pair(self.names[pair[0]], self.names[pair[1]], rest=True), plain)
            latents, information = fitted.latents, fitted.information
            columns = _of_unit_variance(latents)
            correlations = np.clip(columns @ columns.T / latents.dof, -1.0, 1.0)
            found = not_gaussian(columns, correlations, latents.dof, len(pairs))
            dx = latents.dimensions[0]
            pvalue = analytic_pvalue(latents)[0] if self.test else np.nan
            return information.value, information.standard_error, pvalue, bool(found[:dx, dx:].any())

        description = f"fitting {self.n_units:,} units for {len(pairs):,} pairs"
        with progress_bar(description, len(pairs), self.progress) as step:
            values, errors, pvalues, doubtful = zip(*run(fit, pairs, self.settings.n_jobs, step), strict=True)
        bases = np.full(len(pairs), "gaussian", dtype="U8")
        table = _Pairs(
            np.triu_indices(len(self.names), 1), np.array(values), np.array(errors), np.array(pvalues), bases
        )
        chosen = {"auto": doubtful, "gaussian": ()}.get(self.settings.base, (True,) * len(pairs))
        self._refine(table, [k for k, is_chosen in enumerate(chosen) if is_chosen])
        return table

    def _refine(self, table: _Pairs, chosen: list[int]) -> None:
        """Fit the base that was asked for to pairs, one by one; their units are in the cache."""
        settings = replace(self.settings, n_jobs=None)

        def fit(k: int) -> tuple[float, float, str]:
            x, y = (self.names[i] for i in table.pair(k))
            information = estimate(self.variables.pair(x, y, self.is_rest), settings).information
            return information.value, information.standard_error, information.base

        description = f"fitting {len(chosen):,} pairs that are not Gaussian"
        with progress_bar(description, len(chosen), self.progress) as step:
            for k, found in zip(chosen, run(fit, chosen, self.settings.n_jobs, step), strict=True):
                table.values[k], table.errors[k], table.bases[k] = found
        table.n_general = len(chosen)


def _of_unit_variance(latents: Latents) -> FloatArray:
    """The latents, scaled so that their products over the degrees of freedom are correlations, same shape."""
    scaled: FloatArray = latents.both / np.sqrt((latents.both**2).sum(axis=1, keepdims=True) / latents.dof)
    return scaled


def _matrix(pairs: Pairs, p: int, entries: NDArray[Any], diagonal: Any) -> Any:
    """A symmetric matrix of the entries of pairs."""
    matrix = np.full((p, p), diagonal, dtype=entries.dtype)
    first, second = pairs
    matrix[first, second] = matrix[second, first] = entries
    return matrix
