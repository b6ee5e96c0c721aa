"""From a question about columns of any kind to nats and latents.

Point masses in a continuous column (the zeros of rainfall, say) are separated by the chain rule. If A says which of the
masses a row is at, or none, I(X;Y|Z) = I(A;Y|Z) + P(none) I(X;Y|Z, none), and each part is a question of its own: one
about a label, and one about the continuous rows.

Several columns on a side are asked about one after the other as well: I(X1,X2;Y|Z) = I(X1;Y|Z) + I(X2;Y|X1,Z), with the
column first that tells most by itself. Held-out rows weigh that against densities of all columns together, which may
lose sight of one column over the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pydine.answers.answer import Answer, Known, Verdict, information_about, of_sampling
from pydine.answers.policy import determined, mapped, table_of
from pydine.answers.settings import Settings
from pydine.bases.base import mean_and_error, mean_of_models, mixed
from pydine.bases.gaussian import GaussianBase
from pydine.bases.kinds.densities import MixedEstimate, by_densities
from pydine.bases.kinds.estimate import closed_form, entropy_bound, fit_mixed, has_many
from pydine.bases.kinds.ratios import MixedModels
from pydine.bases.learning import between, with_unlearned
from pydine.inputs.kinds import OWN_ROWS, Kind, atoms_of, kind_of
from pydine.inputs.table import Question, Table
from pydine.kernels.mixing import mixture_log_density
from pydine.latents.flows import Latents
from pydine.latents.kinds.question import MixedColumns
from pydine.latents.kinds.residuals import MixedMaker
from pydine.latents.plain import is_mixed, with_plain_given
from pydine.latents.workshop import Workshop
from pydine.nulls.analytic import AnalyticTest, analytic_test
from pydine.nulls.tables import CodeTable
from pydine.results import InformationEstimate
from pydine.sampling import Rows
from pydine.types import FloatArray, RowArray
from pydine.units.rows import equal_rows, evened
from pydine.work.cache import UnitCache

if TYPE_CHECKING:
    from pydine.answers.fitting import Fit

ROWS_AT_ONCE = 1 << 14  # memory: new rows, for each of which a side has many alternatives


@dataclass(frozen=True, eq=False)
class MixedFit(Answer):
    """Everything that was learned about a question on columns of any kind, as `fitting.Fit` for continuous ones.

    Parameters
    ----------
    question : Question
    columns : MixedColumns
    maker : MixedMaker
    estimate : MixedEstimate
    base : str
        Name of the estimate: ``"table"``, ``"mixed"``, or ``"gaussian"`` for the closed form of residuals.
    """

    question: Question
    columns: MixedColumns
    maker: MixedMaker
    estimate: MixedEstimate
    base: str

    @cached_property
    def latents(self) -> Latents:  # type: ignore[override]  # found when somebody asks
        """Residuals of both sides given z, which tests and figures use."""
        found = self.maker.latents(self.columns)
        if found is None:
            raise ValueError("what is given determines a side, so the information is 0.")
        return found

    @property
    def tested(self) -> Latents | CodeTable:
        """What the test looks at: the table of labels if it answers alone, so that nothing is fitted for it."""
        return CodeTable.of(self.question) or self.latents

    def information_of(self, question: Question) -> InformationEstimate:
        """The estimate, about the columns that were asked about."""
        estimate = self.estimate
        error = float(np.sqrt(np.mean(np.square(estimate.errors))))
        details: dict[str, object] = {"weights": estimate.weights}
        found = information_about(question, estimate.value, error, self.base, details, estimate.errors)
        return of_sampling(found, estimate.held_out, question.table.rows)

    def of_rows(self, rows: RowArray | slice) -> FloatArray:
        """Pointwise information of rows of the sample, by models that have seen them, in nats."""
        return self._of_all(self.estimate.in_sample)[rows]

    def held_out(self) -> FloatArray:
        """Pointwise information of the sample's rows, by models that have not seen them, in nats, shape (n,)."""
        return self._of_all(self.estimate.held_out)

    def _of_all(self, known: FloatArray) -> FloatArray:
        """Log-ratios of all rows, shape (n,): `known`, or if these are of some rows only, those by their models."""
        return known if len(known) == self.columns.n_rows else self._by_models

    @cached_property
    def _by_models(self) -> FloatArray:
        """Log-ratios of all rows by the models, which were fitted to some of them, shape (n,)."""
        x, y, z = (np.ascontiguousarray(self.question.table.columns[list(b)].T) for b in self.question.blocks)
        return self.of_new_rows()(x, y, z)

    def as_part(self, seen: FloatArray, held_out: FloatArray) -> MixedEstimate:
        """The estimate as a part of another one, with log-ratios of its rows."""
        return replace(self.estimate, in_sample=seen, held_out=held_out)

    def of_new_rows(self) -> MixedRows:
        """Maps new rows to residuals, and gives them their pointwise information."""
        columns = self.columns
        models = self.estimate.models
        if models is None:
            models = by_densities(columns, self.maker).models
        elif self.estimate.columns is not None:
            columns = self.estimate.columns
        if models is None:
            raise ValueError("these densities have no models")
        return MixedRows(columns, models)


