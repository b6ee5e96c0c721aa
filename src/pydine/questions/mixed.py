"""From a question about columns of any kind to nats and latents.

Point masses in a continuous column (zeros of a rainfall) are taken apart by the chain rule. With A which of the masses, or
none, a row holds, I(X;Y|Z) = I(A;Y|Z) + P(none) I(X;Y|Z, none), and each part is a question of its own, about a label and
about continuous rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pydine.bases.mixed import MixedEstimate, closed_form, entropy_bound, fit_mixed
from pydine.inputs.kinds import Kind, atoms_of
from pydine.inputs.table import Question, Table
from pydine.latents.flows import Latents
from pydine.latents.mixed import MixedColumns, MixedMaker
from pydine.questions.policy import Verdict
from pydine.questions.settings import Settings
from pydine.types import FloatArray, RowArray
from pydine.units.cache import UnitCache

LEAST_BULK = 50  # rows beside the point masses, for them to be a question of their own


@dataclass(frozen=True, eq=False)
class MixedFit:
    """Everything that was learned of a question about columns of any kind, as `fitting.Fit` has it for continuous ones.

    Parameters
    ----------
    question : Question
    columns : MixedColumns
    maker : MixedMaker
    estimate : MixedEstimate
    base : str
        What the estimate is called: ``"table"``, ``"mixed"``, or ``"gaussian"`` for the closed form of residuals.
    """

    question: Question
    columns: MixedColumns
    maker: MixedMaker
    estimate: MixedEstimate
    base: str

    @cached_property
    def latents(self) -> Latents:
        """Residuals of both sides given z: what is tested, and drawn."""
        found = self.maker.latents(self.columns)
        if found is None:
            raise ValueError("what is given determines a side, and nothing of it is left to tell.")
        return found

    @property
    def heaviest(self) -> MixedFit:
        """What counts most, which has the latents that are drawn: this."""
        return self

    def of_rows(self, rows: RowArray | slice) -> FloatArray:
        """Pointwise information of rows of the sample, by models that have seen them, in nats."""
        return self.estimate.in_sample[rows]

    def held_out(self) -> FloatArray:
        """The same by models that have not seen them, shape (n,)."""
        return self.estimate.held_out


def mixed_maker(settings: Settings) -> MixedMaker:
    """Where units of mixed questions are made with these settings."""
    return MixedMaker(settings.ladder(), settings.cache or UnitCache(), settings.n_jobs)


def mixed_latents(question: Question, maker: MixedMaker) -> tuple[MixedColumns, Latents] | Verdict:
    """Residuals of both sides of a question, unless nothing is left of one."""
    columns = MixedColumns.of(question)
    latents = maker.latents(columns) if columns.x and columns.y else None
    return Verdict.NOTHING_LEFT if latents is None else (columns, latents)


def fit_mixed_question(
    question: Question, settings: Settings, fit: Callable[[Question], object]
) -> MixedFit | Verdict:
    """Estimate the information of a question about columns of any kind.

    Parameters
    ----------
    question : Question
    settings : Settings
    fit : callable
        Answers the questions that point masses lead to.
    """
    maker = mixed_maker(settings)
    columns = MixedColumns.of(question)
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
    apart = _apart(question)
    estimate = fit_mixed(columns, maker) if apart is None else _chained(*apart, question, fit, maker)
    if isinstance(estimate, Verdict):
        return estimate
    base = "table" if estimate.weights.get("table") == 1.0 else "mixed"
    return MixedFit(question, columns, maker, estimate, base)


# --- point masses -----------------------------------------------------------------------------------------------------


def _apart(question: Question) -> tuple[Question, Question, RowArray] | None:
    """A question whose x, or y, has point masses as one about which of them and one about the rows with none.

    None if no side is a single column with point masses.
    """
    for side in ("x", "y"):
        places = question.x if side == "x" else question.y
        if len(places) != 1 or question.table.kind(places[0]) is not Kind.ORDINAL:
            continue
        i, table = places[0], question.table
        atoms = atoms_of(table.columns[i])
        which = np.searchsorted(atoms, table.columns[i]).clip(0, max(len(atoms) - 1, 0))
        is_atom = atoms[which] == table.columns[i] if len(atoms) else np.zeros(table.n_samples, dtype=np.bool_)
        bulk = np.flatnonzero(~is_atom)
        if not len(atoms) or len(bulk) < LEAST_BULK + len(question.given):
            continue
        codes = np.where(is_atom, which, len(atoms)).astype(np.float64)
        return _with(question, i, codes, Kind.NOMINAL), _with(question, i, table.columns[i], Kind.CONTINUOUS, bulk), bulk
    return None


def _with(
    question: Question, i: int, values: FloatArray, kind: Kind, rows: RowArray | slice = slice(None)
) -> Question:
    """A question with other values, of another kind, in its i-th column, about some of the rows.

    Columns that are constant in those rows tell nothing there, and go.
    """
    table = question.table
    columns = table.columns.copy()
    columns[i] = values
    columns = np.ascontiguousarray(columns[:, rows])
    kinds = tuple(kind if k == i else table.kind(k) for k in range(len(columns)))
    given = tuple(k for k in question.given if np.ptp(columns[k]) > 0.0)
    return replace(question, table=Table(columns, table.names, None, kinds), given=given)


def _chained(
    which: Question, bulk: Question, rows: RowArray, question: Question, fit: Callable[[Question], object], maker: MixedMaker
) -> MixedEstimate | Verdict:
    """The chain rule: what the point masses tell, and what the rows beside them do, by their share."""
    n = question.table.n_samples
    parts = [fit(which), fit(bulk) if _varies(bulk) else Verdict.NOTHING_LEFT]
    if Verdict.INFINITE in parts:
        return Verdict.INFINITE
    value, variance = 0.0, 0.0
    in_sample, held_out = np.zeros((2, n))
    weights: dict[str, float] = {}
    for name, part, places in (("point masses", parts[0], slice(None)), ("beside them", parts[1], rows)):
        if isinstance(part, Verdict):
            continue
        share = len(in_sample[places]) / n
        found = _of_part(part)
        value += share * found.value
        variance += (share * found.standard_error) ** 2
        in_sample[places] += found.in_sample
        held_out[places] += found.held_out
        weights[name] = share
    spread = 0.5 * (in_sample + held_out)
    error = max(float(np.sqrt(variance)), float(spread.std() / np.sqrt(n)))
    return MixedEstimate(value, error, in_sample, held_out, weights)


def _varies(question: Question) -> bool:
    return all(np.ptp(question.table.columns[i]) > 0.0 for i in (*question.x, *question.y))


def _of_part(part: object) -> MixedEstimate:
    """What a part of a chain says, whichever kind of fit it is."""
    if isinstance(part, MixedFit):
        return part.estimate
    information, held = part.information, part.held_out()  # type: ignore[attr-defined]
    seen = part.of_rows(slice(None))  # type: ignore[attr-defined]
    return MixedEstimate(information.value, information.standard_error, seen, seen if held is None else held, {})
