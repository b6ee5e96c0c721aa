"""What z still does to the latents, learned from both sides at once.

A unit learns how its column depends on z from that column alone. Once a base knows the shape of the dependence between
the sides, each side says where the other ought to be, far more precisely than its own spread does, so what z still does
to either shows more clearly. One step of Fisher scoring follows it: with the joint density p(a, b) = p(a) p(b) r(a, b)
of the latents, r the base's ratio, the efficient score of a shift of a is a - d ln r / da for a standard normal a (and
likewise for b), and its regression on functions of z, divided by the information matrix, is the shift.

A regression follows the noise of the rows it was fitted to, so the shape would look too sharp; shifts from the other
rows alone leave it too blurred, by as much to first order. As with the log-ratios of a stack, the average of both is
taken.
"""

from __future__ import annotations

import numpy as np

from pydine.bases.base import LogRatio
from pydine.bases.learning import slopes
from pydine.latents.flows import Latents
from pydine.latents.projection import shrunk
from pydine.types import FloatArray, RowArray
from pydine.units.rows import View

FARTHEST = 4.0  # answer: scores are clipped to this many root mean squares, so that no row decides by itself
LEAST_INFORMATION = 1e-3  # guard: least information about a shift in any direction, as a share of the mean
LEAST_LEFT = 0.1  # guard: a row's shift follows its own score by at most all but this share


def sharpened(latents: Latents, log_ratio: LogRatio, some: RowArray | None = None, part: float = 1.0) -> Latents:
    """Take out of the latents what a base's ratio shows of z in them.

    Parameters
    ----------
    latents : Latents
    log_ratio : callable
        Of the latents in their canonical order and with their canonical signs, as a base has it.
    some : ndarray of int, optional
        Rows to learn from, if not all. Shifts that are learned from other rows alone are then not told apart.
    part : float
        How much of the shift is made, between 0 and 1.

    Returns
    -------
    Latents
        With a projection that takes out more; the same object if there is no z to learn about.
    """
    projection, seen = latents.projection, latents.seen()
    if projection is None or latents.dimensions[2] == 0:
        return latents
    rows = slice(None) if some is None else some
    scores, root = _scores(log_ratio, seen.both[:, rows], seen.z[:, rows])
    d, n = scores.shape
    scale = np.sqrt(latents.n_rows / n)  # at some of the rows, functions are orthonormal up to it, and to noise
    white = scale * np.hstack(list(projection.orthonormal(latents.functions_at(some))))
    products = scores @ white.T
    noise = (float((scores * scores).sum()) - float((products * products).sum())) / (d * max(n - len(white), 1))
    shares = part * shrunk((products * products).mean(axis=0) / noise, projection.functions.n_always, d)
    products *= shares
    view = latents.view or View(tuple(range(d)), np.ones(d), is_swapped=False)
    back = np.zeros((d, latents.n_rows))
    if some is None:
        own = np.minimum(shares @ (white * white), 1.0 - LEAST_LEFT)  # how far its own score decides a row's shift
        back = view.undone(root @ (0.5 * own / (1.0 - own) * (scores - products @ white)))
    return latents.shifted(projection.with_more(scale * view.undone(root @ products).T), back)


def _scores(log_ratio: LogRatio, both: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Efficient scores of shifts of latents (d, n), made orthonormal, (d, n), and the factor (d, d) that turns back.

    The factor is the inverse square root of the information matrix: shifts are the factor times the shifts of what is
    orthonormal.
    """
    scores = both / (both * both).mean(axis=1, keepdims=True) - slopes(log_ratio, both, z)
    scores -= scores.mean(axis=1, keepdims=True)
    most = FARTHEST * np.sqrt((scores * scores).mean(axis=1, keepdims=True))
    scores = np.clip(scores, -most, most)
    information, vectors = np.linalg.eigh(scores @ scores.T / scores.shape[1])
    information = np.maximum(information, LEAST_INFORMATION * information.mean())
    root: FloatArray = (vectors / np.sqrt(information)) @ vectors.T
    return root @ scores, root
