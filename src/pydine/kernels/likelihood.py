"""The compiled kernel: log-likelihood of one unit, its gradient, and the mixture that it is of every row.

A unit is one target column t and its context columns x. Its conditional density is a mixture of k Gaussians
whose logits a_j, means m_j and log-scales s_j come from a network of the context (the paper's conditioner and
the functions w, mu and ln sigma of its transformer), with an optional linear location and log-scale beside it:

    p(t | x) = sum_j softmax(a)_j N(t; l'x + m_j, exp(g'x + s_j)^2)

With z_j = (t - l'x - m_j) / sigma_j and the responsibilities r_j, the gradient is closed-form:

    d/d a_j = r_j - w_j,    d/d m_j = r_j z_j / sigma_j,    d/d s_j = r_j (z_j^2 - 1).

Rows are worked on in blocks and every array is (feature, row), so that the inner loops run over rows and
vectorise. Arithmetic is in the dtype of the parameters (float32 in use, float64 in the gradient's test); what is
summed over blocks is float64.

A target of ordered steps (counts, ranks, many ties) has two cut points a < b a row instead, and the mixture's
probability between them, ln(F(b | x) - F(a | x)): the same mixture, integrated over the step. Its code is compiled
when a unit has such a target, not before.

Parameters are one flat vector: l (c,) and g (c,) if `skip`, then for each layer its weights (out, in) by rows and
its biases (out,). With `groups` = 3 the last layer is block-diagonal: logits, means and log-scales each see a third
of the last hidden units (a head of their own, as in the paper).
"""

# Compiled functions are untyped to mypy: shapes and dtypes stand in the docstrings.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,call-arg,unreachable,var-annotated"

from __future__ import annotations

import numpy as np

from pydine.kernels.arithmetic import dot, exp, like, log, row_dot, row_dots, row_sum, upper_tail
from pydine.kernels.compilation import compiled

# memory: rows worked on together, which stay in the caches; a multiple of what is done at once.
MOST_ROWS, LANES = 352, 32
IDENTITY, TANH, RELU = 0, 1, 2  # fact: names
# answer: components between 0.001 and 20 of the target's deviation: none may shrink onto a single row, and so gain
# without end.
LOWEST_LOG_SCALE, HIGHEST_LOG_SCALE = -7.0, 3.0
HALF_LOG_2PI = 0.9189385332046727  # fact
INVERSE_SQRT_2PI = 0.3989422804014327  # fact
LEAST_MASS = 1e-30  # guard: of a step; what is less probable counts as much

_compiled, _part = compiled(), compiled(inlined=True)


