"""Figures, with matplotlib, which is imported when something is drawn and not before."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pydine.show.cards import strip_end
from pydine.show.extras import missing
from pydine.show.text import printable

MOST_POINTS = 20_000
MOST_NAMES, MOST_NUMBERS = 60, 14  # variables of a matrix that are named, and whose values are written into it


def new_axes(width: float = 5.6, height: float = 4.6, count: int = 1) -> Any:
    """Axes in a new figure, or as many side by side, or a sentence that says what to install."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise missing("matplotlib", "plotting") from None
    return plt.subplots(1, count, figsize=(width, height), layout="constrained")[1]


def label_of(name: str) -> str:
    """A name as a figure shows it: without what no file of XML may hold, and with dollars that begin no formula."""
    return printable(name).replace("$", r"\$")


def draw_pointwise(pointwise: Any, axes: Any = None, units: str = "scores") -> Any:
    """Draw rows coloured by pointwise information (see `PointwiseInformation.plot`)."""
    axes = new_axes() if axes is None else axes
    sides = {"scores": pointwise.latents, "original": pointwise.observed, "partial": pointwise.left}[units]
    x, y = (side[:, 0] for side in sides)
    values = pointwise.values
    if len(values) > MOST_POINTS:
        some = np.random.default_rng(0).permutation(len(values))[:MOST_POINTS]
        x, y, values = x[some], y[some], values[some]
    order = np.argsort(np.abs(values))  # what counts most is drawn last
    limit = max(float(np.quantile(np.abs(values), 0.98)), 1e-9)
    size = float(np.clip(8000.0 / len(values), 2.0, 24.0))
    look = {"cmap": "RdBu_r", "vmin": -limit, "vmax": limit, "s": size, "linewidths": 0, "rasterized": True}
    points = axes.scatter(x[order], y[order], c=values[order], **look)
    axes.set_facecolor("0.94")  # white is the colour of rows that say nothing
    axes.figure.colorbar(points, ax=axes, label="pointwise information (nats)", extend="both")
    estimate = pointwise.estimate
    first, second = label_of(estimate.names[0][0]), label_of(estimate.names[1][0])
    known = label_of(_given(estimate.names[2])) if estimate.dimensions[2] else ""
    if units == "scores":
        given = f" given {known}" if known else ""
        first, second = (f"{name}{given}, normal score" for name in (first, second))
    elif units == "partial" and known:
        first, second = (f"{name}, residual given {known}" for name in (first, second))
    axes.set(xlabel=first, ylabel=second)
    axes.set_title(f"{estimate.value:.3f} nats in {estimate.n_samples:,} rows ({estimate.base} base)")
    return axes


def draw_beside(pointwise: Any, axes: Any, units: tuple[str, str]) -> Any:
    """Draw rows in two units side by side (see `PointwiseInformation.plot`)."""
    axes = new_axes(11.2, 4.6, len(units)) if axes is None else axes
    for one, unit in zip(axes, units, strict=True):
        draw_pointwise(pointwise, one, unit)
    return axes


