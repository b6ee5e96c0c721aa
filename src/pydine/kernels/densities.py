"""Log-densities of a block of rows, and their derivatives with respect to the outputs of a unit's network ("slopes").

The mixture is that of `likelihood`, of points or of ordered steps.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,call-arg,unreachable,var-annotated"

from __future__ import annotations

from pydine.kernels.arithmetic import exp, like, log, upper_tail
from pydine.kernels.compilation import compiled

# guard: deviations of components are between 0.001 and 20 times the target's: if one shrank onto a single row, the
# likelihood would grow without bound.
LOWEST_LOG_SCALE, HIGHEST_LOG_SCALE = -7.0, 3.0
HALF_LOG_2PI = 0.9189385332046727  # fact
INVERSE_SQRT_2PI = 0.3989422804014327  # fact
LEAST_MASS = 1e-30  # guard: least probability of a step

_part = compiled(inlined=True)


@_part
def _start_slopes(inside, total, total_w, d_location, d_log_scale):
    """Turn totals into their inverses, 0 for padding, and set the slopes of the linear part to 0."""
    for i in range(total.shape[0]):
        total[i] = inside[i] / total[i]
        total_w[i] = inside[i] / total_w[i]
    for i in range(total.shape[0]):
        d_location[i] = like(0.0, total)
        d_log_scale[i] = like(0.0, total)


@_part
def mixture(k, to, values, slopes, centred, log_scale, inside, density, d_location, d_log_scale, scratch, gradient):
    """Log-density of a block from the network's outputs, from row `to` of `values` on; their slopes if `gradient`.

    Each loop touches few arrays: LLVM does not vectorise where it would have to check many for overlap. The maxima are
    subtracted in both softmaxes, so that nothing overflows.
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
    _start_slopes(inside, total, total_w, d_location, d_log_scale)
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
def step_mixture(
    k, to, values, slopes, centred, lower, upper, log_scale, inside, density, d_location, d_log_scale, scratch, gradient
):
    """Log-probability of a block's steps, from `lower` to `upper`, and slopes of the outputs; see `mixture`.

    With z_a and z_b the standardised cut points, a component has the mass Phi(z_b) - Phi(z_a), computed from the tails
    on the side where they are small. Its slopes are differences of normal densities (phi) at the cut points: phi(z_a) -
    phi(z_b) over sigma for a mean, z_a phi(z_a) - z_b phi(z_b) for a log-scale.
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
    _start_slopes(inside, total, total_w, d_location, d_log_scale)
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
