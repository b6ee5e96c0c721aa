"""Answers from all rows of a table that is larger than memory.

The first pass draws a uniform sample of rows, which a question is answered from as any other: ranks, flows, functions
of z, bases and their weights. Ranks from m rows err by no more than sqrt(ln(200) / 2m) with probability 0.99
(Dvoretzky, Kiefer and Wolfowitz; Massart 1990): 0.0016 for a million, which moves a correlation by about its square.
The second pass maps every row by the same flows, and adds up what the closed form, its projection and the tests consist
of: cross-products, which have the size of the question and not of the table. What richer bases say stays the sample's,
and so does what is said of sides that are not continuous, and given labels: of these a warning tells.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from pydine.answers.fitting import Fit, answered, learned_of
from pydine.answers.mixed import MixedFit
from pydine.answers.policy import Verdict
from pydine.bases.average import moved, pooled
from pydine.bases.closed_form import (
    gaussian_information,
    gaussian_standard_error,
    rank_effect,
    wishart_bias,
)
from pydine.bases.gaussian import GaussianBase
from pydine.inputs.callers import level_of_caller
from pydine.inputs.checks import check_nan_policy
from pydine.inputs.streams import Sample, Stream, stream_of
from pydine.latents.flows import Latents, RankFlow
from pydine.nulls.blocks import ROOT_OF_SQUARES, closed_form, mean_of_squares, wilks_pvalue
from pydine.results.estimates import InformationEstimate
from pydine.types import FloatArray

__all__ = ["SampledWarning", "Sums", "is_refinable", "of_sample", "refined", "sample_of", "warn_sampled"]


class SampledWarning(UserWarning):
    """A figure rests on a sample of a table's rows, not on all of them."""


def sample_of(data: Any, wanted: Iterable[Any] | None, nan_policy: str) -> Sample | None:
    """A sample of the columns that are named, or of all; None if the data are in memory."""
    check_nan_policy(nan_policy)
    stream = stream_of(data)
    if stream is None:
        return None
    names = stream.names if wanted is None else _named(stream, wanted)
    return Sample.draw(stream, names, omit=nan_policy == "omit")


def _named(stream: Stream, wanted: Iterable[Any]) -> tuple[str, ...]:
    """The columns that arguments name, each once; what is no name is left to whoever reads the arguments."""
    names: dict[str, None] = {}
    for argument in wanted:
        several = [argument] if isinstance(argument, str) or argument is None else list(argument)
        names.update(dict.fromkeys(name for name in several if name in stream.names))
    if not names:
        raise ValueError(f"x and y must name columns of data, which has {', '.join(stream.names[:10])}.")
    return tuple(names)


