"""Stacking: the models of all folds, mixed with weights that maximise the likelihood of held-out rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pydine.kernels.mixing import mixture_log_density, mixture_weights, total
from pydine.types import FloatArray, RowArray
from pydine.units.evidence import without_traces
from pydine.units.rows import Arrangement
from pydine.units.unit import FittedUnit, Model

# convention: that the effect of the context is assumed to have, for the rate of learning (Stone 1982)
DERIVATIVES = 2.0
# answer: doublings of the rows that count as what more rows would teach: ten billion times as many. Functions of up to
# 20 columns are learned by then; of a thousand, the sum over all doublings would be as if there were 361 of them.
DOUBLINGS = 33


@dataclass(frozen=True)
class RungStack:
    """What was fitted in every fold: the rows held out, the models, and their log-densities of those rows.

    The first row of each of `densities` is the marginal rung's, which has no model. `trust` says how far the held-out
    rows of the first fold support each rung, between 0 and 1; `sign` is the sign with which the target was learned, and
    `seen` the arrangement of the context.
    """

    rows: list[RowArray]
    sign: float
    seen: Arrangement
    names: list[str]
    trust: FloatArray
    models: list[list[Model]]
    densities: list[FloatArray]

    def weights(self, without: int | None = None) -> FloatArray:
        """Weights of the rungs that maximise the likelihood of held-out rows, scaled by `trust`, shape (rungs,).

        The rows are those of all folds or, if one is left out (`without`), of the others.
        """
        held = [densities for j, densities in enumerate(self.densities) if j != without]
        weights: FloatArray = mixture_weights(np.hstack(held)) * self.trust
        weights /= weights.sum()
        return weights

    def held_out(self, n: int) -> FloatArray:
        """Log-densities of n rows under models that have not seen them, shape (n,); NaN for rows that are in no fold.

        The weights of a fold's mixture come from the other folds.
        """
        held = np.full(n, np.nan)
        for i, (rows, densities) in enumerate(zip(self.rows, self.densities, strict=True)):
            held[rows] = mixture_log_density(densities, self.weights(without=i))
        return held

    def unit(self) -> FittedUnit:
        """The fitted unit: rungs of negligible weight are dropped, and the folds' models of a rung share its weight."""
        weights = without_traces(self.weights(), sum(len(rows) for rows in self.rows))
        by_name: dict[str, float] = {}
        for name, weight in zip(self.names, weights, strict=True):
            by_name[name] = by_name.get(name, 0.0) + float(weight)
        counted = [j for j in range(len(weights) - 1) if weights[1 + j] > 0.0]
        models = tuple(fold[j] for j in counted for fold in self.models)
        shares = np.repeat(weights[1:][counted] / len(self.models), len(self.models))
        return FittedUnit(models, shares, float(weights[0]), by_name, self.sign, seen=self.seen)

    def taught(self, target: FloatArray, context: FloatArray) -> tuple[FittedUnit, FloatArray]:
        """The unit of a target (n,) and a context (c, n), with what it may have missed (`unlearned`), and `held_out`.

        Models predict rows that they were fitted to better than new rows. Where models are rich enough, half of this
        optimism is by how much they fall short (as in Akaike's criterion). Where they are too plain, it shows as well:
        the ladder grows with the rows, so whatever is still being learned adds to the optimism. How much is left to
        learn depends on the context: errors of functions of c columns with two derivatives fall as n^(-4 / (4 + c)) at
        best (Stone 1982), and the slower they fall, the more is left beyond what one doubling of the rows would teach.
        Latents come from the mixture's distribution function, which models of little weight hardly change however much
        they overfit; so the optimism is multiplied by the weight of the models.

        The linear rung is learned at the parametric rate, which one doubling of the rows exhausts, and half of its
        parameters are of the location. What is linear in the context's columns is projected out exactly, so that half
        is not missed at all; the other half is of the scale.
        """
        unit, held = self.unit(), self.held_out(context.shape[1])
        rows = np.flatnonzero(~np.isnan(held))
        seen = unit.log_density(target[..., rows], np.ascontiguousarray(context[:, rows]))
        optimism = max(total(seen - held[rows]) / len(rows), 0.0)
        curved = unit.nonlinear_weight * still_to_learn(len(context))
        linear = unit.rung_weights.get("scale", 0.0)
        return replace(unit, unlearned=(0.5 * linear + curved) * optimism), held


def still_to_learn(c: int) -> float:
    """What more rows would teach of a function of c columns, as a multiple of what the last doubling has taught."""
    rate = 2.0 * DERIVATIVES / (2.0 * DERIVATIVES + c)
    return float((1.0 - 2.0 ** (-rate * DOUBLINGS)) / (2.0**rate - 1.0))
