"""The climb: fits the rungs, from plain to rich, in the first fold, and selects those that every fold will fit."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pydine.kernels.mixing import best_mixture, total
from pydine.types import FloatArray
from pydine.units.evidence import NEGLIGIBLE, evidence
from pydine.units.folds import Fold
from pydine.units.rungs.rung import Rung
from pydine.units.unit import Model


class Climbed(NamedTuple):
    """What the first fold selected for all folds: rungs, with their numbers of training steps, and how far they count.

    `trust` (1 + rungs,), between 0 and 1, scales their weights; `models` and `densities` (1 + rungs, n) are the first
    fold's own. `trust` and `densities` begin with the marginal rung.
    """

    rungs: list[Rung]
    trust: FloatArray
    models: list[Model]
    densities: FloatArray


def climb(fold: Fold, rungs: list[Rung]) -> Climbed:
    """Fit the rungs in the first fold, and select those that all folds will fit.

    A rung that adds next to nothing to the mixture of those below it is refused, so that where nothing is non-linear
    little time is spent on networks. One that adds little counts in part, so that no single row decides.
    """
    densities = [fold.marginal_density]
    held = best_mixture(np.array(densities))
    models: list[Model] = []
    kept: list[Rung] = []
    trusted: dict[str, float] = {}
    for rung in rungs:
        if trusted.get(rung.name) == 0.0 or trusted.get(rung.after) == 0.0:
            trusted[rung.name] = 0.0
            continue
        model, effort = fold.fit(rung, watched=True)
        density = fold.density_of(model)
        with_it = best_mixture(np.array([*densities, density]))
        if rung.name not in trusted:
            trusted[rung.name] = evidence(with_it - held, fold.share, fold.rows_held)
        if trusted[rung.name] == 0.0:
            continue
        held = with_it
        models.append(model)
        densities.append(density)
        kept.append(replace(rung, **effort._asdict()))
    needed = needed_of(densities, float(total(held)))
    counted = np.array([densities[0], *(densities[1 + j] for j in needed)])
    trust = np.array([1.0, *(trusted[kept[j].name] for j in needed)])
    return Climbed([kept[j] for j in needed], trust, [models[j] for j in needed], counted)


def needed_of(densities: list[FloatArray], likelihood: float) -> list[int]:
    """Positions of the rungs that the mixture needs: those that richer rungs have made redundant are left out.

    The plainest rung always stays: a richer one may have done better on these rows by chance.

    Parameters
    ----------
    densities : list of ndarray, shape (n,)
        Log-densities of the marginal rung, then those of the others.
    likelihood : float
        Log-likelihood of the rows under the best mixture of all rungs, in nats.
    """
    needed = list(range(len(densities) - 1))
    for j in needed[1:]:
        others = [i for i in needed if i != j]
        if total(best_mixture(np.array([densities[0], *(densities[1 + i] for i in others)]))) > likelihood - NEGLIGIBLE:
            needed = others
    return needed
