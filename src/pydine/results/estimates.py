"""An estimate, and what single rows contribute to it, as frozen results."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pydine.results.intervals import interval_ends
from pydine.results.records import Record
from pydine.show.cards import card, figure
from pydine.types import FloatArray, must_fit

__all__ = [
    "ConfidenceInterval",
    "InformationEstimate",
    "PointwiseInformation",
    "default_names",
]

NATS_PER_BIT = math.log(2.0)
SHOWN_NAMES = 4
MOST_NATS = 700.0  # of an entropy: exp has no more room
MOST_COLUMNS = 100_000  # of a side: names are made for so many, if a file says that there are none


class ConfidenceInterval(NamedTuple):
    """An interval in nats, with the field names of SciPy's."""

    low: float
    high: float


class _ReadOnly(Mapping[str, object]):
    """A read-only copy of a mapping. Unlike ``types.MappingProxyType`` it pickles and deep-copies."""

    def __init__(self, items: Mapping[str, object]) -> None:
        self._items = dict(items)

    def __getitem__(self, key: str) -> object:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return repr(self._items)


@dataclass(frozen=True, repr=False)
class InformationEstimate(Record):
    """An estimate of the mutual information I(X;Y) or I(X;Y|Z), with its uncertainty.

    The true information is never negative, but the estimate may be, and is not clipped. The estimator's bias
    has been subtracted, so where the truth is zero the estimates scatter around zero and many fall below it.
    Clipping would turn that into a bias upwards, worst in averages and rankings. Read a negative value as "no
    information was found".

    Parameters
    ----------
    value : float
        The estimate in nats.
    standard_error : float
        Its standard error in nats; NaN if the estimator does not know it.
    base : str
        The base distribution of the latents, such as ``"gaussian"``: the one with the largest weight if several were
        averaged. Or the name of another kind of estimator.
    n_samples : int
        Rows that were used.
    dimensions : tuple of int
        The numbers of columns of x, y and z: (dx, dy, dz), with dz = 0 for I(X;Y).
    n_dropped : int, default=0
        Rows that were left out because of NaN or infinity, or as copies of others.
    names : tuple of tuple of str, optional
        The column names of x, of y and of z, for people to read. By default x, y, z, or x0, x1, ...
    details : mapping, optional
        Further results of the estimator, such as the ``"weights"`` of bases that were averaged, and
        ``"uncertainty"``, the parts of the standard error. Read-only, and ignored by ``==``.
    points : callable, optional
        Makes the `PointwiseInformation` that `plot` draws from an estimate; ignored by ``==``.
    errors : tuple of two floats, optional
        Standard errors downwards and upwards, where they differ: what flows have not learned of z yet hides
        information more often than it adds any. `standard_error` is then their root mean square. The latter is
        infinite where a relation is so sharp that its shape alone, and no further row, says how sharp.
    kinds : tuple of tuple of str, optional
        What the columns of x, of y and of z are: ``"continuous"``, ``"ordinal"`` or ``"nominal"``; empty if all are
        continuous.
    entropies : tuple of float
        Entropies of x and of y in nats; infinite for a side that is not discrete.
    degrees_of_freedom : float
        Of the standard error, where rows depend on each other: intervals are those of a t distribution.
    sampling : str
        How rows depend on each other, in words; empty for independent rows.

    Examples
    --------
    >>> estimate = InformationEstimate(0.1532, 0.0213, "gaussian", 442, (1, 1, 2))
    >>> estimate
    I(x; y | z0, z1) = 0.1532 ± 0.0213 nats (0.2210 bits), 95% interval [0.115, 0.199], gaussian base, n = 442
    >>> float(estimate)
    0.1532
    >>> round(estimate.confidence_interval(0.9).high, 3)
    0.191
    """

    value: float
    standard_error: float
    base: str
    n_samples: int
    dimensions: tuple[int, int, int]
    n_dropped: int = 0
    names: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]] = ((), (), ())
    details: Mapping[str, object] = field(default_factory=dict, compare=False)
    points: Callable[[InformationEstimate], PointwiseInformation] | None = field(default=None, compare=False)
    errors: tuple[float, float] | None = None
    kinds: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]] = ((), (), ())
    entropies: tuple[float, float] = (math.inf, math.inf)
    degrees_of_freedom: float = math.inf
    sampling: str = ""

    def __post_init__(self) -> None:
        """Turn NumPy scalars into plain numbers, fill in missing names, and freeze the details."""
        dx, dy, dz = (int(d) for d in self.dimensions)
        must_fit(self, max(dx, dy, dz) <= MOST_COLUMNS)
        x, y, z = self.names
        plain = {
            "value": float(self.value),
            "standard_error": float(self.standard_error),
            "n_samples": int(self.n_samples),
            "dimensions": (dx, dy, dz),
            "n_dropped": int(self.n_dropped),
            "names": (x or default_names("x", dx), y or default_names("y", dy), z or default_names("z", dz)),
            "details": _ReadOnly(self.details),
        }
        for name, item in plain.items():
            object.__setattr__(self, name, item)

    @property
    def bits(self) -> float:
        """The estimate in bits."""
        return self.value / NATS_PER_BIT

    @property
    def bits_standard_error(self) -> float:
        """The standard error in bits."""
        return self.standard_error / NATS_PER_BIT

    @property
    def correlation(self) -> float:
        """The informational coefficient of correlation (Linfoot 1957), sqrt(1 - exp(-2 I)): abs(r) of normal pairs."""
        return correlation_of(self.value)

    def correlation_interval(self, level: float = 0.95) -> ConfidenceInterval:
        """The confidence interval, from 0 to 1 as `correlation` is."""
        low, high = self.confidence_interval(level)
        return ConfidenceInterval(correlation_of(low), correlation_of(high))

    @property
    def explained(self) -> float | None:
        """The uncertainty coefficient: I over the entropy of a discrete side, from 0 to 1; None if none is discrete.

        The entropy is that of y if y is discrete, otherwise of x, and unconditional even where z is given.
        """
        return explained_of(self.value, *self.entropies)

    def __float__(self) -> float:
        return self.value

    def confidence_interval(self, level: float = 0.95) -> ConfidenceInterval:
        """Give a confidence interval for the true information, in nats.

        The normal approximation on the scale of square roots, where the error is the same for weak and strong
        dependence (`pydine.results.intervals`), with `errors` downwards and upwards where they differ. Where the
        value is many standard errors it is close to value ± quantile x standard error; it is never below zero, nor
        above the entropy of a discrete side.

        Parameters
        ----------
        level : float, default=0.95
            The confidence level, between 0 and 1.

        Returns
        -------
        ConfidenceInterval
            The ends ``low`` and ``high`` in nats; both NaN if the standard error is unknown, both infinite if the
            value is.

        Raises
        ------
        ValueError
            If the level is not a number strictly between 0 and 1.
        """
        if not (_is_number(level) and 0.0 < level < 1.0):
            raise ValueError(f"level must be a number strictly between 0 and 1, such as 0.95, but got {level!r}.")
        below, above = self.errors or (self.standard_error, self.standard_error)
        degrees = self.degrees_of_freedom
        low, high = interval_ends(self.value, below, above, level, min(self.entropies), self.terms, degrees)
        return ConfidenceInterval(float(low), float(high))

    @property
    def terms(self) -> int:
        """The number of squared correlations that the information sums up, dx dy, for its interval."""
        kinds = ("/".join(dict.fromkeys(side)) for side in self.kinds)
        x, y = (
            width_of(columns, kind, entropy, self.base)
            for columns, kind, entropy in zip(self.dimensions, kinds, self.entropies, strict=False)
        )
        return max(round(x * y), 1)

    @property
    def advice(self) -> str:
        """What would help, in a sentence, if what is not learned yet is most of the uncertainty; otherwise empty."""
        parts = self.details.get("uncertainty")
        if not isinstance(parts, Mapping) or parts.get("learning", 0.0) <= parts["sampling"]:
            return ""
        return (
            "Most of the uncertainty is about what has not been learned yet: more rows"
            f"{', or fewer columns in z,' if self.dimensions[2] > 1 else ''} would help."
        )

    def plot(self, axes: Any = None, *, units: str = "scores") -> Any:
        """Draw rows, coloured by what they contribute to the information; needs matplotlib.

        Parameters
        ----------
        axes, units
            As in `PointwiseInformation.plot`.

        Returns
        -------
        matplotlib Axes
        """
        if self.points is None:
            raise ValueError("this estimate holds no rows to plot; plot one that pydine.mutual_information returns.")
        return self.points(self).plot(axes, units=units)

    def __repr__(self) -> str:
        known = not math.isnan(self.standard_error)
        error = f" ± {self.standard_error:.4f}" if known else ""
        parts = [f"{expression(self.names)} = {self.value:z.4f}{error} nats ({self.bits:z.4f} bits)"]
        if known:
            low, high = self.confidence_interval(0.95)
            is_open = high == math.inf and self.value < math.inf
            beyond = f", open above because {self.n_samples} rows can show no sharper shape" if is_open else ""
            parts.append(f"95% interval [{low:.3f}, {high:.3f}]{beyond}")
        dropped = f" ({self.n_dropped} rows dropped)" if self.n_dropped else ""
        gain = self.details.get("gain_over_gaussian")
        more = f" ({gain:.3f} nats more than by the Gaussian base)" if self.base != "gaussian" and gain else ""
        parts += [
            f"{self.base} base{more}",
            f"n = {self.n_samples}{dropped}",
            *([self.sampling] if self.sampling else []),
        ]
        return ", ".join(parts)

    def _repr_html_(self) -> str:
        """A card for notebooks."""
        low, high = self.confidence_interval(0.95)
        known = f", 95% interval {low:.3f} to {high:.3f} nats" if not math.isnan(self.standard_error) else ""
        dropped = f" ({self.n_dropped:,} rows dropped)" if self.n_dropped else ""
        lines = [f"{self.bits:z.3f} bits{known}", f"{self.base} base, n = {self.n_samples:,}{dropped}"]
        lines += [f"rows: {self.sampling}"] if self.sampling else []
        return card(expression(self.names), figure(self.value, self.standard_error, "nats"), lines)


