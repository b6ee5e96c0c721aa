"""The figures of the experiments, for print: the width of a page, serif type, and colours that all can tell apart."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydine.disk import write_whole
from pydine.experiments.methods import label
from pydine.experiments.summaries import LEVEL, convergence_summary, curves, decision_summary
from pydine.experiments.table import Row
from pydine.show.plotting import new_axes
from pydine.theory import asymptotic_variance, variance_bound

PAGE_WIDTH = 6.9  # inches
DOTS = 200
DASHES = (0, (4, 3))
STYLE: dict[Any, Any] = {
    "font.family": "STIXGeneral",
    "mathtext.fontset": "stix",
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "legend.fontsize": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "grid.color": "0.92",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "pdf.fonttype": 42,  # text stays text
}
# Okabe and Ito's palette, which stays apart under every common colour blindness; markers keep it apart in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#5C5C5C", "#8B6914", "#9A9A9A")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
# A method looks the same in every figure; names that are not here take what is left.
PLACES = {"dine": 0, "dine-paper": 1, "copula": 2, "ksg": 3, "dine-gaussian": 5, "dine-analytic": 5, "oracle": 8}
METRICS = {"f1": "F1 score", "auc": "AUC", "type_1": "type I error", "type_2": "type II error"}


def draw_estimates(rows: Iterable[Row], title: str = "information") -> Any:
    """Draw mean estimates against the correlation: a row for each n, a column for each d, the truth dashed.

    Parameters
    ----------
    rows
        Of the experiments ``"mi"`` and ``"cmi"``.
    title
        What is estimated; nats are added.

    Returns
    -------
    matplotlib Figure
        Bands are 95% confidence intervals of the means.
    """
    points = curves(rows)
    sizes, dimensions = (sorted({point[name] for point in points}) for name in ("n", "d"))
    methods = ordered(point["method"] for point in points)
    with _figure(len(sizes), len(dimensions), PAGE_WIDTH, 0.5 + 1.95 * len(sizes)) as (figure, axes):
        for (i, n), (j, d) in ((a, b) for a in enumerate(sizes) for b in enumerate(dimensions)):
            cell = [point for point in points if (point["n"], point["d"]) == (n, d)]
            _draw_cell(axes[i, j], cell, methods)
            axes[i, j].set_title(f"$n = {n}$, $d = {d}$")
        for axis in axes[-1]:
            axis.set_xlabel(r"correlation $\rho$")
        for axis in axes[:, 0]:
            axis.set_ylabel(f"{title} (nats)")
        _legend(figure, axes[0, 0])
        return figure


def draw_tests(rows: Iterable[Row], level: float = LEVEL) -> Any:
    """Draw F1, AUC and both error rates of tests against the number of columns in z; a matplotlib Figure."""
    lines = decision_summary(rows, level)
    styles = _styles(ordered(line["method"] for line in lines))
    with _figure(1, len(METRICS), PAGE_WIDTH, 2.3) as (figure, axes):
        for axis, (metric, label) in zip(axes[0], METRICS.items(), strict=True):
            for (method, style), shift in zip(styles.items(), _shifts(len(styles)), strict=True):
                chosen = [line for line in lines if line["method"] == method]
                axis.plot([line["dz"] + shift for line in chosen], [line[metric] for line in chosen], **style)
            low, high = axis.get_ylim()
            axis.set_ylim((min(low, 0.9), 1.003) if metric in ("f1", "auc") else (-0.01, max(high, 0.12)))
            axis.set(title=label, xlabel="$d_z$", xticks=sorted({line["dz"] for line in lines}))
        axes[0, list(METRICS).index("type_1")].axhline(level, color="k", linestyle=DASHES, linewidth=0.9)
        _legend(figure, axes[0, 0])
        return figure


def draw_convergence(rows: Iterable[Row]) -> Any:
    """Draw how variance and error fall as rows are added, beside what theory says of them; a matplotlib Figure.

    Parameters
    ----------
    rows
        Of `pydine.experiments.convergence.run_convergence`: one d, one rho, several n.
    """
    lines = convergence_summary(rows)
    d, rho = lines[0]["d"], lines[0]["rho"]
    sizes = sorted({line["n"] for line in lines})
    exact = [asymptotic_variance([rho] * d, n) for n in sizes]
    with _figure(1, 2, PAGE_WIDTH, 2.9) as (figure, ((left, right),)):
        for method, style in _styles(ordered(line["method"] for line in lines)).items():
            chosen = [line for line in lines if line["method"] == method]
            for axes, name in ((left, "variance"), (right, "mean_abs_error")):
                low, high = ([line[f"{name}_{end}"] for line in chosen] for end in ("low", "high"))
                rows_of = [line["n"] for line in chosen]
                axes.plot(rows_of, [line[name] for line in chosen], **style)
                if method != "oracle":  # its band would hide those of the others
                    axes.fill_between(rows_of, low, high, color=style["color"], alpha=0.18, linewidth=0)
        left.plot(sizes, [variance_bound(d, d, n) for n in sizes], "k:", linewidth=1, label="bound of Lemma 2")
        left.plot(sizes, exact, color="k", linestyle=DASHES, linewidth=1, label="first order")
        # The mean absolute value of a normal variable is sqrt(2 / pi) of its standard deviation.
        right.plot(sizes, [math.sqrt(2 * v / math.pi) for v in exact], color="k", linestyle=DASHES, linewidth=1)
        for axes, title in ((left, "variance (squared nats)"), (right, "mean absolute error (nats)")):
            axes.set(title=title, xscale="log", yscale="log", xlabel="$n$")
            axes.yaxis.set_minor_formatter("")
        _legend(figure, left)
        return figure


def ordered(methods: Iterable[str]) -> list[str]:
    """Methods without repetition, in the order of their places, then in that in which they appear."""
    return sorted(dict.fromkeys(methods), key=lambda name: PLACES.get(name, len(COLOURS)))


def save(figure: Any, path: Path, suffixes: Sequence[str] = (".png", ".pdf")) -> Path:
    """Write a figure as PNG and, beside it, as PDF, and forget it; the path of the first."""
    from matplotlib import pyplot as plt

    for suffix in suffixes:
        drawn = io.BytesIO()
        figure.savefig(drawn, format=suffix[1:], dpi=DOTS)
        write_whole(path.with_suffix(suffix), drawn.getvalue())
    plt.close(figure)
    return path.with_suffix(suffixes[0])


def _draw_cell(axes: Any, points: Sequence[Row], methods: Sequence[str]) -> None:
    truth = sorted({(point["rho"], point["truth"]) for point in points})
    for method, style in _styles(methods).items():
        chosen = sorted((p for p in points if p["method"] == method), key=lambda p: float(p["rho"]))
        rho = [point["rho"] for point in chosen]
        axes.plot(rho, [point["mean"] for point in chosen], **style)
        low, high = ([point[end] for point in chosen] for end in ("low", "high"))
        axes.fill_between(rho, low, high, color=style["color"], alpha=0.18, linewidth=0)
    axes.plot(*zip(*truth, strict=True), color="k", linestyle=DASHES, linewidth=1, label="truth", zorder=4)
    largest = max(value for _, value in truth) or 1.0
    low, high = axes.get_ylim()
    axes.set_ylim(max(low, -0.25 * largest), min(high, 1.35 * largest))  # a method that runs away is cut off


@contextmanager
def _figure(n_rows: int, n_columns: int, width: float, height: float) -> Iterator[tuple[Any, Any]]:
    """A figure and its panels, shape (n_rows, n_columns), in the house style."""
    figure = new_axes(width, height).figure  # says what to install where matplotlib is missing
    figure.clear()
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        yield figure, figure.subplots(n_rows, n_columns, squeeze=False)


def _styles(methods: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Colour, marker and label of every method."""
    taken = {PLACES[name] for name in methods if name in PLACES}
    free = iter([place for place in range(len(COLOURS)) if place not in taken] + list(range(len(COLOURS))))
    places = {name: PLACES[name] if name in PLACES else next(free) for name in methods}
    return {
        name: {
            "color": COLOURS[place],
            "marker": MARKERS[place],
            "label": label(name),
            "markeredgewidth": 0,
            "zorder": 3 - 0.01 * i,  # the first lies on top
        }
        for i, (name, place) in enumerate(places.items())
    }


def _shifts(count: int, width: float = 0.5) -> list[float]:
    """Small shifts to the side that keep equal values of several methods apart."""
    return [width * (i - (count - 1) / 2) / max(count, 2) for i in range(count)]


def _legend(figure: Any, axes: Any) -> None:
    handles, labels = axes.get_legend_handles_labels()
    columns = min(len(labels), 5)
    figure.legend(handles, labels, loc="outside upper center", ncols=columns, frameon=False, handlelength=1.8)
