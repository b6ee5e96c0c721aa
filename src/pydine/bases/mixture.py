"""Mixtures of both sides' latents: of Gaussians and, where each side is one column, of classes; and of both with z."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar, NamedTuple

import numpy as np

from pydine.bases.base import FittedBase
from pydine.bases.elliptical import FARTHEST_SCORE, new_scores, scores_of
from pydine.bases.gaussian import GaussianBase
from pydine.bases.stack import Member, Stack
from pydine.bases.student import StudentBase
from pydine.kernels.classes import classes_log_ratio, fit_classes
from pydine.kernels.gaussians import fit_gaussians, gaussians_log_ratio, split_gaussians
from pydine.kernels.mixing import best_mixture, mixture_log_density
from pydine.kernels.normal import normal_quantile
from pydine.latents.flows import Latents
from pydine.latents.scores import ScoreMap
from pydine.sampling import INDEPENDENT, HeldOut, Rows
from pydine.types import FloatArray, must_fit
from pydine.units.evidence import NEGLIGIBLE, counted, probability
from pydine.units.rows import Arrangement

# answer: knots of a profile for the cube root of the number of rows, as for histograms (Scott 1979); 12 to 32 knots
# predict 1000 held-out rows of the same shapes equally well.
KNOTS = 2.2
JEFFREYS = 0.5  # convention: rows that each knot counts in addition (Jeffreys 1946)
ITERATIONS = 50  # precision: of EM, at most, for mixtures of Gaussians and of classes
LEAST_DENSITY = 1e-3  # guard: of a class at a knot, at the start


@dataclass(frozen=True)
class Classes:
    """A mixture of classes within each of which two columns are independent: p(x, y) = sum_k w_k f_k(x) g_k(y).

    Ranks close the gaps between clusters, which leaves sharp edges; blocks, steps and tiles have them anyway. A
    Gaussian has none, but what a class says of one column may have any shape: here it is piecewise linear in the
    column's probability.

    Parameters
    ----------
    weights : ndarray, shape (k,)
    profiles : ndarray, shape (2, knots, k)
        Densities of the two columns in each class, relative to the standard normal one, at evenly spaced probabilities.
    """

    kind: ClassVar[str] = "classes"
    width: ClassVar[int] = 2

    weights: FloatArray
    profiles: FloatArray

    def __post_init__(self) -> None:
        """Refuse parts that do not fit each other."""
        must_fit(self, self.profiles.ndim == 3 and self.profiles.shape[::2] == (2, *self.weights.shape))

    @property
    def edge(self) -> float:
        """The share of the rows over which an edge extends: from one knot to the next."""
        knots: int = self.profiles.shape[1]
        return 1.0 / knots

    @classmethod
    def of(
        cls, weights: FloatArray, means: FloatArray, covariances: FloatArray, rows: FloatArray, effect: float = 1.0
    ) -> Classes:
        """Fit classes to rows (2, n) of normal scores, starting from the margins of a mixture's Gaussians.

        `effect` rows tell as much as one that is independent of the others.
        """
        knots = _knots(rows.shape[1] / effect)
        scores = normal_quantile((np.arange(knots) + 0.5) / knots)[:, None]
        variances = np.diagonal(covariances, axis1=1, axis2=2).T
        far = (scores - means.T[:, None]) ** 2 / variances[:, None]
        profiles = np.exp(0.5 * (scores**2 - far)) / np.sqrt(variances)[:, None] + LEAST_DENSITY
        found = cls(weights.copy(), np.ascontiguousarray(profiles / profiles.mean(axis=1, keepdims=True)))
        fit_classes(rows, found.weights, found.profiles, JEFFREYS, ITERATIONS, NEGLIGIBLE / rows.shape[1])
        return found

    def log_ratio(self, rows: FloatArray, dx: int, dz: int = 0) -> FloatArray:  # noqa: ARG002 - as Gaussians have it
        """ln p(x, y) - ln p(x) - ln p(y) of rows (2, n) of normal scores, in nats, shape (n,)."""
        ratios: FloatArray = classes_log_ratio(rows, self.weights, self.profiles)
        return ratios


MOST_COMPONENTS = 64  # answer: to save time; more raise held-out likelihoods only of curves of many turns
ROWS_PER_PARAMETER = 4.0 / 3.0  # answer: least number of rows: 8 for a component where each side is one column
SPLIT = 0.7  # answer: distance of the two halves of a split component from its mean, in deviations
# answer: a mixture counts by what it and the next larger ones add to the smaller ones, so many in all; beside z, where
# each step takes longer and two components show most of what z changes, by what it adds itself.
LOOK_AHEAD = 3


def parameters(d: int) -> int:
    """How many parameters a component of d columns has: a weight, a mean and a covariance."""
    return 1 + d + d * (d + 1) // 2


@dataclass(frozen=True)
class Gaussians:
    """A mixture of Gaussians: weights (k,), means (k, d) and covariances (k, d, d)."""

    kind: ClassVar[str] = "Gaussians"
    edge: ClassVar[float] = 0.0  # they have none

    weights: FloatArray
    means: FloatArray
    covariances: FloatArray

    def __post_init__(self) -> None:
        """Refuse parts that do not fit each other."""
        k, d = self.means.shape
        must_fit(self, k > 0 and self.weights.shape == (k,) and self.covariances.shape == (k, d, d))

    @property
    def width(self) -> int:
        """Columns, d."""
        return int(self.means.shape[1])

    @classmethod
    def one(cls, rows: FloatArray) -> Gaussians:
        """The Gaussian with the mean and covariance of rows (d, n)."""
        d = len(rows)
        whole = cls(np.ones(1), np.zeros((1, d)), np.eye(d)[None])
        fit_gaussians(rows, whole.weights, whole.means, whole.covariances, np.eye(d), 0.0, 1, 0.0)
        return whole

    def doubled(self, rows: FloatArray, prior: FloatArray) -> Gaussians:
        """Split every component in two, and fit the mixture to rows (d, n) from there.

        The prior's covariance shrinks as the number of components grows, so that they can share out the space.
        """
        d = len(rows)
        doubled = Gaussians(*split_gaussians(self.weights, self.means, self.covariances, SPLIT))
        narrowed = prior * float(len(doubled.weights)) ** (-2.0 / d)
        enough = NEGLIGIBLE / rows.shape[1]
        fit_gaussians(rows, doubled.weights, doubled.means, doubled.covariances, narrowed, d + 2.0, ITERATIONS, enough)
        return doubled

    def log_ratio(self, rows: FloatArray, dx: int, dz: int = 0) -> FloatArray:
        """ln p(x, y | z) - ln p(x | z) - ln p(y | z) of rows (dz + dx + dy, n), in nats, shape (n,)."""
        ratios: FloatArray = gaussians_log_ratio(rows, dx, self.weights, self.means, self.covariances, dz)
        return ratios


Model = Gaussians | Classes


@dataclass(frozen=True)
class MixtureBase:
    """Mixtures of Gaussians of both sides' latents, in which each component has its own mean and covariance.

    It is the paper's transformer seen jointly: marginals and conditionals of a mixture of Gaussians are such mixtures
    again, in closed form, so one fit gives the log-ratio. Where each side is one column, there are mixtures of classes
    as well, which start from the Gaussians and follow sharp edges (`Classes`).

    The number of components is not chosen. From the Gaussian of all rows on, every component is split in two along its
    longest axis and the mixture fitted again, and the mixtures of 2, 4, 8, ... components are stacked with the plain
    bases by how well they predict held-out rows. Nothing is drawn at random.

    Parameters
    ----------
    folds : int
    classes : bool
        Whether there are mixtures of classes.
    """

    folds: int = 3
    classes: bool = True

    def fit(self, latents: Latents) -> FittedBase:
        """Fit the mixtures and stack them with the plain bases."""
        plain = [GaussianBase(self.folds).fit(latents), StudentBase(self.folds).fit(latents)]
        return self.with_z(self.stack(plain, latents), latents).as_base("mixture")

    def stack(self, plain: Sequence[FittedBase], latents: Latents) -> Stack:
        """Stack mixtures with plain bases that were fitted to the same latents."""
        return Stack.of(plain, self._members(plain, latents), latents, self.folds)

    def _members(self, plain: Sequence[FittedBase], latents: Latents) -> list[Member]:
        """Mixtures of both sides, as far as held-out rows support them beside the plain bases."""
        maps, scores = scores_of(latents)
        sides = _Sides(maps, latents.dimensions[0])
        return self._supported(sides, scores, [base.held_out for base in plain], latents)

    def with_z(self, stack: Stack, latents: Latents) -> Stack:
        """A stack of models of the same latents, joined by mixtures of both sides and z, if there is any z.

        Plain bases and mixtures of both sides take the dependence to be the same whatever z is. What a mixture of
        Gaussians of both sides and z says of the sides given z changes with z: correlations change their size and sign,
        and what z still does to the sides is taken into account. Flows follow all of that, but from more rows.
        """
        if latents.dimensions[2] == 0:
            return stack
        maps, scores = scores_of(latents)
        sides = _Sides(maps, latents.dimensions[0], Arrangement.beside(latents.z, scores))
        held = [member.held_out for member in stack.members]
        return stack.with_members(self._supported(sides, sides.rows(scores, latents.z), held, latents))

    def _supported(self, sides: _Sides, rows: FloatArray, held: Sequence[FloatArray], latents: Latents) -> list[Member]:
        """Mixtures of 2, 4, 8, ... components or classes, as far as held-out rows of the first fold support them.

        Parameters
        ----------
        sides : _Sides
        rows : ndarray, shape (d, n)
            What they are mixtures of.
        held : sequence of ndarray, shape (n,)
            Held-out log-ratios of plainer models, the plainest first.
        latents : Latents
        """
        folds, dx, dz = latents.rows.folds(latents.outwards, self.folds), sides.dx, sides.dz
        effect = max(1.0, latents.rows.effect_of(lambda: held[0]))
        classes = self.classes and (dx, len(rows)) == (1, 2)
        plainer = np.array([ratios[folds[0].rows] for ratios in held])
        fold = _Fold.of(rows, folds[0], classes, effect, dz)
        first, trust = _climbed(fold, dx, plainer, latents.rows.only(folds[0].rows))
        if not trust:
            return []
        others = (_Fold.of(rows, fold, classes, effect, dz) for fold in folds[1:])
        steps = [first, *(list(islice(fold.steps(), len(trust))) for fold in others)]
        members = []
        for share, *by_fold in zip(trust, *steps, strict=False):  # a fold of larger clusters may have fewer
            for models in zip(*by_fold, strict=True):
                ratios = np.array([model.log_ratio(rows, dx, dz) for model in models])
                held_out = np.empty(latents.n_rows)
                for ratio, (own, _) in zip(ratios, folds, strict=True):
                    held_out[own] = ratio[own]
                name, edge = f"{len(models[0].weights)} {models[0].kind}{sides.words}", models[0].edge
                ratio = MixtureRatio(sides.maps, models, dx, sides.seen)
                members.append(Member(name, ratio, held_out, _averaged(ratios), share, edge))
        return members


def _knots(rows: float) -> int:
    """How many knots a profile has for so many effective rows."""
    knots: int = round(KNOTS * rows ** (1.0 / 3.0))
    return knots


class _Sides(NamedTuple):
    """What mixtures are of: maps to the scores of both sides, columns of the first, and how z is seen, if it is."""

    maps: tuple[ScoreMap, ...]
    dx: int
    seen: Arrangement | None = None

    @property
    def dz(self) -> int:
        """How many columns of z are seen."""
        return 0 if self.seen is None else len(self.seen.order)

    @property
    def words(self) -> str:
        """What the names of mixtures end with."""
        return "" if self.seen is None else " with z"

    def rows(self, scores: FloatArray, z: FloatArray) -> FloatArray:
        """Columns of a mixture, from the scores of both sides (dx + dy, n) and z (dz, n)."""
        if self.seen is None:
            return scores
        return np.ascontiguousarray(np.vstack([self.seen(np.clip(z, -FARTHEST_SCORE, FARTHEST_SCORE)), scores]))


@dataclass(frozen=True)
class MixtureRatio:
    """Log-ratios by the folds' mixtures, averaged; mixtures that see z do so in the arrangement `seen`."""

    maps: tuple[ScoreMap, ...]
    models: tuple[Model, ...]
    dx: int
    seen: Arrangement | None = None

    def __post_init__(self) -> None:
        """Refuse parts that do not fit each other."""
        widths = {model.width for model in self.models}
        must_fit(self, widths == {len(self.maps) + self.sides.dz} and 0 < self.dx < len(self.maps))

    @property
    def sides(self) -> _Sides:
        """What the mixtures are of."""
        return _Sides(self.maps, self.dx, self.seen)

    def __call__(self, both: FloatArray, z: FloatArray) -> FloatArray:
        """Log-ratios of latents (dx + dy, m) and their z (dz, m), shape (m,)."""
        return self.of_scores(new_scores(self.maps, both), z)

    def of_scores(self, scores: FloatArray, z: FloatArray) -> FloatArray:
        """Log-ratios of the latents' normal scores (dx + dy, m), shape (m,)."""
        rows, dz = self.sides.rows(scores, z), self.sides.dz
        return _averaged(np.array([model.log_ratio(rows, self.dx, dz) for model in self.models]))


