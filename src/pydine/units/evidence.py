"""The rule of evidence: how far a richer model counts beside a plainer one, by the rows that neither has seen.

It is used wherever models compete: rungs of a ladder, mixtures of more and more components, bases of the latents,
models of columns of any kind. Each row's gain is by how much the richer model predicts it better, in nats. The sum over
rows is what Bayesian model averaging would compare with the prior, if held-out rows stood for the marginal likelihood
(pseudo-BMA), but it is itself uncertain: other rows would have another sum. Pseudo-BMA+ (Yao, Vehtari, Simpson and
Gelman 2018) averages the weight over Bayesian-bootstrap draws of the rows. Their sum is close to normal, with the
variance of a sum over rows, and the mean of a logistic function over a normal variable is close to a logistic function
again (MacKay 1992). So nothing is drawn, and the weight is a smooth function of the rows' gains that does not depend on
their order.

Few rows that agree count by their nats, and many that disagree by their standard errors: one number, the prior, takes
the place of a threshold in each of these units.
"""

from __future__ import annotations

import numpy as np

from pydine.kernels.mixing import exponential, total
from pydine.sampling import INDEPENDENT, Rows
from pydine.types import FloatArray

# answer: nats that a richer model has to gain to count as much as a plainer one, so that independent data stay at zero.
# 2 to 8 do equally well on 24 shapes other than those reported; with less, one independent sample in a hundred is not.
PRIOR = 6.0
# convention: rows that anything learned needs for each value, as a table does for its cells (Cochran 1954)
ROWS_PER_VALUE = 5.0
# answer: of two models, the one whose weight is smaller than this does not count, and need not be fitted any further;
# from there on its weight rises.
LEAST = 0.1
# answer: nats of all rows that do not matter beside PRIOR: a fit ends when another step gains less, and a model is
# dropped that adds less. In nats a row it would be one figure for all samples, and large ones were left half learned.
NEGLIGIBLE = 0.1


def evidence(gains: FloatArray, share: float = 1.0, rows: Rows = INDEPENDENT) -> float:
    """How far a richer model counts beside a plainer one, from 0 to 1; arguments as in `probability`."""
    return counted(probability(gains, share, rows))


def probability(gains: FloatArray, share: float = 1.0, rows: Rows = INDEPENDENT) -> float:
    """The weight of a richer model beside a plainer one: how probably it is the better one.

    Parameters
    ----------
    gains : ndarray, shape (n,)
        Held-out log-density of each row under the richer model less that under the plainer one, in nats.
    share : float
        Which share of the rows they are. One fold's gains stand for all rows: their sum is extrapolated.
    rows : Rows
        How they depend on each other: they count as so many independent rows as have the same variance.
    """
    effect = max(rows.effect(gains)[0], 1.0)  # that rows speak against each other makes no more of them
    gain = float(total(gains)) / (share * effect)
    centred = gains - gains.mean()
    spread = float(total(centred * centred)) / (share**2 * effect)  # the variance of the extrapolated sum
    weight: float = 1.0 / (1.0 + exponential(min((PRIOR - gain) / np.sqrt(1.0 + np.pi * spread / 8.0), 700.0)))
    return weight


def counted(weight: float) -> float:
    """How far a model counts that is the better one with this probability: not at all up to `LEAST`."""
    return min(max((weight - LEAST) / (1.0 - 2.0 * LEAST), 0.0), 1.0)


def without_traces(weights: FloatArray, n: int) -> FloatArray:
    """The weights of a mixture, (models,), without those that EM leaves of models that it does not need.

    Without a model of weight w, the log-likelihood of n rows falls by n w nats at most, to first order.
    """
    kept = np.where(n * weights < NEGLIGIBLE, 0.0, weights)
    without: FloatArray = kept / kept.sum()
    return without
