"""Forward and backward passes of a unit's network: from the context of rows to the parameters of a mixture, and back.

Rows are processed in blocks and every array is (feature, row), so that the inner loops run over rows and vectorise.
`likelihood` says how parameters are laid out.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,call-arg,unreachable,var-annotated"

from __future__ import annotations

import numpy as np

from pydine.kernels.arithmetic import check, exp, like, row_dot, row_dots, row_sum
from pydine.kernels.compilation import compiled

# memory: rows in a block, which stay in the processor's caches: at most, and a number of which it is a multiple.
MOST_ROWS, LANES = 352, 32
IDENTITY, TANH, RELU = 0, 1, 2  # fact: names

_part = compiled(inlined=True)


@_part
def block_width(n):
    """Rows in a block: blocks are as equal as possible, so that the last one has little padding."""
    blocks = max(1, -(-n // MOST_ROWS))
    return -(-max(n, 1) // (blocks * LANES)) * LANES


@_part
def dense(theta, start, n_in, n_out, groups, below, source, values, to):
    """Affine layer: from n_in rows of `below`, from `source` on, to n_out rows of `values`; weights at `start`."""
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
                    w0 * below[first, i]
                    + w1 * below[first + 1, i]
                    + w2 * below[first + 2, i]
                    + w3 * below[first + 3, i]
                )
            j = 4
        elif fan_in > 0:
            w0 = theta[w]
            for i in range(width):
                values[to + o, i] = b + w0 * below[first, i]
            j = 1
        else:
            for i in range(width):
                values[to + o, i] = b
        while j + 4 <= fan_in:  # four inputs a pass: one store for four multiply-adds
            w0, w1, w2, w3 = theta[w + j], theta[w + j + 1], theta[w + j + 2], theta[w + j + 3]
            f = first + j
            for i in range(width):
                values[to + o, i] += (
                    w0 * below[f, i] + w1 * below[f + 1, i] + w2 * below[f + 2, i] + w3 * below[f + 3, i]
                )
            j += 4
        while j < fan_in:
            w0 = theta[w + j]
            for i in range(width):
                values[to + o, i] += w0 * below[first + j, i]
            j += 1


@_part
def activate(activation, first, count, values):
    """Apply an activation to `count` rows of `values`, in place."""
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
def dense_backward(theta, start, n_in, n_out, groups, below, source, slopes, to, down, grad):
    """Add the layer's gradient to `grad`; `down` says whether the slopes of its inputs are wanted too."""
    fan_in = n_in // groups
    bias = start + n_out * fan_in
    for o in range(n_out):
        grad[bias + o] += row_sum(slopes, to + o)
        w = start + o * fan_in
        first = source + (o * groups // n_out) * fan_in
        j = 0
        while j + 4 <= fan_in:
            t0, t1, t2, t3 = row_dots(slopes, to + o, below, first + j)
            grad[w + j] += t0
            grad[w + j + 1] += t1
            grad[w + j + 2] += t2
            grad[w + j + 3] += t3
            j += 4
        while j < fan_in:
            grad[w + j] += row_dot(slopes, to + o, below, first + j)
            j += 1
    if down:
        slope_inputs(theta, start, n_in, n_out // groups, fan_in, slopes, source, to)


@_part
def slope_inputs(theta, start, n_in, share, fan_in, slopes, source, to):
    """Write the slopes of a layer's inputs; `share` outputs, from row `to` of `slopes` on, see each of them."""
    width, zero = slopes.shape[1], like(0.0, slopes)
    for j in range(n_in):
        s, o = source + j, (j // fan_in) * share
        end, column = o + share, start + j % fan_in
        w0, d = theta[column + o * fan_in], to + o
        if share >= 4:
            w1, w2 = theta[column + (o + 1) * fan_in], theta[column + (o + 2) * fan_in]
            w3 = theta[column + (o + 3) * fan_in]
            for i in range(width):
                slopes[s, i] = zero + (
                    w0 * slopes[d, i] + w1 * slopes[d + 1, i] + w2 * slopes[d + 2, i] + w3 * slopes[d + 3, i]
                )
            o += 4
        else:
            for i in range(width):
                slopes[s, i] = zero + w0 * slopes[d, i]
            o += 1
        while o + 4 <= end:
            w0, w1 = theta[column + o * fan_in], theta[column + (o + 1) * fan_in]
            w2, w3 = theta[column + (o + 2) * fan_in], theta[column + (o + 3) * fan_in]
            d = to + o
            for i in range(width):
                slopes[s, i] += (
                    w0 * slopes[d, i] + w1 * slopes[d + 1, i] + w2 * slopes[d + 2, i] + w3 * slopes[d + 3, i]
                )
            o += 4
        while o + 2 <= end:
            w0, w1, d = theta[column + o * fan_in], theta[column + (o + 1) * fan_in], to + o
            for i in range(width):
                slopes[s, i] = (slopes[s, i] + w0 * slopes[d, i]) + w1 * slopes[d + 1, i]
            o += 2
        if o < end:
            w0, d = theta[column + o * fan_in], to + o
            for i in range(width):
                slopes[s, i] += w0 * slopes[d, i]


@_part
def deactivate(activation, first, count, values, slopes):
    """Turn slopes with respect to an activation's outputs into slopes with respect to its inputs, in place."""
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
def linear(theta, context, centred, log_scale):
    """Subtract the linear location of a block's rows from `centred`, and write the linear log-scale to `log_scale`."""
    c, width = context.shape
    for i in range(width):
        log_scale[i] = like(0.0, context)
    q = 0
    while q + 4 <= c:
        w0, w1, w2, w3 = theta[q], theta[q + 1], theta[q + 2], theta[q + 3]
        for i in range(width):
            centred[i] -= w0 * context[q, i] + w1 * context[q + 1, i] + w2 * context[q + 2, i] + w3 * context[q + 3, i]
        w0, w1, w2, w3 = theta[c + q], theta[c + q + 1], theta[c + q + 2], theta[c + q + 3]
        for i in range(width):
            log_scale[i] += (
                w0 * context[q, i] + w1 * context[q + 1, i] + w2 * context[q + 2, i] + w3 * context[q + 3, i]
            )
        q += 4
    while q < c:
        w0, w1 = theta[q], theta[c + q]
        for i in range(width):
            centred[i] -= w0 * context[q, i]
        for i in range(width):
            log_scale[i] += w1 * context[q, i]
        q += 1


@_part
def linear_backward(context, slopes, grad):
    """Add the gradient of the linear part to `grad`; `slopes` (2, width) are those of location and log-scale."""
    c = context.shape[0]
    for part in range(2):
        q = 0
        while q + 4 <= c:
            t0, t1, t2, t3 = row_dots(slopes, part, context, q)
            grad[part * c + q] += t0
            grad[part * c + q + 1] += t1
            grad[part * c + q + 2] += t2
            grad[part * c + q + 3] += t3
            q += 4
        while q < c:
            grad[part * c + q] += row_dot(slopes, part, context, q)
            q += 1


@_part
def check_network(theta, sizes, activations, groups, skip, c):
    """Refuse parameters of another network, or a context of c columns that is not its own."""
    layers, needed = sizes.shape[0] - 1, 2 * c if skip else 0
    check(layers > 0 and activations.shape[0] == layers and groups > 0 and sizes[layers] % 3 == 0)
    for layer in range(layers):
        g = groups if layer == layers - 1 else 1
        check(sizes[layer] >= 0 and sizes[layer + 1] >= 0 and sizes[layer] % g == 0 and sizes[layer + 1] % g == 0)
        needed += sizes[layer + 1] * (sizes[layer] // g + 1)
    check(sizes[0] <= c and sizes[layers] > 0 and theta.shape[0] == needed)


@_part
def load(column, out):
    """Copy a column's rows to the front of a block, and pad what is left with zeros."""
    rows = column.shape[0]
    for i in range(rows):
        out[i] = column[i]
    for i in range(rows, out.shape[0]):
        out[i] = like(0.0, out)


@_part
def in_blocks(columns):
    """Columns (c, n) as blocks of their rows, (blocks, c, width)."""
    c, n = columns.shape
    width = block_width(n)
    blocks = np.empty((-(-n // width), c, width), columns.dtype)
    for b in range(blocks.shape[0]):
        for q in range(c):
            load(columns[q, b * width : min((b + 1) * width, n)], blocks[b, q])
    return blocks


@_part
def outputs(theta, sizes, activations, groups, skip, context, values, centred, log_scale):
    """Run a block of rows through the network.

    The layers' values go to `values`; the linear location is subtracted from `centred`, which holds the target, and the
    linear log-scale goes to `log_scale`. Returns the row of `values` where the outputs begin, and where in `theta`
    parameters end.
    """
    start = 0
    if skip:
        linear(theta, context, centred, log_scale)
        start = 2 * context.shape[0]
    source, to = 0, 0
    for layer in range(sizes.shape[0] - 1):
        n_in, n_out = sizes[layer], sizes[layer + 1]
        g = groups if layer == sizes.shape[0] - 2 else 1
        dense(theta, start, n_in, n_out, g, values if layer > 0 else context, source, values, to)
        activate(activations[layer], to, n_out, values)
        start += n_out * (n_in // g) + n_out
        source, to = to, to + n_out
    return source, start
