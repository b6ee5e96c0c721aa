"""The compiled kernel: log-likelihood of one unit, its gradient, and the parameters of the mixture for every row.

A unit is one target column t and its context columns x. Its conditional density is a mixture of k Gaussians
whose logits a_j, means m_j and log-scales s_j come from a network of the context (the paper's conditioner and
the functions w, mu and ln sigma of its transformer), with an optional linear location and log-scale beside it:

    p(t | x) = sum_j softmax(a)_j N(t; l'x + m_j, exp(g'x + s_j)^2)

With z_j = (t - l'x - m_j) / sigma_j and the responsibilities r_j, the gradient is closed-form:

    d/d a_j = r_j - w_j,    d/d m_j = r_j z_j / sigma_j,    d/d s_j = r_j (z_j^2 - 1).

Rows are processed in blocks and every array is (feature, row), so that the inner loops run over rows and
vectorise. Arithmetic is in the dtype of the parameters (float32 in use, float64 in the gradient's test); sums over
blocks are float64.

A target of ordered steps (counts, ranks, many ties) has two cut points a < b for each row instead, and its
log-likelihood is that of the interval between them, ln(F(b | x) - F(a | x)): the same mixture, integrated over the
step. The code for it is compiled only when a unit has such a target.

Parameters are one flat vector: l (c,) and g (c,) if `skip`, then for each layer its weights (out, in) by rows and
its biases (out,). With `groups` = 3 the last layer is block-diagonal: logits, means and log-scales each see a third
of the last hidden units (a head of their own, as in the paper).
"""

# Compiled functions are untyped to mypy: shapes and dtypes stand in the docstrings.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,call-arg,unreachable,var-annotated"

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pydine.kernels.arithmetic import check, exp, like
from pydine.kernels.compilation import compiled
from pydine.kernels.densities import HIGHEST_LOG_SCALE, LOWEST_LOG_SCALE, mixture, step_mixture
from pydine.kernels.layers import (
    block_width,
    check_network,
    deactivate,
    dense_backward,
    in_blocks,
    linear_backward,
    load,
    outputs,
)
from pydine.types import FloatArray

# Of parameters and a network's layout.
_LAYOUT = "int64[::1], int64[::1], int64, boolean"
_ROWS = "float32[:, :, ::1], float64[::1], float64[::1], float32[:, ::1]"

WORK_ROWS = 12  # fact: rows of the work space beside the network's: 4 of scratch, 2 of slopes, 6 of a block's columns


def log_likelihood(
    theta: NDArray[np.floating],
    sizes: NDArray[np.int64],
    activations: NDArray[np.int64],
    groups: int,
    skip: bool,
    target: NDArray[np.floating],
    context: NDArray[np.floating],
    densities: FloatArray,
    grad: FloatArray,
) -> float:
    """Sum over rows of ln p(t | x), in nats, with its gradient.

    Parameters
    ----------
    theta : (p,) float32 or float64, the flat parameters.
    sizes : (layers + 1,) int64, widths from the network's inputs (all c context columns, or 0) to its 3k outputs.
    activations : (layers,) int64, the activation after each layer.
    groups : int, 1 or 3 (see the module).
    skip : bool, whether the linear location and log-scale exist.
    target : (n,), or (2, n) for the cut points of steps; context : (c, n); of the dtype of theta.
    densities : (n,) float64, receives each row's log-density; length 0 if not wanted.
    grad : (p,) float64, receives the gradient of the sum; length 0 if not wanted.
    """
    target, context = np.ascontiguousarray(target), np.ascontiguousarray(context)  # one layout, so one compilation
    blocks, space = prepared(sizes, context)
    return float(blocked_likelihood(theta, sizes, activations, groups, skip, target, blocks, densities, grad, space))


@compiled("(int64[::1], float32[:, ::1])")
def prepared(sizes, context):
    """A context in blocks, and the space that `blocked_likelihood` works in: two rows for each unit, and WORK_ROWS."""
    blocks = in_blocks(context)
    return blocks, np.empty((2 * sizes[1:].sum() + WORK_ROWS, blocks.shape[2]), blocks.dtype)


