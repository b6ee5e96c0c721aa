"""The question "how much does X tell about Y, given Z?", answered: from a sample to an estimate in nats."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from pydine.bases.average import pooled, weights_of
from pydine.bases.base import Base, FittedBase
from pydine.bases.closed_form import SMALLEST_VARIANCE, is_singular
from pydine.bases.flow import FlowBase
from pydine.bases.gaussian import GaussianBase, algorithmic_error
from pydine.bases.student import StudentBase
from pydine.inputs.sample import Sample, read_sample
from pydine.latents.flows import Latents, RankFlow, fit_rank_flow
from pydine.latents.paper import PaperFlow, PaperSettings, fit_paper_flow
from pydine.latents.scores import ScoreMap
from pydine.latents.ties import without_ties
from pydine.results import InformationEstimate, PointwiseInformation
from pydine.types import FloatArray, RowArray
from pydine.units.cache import UnitCache
from pydine.units.ladder import LadderSettings
from pydine.units.plan import autoregressive, unique
from pydine.units.rows import outwards, some_of
from pydine.units.tuning import Grid, Trial, tune

FittedFlow = tuple[RankFlow | PaperFlow, Latents]
RandomState = int | np.random.RandomState | np.random.Generator | None
CacheLike = UnitCache | str | os.PathLike[str] | None

BASES = ("auto", "gaussian", "student", "flow")
ALGORITHMS = ("ladder", "paper")
LEAST = {"n_components": 1, "hidden_units": 1, "n_networks": 0, "n_folds": 2, "max_iter": 1, "max_rows": 100}
MOST_POINTS = 5000  # rows that an estimate keeps to be drawn
SPARE_ROWS = 10  # that a fold leaves to learn from, beside one for each latent


@dataclass(frozen=True)
class Settings:
    """Everything an estimate depends on beside the data; the parameters of `DINE`, where they are described.

    `n_jobs` and `cache`, where units are looked for before they are fitted, change the time and not the result.
    """

    base: str = "auto"
    algorithm: str = "ladder"
    n_components: int = LadderSettings.components
    hidden_units: int = LadderSettings.hidden_units
    n_networks: int = LadderSettings.networks
    n_folds: int = LadderSettings.folds
    weight_decay: float = LadderSettings.weight_decay
    max_iter: int = LadderSettings.iterations
    max_rows: int = LadderSettings.max_rows
    tune: bool = False
    random_state: RandomState = 0
    n_jobs: int | None = None
    cache: UnitCache | None = None

    @classmethod
    def of(cls, algorithm: str, **changes: Any) -> Settings:
        """Return the defaults of an algorithm, with changes."""
        paper = {
            "base": "gaussian",
            "n_components": PaperSettings.components,
            "hidden_units": PaperSettings.hidden_units,
            "max_iter": PaperSettings.iterations,
        }
        return cls(algorithm=algorithm, **{**(paper if algorithm == "paper" else {}), **changes})

    def check(self) -> None:
        """Refuse what cannot be meant, naming the parameter."""
        for name, choices in (("base", BASES), ("algorithm", ALGORITHMS)):
            if getattr(self, name) not in choices:
                expected = " or ".join(map(repr, choices))
                raise ValueError(f"{name} must be {expected}, but got {getattr(self, name)!r}.")
        for name, least in LEAST.items():
            value = getattr(self, name)
            if not is_integer(value) or value < least:
                raise ValueError(f"{name} must be an integer of at least {least}, but got {value!r}.")
        if not isinstance(self.tune, bool | np.bool_):
            raise ValueError(f"tune must be True or False, but got {self.tune!r}.")
        if self.tune and self.algorithm == "paper":
            raise ValueError("tune=True needs algorithm='ladder'; tune DINE.paper() with GridSearchCV.")
        decay: Any = self.weight_decay
        if not isinstance(decay, Real) or not 0.0 <= float(decay) < np.inf:
            raise ValueError(f"weight_decay must be a number of at least 0, but got {self.weight_decay!r}.")
        if self.n_jobs is not None and (not is_integer(self.n_jobs) or self.n_jobs == 0):
            raise ValueError(f"n_jobs must be None or an integer other than 0, but got {self.n_jobs!r}.")

    def ladder(self) -> LadderSettings:
        """How units are fitted."""
        return LadderSettings(
            networks=self.n_networks,
            hidden_units=self.hidden_units,
            components=self.n_components,
            weight_decay=self.weight_decay,
            iterations=self.max_iter,
            folds=self.n_folds,
            max_rows=self.max_rows,
        )

    def seeded(self) -> Settings:
        """The same settings, checked, with the seed drawn: whatever is asked of them now draws it no second time."""
        self.check()
        return replace(self, random_state=self.seed())

    def seed(self) -> int:
        """Return a seed for generators of our own. NumPy's global generator is neither used nor set."""
        state = self.random_state
        if state is None:
            return int(np.random.SeedSequence().generate_state(1)[0])
        if isinstance(state, np.random.RandomState):
            return int(state.randint(2**31 - 1))
        if isinstance(state, np.random.Generator):
            return int(state.integers(2**31 - 1))
        if is_integer(state) and state >= 0:
            return int(state)
        raise ValueError(f"random_state must be a non-negative integer, a generator or None, but got {state!r}.")


