"""From a question to nats: flows, base distributions on their latents, and their average.

`fit` gets latents from `policy.mapped`, which gets units from the workshop; `_fit_bases` fits bases to the latents and
weights them; the result is an `InformationEstimate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from pydine.answers.policy import Mapped, Verdict, check_all_rows, determined_sides, mapped, reduced
from pydine.answers.reduction import fit_reduced, is_wide
from pydine.answers.settings import Settings
from pydine.bases.average import of_all_rows, pooled, weights_of
from pydine.bases.base import FittedBase, LogRatio
from pydine.bases.flow import FlowBase
from pydine.bases.gaussian import GaussianBase
from pydine.bases.learning import (
    Learned,
    between,
    gaussian_sensitivity,
    relearned,
    sensitivity,
    weighted,
    with_hidden,
    with_unlearned,
)
from pydine.bases.mixture import MixtureBase
from pydine.bases.neighbours import completed
from pydine.bases.sharpening import sharpened
from pydine.bases.stack import Stack
from pydine.bases.student import StudentBase
from pydine.bases.waves import with_waves
from pydine.inputs.kinds import MOST_LEVELS, Kind, atoms_of
from pydine.inputs.table import Question, Table
from pydine.latents.directions import Directions
from pydine.latents.flows import Latents, RankFlow
from pydine.latents.plain import is_mixed, with_plain_given
from pydine.latents.raw import raw
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

FittedFlow: TypeAlias = "tuple[RankFlow | PaperFlow, Latents]"

SENSITIVITY_ROWS = 300  # answer: over which the mean square of a derivative is taken
RESOLVED = 1.0 / 3.0  # answer: power of the number of rows by which they show details of a density (Scott 1979)
SPARE_ROWS = 10  # answer: least degrees of freedom outside of a fold, beside one for each latent


class Part(NamedTuple):
    """One base of an average: its weight, the maps whose latents it was fitted to, and these latents."""

    weight: float
    flow: RankFlow | PaperFlow
    latents: Latents
    base: FittedBase

    def of_rows(self, rows: RowArray | slice) -> FloatArray:
        """Log-ratios of rows of the table, in nats."""
        both, view = self.latents.both[:, rows], self.latents.view
        return self.base.log_ratio(both if view is None else view(both), self.latents.z[:, rows])

    def of_all_rows(self, some: RowArray, folds: int) -> Part:
        """The part with the value of all rows, where its base learned from some of them."""
        return self._replace(base=of_all_rows(self.base, some, self.latents.seen(), folds))


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
                return answer if isinstance(answer, Fit) else Verdict.NOTHING_LEFT

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
    parts, compared = _fit_bases(found.question, settings, workshop, (found.flow, found.latents))
    heaviest = max(parts, key=lambda part: part.weight).base
    details: dict[str, object] = {"algorithm": settings.algorithm, "degrees_of_freedom": found.latents.dof}
    details |= heaviest.details | compared
    if heaviest.by_neighbours:
        details["by_neighbours"] = heaviest.by_neighbours
    if settings.algorithm != "paper":
        names = [name for block in found.question.names[:2] for name in block]
        details["rungs"] = {name: u.rung_weights for name, u in zip(names, found.flow.units.values(), strict=True)}
    value, sampling = pooled(np.array([part.weight for part in parts]), [part.base for part in parts])
    learned = _learned(found, parts, value, settings)
    value, error, errors, parted = answered(learned, sampling)
    if is_sharp(value, found.latents):
        errors = errors[0], np.inf
    information = _information(question, value, error, heaviest.name, details | parted, errors)
    information = _of_sampling(information, heaviest.held_out, found.latents.rows)
    return Fit(found.question, found.flow, found.latents, parts, information, tuple(trials))


def is_sharp(value: float, latents: Latents) -> bool:
    """Whether so much information, in nats, makes a relation narrower than n rows show of any shape.

    Given one side, a column of the other is then spread over less than n^(-1/3) of its range, the width of the cells by
    which n rows show a density (Scott 1979). What is narrower follows from the shape that a base assumes.
    """
    return bool(value > min(latents.dimensions[:2]) * RESOLVED * np.log(latents.n_rows))


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
        return information if rows.exchangeable else replace(information, sampling=rows.words)
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


def _fit_bases(
    question: Question, settings: Settings, workshop: Workshop, fitted: FittedFlow
) -> tuple[tuple[Part, ...], dict[str, object]]:
    """Fit the base that the settings name, or all bases, weighted by how well they predict held-out rows."""
    latents, folds = fitted[1], settings.n_folds
    corrected = settings.algorithm != "paper" and settings.has("bias")
    gaussian = GaussianBase(folds, corrected).fit(latents.seen())
    alone = (Part(1.0, *fitted, gaussian),)
    too_few = int(np.ceil((sum(question.dimensions[:2]) + SPARE_ROWS) * folds / (folds - 1) - latents.dof))
    if too_few > 0 and settings.base not in ("auto", "gaussian"):
        raise ValueError(
            f"base={settings.base!r} learns from a part of the rows and needs about {too_few} more than the "
            f"{question.table.n_samples} that x and y have; pass base='gaussian' or more rows."
        )
    if settings.base == "gaussian" or too_few > 0:
        return alone, {}
    by_column = _by_column(question, settings, workshop, fitted)
    some = some_of(latents.outwards, settings.max_rows) if question.table.n_samples > settings.max_rows else None
    if settings.base != "auto":
        named = Part(1.0, *_named(settings, by_column, some))
        return (named if some is None else named.of_all_rows(some, folds),), {}
    plain = gaussian if some is None else GaussianBase(folds).fit(latents.only(some).seen())
    # What another projection of z costs is no evidence of a shape, so others compete with the better of two Gaussians.
    same = plain if by_column[1] is latents else GaussianBase(folds).fit(_some(by_column[1], some).seen())
    plain = max(plain, same, key=lambda base: float(base.promise.sum()))
    stack, student, sharp = _shapes(by_column, some, settings, plain, same)
    seen = _some(sharp[1], some).seen()
    shapes = [(sharp, stack.as_base("mixture"))]
    if settings.has("flow"):
        shapes.append((sharp, _flow_base(settings).fit_beside(stack, seen)))
    rich = [*((by_column, base) for base in student), *shapes]
    several = sum(question.dimensions) > 2
    if question.dimensions[2] == 0 and (several or is_sharp(gaussian.value, latents)) and settings.has("raw"):
        lines = raw(question, latents)
        rich.insert(0, (lines, GaussianBase(folds, raw=True).fit(_some(lines[1], some).seen())))
    compared = [plain, *(base for _, base in rich)]
    weights = weights_of(compared, seen.rows)
    parts = (*alone, *(Part(0.0, *maps, base) for maps, base in rich))
    held_out = np.array([base.held_out for base in compared])
    details: dict[str, object] = {
        "weights": {base.name: float(weight) for base, weight in zip(compared, weights, strict=True)},
        "held_out": {base.name: float(held.mean()) for base, held in zip(compared, held_out, strict=True)},
        "gain_over_gaussian": float((weights @ held_out - held_out[0]).mean()),
    }
    first, *others = (part._replace(weight=weight) for part, weight in zip(parts, weights.tolist(), strict=True))
    others = [part for part in others if part.weight > 0.0]
    if settings.has("neighbours"):
        others = [p._replace(base=completed(p.base, seen)) for p in others]
    if some is not None:
        others = [part.of_all_rows(some, folds) for part in others]
    return (*([first] if first.weight > 0.0 else ()), *others), details


def _some(latents: Latents, some: RowArray | None) -> Latents:
    return latents if some is None else latents.only(some)


def _shapes(
    fitted: FittedFlow, some: RowArray | None, settings: Settings, plain: FittedBase, gaussian: FittedBase
) -> tuple[Stack, list[FittedBase], FittedFlow]:
    """Mixtures of sharpened latents, stacked; the Student base of the latents before, if any; and the sharpened maps.

    `plain` is the Gaussian base that mixtures compete with, and `gaussian` the one of the same latents.
    """
    stack, student = _mixtures(fitted, some, settings, gaussian)
    if not settings.has("sharpening"):
        return stack, student, fitted
    sharp = _sharpened(fitted, some, stack.as_base("mixture"), [plain, *student])
    return stack if sharp is fitted else _mixtures(sharp, some, settings)[0], student, sharp


def _mixtures(
    fitted: FittedFlow, some: RowArray | None, settings: Settings, gaussian: FittedBase | None = None
) -> tuple[Stack, list[FittedBase]]:
    """Mixtures of Gaussians of the latents, stacked with the plain bases, and the Student base among these, if any."""
    seen, folds = _some(fitted[1], some).seen(), settings.n_folds
    student = [StudentBase(folds).fit(seen)] if settings.has("student") else []
    plain = [gaussian or GaussianBase(folds).fit(seen), *student]
    if not settings.has("mixture"):
        return Stack.of(plain, [], seen, folds), student
    return with_waves(MixtureBase(folds, settings.has("classes")).stack(plain, seen), seen), student


def _sharpened(
    fitted: FittedFlow, some: RowArray | None, mixture: FittedBase, plain: Sequence[FittedBase]
) -> FittedFlow:
    """Maps that take out of the latents what mixtures show of z in them, as far as these count beside plain bases.

    Flows could show it as well, but take far longer to fit, and are fitted once, to what this gives. The same object is
    returned if there is nothing to learn.
    """
    (flow, latents), part = fitted, float(weights_of([*plain, mixture], _some(fitted[1], some).rows)[-1])
    if part == 0.0 or not isinstance(flow, RankFlow):
        return fitted
    sharp = sharpened(latents, mixture.log_ratio, some, part)
    if sharp is latents or sharp.projection is None:
        return fitted
    return replace(flow, projection=sharp.projection), sharp


def _flow_base(settings: Settings) -> FlowBase:
    ladder = replace(settings.ladder(), wide_networks=settings.n_networks)
    return FlowBase(ladder, settings.n_jobs, settings.cache)


def _named(
    settings: Settings, fitted: FittedFlow, some: RowArray | None
) -> tuple[RankFlow | PaperFlow, Latents, FittedBase]:
    """The base that the settings name, with its maps and their latents."""
    folds = settings.n_folds
    if settings.base == "student":
        return *fitted, StudentBase(folds).fit(_some(fitted[1], some).seen())
    gaussian = GaussianBase(folds).fit(_some(fitted[1], some).seen())
    stack, _, sharp = _shapes(fitted, some, settings, gaussian, gaussian)
    seen = _some(sharp[1], some).seen()
    base = stack.as_base("mixture") if settings.base == "mixture" else _flow_base(settings).fit_beside(stack, seen)
    return *sharp, completed(base, seen, float(weights_of([GaussianBase(folds).fit(seen), base], seen.rows)[1]))


def _by_column(question: Question, settings: Settings, workshop: Workshop, fitted: FittedFlow) -> FittedFlow:
    """Maps column by column, as bases other than the Gaussian need: they keep the dependence within a side.

    The projection is softened, so that it takes out only as much as the latents depend on z: noise that does not bias a
    covariance would blur a shape.
    """
    untied = without_ties(question)
    is_scalar = max(question.dimensions[:2]) == 1
    if settings.algorithm == "paper":
        from pydine.latents.paper import fit_paper_flow

        return fitted if untied is question else fit_paper_flow(untied, settings.paper(), settings.n_jobs)
    is_same = untied is question and is_scalar
    flow, latents = fitted if is_same else workshop.on(untied.table).flow(untied, by_column=True)
    if question.dimensions[2] == 0 or latents.projection is None or not isinstance(flow, RankFlow):
        return flow, latents
    if not settings.has("softening"):
        return flow, latents
    soft = latents.projection.softened(latents.n_rows)
    softened = replace(latents, projection=soft, cross_product=soft.cross_product, dof=soft.dof)
    return replace(flow, projection=soft), softened