@compiled(
    f"(float32[::1], {_LAYOUT}, float32[::1], {_ROWS})",
    f"(float32[::1], {_LAYOUT}, float32[:, ::1], {_ROWS})",
    allocates=False,
)
def blocked_likelihood(theta, sizes, activations, groups, skip, target, blocks, densities, grad, space):
    """`log_likelihood` of rows whose context is `in_blocks` already: training asks many times for the same rows."""
    n, width = target.shape[-1], blocks.shape[2]
    layers = sizes.shape[0] - 1
    k = sizes[layers] // 3
    gradient = grad.shape[0] > 0
    height = sizes[1:].sum()
    check_network(theta, sizes, activations, groups, skip, blocks.shape[1])
    check(blocks.shape[0] * width >= n > (blocks.shape[0] - 1) * width or n == 0)
    check(densities.shape[0] in (0, n) and grad.shape[0] in (0, theta.shape[0]))
    check(space.shape == (2 * height + WORK_ROWS, width))
    values, slopes, scratch = space[:height], space[height : 2 * height], space[2 * height : 2 * height + 4]
    linear_slopes, lines = space[2 * height + 4 : 2 * height + 6], space[2 * height + 6 :]
    centred, log_scale, inside, density, lower, upper = lines[0], lines[1], lines[2], lines[3], lines[4], lines[5]
    for i in range(width):
        log_scale[i] = like(0.0, theta)
    grad[:] = 0.0
    result = 0.0
    for b in range(blocks.shape[0]):
        begin, context = b * width, blocks[b]
        rows = min(width, n - begin)
        # Slices, since loops whose indices are sums would not vectorise.
        if target.ndim == 2:  # resolved at compile time
            load(target[0, begin : begin + rows], lower)
            load(target[1, begin : begin + rows], upper)
            load(target[0, :0], centred)
        else:
            load(target[begin : begin + rows], centred)
        to, start = outputs(theta, sizes, activations, groups, skip, context, values, centred, log_scale)
        for i in range(width):  # padding does not count
            inside[i] = like(1.0, theta) if i < rows else like(0.0, theta)
        if target.ndim == 2:
            step_mixture(
                k,
                to,
                values,
                slopes,
                centred,
                lower,
                upper,
                log_scale,
                inside,
                density,
                linear_slopes[0],
                linear_slopes[1],
                scratch,
                gradient,
            )
        else:
            mixture(
                k,
                to,
                values,
                slopes,
                centred,
                log_scale,
                inside,
                density,
                linear_slopes[0],
                linear_slopes[1],
                scratch,
                gradient,
            )
        for i in range(rows):
            result += density[i]
        if densities.shape[0] > 0:
            for i in range(rows):
                densities[begin + i] = density[i]
        if not gradient:
            continue
        for back in range(layers):
            layer = layers - 1 - back
            n_in, n_out = sizes[layer], sizes[layer + 1]
            g = groups if layer == layers - 1 else 1
            start -= n_out * (n_in // g) + n_out
            source, below = (to - n_in, values) if layer > 0 else (0, context)
            dense_backward(theta, start, n_in, n_out, g, below, source, slopes, to, layer > 0, grad)
            if layer > 0:
                deactivate(activations[layer - 1], source, n_in, values, slopes)
            to = source
        if skip:
            linear_backward(context, linear_slopes, grad)
    return result


@compiled(f"(float64[::1], {_LAYOUT}, float64[::1], float64[:, ::1], float64[:, ::1], float64[:, ::1])")
def components(theta, sizes, activations, groups, skip, target, context, shares, z):
    """The mixture for every row: writes weights w_j to `shares` and (t - mu_j) / sigma_j to `z`, shapes (k, n).

    Parameters
    ----------
    theta : (p,) float64; sizes, activations, groups, skip as in `log_likelihood`.
    target : (n,) float64, context : (c, n) float64.
    shares, z : (k, n) float64
    """
    n, k = target.shape[0], sizes[-1] // 3
    check_network(theta, sizes, activations, groups, skip, context.shape[0])
    check(context.shape[1] == n and shares.shape == (k, n) and z.shape == (k, n))
    width = block_width(n)
    block, values = np.empty((context.shape[0], width)), np.empty((sizes[1:].sum(), width))
    centred, log_scale, total = np.empty(width), np.zeros(width), np.empty(width)
    for begin in range(0, n, width):
        rows = min(width, n - begin)
        load(target[begin : begin + rows], centred)
        for q in range(context.shape[0]):
            load(context[q, begin : begin + rows], block[q])
        to, _ = outputs(theta, sizes, activations, groups, skip, block, values, centred, log_scale)
        for i in range(width):
            total[i] = values[to, i]
        for j in range(1, k):
            for i in range(width):
                total[i] = max(total[i], values[to + j, i])
        for j in range(k):
            a, m, s = to + j, to + k + j, to + 2 * k + j
            for i in range(width):
                values[a, i] = exp(values[a, i] - total[i])
            for i in range(width):
                bounded = min(max(values[s, i] + log_scale[i], LOWEST_LOG_SCALE), HIGHEST_LOG_SCALE)
                values[m, i] = (centred[i] - values[m, i]) * exp(-bounded)
        for i in range(width):
            total[i] = 0.0
        for j in range(k):
            for i in range(width):
                total[i] += values[to + j, i]
        for j in range(k):
            for i in range(rows):
                shares[j, begin + i] = values[to + j, i] / total[i]
            for i in range(rows):
                z[j, begin + i] = values[to + k + j, i]