class Part(NamedTuple):
    """One base of an average: what it counts, the maps that it was fitted on, and their latents."""

    weight: float
    flow: RankFlow | PaperFlow
    latents: Latents
    base: FittedBase

    def log_ratio(self, both: FloatArray, z: FloatArray) -> FloatArray:
        """Log-ratios of latents (dx + dy, m) and z (dz, m), as the maps give them, shape (m,)."""
        view = self.latents.view
        return self.base.log_ratio(both if view is None else view(both), z)

    def of_rows(self, rows: RowArray | slice) -> FloatArray:
        """Log-ratios of rows of the sample."""
        return self.log_ratio(self.latents.both[:, rows], self.latents.z[:, rows])


@dataclass(frozen=True)
class Fit:
    """Everything that was learned of a sample.

    Parameters
    ----------
    flow : RankFlow or PaperFlow
        The maps of the paper: each side's latents are independent of each other.
    latents : Latents
        Those of `flow`.
    parts : tuple of Part
        The bases that were fitted, those that count; each to the latents of `flow`, or of maps column by column.
    information : InformationEstimate
    trials : tuple of Trial
        What tuning tried, the best first; empty if nothing was tuned.
    """

    flow: RankFlow | PaperFlow
    latents: Latents
    parts: tuple[Part, ...]
    information: InformationEstimate
    trials: tuple[Trial, ...] = ()

    @property
    def heaviest(self) -> Part:
        """The base that counts most."""
        return max(self.parts, key=lambda part: part.weight)

    def log_ratio(self, x: FloatArray, y: FloatArray, z: FloatArray) -> FloatArray:
        """Pointwise information of new rows (m, dx), (m, dy), (m, dz), in nats, shape (m,)."""
        total: FloatArray = np.sum([p.weight * p.log_ratio(*p.flow.rows(x, y, z)) for p in self.parts], axis=0)
        return total

    def of_rows(self, rows: RowArray | slice) -> FloatArray:
        """Pointwise information of rows of the sample, by models that have seen them, in nats."""
        total: FloatArray = np.sum([part.weight * part.of_rows(rows) for part in self.parts], axis=0)
        return total

    def held_out(self) -> FloatArray | None:
        """Pointwise information of the sample's rows, each by models that have not seen it; None if some saw all."""
        if any(len(part.base.held_out) < self.latents.n_rows for part in self.parts):
            return None  # flows learned from some of the rows, and the others were not held out
        total: FloatArray = np.sum([part.weight * part.base.held_out for part in self.parts], axis=0)
        return total


def estimate(sample: Sample, settings: Settings) -> Fit:
    """Fit the flows of a sample, and base distributions to their latents.

    Parameters
    ----------
    sample : Sample
    settings : Settings
        Checked.
    """
    settings = replace(settings, random_state=settings.seed())
    trials = _tune(sample, settings) if settings.tune else ()
    if trials:
        best = trials[0]
        settings = replace(
            settings,
            n_components=best.components,
            hidden_units=best.hidden_units,
            weight_decay=best.weight_decay,
        )
    flow, latents = _fit_flow(sample, settings, False)
    if settings.algorithm != "paper":
        _check_rank(latents.cross_product / latents.dof, sample)
    parts, compared = _fit_bases(sample, settings, (flow, latents))
    value, sampling = pooled(np.array([part.weight for part in parts]), [part.base for part in parts])
    algorithm = algorithmic_error(latents)
    heaviest = max(parts, key=lambda part: part.weight).base
    details = {"algorithm": settings.algorithm, "degrees_of_freedom": latents.dof, **heaviest.details, **compared}
    details["uncertainty"] = {"sampling": sampling, "algorithm": algorithm}
    if settings.algorithm != "paper":
        names = [name for block in sample.names[:2] for name in block]
        details["rungs"] = {name: u.rung_weights for name, u in zip(names, flow.units.values(), strict=True)}
    information = InformationEstimate(
        value,
        float(np.hypot(sampling, algorithm)),
        heaviest.name,
        sample.n_samples,
        sample.dimensions,
        sample.n_dropped,
        sample.names,
        details,
    )
    return Fit(flow, latents, parts, information, tuple(trials))


