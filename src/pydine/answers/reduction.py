"""Sides of many columns: their leading directions by the usual way, and what is left of them in closed form.

A side of many columns is reduced to the directions that stand out of it (`latents.directions`). What they tell is
estimated as of any question, with flows and shapes. What the other directions add is measured by the closed form of all
columns, less that of the leading ones, each without its bias. It counts as far as it stands out of its own noise; so
many weak dependences are found where rows tell them from chance, and nothing is added where they do not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtr

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
from pydine.bases.kinds.tables import CHANCE
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
    """

    question: Question
    x: Directions
    y: Directions
    scores: tuple[FloatArray, FloatArray]

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
    dof, found, every = n - basis.shape[1], [], []
    for side in (question.x, question.y):
        scores = workshop.scores(side)
        left = scores - (scores @ basis) @ basis.T
        deviations = left.std(axis=1)
        kept = [i for i in first_of(side, signatures) if deviations[side.index(i)] > CLEAR_VARIANCE]
        if not kept:
            raise Known(Verdict.NOTHING_LEFT)
        places = [side.index(i) for i in kept]
        left = left[places] / deviations[places, None]
        first = standing_out(left, dof) if len(kept) > MOST_DIRECTIONS else np.eye(len(kept))
        loadings = np.zeros((len(first), len(side)))
        loadings[:, places] = first / deviations[places]
        found.append(Directions(tuple(workshop.map_of(i) for i in side), loadings))
        rest = principal(left, int(0.5 * LARGEST_SHARE * dof))[0]
        every.append((rest / deviations[places]) @ scores[places])
    leading = [side.loadings @ workshop.scores(block) for side, block in zip(found, question.blocks[:2], strict=True)]
    names = [[f"{name} {i + 1}" for i in range(len(part))] for name, part in zip("xy", leading, strict=True)]
    given = table.columns[list(question.given)]
    columns = np.ascontiguousarray(np.vstack([*leading, given]))
    order, (dx, dy) = range(len(columns)), map(len, leading)
    reduced = Table(
        columns, (*names[0], *names[1], *(table.names[i] for i in question.given)), table.kept, rows=table.rows
    )
    about = Question(reduced, tuple(order[:dx]), tuple(order[dx : dx + dy]), tuple(order[dx + dy :]))
    return Reduction(about, found[0], found[1], (every[0], every[1]))


def remainder_of(reduction: Reduction, latents: Latents) -> Remainder | None:
    """What other directions add to the leading ones, with the functions of z that the latents lack; None if infinite.

    Few canonical correlations that stand out of their bulk are known far better than the closed form of all (Bao, Hu,
    Pan and Zhou 2019). What the closed form has beyond them, of dependence that is spread thinly, counts as far as it
    stands out of its noise.
    """
    most, table = int(0.5 * LARGEST_SHARE * latents.dof), reduction.question.table
    sides = [latents.without_z(scores[:most]) for scores in reduction.scores]
    leading = [latents.without_z(table.columns[list(block)]) for block in reduction.question.blocks[:2]]
    whole = ClosedForm.of(sides[0], sides[1], latents.dof)
    if whole is None:
        return None
    part = ClosedForm.of(leading[0], leading[1], latents.dof) or whole
    thin, spread = whole.value - whole.spiked, max(whole.thin_error, SMALLEST_VARIANCE)
    clear = thin / spread
    weight = max(0.0, 1.0 - (CHANCE / clear) ** 2) if clear > 0.0 else 0.0
    # What is spread thinly is not negative: upwards its error is that of a normal distribution that is cut off at 0.
    hazard = float(np.exp(-0.5 * clear * clear) / np.sqrt(2.0 * np.pi) / max(ndtr(clear), 1e-300))
    missed, within = (1.0 - weight) * max(thin, 0.0), max(whole.error**2 - whole.spiked_error**2, spread**2)
    cut = float(np.sqrt(within * max(1.0 - hazard * (clear + hazard), 0.0)))
    value = max(whole.spiked + weight * thin - part.value, 0.0)
    beyond = float(np.sqrt(max(whole.spiked_error**2 - part.error**2, 0.0)))
    below, above = np.hypot(weight * np.sqrt(within), beyond), np.hypot(np.hypot(cut, missed), beyond)
    chance = wishart_error(len(sides[0]), len(sides[1]), latents.dof)
    return Remainder(value, float(below), float(above), (whole.value, chance))


class ClosedForm(NamedTuple):
    """The closed form of two blocks of columns without its bias, in nats, and its standard error.

    `spiked` is the information of the canonical correlations that stand out of their bulk alone, with its error, and
    `thin_error` the standard error of all others, if they are chance.
    """

    value: float
    error: float
    spiked: float
    spiked_error: float
    thin_error: float

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
        return cls(value, whole_error, spiked, error, thin)


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
