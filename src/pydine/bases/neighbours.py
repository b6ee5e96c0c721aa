"""What models of a density have missed of its shape, estimated by nearest neighbours.

Models underestimate the information in a shape, the more so the sharper its edges are. Nearest neighbours resolve
edges, but underestimate everything else where rows are few. Together they find more than either does alone.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from pydine.bases.base import FittedBase, mean_and_error
from pydine.bases.closed_form import ENOUGH_ROWS
from pydine.bases.elliptical import places
from pydine.kernels.mixing import mixture_log_density
from pydine.kernels.neighbours import neighbours
from pydine.latents.flows import Latents
from pydine.types import FloatArray, RowArray
from pydine.units.rows import some_of

NEIGHBOURS = 4  # answer: fewer are noisier, more are more biased; chosen on ten shapes other than those reported
POINTS = -(3.0**-0.5), 3.0**-0.5  # fact: Gauss's two points between -1 and 1


def completed(base: FittedBase, latents: Latents, part: float = 1.0) -> FittedBase:
    """Add what a base has missed of a shape to its value, if it has found one and both sides have one column.

    Around each row is a box that holds its nearest neighbours. The number of rows in it, compared with the number
    expected if x and y were independent, gives the nearest-neighbour log-ratio (Kraskov, Stögbauer and Grassberger
    2004; given z: Frenzel and Pompe 2007). This assumes that the density is uniform within the box. So the log of
    the base's mean ratio over the box is subtracted (Gao, Ver Steeg and Galstyan 2015 assume that the density in the
    box is Gaussian instead). If the base is correct, nothing is left on average, and otherwise what it has missed.

    Where values of z repeat, many rows are exactly as far away as the k-th neighbour, and the open box holds fewer than
    k rows: then that number takes the place of k. Copies of a row are no neighbours of it, and where there are some,
    nothing is added.

    Nearest neighbours underestimate information and hardly ever overestimate it. So what they add counts only if it is
    positive. It is noisier than the base itself, and a base that has found little of a shape will not have missed much
    of it. So it counts as the mean of a normal distribution does whose prior is as wide as what the base has found of
    the shape: it is multiplied by gain² / (gain² + error²).

    Parameters
    ----------
    base : FittedBase
        Fitted to the latents.
    latents : Latents
    part : float
        How much of the correction is added, between 0 and 1.
    """
    gain = base.value * base.shaped
    if latents.dimensions[:2] != (1, 1) or min(part, gain) <= 0.0 or not latents.rows.distinct:
        return base
    spots, asked = places(latents.both), some_of(latents.outwards, ENOUGH_ROWS)
    radii, counts = neighbours(spots[0], spots[1], _ranks(latents.z), asked, NEIGHBOURS)
    alone, with_x, with_y, together = digamma(counts)
    inside = np.where(_tied(latents.z)[asked], together, digamma(NEIGHBOURS))
    even = inside + alone - with_x - with_y
    more = even - _of_boxes(base, latents, spots, asked, radii)
    some = latents.rows.only(asked)
    missed, error = mean_and_error(more, some)
    together = float(np.cov(more, base.held_out[asked])[0, 1]) * some.effect(more + base.held_out[asked])[0]
    share = part * gain**2 / (gain**2 + error**2) if missed > 0.0 else 0.0
    return replace(
        base,
        value=base.value + share * missed,
        standard_error=_of_sum(base, share * error, share * together),
        evaluate=partial(np.asarray, base.held_out),
        by_neighbours=share * missed,
    )


def _of_sum(base: FittedBase, error: float, covariance: float) -> float:
    """Standard error of a base's value plus something else of the same rows, from its error and their covariance."""
    square = base.standard_error**2 + error**2 + 2.0 * covariance / len(base.held_out)
    return float(np.sqrt(max(square, 0.0)))


def _of_boxes(base: FittedBase, latents: Latents, spots: FloatArray, asked: RowArray, radii: FloatArray) -> FloatArray:
    """Logs of a base's mean ratios over boxes around rows (m,), in nats, shape (m,), by two-point Gauss quadrature.

    Parameters
    ----------
    base : FittedBase
    latents : Latents
    spots : ndarray, shape (2, n)
        Continuous ranks of all rows (`elliptical.places`).
    asked : ndarray of int, shape (m,)
    radii : ndarray, shape (m,)
        Half the width of each box.
    """
    low = np.maximum(spots[:, asked] - radii, 0.0)
    high = np.minimum(spots[:, asked] + radii, float(latents.n_rows))
    middles, halves, z = 0.5 * (low + high), 0.5 * (high - low), latents.z[:, asked]
    sides = []
    for column, spot, middle, half in zip(latents.both, spots, middles, halves, strict=True):
        order = np.argsort(spot)
        sides.append([np.interp(middle + point * half, spot[order], column[order]) for point in POINTS])
    ratios = np.array([base.log_ratio(np.array(both), z) for both in product(*sides)])
    means: FloatArray = mixture_log_density(ratios, np.full(len(ratios), 1.0 / len(ratios)))
    return means


def _ranks(columns: FloatArray) -> FloatArray:
    """Ranks of columns (d, n), averaged over ties: multiples of 1/2, so that distances are exact."""
    ranks = np.empty(columns.shape)
    for i, column in enumerate(columns):
        _, inverse, counts = np.unique(column, return_inverse=True, return_counts=True)
        ranks[i] = (np.cumsum(counts) - 0.5 * counts)[inverse]
    return ranks


def _tied(columns: FloatArray) -> NDArray[np.bool_]:
    """Whether another row has the same value as a row in any of the columns (d, n), shape (n,)."""
    tied = np.zeros(columns.shape[1], dtype=np.bool_)
    for column in columns:
        _, inverse, counts = np.unique(column, return_inverse=True, return_counts=True)
        tied |= counts[inverse] > 1
    return tied