def _tune(sample: Sample, settings: Settings) -> list[Trial]:
    """Try settings on the flows of x and y given z and, if the base may be a flow, on those of y given x too."""
    dx, dy, dz = sample.dimensions
    sample = without_ties(sample)
    columns = np.hstack([sample.x, sample.y, sample.z])
    scores = np.array([ScoreMap.fit(np.ascontiguousarray(column))[1] for column in columns.T])
    scores = np.ascontiguousarray(scores[:, some_of(outwards(scores), settings.max_rows)])
    x, y, z = range(dx), range(dx, dx + dy), range(dx + dy, dx + dy + dz)
    units, ladder = autoregressive(x, z) + autoregressive(y, z), settings.ladder()
    if settings.base in ("auto", "flow"):
        units += autoregressive(y, (*x, *z)) if dy <= dx else autoregressive(x, (*y, *z))
        ladder = replace(ladder, wide_networks=settings.n_networks)
    return tune(scores, unique(units), ladder, Grid(), settings.n_jobs)


def _fit_flow(sample: Sample, settings: Settings, by_column: bool) -> FittedFlow:
    blocks = sample.x, sample.y, sample.z
    if settings.algorithm == "paper":
        paper = PaperSettings(settings.hidden_units, settings.n_components, settings.max_iter, seed=settings.seed())
        return fit_paper_flow(*blocks, paper, settings.n_jobs)
    return fit_rank_flow(*blocks, settings.ladder(), settings.n_jobs, by_column, settings.cache)


def _fit_bases(sample: Sample, settings: Settings, fitted: FittedFlow) -> tuple[tuple[Part, ...], dict[str, object]]:
    """Fit the base that the settings name, or all of them, averaged by how well they predict held-out rows."""
    latents, folds = fitted[1], settings.n_folds
    gaussian = GaussianBase(folds, corrected=settings.algorithm != "paper").fit(latents.seen())
    alone = (Part(1.0, *fitted, gaussian),)
    too_few = int(np.ceil((sum(sample.dimensions[:2]) + SPARE_ROWS) * folds / (folds - 1) - latents.dof))
    if too_few > 0 and settings.base not in ("auto", "gaussian"):
        raise ValueError(
            f"base={settings.base!r} learns from a part of the rows and needs about {too_few} more than the "
            f"{sample.n_samples} that x and y have; pass base='gaussian' or more rows."
        )
    if settings.base == "gaussian" or too_few > 0:
        return alone, {}
    by_column = _by_column(sample, settings, fitted)
    some = some_of(latents.outwards, settings.max_rows) if sample.n_samples > settings.max_rows else None
    columns = by_column[1] if some is None else by_column[1].only(some)
    seen, ladder = columns.seen(), replace(settings.ladder(), wide_networks=settings.n_networks)
    flow, student = FlowBase(ladder, settings.n_jobs, settings.cache), StudentBase(folds)
    if settings.base != "auto":
        base: Base = flow if settings.base == "flow" else student
        return (Part(1.0, *by_column, base.fit(seen)),), {}
    plain = gaussian if some is None else GaussianBase(folds).fit(latents.only(some).seen())
    of_columns = plain if by_column[1] is latents else GaussianBase(folds).fit(seen)
    fitted_student = student.fit(seen)
    compared = [plain, fitted_student, flow.fit_beside([of_columns, fitted_student], seen)]
    weights = weights_of(compared)
    parts = (*alone, *(Part(0.0, *by_column, base) for base in compared[1:]))
    held_out = np.array([base.held_out for base in compared])
    details: dict[str, object] = {
        "weights": {base.name: float(weight) for base, weight in zip(compared, weights, strict=True)},
        "held_out": {base.name: float(held.mean()) for base, held in zip(compared, held_out, strict=True)},
        "gain_over_gaussian": float((weights @ held_out - held_out[0]).mean()),
    }
    weighted = zip(parts, weights.tolist(), strict=True)
    return tuple(part._replace(weight=weight) for part, weight in weighted if weight > 0.0), details


def _by_column(sample: Sample, settings: Settings, fitted: FittedFlow) -> FittedFlow:
    """Maps column by column, which bases beyond the Gaussian one need: a side keeps what ties its columns together."""
    untied = without_ties(sample)
    is_scalar = max(sample.dimensions[:2]) == 1
    if untied is sample and (is_scalar or settings.algorithm == "paper"):
        return fitted
    return _fit_flow(untied, settings, True)


def _check_rank(covariance: FloatArray, sample: Sample) -> None:
    """Refuse latents that are exhausted: a column that z determines, or columns that determine each other."""
    labels = [(label, name) for label, names in zip("xy", sample.names, strict=False) for name in names]
    for (label, name), variance in zip(labels, np.diag(covariance), strict=True):
        if variance < SMALLEST_VARIANCE:
            raise ValueError(
                f"column {name!r} of {label} must vary given z, but z determines it and nothing of it is left; leave "
                "the column out."
            )
    if is_singular(covariance):
        raise ValueError(
            "the columns of x and y must not determine each other, but some are a combination of others: either the "
            "information is infinite, or a column can be left out without loss."
        )


