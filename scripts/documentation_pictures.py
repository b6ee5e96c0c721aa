"""Draw the pictures of the documentation.

Every one is made by pydine itself from a fixed seed and written to docs/images/. Needs matplotlib.

    python scripts/documentation_pictures.py [NAME ...]
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import shape_pictures
from drawing import AFTER, BEFORE, FOLDER, LINE, QUIET, FloatArray, panels, plt, points, write
from scipy.special import ndtr
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

import pydine
from harness.conditional import CORRELATIONS
from pydine.inputs.table import Question
from pydine.latents.scores import ScoreMap
from pydine.latents.workshop import Workshop
from pydine.units.ladder import LadderSettings

DATA = Path(__file__).parents[1] / "docs" / "data"
RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
COVERAGE, CONSISTENCY = RESULTS / "interval_scores.csv", RESULTS / "consistency.csv"
CORRELATION = 0.6  # of the noise of x and y in `curved`
RUNGS = ("marginal", "linear", "additive", "network")


def curved(n: int = 1500) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Curved, skewed x and y: z moves place and spread of both, and correlated noise is what they share beside it."""
    rng = np.random.default_rng(5)
    z, a, other = rng.standard_normal((3, n))
    b = CORRELATION * a + np.sqrt(1.0 - CORRELATION**2) * other
    x = np.exp(0.5 * (1.5 * np.sin(1.5 * z) + 0.6 * np.exp(0.5 * z) * a))
    y = np.sinh(0.8 * (z**2 - 1.0) + 0.5 * np.exp(-0.3 * z) * b)
    return x, y, z


def latents() -> Any:
    """Rows in the units of the data, and their latents given z."""
    x, y, z = curved()
    model = pydine.DINE().fit(x, y, z)
    alone, given = pydine.mutual_information(x, y), model.information_
    figure, (left, right) = panels(2)
    look = {"c": z, "cmap": "viridis", "vmin": -2.2, "vmax": 2.2}
    points(left, x, np.arcsinh(y), **look)
    left.set(
        xscale="log", xlabel="x (log scale)", ylabel="arsinh y", title=f"the data: I(x; y) = {alone.value:.2f} nats"
    )
    cloud = points(right, *(side[:, 0] for side in model.transform(x, y, z)), **look)
    right.set(xlabel="latent of x", ylabel="latent of y", title=f"the latents: I(x; y | z) = {given.value:.2f} nats")
    figure.colorbar(cloud, ax=right, label="z").solids.set_alpha(1.0)
    return figure


def normal_scores() -> Any:
    """Ranks take away what each column does by itself, and nothing of what they do together."""
    rng = np.random.default_rng(1)
    a, other = rng.standard_normal((2, 800))
    x, y = np.exp(1.2 * a), 1.0 / (1.0 + np.exp(-2.5 * (0.8 * a + 0.6 * other)))
    scores = [ScoreMap.fit(column)[1] for column in (x, y)]
    same = [pydine.mutual_information(*columns).value for columns in ((x, y), scores)]
    figure, (left, right) = panels(2)
    points(left, x, y, color=BEFORE)
    left.set(xlabel="x", ylabel="y", title=f"the data: {same[0]:.3f} nats")
    points(right, *scores, color=AFTER)
    right.set(xlabel="normal score of x", ylabel="normal score of y", title=f"normal scores: {same[1]:.3f} nats")
    return figure


def ladder() -> Any:
    """Which rungs of the ladder get the weight, for effects of z from none to complicated."""
    rng = np.random.default_rng(2)
    z, noise = rng.standard_normal((2, 1000))
    effects = {
        "no effect": noise,
        "a line": z + noise,
        "a line, and its spread": z + np.exp(0.7 * z) * noise,
        "a parabola": z**2 + noise,
        "a wave": 2.0 * np.sin(3.0 * z) + noise,
    }
    weights = {}
    for name, x in effects.items():
        found = pydine.mutual_information(x, rng.standard_normal(1000), z, base="gaussian")
        weights[name] = found.details["rungs"]["x"]
    figure, axes = panels(1, 7.0, 2.6)
    start = np.zeros(len(effects))
    for rung, colour in zip(RUNGS, plt.get_cmap("viridis")(np.linspace(0.95, 0.05, len(RUNGS))), strict=True):
        share = np.array([found.get(rung, 0.0) for found in weights.values()])
        if share.any():
            axes.barh(list(effects), share, left=start, color=colour, label=rung, height=0.65)
        start += share
    axes.invert_yaxis()
    axes.set(xlim=(0, 1), xlabel="weight in the mixture, by held-out likelihood", ylabel="z acts on x as")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    return figure


