"""Forward and backward passes of a unit's network: from the context of rows to the parameters of a mixture, and back.

Rows are processed in blocks and every array is (feature, row), so that the inner loops run over rows and vectorise.
`likelihood` says how parameters are laid out.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,call-arg,unreachable,var-annotated"

from __future__ import annotations

from pydine.kernels.arithmetic import dot, exp, like, row_dot, row_dots, row_sum
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
def dense(theta, start, n_in, n_out, groups, source, to, values):
    """Affine layer: from n_in rows of `values`, from `source` on, to n_out rows from `to` on; weights at `start`."""
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
def dense_backward(theta, start, n_in, n_out, groups, source, to, values, slopes, down, grad):
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
def linear(theta, c, values, centred, log_scale):
    """Subtract the linear location of a block's rows from `centred`, and write the linear log-scale to `log_scale`."""
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
def linear_backward(c, values, d_location, d_log_scale, grad):
    """Add the gradient of the linear part to `grad`."""
    for q in range(c):
        grad[q] += dot(d_location, values[q])
        grad[c + q] += dot(d_log_scale, values[q])


@_part
def load(column, out):
    """Copy a column's rows to the front of a block, and pad what is left with zeros."""
    rows = column.shape[0]
    for i in range(rows):
        out[i] = column[i]
    for i in range(rows, out.shape[0]):
        out[i] = like(0.0, out)


@_part
def outputs(theta, sizes, activations, groups, skip, target, context, values, centred, log_scale):
    """Run a block of rows through the network; the rest of its width is padding.

    The layers' values go to `values`, the context first; the target less the linear location to `centred`; the linear
    log-scale to `log_scale`. Returns the row of `values` where the outputs begin, and where in `theta` parameters end.
    """
    c = context.shape[0]
    load(target, centred)
    for q in range(c):
        load(context[q], values[q])
    start = 0
    if skip:
        linear(theta, c, values, centred, log_scale)
        start = 2 * c
    source, to = 0, c
    for layer in range(sizes.shape[0] - 1):
        n_in, n_out = sizes[layer], sizes[layer + 1]
        g = groups if layer == sizes.shape[0] - 2 else 1
        dense(theta, start, n_in, n_out, g, source, to, values)
        activate(activations[layer], to, n_out, values)
        start += n_out * (n_in // g) + n_out
        source, to = to, to + n_out
    return source, start