def mutual_information(
    x: Any,
    y: Any,
    z: Any = None,
    *,
    data: Any = None,
    base: str = "auto",
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    nan_policy: str = "raise",
    cache: CacheLike = None,
) -> InformationEstimate:
    """Estimate the mutual information I(X;Y), or I(X;Y|Z) given a third argument.

    Parameters
    ----------
    x, y, z : array-like of shape (n,) or (n, d), column, frame, or names of columns of `data`
        Observations of X, Y and, for conditional information, Z: arrays, lists, pandas, polars or pyarrow. Real-valued;
        a vector variable has several columns.
    data : frame, optional
        A pandas or polars frame, a pyarrow table, a dict of columns, or a 2-D array; x, y and z then name its columns.
    base : {"auto", "gaussian", "student", "flow"}, default="auto"
        Base distribution of the latents (see `DINE`).
    random_state : int, numpy.random.RandomState, numpy.random.Generator or None, default=0
        The same integer gives the same number to the last bit.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    nan_policy : {"raise", "omit"}, default="raise"
        What happens to rows that hold NaN or infinity: refused, or left out and counted in the result.
    cache : UnitCache or folder, optional
        Where fitted flows are looked for first, and kept. The result does not depend on it.

    Returns
    -------
    InformationEstimate
        ``value`` in nats, ``bits``, ``standard_error``, ``confidence_interval(0.95)``; ``float()`` gives the value.

    Examples
    --------
    >>> import numpy as np
    >>> import pydine
    >>> rng = np.random.default_rng(0)
    >>> z = rng.standard_normal(1000)
    >>> x, y = z + rng.standard_normal((2, 1000))
    >>> float(pydine.mutual_information(x, y)) > float(pydine.mutual_information(x, y, z))
    True
    """
    settings = Settings(base=base, random_state=random_state, n_jobs=n_jobs, cache=UnitCache.of(cache))
    settings.check()
    sample = read_sample(x, y, z, data=data, nan_policy=nan_policy)
    fit = estimate(sample, settings)
    return replace(fit.information, points=_Points.of(fit, sample))


@dataclass(frozen=True)
class _Points:
    """Some rows of a fit, to be drawn: places in the data, latents (dx + dy, n), and what makes their log-ratios."""

    rows: RowArray
    latents: FloatArray
    values: Callable[[], FloatArray]

    @classmethod
    def of(cls, fit: Fit, sample: Sample) -> _Points:
        latents = fit.heaviest.latents
        rows = np.sort(some_of(latents.outwards, MOST_POINTS))
        return cls(sample.positions[rows], latents.both[:, rows], partial(fit.of_rows, rows))

    def __call__(self, information: InformationEstimate) -> PointwiseInformation:
        dx = information.dimensions[0]
        sides = self.latents[:dx].T, self.latents[dx:].T
        return PointwiseInformation(self.values(), self.rows, sides, information)


def pointwise_information(
    x: Any,
    y: Any,
    z: Any = None,
    *,
    data: Any = None,
    base: str = "auto",
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    nan_policy: str = "raise",
) -> PointwiseInformation:
    """Estimate what every row contributes to the information I(X;Y) or I(X;Y|Z): which rows carry the dependence.

    Parameters
    ----------
    x, y, z, data, base, random_state, n_jobs, nan_policy
        As in `mutual_information`.

    Returns
    -------
    PointwiseInformation
        ``values`` in nats with ``rows``, their places in the data; ``top(10)``, ``plot()``, and ``estimate``.

    Examples
    --------
    >>> import numpy as np
    >>> import pydine
    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal(1000)
    >>> y = np.where(np.arange(1000) < 500, x + 0.3 * rng.standard_normal(1000), rng.standard_normal(1000))
    >>> pointwise = pydine.pointwise_information(x, y)
    >>> bool((pointwise.top(100) < 500).mean() > 0.7)
    True
    """
    settings = Settings(base=base, random_state=random_state, n_jobs=n_jobs)
    settings.check()
    sample = read_sample(x, y, z, data=data, nan_policy=nan_policy)
    fit = estimate(sample, settings)
    latents, values = fit.heaviest.latents, fit.held_out()
    if values is None:
        values = fit.of_rows(slice(None))
    sides = latents.of("x").T, latents.of("y").T
    return PointwiseInformation(values, sample.positions, sides, fit.information)


def is_integer(value: object) -> bool:
    """Whether a value counts as an integer parameter; True and False do not."""
    return isinstance(value, Integral) and not isinstance(value, bool)