@dataclass(frozen=True, eq=False)
class MixedRows:
    """New rows of a question about columns of any kind, by densities of its columns.

    Densities are used for single rows even where the estimate itself came from a contingency table, or was put together
    from point masses and the rest.
    """

    columns: MixedColumns
    models: MixedModels

    def __call__(self, x: FloatArray, y: FloatArray, z: FloatArray) -> FloatArray:
        """Pointwise information of rows (m, dx), (m, dy), (m, dz) in nats, shape (m,)."""
        parts = [slice(start, start + ROWS_AT_ONCE) for start in range(0, len(x), ROWS_AT_ONCE)]
        found = [self.models.log_ratio(self.columns.rows(x[some], y[some], z[some])) for some in parts]
        return np.concatenate(found) if found else np.empty(0)

    def log_density(self, x: FloatArray, y: FloatArray, z: FloatArray) -> FloatArray:
        """ln p(x | z) + ln p(y | z) of rows, in nats, shape (m,)."""
        return self.models.log_density(self.columns.rows(x, y, z))

    def transform(self, x: FloatArray, y: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Residuals of rows given z, shapes (m, d) and (m, d')."""
        rows = self.columns.rows(x, y, z)
        sides: dict[str, list[FloatArray]] = {"x": [], "y": []}
        for conditional in sorted(self.models.alone, key=lambda each: each.column.place):
            sides[conditional.column.place[0]] += [piece.first for piece in conditional.residuals_of(rows)]
        left, right = (np.array(columns).T for columns in sides.values())
        return left, right


def mixed_maker(settings: Settings) -> MixedMaker:
    """The maker of residuals for questions about columns of any kind, with these settings."""
    return MixedMaker(settings.ladder(), settings.cache or UnitCache(), settings.n_jobs, settings.without)


class Tested(NamedTuple):
    """What a test looks at: latents of a question about columns of any kind, or a table of labels; or its verdict.

    Latents come with the bound of their information in nats, and the folds to find it with.
    """

    latents: Latents | CodeTable | None
    bound: float = np.inf
    folds: int = 0
    verdict: Verdict | None = None

    def analytic(self, statistic: str = "auto") -> AnalyticTest:
        """The analytic test of independence."""
        if self.latents is None:
            return AnalyticTest.settled(self.information, self.verdict.pvalue if self.verdict else np.nan)
        return analytic_test(self.latents, statistic)

    @property
    def information(self) -> float:
        """Information by the Gaussian closed form, in nats, kept below a discrete side's entropy; or the table's."""
        if self.latents is None:
            return self.verdict.value if self.verdict else np.nan
        if isinstance(self.latents, CodeTable):
            return self.latents.information
        if self.latents.has_second:
            return closed_form(self.latents, self.bound)[0]
        dx, dy, _ = self.latents.dimensions
        base = GaussianBase(self.folds).fit(self.latents.seen())
        return float(with_unlearned(base.value, between(self.latents.unlearned, dx), min(dx, dy)).value)


def tested(question: Question, workshop: Workshop) -> Tested:
    """What a test of a question about columns of any kind looks at."""
    try:
        return _tested(question, workshop)
    except Known as known:
        return Tested(None, verdict=known.verdict)


def _tested(question: Question, workshop: Workshop) -> Tested:
    if (table := table_of(question, workshop)) is not None:
        return Tested(table, np.inf, workshop.settings.folds)
    if not is_mixed(question):
        plain = with_plain_given(question)
        found = mapped(plain, workshop if plain is question else workshop.on(plain.table))
        return Tested(found.latents, np.inf, workshop.settings.folds)
    columns = MixedColumns.of(question, determined(question, workshop))
    maker = MixedMaker(workshop.settings, workshop.cache or UnitCache(), workshop.n_jobs)
    latents = maker.latents(columns) if columns.x and columns.y else None
    if latents is None:
        raise Known(Verdict.NOTHING_LEFT)
    return Tested(latents, entropy_bound(columns), workshop.settings.folds)


def fit_mixed_question(
    question: Question,
    settings: Settings,
    fit: Callable[[Question], Fit | MixedFit],
    workshop: Workshop | None = None,
    is_part: bool = False,
) -> MixedFit:
    """Estimate the information of a question about columns of any kind; `Known` is raised if it needs no estimate.

    Parameters
    ----------
    question : Question
    settings : Settings
    fit : callable
        Answers the questions into which a question is taken apart.
    workshop : Workshop, optional
        The workshop of the question's table, if there is one already.
    is_part : bool
        Whether it is one of these, and is not taken apart by columns again.
    """
    maker = mixed_maker(settings)
    columns = MixedColumns.of(question, determined(question, workshop or settings.workshop(question.table)))
    if not (columns.x and columns.y):
        raise Known(Verdict.NOTHING_LEFT)
    if settings.base == "gaussian":
        latents = maker.latents(columns)
        if latents is None:
            raise Known(Verdict.NOTHING_LEFT)
        value, error = closed_form(latents, entropy_bound(columns))
        flat = np.full(columns.n_rows, value)
        answer = MixedFit(question, columns, maker, MixedEstimate(value, error, flat, flat, {}), "gaussian")
        answer.__dict__["latents"] = latents  # known already
        return answer
    apart = _apart(question, ("y", "x") if columns.is_swapped else ("x", "y")) if settings.has("masses") else None
    estimate = fit_mixed(columns, maker) if apart is None else _chained(*apart, question, fit)
    base = "table" if estimate.weights.get("table") == 1.0 else "mixed"
    found = MixedFit(question, columns, maker, estimate, base)
    is_known = base == "table" and not has_many(columns)
    if is_part or is_known or max(len(columns.x), len(columns.y)) == 1 or not settings.has("one by one"):
        return found
    return _weighed(found, _one_by_one(question, columns, fit))


Ask = Callable[[Question], "Fit | MixedFit"]


def _part(question: Question, fit: Ask) -> MixedEstimate | None:
    """The estimate of one part of the chain rule; None if a side is determined, so that it tells nothing."""
    try:
        return _of_part(fit(question), question)
    except Known as known:
        if known.verdict is Verdict.INFINITE:
            raise
        return None


def _of_part(part: Fit | MixedFit, question: Question) -> MixedEstimate:
    """The estimate of one part of the chain rule, whichever kind of fit it is, and the question that it answers.

    Rows that are equal in that question may differ in another, so that their log-ratios are averaged.
    """
    held, seen = part.held_out(), part.of_rows(slice(None))
    same = equal_rows(question.table.columns[[i for block in question.blocks for i in block]])
    return part.as_part(seen, seen if held is None else evened(held, *same))


# --- point masses -----------------------------------------------------------------------------------------------------


def _apart(question: Question, sides: Sequence[str]) -> tuple[Question, Question, RowArray] | None:
    """Split a question whose x or y has point masses into one about which mass it is, and one about the other rows.

    The first of `sides` with point masses is split; also returns the other rows. None if no side is a single column
    with point masses and enough other rows.
    """
    for side in sides:
        places = question.x if side == "x" else question.y
        if len(places) != 1 or question.table.kind(places[0]) is not Kind.ORDINAL:
            continue
        i, table = places[0], question.table
        atoms = atoms_of(table.columns[i])
        which = np.searchsorted(atoms, table.columns[i]).clip(0, max(len(atoms) - 1, 0))
        is_atom = atoms[which] == table.columns[i] if len(atoms) else np.zeros(table.n_samples, dtype=np.bool_)
        bulk = np.flatnonzero(~is_atom)
        if not len(atoms) or len(bulk) < OWN_ROWS + len(question.given):
            continue
        codes = np.where(is_atom, which, len(atoms)).astype(np.float64)
        return (
            _with(question, i, codes, Kind.NOMINAL),
            _with(question, i, table.columns[i], Kind.CONTINUOUS, bulk),
            bulk,
        )
    return None


def _with(question: Question, i: int, values: FloatArray, kind: Kind, rows: RowArray | slice = slice(None)) -> Question:
    """A question with other values, of another kind, in its i-th column, about some of the rows.

    Given columns that are constant in those rows are dropped; so are columns that are not part of the question.
    """
    table = question.table
    sides = (*question.x, *question.y)
    every = (*sides, *(k for k in question.given if np.ptp(table.columns[k][rows]) > 0.0))
    columns = np.array([values[rows] if k == i else table.columns[k][rows] for k in every])
    kinds = tuple(kind if k == i else _kind_in(rows, table, k) for k in every)
    places, dx = tuple(range(len(every))), len(question.x)
    some = table.rows.only(np.arange(table.n_samples)[rows])
    named = Table(columns, tuple(table.names[k] for k in every), None, kinds, rows=some)
    return Question(named, places[:dx], places[dx : len(sides)], places[len(sides) :])


def _kind_in(rows: RowArray | slice, table: Table, k: int) -> Kind:
    """The kind of a column in some of the rows: without its point masses, an ordinal one may be continuous."""
    is_bulk = table.kind(k) is Kind.ORDINAL and kind_of(table.columns[k][rows]) is Kind.CONTINUOUS
    return Kind.CONTINUOUS if is_bulk else table.kind(k)


def _chained(which: Question, bulk: Question, rows: RowArray, question: Question, fit: Ask) -> MixedEstimate:
    """The chain rule: the information in the point masses, plus that in the other rows times their share."""
    n = question.table.n_samples
    parts = [_part(which, fit), _part(bulk, fit) if _varies(bulk) else None]
    shares = {"point masses": np.arange(n), "beside them": rows}
    found = {
        name: _spread(part, places, n)
        for part, (name, places) in zip(parts, shares.items(), strict=True)
        if part is not None
    }
    if not found:
        raise Known(Verdict.NOTHING_LEFT)
    weights = {name: len(shares[name]) / n for name in found}
    return replace(_sum(list(found.values()), question.table.rows), weights=weights)


def _spread(part: MixedEstimate, rows: RowArray, n: int) -> MixedEstimate:
    """An estimate of some of n rows as one of all, of which the others tell nothing."""
    in_sample, held_out = np.zeros((2, n))
    in_sample[rows], held_out[rows] = part.in_sample, part.held_out
    share = len(part.in_sample) / n
    value, error, hidden = share * part.value, share * part.standard_error, share * part.hidden
    return MixedEstimate(value, error, in_sample, held_out, {}, None, hidden)


def _sum(parts: Sequence[MixedEstimate], rows: Rows) -> MixedEstimate:
    """The sum of estimates of the same rows."""
    in_sample: FloatArray = np.sum([part.in_sample for part in parts], axis=0)
    held_out: FloatArray = np.sum([part.held_out for part in parts], axis=0)
    error, hidden = (
        float(np.sqrt(sum(each**2 for each in errors)))
        for errors in ([part.standard_error for part in parts], [part.hidden for part in parts])
    )
    error = max(error, mean_and_error(0.5 * (in_sample + held_out), rows)[1])
    return MixedEstimate(sum(part.value for part in parts), error, in_sample, held_out, {}, None, hidden)


# --- several columns on a side ----------------------------------------------------------------------------------------


def _one_by_one(question: Question, columns: MixedColumns, fit: Ask) -> MixedEstimate:
    """The chain rule for the side with more columns: the one that tells most by itself, then the others given it."""
    more = len(columns.y) - len(columns.x)
    label = "y" if more > 0 or (more == 0 and columns.is_swapped) else "x"
    every = question.x if label == "x" else question.y
    side = [every[column.place[1]] for column in (columns.x if label == "x" else columns.y)]
    ends = {"x": question.x, "y": question.y}

    def told(some: Sequence[int], *given: int) -> MixedEstimate:
        both = {**ends, label: tuple(some)}
        about = replace(question, x=both["x"], y=both["y"], given=(*question.given, *given))
        return _part(about, fit) or _nothing(question.table.n_samples)

    alone = {i: told([i]) for i in side}
    best = max(side, key=lambda i: alone[i].value)
    return _sum([alone[best], told([i for i in side if i != best], best)], question.table.rows)


def _nothing(n: int) -> MixedEstimate:
    """No information in n rows."""
    return MixedEstimate(0.0, 0.0, np.zeros(n), np.zeros(n), {})


def _weighed(together: MixedFit, apart: MixedEstimate) -> MixedFit:
    """The average of an estimate by all columns together and one by one after the other, by held-out rows."""
    joint = _of_part(together, together.question)
    folds = together.columns.sampling.folds(together.columns.outwards, together.maker.ladder.folds)
    held_out, shares = mixed(np.array([joint.held_out, apart.held_out]), folds)
    share = float(shares[1])
    values, errors = [apart.value, joint.value], [apart.standard_error, joint.standard_error]
    value, error = mean_of_models(np.array([share, 1.0 - share]), values, errors)
    weights = {name: (1.0 - share) * weight for name, weight in joint.weights.items()}
    estimate = replace(
        joint,
        value=min(value, joint.bound),
        standard_error=error,
        in_sample=mixture_log_density(np.array([joint.in_sample, apart.in_sample]), shares),
        held_out=held_out,
        weights={**weights, "one by one": share},
        hidden=share * apart.hidden + (1.0 - share) * joint.hidden,
    )
    return replace(together, estimate=estimate)


def _varies(question: Question) -> bool:
    return all(np.ptp(question.table.columns[i]) > 0.0 for i in (*question.x, *question.y))
