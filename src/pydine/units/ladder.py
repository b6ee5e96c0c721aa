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

import numpy as np

from pydine.types import FloatArray
from pydine.units.climb import climb
from pydine.units.codes import sums_of
from pydine.units.folds import Fold, SharedRungs, held_out_rows
from pydine.units.rows import Arrangement, signs
from pydine.units.rungs.linear import ExpandedRung
from pydine.units.rungs.registry import rungs_for
from pydine.units.rungs.rung import RungsFor
from pydine.units.settings import LadderSettings
from pydine.units.stacking import Stack
from pydine.units.steps import middles, negated
from pydine.units.unit import MARGINAL, FittedUnit

__all__ = ["LadderSettings", "SharedRungs", "cross_fit_ladder", "fit_ladder", "held_out_likelihood"]


def fit_ladder(
    target: FloatArray, context: FloatArray, settings: LadderSettings, rungs: RungsFor = rungs_for
) -> FittedUnit:
    """Fit one unit: normal scores of a target given those of its context.

    Parameters
    ----------
    target : ndarray, shape (n,), or (2, n) for the cut points of steps (`steps`)
    context : ndarray, shape (c, n)
    settings : LadderSettings
    rungs : callable
        Lists the rungs from plain to rich; see `rungs/rung.py` for how to write another.

    Returns
    -------
    FittedUnit
        It depends on the arguments alone, not on what else is fitted or in what order.
    """
    if len(context) == 0:
        return MARGINAL
    return fit_folds(target, context, settings, rungs=rungs).taught(target, context)[0]


def cross_fit_ladder(
    target: FloatArray, context: FloatArray, settings: LadderSettings, rungs: RungsFor = rungs_for
) -> tuple[FittedUnit, FloatArray]:
    """Fit one unit, and give every row the log-density of models that have not seen it.

    Parameters
    ----------
    target, context, settings, rungs
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
    unit, log_density = fit_folds(target, context, settings, rungs=rungs).taught(target, context)
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
) -> Stack:
    """Fit, in every fold, the rungs that were selected in the first one; arguments as in `held_out_likelihood`."""
    shared = {} if shared is None else shared
    # Networks start from weights that are drawn for each place, and training amplifies rounding: so the values fix the
    # order of columns, and their signs.
    middle = middles(target)[None]
    seen, sign = Arrangement.beside(context, middle), float(signs(np.vstack([middle, context]))[0])
    target, context = negated(target, sign), seen(context)
    held = held_out_rows(target, context, settings)
    learned = np.concatenate(held)
    folds = [Fold.of(i, target, context, held, settings, shared) for i in range(len(held))]
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
    return Stack(held, sign, seen, names, climbed.trust, models, densities)
