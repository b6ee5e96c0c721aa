"""The compiled kernel against the formulas in NumPy, finite differences, and JAX's gradient."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import norm

import reference
from pydine.kernels.densities import HIGHEST_LOG_SCALE, LOWEST_LOG_SCALE
from pydine.kernels.layers import RELU, TANH
from pydine.kernels.likelihood import components, log_likelihood
from pydine.kernels.normal import add_tails
from pydine.units.network import Network
from pydine.units.unit import FittedUnit, Model, identity
from reference import NETWORKS, parameters, rows

NOTHING = np.empty(0)
# One row, less than a block of rows, a whole number of blocks, and some more than that.
COUNTS = [1, 5, 256, 300]


def kernel(network, theta, target, context, dtype=np.float64):
    """Log-likelihood, log-density of every row and gradient, computed in `dtype`."""
    densities, gradient = np.full(len(target), np.nan), np.full(len(theta), np.nan)
    value = log_likelihood(
        theta.astype(dtype),
        *network.layout,
        target.astype(dtype),
        np.ascontiguousarray(context, dtype=dtype),
        densities,
        gradient,
    )
    return value, densities, gradient


class TestLogLikelihood:
    @pytest.mark.parametrize("n", COUNTS)
    @pytest.mark.parametrize("name", NETWORKS)
    def test_float64(self, name, n):
        network = NETWORKS[name]
        theta, (target, context) = parameters(network), rows(network, n)
        value, densities, _ = kernel(network, theta, target, context)
        expected = reference.log_density(network, theta, target, context)
        np.testing.assert_allclose(densities, expected, rtol=1e-12, atol=1e-12)
        assert value == pytest.approx(expected.sum(), rel=1e-12)

    @pytest.mark.parametrize("name", NETWORKS)
    def test_float32(self, name):
        network = NETWORKS[name]
        theta, (target, context) = parameters(network), rows(network, 300)
        value, densities, gradient = kernel(network, theta, target, context, np.float32)
        exact_value, exact, exact_gradient = kernel(network, theta, target, context)
        np.testing.assert_allclose(densities, exact, rtol=2e-5, atol=2e-5)
        assert value == pytest.approx(exact_value, rel=1e-5)
        np.testing.assert_allclose(gradient, exact_gradient, rtol=1e-4, atol=1e-4 * np.abs(exact_gradient).max())

    def test_by_hand(self):
        """Two components, no context: 0.25 N(t; -1, 1) + 0.75 N(t; 2, 4) at t = 0."""
        theta = np.log([1.0, 3.0, np.exp(-1.0), np.exp(2.0), 1.0, 2.0])
        value, _, _ = kernel(Network.linear(0, 2), theta, np.zeros(1), np.empty((0, 1)))
        expected = 0.25 * np.exp(-0.5) + 0.75 * np.exp(-0.5) / 2.0
        assert value == pytest.approx(np.log(expected / np.sqrt(2.0 * np.pi)), rel=1e-14)

    def test_location_and_scale_by_hand(self):
        """One component: l = (2, -1), g = (0.5, 0), m = 1, s = -0.5; at x = (1, 3) it is N(0, 1)."""
        theta = np.array([2.0, -1.0, 0.5, 0.0, 0.0, 1.0, -0.5])
        value, _, _ = kernel(Network.linear(2, 1), theta, np.array([1.5]), np.array([[1.0], [3.0]]))
        assert value == pytest.approx(norm.logpdf(1.5), rel=1e-14)

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_nothing_that_is_not_wanted_changes_the_value(self, dtype):
        network = NETWORKS["tanh"]
        theta, (target, context) = parameters(network), rows(network, 300)
        value, densities, gradient = kernel(network, theta, target, context, dtype)
        data = target.astype(dtype), context.astype(dtype)
        only = np.empty(300)
        assert log_likelihood(theta.astype(dtype), *network.layout, *data, NOTHING, NOTHING) == value
        log_likelihood(theta.astype(dtype), *network.layout, *data, only, NOTHING)
        np.testing.assert_array_equal(only, densities)
        alone = np.full(len(theta), 7.0)
        log_likelihood(theta.astype(dtype), *network.layout, *data, NOTHING, alone)
        np.testing.assert_array_equal(alone, gradient)

    def test_inputs_are_left_alone(self):
        network = NETWORKS["paper"]
        theta, (target, context) = parameters(network), rows(network, 140)
        before = theta.copy(), target.copy(), context.copy()
        log_likelihood(theta, *network.layout, target, context, np.empty(140), np.empty(len(theta)))
        for now, then in zip((theta, target, context), before, strict=True):
            np.testing.assert_array_equal(now, then)

    def test_softmaxes_do_not_overflow(self):
        """Logits of hundreds and rows far from every component."""
        theta = np.array([400.0, -400.0, 0.0, 1.0, 0.0, 0.0])
        target = np.array([-60.0, 0.0, 60.0])
        expected = norm.logpdf(target)
        for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 1e-5)):
            _, densities, gradient = kernel(Network.linear(0, 2), theta, target, np.empty((0, 3)), dtype)
            np.testing.assert_allclose(densities, expected, rtol=tolerance)
            assert np.isfinite(gradient).all()

    def test_log_scales_are_bounded(self):
        """Beyond the bounds the density is that at the bound, and nothing pulls a log-scale further."""
        for beyond, bound in ((HIGHEST_LOG_SCALE + 4.0, HIGHEST_LOG_SCALE), (LOWEST_LOG_SCALE - 4.0, LOWEST_LOG_SCALE)):
            theta, at_bound = np.array([0.0, 0.3, beyond]), np.array([0.0, 0.3, bound])
            target = 0.3 + np.exp(bound) * np.linspace(-2.0, 2.0, 9)
            _, densities, gradient = kernel(Network.linear(0, 1), theta, target, np.empty((0, 9)))
            np.testing.assert_allclose(densities, norm.logpdf(target, 0.3, np.exp(bound)), rtol=1e-10)
            np.testing.assert_array_equal(
                densities, kernel(Network.linear(0, 1), at_bound, target, np.empty((0, 9)))[1]
            )
            assert gradient[2] == 0.0


def finite_differences(network, theta, target, context, step=1e-5):
    slopes = np.empty(len(theta))
    for i in range(len(theta)):
        ends = []
        for sign in (1.0, -1.0):
            moved = theta.copy()
            moved[i] += sign * step
            ends.append(kernel(network, moved, target, context)[0])
        slopes[i] = (ends[0] - ends[1]) / (2.0 * step)
    return slopes


def jax_log_likelihood(theta, network, target, context):
    """Build the same sum of log-densities for JAX to differentiate, a matrix product for each layer."""
    c = network.n_context
    location, log_scale, position = 0.0, 0.0, 0
    if network.skip:
        location, log_scale, position = theta[:c] @ context, theta[c : 2 * c] @ context, 2 * c
    values = context[: network.n_inputs]
    widths = [*network.hidden, 3 * network.components]
    for layer, width in enumerate(widths):
        is_last = layer == len(widths) - 1
        parts = jnp.split(values, network.groups) if is_last else [values]
        outputs = []
        for part in parts:
            shape = (width // len(parts), part.shape[0])
            size = shape[0] * shape[1]
            outputs.append(theta[position : position + size].reshape(shape) @ part)
            position += size
        values = jnp.concatenate(outputs) + theta[position : position + width, None]
        position += width
        if not is_last:
            values = {TANH: jnp.tanh, RELU: jax.nn.relu}.get(network.activations[layer], lambda a: a)(values)
    logits, means, log_scales = jnp.split(values, 3)
    log_scales = jnp.clip(log_scales + log_scale, LOWEST_LOG_SCALE, HIGHEST_LOG_SCALE)
    terms = jax.scipy.stats.norm.logpdf(target, location + means, jnp.exp(log_scales))
    return jax.scipy.special.logsumexp(jax.nn.log_softmax(logits, axis=0) + terms, axis=0).sum()


class TestGradient:
    @pytest.mark.parametrize("n", COUNTS)
    @pytest.mark.parametrize("name", NETWORKS)
    def test_finite_differences(self, name, n):
        network = NETWORKS[name]
        theta, (target, context) = parameters(network), rows(network, n)
        _, _, gradient = kernel(network, theta, target, context)
        numeric = finite_differences(network, theta, target, context)
        np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-7 * max(1.0, np.abs(numeric).max()))
        assert np.abs(gradient).max() > 0.01  # it is not the gradient of nothing

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["linear", "tanh", "paper", "paper without context", "two layers"])
    def test_jax(self, name):
        network = NETWORKS[name]
        theta, (target, context) = parameters(network, seed=3), rows(network, 150, seed=4)
        with jax.enable_x64(True):
            function = jax.jit(jax.value_and_grad(lambda theta: jax_log_likelihood(theta, network, target, context)))
            value, gradient = map(np.asarray, function(theta))
        assert gradient.dtype == np.float64
        assert jnp.ones(1).dtype == jnp.float32  # the switch to float64 did not leak
        ours, _, our_gradient = kernel(network, theta, target, context)
        assert ours == pytest.approx(float(value), rel=1e-12)
        np.testing.assert_allclose(our_gradient, gradient, rtol=1e-9, atol=1e-10 * np.abs(gradient).max())

    @settings(deadline=None, max_examples=25)
    @given(
        c=st.integers(0, 5),
        hidden=st.integers(1, 9),
        k=st.integers(1, 5),
        n=st.integers(1, 140),
        kind=st.sampled_from(["linear", "tanh", "paper"]),
        seed=st.integers(0, 10**6),
    )
    def test_along_a_random_direction(self, c, hidden, k, n, kind, seed):
        """Widths that the unrolled loops over inputs and outputs divide and do not divide."""
        network = Network.linear(c, k) if kind == "linear" else getattr(Network, kind)(c, hidden, k)
        theta, (target, context) = parameters(network, seed), rows(network, n, seed + 1)
        direction = parameters(network, seed + 2) / np.sqrt(network.n_parameters)
        _, _, gradient = kernel(network, theta, target, context)
        value = kernel(network, theta, target, context)[0]
        assert value == pytest.approx(reference.log_density(network, theta, target, context).sum(), rel=1e-10)
        step = 1e-6
        ahead, behind = (kernel(network, theta + s * direction, target, context)[0] for s in (step, -step))
        # A kink of a ReLU between the two points costs a term of the order of the step.
        assert gradient @ direction == pytest.approx((ahead - behind) / (2 * step), rel=1e-4, abs=1e-4)


def components_of(network, theta, target, context):
    """Weights w_j and standardised distances z_j of every row, shapes (k, n)."""
    shares, z = np.full((2, network.components, len(target)), np.nan)
    components(theta, *network.layout, target, context, shares, z)
    return shares, z


class TestComponents:
    @pytest.mark.parametrize("n", COUNTS)
    @pytest.mark.parametrize("name", NETWORKS)
    def test_against_numpy(self, name, n):
        network, theta = NETWORKS[name], parameters(NETWORKS[name])
        target, context = rows(network, n)
        shares, z = components_of(network, theta, target, context)
        w, mu, sigma = reference.components(network, theta, context)
        w, mu, sigma = (np.broadcast_to(a, (n, network.components)).T for a in (w, mu, sigma))
        np.testing.assert_allclose(shares, w, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(z, (target - mu) / sigma, rtol=1e-11, atol=1e-12)

    def test_log_scales_are_bounded(self):
        for beyond, bound in ((HIGHEST_LOG_SCALE + 4.0, HIGHEST_LOG_SCALE), (LOWEST_LOG_SCALE - 4.0, LOWEST_LOG_SCALE)):
            _, z = components_of(Network.linear(0, 1), np.array([0.0, 0.3, beyond]), np.ones(1), np.empty((0, 1)))
            assert z[0, 0] == pytest.approx(0.7 / np.exp(bound), rel=1e-12)

    def test_logits_do_not_overflow(self):
        shares, _ = components_of(
            Network.linear(0, 2), np.array([900.0, -900.0, 0.0, 1.0, 0.0, 0.0]), np.zeros(1), np.empty((0, 1))
        )
        np.testing.assert_allclose(shares[:, 0], [1.0, 0.0], atol=1e-300)


def fitted_unit(*models, weights, marginal=0.0):
    return FittedUnit(tuple(models), np.array(weights), marginal, {"network": 1.0})


def model(name, seed=0):
    return Model(NETWORKS[name], parameters(NETWORKS[name], seed), identity)


UNIT = fitted_unit(model("linear", 1), model("tanh", 2), weights=[0.3, 0.5], marginal=0.2)


class TestTails:
    @pytest.mark.parametrize("name", NETWORKS)
    def test_middle(self, name):
        """There Phi^-1 of the mixture's CDF, as SciPy has them, needs no care."""
        network, theta = NETWORKS[name], parameters(NETWORKS[name])
        target, context = rows(network, 60)
        unit = fitted_unit(Model(network, theta, identity), weights=[1.0])
        w, mu, sigma = reference.components(network, theta, context)
        cdf = np.sum(w * norm.cdf(target[:, None], mu, sigma), axis=1)
        central = np.abs(cdf - 0.5) < 0.499
        assert central.sum() > 20
        np.testing.assert_allclose(unit.latent(target, context)[central], ndtri(cdf)[central], rtol=1e-9, atol=1e-9)

    @pytest.mark.parametrize("name", NETWORKS)
    def test_everywhere(self, name):
        network, theta = NETWORKS[name], parameters(NETWORKS[name])
        context = rows(network, 41)[1]
        target = np.sinh(np.linspace(-15.0, 15.0, 41))  # out to 1.6 million
        unit = fitted_unit(Model(network, theta, identity), weights=[1.0])
        expected = reference.latent(network, theta, target, context)
        np.testing.assert_allclose(unit.latent(target, context), expected, rtol=1e-10, atol=1e-12)

    @pytest.mark.parametrize("distance", [0.0, 1.0, 8.0, 30.0, 36.0, 37.5, 39.0, 300.0, 1e6, 1e12])
    def test_one_gaussian_is_standardised_at_any_distance(self, distance):
        """For a single component Phi^-1(Phi((t - m) / s)) is (t - m) / s itself."""
        mean, scale = 0.7, 2.5
        unit = fitted_unit(Model(Network.linear(0, 1), np.array([0.0, mean, np.log(scale)]), identity), weights=[1.0])
        z = np.array([-distance, distance])
        np.testing.assert_allclose(unit.latent(mean + scale * z, np.empty((0, 2))), z, rtol=1e-12, atol=1e-14)

    @settings(deadline=None, max_examples=150)
    @given(
        targets=st.lists(
            st.one_of(
                st.floats(-40, 40), st.floats(-2e6, 2e6), st.sampled_from([-1e6, -300.0, -30.0, 30.0, 300.0, 1e6])
            ),
            min_size=2,
            max_size=40,
        ),
        x=st.tuples(*[st.floats(-6, 6)] * 3),
    )
    def test_order_is_kept(self, targets, x):
        """Latents are finite, and strictly in order wherever the rows are further apart than rounding."""
        ordered = np.unique(targets)
        context = np.repeat(np.array(x)[:, None], len(ordered), axis=1)
        latents = UNIT.latent(ordered, context)
        assert np.isfinite(latents).all()
        steps = np.diff(latents)
        apart = np.diff(ordered) > 1e-6 * np.maximum(1.0, np.abs(ordered[1:]))
        assert (steps[apart] > 0).all()
        assert (steps >= -1e-9 * np.maximum(1.0, np.abs(latents[1:]))).all()

    def test_order_is_kept_where_the_logarithms_take_over(self):
        """Both ways to compute a tail meet where it leaves the range of float64, some 36 to 39 units out."""
        context = np.zeros((3, 20_001))
        for side in (-1.0, 1.0):
            target = side * np.linspace(20.0, 200.0, 20_001)
            latents = side * UNIT.latent(target, context)
            assert (np.diff(latents) > 0).all()

    @pytest.mark.parametrize("name", NETWORKS)
    def test_lower_and_upper_sum_to_one(self, name):
        network, theta = NETWORKS[name], parameters(NETWORKS[name])
        target, context = rows(network, 50)
        lower, upper = np.zeros(50), np.zeros(50)
        add_tails(1.0, *components_of(network, theta, 3.0 * target, context), lower, upper)
        np.testing.assert_allclose(lower + upper, 1.0, rtol=0, atol=1e-14)
        assert (lower >= 0).all()
        assert (upper >= 0).all()

    def test_every_row_by_itself(self):
        """A row's latent does not depend on its neighbours."""
        target, context = rows(NETWORKS["linear"], 30)
        target[::7] *= 1e4
        together = UNIT.latent(target, context)
        alone = [UNIT.latent(target[i : i + 1], context[:, i : i + 1])[0] for i in range(30)]
        np.testing.assert_array_equal(together, alone)
