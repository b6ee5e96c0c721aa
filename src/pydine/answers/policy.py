"""Columns that z determines, and information that is infinite: one policy for all entry points.

If z determines x, nothing of x is left to be informative: the information is exactly 0 and the p-value is 1. If x and y
determine each other given z, and their values do not repeat, the information is infinite and the p-value is the
smallest positive number. From a side of several columns, those that z or its other columns determine are dropped. In a
table of many columns, a determined column affects only its own questions.

Steps and labels count as determined if a cut through one column of z, or the steps and labels of z, predict them
without error in all rows, and rows are enough to tell that from chance.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr
from scipy.special import gammaln

from pydine.answers.answer import Known, Verdict
from pydine.bases.closed_form import SMALLEST_VARIANCE, is_singular
from pydine.inputs.callers import level_of_caller
from pydine.inputs.checks import MOST_DIRECTIONS, check_rows, enumeration
from pydine.inputs.kinds import Kind
from pydine.inputs.table import Question
from pydine.latents.flows import Latents, RankFlow
from pydine.latents.plain import is_mixed, without_ties
from pydine.latents.workshop import Workshop
from pydine.types import FloatArray
from pydine.units.ladder import LadderSettings
from pydine.units.rows import combinations
from pydine.work.tasks import UnitTask

if TYPE_CHECKING:
    from pydine.latents.paper import PaperFlow
    from pydine.nulls.tables import CodeTable

CLEAR_VARIANCE = 1e-6  # guard: of combinations of latents: so far above the smallest that rounding does not matter
LEAST_ODDS = 1e6  # answer: odds against chance from which on values that cuts or cells of z separate are determined


class DeterminedWarning(UserWarning):
    """The columns that are conditioned on determine a column: nothing of it is left to be informative."""


class Mapped(NamedTuple):
    """A question without redundant columns, its maps, and its latents."""

    question: Question
    flow: RankFlow | PaperFlow
    latents: Latents


def mapped(question: Question, workshop: Workshop) -> Mapped:
    """Map the columns of a question to latents; `Known` is raised if its answer is known without them.

    The columns of each side, and those given, come in an order that depends only on their values.
    """
    plain = reduced(question, workshop)
    workshop = workshop if plain.table is workshop.table else workshop.on(plain.table)
    blocks = [workshop.in_order(block) for block in plain.blocks]
    plain = replace(plain, x=blocks[0], y=blocks[1], given=blocks[2])
    flow, latents = workshop.flow(plain)
    if not _is_clear(latents):
        dx = len(plain.x)
        x, y = (_independent(side) for side in (latents.both[:dx], latents.both[dx:]))
        if not (len(x) and len(y)):
            raise Known(Verdict.NOTHING_LEFT)
        if len(x) + len(y) < len(latents.both):
            left = replace(plain, x=tuple(plain.x[i] for i in x), y=tuple(plain.y[i] for i in y))
            return mapped(left, workshop)
    if is_singular(latents.cross_product):
        untied = _untied(plain)
        return mapped(untied, workshop.on(untied.table))
    return Mapped(plain, flow, latents)


def reduced(question: Question, workshop: Workshop) -> Question:
    """A question without duplicate columns and without columns that z determines; `Known` is raised if none are left.

    Columns are duplicates if each is a strictly monotone function of the other, and determined if they are linear in
    others.
    """
    check_all_rows(question)
    signatures = question.table.signatures
    given = first_of(question.given, signatures)
    sides = [first_of(side, signatures) for side in (question.x, question.y)]
    left = set(left_over([i for side in sides for i in side], given, workshop))
    x, y = (tuple(i for i in side if i in left) for side in sides)
    if not (x and y):
        raise Known(Verdict.NOTHING_LEFT)
    plain = replace(question, x=x, y=y, given=given)
    return plain if left_over(y, (*given, *x), workshop) == y else _untied(plain)


def units_of(question: Question, workshop: Workshop) -> list[UnitTask]:
    """The units that a question needs, unless some of its columns turn out to be redundant."""
    try:
        plain = reduced(question, workshop)
    except Known:
        return []
    return [] if plain.table is not workshop.table or is_mixed(plain) else workshop.tasks(plain)


def is_wide(question: Question) -> bool:
    """Whether a side has too many columns for flows of all of them, and both are of numbers, steps and yes/no."""
    if max(question.dimensions[:2]) <= MOST_DIRECTIONS:
        return False
    table = question.table
    labels = [table.columns[i] for i in (*question.x, *question.y) if table.kind(i) is Kind.NOMINAL]
    return all(len(np.unique(column)) <= 2 for column in labels)


def check_all_rows(question: Question) -> None:
    """Refuse fewer rows than columns where sides are not reduced to their leading directions."""
    columns = sum(question.dimensions)
    check_rows(["x", "y", "z"][: 3 if question.given else 2], question.table.n_samples, columns, columns)


def _untied(question: Question) -> Question:
    """A question whose sides determine each other, with jitter on tied values; it is infinite if there are none."""
    untied = without_ties(question)
    if untied is question:
        raise Known(Verdict.INFINITE)
    return untied


def first_of(columns: Sequence[int], signatures: Sequence[bytes]) -> tuple[int, ...]:
    """The first column of each signature."""
    first: dict[bytes, int] = {}
    for i in columns:
        first.setdefault(signatures[i], i)
    return tuple(first.values())


def left_over(columns: Sequence[int], given: Sequence[int], workshop: Workshop) -> tuple[int, ...]:
    """Columns that are neither a strictly monotone function of one given column nor a linear function of all of them.

    Linear in the columns' own units, or in their normal scores.
    """
    signatures = workshop.table.signatures
    known_signatures = {signatures[i] for i in given}
    columns = [i for i in columns if signatures[i] not in known_signatures]
    if not (columns and given):
        return tuple(columns)
    scores, own = workshop.scores(columns), workshop.table.columns[columns]
    left: NDArray[np.bool_] = _beyond(scores, workshop.scores(given)).var(axis=1) > SMALLEST_VARIANCE
    scale, standardised = _standardised(own)
    residuals = _beyond(standardised, _standardised(workshop.table.columns[list(given)])[1])
    # In a column with heavy tails nearly all of the variance comes from a few rows, beside which the residuals of the
    # others may look like rounding. So a column counts as determined only if its ranks are, too.
    for k in np.flatnonzero(left & (residuals.var(axis=1) <= SMALLEST_VARIANCE)):
        linear = workshop.map_of(columns[k])(own[k] - scale[k] * residuals[k])
        left[k] = (scores[k] - linear).var() > SMALLEST_VARIANCE
    return tuple(column for column, is_left in zip(columns, left, strict=True) if is_left)


def determined(question: Question, workshop: Workshop) -> frozenset[int]:
    """Positions in the table of those columns of both sides, of any kind, that the given columns determine."""
    sides, given, table = (*question.x, *question.y), question.given, question.table
    if not given:
        return frozenset()
    known = [i for i in given if not table.kind(i).is_continuous]
    cells = [combinations(table.columns[[i]]) for i in known]
    cells += [combinations(table.columns[known])] if len(known) > 1 else []
    left = set(left_over(sides, given, workshop))
    for i in [i for i in left if not table.kind(i).is_continuous]:
        codes = np.unique(table.columns[i], return_inverse=True)[1]
        if any(_is_constant_in(codes, cell) for cell in cells) or any(_is_cut(codes, table.columns[j]) for j in given):
            left.remove(i)
    return frozenset(sides) - left


def _is_constant_in(codes: NDArray[np.intp], cells: NDArray[np.intp]) -> bool:
    """Whether every cell has one code only, and this is unlikely by chance."""
    levels, count = int(codes.max()) + 1, int(cells.max()) + 1
    if len(np.unique(cells * levels + codes)) > count:
        return False
    counts = np.bincount(codes)
    arrangements = gammaln(len(codes) + 1.0) - gammaln(counts + 1.0).sum() - count * np.log(levels)
    return bool(arrangements > np.log(LEAST_ODDS))


def _is_cut(codes: NDArray[np.intp], column: FloatArray) -> bool:
    """Whether each code occupies one interval of a column (n,), and this is unlikely by chance."""
    order = np.lexsort((codes, column))
    changes = np.flatnonzero(np.diff(codes[order]))
    counts = np.bincount(codes)
    if len(changes) >= len(counts) or (column[order][changes] == column[order][changes + 1]).any():
        return False
    arrangements = gammaln(len(codes) + 1.0) - gammaln(counts + 1.0).sum() - gammaln(len(counts) + 1.0)
    return bool(arrangements > np.log(LEAST_ODDS))


def _beyond(columns: FloatArray, given: FloatArray) -> FloatArray:
    """Residuals of columns (d, n) after a linear regression on others (m, n), shape (d, n)."""
    basis = np.vstack([np.ones(given.shape[1]), given]).T
    residuals: FloatArray = (columns.T - basis @ np.linalg.lstsq(basis, columns.T, rcond=None)[0]).T
    return residuals


def _standardised(columns: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Deviations (d, 1) of columns (d, n), and the columns with a mean of 0 and a deviation of 1.

    Columns are divided by their largest value first, so that squares neither overflow nor vanish.
    """
    largest = np.abs(columns).max(axis=1, keepdims=True)
    scaled = columns / largest
    centred = scaled - scaled.mean(axis=1, keepdims=True)
    deviations = centred.std(axis=1, keepdims=True)
    return largest * deviations, centred / deviations


