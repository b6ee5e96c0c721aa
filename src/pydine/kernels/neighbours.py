"""Nearest neighbours in the maximum norm, and the number of rows within that distance in subsets of the columns."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,call-arg,unreachable,var-annotated"

from __future__ import annotations

import numpy as np

from pydine.kernels.arithmetic import check
from pydine.kernels.compilation import compiled


@compiled("(float64[::1], float64[::1], float64[:, ::1], int64[::1], int64)")
def neighbours(x, y, z, asked, k):
    """Distance to the k-th neighbour, and numbers of rows closer than that in z, in x and z, in y and z, and in all.

    Parameters
    ----------
    x, y : (n,) float64
    z : (dz, n) float64
    asked : (m,) integers, the rows whose neighbours are sought, among all n.
    k : int, less than n

    Returns
    -------
    radii : (m,) float64
    counts : (4, m) int64, the row itself included. The last is k, or less if several rows are as far as the k-th.
    """
    n, m = x.shape[0], asked.shape[0]
    check(y.shape[0] == n and z.shape[1] == n and 0 <= k < n)
    for i in range(m):
        check(0 <= asked[i] < n)
    radii, counts = np.empty(m), np.zeros((4, m), dtype=np.int64)
    of_x, of_y, of_z, nearest = np.empty(n), np.empty(n), np.zeros(n), np.empty(k + 1)
    for i in range(m):
        row = asked[i]
        for j in range(n):
            of_x[j] = abs(x[j] - x[row])
            of_y[j] = abs(y[j] - y[row])
        for a in range(z.shape[0]):
            for j in range(n):
                far = abs(z[a, j] - z[a, row])
                of_z[j] = far if a == 0 else max(of_z[j], far)
        nearest[:] = np.inf
        for j in range(n):
            far = max(max(of_x[j], of_y[j]), of_z[j])
            if far < nearest[k]:
                place = k
                while place > 0 and nearest[place - 1] > far:
                    nearest[place] = nearest[place - 1]
                    place -= 1
                nearest[place] = far
        radius = nearest[k]
        with_x, with_y, alone, together = 0, 0, 0, 0
        for j in range(n):
            inside = of_z[j] < radius
            alone += inside
            with_x += inside & (of_x[j] < radius)
            with_y += inside & (of_y[j] < radius)
            together += inside & (of_x[j] < radius) & (of_y[j] < radius)
        radii[i] = radius
        counts[0, i], counts[1, i], counts[2, i], counts[3, i] = alone, with_x, with_y, together
    return radii, counts