@_part
def _block_width(n):
    """Rows in a block: blocks are as equal as can be, so that few of the rows which fill the last are wasted."""
    blocks = max(1, -(-n // MOST_ROWS))
    return -(-max(n, 1) // (blocks * LANES)) * LANES


@_part
def _dense(theta, start, n_in, n_out, groups, source, to, values):
    """Affine layer: rows source.. of `values` (n_in of them) to rows to.. (n_out of them); weights at `start`."""
    width = values.shape[1]
    fan_in = n_in // groups
    bias = start + n_out * fan_in
    for o in range(n_out):
        b = theta[bias + o]
        w = start + o * fan_in
        first = source + (o * groups // n_out) * fan_in
        j = 0
        if fan_in >= 4:
            w0, w1, w2, w3 = theta[w], theta[w + 1], theta[w + 2], theta[w + 3]
            for i in range(width):
                values[to + o, i] = b + (
                    w0 * values[first, i]
                    + w1 * values[first + 1, i]
                    + w2 * values[first + 2, i]
                    + w3 * values[first + 3, i]
                )
            j = 4
        else:
            for i in range(width):
                values[to + o, i] = b
        while j + 4 <= fan_in:  # four inputs a pass: one store for four multiply-adds
            w0, w1, w2, w3 = theta[w + j], theta[w + j + 1], theta[w + j + 2], theta[w + j + 3]
            f = first + j
            for i in range(width):
                values[to + o, i] += (
                    w0 * values[f, i] + w1 * values[f + 1, i] + w2 * values[f + 2, i] + w3 * values[f + 3, i]
                )
            j += 4
        while j < fan_in:
            w0 = theta[w + j]
            for i in range(width):
                values[to + o, i] += w0 * values[first + j, i]
            j += 1


@_part
def _activate(activation, first, count, values):
    width = values.shape[1]
    one, two = like(1.0, values), like(2.0, values)
    for j in range(first, first + count):
        if activation == TANH:
            for i in range(width):
                values[j, i] = two / (one + exp(-two * values[j, i])) - one
        elif activation == RELU:
            for i in range(width):
                values[j, i] = max(values[j, i], like(0.0, values))


@_part
def _dense_backward(theta, start, n_in, n_out, groups, source, to, values, slopes, down, grad):
    """Add the layer's gradient to `grad`; `down` says whether the slopes of its inputs are wanted too."""
    width = values.shape[1]
    fan_in = n_in // groups
    bias = start + n_out * fan_in
    zero = like(0.0, values)
    if down:
        for j in range(source, source + n_in):
            slopes[j, :] = zero
    for o in range(n_out):
        grad[bias + o] += row_sum(slopes, to + o)
        w = start + o * fan_in
        first = source + (o * groups // n_out) * fan_in
        j = 0
        while j + 4 <= fan_in:
            t0, t1, t2, t3 = row_dots(slopes, to + o, values, first + j)
            grad[w + j] += t0
            grad[w + j + 1] += t1
            grad[w + j + 2] += t2
            grad[w + j + 3] += t3
            j += 4
        while j < fan_in:
            grad[w + j] += row_dot(slopes, to + o, values, first + j)
            j += 1
    if down:
        for j in range(n_in):
            s = source + j
            share = n_out // groups
            o = (j // fan_in) * share
            end = o + share
            column = start + j % fan_in
            while o + 4 <= end:
                w0, w1 = theta[column + o * fan_in], theta[column + (o + 1) * fan_in]
                w2, w3 = theta[column + (o + 2) * fan_in], theta[column + (o + 3) * fan_in]
                d = to + o
                for i in range(width):
                    slopes[s, i] += (
                        w0 * slopes[d, i] + w1 * slopes[d + 1, i] + w2 * slopes[d + 2, i] + w3 * slopes[d + 3, i]
                    )
                o += 4
            while o < end:
                w0 = theta[column + o * fan_in]
                for i in range(width):
                    slopes[s, i] += w0 * slopes[to + o, i]
                o += 1


@_part
def _deactivate(activation, first, count, values, slopes):
    width = values.shape[1]
    one, zero = like(1.0, values), like(0.0, values)
    for j in range(first, first + count):
        if activation == TANH:
            for i in range(width):
                slopes[j, i] *= one - values[j, i] * values[j, i]
        elif activation == RELU:
            for i in range(width):
                slopes[j, i] = slopes[j, i] if values[j, i] > zero else zero


@_part
def _mixture(k, to, values, slopes, centred, log_scale, inside, density, d_location, d_log_scale, scratch, gradient):
    """Log-density of a block from the network's outputs, rows `to` on of `values`; their slopes if `gradient`.

    Each loop touches few arrays: LLVM gives up vectorising where it would have to check many for overlap. The maxima
    are taken out of both softmaxes, so that nothing overflows.
    """
    width = values.shape[1]
    zero, one, half = like(0.0, values), like(1.0, values), like(0.5, values)
    lowest, highest = like(LOWEST_LOG_SCALE, values), like(HIGHEST_LOG_SCALE, values)
    top, top_w, total, total_w = scratch[0], scratch[1], scratch[2], scratch[3]
    for i in range(width):
        top[i] = like(-1e30, values)
        top_w[i] = like(-1e30, values)
        total[i] = zero
        total_w[i] = zero
    for j in range(k):
        a, m, s = to + j, to + k + j, to + 2 * k + j
        for i in range(width):
            values[s, i] = min(max(values[s, i] + log_scale[i], lowest), highest)
        for i in range(width):
            slopes[s, i] = exp(-values[s, i])
        for i in range(width):
            slopes[m, i] = (centred[i] - values[m, i]) * slopes[s, i]
        for i in range(width):
            slopes[a, i] = values[a, i] - values[s, i] - half * slopes[m, i] * slopes[m, i]
        for i in range(width):
            top[i] = max(top[i], slopes[a, i])
        for i in range(width):
            top_w[i] = max(top_w[i], values[a, i])
    for j in range(k):
        a = to + j
        for i in range(width):
            e = exp(slopes[a, i] - top[i])
            slopes[a, i] = e
            total[i] += e
        for i in range(width):
            w = exp(values[a, i] - top_w[i])
            values[a, i] = w
            total_w[i] += w
    for i in range(width):
        density[i] = log(total[i] / total_w[i]) + top[i] - top_w[i] - like(HALF_LOG_2PI, values)
    if not gradient:
        return
    for i in range(width):
        total[i] = inside[i] / total[i]
        total_w[i] = inside[i] / total_w[i]
    for i in range(width):
        d_location[i] = zero
        d_log_scale[i] = zero
    for j in range(k):
        a, m, s = to + j, to + k + j, to + 2 * k + j
        for i in range(width):  # from here on `top` holds the slope of a log-scale
            r, z = slopes[a, i] * total[i], slopes[m, i]
            top[i] = r * (z * z - one)
            slopes[m, i] = r * z * slopes[s, i]
        for i in range(width):
            bounded = values[s, i] <= lowest or values[s, i] >= highest
            slopes[s, i] = zero if bounded else top[i]
        for i in range(width):
            slopes[a, i] = slopes[a, i] * total[i] - values[a, i] * total_w[i]
        for i in range(width):
            d_location[i] += slopes[m, i]
        for i in range(width):
            d_log_scale[i] += slopes[s, i]


@_part
def _step_mixture(
    k, to, values, slopes, centred, lower, upper, log_scale, inside, density, d_location, d_log_scale, scratch, gradient
):
    """Log-probability of a block's steps, from `lower` to `upper`, and slopes of the outputs; see `_mixture`.

    With z_a and z_b the standardised cut points, a component has the mass Phi(z_b) - Phi(z_a), from tails on the side
    where they are small; its slopes are differences of normal densities (phi) there: phi(z_a) - phi(z_b) over sigma for
    a mean, z_a phi(z_a) - z_b phi(z_b) for a log-scale.
    """
    width = values.shape[1]
    zero, one, half = like(0.0, values), like(1.0, values), like(0.5, values)
    lowest, highest = like(LOWEST_LOG_SCALE, values), like(HIGHEST_LOG_SCALE, values)
    norm, least = like(INVERSE_SQRT_2PI, values), like(LEAST_MASS, values)
    top_w, total, total_w, inverse = scratch[0], scratch[1], scratch[2], scratch[3]
    for i in range(width):
        top_w[i] = like(-1e30, values)
        total[i] = zero
        total_w[i] = zero
    for j in range(k):
        a = to + j
        for i in range(width):
            top_w[i] = max(top_w[i], values[a, i])
    for j in range(k):
        a, m, s = to + j, to + k + j, to + 2 * k + j
        for i in range(width):
            values[s, i] = min(max(values[s, i] + log_scale[i], lowest), highest)
        for i in range(width):
            inverse[i] = exp(-values[s, i])
        for i in range(width):
            centre = centred[i] - values[m, i]
            za, zb = (lower[i] + centre) * inverse[i], (upper[i] + centre) * inverse[i]
            flip = za + zb > zero  # the step lies above the mean: tails are small on the other side
            below = -zb if flip else za
            above = -za if flip else zb
            far, near = upper_tail(abs(below)), upper_tail(abs(above))
            mass = (near if above < zero else one - near) - (far if below < zero else one - far)
            slopes[a, i] = max(mass, zero) + least
            pa, pb = norm * exp(-half * za * za), norm * exp(-half * zb * zb)
            slopes[m, i] = (pa - pb) * inverse[i]
            slopes[s, i] = za * pa - zb * pb
        for i in range(width):
            w = exp(values[a, i] - top_w[i])
            values[a, i] = w
            total_w[i] += w
            total[i] += w * slopes[a, i]
    for i in range(width):
        density[i] = log(total[i] / total_w[i])
    if not gradient:
        return
    for i in range(width):
        total[i] = inside[i] / total[i]
        total_w[i] = inside[i] / total_w[i]
    for i in range(width):
        d_location[i] = zero
        d_log_scale[i] = zero
    for j in range(k):
        a, m, s = to + j, to + k + j, to + 2 * k + j
        for i in range(width):
            share = values[a, i] * total[i]
            slopes[m, i] = share * slopes[m, i]
            slopes[a, i] = share * slopes[a, i] - values[a, i] * total_w[i]
            bounded = values[s, i] <= lowest or values[s, i] >= highest
            slopes[s, i] = zero if bounded else share * slopes[s, i]
        for i in range(width):
            d_location[i] += slopes[m, i]
        for i in range(width):
            d_log_scale[i] += slopes[s, i]


@_part
def _linear(theta, c, values, centred, log_scale):
    """Take the linear location of a block's rows off `centred`, and put the linear log-scale into `log_scale`."""
    width = values.shape[1]
    for i in range(width):
        log_scale[i] = like(0.0, values)
    q = 0
    while q + 4 <= c:
        w0, w1, w2, w3 = theta[q], theta[q + 1], theta[q + 2], theta[q + 3]
        for i in range(width):
            centred[i] -= w0 * values[q, i] + w1 * values[q + 1, i] + w2 * values[q + 2, i] + w3 * values[q + 3, i]
        w0, w1, w2, w3 = theta[c + q], theta[c + q + 1], theta[c + q + 2], theta[c + q + 3]
        for i in range(width):
            log_scale[i] += w0 * values[q, i] + w1 * values[q + 1, i] + w2 * values[q + 2, i] + w3 * values[q + 3, i]
        q += 4
    while q < c:
        w0, w1 = theta[q], theta[c + q]
        for i in range(width):
            centred[i] -= w0 * values[q, i]
        for i in range(width):
            log_scale[i] += w1 * values[q, i]
        q += 1


@_part
def _linear_backward(c, values, d_location, d_log_scale, grad):
    """Add the gradient of the linear part to `grad`."""
    for q in range(c):
        grad[q] += dot(d_location, values[q])
        grad[c + q] += dot(d_log_scale, values[q])


@_part
def _load(column, out):
    """Copy a column's rows to the front of a block, and pad what is left with zeros."""
    rows = column.shape[0]
    for i in range(rows):
        out[i] = column[i]
    for i in range(rows, out.shape[0]):
        out[i] = like(0.0, out)


@_part
def _outputs(theta, sizes, activations, groups, skip, target, context, values, centred, log_scale):
    """Run a block of rows through the network; the rest of its width is padding.

    The layers' values go to `values`, the context first; the target less the linear location to `centred`; the linear
    log-scale to `log_scale`. Returns in which row of `values` the outputs begin, and where the parameters end.
    """
    c = context.shape[0]
    _load(target, centred)
    for q in range(c):
        _load(context[q], values[q])
    start = 0
    if skip:
        _linear(theta, c, values, centred, log_scale)
        start = 2 * c
    source, to = 0, c
    for layer in range(sizes.shape[0] - 1):
        n_in, n_out = sizes[layer], sizes[layer + 1]
        g = groups if layer == sizes.shape[0] - 2 else 1
        _dense(theta, start, n_in, n_out, g, source, to, values)
        _activate(activations[layer], to, n_out, values)
        start += n_out * (n_in // g) + n_out
        source, to = to, to + n_out
    return source, start


@_compiled
def log_likelihood(theta, sizes, activations, groups, skip, target, context, densities, grad):
    """Sum over rows of ln p(t | x), in nats, with its gradient.

    Parameters
    ----------
    theta : (p,) float32 or float64, the flat parameters.
    sizes : (layers + 1,) int64, widths from the network's inputs (all c context columns, or 0) to its 3k outputs.
    activations : (layers,) int64, what follows each layer.
    groups : int, 1 or 3 (see the module).
    skip : bool, whether the linear location and log-scale exist.
    target : (n,), or (2, n) for the cut points of steps; context : (c, n); of the dtype of theta.
    densities : (n,) float64, receives each row's log-density; length 0 if not wanted.
    grad : (p,) float64, receives the gradient of the sum; length 0 if not wanted.
    """
    c, n = context.shape
    layers = sizes.shape[0] - 1
    k = sizes[layers] // 3
    gradient = grad.shape[0] > 0
    height = c + sizes[1:].sum()
    width = _block_width(n)
    values, slopes = np.empty((height, width), theta.dtype), np.empty((height, width), theta.dtype)
    centred, inside, density = (
        np.empty(width, theta.dtype),
        np.empty(width, theta.dtype),
        np.empty(width, theta.dtype),
    )
    log_scale = np.zeros(width, theta.dtype)
    d_location, d_log_scale = np.empty(width, theta.dtype), np.empty(width, theta.dtype)
    scratch = np.empty((4, width), theta.dtype)
    if target.ndim == 2:  # known when it is compiled
        origin, steps = np.zeros(n, theta.dtype), np.empty((2, width), theta.dtype)
    else:
        origin = target
    grad[:] = 0.0
    result = 0.0
    for begin in range(0, n, width):
        rows = min(width, n - begin)
        # Views: with sums as indices the loops would not vectorise.
        to, start = _outputs(
            theta,
            sizes,
            activations,
            groups,
            skip,
            origin[begin : begin + rows],
            context[:, begin : begin + rows],
            values,
            centred,
            log_scale,
        )
        for i in range(width):  # padding does not count
            inside[i] = like(1.0, theta) if i < rows else like(0.0, theta)
        if target.ndim == 2:
            _load(target[0, begin : begin + rows], steps[0])
            _load(target[1, begin : begin + rows], steps[1])
            _step_mixture(
                k,
                to,
                values,
                slopes,
                centred,
                steps[0],
                steps[1],
                log_scale,
                inside,
                density,
                d_location,
                d_log_scale,
                scratch,
                gradient,
            )
        else:
            _mixture(
                k,
                to,
                values,
                slopes,
                centred,
                log_scale,
                inside,
                density,
                d_location,
                d_log_scale,
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
            source = to - n_in if layer > 0 else 0
            _dense_backward(theta, start, n_in, n_out, g, source, to, values, slopes, layer > 0, grad)
            if layer > 0:
                _deactivate(activations[layer - 1], source, n_in, values, slopes)
            to = source
        if skip:
            _linear_backward(c, values, d_location, d_log_scale, grad)
    return result


@_compiled
def components(theta, sizes, activations, groups, skip, target, context, shares, z):
    """The mixture of every row: weights w_j to `shares` and (t - mu_j) / sigma_j to `z`, shapes (k, n).

    Parameters
    ----------
    theta : (p,) float64; sizes, activations, groups, skip as in `log_likelihood`.
    target : (n,) float64, context : (c, n) float64.
    shares, z : (k, n) float64
    """
    n, k = target.shape[0], sizes[-1] // 3
    width = _block_width(n)
    values = np.empty((context.shape[0] + sizes[1:].sum(), width))
    centred, log_scale, total = np.empty(width), np.zeros(width), np.empty(width)
    for begin in range(0, n, width):
        rows = min(width, n - begin)
        t, x = target[begin : begin + rows], context[:, begin : begin + rows]
        to, _ = _outputs(theta, sizes, activations, groups, skip, t, x, values, centred, log_scale)
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
