"""The compiled optimiser: L-BFGS on the penalised likelihood of one unit, with early stopping.

It runs without the interpreter and releases the GIL, so units train in threads. Parameters and curvature are
float64; only the kernel's arithmetic is float32.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,call-arg,unreachable,var-annotated"

from __future__ import annotations

import numpy as np

from pydine.kernels.arithmetic import check, dot
from pydine.kernels.compilation import compiled
from pydine.kernels.curvature import solve
from pydine.kernels.likelihood import blocked_likelihood, prepared

# convention: pairs of steps and changes that L-BFGS remembers; 3 to 20 are usual (Nocedal and Wright, 2006)
MEMORY = 12
SUFFICIENT_DECREASE = 1e-4  # convention: of Armijo's rule, as in Nocedal and Wright (2006, section 3.1)

_part = compiled(inlined=True)


@_part
def _copy(a, out):
    """Copy a vector, rounded to the type of `out`.

    Assigning slices would add a check of lengths, which takes longer to compile than the rest.
    """
    for i in range(a.shape[0]):
        out[i] = a[i]


@_part
def _objective(likelihood, n, theta, decay, grad):
    """Mean negative log-likelihood of n rows plus 0.5 sum decay theta^2, with its gradient, from that of the sum."""
    penalty = 0.0
    for i in range(theta.shape[0]):
        grad[i] = decay[i] * theta[i] - grad[i] / n
        penalty += 0.5 * decay[i] * theta[i] * theta[i]
    return -likelihood / n + penalty


@_part
def _add(factor, a, out):
    for i in range(a.shape[0]):
        out[i] += factor * a[i]


@_part
def _direction(grad, factor, matched, steps, changes, rho, count, alpha, out):
    """Two-loop recursion: minus the estimated inverse Hessian times the gradient.

    It begins with a multiple, `matched`, of the inverse of a matrix whose Cholesky `factor` (p, p) is given, or of the
    identity.
    """
    stored = min(count, MEMORY)
    for i in range(grad.shape[0]):
        out[i] = -grad[i]
    for back in range(stored):
        i = (count - 1 - back) % MEMORY
        alpha[i] = rho[i] * dot(steps[i], out)
        _add(-alpha[i], changes[i], out)
    if factor.shape[0] > 0:
        solve(factor, out)
        for j in range(grad.shape[0]):
            out[j] *= matched
    elif stored > 0:
        i = (count - 1) % MEMORY
        scale = 1.0 / (rho[i] * dot(changes[i], changes[i]))
        for j in range(grad.shape[0]):
            out[j] *= scale
    for forward in range(stored):
        i = (count - stored + forward) % MEMORY
        _add(alpha[i] - rho[i] * dot(changes[i], out), steps[i], out)


_LAYOUT = "int64[::1], int64[::1], int64, boolean"
_POINTS = "float32[::1], float32[:, ::1]"
_STEPS = "float32[:, ::1], float32[:, ::1]"


@compiled(
    *(
        f"(float64[::1], float64[::1], {_LAYOUT}, {rows}, {rows}, int64, float64, int64, float64[:, ::1])"
        for rows in (_POINTS, _STEPS)
    )
)
def maximise(
    start,
    decay,
    sizes,
    activations,
    groups,
    skip,
    target,
    context,
    held_target,
    held_context,
    iterations,
    tolerance,
    patience,
    factor,
):
    """Maximise mean log-likelihood - 0.5 sum decay theta^2 from `start`.

    Parameters
    ----------
    start, decay : (p,) float64.
    target, context : (n,), or (2, n) for steps, and (c, n) float32, the rows to learn from.
    held_target, held_context : (m,) or (2, m), and (c, m) float32; with m > 0 the search ends after `patience`
        iterations without a better likelihood of these rows.
    tolerance : the search ends when two iterations in a row improve the objective by less than this, in nats.
    factor : (p, p) float64, the lower Cholesky factor of a matrix that is close to the objective's curvature, with
        which the search begins (`curvature`); (0, 0) if there is none.

    Returns
    -------
    best : (p,) float64, the parameters with the best likelihood of held-out rows; without such rows, the last ones.
    last : (p,) float64, the last parameters of the search.
    iterations : int, the number of iterations.
    """
    p, n, held = start.shape[0], context.shape[1], held_context.shape[1]
    check(
        factor.shape in ((0, 0), (p, p))
        and decay.shape[0] == p
        and target.shape[-1] == n
        and held_target.shape[-1] == held
    )
    theta, grad = start.copy(), np.empty(p)
    trial, trial_grad, direction = np.empty(p), np.empty(p), np.empty(p)
    steps, changes, rho, alpha = (
        np.zeros((MEMORY, p)),
        np.zeros((MEMORY, p)),
        np.zeros(MEMORY),
        np.zeros(MEMORY),
    )
    (blocks, space), (held_blocks, held_space) = prepared(sizes, context), prepared(sizes, held_context)
    rounded, nothing = np.empty(p, target.dtype), np.empty(0)
    _copy(theta, rounded)
    likelihood = blocked_likelihood(rounded, sizes, activations, groups, skip, target, blocks, nothing, grad, space)
    value = _objective(likelihood, n, theta, decay, grad)
    best, best_held, at_best, calm, count, matched = theta.copy(), -np.inf, 0, 0, 0, 1.0
    if held > 0:
        best_held = (
            blocked_likelihood(
                rounded, sizes, activations, groups, skip, held_target, held_blocks, nothing, nothing, held_space
            )
            / held
        )
    for iteration in range(1, iterations + 1):
        _direction(grad, factor, matched, steps, changes, rho, count, alpha, direction)
        slope = dot(direction, grad)
        if slope >= 0.0:  # not a descent direction: the remembered curvature is outdated
            count = 0
            for j in range(p):
                direction[j] = -grad[j]
            slope = -dot(grad, grad)
        if slope > -1e-16:
            iteration -= 1
            break
        length = 1.0
        if count == 0 and factor.shape[0] == 0:
            size = 0.0
            for j in range(p):
                size += abs(grad[j])
            length = min(1.0, 1.0 / size)
        accepted = False
        for _ in range(12):
            for j in range(p):
                trial[j] = theta[j] + length * direction[j]
            _copy(trial, rounded)
            likelihood = blocked_likelihood(
                rounded, sizes, activations, groups, skip, target, blocks, nothing, trial_grad, space
            )
            trial_value = _objective(likelihood, n, trial, decay, trial_grad)
            if trial_value <= value + SUFFICIENT_DECREASE * length * slope:
                accepted = True
                break
            curvature = trial_value - value - length * slope  # of the parabola through both values and the slope
            if curvature > 0.0 and np.isfinite(curvature):
                length *= min(0.5, max(0.1, -0.5 * slope * length / curvature))
            else:
                length *= 0.1
        if not accepted:
            break
        i = count % MEMORY
        for j in range(p):
            steps[i, j] = trial[j] - theta[j]
            changes[i, j] = trial_grad[j] - grad[j]
        bend = dot(steps[i], changes[i])
        if bend > 1e-10 * dot(changes[i], changes[i]):
            rho[i] = 1.0 / bend
            count += 1
            if factor.shape[0] > 0:  # the matrix is right up to a factor, which the last change shows
                _copy(changes[i], direction)
                solve(factor, direction)
                matched = bend / dot(changes[i], direction)
        calm = calm + 1 if value - trial_value < tolerance else 0
        _copy(trial, theta)
        _copy(trial_grad, grad)
        value = trial_value
        if held > 0:
            likelihood = blocked_likelihood(
                rounded, sizes, activations, groups, skip, held_target, held_blocks, nothing, nothing, held_space
            )
            if likelihood / held > best_held + 1e-5:
                best_held, at_best = likelihood / held, iteration
                _copy(theta, best)
            elif iteration - at_best >= patience:
                break
        if calm >= 2:
            break
    return best if held > 0 else theta, theta, iteration