def residuals() -> Any:
    """What is left of z in x: mean and spread in slices of z, before and after the flow."""
    x, y, z = curved()
    before = ScoreMap.fit(x)[1]
    after = pydine.DINE(base="gaussian").fit(x, y, z).transform(x, y, z)[0][:, 0]
    figure, both = panels(2, sharey=True)
    edges = np.quantile(z, np.linspace(0.0, 1.0, 21))
    middles = 0.5 * (edges[1:] + edges[:-1])
    slices = np.digitize(z, edges[1:-1])
    for axes, column, colour, title in zip(
        both, (before, after), (BEFORE, AFTER), ("normal score of x", "latent of x given z"), strict=True
    ):
        points(axes, z, column, color=colour, alpha=0.4)
        mean, spread = (np.array([f(column[slices == i]) for i in range(20)]) for f in (np.mean, np.std))
        axes.plot(middles, mean, color=LINE, label="mean")
        axes.plot(middles, mean + spread, "--", color=LINE, label="mean ± spread")
        axes.plot(middles, mean - spread, "--", color=LINE)
        axes.set(xlabel="z", title=title)
    both[0].set_ylabel("x on a normal scale")
    both[0].legend(loc="lower right", fontsize=8)
    return figure


def calibration() -> Any:
    """Histograms of u, the flow's distribution function at the rows, in three slices of z."""
    x, y, z = curved(3000)
    question = Question.of(x[:, None], y[:, None], z[:, None])
    flow, found = Workshop(question.table, LadderSettings()).flow(question)
    fitted = next(iter(flow.units.values()))
    scores = ScoreMap.fit(x)[1]
    uniform = {"by ranks alone": ndtr(scores), "by the flow": ndtr(fitted.latent(scores, found.z))}
    figure, both = panels(2, height=2.6, sharey=True)
    thirds = np.digitize(z, np.quantile(z, [1 / 3, 2 / 3]))
    look = {"bins": 15, "range": (0, 1), "density": True, "histtype": "step", "lw": 1.8}
    for axes, (title, u) in zip(both, uniform.items(), strict=True):
        for third, (label, colour) in enumerate({"low z": AFTER, "middle": QUIET, "high z": BEFORE}.items()):
            axes.hist(u[thirds == third], color=colour, label=label, **look)
        axes.axhline(1.0, color=LINE, lw=0.8, ls=":")
        axes.set(xlabel="u", xlim=(0, 1), title=title)
    both[0].set_ylabel("density")
    both[0].legend(fontsize=8)
    return figure


def corrections(d: int = 5, n: int = 100, repeats: int = 40) -> Any:
    """Mean error of the closed form on Gaussian data, before and after the two corrections."""
    correlations = np.array([0.0, 0.3, 0.6, 0.8, 0.9, 0.95])
    truths = -0.5 * d * np.log1p(-(correlations**2))
    errors = np.empty((3, len(correlations), repeats))
    for i, r in enumerate(correlations):
        for repeat in range(repeats):
            rng = np.random.default_rng([repeat, i])
            x, other = rng.standard_normal((2, n, d))
            found = pydine.mutual_information(x, r * x + np.sqrt(1.0 - r * r) * other, base="gaussian")
            biases = np.cumsum([0.0, found.details["rank_bias"], found.details["wishart_bias"]])
            errors[:, i, repeat] = found.value + biases[::-1] - truths[i]
    figure, axes = panels(1, 6.0, 3.2)
    names = ("closed form of the scores", "less the chance in determinants", "less the effect of ranks as well")
    for error, name, colour in zip(errors, names, (BEFORE, QUIET, AFTER), strict=True):
        spread = error.std(axis=1) / np.sqrt(repeats)
        axes.errorbar(truths, error.mean(axis=1), spread, marker="o", ms=4, color=colour, label=name)
    axes.axhline(0.0, color=LINE, lw=0.8)
    axes.set(xlabel="true information (nats)", ylabel="mean error (nats)")
    axes.set_title(f"{d} + {d} Gaussian columns, {n} rows, {repeats} samples a point", fontsize=10)
    axes.legend(fontsize=8, frameon=False, loc="lower left")
    return figure


