"""How a unit's likelihood is curved: its Fisher information, by sums of gradients over small groups of rows.

At a maximum, the curvature of a likelihood is the covariance of the rows' gradients. That of sums over groups of
independent rows is as many times as large as a group has rows, and takes one pass over the rows.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,call-arg,unreachable,var-annotated"

from __future__ import annotations

import numpy as np

from pydine.kernels.arithmetic import check, dot
from pydine.kernels.compilation import compiled
from pydine.kernels.layers import in_blocks
from pydine.kernels.likelihood import blocked_likelihood, prepared
from pydine.kernels.regression import cross_products

GROUP = 8  # memory: rows whose gradients are summed: so many times fewer are kept

_LAYOUT = "int64[::1], int64[::1], int64, boolean"
_part = compiled(inlined=True)


@_part
def _factorise(a):
    """Replace the lower triangle of a positive definite matrix (p, p) by its Cholesky factor."""
    for j in range(a.shape[0]):
        a[j, j] = np.sqrt(max(a[j, j] - dot(a[j, :j], a[j, :j]), 1e-300))
        for i in range(j + 1, a.shape[0]):
            a[i, j] = (a[i, j] - dot(a[i, :j], a[j, :j])) / a[j, j]


@compiled("(float64[:, ::1], float64[::1])")
def solve(factor, out):
    """Multiply a vector (p,) by the inverse of the matrix with a Cholesky factor (p, p), in place."""
    p = factor.shape[0]
    for i in range(p):
        out[i] = (out[i] - dot(factor[i, :i], out[:i])) / factor[i, i]
    for back in range(p):
        i = p - 1 - back
        out[i] /= factor[i, i]
        for j in range(i):
            out[j] -= factor[i, j] * out[i]


@compiled(
    f"(float32[::1], float64[::1], {_LAYOUT}, float32[::1], float32[:, ::1])",
    f"(float32[::1], float64[::1], {_LAYOUT}, float32[:, ::1], float32[:, ::1])",
)
def curvature(theta, decay, sizes, activations, groups, skip, target, context):
    """The Cholesky factor of the Fisher information of a row's likelihood, with the prior's precision, shape (p, p).

    Parameters
    ----------
    theta : (p,) float32; decay : (p,) float64, positive.
    sizes, activations, groups, skip, target, context : as in `likelihood.log_likelihood`.
    """
    p, n = theta.shape[0], context.shape[1]
    some = n // GROUP
    check(decay.shape[0] == p and target.shape[-1] == n and some > 0)
    gradients, nothing, grad = np.empty((p, some)), np.empty(0), np.empty(p)
    space = prepared(sizes, context[:, :GROUP])[1]
    for g in range(some):
        rows = slice(g * GROUP, (g + 1) * GROUP)
        blocks, of_group = in_blocks(context[:, rows]), target[..., rows].copy()
        blocked_likelihood(theta, sizes, activations, groups, skip, of_group, blocks, nothing, grad, space)
        for i in range(p):
            gradients[i, g] = grad[i]
    information = cross_products(gradients)
    for i in range(p):
        for j in range(i + 1):
            information[i, j] /= some * GROUP
        information[i, i] = 1.01 * information[i, i] + decay[i]
    _factorise(information)
    return information
