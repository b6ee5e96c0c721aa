"""Sides of many columns: their leading directions by the usual way, and what is left of them in closed form.

A side of many columns is reduced to the directions that stand out of it (`latents.directions`). What they tell is
estimated as of any question, with flows and shapes. What the other directions add is measured by the closed form of all
columns, less that of the leading ones, each without its bias, and by the squared correlations of all columns, which are
known far better where columns are as many as rows. It counts as far as it stands out of its own noise; so many weak
dependences are found where rows tell them from chance, and nothing is added where they do not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import exp1, log_ndtr, ndtr

from pydine.answers.answer import Known, Verdict
from pydine.answers.policy import CLEAR_VARIANCE, first_of
from pydine.bases.closed_form import (
    SMALLEST_VARIANCE,
    canonical_squares,
    corrected_information,
    is_singular,
    spikes,
    wishart_error,
)
from pydine.inputs.checks import MOST_DIRECTIONS
from pydine.inputs.table import Question, Table
from pydine.latents.directions import Directions, principal, standing_out
from pydine.latents.plain import without_ties
from pydine.latents.workshop import Workshop
from pydine.types import FloatArray

if TYPE_CHECKING:
    from pydine.answers.fitting import Fit
    from pydine.latents.flows import Latents

# answer: of the degrees of freedom, the share that the directions of both sides may take in the closed form. Its error
# grows without bound with it, and at 0.8 independent scores of ranks stood out of it.
LARGEST_SHARE = 0.5
# answer: nats that independent sides get of the rest, on the average, at most: so many standard errors have to be clear
# from which on it counts, then more and more (James and Stein 1961, with these in place of 1).
OF_CHANCE = 0.005


@dataclass(frozen=True)
class Reduction:
    """A question about the leading directions of its sides.

    Parameters
    ----------
    question : Question
        About the directions, given the same columns.
    x, y : Directions
    scores : tuple of ndarray, shapes (mx, n) and (my, n)
        Coordinates of the rows along all principal directions of each side, or as many as the rows allow.
    columns : tuple of ndarray, shapes (dx, n) and (dy, n)
        Normal scores of the columns of each side that differ.
    """

    question: Question
    x: Directions
    y: Directions
    scores: tuple[FloatArray, FloatArray]
    columns: tuple[FloatArray, FloatArray]

    @property
    def sides(self) -> tuple[Directions, Directions]:
        """The directions of both sides."""
        return self.x, self.y


class Remainder(NamedTuple):
    """What is not in the leading directions, in nats: the part that counts, with errors downwards and upwards.

    `linear` is the closed form of all directions, and its standard error if the sides were independent.
    """

    value: float
    below: float
    above: float
    linear: tuple[float, float]

    @property
    def log_pvalue(self) -> float:
        """Logarithm of the p-value of the closed form, by its normal approximation."""
        return float(log_ndtr(-self.linear[0] / self.linear[1]))


def reduction_of(question: Question, workshop: Workshop) -> Reduction:
    """Find the leading directions of both sides of a question about continuous columns."""
    signatures, table = question.table.signatures, question.table
    if {signatures[i] for i in question.x} & {signatures[i] for i in question.y} - {
        signatures[i] for i in question.given
    }:
        untied = without_ties(question)
        if untied is question:
            raise Known(Verdict.INFINITE)
        return reduction_of(untied, workshop.on(untied.table))
    z, n = workshop.scores(question.given), table.n_samples
    basis = np.linalg.qr(np.vstack([np.ones(n), z]).T)[0]
    dof, found, every, columns = n - basis.shape[1], [], [], []
    for side in (question.x, question.y):
        scores = workshop.scores(side)
        left = scores - (scores @ basis) @ basis.T
        deviations = left.std(axis=1)
        kept = [i for i in first_of(side, signatures) if deviations[side.index(i)] > CLEAR_VARIANCE]
        if not kept:
            raise Known(Verdict.NOTHING_LEFT)
        places = [side.index(i) for i in kept]
        left = left[places] / deviations[places, None]
        copies = _copies(side, kept, signatures)
        first = standing_out(left, dof, copies) if len(kept) > MOST_DIRECTIONS else np.eye(len(kept))
        loadings = np.zeros((len(first), len(side)))
        loadings[:, places] = first / deviations[places]
        found.append(Directions(tuple(workshop.map_of(i) for i in side), loadings))
        rest = principal(left, int(0.5 * LARGEST_SHARE * dof))[0]
        every.append((rest / deviations[places]) @ scores[places])
        columns.append(scores[places])
    leading = [side.loadings @ workshop.scores(block) for side, block in zip(found, question.blocks[:2], strict=True)]
    names = [[f"{name} {i + 1}" for i in range(len(part))] for name, part in zip("xy", leading, strict=True)]
    given = table.columns[list(question.given)]
    together = np.ascontiguousarray(np.vstack([*leading, given]))
    order, (dx, dy) = range(len(together)), map(len, leading)
    reduced = Table(
        together, (*names[0], *names[1], *(table.names[i] for i in question.given)), table.kept, rows=table.rows
    )
    about = Question(reduced, tuple(order[:dx]), tuple(order[dx : dx + dy]), tuple(order[dx + dy :]))
    return Reduction(about, found[0], found[1], (every[0], every[1]), (columns[0], columns[1]))


def _copies(side: Sequence[int], kept: Sequence[int], signatures: Sequence[bytes]) -> FloatArray:
    """How many copies each column has on its side, beside what is usual there, shape (kept,)."""
    counts = Counter(signatures[i] for i in side)
    copies = np.array([counts[signatures[i]] for i in kept], dtype=np.float64)
    relative: FloatArray = copies / np.median(copies)
    return relative


def remainder_of(reduction: Reduction, latents: Latents) -> Remainder | None:
    """What other directions add to the leading ones, with the functions of z that the latents lack; None if infinite.

    Few canonical correlations that stand out of their bulk are known far better than the closed form of all (Bao, Hu,
    Pan and Zhou 2019). What is beyond them, of dependence that is spread thinly, counts as far as it stands out of its
    noise. It is the mean of two figures by their squared errors: the closed form, and `Squares`.
    """
    most, table = int(0.5 * LARGEST_SHARE * latents.dof), reduction.question.table
    sides = [latents.without_z(scores[:most]) for scores in reduction.scores]
    leading = [latents.without_z(table.columns[list(block)]) for block in reduction.question.blocks[:2]]
    whole = ClosedForm.of(sides[0], sides[1], latents.dof)
    if whole is None:
        return None
    part = ClosedForm.of(leading[0], leading[1], latents.dof) or whole
    x, y = (latents.without_z(columns) for columns in reduction.columns)
    squares = Squares.of(x, y, leading[0], leading[1], latents.dof)
    # With fewer directions than rows allow, the others are combinations of columns.
    left_out = [len(a) / most if len(b) == most else 1.0 for a, b in zip((x, y), sides, strict=True)]
    thin, spread, doubt = squares.beside(whole, left_out[0] * left_out[1])
    clear = thin / spread
    weight = max(0.0, 1.0 - (_threshold(spread) / clear) ** 2) if clear > 0.0 else 0.0
    # What is spread thinly is not negative: upwards its error is that of a normal distribution that is cut off at 0.
    hazard = float(np.exp(-0.5 * clear * clear) / np.sqrt(2.0 * np.pi) / max(ndtr(clear), 1e-300))
    missed, within = (1.0 - weight) * max(thin, 0.0), spread**2 + doubt**2
    cut = float(np.sqrt(within * max(1.0 - hazard * (clear + hazard), 0.0)))
    value = max(whole.spiked + weight * thin - part.value, 0.0)
    beyond = float(np.sqrt(max(whole.spiked_error**2 - part.error**2, 0.0)))
    below, above = np.hypot(weight * np.sqrt(within), beyond), np.hypot(np.hypot(cut, missed), beyond)
    chance = wishart_error(len(sides[0]), len(sides[1]), latents.dof)
    return Remainder(value, float(below), float(above), squares.against_chance(whole.value, chance))


class ClosedForm(NamedTuple):
    """The closed form of two blocks of columns without its bias, in nats, and its standard error.

    `spiked` is the information of the canonical correlations that stand out of their bulk alone, with its error,
    `spiked_squares` the sum of their squares, and `thin_error` the standard error of all others, if they are chance.
    """

    value: float
    error: float
    spiked: float
    spiked_error: float
    thin_error: float
    spiked_squares: float

    @classmethod
    def of(cls, x: FloatArray, y: FloatArray, dof: float) -> ClosedForm | None:
        """Of columns (dx, n) and (dy, n); None if it is infinite."""
        dx, dy, both = len(x), len(y), np.vstack([x, y])
        covariance = both @ both.T / dof
        if is_singular(covariance):
            return None
        value, whole_error = corrected_information(covariance, dx, dof)
        squares = spikes(canonical_squares(covariance, dx), dx, dy, dof)
        spiked = float(-0.5 * np.log(np.maximum(1.0 - squares, SMALLEST_VARIANCE)).sum())
        lost = (1.0 - dx / dof) * (1.0 - dy / dof)
        error = float(np.sqrt(squares.sum() / (dof * lost)))
        k = len(squares)
        thin = wishart_error(dx - k, dy - k, dof - k)
        return cls(value, whole_error, spiked, error, thin, float(squares.sum()))


def _threshold(error: float) -> float:
    """Standard errors from which on a figure of this error counts, if chance is to get `OF_CHANCE` nats of it."""
    places = np.linspace(1.0, 4.0, 61)
    # The mean of (a - c^2 / a) where a standard normal variable a is beyond c.
    kept = np.exp(-0.5 * places**2) - 0.5 * places**2 * exp1(0.5 * places**2)
    return float(np.interp(-OF_CHANCE / error, -kept / np.sqrt(2.0 * np.pi), places))


class Squares(NamedTuple):
    """Half the sum of all squared correlations between two blocks of columns, less chance, in nats.

    Columns are the leading directions, made orthonormal, and what these leave of each column, of unit variance. Where
    dependence is spread thinly and nothing stands out of the columns any more, so that they are close to uncorrelated,
    it is the information. No covariance has to be inverted for it, which costs nothing where columns are few and
    everything where they are as many as rows. As far as columns of a side are correlated (`excess`, the mean square of
    their covariance's eigenvalues less 1), squares of correlations may count the same thing more than once, or less.

    Parameters
    ----------
    value : float
    error : float
        Standard error of independent sides.
    excess : float
        Of both sides.
    dof : float
    """

    value: float
    error: float
    excess: float
    dof: float

    @classmethod
    def of(cls, x: FloatArray, y: FloatArray, first_x: FloatArray, first_y: FloatArray, dof: float) -> Squares:
        """Of columns (dx, n) and (dy, n), and their leading directions (kx, n) and (ky, n)."""
        sides = [_orthonormal_first(columns, first) for columns, first in ((x, first_x), (y, first_y))]
        correlations = sides[0] @ sides[1].T
        value = 0.5 * (float((correlations * correlations).sum()) - correlations.size / dof)
        sizes = []
        for side in sides:
            products = side @ side.T if len(side) <= side.shape[1] else side.T @ side
            sizes.append(float((products * products).sum()) - len(side) ** 2 / dof)
        excess = sum(max(size / len(side) - 1.0, 0.0) for size, side in zip(sizes, sides, strict=True))
        return cls(value, float(np.sqrt(0.5 * sizes[0] * sizes[1])) / dof, excess, dof)

    def beside(self, whole: ClosedForm, left_out: float) -> tuple[float, float, float]:
        """What is spread thinly: its mean with the closed form's, the error if it is chance, and the error beyond that.

        The closed form is of as many directions as rows allow: all have `left_out` times as much.
        """
        other, chance = left_out * (whole.value - whole.spiked), max(left_out * whole.thin_error, SMALLEST_VARIANCE)
        own = self.value - 0.5 * whole.spiked_squares
        share = chance**2 / (self.error**2 + self.excess * own**2 + chance**2)
        within = max(whole.error**2 - whole.spiked_error**2 - whole.thin_error**2, 0.0)
        doubt = share * (1.0 - share) * (own - other) ** 2 + share**2 * (
            self.excess * own**2 + max(own, 0.0) / self.dof
        )
        value, spread = share * own + (1.0 - share) * other, share * self.error + (1.0 - share) * chance
        return value, spread, float(np.sqrt(doubt + ((1.0 - share) * left_out) ** 2 * within))

    def against_chance(self, value: float, error: float) -> tuple[float, float]:
        """The mean with the closed form of all, of this error if sides are independent, and the error of the mean.

        Weights follow from each side alone: they are those of a value that would just stand out.
        """
        share = error**2 / (self.error**2 * (1.0 + _threshold(self.error) ** 2 * self.excess) + error**2)
        return share * self.value + (1.0 - share) * value, share * self.error + (1.0 - share) * error


def _orthonormal_first(columns: FloatArray, first: FloatArray) -> FloatArray:
    """Rows of length 1: directions (k, n) made orthonormal, then what they leave of columns (d, n), if anything."""
    leading = np.linalg.qr(first.T)[0].T
    left = columns - (columns @ leading.T) @ leading
    lengths = np.sqrt(np.einsum("ij,ij->i", left, left))
    some = lengths > CLEAR_VARIANCE * np.sqrt(np.einsum("ij,ij->i", columns, columns))
    found: FloatArray = np.vstack([leading, left[some] / lengths[some, None]])
    return found


def fit_reduced(question: Question, workshop: Workshop, ask: Callable[[Question], Fit]) -> Fit:
    """Answer a question about sides of many columns; `ask` answers one about fewer."""
    reduction = reduction_of(question, workshop)
    found = ask(reduction.question)
    # What is known of chance in many canonical correlations holds for independent rows.
    is_known = question.table.rows.exchangeable
    rest = Remainder(0.0, 0.0, 0.0, (0.0, 1.0)) if not is_known else remainder_of(reduction, found.latents)
    if rest is None:
        raise Known(Verdict.INFINITE)
    told = found.information
    below, above = told.errors or (told.standard_error, told.standard_error)
    below, above = float(np.hypot(below, rest.below)), float(np.hypot(above, rest.above))
    details = {
        **told.details,
        "directions": tuple(len(side.loadings) for side in reduction.sides),
        "in_directions": told.value,
        "in_the_rest": rest.value,
    }
    if is_known:
        details["linear_log_pvalue"] = rest.log_pvalue
    information = replace(
        told,
        value=told.value + rest.value,
        standard_error=float(np.hypot(told.standard_error, np.sqrt(0.5 * (rest.below**2 + rest.above**2)))),
        errors=(below, above),
        details=details,
    )
    first = len(reduction.x.loadings)  # flows may see them in another order, and without some of them
    seen = reduction.x.only(found.question.x), reduction.y.only([i - first for i in found.question.y])
    return replace(found, information=information, directions=seen)