def _is_clear(latents: Latents) -> bool:
    """Whether the covariances of both sides show that no latent is a combination of others, without use of the rows.

    Where rows are many, evaluating the functions of z at all of them takes longer than most of an estimate.
    """
    dx, covariance = latents.dimensions[0], latents.cross_product / latents.dof
    sides = covariance[:dx, :dx], covariance[dx:, dx:]
    return all(np.linalg.eigvalsh(side)[0] > CLEAR_VARIANCE for side in sides)


def _independent(columns: FloatArray) -> list[int]:
    """Positions of columns (d, n) to keep so that none is 0 or a linear combination of others, in order."""
    if len(columns) == 1:
        return [0] if columns.var() > SMALLEST_VARIANCE else []
    factor, pivots = qr(columns.T, mode="r", pivoting=True)
    sizes = np.abs(np.diag(factor)) / np.sqrt(columns.shape[1])
    kept: list[int] = np.sort(pivots[: int((sizes**2 > SMALLEST_VARIANCE).sum())]).tolist()
    return kept


def table_of(question: Question, workshop: Workshop) -> CodeTable | None:
    """The table that answers a test of labels alone; None if there is none, or if z determines a side."""
    from pydine.nulls.tables import CodeTable

    table = CodeTable.of(question)
    return table if table is None or table.varies or not determined(question, workshop) else None