@dataclass(frozen=True)
class _Fold:
    """Rows to learn from, (d, n), and rows that are held out, whether there are classes, how many rows tell as one.

    The first dz columns of the rows are z.
    """

    rows: FloatArray
    held: FloatArray
    classes: bool
    effect: float = 1.0
    dz: int = 0

    @classmethod
    def of(cls, scores: FloatArray, held: HeldOut, classes: bool, effect: float = 1.0, dz: int = 0) -> _Fold:
        rows = np.ascontiguousarray(np.delete(scores, held.away, axis=1))
        return cls(rows, np.ascontiguousarray(scores[:, held.rows]), classes, effect, dz)

    @property
    def share(self) -> float:
        """The share of the rows that are held out."""
        return float(self.held.shape[1] / (self.held.shape[1] + self.rows.shape[1]))

    def doublings(self) -> Iterator[Gaussians]:
        """Mixtures of 2, 4, 8, ... components, as many as effective rows allow."""
        (d, n), model = self.rows.shape, Gaussians.one(self.rows)
        prior = model.covariances[0].copy()
        needed = ROWS_PER_PARAMETER * parameters(d)
        most = MOST_COMPONENTS * parameters(d - self.dz) // parameters(d)  # with z, no more parameters than without
        while 2.0 * needed * len(model.weights) <= n / self.effect and 2 * len(model.weights) <= most:
            model = model.doubled(self.rows, prior)
            yield model

    def steps(self) -> Iterator[tuple[Model, ...]]:
        """Each of these mixtures and, where there are classes, those that start from its components.

        More classes than knots would be combinations of fewer: no more profiles than that are linearly independent.
        """
        for model in self.doublings():
            if self.classes and len(model.weights) <= _knots(self.rows.shape[1] / self.effect):
                yield model, Classes.of(model.weights, model.means, model.covariances, self.rows, self.effect)
            else:
                yield (model,)


