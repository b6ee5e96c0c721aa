"""The question "how much does X tell about Y, given Z?", answered: from a sample to an estimate in nats."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pydine.bases import Base, FittedBase, FlowBase, GaussianBase, LogRatio, StudentBase, choose
from pydine.bases.closed_form import SMALLEST_VARIANCE, is_singular
from pydine.inputs.sample import Sample, read_sample, without_ties
from pydine.latents.flows import Latents, RankFlow, fit_rank_flow
from pydine.latents.paper import PaperFlow, PaperSettings, fit_paper_flow
from pydine.latents.scores import ScoreMap
from pydine.results import InformationEstimate, PointwiseInformation
from pydine.types import FloatArray
from pydine.units.cache import UnitCache
from pydine.units.ladder import LadderSettings
from pydine.units.plan import autoregressive, unique
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
            seed=self.seed(),
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


@dataclass(frozen=True)
class Fit:
    """Everything that was learned of a sample.

    Parameters
    ----------
    flow : RankFlow or PaperFlow
        The maps of the paper: each side's latents are independent of each other.
    latents : Latents
        Those of `flow`.
    base_flow, base_latents : RankFlow or PaperFlow, and Latents
        The maps that `base` was fitted on and their latents: `flow`, or one that maps column by column.
    base : FittedBase
        What was fitted to the latents.
    information : InformationEstimate
    trials : tuple of Trial
        What tuning tried, the best first; empty if nothing was tuned.
    """

    flow: RankFlow | PaperFlow
    latents: Latents
    base_flow: RankFlow | PaperFlow
    base_latents: Latents
    base: FittedBase
    information: InformationEstimate
    trials: tuple[Trial, ...] = ()


def estimate(sample: Sample, settings: Settings) -> Fit:
    """Fit the flows of a sample, and a base distribution to their latents.

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
    (base_flow, base_latents), base, compared = _fit_base(sample, settings, (flow, latents))
    details = {"algorithm": settings.algorithm, "degrees_of_freedom": latents.dof, **base.details, **compared}
    if settings.algorithm != "paper":
        names = [name for block in sample.names[:2] for name in block]
        details["rungs"] = {name: u.rung_weights for name, u in zip(names, flow.units.values(), strict=True)}
    information = InformationEstimate(
        base.value,
        base.standard_error,
        base.name,
        sample.n_samples,
        sample.dimensions,
        sample.n_dropped,
        sample.names,
        details,
    )
    return Fit(flow, latents, base_flow, base_latents, base, information, tuple(trials))


def _tune(sample: Sample, settings: Settings) -> list[Trial]:
    """Try settings on the flows of x and y given z and, if the base may be a flow, on those of y given x too."""
    dx, dy, dz = sample.dimensions
    sample = without_ties(sample, settings.seed())
    rows = np.random.default_rng(settings.seed()).permutation(sample.n_samples)[: settings.max_rows]
    columns = np.hstack([sample.x, sample.y, sample.z])[rows]
    scores = np.array([ScoreMap.fit(np.ascontiguousarray(column))[1] for column in columns.T])
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


def _fit_base(
    sample: Sample, settings: Settings, fitted: FittedFlow
) -> tuple[FittedFlow, FittedBase, dict[str, object]]:
    """Fit the base that the settings name, or the one that held-out likelihood chooses; with its maps."""
    latents = fitted[1]
    folds, seed, n = settings.n_folds, settings.seed(), sample.n_samples
    gaussian = GaussianBase(folds, seed, corrected=settings.algorithm != "paper").fit(latents)
    too_few = int(np.ceil((sum(sample.dimensions[:2]) + SPARE_ROWS) * folds / (folds - 1))) - latents.dof
    if too_few > 0 and settings.base not in ("auto", "gaussian"):
        raise ValueError(
            f"base={settings.base!r} learns from a part of the rows and needs about {too_few} more than the {n} that x "
            "and y have; pass base='gaussian' or more rows."
        )
    if settings.base == "gaussian" or too_few > 0:
        return fitted, gaussian, {}
    is_scalar = max(sample.dimensions[:2]) == 1
    untied = without_ties(sample, seed)
    by_column = fitted
    if untied is not sample or not (is_scalar or settings.algorithm == "paper"):
        by_column = _fit_flow(untied, settings, True)
    some = np.random.default_rng(seed).permutation(n)[: settings.max_rows] if n > settings.max_rows else None
    columns = by_column[1] if some is None else by_column[1].only(some)
    ladder = replace(settings.ladder(), wide_networks=settings.n_networks)
    general = FlowBase(ladder, settings.n_jobs, settings.cache)
    candidates: dict[str, Base] = {"student": StudentBase(folds, seed), "flow": general}
    if settings.base != "auto":
        return by_column, candidates[settings.base].fit(columns), {}
    plain = gaussian if some is None else GaussianBase(folds, seed).fit(latents.only(some))
    of_columns = plain if by_column[1] is latents else GaussianBase(folds, seed).fit(columns)
    student = candidates["student"].fit(columns)
    bases = [plain, student, general.fit_beside([of_columns, student], columns)]
    chosen = choose(bases)
    compared = {base.name: float(base.held_out.mean()) for base in bases}
    details = {"held_out": compared, "gain_over_gaussian": chosen.gain_over(plain)[0]}
    return (fitted, gaussian, details) if chosen is plain else (by_column, chosen, details)


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
    """Some rows of a fit, to be drawn: places in the data, latents (dx + dy, n), z (dz, n), and their log-ratio."""

    rows: NDArray[np.intp]
    latents: FloatArray
    z: FloatArray
    log_ratio: LogRatio

    @classmethod
    def of(cls, fit: Fit, sample: Sample) -> _Points:
        rows = np.random.default_rng(0).permutation(sample.n_samples)[:MOST_POINTS]
        latents = fit.base_latents
        return cls(sample.positions[rows], latents.both[:, rows], latents.z[:, rows], fit.base.log_ratio)

    def __call__(self, information: InformationEstimate) -> PointwiseInformation:
        dx = information.dimensions[0]
        values = self.log_ratio(self.latents, self.z)
        return PointwiseInformation(values, self.rows, (self.latents[:dx].T, self.latents[dx:].T), information)


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
    latents = fit.base_latents
    values = fit.base.held_out
    if len(values) < sample.n_samples:  # a flow learned from some of the rows
        values = fit.base.log_ratio(latents.both, latents.z)
    sides = latents.of("x").T, latents.of("y").T
    return PointwiseInformation(values, sample.positions, sides, fit.information)


def is_integer(value: object) -> bool:
    """Whether a value counts as an integer parameter; True and False do not."""
    return isinstance(value, Integral) and not isinstance(value, bool)
