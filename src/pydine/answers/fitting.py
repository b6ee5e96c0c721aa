"""From a question to nats: flows, base distributions on their latents, and their average.

`fit` gets latents from `policy.mapped`, which gets units from the workshop; `bases.fit_bases` fits bases to the latents
and weights them; the result is an `InformationEstimate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np

from pydine.answers.bases import Part, fit_bases, is_sharp
from pydine.answers.policy import Mapped, Verdict, check_all_rows, determined_sides, mapped, reduced
from pydine.answers.reduction import fit_reduced, is_wide
from pydine.answers.settings import Settings
from pydine.bases.average import pooled
from pydine.bases.base import LogRatio
from pydine.bases.learning import (
    SENSITIVITY_ROWS,
    Learned,
    between,
    gaussian_sensitivity,
    relearned,
    sensitivity,
    weighted,
    with_hidden,
    with_unlearned,
)
from pydine.inputs.kinds import MOST_LEVELS, Kind, atoms_of
from pydine.inputs.table import Question, Table
from pydine.latents.directions import Directions
from pydine.latents.flows import Latents, RankFlow
from pydine.latents.plain import is_mixed, with_plain_given
from pydine.latents.ties import without_ties
from pydine.latents.workshop import Workshop
from pydine.results import InformationEstimate
from pydine.sampling import Rows
from pydine.types import FloatArray, RowArray
from pydine.units.rows import View, outwards, some_of
from pydine.work.execution import run
from pydine.work.plan import autoregressive, unique
from pydine.work.threads import one_thread

# Other kinds of column, the paper's flows and tuning are imported only where they are used.
if TYPE_CHECKING:
    from pydine.answers.mixed import MixedFit
    from pydine.latents.paper import PaperFlow
    from pydine.work.tuning import Trial


@dataclass(frozen=True)
class NewRows:
    """Pointwise information of new rows, from the bases' weights, maps, views of the latents, and log-ratios."""

    members: tuple[tuple[float, RankFlow | PaperFlow, View | None, LogRatio], ...]

    def __call__(self, x: FloatArray, y: FloatArray, z: FloatArray) -> FloatArray:
        """Rows (m, dx), (m, dy), (m, dz) to nats, shape (m,)."""
        total: FloatArray = np.zeros(len(x))
        for weight, flow, view, log_ratio in self.members:
            both, given = flow.rows(x, y, z)
            total += weight * log_ratio(both if view is None else view(both), given)
        return total


@dataclass(frozen=True)
class Fit:
    """Everything that was learned about a question.

    Parameters
    ----------
    question : Question
        Without redundant columns.
    flow : RankFlow or PaperFlow
        The autoregressive maps, as in the paper: the latents of a side are independent of each other.
    latents : Latents
        Latents of `flow`.
    parts : tuple of Part
        The bases that have weight, each fitted to the latents of `flow`, or of maps column by column.
    information : InformationEstimate
    trials : tuple of Trial
        The settings that tuning tried, the best first; empty if nothing was tuned.
    directions : tuple of Directions, optional
        Where a side has many columns: the directions of x and of y that all of the above are about.
    """

    question: Question
    flow: RankFlow | PaperFlow
    latents: Latents
    parts: tuple[Part, ...]
    information: InformationEstimate
    trials: tuple[Trial, ...] = ()
    directions: tuple[Directions, Directions] | None = None

    @property
    def tested(self) -> Latents:
        """What the test looks at: the latents."""
        return self.latents

    @property
    def heaviest(self) -> Part:
        """The base with the largest weight."""
        return max(self.parts, key=lambda part: part.weight)

    @property
    def plain_value(self) -> float:
        """The information without the correction for what flows have missed, in nats."""
        return float(sum(part.weight * part.base.value for part in self.parts))

    def of_new_rows(self) -> NewRows:
        """The function that gives new rows their pointwise information; it does not hold the fitted rows."""
        return NewRows(tuple((p.weight, p.flow, p.latents.view, p.base.log_ratio) for p in self.parts))

    def of_rows(self, rows: RowArray | slice) -> FloatArray:
        """Pointwise information of rows of the sample, by models that have seen them, in nats."""
        total: FloatArray = np.sum([part.weight * part.of_rows(rows) for part in self.parts], axis=0)
        return total

    def held_out(self) -> FloatArray | None:
        """Pointwise information of the rows, by models that have not seen them; None if not all were held out."""
        if any(len(part.base.held_out) < self.latents.n_rows for part in self.parts):
            return None  # flows learned from some of the rows, and the others were not held out
        total: FloatArray = np.sum([part.weight * part.base.held_out for part in self.parts], axis=0)
        return total