def determined_sides(question: Question) -> tuple[str, ...]:
    """The sides of a question, "x" or "y", that the given columns determine; none where only flows show it."""
    gone = determined(question, Workshop(question.table, LadderSettings()))
    return tuple(side for side, columns in (("x", question.x), ("y", question.y)) if gone.issuperset(columns))


def determined_side(question: Question) -> str:
    """The side of a question that the given columns determine, by its names."""
    names = {side: ", ".join(columns) for side, columns in zip("xy", question.names, strict=False)}
    both = " and ".join(names.values())
    sides = determined_sides(question)
    return f"{names[sides[0]]} (of {both})" if len(sides) == 1 else f"{'both sides' if sides else 'a side'} of {both}"


def warn_if_determined(verdict: Verdict | None, question: Question) -> None:
    """Warn if nothing is left of a side of a question."""
    if verdict is Verdict.NOTHING_LEFT:
        warn_determined([determined_side(question)])


def warn_determined(sides: Iterable[str]) -> None:
    """Warn, once for all of them, that nothing is left of these sides of questions."""
    names = list(dict.fromkeys(sides))
    if names:
        shown = [*names[:5], *([f"{len(names) - 5} more"] if len(names) > 5 else [])]
        warnings.warn(
            f"What is given determines {enumeration(shown)}, so the information is 0 and the p-value is 1.",
            DeterminedWarning,
            stacklevel=level_of_caller(),
        )
