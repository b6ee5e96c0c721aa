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

from pydine.answers.answer import Answer, Known, Settled, information_about, of_sampling
from pydine.answers.bases import Part, fit_bases, is_sharp
from pydine.answers.policy import Mapped, check_all_rows, is_wide, mapped, reduced
from pydine.answers.settings import Settings
from pydine.bases.base import LogRatio, pooled
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
from pydine.inputs.table import Question
from pydine.latents.flows import Latents, RankFlow
from pydine.latents.plain import is_mixed, with_plain_given, without_ties
from pydine.latents.workshop import Workshop
from pydine.results import InformationEstimate
from pydine.types import FloatArray, RowArray
from pydine.units.rows import View, outwards, some_of
from pydine.work.execution import run
from pydine.work.tasks import autoregressive, unique
from pydine.work.threads import one_thread

# Other kinds of column, the paper's flows and tuning are imported only where they are used.
if TYPE_CHECKING:
    from pydine.answers.mixed import MixedFit
    from pydine.bases.kinds.densities import MixedEstimate
    from pydine.latents.directions import Directions
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
class Fit(Answer):
    """Everything that was learned about a question on continuous columns.

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
    def shown(self) -> Latents:
        """The latents of the base with the largest weight."""
        return max(self.parts, key=lambda part: part.weight).latents

    @property
    def plain_value(self) -> float:
        """The information without the correction for what flows have missed, in nats."""
        return float(sum(part.weight * part.base.value for part in self.parts))

    def information_of(self, question: Question) -> InformationEstimate:
        """The estimate, about the columns that were asked about."""
        own = self.information
        found = information_about(question, own.value, own.standard_error, own.base, dict(own.details), own.errors)
        return replace(found, degrees_of_freedom=own.degrees_of_freedom, sampling=own.sampling)

    def as_part(self, seen: FloatArray, held_out: FloatArray) -> MixedEstimate:
        """The estimate as a part of one about columns of any kind, with log-ratios of its rows."""
        from pydine.bases.kinds.densities import MixedEstimate

        own = self.information
        below, above = own.errors or (own.standard_error, own.standard_error)
        hidden = float(np.sqrt(max(above**2 - below**2, 0.0)))
        return MixedEstimate(own.value, below, seen, held_out, {}, None, hidden)

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
def fit(question: Question, settings: Settings, workshop: Workshop | None = None) -> Answer:
    """Fit the flows of a question, and base distributions to their latents.

    Parameters
    ----------
    question : Question
    settings : Settings
        Checked.
    workshop : Workshop, optional
        The workshop of the question's table, if there is one already: what it has made is not made again.

    Returns
    -------
    Fit, a MixedFit if a column of x or y is not continuous, or Settled if the answer is known without one
    """
    try:
        return _fit(question, settings.seeded(), workshop)
    except Known as known:
        return Settled(question, known.verdict)


def _fit(
    question: Question, settings: Settings, workshop: Workshop | None = None, is_part: bool = False
) -> Fit | MixedFit:
    """As `fit`, but `Known` is raised; a part of another question is not taken apart by columns itself."""
    if settings.algorithm == "paper":
        return _fit_flows(question, settings, workshop)
    if not is_wide(question) and is_mixed(question):
        from pydine.answers.mixed import fit_mixed_question

        check_all_rows(question)
        part = partial(_fit, settings=settings, is_part=True)
        return fit_mixed_question(question, settings, part, workshop, is_part)
    plain = with_plain_given(question)
    workshop = workshop if plain is question else None
    if is_wide(plain):
        from pydine.answers.reduction import fit_reduced

        ask = partial(_fit_flows, settings=settings, workshop=None)
        return fit_reduced(plain, workshop or settings.workshop(plain.table), ask)
    return _fit_flows(plain, settings, workshop)


def _fit_flows(question: Question, settings: Settings, workshop: Workshop | None) -> Fit:
    """Fit a question about continuous columns, given numbers."""
    trials = _tune(question, settings) if settings.tune else []
    if trials:
        settings = settings.tuned(trials[0])
    if workshop is None or trials:
        workshop = settings.workshop(question.table)
    found = _mapped(question, settings, workshop)
    workshop = workshop if found.question.table is workshop.table else workshop.on(found.question.table)
    parts, compared = fit_bases(found.question, settings, workshop, (found.flow, found.latents))
    most = max(parts, key=lambda part: part.weight)
    heaviest = most.base
    details: dict[str, object] = {"algorithm": settings.algorithm, "degrees_of_freedom": found.latents.dof}
    narrow = cast(float, compared.pop("narrowest", 0.0))
    details |= heaviest.details | compared | _cap(question, settings)
    if heaviest.by_neighbours:
        details["by_neighbours"] = heaviest.by_neighbours
    if settings.algorithm != "paper":
        names = [name for block in found.question.names[:2] for name in block]
        details["rungs"] = {name: u.rung_weights for name, u in zip(names, found.flow.units.values(), strict=True)}
    value, sampling = pooled(np.array([part.weight for part in parts]), [part.base for part in parts])
    learned = _learned(found, parts, value, settings)
    value, error, errors, parted = with_errors(learned, sampling)
    if is_sharp(value, narrow, found.latents):
        errors = errors[0], np.inf
    information = information_about(question, value, error, heaviest.name, details | parted, errors)
    rows = found.latents.rows
    # Held-out ratios are of other models fold by fold, and vary less slowly than those that the error is of.
    ratios = heaviest.held_out if rows.exchangeable else most.of_rows(slice(None))
    information = of_sampling(information, ratios, rows)
    return Fit(found.question, found.flow, found.latents, parts, information, tuple(trials))


def _cap(question: Question, settings: Settings) -> dict[str, object]:
    """How many rows models learned from, where the cap on time binds."""
    is_capped = settings.algorithm != "paper" and question.table.n_samples > settings.max_rows
    return {"learned_rows": settings.max_rows} if is_capped else {}


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
    mean = float(squares @ amounts) / (d * unlearned) if unlearned > 0.0 else 0.0
    hidden = with_hidden(value, squares, amounts, part.base.classes, len(part.base.held_out))
    return weighted([shaped, 1.0 - shaped], [hidden, with_unlearned(value, unlearned, d, mean)])


def learned_of(latents: Latents, parts: Sequence[Part], value: float) -> Learned:
    """Information corrected for what flows have missed, by their optimism, which needs no further fits."""
    dx, dy, dz = latents.dimensions
    unlearned = between(latents.unlearned, dx)
    if dz > 0 and latents.unlearned:
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

    @one_thread()
    def ask(question: Question) -> float:
        try:
            return _fit_flows(question, alone, None).plain_value
        except Known:
            return 0.0

    again = run(ask, replicates(found.flow, found.latents), settings.n_jobs)
    return relearned(learned, value - np.array(again))


def with_errors(learned: Learned, sampling: float) -> tuple[float, float, tuple[float, float], dict[str, object]]:
    """The value, its standard error, the errors downwards and upwards, and details with their parts."""
    below, above, error = map(float, learned.errors(np.asarray(sampling)))
    uncertainty = {
        "sampling": float(learned.inflation * sampling),
        "learning": float(np.sqrt(0.5 * (learned.below**2 + learned.above**2))),
    }
    details: dict[str, object] = {"unlearned": float(learned.added), "uncertainty": uncertainty}
    return float(learned.value), error, (below, above), details


def _mapped(question: Question, settings: Settings, workshop: Workshop) -> Mapped:
    if settings.algorithm != "paper":
        return mapped(question, workshop)
    plain = reduced(question, workshop)
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
