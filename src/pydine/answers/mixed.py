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
from typing import NamedTuple

import numpy as np

from pydine.answers.policy import Verdict, determined, mapped, table_of
from pydine.answers.settings import Settings
from pydine.bases.base import mean_and_error, mixed
from pydine.bases.gaussian import GaussianBase
from pydine.bases.kinds.densities import MixedEstimate, by_densities
from pydine.bases.kinds.estimate import averaged, closed_form, entropy_bound, fit_mixed, has_many
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
from pydine.nulls.tables import CodeTable
from pydine.sampling import Rows
from pydine.types import FloatArray, RowArray
from pydine.units.rows import equal_rows, evened
from pydine.work.cache import UnitCache

ROWS_AT_ONCE = 1 << 14  # memory: new rows, for each of which a side has many alternatives


@dataclass(frozen=True, eq=False)
class MixedFit:
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
    def latents(self) -> Latents:
        """Residuals of both sides given z, which tests and figures use."""
        found = self.maker.latents(self.columns)
        if found is None:
            raise ValueError("what is given determines a side, and nothing of it is left to tell.")
        return found

    @property
    def tested(self) -> Latents | CodeTable:
        """What the test looks at: the table of labels if it answers alone, so that nothing is fitted for it."""
        return CodeTable.of(self.question) or self.latents

    @property
    def heaviest(self) -> MixedFit:
        """The part whose latents figures show: this fit itself, which has no parts."""
        return self

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
    """What a test looks at: latents of a question about columns of any kind, or a table of labels.

    Latents come with the bound of their information in nats, and the folds to find it with.
    """

    latents: Latents | CodeTable
    bound: float
    folds: int

    @property
    def information(self) -> float:
        """Information by the Gaussian closed form, in nats, kept below a discrete side's entropy; or the table's."""
        if isinstance(self.latents, CodeTable):
            return self.latents.information
        if self.latents.has_second:
            return closed_form(self.latents, self.bound)[0]
        dx, dy, _ = self.latents.dimensions
        base = GaussianBase(self.folds).fit(self.latents.seen())
        return float(with_unlearned(base.value, between(self.latents.unlearned, dx), min(dx, dy)).value)


def tested(question: Question, workshop: Workshop) -> Tested | Verdict:
    """What a test of a question about columns of any kind looks at, or a verdict if the answer is known already."""
    if (table := table_of(question, workshop)) is not None:
        return Tested(table, np.inf, workshop.settings.folds)
    if not is_mixed(question):
        plain = with_plain_given(question)
        found = mapped(plain, workshop if plain is question else workshop.on(plain.table))
        return found if isinstance(found, Verdict) else Tested(found.latents, np.inf, workshop.settings.folds)
    columns = MixedColumns.of(question, determined(question, workshop))
    maker = MixedMaker(workshop.settings, workshop.cache or UnitCache(), workshop.n_jobs)
    latents = maker.latents(columns) if columns.x and columns.y else None
    if latents is None:
        return Verdict.NOTHING_LEFT
    return Tested(latents, entropy_bound(columns), workshop.settings.folds)


