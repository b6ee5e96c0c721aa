"""The question "how much does X tell about Y, given Z?", answered: from a sample to an estimate in nats."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pydine.data import Sample, read_sample
from pydine.engine.ladder import LadderSettings
from pydine.engine.latents import RankFlow, fit_rank_flow
from pydine.engine.paper import PaperFlow, PaperSettings, fit_paper_flow
from pydine.information import gaussian_information, gaussian_standard_error, rank_effect, wishart_bias
from pydine.results import InformationEstimate

FloatArray = NDArray[np.float64]
RandomState = int | np.random.RandomState | np.random.Generator | None

BASES = ("gaussian",)
ALGORITHMS = ("ladder", "paper")
LEAST = {"n_components": 1, "hidden_units": 1, "n_networks": 0, "n_folds": 2, "max_iter": 1, "max_rows": 100}
BIAS_REPLICATES = 16
SMALLEST_VARIANCE = 1e-10  # of a latent, or of a combination of latents, that is more than rounding


@dataclass(frozen=True)
class Settings:
    """Everything an estimate depends on beside the data; the parameters of `DINE`, where they are described."""

    base: str = "gaussian"
    algorithm: str = "ladder"
    n_components: int = LadderSettings.components
    hidden_units: int = LadderSettings.hidden_units
    n_networks: int = LadderSettings.networks
    n_folds: int = LadderSettings.folds
    weight_decay: float = LadderSettings.weight_decay
    max_iter: int = LadderSettings.iterations
    max_rows: int = LadderSettings.max_rows
    random_state: RandomState = 0
    n_jobs: int | None = None

    @classmethod
    def of(cls, algorithm: str, **changes: Any) -> Settings:
        """Return the defaults of an algorithm, with changes."""
        paper = {
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
        decay: Any = self.weight_decay
        if not isinstance(decay, Real) or not 0.0 <= float(decay) < np.inf:
            raise ValueError(f"weight_decay must be a number of at least 0, but got {self.weight_decay!r}.")
        if self.n_jobs is not None and (not is_integer(self.n_jobs) or self.n_jobs == 0):
            raise ValueError(f"n_jobs must be None or an integer other than 0, but got {self.n_jobs!r}.")

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


def estimate(sample: Sample, settings: Settings) -> tuple[RankFlow | PaperFlow, InformationEstimate]:
    """Fit the flows of a sample and turn their latents into nats.

    Parameters
    ----------
    sample : Sample
    settings : Settings
        Checked.

    Returns
    -------
    flow : RankFlow or PaperFlow
        The fitted maps.
    information : InformationEstimate
    """
    seed = settings.seed()
    flow: RankFlow | PaperFlow
    if settings.algorithm == "paper":
        flow = _fit_paper(sample, settings, seed)
        value, error, details = _plain(flow)
    else:
        flow = _fit_ladder(sample, settings, seed)
        value, error, details = _corrected(flow, sample, seed)
    details = {"algorithm": settings.algorithm, "degrees_of_freedom": flow.dof, **details}
    return flow, InformationEstimate(
        value,
        error,
        settings.base,
        sample.n_samples,
        sample.dimensions,
        sample.n_dropped,
        sample.names,
        details,
    )


def _fit_paper(sample: Sample, settings: Settings, seed: int) -> PaperFlow:
    paper = PaperSettings(settings.hidden_units, settings.n_components, settings.max_iter, seed=seed)
    return fit_paper_flow(sample.x, sample.y, sample.z, paper, settings.n_jobs)


def _fit_ladder(sample: Sample, settings: Settings, seed: int) -> RankFlow:
    ladder = LadderSettings(
        networks=settings.n_networks,
        hidden_units=settings.hidden_units,
        components=settings.n_components,
        weight_decay=settings.weight_decay,
        iterations=settings.max_iter,
        folds=settings.n_folds,
        max_rows=settings.max_rows,
        seed=seed,
    )
    return fit_rank_flow(sample.x, sample.y, sample.z, ladder, settings.n_jobs)


def _plain(flow: PaperFlow) -> tuple[float, float, dict[str, object]]:
    """Algorithm 1, steps 4 and 5: uncentred covariance with n - 1, the closed form, nothing corrected."""
    covariance, dx = flow.cross_product / flow.dof, flow.dimensions[0]
    return gaussian_information(covariance, dx), gaussian_standard_error(covariance, dx, flow.dof), {}


def _corrected(flow: RankFlow, sample: Sample, seed: int) -> tuple[float, float, dict[str, object]]:
    """The closed form less its bias and that of the ranks."""
    dx, dy, _ = flow.dimensions
    covariance = flow.cross_product / flow.dof
    _check_rank(covariance, sample)
    wishart = wishart_bias(dx, dy, flow.dof)
    rng = np.random.default_rng([seed, dx, dy])
    ranks = rank_effect(covariance, dx, flow.dof, sample.n_samples, BIAS_REPLICATES, rng)
    value = gaussian_information(covariance, dx) - wishart - ranks.bias
    error = gaussian_standard_error(covariance, dx, flow.dof) * ranks.inflation
    names = [name for block in sample.names[:2] for name in block]
    rungs = {name: unit.rung_weights for name, unit in zip(names, flow.units.values(), strict=True)}
    return value, error, {"wishart_bias": wishart, "rank_bias": ranks.bias, "rungs": rungs}


def _check_rank(covariance: FloatArray, sample: Sample) -> None:
    """Refuse latents that are exhausted: a column that z determines, or columns that determine each other."""
    labels = [(label, name) for label, names in zip("xy", sample.names, strict=False) for name in names]
    for (label, name), variance in zip(labels, np.diag(covariance), strict=True):
        if variance < SMALLEST_VARIANCE:
            raise ValueError(
                f"column {name!r} of {label} must vary given z, but z determines it and nothing of it is left; leave "
                "the column out."
            )
    scale = np.sqrt(np.diag(covariance))
    if np.linalg.eigvalsh(covariance / np.outer(scale, scale))[0] < SMALLEST_VARIANCE:
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
    base: str = "gaussian",
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    nan_policy: str = "raise",
) -> InformationEstimate:
    """Estimate the mutual information I(X;Y), or I(X;Y|Z) given a third argument.

    Parameters
    ----------
    x, y, z : array-like of shape (n,) or (n, d), column, frame, or names of columns of `data`
        Observations of X, Y and, for conditional information, Z: arrays, lists, pandas, polars or pyarrow. Real-valued;
        a vector variable has several columns.
    data : frame, optional
        A pandas or polars frame, a pyarrow table, a dict of columns, or a 2-D array; x, y and z then name its columns.
    base : {"gaussian"}, default="gaussian"
        Base distribution of the latents (see `DINE`).
    random_state : int, numpy.random.RandomState, numpy.random.Generator or None, default=0
        The same integer gives the same number to the last bit.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    nan_policy : {"raise", "omit"}, default="raise"
        What happens to rows that hold NaN or infinity: refused, or left out and counted in the result.

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
    settings = Settings(base=base, random_state=random_state, n_jobs=n_jobs)
    settings.check()
    return estimate(read_sample(x, y, z, data=data, nan_policy=nan_policy), settings)[1]


def is_integer(value: object) -> bool:
    """Whether a value counts as an integer parameter; True and False do not."""
    return isinstance(value, Integral) and not isinstance(value, bool)