def draw_null(result: Any, axes: Any = None) -> Any:
    """Draw a test's statistic among those of the permutations (see `IndependenceTestResult.plot`)."""
    axes = new_axes(5.6, 3.6) if axes is None else axes
    null, statistic = np.asarray(result.null_distribution), result.statistic
    axes.hist(null, bins="auto", color="0.75", label=f"{len(null):,} permutations")
    colour = "#d55e00" if result.rejected else "#0072b2"
    axes.axvline(statistic, color=colour, lw=2, label=f"the data, p = {result.pvalue:.3g}")
    unit = "information (nats)" if result.kind == "gaussian" else "-ln of the combined p-value"
    verdict = "rejected" if result.rejected else "not rejected"
    axes.set(xlabel=f"statistic: {unit}", ylabel="permutations", title=f"independence {verdict} at {result.alpha:g}")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def draw_ranking(ranking: Any, axes: Any = None) -> Any:
    """Draw a ranking as intervals, alone and given the rest (see `Ranking.plot`)."""
    columns = ranking.columns[:MOST_NAMES][::-1]
    axes = new_axes(6.4, float(np.clip(1.2 + 0.32 * len(columns), 2.0, 14.0))) if axes is None else axes
    for shift, colour, label, estimates in (
        (0.14, "#9dc3da", "alone", [column.alone for column in columns]),
        (-0.14, "#0b5c8c", "given the rest", [column.given_rest for column in columns]),
    ):
        known = [(k, e) for k, e in enumerate(estimates) if e is not None and np.isfinite(e.value)]
        if known:
            values = np.array([max(e.value, 0.0) for _, e in known])
            low, high = np.array([e.confidence_interval() for _, e in known]).T
            errors = np.maximum(np.nan_to_num([values - low, high - values]), 0.0)
            places = [k + shift for k, _ in known]
            axes.errorbar(values, places, xerr=errors, fmt="o", ms=5, color=colour, label=label)
    axes.set_yticks(range(len(columns)), [label_of(column.name) for column in columns])
    axes.set(xlabel=f"information about {label_of(ranking.target)} (nats, 95% intervals)")
    every = [e for column in columns for e in (column.alone, column.given_rest) if e is not None]
    axes.set_xlim(0.0, 1.04 * strip_end([(e.value, e.standard_error, e.confidence_interval().high) for e in every]))
    axes.margins(y=0.03)
    axes.legend(frameon=False, loc="lower right")
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def draw_matrix(matrix: Any, axes: Any = None, *, cluster: bool = True) -> Any:
    """Draw a matrix of information as a heat map (see `PairwiseInformation.plot`)."""
    p = len(matrix.names)
    side = float(np.clip(2.2 + 0.34 * p, 4.0, 14.0))
    axes = new_axes(side + 1.2, side) if axes is None else axes
    from matplotlib.colors import PowerNorm

    order = clustered(matrix.values) if cluster and p > 2 else np.arange(p)
    shown = np.maximum(matrix.values[np.ix_(order, order)], 0.0)
    finite = shown[np.isfinite(shown)]
    limit = max(float(finite.max(initial=0.0)), 0.05)
    # The root spreads small values: what matters is often a hundredth of the largest.
    look = {"cmap": "viridis", "norm": PowerNorm(0.5, 0.0, limit), "interpolation": "nearest"}
    image = axes.imshow(np.minimum(shown, limit), **look)
    axes.set_facecolor("0.9")  # the diagonal has no value
    axes.figure.colorbar(image, ax=axes, label="information (nats)", shrink=0.8)
    names = [label_of(matrix.names[i]) for i in order]
    if p <= MOST_NAMES:
        axes.set_xticks(range(p), names, rotation=90 if max(map(len, names)) > 2 else 0)
        axes.set_yticks(range(p), names)
    else:
        axes.set(xticks=[], yticks=[], xlabel=f"{p:,} variables", ylabel=f"{p:,} variables")
    if p <= MOST_NUMBERS:
        for i, j in np.argwhere(~np.isnan(shown)):
            dark = min(shown[i, j], limit) < 0.45 * limit
            axes.text(j, i, f"{shown[i, j]:.2f}", ha="center", va="center", size=8, color="w" if dark else "k")
    axes.set_title(f"{'given ' + _given(matrix.given) + ', ' if matrix.given else ''}n = {matrix.n_samples:,}")
    return axes


def _given(given: tuple[str, ...] | str) -> str:
    if isinstance(given, str):
        return "the rest"
    return ", ".join(given) if len(given) <= 4 else f"{len(given)} others"


def clustered(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Order variables so that those which tell much about each other are neighbours, shape (p,)."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    # 1 - |r| of a Gaussian pair with this information: bounded, whatever the information is.
    distance = 1.0 - np.sqrt(-np.expm1(-2.0 * np.maximum(values, 0.0)))
    np.fill_diagonal(distance, 0.0)
    condensed = squareform(distance, checks=False)
    leaves: NDArray[np.intp] = leaves_list(linkage(condensed, "average", optimal_ordering=len(values) <= 300))
    return leaves


def draw_lags(found: Any, axes: Any = None) -> Any:
    """Draw information against the lag (see `LaggedInformation.plot`)."""
    axes = new_axes(6.4, 3.6) if axes is None else axes
    lags, values = np.array(found.lags), np.array(found.values)
    band = np.array(found.band())
    axes.fill_between(lags, band[:, 0], band[:, 1], color="0.9", label="95% band of all lags", step="mid")
    ends = np.array([estimate.confidence_interval() for estimate in found.estimates])
    reach = np.abs(ends.T - np.maximum(values, 0.0))
    axes.errorbar(lags, np.maximum(values, 0.0), reach, fmt="o", ms=4, color="#0072b2", label="95% intervals")
    axes.axhline(0.0, color="0.5", lw=0.8)
    x, y, _ = found.estimates[0].names
    axes.set(xlabel=f"lag of {label_of(y[0])} behind {label_of(x[0].partition(' (t')[0])}, in rows", ylabel="nats")
    axes.legend(frameon=False)
    return axes


def draw_explanation(explanation: Any, axes: Any = None) -> Any:
    """Draw what other columns leave of two, in their units (see `Explanation.plot`)."""
    axes = new_axes() if axes is None else axes
    x, y = explanation.residuals
    size = float(np.clip(8000.0 / len(x), 2.0, 24.0))
    axes.scatter(x, y, s=size, color="#0b5c8c", alpha=0.6, linewidths=0, rasterized=True)
    axes.axhline(0.0, color="0.7", lw=1, zorder=0)
    axes.axvline(0.0, color="0.7", lw=1, zorder=0)
    names = [label_of(name) for name in (explanation.name, explanation.target)]
    labels = [f"{name}, residual given the others" for name in names]
    left = explanation.steps[-1].left
    low, high = left.confidence_interval()
    axes.set(
        xlabel=labels[0], ylabel=labels[1], title=f"{left.value:.3f} nats left, 95% interval {low:.3f} to {high:.3f}"
    )
    axes.spines[["top", "right"]].set_visible(False)
    return axes