def fit_mixed_question(
    question: Question,
    settings: Settings,
    fit: Callable[[Question], object],
    workshop: Workshop | None = None,
    is_part: bool = False,
) -> MixedFit | Verdict:
    """Estimate the information of a question about columns of any kind.

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
        return Verdict.NOTHING_LEFT
    if settings.base == "gaussian":
        latents = maker.latents(columns)
        if latents is None:
            return Verdict.NOTHING_LEFT
        value, error = closed_form(latents, entropy_bound(columns))
        flat = np.full(columns.n_rows, value)
        answer = MixedFit(question, columns, maker, MixedEstimate(value, error, flat, flat, {}), "gaussian")
        answer.__dict__["latents"] = latents  # known already
        return answer
    apart = _apart(question, ("y", "x") if columns.is_swapped else ("x", "y")) if settings.has("masses") else None
    estimate = fit_mixed(columns, maker) if apart is None else _chained(*apart, question, fit)
    if isinstance(estimate, Verdict):
        return estimate
    base = "table" if estimate.weights.get("table") == 1.0 else "mixed"
    found = MixedFit(question, columns, maker, estimate, base)
    is_known = base == "table" and not has_many(columns)
    if is_part or is_known or max(len(columns.x), len(columns.y)) == 1 or not settings.has("one by one"):
        return found
    one_by_one = _one_by_one(question, columns, fit)
    return one_by_one if isinstance(one_by_one, Verdict) else _weighed(found, one_by_one)


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


def _chained(
    which: Question, bulk: Question, rows: RowArray, question: Question, fit: Callable[[Question], object]
) -> MixedEstimate | Verdict:
    """The chain rule: the information in the point masses, plus that in the other rows times their share."""
    n = question.table.n_samples
    parts = [fit(which), fit(bulk) if _varies(bulk) else Verdict.NOTHING_LEFT]
    if Verdict.INFINITE in parts:
        return Verdict.INFINITE
    if all(part is Verdict.NOTHING_LEFT for part in parts):
        return Verdict.NOTHING_LEFT
    shares = {"point masses": np.arange(n), "beside them": rows}
    found = {
        name: _spread(_of_part(part, asked), places, n)
        for part, asked, (name, places) in zip(parts, (which, bulk), shares.items(), strict=True)
        if not isinstance(part, Verdict)
    }
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


def _one_by_one(
    question: Question, columns: MixedColumns, fit: Callable[[Question], object]
) -> MixedEstimate | Verdict:
    """The chain rule for the side with more columns: the one that tells most by itself, then the others given it."""
    more = len(columns.y) - len(columns.x)
    label = "y" if more > 0 or (more == 0 and columns.is_swapped) else "x"
    every = question.x if label == "x" else question.y
    side = [every[column.place[1]] for column in (columns.x if label == "x" else columns.y)]
    ends = {"x": question.x, "y": question.y}

    def asked(some: Sequence[int], *given: int) -> MixedEstimate | Verdict:
        both = {**ends, label: tuple(some)}
        about = replace(question, x=both["x"], y=both["y"], given=(*question.given, *given))
        part = fit(about)
        return part if isinstance(part, Verdict) else _of_part(part, about)

    nothing = _nothing(question.table.n_samples)
    alone = {i: asked([i]) for i in side}
    if Verdict.INFINITE in alone.values():
        return Verdict.INFINITE
    told = {i: nothing if isinstance(found, Verdict) else found for i, found in alone.items()}
    best = max(side, key=lambda i: told[i].value)
    rest = asked([i for i in side if i != best], best)
    if rest is Verdict.INFINITE:
        return Verdict.INFINITE
    return _sum([told[best], nothing if isinstance(rest, Verdict) else rest], question.table.rows)


def _nothing(n: int) -> MixedEstimate:
    """No information in n rows."""
    return MixedEstimate(0.0, 0.0, np.zeros(n), np.zeros(n), {})


def _weighed(together: MixedFit, apart: MixedEstimate) -> MixedFit:
    """The average of an estimate by all columns together and one by one after the other, by held-out rows."""
    joint = _of_part(together, together.question)
    folds = together.columns.sampling.folds(together.columns.outwards, together.maker.ladder.folds)
    held_out, shares = mixed(np.array([joint.held_out, apart.held_out]), folds)
    share = float(shares[1])
    value, error = averaged((share, apart.value, apart.standard_error), (joint.value, joint.standard_error))
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


def _of_part(part: object, question: Question) -> MixedEstimate:
    """The estimate of one part of the chain rule, whichever kind of fit it is, and the question that it answers.

    Rows that are equal in that question may differ in another, so that their log-ratios are averaged.
    """
    held, seen = part.held_out(), part.of_rows(slice(None))  # type: ignore[attr-defined]
    same = equal_rows(question.table.columns[[i for block in question.blocks for i in block]])
    held = seen if held is None else evened(held, *same)
    if isinstance(part, MixedFit):
        return replace(part.estimate, in_sample=seen, held_out=held)
    information = part.information  # type: ignore[attr-defined]
    below, above = information.errors or (information.standard_error, information.standard_error)
    hidden = float(np.sqrt(max(above**2 - below**2, 0.0)))
    return MixedEstimate(information.value, below, seen, held, {}, None, hidden)
