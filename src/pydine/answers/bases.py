"""Bases on the latents of a question: which of them are fitted, to which maps, and how far each of them counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from pydine.answers.settings import Settings
from pydine.bases.base import FittedBase, of_all_rows, weights_of
from pydine.bases.closed_form import SMALLEST_VARIANCE, canonical_squares, spikes
from pydine.bases.flow import FlowBase
from pydine.bases.gaussian import GaussianBase
from pydine.bases.lines import Line, RawBase
from pydine.bases.mixture import MixtureBase
from pydine.bases.neighbours import completed
from pydine.bases.sharpening import sharpened
from pydine.bases.stack import Stack
from pydine.bases.student import StudentBase
from pydine.inputs.table import Question
from pydine.latents.flows import Latents, RankFlow
from pydine.latents.plain import without_ties
from pydine.latents.raw import raw
from pydine.latents.workshop import SPARE_DOF, Workshop
from pydine.types import FloatArray, RowArray
from pydine.units.rows import some_of

if TYPE_CHECKING:  # the paper's flows are imported only where they are used
    from pydine.latents.paper import PaperFlow

FittedFlow: TypeAlias = "tuple[RankFlow | PaperFlow, Latents]"

RESOLVED = 1.0 / 3.0  # convention: power of the number of rows by which they show details of a density (Scott 1979)


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


def fit_bases(
    question: Question, settings: Settings, workshop: Workshop, fitted: FittedFlow
) -> tuple[tuple[Part, ...], dict[str, object]]:
    """Fit the base that the settings name, or all bases, weighted by how well they predict held-out rows."""
    latents, folds = fitted[1], settings.n_folds
    corrected = settings.algorithm != "paper" and settings.has("bias")
    gaussian = GaussianBase(folds, corrected).fit(latents.seen())
    alone = (Part(1.0, *fitted, gaussian),)
    too_few = int(np.ceil((sum(question.dimensions[:2]) + SPARE_DOF) * folds / (folds - 1) - latents.dof))
    if too_few > 0 and settings.base not in ("auto", "gaussian"):
        raise ValueError(
            f"base={settings.base!r} learns from a part of the rows and needs about {too_few} more than the "
            f"{question.table.n_samples} rows of x and y; pass base='gaussian' or more rows."
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
    plain = max(plain, same, key=lambda base: float(base.adjusted_held_out.sum()))
    stack, student, sharp = _shapes(by_column, some, settings, plain, same)
    seen = _some(sharp[1], some).seen()
    shapes = [(sharp, stack.as_base("mixture"))]
    if settings.has("flow"):
        shapes.append((sharp, _flow_base(settings).fit_beside(stack, seen)))
    rich = [*((by_column, base) for base in student), *shapes]
    narrow = narrowest(latents.cross_product, latents)
    if question.dimensions[2] == 0 and settings.has("raw"):
        lines = raw(question, latents)
        on_data = _some(lines[1], some).seen()
        line = Line.fit(on_data.both)
        narrow = max(narrow, narrowest(line.scale, on_data))
        # Only where ranks are too coarse: elsewhere answers are the same for all monotone maps of the columns.
        if is_sharp(gaussian.value, narrow, latents):
            rich.insert(0, (lines, RawBase(folds).fit(on_data, line)))
    compared = [plain, *(base for _, base in rich)]
    weights = weights_of(compared, seen.rows)
    parts = (*alone, *(Part(0.0, *maps, base) for maps, base in rich))
    held_out = np.array([base.held_out for base in compared])
    details: dict[str, object] = {
        "weights": {base.name: float(weight) for base, weight in zip(compared, weights, strict=True)},
        "held_out": {base.name: float(held.mean()) for base, held in zip(compared, held_out, strict=True)},
        "gain_over_gaussian": float((weights @ held_out - held_out[0]).mean()),
        "narrowest": narrow,
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

    `plain` is the Gaussian base that mixtures compete with, and `gaussian` the one of the same latents. Mixtures that
    see z are fitted once, to what sharpening leaves.
    """
    stack, student = _mixtures(fitted, some, settings, gaussian)
    sharp = fitted
    if settings.has("sharpening"):
        sharp = _sharpened(fitted, some, stack.as_base("mixture"), [plain, *student])
        stack = stack if sharp is fitted else _mixtures(sharp, some, settings)[0]
    if settings.has("mixture"):
        stack = MixtureBase(settings.n_folds).with_z(stack, _some(sharp[1], some).seen())
    return stack, student, sharp


def _mixtures(
    fitted: FittedFlow, some: RowArray | None, settings: Settings, gaussian: FittedBase | None = None
) -> tuple[Stack, list[FittedBase]]:
    """Mixtures of Gaussians of the latents, stacked with the plain bases, and the Student base among these, if any."""
    seen, folds = _some(fitted[1], some).seen(), settings.n_folds
    student = [StudentBase(folds).fit(seen)] if settings.has("student") else []
    plain = [gaussian or GaussianBase(folds).fit(seen), *student]
    if not settings.has("mixture"):
        return Stack.of(plain, [], seen, folds), student
    stack = MixtureBase(folds, settings.has("classes")).stack(plain, seen)
    if any(seen.around):
        from pydine.bases.waves import with_waves

        stack = with_waves(stack, seen)
    return stack, student


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
    soft = latents.projection.softened(latents.rows.left(latents.n_rows))
    softened = replace(latents, projection=soft, cross_product=soft.cross_product, dof=soft.dof)
    return replace(flow, projection=soft), softened


def narrowest(covariance: FloatArray, latents: Latents) -> float:
    """The information of the narrowest combination of the sides' columns, in nats; 0 if none stands out of chance.

    The covariance (dx + dy, dx + dy), or a multiple of it, is of columns in the order of the latents.
    """
    dx, dy, _ = latents.dimensions
    if dx + dy >= latents.dof - 1.0:
        return 0.0
    found = spikes(canonical_squares(covariance, dx), dx, dy, latents.dof)
    return float(-0.5 * np.log(np.maximum(1.0 - found.max(initial=0.0), SMALLEST_VARIANCE)))


def is_sharp(value: float, narrow: float, latents: Latents) -> bool:
    """Whether so much information, in nats, makes a relation narrower than n rows show of any shape.

    Given one side, a column of the other, or the combination of columns of which most is known (`narrowest`), is then
    spread over less than n^(-1/3) of its range, the width of the cells by which n rows show a density (Scott 1979).
    What is narrower follows from the shape that a base assumes.
    """
    return max(value / min(latents.dimensions[:2]), narrow) > RESOLVED * float(np.log(latents.n_rows))