def _climbed(
    fold: _Fold, dx: int, plain: FloatArray, rows: Rows = INDEPENDENT
) -> tuple[list[tuple[Model, ...]], list[float]]:
    """Mixtures of more and more components in one fold, and how far each step counts, up to the last one that does.

    A step counts as far as the smaller ones are needed, and it, or one of the next larger ones, raises the likelihood
    of held-out rows: a chequerboard is invisible to four Gaussians, and obvious to sixteen.

    Parameters
    ----------
    fold : _Fold
    dx : int
    plain : ndarray, shape (models, held-out rows)
        Log-ratios by plainer models.
    rows : Rows
        How the rows that are held out depend on each other.
    """
    steps: list[tuple[Model, ...]] = []
    chances: list[float] = []  # that a step and all smaller ones are needed
    held, best = plain, [best_mixture(plain)]
    ahead = 1 if fold.dz else LOOK_AHEAD

    def added(below: int) -> float:
        gains = best[min(below + ahead, len(best) - 1)] - best[below]
        return (chances[-1] if chances else 1.0) * probability(gains, fold.share, rows)

    for step in fold.steps():
        steps.append(step)
        held = np.vstack([held, *(model.log_ratio(fold.held, dx, fold.dz) for model in step)])
        best.append(best_mixture(held))
        if len(steps) >= ahead:
            chances.append(added(len(chances)))
            if counted(chances[-1]) == 0.0:
                break
    while len(chances) < len(steps) and (not chances or counted(chances[-1]) > 0.0):
        chances.append(added(len(chances)))
    trust = [share for share in map(counted, chances) if share > 0.0]
    return steps[: len(trust)], trust


def _averaged(ratios: FloatArray) -> FloatArray:
    """Log-ratios of rows under models (models, n) that count the same, shape (n,)."""
    averaged: FloatArray = mixture_log_density(ratios, np.full(len(ratios), 1.0 / len(ratios)))
    return averaged
