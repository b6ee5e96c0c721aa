"""Pictures of shapes of dependence, and of how they are followed."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from drawing import AFTER, BEFORE, FOLDER, LINE, QUIET, panels, plt, points

sys.path.append(str(FOLDER.parents[1] / "benchmarks"))

import own_shapes
import pydine
from known_shapes import SHAPES, sample
from pydine.bases.mixture import Classes, Gaussians
from pydine.inputs.table import Question
from pydine.kernels.normal import normal_quantile
from pydine.latents.scores import ScoreMap
from pydine.latents.workshop import Workshop
from pydine.units.ladder import LadderSettings


def shapes() -> Any:
    """Shapes of dependence, and the estimates at several numbers of rows beside the truth."""
    names = ("parabola", "sine", "ring", "clusters", "heteroscedastic", "Clayton copula", "sign switch", "checkerboard")
    sizes, seeds = (250, 500, 1000, 2000), range(3)
    figure, axes = plt.subplots(4, 4, figsize=(9.5, 8.5), layout="constrained")
    for name, cloud, curve in zip(names, axes[:, ::2].flat, axes[:, 1::2].flat, strict=True):
        shown, truth = sample(name, 1000, 0), SHAPES[name].truth
        points(cloud, *(ScoreMap.fit(side[:, 0])[1] for side in (shown.x, shown.y)), color=BEFORE, s=3)
        cloud.set(title=name, xticks=[], yticks=[])
        found = np.array([[estimate_of(sample(name, n, seed)) for seed in seeds] for n in sizes])
        curve.axhline(truth, color=LINE, linestyle="--", linewidth=1.0)
        curve.errorbar(sizes, found.mean(axis=1), found.std(axis=1), color=AFTER, marker="o", markersize=3)
        curve.set(xscale="log", ylim=(0.0, 1.2 * truth), xticks=sizes, xticklabels=sizes, title="nats by rows")
        curve.minorticks_off()
        curve.spines[["top", "right"]].set_visible(False)
    return figure


def components() -> Any:
    """Gaussians that follow a shape, and what the mixtures of so many say beside the truth."""
    figure, axes = panels(4, width=2.5, height=3.1, sharex=True, sharey=True)
    data, truth = sample("ring", 1000, 0), SHAPES["ring"].truth
    rows = np.array([ScoreMap.fit(side[:, 0])[1] for side in (data.x, data.y)])
    models = [Gaussians.one(rows)]
    for _ in range(5):
        models.append(models[-1].doubled(rows, np.cov(rows)))
    angles = np.linspace(0.0, 2.0 * np.pi, 100)
    circle = np.array([np.cos(angles), np.sin(angles)])
    for each, model in zip(axes, (models[0], models[1], models[3], models[5]), strict=True):
        points(each, *rows, color=QUIET, s=3)
        for mean, covariance in zip(model.means, model.covariances, strict=True):
            each.plot(*(mean[:, None] + 1.5 * np.linalg.cholesky(covariance) @ circle), color=AFTER, linewidth=1.2)
        said, count = model.log_ratio(rows, 1).mean(), len(model.weights)
        title = f"{count} Gaussian{'s' * (count > 1)}: {said:.2f} nats"
        each.set(title=title, xlim=(-3, 3), ylim=(-3, 3), aspect="equal")
    axes[0].set(ylabel="normal score of y")
    figure.supxlabel(f"A ring, 1000 rows, the truth {truth:.2f} nats: 32 Gaussians begin to follow noise", fontsize=10)
    return figure


def sharpening() -> Any:
    """A wave given z: as it is, as flows of either side leave it, and after a look at both sides at once."""
    rng = np.random.default_rng(3)
    true = rng.uniform(-1.0, 1.0, (2000, 1))
    wave = np.sin(6.0 * true) + 0.25 * rng.standard_normal(true.shape)
    z = rng.standard_normal((2000, 3))
    x = true + np.sin(z.sum(axis=1, keepdims=True)) * np.exp(0.3 * z[:, :1])
    y = wave + z[:, 1:2] ** 2 - np.tanh(z[:, 2:])
    question = Question.of(x, y, z)
    plain = Workshop(question.table, LadderSettings()).flow(question)[1]
    pointwise = pydine.pointwise_information(x, y, z)
    rows = [ScoreMap.fit(np.ascontiguousarray(side[:, 0]))[1] for side in (true, wave)]
    figure, axes = panels(3, width=2.9, height=3.1, sharex=True, sharey=True)
    titles = "without z", "what flows leave", "sharpened"
    soft = plain.projection.softened(len(z))(plain.unprojected, plain.z)
    sides = rows, soft, [side[:, 0] for side in pointwise.latents]
    for each, (a, b), colour, title in zip(axes, sides, (QUIET, BEFORE, AFTER), titles, strict=True):
        points(each, a, b, color=colour, s=3)
        each.set(title=title, xlim=(-3, 3), ylim=(-3, 3), xlabel="latent of x")
    axes[0].set(ylabel="latent of y")
    return figure


def estimate_of(data: Any) -> float:
    """The default's estimate of a dataset."""
    return pydine.mutual_information(data.x, data.y, data.z).value


def classes() -> Any:
    """Clusters whose gaps ranks have closed, as Gaussians and classes follow them."""
    data, truth = own_shapes.sample("lattice", 1500, 0, 0), own_shapes.SHAPES["lattice"].truth
    rows = np.array([ScoreMap.fit(side[:, 0])[1] for side in (data.x, data.y)])
    half = np.arange(rows.shape[1]) % 2 == 0
    seen, new = (np.ascontiguousarray(rows[:, chosen]) for chosen in (half, ~half))
    gaussians = Gaussians.one(seen)
    for _ in range(3):
        gaussians = gaussians.doubled(seen, np.cov(seen))
    found = Classes.of(gaussians.weights, gaussians.means, gaussians.covariances, seen)
    ranks = (np.arange(120) + 0.5) / 120
    grid = np.array([side.ravel() for side in np.meshgrid(normal_quantile(ranks), normal_quantile(ranks))])
    figure, (left, *others) = panels(3, width=2.9, height=3.1, sharex=True, sharey=True)
    points(left, *((np.argsort(np.argsort(row)) + 0.5) / len(row) for row in rows), color=BEFORE, s=4)
    left.set(title=f"rows: {truth:.2f} nats", xlabel="rank of x", ylabel="rank of y", aspect="equal")
    for each, model, title in zip(others, (gaussians, found), ("8 Gaussians", "8 classes"), strict=True):
        density = np.exp(model.log_ratio(grid, 1)).reshape(120, 120)
        each.imshow(density, origin="lower", extent=(0, 1, 0, 1), cmap="Blues", vmin=0.0, vmax=4.0)
        each.set(title=f"{title}: {model.log_ratio(new, 1).mean():.2f} nats", xlabel="rank of x")
    return figure