@one_thread()
def fit(
    question: Question, settings: Settings, workshop: Workshop | None = None, is_part: bool = False
) -> Fit | MixedFit | Verdict:
    """Fit the flows of a question, and base distributions to their latents.

    Parameters
    ----------
    question : Question
    settings : Settings
        Checked.
    workshop : Workshop, optional
        The workshop of the question's table, if there is one already: what it has made is not made again.
    is_part : bool
        Whether the question is a part of another one, and is not taken apart by columns itself.

    Returns
    -------
    Fit, a MixedFit if a column of x or y is not continuous, or a Verdict if the answer is known without one
    """
    settings = settings.seeded()
    if settings.algorithm != "paper":
        if not is_wide(question) and is_mixed(question):
            from pydine.answers.mixed import fit_mixed_question

            check_all_rows(question)
            part = partial(fit, settings=settings, is_part=True)
            return fit_mixed_question(question, settings, part, workshop, is_part)
        plain = with_plain_given(question)
        workshop, question = (workshop if plain is question else None), plain
        if is_wide(question):

            def ask(reduced: Question) -> Fit | Verdict:
                answer = fit(reduced, settings, is_part=is_part)
                if not isinstance(answer, Fit | Verdict):
                    raise TypeError("directions are continuous, and their answer is not of mixed kinds")
                return answer

            return fit_reduced(question, workshop or settings.workshop(question.table), ask)
    trials = _tune(question, settings) if settings.tune else []
    if trials:
        settings = settings.tuned(trials[0])
    if workshop is None or trials:
        workshop = settings.workshop(question.table)
    found = _mapped(question, settings, workshop)
    if isinstance(found, Verdict):
        return found
    workshop = workshop if found.question.table is workshop.table else workshop.on(found.question.table)
    parts, compared = fit_bases(found.question, settings, workshop, (found.flow, found.latents))
    heaviest = max(parts, key=lambda part: part.weight).base
    details: dict[str, object] = {"algorithm": settings.algorithm, "degrees_of_freedom": found.latents.dof}
    narrow = cast(float, compared.pop("narrowest", 0.0))
    details |= heaviest.details | compared
    if heaviest.by_neighbours:
        details["by_neighbours"] = heaviest.by_neighbours
    if settings.algorithm != "paper":
        names = [name for block in found.question.names[:2] for name in block]
        details["rungs"] = {name: u.rung_weights for name, u in zip(names, found.flow.units.values(), strict=True)}
    value, sampling = pooled(np.array([part.weight for part in parts]), [part.base for part in parts])
    learned = _learned(found, parts, value, settings)
    value, error, errors, parted = answered(learned, sampling)
    if is_sharp(value, narrow, found.latents):
        errors = errors[0], np.inf
    information = _information(question, value, error, heaviest.name, details | parted, errors)
    information = _of_sampling(information, heaviest.held_out, found.latents.rows)
    return Fit(found.question, found.flow, found.latents, parts, information, tuple(trials))