@dataclass(frozen=True, repr=False, eq=False)
class PointwiseInformation(Record):
    """Pointwise information: what every row contributes to an estimate.

    Parameters
    ----------
    values : ndarray, shape (n,)
        ln p(x, y | z) - ln p(x | z) - ln p(y | z) of each row in nats, by models that have not seen the row. A row far
        above zero shows the dependence, one below zero goes against it.
    rows : ndarray of int, shape (n,)
        Where the rows are in the data, counted from 0: rows with NaN that were left out are not among them.
    latents : tuple of two ndarrays, shapes (n, dx) and (n, dy)
        The rows' latents given z, between which the dependence is seen.
    estimate : InformationEstimate
        The information of all rows together.
    observed : tuple of two ndarrays, shapes (n, dx) and (n, dy), optional
        The rows of x and of y in their own units; labels as numbers.
    left : tuple of two ndarrays, shapes (n, dx) and (n, dy), optional
        The same less what functions of z predict of them; None for labels of more than two kinds, and angles.
    """

    values: FloatArray
    rows: NDArray[np.intp]
    latents: tuple[FloatArray, FloatArray]
    estimate: InformationEstimate
    observed: tuple[FloatArray, FloatArray] | None = None
    left: tuple[FloatArray, FloatArray] | None = None

    def __post_init__(self) -> None:
        """Refuse parts that do not fit each other."""
        n = self.values.size
        sides = (*self.latents, *(self.observed or ()), *(self.left or ()))
        must_fit(self, self.values.shape == self.rows.shape == (n,) and {len(side) for side in sides} == {n})

    def top(self, count: int = 10) -> NDArray[np.intp]:
        """Positions in the data of the rows that carry the most information, the most first."""
        order: NDArray[np.intp] = self.rows[np.argsort(-self.values, kind="stable")[:count]]
        return order

    def plot(self, axes: Any = None, *, units: str = "scores") -> Any:
        """Draw the rows, coloured by what they contribute; needs matplotlib.

        Parameters
        ----------
        axes : matplotlib Axes, or two of them for ``units="both"``, optional
            Where to draw; otherwise a new figure. With several columns, the first of each side is drawn.
        units : {"scores", "original", "partial", "both"}, default="scores"
            The rows' latents, from which all that z explains is taken out; the columns as they came; the columns less
            what functions of z predict of them, in their own units; or the first and, given z, the third side by side
            (without z the first and the second).

        Returns
        -------
        matplotlib Axes, or an array of two
        """
        from pydine.show.plotting import draw_beside, draw_pointwise

        own = "partial" if self.estimate.dimensions[2] and self.left is not None else "original"
        kept = {"scores": self.latents, "original": self.observed, "partial": self.left}
        if units not in (*kept, "both"):
            raise ValueError(f"units must be 'scores', 'original', 'partial' or 'both', but got {units!r}.")
        if kept[own if units == "both" else units] is None:
            why = "labels or angles" if self.observed is not None else "stored without their values"
            raise ValueError(f"these rows are {why}, which have no such plot; pass units='scores'.")
        return draw_beside(self, axes, ("scores", own)) if units == "both" else draw_pointwise(self, axes, units)

    def __repr__(self) -> str:
        share = float((self.values > 0.0).mean())
        return f"{self.estimate!r}; {share:.0%} of the rows are above zero, the largest is {self.values.max():.3f} nats"

    def _repr_html_(self) -> str:
        """A card for notebooks."""
        value = figure(self.estimate.value, self.estimate.standard_error, "nats")
        return card(f"{expression(self.estimate.names)}, row by row", value, [repr(self).rpartition("; ")[2]])


