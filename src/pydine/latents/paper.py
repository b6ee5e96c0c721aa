"""The paper's own flows, to the letter: Algorithm 1, steps 1 to 3.

Each dimension has its own conditioner and heads with one hidden ReLU layer (`Network.paper`), trained by maximum
likelihood with early stopping on held-out rows. The only step that the paper does not spell out is that columns are
standardised first, an affine diffeomorphism.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pydine.inputs.table import Question
from pydine.kernels.optimiser import maximise
from pydine.latents.flows import Latents
from pydine.types import FloatArray, must_fit
from pydine.units.network import Network
from pydine.units.unit import FittedUnit, Model, identity
from pydine.work.execution import run
from pydine.work.tasks import Unit, autoregressive, unique


@dataclass(frozen=True)
class PaperSettings:
    """How the paper's flows are trained.

    Parameters
    ----------
    hidden_units, components : int
        4 and 16 in all of the paper's experiments.
    iterations, patience : int
        Most gradient steps, and steps without a better held-out likelihood before the search stops.
    held_out : float
        Share of the rows that are held out for early stopping.
    seed : int
    """

    hidden_units: int = 4  # convention: the paper's
    components: int = 16  # convention: the paper's
    iterations: int = 2000  # convention: most steps; early stopping comes first
    patience: int = 100  # convention: the held-out likelihood fluctuates from step to step
    held_out: float = 0.2  # convention: one row in five
    seed: int = 0  # convention: the paper's networks start at random


@dataclass(frozen=True)
class PaperFlow:
    """Fitted maps of x and y, given z, to latents; columns are numbered x, then y, then z.

    Parameters
    ----------
    dimensions : tuple of int
        (dx, dy, dz).
    centre, scale : ndarray, shape (dx + dy + dz,)
    units : dict of Unit to FittedUnit
    cross_product : ndarray, shape (dx + dy, dx + dy)
        Uncentred (Algorithm 1, step 4, times n - 1).
    dof : int
        n - 1.
    """

    dimensions: tuple[int, int, int]
    centre: FloatArray
    scale: FloatArray
    units: dict[Unit, FittedUnit]
    cross_product: FloatArray
    dof: int

    def __post_init__(self) -> None:
        """Refuse parts that do not fit each other."""
        (dx, dy, dz), every = self.dimensions, range(len(self.centre))
        must_fit(self, min(dx, dy, dz) >= 0 and self.centre.shape == self.scale.shape == (dx + dy + dz,))
        must_fit(self, len(self.units) == dx + dy and self.cross_product.shape == (dx + dy, dx + dy))
        must_fit(self, all(place in every for unit in self.units for place in (unit.target, *unit.context)))

    def transform(self, x: FloatArray, y: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Map rows (n, dx), (n, dy), (n, dz) to latents (n, dx), (n, dy): x' = Phi^-1(tau(x; z)) (step 3)."""
        dx, latents = self.dimensions[0], self.rows(x, y, z)[0]
        return latents[:dx].T, latents[dx:].T

    def rows(self, x: FloatArray, y: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Map rows to latents (dx + dy, n) and to standardised z, (dz, n)."""
        columns = self._standardised(x, y, z)
        latents = np.array([f.latent(columns[u.target], columns[list(u.context)]) for u, f in self.units.items()])
        return latents, columns[len(latents) :]

    def log_density(self, x: FloatArray, y: FloatArray, z: FloatArray) -> FloatArray:
        """ln p(x | z) + ln p(y | z) of rows in the columns' own units, in nats, shape (n,)."""
        columns = self._standardised(x, y, z)
        total = np.full(columns.shape[1], -np.log(self.scale[: len(self.units)]).sum())
        for unit, fitted in self.units.items():
            total += fitted.log_density(columns[unit.target], columns[list(unit.context)])
        return total

    def _standardised(self, *blocks: FloatArray) -> FloatArray:
        columns = np.hstack(blocks).T
        return np.ascontiguousarray((columns - self.centre[:, None]) / self.scale[:, None])


def fit_paper_flow(question: Question, settings: PaperSettings, n_jobs: int | None = None) -> tuple[PaperFlow, Latents]:
    """Fit the paper's flows to the columns of a question, and map the table's rows to latents."""
    dx, dy, dz = question.dimensions
    columns = question.table.columns[[*question.x, *question.y, *question.given]]
    centre, scale = columns.mean(axis=1), columns.std(axis=1)
    columns = np.ascontiguousarray((columns - centre[:, None]) / scale[:, None])
    given = range(dx + dy, dx + dy + dz)
    units = unique(autoregressive(range(dx), given) + autoregressive(range(dx, dx + dy), given))

    def fit_unit(unit: Unit) -> tuple[FittedUnit, FloatArray]:
        target, context = columns[unit.target], columns[list(unit.context)]
        network = Network.paper(len(context), settings.hidden_units, settings.components)
        theta = _train(network, target, context, settings)
        fitted = FittedUnit((Model(network, theta, identity),), np.ones(1), 0.0, {"network": 1.0})
        return fitted, fitted.latent(target, context)

    fitted, latents = zip(*run(fit_unit, units, n_jobs), strict=True)
    u = np.array(latents)
    cross_product, dof = u @ u.T, u.shape[1] - 1
    flow = PaperFlow((dx, dy, dz), centre, scale, dict(zip(units, fitted, strict=True)), cross_product, dof)
    return flow, Latents((dx, dy, dz), u, columns[dx + dy :], cross_product, dof)


def _train(network: Network, target: FloatArray, context: FloatArray, settings: PaperSettings) -> FloatArray:
    rng = np.random.default_rng(settings.seed)
    start = np.zeros(network.n_parameters)
    for (weights, biases), fan_in in zip(
        network.layer_slices, (*network.sizes[:-2], settings.hidden_units), strict=True
    ):
        bound = 1.0 / np.sqrt(max(fan_in, 1))
        for part in (weights, biases):
            start[part] = rng.uniform(-bound, bound, part.stop - part.start)
    last_weights, last_biases = network.layer_slices[-1]
    start[last_weights] *= 0.1  # the context has little effect at the start
    k = settings.components
    start[last_biases.start + k : last_biases.start + 2 * k] = np.linspace(-1.0, 1.0, k)
    order = rng.permutation(len(target))
    cut = int(settings.held_out * len(target))
    held, learned = order[:cut], order[cut:]

    def rows(chosen: NDArray[np.intp]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        return target[chosen].astype(np.float32), np.ascontiguousarray(context[:, chosen], dtype=np.float32)

    theta: FloatArray = maximise(
        start,
        np.zeros(network.n_parameters),
        *network.layout,
        *rows(learned),
        *rows(held),
        settings.iterations,
        1e-7,
        settings.patience,
        np.empty((0, 0)),
    )[0]
    return theta