def _sensitivity(part: Part) -> tuple[FloatArray, FloatArray]:
    """How fast noise in each latent reduces a base's information, and what may be unlearned of it, shapes (d,)."""
    latents = part.latents.seen()
    rows = some_of(latents.outwards, SENSITIVITY_ROWS)
    squares = sensitivity(part.base.log_ratio, latents.both[:, rows], latents.z[:, rows])
    return squares, np.array(latents.unlearned)


def _correction(value: float, part: Part, unlearned: float) -> Learned:
    """What one base's information lacks: as a shape's, as far as plain bases do not see it, and as a plain base's."""
    dx, dy, _ = part.latents.dimensions
    d, shaped = min(dx, dy), part.base.shaped
    if part.base.name == "gaussian":
        return with_unlearned(value, unlearned, d, gaussian_sensitivity(part.base.value, d))
    squares, amounts = _sensitivity(part)
    plain = with_unlearned(value, unlearned, d, float(squares @ amounts) / (d * unlearned))
    return weighted([shaped, 1.0 - shaped], [with_hidden(value, squares, amounts, part.base.classes), plain])


def learned_of(latents: Latents, parts: Sequence[Part], value: float) -> Learned:
    """Information corrected for what flows have missed, by their optimism, which needs no further fits."""
    dx, dy, _ = latents.dimensions
    unlearned = between(latents.unlearned, dx)
    if unlearned > 0.0:
        learned = weighted([part.weight for part in parts], [_correction(value, part, unlearned) for part in parts])
    else:
        learned = with_unlearned(value, 0.0, min(dx, dy))
    optimism, edge = (
        sum(p.weight * figure for p, figure in zip(parts, figures, strict=True))
        for figures in ([part.base.optimism for part in parts], [part.base.edge for part in parts])
    )
    return learned.beside(optimism, edge)


def _learned(found: Mapped, parts: Sequence[Part], value: float, settings: Settings) -> Learned:
    """As `learned_of`, and calibrated with data that the flows generate if ``interval="calibrated"``."""
    if not settings.has("unlearned"):
        return Learned(*map(np.asarray, (value, 0.0, 1.0, 0.0, 0.0)))
    learned = learned_of(found.latents, parts, value)
    if settings.interval != "calibrated" or found.latents.dimensions[2] == 0 or not isinstance(found.flow, RankFlow):
        return learned
    from pydine.answers.relearning import replicates

    alone = replace(settings, interval="fast", cache=None, n_jobs=None, tune=False)

    def ask(question: Question) -> float:
        answer = fit(question, alone)
        return answer.plain_value if isinstance(answer, Fit) else 0.0

    again = run(ask, replicates(found.flow, found.latents), settings.n_jobs)
    return relearned(learned, value - np.array(again))


def answered(learned: Learned, sampling: float) -> tuple[float, float, tuple[float, float], dict[str, object]]:
    """The value, its standard error, the errors downwards and upwards, and details with their parts."""
    below, above, error = map(float, learned.errors(np.asarray(sampling)))
    uncertainty = {
        "sampling": float(learned.inflation * sampling),
        "learning": float(np.sqrt(0.5 * (learned.below**2 + learned.above**2))),
    }
    details: dict[str, object] = {"unlearned": float(learned.added), "uncertainty": uncertainty}
    return float(learned.value), error, (below, above), details


def _of_sampling(information: InformationEstimate, ratios: FloatArray, rows: Rows) -> InformationEstimate:
    """An estimate with the degrees of freedom of its error, by rows' log-ratios, where rows depend on each other."""
    if rows.exchangeable or len(ratios) != information.n_samples:
        return replace(information, sampling=rows.words) if rows.words else information
    effect, degrees = rows.effect(ratios)
    details = {**information.details, "effective_rows": len(ratios) / effect}
    return replace(information, degrees_of_freedom=degrees, sampling=rows.words, details=details)