def pointwise() -> Any:
    """A ring: no correlation, much information, and the rows that carry it."""
    rng = np.random.default_rng(3)
    angle = rng.uniform(0.0, 2.0 * np.pi, 1000)
    x, y = np.array([np.cos(angle), np.sin(angle)]) + 0.12 * rng.standard_normal((2, 1000))
    figure, (left, right) = panels(2, 3.7)
    points(left, x, y, color=BEFORE)
    gaussian = pydine.mutual_information(x, y, base="gaussian")
    left.set(xlabel="x", ylabel="y", title=f"Gaussian base: {gaussian.value:z.3f} nats")
    found = pydine.pointwise_information(x, y)
    found.plot(right)
    right.set_title(f"chosen by held-out rows: {found.estimate.base}, {found.estimate.value:.2f} nats")
    return figure


def null() -> Any:
    """The statistic of a test among those of permuted rows, without and with a common cause given."""
    rng = np.random.default_rng(1)
    z, a, b = rng.standard_normal((3, 400))
    figure, axes = panels(2, 4.2)
    for each, given in zip(axes, (None, z), strict=True):
        pydine.independence_test(z + a, z + b, given, statistic="gaussian").plot(each)
    axes[1].set_title(f"given z: {axes[1].get_title()}")
    return figure


