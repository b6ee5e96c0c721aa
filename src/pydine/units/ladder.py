"""The ladder: models of one unit from plain to rich, combined by their held-out likelihood.

    marginal -> linear (-> codes) -> additive -> index -> networks -> wide networks

Every rung (`rungs/`) is a mixture of Gaussians whose parameters depend on the context (a conditional flow of the
paper's kind); a mixture of rungs is one as well. That of codes is there only where the target follows a sum of codes
(`codes`). Rungs are fitted on folds (`folds`), of which the first says which are worth fitting (`climb`). The weights
of the mixture maximise the likelihood of the held-out rows (`stacking`), so a rung that the data do not support gets no
weight. That is the paper's tuning by cross-validated likelihood, done for every unit by itself.

A row's density is then the average over the folds' models: averaging steadies small networks, and no model has to be
fitted again on all rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pydine.kernels.mixing import best_mixture, total
from pydine.sampling import INDEPENDENT, Rows
from pydine.types import FloatArray
from pydine.units.codes import sums_of
from pydine.units.evidence import NEGLIGIBLE, evidence
from pydine.units.folds import Fold, SharedRungs, held_out_rows
from pydine.units.rows import Arrangement, signs
from pydine.units.rungs.linear import ExpandedRung
from pydine.units.rungs.registry import rungs_for
from pydine.units.rungs.rung import Rung, RungsFor
from pydine.units.settings import LadderSettings
from pydine.units.stacking import RungStack
from pydine.units.steps import middles, negated
from pydine.units.unit import MARGINAL, FittedUnit, Model

__all__ = ["LadderSettings", "SharedRungs", "cross_fit_ladder", "fit_ladder", "held_out_likelihood"]


def fit_ladder(
    target: FloatArray,
    context: FloatArray,
    settings: LadderSettings,
    rungs: RungsFor = rungs_for,
    rows: Rows = INDEPENDENT,
) -> FittedUnit:
    """Fit one unit: normal scores of a target given those of its context.

    Parameters
    ----------
    target : ndarray, shape (n,), or (2, n) for the cut points of steps (`steps`)
    context : ndarray, shape (c, n)
    settings : LadderSettings
    rungs : callable
        Lists the rungs from plain to rich; see `rungs/rung.py` for how to write another.
    rows : Rows
        How they depend on each other.

    Returns
    -------
    FittedUnit
        It depends on the arguments alone, not on what else is fitted or in what order.
    """
    if len(context) == 0:
        return MARGINAL
    return fit_folds(target, context, settings, rungs=rungs, rows=rows).taught(target, context)[0]


def cross_fit_ladder(
    target: FloatArray,
    context: FloatArray,
    settings: LadderSettings,
    rungs: RungsFor = rungs_for,
    rows: Rows = INDEPENDENT,
) -> tuple[FittedUnit, FloatArray]:
    """Fit one unit, and give every row the log-density of models that have not seen it.

    Parameters
    ----------
    target, context, settings, rungs, rows
        As in `fit_ladder`.

    Returns
    -------
    unit : FittedUnit
    log_density : ndarray, shape (n,)
        Nats. A row's models were fitted without its fold; the weights of the mixture come from the other folds' rows.
        Which rungs there are, and how many steps they take, was decided in the first fold.
    """
    if len(context) == 0:
        return MARGINAL, MARGINAL.log_density(target, context)
    unit, log_density = fit_folds(target, context, settings, rungs=rungs, rows=rows).taught(target, context)
    unseen = np.flatnonzero(np.isnan(log_density))
    log_density[unseen] = unit.log_density(target[..., unseen], context[:, unseen])
    return unit, log_density


def held_out_likelihood(
    target: FloatArray, context: FloatArray, settings: LadderSettings, shared: SharedRungs
) -> float:
    """Mean held-out log-likelihood of a unit in nats, for tuning.

    Parameters
    ----------
    target, context, settings
        As in `fit_ladder`.
    shared : dict
        Fitted rungs without a network, which depend on `components` and on nothing else that is tuned: those found here
        are not fitted again, and new ones are added.
    """
    if len(context) == 0:
        return float(MARGINAL.log_density(target, context).mean())
    return float(np.nanmean(fit_folds(target, context, settings, shared).held_out(context.shape[1])))


def fit_folds(
    target: FloatArray,
    context: FloatArray,
    settings: LadderSettings,
    shared: SharedRungs | None = None,
    rungs: RungsFor = rungs_for,
    rows: Rows = INDEPENDENT,
) -> RungStack:
    """Fit, in every fold, the rungs that were selected in the first one; arguments as in `held_out_likelihood`."""
    shared = {} if shared is None else shared
    # Networks start from weights that are drawn for each place, and training amplifies rounding: so the values fix the
    # order of columns, and their signs.
    middle = middles(target)[None]
    seen, sign = Arrangement.beside(context, middle), float(signs(np.vstack([middle, context]))[0])
    target, context = negated(target, sign), seen(context)
    held = held_out_rows(target, context, settings, rows)
    learned = np.concatenate([fold.rows for fold in held])
    folds = [Fold.of(i, target, context, held, settings, shared, rows) for i in range(len(held))]
    listed = rungs(len(context), folds[0].x.shape[1], settings)
    sums = None if "codes" in settings.without else sums_of(middles(target)[learned], context[:, learned])
    if sums is not None:
        listed.insert(1, ExpandedRung("codes", sums))
    climbed = climb(folds[0], listed)
    models, densities = [climbed.models], [climbed.densities]
    for fold in folds[1:]:
        fitted = [fold.fit(rung)[0] for rung in climbed.rungs]
        models.append(fitted)
        densities.append(np.array([fold.marginal_density, *map(fold.density_of, fitted)]))
    names = ["marginal", *(rung.name for rung in climbed.rungs)]
    return RungStack([fold.rows for fold in held], sign, seen, names, climbed.trust, models, densities)


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