def information_of(answer: Fit | MixedFit | Verdict, question: Question) -> InformationEstimate:
    """The answer to a question, in nats: the estimate, or the value of the verdict."""
    if isinstance(answer, Verdict):
        is_determined = answer is Verdict.NOTHING_LEFT
        sides = determined_sides(question) if is_determined else ()
        known: dict[str, object] = {"verdict": answer.name, "determined": sides}
        return _information(question, answer.value, 0.0 if is_determined else np.nan, "gaussian", known)
    if isinstance(answer, Fit):
        own = answer.information
        found = _information(question, own.value, own.standard_error, own.base, dict(own.details), own.errors)
        return replace(found, degrees_of_freedom=own.degrees_of_freedom, sampling=own.sampling)
    estimate = answer.estimate
    details: dict[str, object] = {"weights": estimate.weights}
    error = float(np.sqrt(np.mean(np.square(estimate.errors))))
    information = _information(question, estimate.value, error, answer.base, details, estimate.errors)
    return _of_sampling(information, estimate.held_out, question.table.rows)


def _information(
    question: Question,
    value: float,
    error: float,
    base: str,
    details: dict[str, object],
    errors: tuple[float, float] | None = None,
) -> InformationEstimate:
    table = question.table
    x, y, z = (tuple(map(str, kinds)) for kinds in question.kinds)
    return InformationEstimate(
        value,
        error,
        base,
        table.n_samples,
        question.dimensions,
        table.n_dropped,
        question.names,
        details,
        kinds=(x, y, z) if table.kinds else ((), (), ()),
        entropies=(entropy_of(table, question.x, question.y), entropy_of(table, question.y, question.x)),
        errors=errors,
    )


def entropy_of(table: Table, columns: Sequence[int], others: Sequence[int] = ()) -> float:
    """Joint entropy of discrete columns, in nats; infinite if one of them is continuous, or partly so.

    It is the plug-in entropy, or what the entropy may be if these columns, or others in the question, have many labels.
    """
    if not table.kinds or any(table.kind(i).is_continuous or len(atoms_of_column(table, i)) for i in columns):
        return np.inf
    from pydine.bases.kinds.tables import codes_of, entropy, most_entropy

    labels = [i for i in (*columns, *others) if table.kind(i) is Kind.NOMINAL]
    is_many = any(table.columns[i].max() >= MOST_LEVELS for i in labels)
    return (most_entropy if is_many else entropy)(codes_of(table.columns[list(columns)]))


def atoms_of_column(table: Table, i: int) -> FloatArray:
    """Point masses of an ordinal column that is otherwise continuous; empty for other columns."""
    return atoms_of(table.columns[i]) if table.kind(i) is Kind.ORDINAL else np.empty(0)


def _mapped(question: Question, settings: Settings, workshop: Workshop) -> Mapped | Verdict:
    if settings.algorithm != "paper":
        return mapped(question, workshop)
    plain = reduced(question, workshop)
    if isinstance(plain, Verdict):
        return plain
    from pydine.latents.paper import fit_paper_flow

    return Mapped(plain, *fit_paper_flow(plain, settings.paper(), settings.n_jobs))


def _tune(question: Question, settings: Settings) -> list[Trial]:
    """Try settings on the flows of x and y given z and, if the base may be a flow, on those of y given x too."""
    from pydine.work.tuning import Grid, tune

    dx, dy, dz = question.dimensions
    untied = without_ties(question)
    workshop = settings.workshop(untied.table)
    scores = workshop.scores([i for block in untied.blocks for i in workshop.in_order(block)])
    scores = np.ascontiguousarray(scores[:, some_of(outwards(scores), settings.max_rows)])
    x, y, z = range(dx), range(dx, dx + dy), range(dx + dy, dx + dy + dz)
    units, ladder = autoregressive(x, z) + autoregressive(y, z), settings.ladder()
    if settings.base in ("auto", "flow"):
        units += autoregressive(y, (*x, *z)) if dy <= dx else autoregressive(x, (*y, *z))
        ladder = replace(ladder, wide_networks=settings.n_networks)
    return tune(scores, unique(units), ladder, Grid(), settings.n_jobs)