def graph() -> Any:
    """A causal graph of the diabetes data, in which age and sex come first and the disease last."""
    data = load_diabetes(scaled=False)
    table = {**dict(zip(data.feature_names, data.data.T, strict=True)), "target": data.target}
    tiers = [["age", "sex"], [name for name in table if name not in ("age", "sex", "target")], ["target"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pydine.causal_graph(table, tiers=tiers).plot().figure


def table_of(file: str, *columns: str) -> dict[str, FloatArray]:
    """Columns of a table of the gallery."""
    from pydine.inputs.files import open_file

    return dict(open_file(DATA / f"{file}.tsv").read(columns))


def ranked(table: dict[str, FloatArray], target: str, **kinds: str) -> Any:
    """A ranking, as it draws itself, with the kinds of columns that their values do not say."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pydine.rank(table, target, nan_policy="omit", kinds=kinds).plot().figure


def gallery_diabetes() -> Any:
    """What every feature tells about the disease."""
    data = load_diabetes(scaled=False)
    return ranked({**dict(zip(data.feature_names, data.data.T, strict=True)), "target": data.target}, "target")


def gallery_iris() -> Any:
    """Three clouds that hide what each of them shows."""
    iris = load_iris()
    figure, axes = panels(1, 5.0)
    for species, colour in enumerate((BEFORE, AFTER, "#7a5195")):
        rows = iris.target == species
        jitter = 0.03 * np.random.default_rng(species).standard_normal((2, rows.sum()))
        length, width = iris.data[rows, :2].T + jitter
        axes.scatter(width, length, s=12, color=colour, label=iris.target_names[species])
    axes.set(xlabel="sepal width (cm)", ylabel="sepal length (cm)")
    axes.legend(frameon=False)
    return figure


def gallery_wine() -> Any:
    """The matrix of thirteen measurements."""
    wine = load_wine()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = pydine.pairwise_information(dict(zip(wine.feature_names, wine.data.T, strict=True)))
    return found.plot().figure


def gallery_cancer() -> Any:
    """Ten measurements of cells."""
    cells = load_breast_cancer()
    table = {str(name): values for name, values in zip(cells.feature_names[:10], cells.data.T[:10], strict=True)}
    return ranked({**table, "malignant": 1.0 - cells.target}, "malignant")


def gallery_cars() -> Any:
    """What tells about the mileage of a car."""
    names = ("mpg", "cylinders", "displacement", "horsepower", "weight", "acceleration", "modelyear", "origin")
    return ranked(table_of("auto-mpg", *names), "mpg", origin="nominal")


def why() -> Any:
    """What the other columns leave of power and mileage."""
    figure, axes = plt.subplots(figsize=(5.6, 4.2), layout="constrained")
    cars = pd.read_csv(DATA / "auto-mpg.tsv", sep="\t")
    pydine.why(cars, "horsepower", "mpg", kinds={"origin": "nominal"}).plot(axes)
    return figure


def gallery_stature() -> Any:
    """What tells about the height of a child."""
    return ranked(table_of("stature", "father", "mother", "Gender", "Height"), "Height")


def gallery_credit() -> Any:
    """What tells about a decision."""
    return ranked(table_of("credit", "A2", "A3", "A8", "A9", "A10", "A11", "A15", "A16"), "A16")


def gallery_pima() -> Any:
    """Zeros that stand for missing values."""
    table = table_of("pima", "Insulin", "Glucose")
    figure, axes = panels(2)
    there = (table["Insulin"] > 0.0) & (table["Glucose"] > 0.0)
    for each, rows, title in zip(axes, (slice(None), there), ("as in the file", "measured"), strict=True):
        points(each, table["Glucose"][rows], table["Insulin"][rows])
        each.set(xlabel="glucose", ylabel="insulin", title=title)
    return figure


def coverage() -> Any:
    """Coverage of intervals by correlation, rows and columns of z: what benchmarks/interval_scores.py measured."""
    rows = pd.read_csv(COVERAGE)
    rows = rows[rows.rho.isin(CORRELATIONS)]  # weak ones are a table of their own
    rows = rows.assign(covers=(rows.low <= rows.truth) & (rows.truth <= rows.high))
    figure, axes = panels(3, sharey=True)
    for each, (rho, part) in zip(axes, rows.groupby("rho"), strict=True):
        means = part.groupby(["method", "dz", "n"]).covers.mean()
        for method, colour, marker in (("before", "0.65", "o"), ("dine", "C0", "s")):
            for k, dz in enumerate(sorted(part.dz.unique())):
                found = means[method, dz]
                places = np.arange(len(found)) + 0.18 * (k - 1)
                each.plot(places, found, marker, color=colour, alpha=1.0 - 0.25 * k, markersize=7)
                for place, share in zip(places, found, strict=True):
                    each.annotate(str(dz), (place, share), (0, -11), textcoords="offset points", ha="center", size=6)
        each.axhline(0.95, color="0.3", linewidth=0.8)
        each.set(title=f"correlation {rho:g}", xlabel="rows", ylim=(-0.1, 1.07))
        each.set_xticks(range(3), [str(n) for n in sorted(part.n.unique())])
    axes[0].set_ylabel("coverage of 95% intervals")
    handles = [plt.Line2D([], [], marker=m, color=c, linestyle="") for m, c in (("o", "0.65"), ("s", "C0"))]
    axes[0].legend(handles, ["before", "now"], loc="lower left", frameon=False)
    return figure


def numbers() -> Any:
    """Information and the correlation that says the same."""
    figure, axes = panels(1, 5.2, 3.0)
    r = np.linspace(0.0, 0.999, 400)
    axes.plot(r, -0.5 * np.log1p(-(r**2)), color=AFTER, lw=2)
    for nats in (0.05, 0.2, 0.5, 1.0, 2.0):
        at = float(np.sqrt(-np.expm1(-2.0 * nats)))
        axes.plot([0.0, at, at], [nats, nats, 0.0], color=QUIET, lw=0.8, zorder=0)
        axes.plot(at, nats, "o", color=AFTER, ms=5)
        axes.annotate(f"{nats:g} nats, {at:.2f}", (at, nats), (-8, 4), textcoords="offset points", ha="right")
    axes.set(xlim=(0.0, 1.02), ylim=(0.0, 2.5), xlabel="correlation of two normal columns", ylabel="information (nats)")
    return figure


def intervals() -> Any:
    """The example of the guide, with more and more rows."""
    figure, axes = panels(1, 5.2, 2.9)
    rng = np.random.default_rng(0)
    for place, n in enumerate((250, 500, 1000, 2000)):
        z = rng.normal(size=(n, 5))
        wave = np.sin(z.sum(axis=1))
        e = rng.multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]], n)
        found = pydine.mutual_information(wave + e[:, 0], wave**2 + e[:, 1], z)
        low, high = found.confidence_interval(0.95)
        axes.plot([place, place], [low, high], color=AFTER, lw=3, solid_capstyle="butt")
        axes.plot(place, found.value, "o", color=LINE, ms=6, zorder=3)
    axes.axhline(-0.5 * np.log1p(-(0.9**2)), color=BEFORE, lw=1.2, label="truth")
    axes.set_xticks(range(4), ["250 rows", "500", "1000", "2000"])
    axes.set(ylabel="information (nats)", ylim=(0.0, None), xlim=(-0.5, 3.5))
    axes.legend(frameon=False, loc="upper right")
    return figure


def interaction() -> Any:
    """What two columns of the diabetes data tell together, alone and beyond each other."""
    diabetes = load_diabetes(scaled=False, as_frame=True)
    figure, axes = panels(1, 6.4, 3.2)
    found = pydine.interaction("bmi", "s5", "target", data=diabetes.data.assign(target=diabetes.target))
    found.plot(axes)
    return figure


def admissions() -> Any:
    """What department and gender tell about admission to Berkeley, from a table of frequencies."""
    figure, axes = panels(1, 6.4, 2.2)
    table = pd.read_csv(FOLDER.parent / "data" / "admissions.tsv", sep="\t")
    pydine.rank(table, "Admit", weights="Freq", progress=False).plot(axes)
    return figure


def partial() -> Any:
    """Rows beside what z leaves of them in their own units."""
    rng = np.random.default_rng(0)
    age, own, noise = rng.normal(size=(3, 600))
    dose, reply = 3.0 * age**2 + own, 2.0 * age - own + 0.5 * noise
    figure, axes = panels(2, 5.4, 4.2)
    table = {"dose": dose, "reply": reply, "age": age}
    pydine.pointwise_information("dose", "reply", "age", data=table).plot(axes, units="both")
    return figure


def scale() -> Any:
    """Which door a table goes through, by its rows and columns."""
    figure, axes = panels(1, 5.8, 3.2)
    areas = {
        "in memory,\none core or n_jobs": (1e2, 2.0, 1e7, 2e3, "#d7e6ec"),
        "wide_information: tiles on disk": (1e2, 2e3, 1e9, 1e5, "#9dc3da"),
        "a path or a dataset:\nrows are streamed": (1e7, 2.0, 1e9, 2e3, "#f0d9c8"),
    }
    for text, (left, low, right, high, colour) in areas.items():
        axes.fill_between([left, right], low, high, color=colour, lw=0)
        axes.text(np.sqrt(left * right), np.sqrt(low * high), text, ha="center", va="center")
    axes.set(xscale="log", yscale="log", xlim=(1e2, 1e9), ylim=(2, 1e5), xlabel="rows", ylabel="columns")
    return figure


def consistency() -> Any:
    """Mean errors of four groups of questions by rows: what benchmarks/consistency.py measured."""
    rows = pd.read_csv(CONSISTENCY)
    errors = rows.assign(error=(rows.estimate - rows.truth).abs()).groupby(["group", "n"], sort=False).error.mean()
    figure, axes = panels(1, 5.8, 3.4)
    for colour, marker, group in zip((AFTER, BEFORE, LINE, "0.55"), "osD^", rows.group.unique(), strict=True):
        found = errors[group].sort_index()
        axes.plot(found.index, found, marker=marker, color=colour, ms=5, label=group)
    n = np.array([rows.n.min(), rows.n.max()], dtype=float)
    axes.plot(n, 0.1 * np.sqrt(n[0] / n), color=QUIET, lw=1.0, zorder=0, label="1 / root of rows")
    axes.set(xscale="log", yscale="log", xlabel="rows", ylabel="mean error (nats)")
    axes.legend(frameon=False, fontsize=8.5)
    return figure


PICTURES: dict[str, Callable[[], Any]] = {
    "latents": latents,
    "normal-scores": normal_scores,
    "shapes": shape_pictures.shapes,
    "components": shape_pictures.components,
    "classes": shape_pictures.classes,
    "sharpening": shape_pictures.sharpening,
    "ladder": ladder,
    "residuals": residuals,
    "calibration": calibration,
    "corrections": corrections,
    "pointwise": pointwise,
    "null": null,
    "graph": graph,
    "gallery-diabetes": gallery_diabetes,
    "gallery-iris": gallery_iris,
    "gallery-wine": gallery_wine,
    "gallery-cancer": gallery_cancer,
    "gallery-cars": gallery_cars,
    "why": why,
    "gallery-stature": gallery_stature,
    "gallery-credit": gallery_credit,
    "gallery-pima": gallery_pima,
    "numbers": numbers,
    "intervals": intervals,
    "scale": scale,
    "interaction": interaction,
    "admissions": admissions,
    "partial": partial,
    "consistency": consistency,
}
if COVERAGE.exists():  # and then docs/intervals.md must show it
    PICTURES["coverage"] = coverage


def main(names: list[str]) -> None:
    """Draw the pictures named, or all of them."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    plt.rcParams.update({"font.size": 10, "axes.titlesize": 10.5})
    for name in names or PICTURES:
        write(PICTURES[name](), FOLDER / f"{name}.png")


if __name__ == "__main__":
    main(sys.argv[1:])