class Sums(NamedTuple):
    """What all rows add up to.

    Parameters
    ----------
    n : int
        Rows.
    cross_product : ndarray, shape (2d, 2d)
        Of the latents and of their squares, with functions of z projected out.
    fourth : ndarray, shape (2d, 2d)
        Summed products of their squares, each variable's whitened.
    third : ndarray, shape (2d, 2d)
        Summed products of what is whitened and of its squares.
    squared : ndarray of bool, shape (d,)
        Whether a latent's square is one, and not the latent in its place.
    dof : float
    variables : tuple of slice
        Which latents are which variable's.
    """

    n: int
    cross_product: FloatArray
    fourth: FloatArray
    third: FloatArray
    squared: NDArray[np.bool_]
    dof: float
    variables: tuple[slice, ...]

    @classmethod
    def of(cls, flow: RankFlow, latents: Latents, variables: Sequence[slice], batches: Iterable[FloatArray]) -> Sums:
        """Go through all rows (m, d + dz), whose columns are in the order of the flow's.

        `latents` are those of the sample that the flow was fitted on.
        """
        maps, n = _Maps.of(flow, latents, variables), 0
        size: FloatArray | float = 0.0
        target: FloatArray | float = 0.0
        total: FloatArray | float = 0.0
        fourth: FloatArray | float = 0.0
        third: FloatArray | float = 0.0
        for batch in batches:
            n += len(batch)
            for functions, columns, whitened in maps.of_rows(batch):
                size, target = size + functions.T @ functions, target + functions.T @ columns.T
                squares = whitened * whitened
                total, fourth = total + columns @ columns.T, fourth + squares @ squares.T
                third = third + whitened @ squares.T
        projection = flow.projection
        factor = np.linalg.cholesky(np.asarray(size))
        white = solve_triangular(factor, np.asarray(target), lower=True)
        taken = projection.shares * (2.0 - projection.shares)
        cross = np.asarray(total) - (white.T * taken) @ white
        dof, powers = n - float(taken.sum()), (np.asarray(fourth), np.asarray(third))
        return cls(n, 0.5 * (cross + cross.T), *powers, maps.is_square[:, 0], dof, tuple(variables))

    @property
    def d(self) -> int:
        """How many latents there are."""
        return len(self.cross_product) // 2

    def blocks(self, x: slice, y: slice) -> FloatArray:
        """The four block statistics of two variables in nats, in the order of `nulls.blocks.BLOCKS`, shape (4,)."""
        found = []
        both = bool(self.squared[x].all() and self.squared[y].all())
        for second in (y, self._squares(y)):
            for first in (x, self._squares(x)):
                spread = self.fourth[first, second].mean() * self.n / self.dof**2
                correlations = self._correlations(first, second)
                if both and first != x and second != y:
                    moments = [self.third[side, side].mean(axis=1) / self.n for side in (second, first)]
                    shift = mean_of_squares(np.multiply.outer(*moments), self.n, self.dof)
                    correlations = correlations / spread**ROOT_OF_SQUARES + shift
                else:
                    correlations = correlations / np.sqrt(spread)
                found.append(float(closed_form(correlations[None])[0]))
        return np.array(found)

    def pvalues(self, blocks: FloatArray, x: slice, y: slice) -> FloatArray:
        """P-values of block statistics, shape (4,)."""
        return wilks_pvalue(blocks, x.stop - x.start, y.stop - y.start, self.dof)

    def information(self, x: slice, y: slice) -> tuple[float, float]:
        """The corrected closed form of two variables, in nats, and its standard error."""
        chosen = [*range(x.start, x.stop), *range(y.start, y.stop)]
        dx, dy = x.stop - x.start, y.stop - y.start
        covariance = self.cross_product[np.ix_(chosen, chosen)] / self.dof
        ranks = rank_effect(covariance, dx, self.dof, self.n)
        value = gaussian_information(covariance, dx) - wishart_bias(dx, dy, self.dof) - ranks.bias
        return value, gaussian_standard_error(covariance, dx, self.dof) * ranks.inflation

    def _squares(self, variable: slice) -> slice:
        return slice(variable.start + self.d, variable.stop + self.d)

    def _correlations(self, x: slice, y: slice) -> FloatArray:
        cross = self.cross_product / self.dof
        left = solve_triangular(np.linalg.cholesky(cross[x, x]), cross[x, y], lower=True)
        both: FloatArray = solve_triangular(np.linalg.cholesky(cross[y, y]), left.T, lower=True)
        return both


@dataclass(frozen=True)
class _Maps:
    """From rows to functions of z, latents and their squares, by what was learned from the sample.

    Beyond the sample functions of z may go anywhere: z is taken to be within its range there, and so is what is left of
    latents before it is squared. That concerns one row in as many as the sample has, about.
    """

    flow: RankFlow
    lowest: FloatArray
    highest: FloatArray
    largest: FloatArray
    scale: FloatArray
    whitening: FloatArray
    coefficients: FloatArray
    is_square: NDArray[np.bool_]

    @classmethod
    def of(cls, flow: RankFlow, latents: Latents, variables: Sequence[slice]) -> _Maps:
        both = latents.both
        scale = both.std(axis=1, keepdims=True)
        two_valued = latents.two_valued or (False,) * len(both)
        is_square = ~np.array(two_valued)[:, None]
        unit = both / scale
        squares = np.where(is_square, unit**2, unit)
        coefficients, left = _projected(flow, latents.z, squares)
        whitening: FloatArray = np.zeros((2 * len(both), 2 * len(both)))
        for part, start in ((both, 0), (left, len(both))):
            for variable in variables:
                covariance = part[variable] @ part[variable].T / latents.dof
                place = slice(variable.start + start, variable.stop + start)
                whitening[place, place] = np.linalg.inv(np.linalg.cholesky(covariance))
        lowest, highest = latents.z.min(axis=1, keepdims=True), latents.z.max(axis=1, keepdims=True)
        largest = np.abs(unit).max(axis=1, keepdims=True)
        return cls(flow, lowest, highest, largest, scale, whitening, coefficients, is_square)

    def of_rows(self, rows: FloatArray) -> Iterable[tuple[FloatArray, FloatArray, FloatArray]]:
        """Functions of z (m, r), latents and squares (2d, m), and what is left of them, whitened (2d, m)."""
        dx, dy, _ = self.flow.dimensions
        unprojected, z = self.flow.unprojected(rows[:, :dx], rows[:, dx : dx + dy], rows[:, dx + dy :])
        for block, functions in self.flow.projection.blocks(np.clip(z, self.lowest, self.highest)):
            latents = unprojected[:, block]
            left = latents - (functions @ self.flow.projection.coefficients).T
            unit = np.clip(left / self.scale, -self.largest, self.largest)
            squares = np.where(self.is_square, unit * unit, unit)
            squares_left = squares - (functions @ self.coefficients).T
            whitened = self.whitening @ np.vstack([unit * self.scale, squares_left])
            yield functions, np.vstack([latents, squares]), whitened


