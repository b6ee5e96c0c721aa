"""The information between all pairs of variables, as a frozen result: table, matrix, heat map, graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from pydine.results.estimates import width_of
from pydine.results.intervals import interval_ends
from pydine.results.records import Record
from pydine.show.cards import figure, pvalue_text, table
from pydine.show.extras import missing
from pydine.types import FloatArray, must_fit

SHOWN_PAIRS = 10


@dataclass(frozen=True, repr=False, eq=False)
class PairwiseInformation(Record):
    """The information between every two of p variables, perhaps given others.

    Matrices are symmetric, of shape (p, p), in the order of `names`, with NaN on the diagonal: a variable is not
    compared with itself.

    Parameters
    ----------
    names : tuple of str
        The variables.
    values, standard_errors : ndarray, shape (p, p)
        Nats. As `InformationEstimate` has them: not clipped at zero. Infinite where one variable is a function of
        another; NaN, with a p-value of 1 and a warning, where two have too few rows in common.
    errors : tuple of two ndarrays, shapes (p, p)
        Standard errors downwards and upwards, as those of `InformationEstimate`.
    pvalues, adjusted_pvalues : ndarray, shape (p, p)
        Of independence, by the analytic test, and adjusted for the number of pairs; NaN if nothing was tested.
    bases : ndarray of str, shape (p, p)
        How each value was found: ``"gaussian"``, ``"student"``, ``"mixture"`` or ``"flow"``; empty on the diagonal.
    given : tuple of str or "rest"
        What was conditioned on.
    n_samples, n_dropped : int
        Rows that were used by some figure, and rows that none could use because of NaN or infinity.
    n_units : int
        Number of units (flows of a single column) that the matrix is computed from.
    n_general : int
        Number of pairs that the screen found not to be Gaussian, to which richer bases were fitted.
    is_shared : bool
        Whether what is given was projected out of all variables together: that is much faster, and approximates the
        answers to separate questions about each pair.
    adjustment : str
        ``"bh"`` or ``"holm"``.
    backend : str
        The library that frames are made with: that of the data, if it was a frame.
    counts : ndarray of int, shape (p, p)
        Rows behind each figure. They differ where values are missing: every pair has the rows in which both are there.
    kinds : tuple of str
        What each variable is: ``"continuous"``, ``"ordinal"``, ``"nominal"``, or several of them.
    entropies : tuple of float
        Of each variable in nats; infinite if it is not discrete.
    widths : tuple of int
        How many columns each variable has; none if all have one.
    degrees : ndarray, shape (p, p) or (0,)
        Degrees of freedom of the errors, where rows depend on each other.
    """

    names: tuple[str, ...]
    values: FloatArray
    standard_errors: FloatArray
    errors: tuple[FloatArray, FloatArray]
    pvalues: FloatArray
    adjusted_pvalues: FloatArray
    bases: NDArray[np.str_]
    given: tuple[str, ...] | str
    n_samples: int
    n_dropped: int
    n_units: int
    n_general: int
    is_shared: bool
    adjustment: str
    backend: str = field(default="pandas", repr=False)
    counts: NDArray[np.intp] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.intp))
    kinds: tuple[str, ...] = ()
    entropies: tuple[float, ...] = ()
    widths: tuple[int, ...] = ()
    degrees: FloatArray = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        """By default a figure has all rows that were used. Refuse parts that do not fit each other."""
        p = len(self.names)
        must_fit(self, np.shape(self.values) == (p, p))  # the first, so that a file cannot say that there are more
        if not self.counts.size:
            object.__setattr__(self, "counts", np.where(np.eye(p, dtype=np.bool_), 0, self.n_samples))
        parts = self.standard_errors, *self.errors, self.pvalues, self.adjusted_pvalues, self.bases, self.counts
        must_fit(self, {part.shape for part in parts} == {(p, p)})
        must_fit(self, {len(self.kinds), len(self.entropies), len(self.widths)} <= {0, p})
        must_fit(self, not self.degrees.size or self.degrees.shape == (p, p))

    @property
    def correlations(self) -> FloatArray:
        """The values from 0 to 1, sqrt(1 - exp(-2 I)): abs(r) of normal pairs. NaN on the diagonal, (p, p)."""
        scaled: FloatArray = np.sqrt(-np.expm1(-2.0 * np.maximum(self.values, 0.0)))
        return scaled

    @property
    def explained(self) -> FloatArray:
        """The share of the entropy of the column's variable that the row's tells, shape (p, p).

        NaN in columns of variables that are not discrete.
        """
        entropies = np.array(self.entropies) if self.entropies else np.full(len(self.names), np.inf)
        is_discrete = np.isfinite(entropies)
        shares = np.maximum(self.values, 0.0) / np.where(is_discrete, entropies, 1.0)
        return np.where(is_discrete, np.minimum(shares, 1.0), np.nan)

    @property
    def bounds(self) -> FloatArray:
        """What the information of pairs cannot exceed, in nats: entropies of discrete variables, shape (p, p)."""
        entropies = np.array(self.entropies) if self.entropies else np.full(len(self.names), np.inf)
        least: FloatArray = np.minimum.outer(entropies, entropies)
        return least

    @property
    def terms(self) -> NDArray[np.intp]:
        """The number of squared correlations that a pair's information sums up, as in `InformationEstimate`, (p, p)."""
        p = len(self.names)
        kinds, entropies = self.kinds or ("",) * p, self.entropies or (np.inf,) * p
        sides = list(zip(self.widths or (1,) * p, kinds, entropies, strict=True))
        plain, tabled = (np.array([width_of(*side, base) for side in sides]) for base in ("", "table"))
        products = (np.multiply.outer(widths, widths) for widths in (tabled, plain))
        terms: NDArray[np.intp] = np.maximum(np.rint(np.where(self.bases == "table", *products)), 1.0).astype(np.intp)
        return terms

    @property
    def pairs(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Positions of the first and of the second variable of every pair, most information first."""
        first, second = np.triu_indices(len(self.names), 1)
        order = np.argsort(-self.values[first, second], kind="stable")
        return first[order], second[order]

    @property
    def row_range(self) -> str:
        """How many rows figures have, in words: "442", or "380 to 442" where values are missing."""
        counts = self.counts[self.pairs]
        return f"{counts.max():,}" if counts.min() == counts.max() else f"{counts.min():,} to {counts.max():,}"

    def columns(self, level: float = 0.95) -> dict[str, list[Any]]:
        """The ranked table as columns, as `to_frame` has them.

        Parameters
        ----------
        level : float
            Confidence of the intervals from low to high, as `InformationEstimate.confidence_interval` has them.
        """
        pairs = first, second = self.pairs
        values = self.values[pairs]
        below, above = (errors[pairs] for errors in self.errors)
        degrees = self.degrees[pairs] if self.degrees.size else np.inf
        low, high = interval_ends(values, below, above, level, self.bounds[pairs], self.terms[pairs], degrees)
        shares = self.explained
        of_second = shares[pairs]
        return {
            "x": [self.names[i] for i in first],
            "y": [self.names[i] for i in second],
            "information": values.tolist(),
            "standard_error": self.standard_errors[pairs].tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
            "pvalue": self.pvalues[pairs].tolist(),
            "adjusted_pvalue": self.adjusted_pvalues[pairs].tolist(),
            "base": self.bases[pairs].tolist(),
            "n": self.counts[pairs].tolist(),
            "correlation": self.correlations[pairs].tolist(),
            "explained": np.where(np.isnan(of_second), shares[second, first], of_second).tolist(),
        }

    def to_frame(self) -> Any:
        """The pairs as a table, most information first, in a frame of the library that the data came in.

        Returns
        -------
        frame
            Columns x, y, information, standard_error, low, high (nats; a 95% interval), pvalue, adjusted_pvalue, base,
            n (rows behind the figure), correlation (from 0 to 1) and explained (a share of the entropy of y, or of x,
            if one is discrete).
        """
        return as_frame(self.columns(), self.backend)

    def to_matrix(self) -> Any:
        """The values as a frame with a column for each variable; pandas also gets the names as its index."""
        if self.backend == "pandas":
            return square_frame(self.values, self.names, self.backend)
        columns: dict[str, list[Any]] = {name: self.values[:, i].tolist() for i, name in enumerate(self.names)}
        return as_frame({"variable": list(self.names), **columns}, self.backend)

    def plot(self, axes: Any = None, *, cluster: bool = True) -> Any:
        """Draw the matrix as a heat map, related variables side by side; needs matplotlib.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; otherwise a new figure.
        cluster : bool, default=True
            Whether to order the variables by hierarchical clustering; otherwise they are in the order of `names`.

        Returns
        -------
        matplotlib Axes
        """
        from pydine.show.plotting import draw_matrix

        return draw_matrix(self, axes, cluster=cluster)

    def graph(self, alpha: float = 0.05) -> Any:
        """The pairs whose adjusted p-value is at most alpha, as a networkx graph; needs networkx.

        Returns
        -------
        networkx.Graph
            All variables are nodes. Edges have ``information`` and ``weight`` (nats), ``pvalue``, ``adjusted_pvalue``.
        """
        if not 0.0 < alpha < 1.0:
            raise ValueError(f"alpha must be a number strictly between 0 and 1, but got {alpha!r}.")
        if np.isnan(self.pvalues[self.pairs]).any():
            raise ValueError("a graph needs p-values, but nothing was tested; pass test=True.")
        try:
            import networkx as nx
        except ImportError:
            raise missing("networkx", "a graph of networkx") from None
        graph = nx.Graph()
        graph.add_nodes_from(self.names)
        for i, j in zip(*self.pairs, strict=True):
            if self.adjusted_pvalues[i, j] <= alpha:
                value = float(self.values[i, j])
                tests = {"pvalue": float(self.pvalues[i, j]), "adjusted_pvalue": float(self.adjusted_pvalues[i, j])}
                graph.add_edge(self.names[i], self.names[j], information=value, weight=value, **tests)
        return graph

    def __repr__(self) -> str:
        first, second = self.pairs
        given = "" if not self.given else f" given {self.given if self.given == 'rest' else ', '.join(self.given)}"
        dropped = f" ({self.n_dropped} rows dropped)" if self.n_dropped else ""
        are = "pair is" if self.n_general == 1 else "pairs are"
        general = f", {self.n_general:,} {are} not Gaussian" if self.n_general else ""
        lines = [
            f"{len(first):,} pairs of {len(self.names):,} variables{given}, n = {self.row_range}{dropped}, "
            f"{self.n_units:,} units{general}:"
        ]
        shown = list(zip(first[:SHOWN_PAIRS], second[:SHOWN_PAIRS], strict=True))
        width = max(len(f"{self.names[i]}; {self.names[j]}") for i, j in shown)
        for i, j in shown:
            pair = f"{self.names[i]}; {self.names[j]}"
            test = "" if np.isnan(self.pvalues[i, j]) else f"  adjusted p = {self.adjusted_pvalues[i, j]:.2g}"
            error = "" if np.isnan(self.standard_errors[i, j]) else f" ± {self.standard_errors[i, j]:.4f}"
            lines.append(f"  {pair:<{width}}  {self.values[i, j]:z.4f}{error} nats{test}")
        if len(first) > SHOWN_PAIRS:
            lines.append(f"  … and {len(first) - SHOWN_PAIRS:,} more: to_frame() has all")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """A table for notebooks: the strongest pairs."""
        first, second = self.pairs
        shown = list(zip(first[:SHOWN_PAIRS], second[:SHOWN_PAIRS], strict=True))
        head, _, rest = repr(self).partition(":\n")
        rows = [
            [
                f"{self.names[i]}; {self.names[j]}",
                figure(float(self.values[i, j]), float(self.standard_errors[i, j])),
                pvalue_text(float(self.adjusted_pvalues[i, j])),
                f"{self.counts[i, j]:,}",
            ]
            for i, j in shown
        ]
        more = rest.rpartition("\n")[2].strip() if len(first) > SHOWN_PAIRS else ""
        return table(head, ["pair", "nats", "adjusted p", "n"], rows, more)


def square_frame(values: FloatArray, names: tuple[str, ...], backend: str) -> Any:
    """A matrix (p, p) as a frame with a column for each variable; pandas also gets the names as its index."""
    frame = as_frame({name: values[:, i].tolist() for i, name in enumerate(names)}, backend)
    return frame.set_axis(list(names), axis=0) if backend == "pandas" else frame


def as_frame(columns: dict[str, list[Any]], backend: str) -> Any:
    """Columns as a frame of a library, or a sentence that says what to install."""
    import narwhals as nw  # takes as long to import as much of this package

    try:
        return nw.from_dict(columns, backend=cast(Any, backend)).to_native()
    except ImportError:
        raise ImportError(f"frames need {backend}; install it with: pip install {backend}") from None
