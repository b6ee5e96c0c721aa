"""What models of a shape have not seen of it, by nearest neighbours.

Models see less of a shape than there is, the more so the sharper its edges are. Nearest neighbours see edges, and where
rows are few too little of everything else. Together they see more than either does.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
from scipy.special import digamma

from pydine.bases.base import FittedBase, mean_and_error
from pydine.bases.elliptical import places
from pydine.kernels.mixing import mixture_log_density, smooth_step
from pydine.kernels.neighbours import neighbours
from pydine.latents.flows import Latents
from pydine.types import FloatArray, RowArray
from pydine.units.rows import some_of

NEIGHBOURS = 4  # answer: fewer are noisier, more see less; chosen on ten shapes other than those reported
OF_Z = 0.5  # answer: what distances in z count beside those in latents, which hardly follow it; chosen likewise
MOST_ASKED = 10_000  # answer: rows whose neighbours are sought, for the time
MANY_TIES = 0.05  # answer: share of rows with a value of z that others have too, for whom boxes are to be counted out
POINTS = -(3.0**-0.5), 3.0**-0.5  # fact: Gauss's two points between -1 and 1


def completed(base: FittedBase, latents: Latents, part: float = 1.0) -> FittedBase:
    """Add what a base has not seen of a shape to its value, if both sides have one column.

    Around a row is a box that holds its nearest neighbours. How many rows are in it, over how many were to be expected
    if x and y were independent, is the log-ratio by neighbours (Kraskov, Stögbauer and Grassberger 2004; given z:
    Frenzel and Pompe 2007). It takes the density to be even within the box. So what the base says of the box is taken
    off, and what it says of the row put in its place (as Gao, Ver Steeg and Galstyan 2015 do, who take the rows in the
    box to be Gaussian). If the base is right, the mean over rows is the same as without neighbours.

    Where values of z repeat, many rows are exactly as far as the k-th neighbour, and a box holds fewer than k: it is
    these that count then.

    Neighbours miss information, and hardly ever make up some. So what they add counts if it is positive, and shrunken:
    nothing up to one standard error, and the more of it the clearer it is.

    Parameters
    ----------
    base : FittedBase
        Fitted to the latents.
    latents : Latents
    part : float
        How much of it is added, between 0 and 1.
    """
    if latents.dimensions[:2] != (1, 1) or part == 0.0:
        return base
    spots, asked = places(latents.both), some_of(latents.outwards, MOST_ASKED)
    radii, counts = neighbours(spots[0], spots[1], OF_Z * _ranks(latents.z), asked, NEIGHBOURS)
    alone, with_x, with_y, together = digamma(counts)
    tied = smooth_step(_tied(latents.z), 0.0, MANY_TIES)
    inside = digamma(NEIGHBOURS) if tied == 0.0 else (1.0 - tied) * digamma(NEIGHBOURS) + tied * together
    even = inside + alone - with_x - with_y
    left, error = mean_and_error(even - _of_boxes(base, latents, spots, asked, radii))
    missed = float(base.log_ratio(latents.both, latents.z).mean()) + left - base.value
    share = part * (1.0 - (error / missed) ** 2) if missed > error else 0.0
    return replace(
        base,
        value=base.value + share * missed,
        standard_error=float(np.hypot(base.standard_error, share * error)),
        evaluate=partial(np.asarray, base.held_out),
        details={**base.details, "by_neighbours": share * missed},
    )


def _of_boxes(base: FittedBase, latents: Latents, spots: FloatArray, asked: RowArray, radii: FloatArray) -> FloatArray:
    """Log-ratios by a base of boxes around rows (m,), shape (m,): the mean over a box, by Gauss's rule of two points.

    Parameters
    ----------
    base : FittedBase
    latents : Latents
    spots : ndarray, shape (2, n)
        Places of all rows.
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
    """Ranks of columns (d, n), of tied rows the average: multiples of 1/2, so that distances are exact."""
    ranks = np.empty(columns.shape)
    for i, column in enumerate(columns):
        _, inverse, counts = np.unique(column, return_inverse=True, return_counts=True)
        ranks[i] = (np.cumsum(counts) - 0.5 * counts)[inverse]
    return ranks


def _tied(columns: FloatArray) -> float:
    """The share of rows whose value others have too, in the column (of d, n) where it is largest; 0 without columns."""
    counts = (np.unique(column, return_counts=True)[1] for column in columns)
    return max((float(some[some > 1].sum() / columns.shape[1]) for some in counts), default=0.0)