def width_of(columns: int, kind: str, entropy: float, base: str) -> float:
    """How many numbers a side is to an estimate: one for each column, L - 1 for a label of L levels.

    In a contingency table, steps count as labels do. L is the effective number of levels, exp(entropy): that of equally
    frequent levels with the same entropy.
    """
    if entropy < MOST_NATS and (base == "table" or (kind == "nominal" and columns == 1)):
        return max(math.expm1(entropy), 1.0)
    return float(columns)


def correlation_of(information: float) -> float:
    """Nats on the scale of a correlation, from 0 to 1; negative ones become 0."""
    return math.sqrt(-math.expm1(-2.0 * information)) if information > 0.0 else information * 0.0


def explained_of(information: float, of_x: float, of_y: float) -> float | None:
    """Nats as a share of the entropy of y if that is finite, otherwise of x; None if neither is."""
    entropy = of_y if math.isfinite(of_y) else of_x
    if not math.isfinite(entropy) or entropy <= 0.0:
        return None
    return min(max(information / entropy, 0.0), 1.0) if not math.isnan(information) else math.nan


def default_names(label: str, n_columns: int) -> tuple[str, ...]:
    """Name the columns of an argument that has no names.

    Parameters
    ----------
    label : str
        The argument: ``"x"``, ``"y"`` or ``"z"``.
    n_columns : int
        How many columns it has.

    Returns
    -------
    tuple of str
        The label itself for one column, otherwise x0, x1, ...
    """
    return (label,) if n_columns == 1 else tuple(f"{label}{i}" for i in range(n_columns))


def _is_number(value: object) -> bool:
    return isinstance(value, Real)


def expression(names: tuple[tuple[str, ...], ...]) -> str:
    """Write I(x; y | z) with the column names, long lists shortened in the middle."""
    x, y, z = (", ".join(shortened(columns)) for columns in names)
    return f"I({x}; {y} | {z})" if z else f"I({x}; {y})"


def shortened(columns: tuple[str, ...]) -> tuple[str, ...]:
    return columns if len(columns) <= SHOWN_NAMES else (*columns[: SHOWN_NAMES - 2], "…", columns[-1])