def _projected(flow: RankFlow, z: FloatArray, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Coefficients (r, d) of the functions of z in columns (d, n) of the sample, and what is left of the columns."""
    projection = flow.projection
    products = np.zeros((len(projection.chosen), len(columns)))
    for rows, functions in projection.blocks(z):
        products += functions.T @ columns[:, rows].T
    white = solve_triangular(projection.factor, products, lower=True) * projection.shares[:, None]
    coefficients: FloatArray = solve_triangular(projection.factor, white, lower=True, trans=1)
    return coefficients, projection.residuals(columns, projection.blocks(z), coefficients)


def is_refinable(answer: Fit | MixedFit | Verdict, sample: Sample) -> bool:
    """Whether all rows can be mapped by what was learned from the sample, and there are more than those."""
    if sample.is_whole or not isinstance(answer, Fit):
        return False
    names = answer.question.table.names  # of indicators of labels, which stand for one column, they are not different
    return len(set(names)) == len(names) and not any(sample.is_label(name) for name in names)


def of_sample(
    information: InformationEstimate, answer: Fit | MixedFit | Verdict, sample: Sample
) -> InformationEstimate:
    """What is known of a question whose answer rests on the sample: with a warning, if that is not all rows."""
    information = replace(information, n_dropped=sample.n_dropped)
    if sample.is_whole or isinstance(answer, Verdict):
        return information
    warn_sampled("the answer rests", sample)
    return replace(information, details={**information.details, "sample_rows": information.n_samples})


def warn_sampled(what: str, sample: Sample) -> None:
    """Say that something rests on a sample of the rows."""
    warnings.warn(
        f"{what} on a sample of {sample.size:,} of {sample.n_rows:,} rows, uniform over the table: sums over all rows "
        "are for columns of numbers that are continuous, given numbers.",
        SampledWarning,
        stacklevel=level_of_caller(),
    )


def refined(answer: Fit, sample: Sample) -> tuple[Fit, Sums]:
    """An answer from a sample, with the closed form of all rows in place of the sample's."""
    if not isinstance(answer.flow, RankFlow):
        raise ValueError("data that are streamed need algorithm='ladder'; the paper's flows are fitted to all rows.")
    dx, dy, _ = answer.question.dimensions
    columns = answer.question.table.names
    order = [columns[i] for block in answer.question.blocks for i in block]
    places = [sample.names.index(name) for name in order]
    variables = [slice(0, dx), slice(dx, dx + dy)]
    sums = Sums.of(answer.flow, answer.latents, variables, (rows[:, places] for rows in sample.all_rows()))
    value, error = sums.information(*variables)
    sampled = GaussianBase().fit(answer.latents)
    gaussian = replace(sampled, value=value, standard_error=error)
    bases = [
        replace(part.base, value=value, standard_error=error)
        if part.base.name == "gaussian"
        else moved(part.base, sampled, gaussian)
        for part in answer.parts
    ]
    parts = tuple(part._replace(base=base) for part, base in zip(answer.parts, bases, strict=True))
    mean, sampling = pooled(np.array([part.weight for part in parts]), bases)
    learned = learned_of(answer.latents, parts, mean)
    value, error, errors, parted = answered(answer.latents, learned, sampling)
    details = {**answer.information.details, **parted, "degrees_of_freedom": sums.dof}
    information = replace(
        answer.information,
        value=value,
        standard_error=error,
        errors=errors,
        n_samples=sums.n,
        n_dropped=sample.n_dropped,
        details={**details, "sample_rows": answer.question.table.n_samples},
    )
    return replace(answer, parts=parts, information=information), sums
