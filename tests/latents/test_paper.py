"""`DINE.paper()` is the paper: each formula on a small case worked out by hand, under the paper's own headings.

Duong and Nguyen, "Diffeomorphic Information Neural Estimation" (AAAI 2023); Algorithm 1 is in the supplement.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import trapezoid
from scipy.special import ndtri
from scipy.stats import norm

from pydine import DINE
from pydine.inputs.table import Question
from pydine.kernels.layers import IDENTITY, RELU
from pydine.kernels.likelihood import log_likelihood
from pydine.latents import paper
from pydine.latents.paper import PaperSettings, fit_paper_flow
from pydine.units.network import Network
from pydine.units.unit import FittedUnit, Model, identity
from pydine.work.tasks import Unit

# A network of the paper's kind, small enough for a pencil: one context column z, hidden layers of one unit, two
# components. Conditioner: h = 0.5 relu(z + 0) + 0. Heads: relu(h), relu(h + 1) and relu(3 - h), then the outputs.
PENCIL = Network.paper(1, 1, 2)
THETA = np.array(
    [
        *(1.0, 0.0),  # hidden layer of c
        *(0.5, 0.0),  # h
        *(1.0, 1.0, -1.0),  # hidden layers of w, mu and ln sigma ...
        *(0.0, 1.0, 3.0),  # ... and their biases
        *(np.log(3.0), 0.0),  # w: softmax(relu(h) (ln 3, 0) + (0, 0))
        *(0.5, -0.5),  # mu: relu(h + 1) (0.5, -0.5)
        *(np.log(2.0), 0.0),  # ln sigma: relu(3 - h) (ln 2, 0) + (-ln 2, 0)
        *(0.0, 0.0, 0.0, 0.0, -np.log(2.0), 0.0),
    ]
)
UNIT = FittedUnit((Model(PENCIL, THETA, identity),), np.ones(1), 0.0, {"network": 1.0})
# At z = 2: relu(2) = 2, h = 1; the heads' hidden units are 1, 2 and 2; w = (3/4, 1/4), mu = (1, -1), sigma = (2, 1).
# At z = -5: relu(-5) = 0, h = 0; the heads' are 0, 1 and 3; w = (1/2, 1/2), mu = (1/2, -1/2), sigma = (4, 1).
AT = {2.0: ((0.75, 0.25), (1.0, -1.0), (2.0, 1.0)), -5.0: ((0.5, 0.5), (0.5, -0.5), (4.0, 1.0))}


def data(n=300, seed=0, rho=0.7):
    """Two columns of x, one of y, two of z that moves both sides."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((n, 2))
    x = rng.standard_normal((n, 2)) + z[:, :1]
    y = rho * x[:, :1] + 0.7 * rng.standard_normal((n, 1)) - z[:, 1:]
    return 3.0 * x + 10.0, np.exp(0.3 * y), z


@pytest.fixture(scope="module")
def fitted():
    return DINE.paper().fit(*data())


class TestTransformer:
    """Equation "tau(x_i; h_i) = sum_j w_ij(h_i) Phi(x_i; mu_ij(h_i), sigma_ij^2(h_i))"."""

    @pytest.mark.parametrize("z", AT)
    @pytest.mark.parametrize("x", [-4.0, -1.0, 0.0, 3.0])
    def test_mixture_of_gaussian_cdfs(self, x, z):
        """At x = 3, z = 2: 0.75 Phi(1) + 0.25 Phi(4)."""
        tau = sum(w * norm.cdf((x - mu) / sigma) for w, mu, sigma in zip(*AT[z], strict=True))
        latent = UNIT.latent(np.array([x]), np.array([[z]]))[0]
        assert norm.cdf(latent) == pytest.approx(tau, rel=1e-12)

    def test_base_distribution(self):
        """ "Phi^-1 to x'": the uniform tau becomes a standard Gaussian."""
        tau = 0.75 * norm.cdf(1.0) + 0.25 * norm.cdf(4.0)
        assert UNIT.latent(np.array([3.0]), np.array([[2.0]]))[0] == pytest.approx(ndtri(tau), rel=1e-12)

    @settings(deadline=None, max_examples=50)
    @given(z=st.floats(-20, 20), x=st.floats(-20, 20), further=st.floats(1e-3, 20))
    def test_strictly_increasing_in_x(self, z, x, further):
        first, second = UNIT.latent(np.array([x, x + further]), np.array([[z, z]]))
        assert first < second


class TestDensity:
    """Algorithm 1, step 2: ln p(x | z) = ln p(tau(x; z)) + ln |d tau / dx|; a uniform base makes the first 0."""

    @pytest.mark.parametrize("z", AT)
    @pytest.mark.parametrize("x", [-4.0, 0.0, 3.0])
    def test_derivative_of_the_transformer(self, x, z):
        """At x = 3, z = 2: ln(0.75 phi(1) / 2 + 0.25 phi(4))."""
        expected = np.log(sum(w * norm.pdf((x - mu) / sigma) / sigma for w, mu, sigma in zip(*AT[z], strict=True)))
        value = log_likelihood(THETA, *PENCIL.layout, np.array([x]), np.array([[z]]), np.empty(0), np.empty(0))
        assert value == pytest.approx(expected, rel=1e-12)

    def test_objective_is_the_sum_over_both_sides_and_over_dimensions(self, fitted):
        """ln p(x_i | z_i) + ln p(y_i | z_i), J_tau triangular: sums of ln |d tau_i / d x_i|, in the data's units."""
        x, y, z = (block[:20] for block in data())
        step = 1e-4
        total = np.zeros(20)
        for side, i in ((0, 0), (0, 1), (1, 0)):
            ends = []
            for sign in (1, -1):
                moved = [x.copy(), y.copy()]
                moved[side][:, i] += sign * step
                ends.append(norm.cdf(fitted.transform(*moved, z)[side][:, i]))
            total += np.log((ends[0] - ends[1]) / (2 * step))
        assert fitted.score(x, y, z) == pytest.approx((total + fitted.pointwise(x, y, z)).mean(), abs=1e-3)
        np.testing.assert_allclose(fitted.flow_.log_density(x, y, z), total, atol=5e-3)

    def test_integrates_to_one_in_the_units_of_the_data(self):
        """p(x) p(y) over x at one y is p(y), and over y at one x p(x)."""
        x, y, _ = data()
        x, y = x[:, :1], y[:, :1]
        model = DINE.paper().fit(x, y)

        def density(x, y):
            x, y = np.broadcast_arrays(x, y)
            return np.exp(model.flow_.log_density(x[:, None], y[:, None], np.empty((len(x), 0))))

        at_x, at_y = np.median(x), np.median(y)
        grid_x, grid_y = (np.linspace(-20.0 * a.std(), 20.0 * a.std(), 100_001) + a.mean() for a in (x, y))
        p_y = trapezoid(density(grid_x, np.array([at_y])), grid_x)
        p_x = trapezoid(density(np.array([at_x]), grid_y), grid_y)
        assert p_x * p_y == pytest.approx(density(np.array([at_x]), np.array([at_y]))[0], rel=1e-3)


class TestConditioner:
    """Equation "h_i = c_i(x_<i, z)"."""

    def test_inputs(self, fitted):
        assert list(fitted.flow_.units) == [Unit(0, (3, 4)), Unit(1, (0, 3, 4)), Unit(2, (3, 4))]
        for unit, fit in fitted.flow_.units.items():
            assert fit.models[0].network.n_context == len(unit.context)

    def test_what_moves_what(self, fitted):
        x, y, z = (block[:40] for block in data())

        def moved(block, column):
            out = block.copy()
            out[:, column] += 0.5
            return out

        base = np.hstack(fitted.transform(x, y, z))

        def changes(*blocks):
            return (np.abs(np.hstack(fitted.transform(*blocks)) - base).max(axis=0) > 1e-9).tolist()

        assert changes(moved(x, 0), y, z) == [True, True, False]  # x_1 enters c_2
        assert changes(moved(x, 1), y, z) == [False, True, False]  # x_2 does not enter c_1
        assert changes(x, moved(y, 0), z) == [False, False, True]  # the sides do not see each other
        assert changes(x, y, moved(z, 0)) == [True, True, True]
        assert changes(x, y, moved(z, 1)) == [True, True, True]


class TestNetworks:
    """ "Neural Network Parametrization" and the supplement's "Additional experiment settings"."""

    def test_four_hidden_units_and_sixteen_components(self, fitted):
        for unit, fit in fitted.flow_.units.items():
            (network,) = (model.network for model in fit.models)
            # conditioner: R^(i-1+d_Z) -> 4 ReLU -> R^(d_H); three heads of 4 ReLU units each; 16 components
            assert network.n_inputs == len(unit.context)
            assert network.hidden == (4, 4, 12)
            assert network.activations == (RELU, IDENTITY, RELU)
            assert network.groups == 3
            assert network.components == 16
            assert not network.skip

    def test_weights_are_a_softmax(self):
        """They sum to one: tau goes from 0 to 1."""
        for z in (-50.0, 0.0, 7.0):
            ends = norm.cdf(UNIT.latent(np.array([-1e6, 1e6]), np.full((1, 2), z)))
            np.testing.assert_allclose(ends, [0.0, 1.0], atol=1e-15)

    def test_one_flow_a_side_and_nothing_else(self, fitted):
        """No rungs, no mixture of models, no marginal beside the network."""
        for fit in fitted.flow_.units.values():
            assert len(fit.models) == 1
            np.testing.assert_array_equal(fit.weights, [1.0])
            assert fit.marginal_weight == 0.0

    def test_parameters_of_the_estimator(self):
        parameters = DINE.paper().get_params()
        assert (parameters["hidden_units"], parameters["n_components"]) == (4, 16)
        assert DINE.paper(random_state=7, n_components=3).get_params()["n_components"] == 3
        assert isinstance(DINE.paper(), DINE)


class TestEstimate:
    """Algorithm 1, steps 3 to 5."""

    def test_uncentred_covariance_with_n_minus_1(self, fitted):
        """Step 4: sums of products of the latents themselves, over n - 1."""
        u = np.hstack(fitted.transform(*data()))
        np.testing.assert_allclose(fitted.flow_.cross_product, u.T @ u, rtol=1e-9, atol=1e-9)
        assert fitted.flow_.dof == len(u) - 1

    @pytest.mark.parametrize("conditional", [False, True])
    def test_closed_form_and_no_correction(self, conditional):
        """Step 5: 0.5 ln(det S_x det S_y / det S_xy) to the last digits, from nothing but the latents."""
        x, y, z = data(60, seed=3)
        given = (z,) if conditional else ()
        model = DINE.paper().fit(x, y, *given)
        u = np.hstack(model.transform(x, y, *given))
        whole = u.T @ u / (len(u) - 1)
        expected = 0.5 * np.log(np.linalg.det(whole[:2, :2]) * np.linalg.det(whole[2:, 2:]) / np.linalg.det(whole))
        assert model.information_.value == pytest.approx(expected, rel=1e-9)
        centred = np.cov(u.T)
        other = 0.5 * np.log(np.linalg.det(centred[:2, :2]) * centred[2, 2] / np.linalg.det(centred))
        assert model.information_.value != pytest.approx(other, rel=1e-7)  # the means are not taken out

    def test_latents_are_phi_inverse_of_the_learned_transformer(self, fitted):
        """Step 3, from the parameters themselves: columns standardised, then tau of every unit."""
        x, y, z = data()
        columns = np.hstack([x, y, z])
        columns = ((columns - columns.mean(axis=0)) / columns.std(axis=0)).T
        latents = np.hstack(fitted.transform(x, y, z)).T
        for (unit, fit), latent in zip(fitted.flow_.units.items(), latents, strict=True):
            alone = fit.latent(columns[unit.target], columns[list(unit.context)])
            np.testing.assert_allclose(latent, alone, rtol=1e-9, atol=1e-9)

    def test_gaussian_truth(self):
        """No correction, so n is large: rho = 0.7 gives 0.337 nats."""
        rng = np.random.default_rng(0)
        x, e = rng.standard_normal((2, 3000))
        y = 0.7 * x + np.sqrt(0.51) * e
        assert DINE.paper().fit(x, y).information_.value == pytest.approx(-0.5 * np.log(0.51), abs=0.06)

    def test_affine_maps_do_not_matter(self):
        x, y, z = data(100)
        one = DINE.paper().fit(x, y, z).information_.value
        other = DINE.paper().fit(8.0 * x, 0.25 * y, 2.0 * z).information_.value
        assert other == pytest.approx(one, rel=1e-9)


class TestTraining:
    """Algorithm 1, step 2: maximum likelihood, by gradient steps with early stopping."""

    @pytest.fixture
    def searches(self, monkeypatch):
        made = []
        search = paper.maximise

        def spy(*arguments):
            made.append(arguments)
            return search(*arguments)

        monkeypatch.setattr(paper, "maximise", spy)
        return made

    def test_rows_are_held_out_for_early_stopping(self, searches):
        x, y, z = data(100)
        fit_paper_flow(Question.of(x, y, z), PaperSettings())
        assert len(searches) == 3
        columns = np.hstack([x, y, z])
        columns = ((columns - columns.mean(axis=0)) / columns.std(axis=0)).astype(np.float32)
        for target, (_, decay, *_, learned, _, held, _, _, _, patience, _) in enumerate(searches):
            assert len(held) > 0
            assert len(learned) > len(held)
            np.testing.assert_allclose(np.sort(np.concatenate([learned, held])), np.sort(columns[:, target]), atol=1e-5)
            assert patience > 0
            assert not decay.any()  # likelihood and nothing else

    def test_early_stopping_prevents_overfitting(self):
        """Noise and few rows: with the held-out rows watched, new rows are about as likely as under a Gaussian."""
        rng = np.random.default_rng(0)
        x, y = rng.standard_normal((2, 60))
        z = rng.standard_normal((60, 3))
        new = rng.standard_normal((2000, 1)), rng.standard_normal((2000, 1)), rng.standard_normal((2000, 3))
        watched, blind = (
            fit_paper_flow(
                Question.of(x[:, None], y[:, None], z), PaperSettings(iterations=500, patience=patience, held_out=share)
            )[0]
            for patience, share in ((20, 0.2), (10**6, 0.0))
        )
        assert watched.log_density(*new).mean() > -2 * 1.42 - 0.8
        assert watched.log_density(*new).mean() > blind.log_density(*new).mean() + 0.5

    def test_likelihood_is_maximised(self, fitted):
        """Far above independent Gaussians in the units of the data."""
        x, y, z = data()
        columns = np.hstack([x, y])
        gaussian = norm.logpdf(columns, columns.mean(axis=0), columns.std(axis=0)).sum(axis=1).mean()
        assert fitted.score(x, y, z) > gaussian + 0.3

    def test_the_seed_decides(self):
        x, y, z = data(80)
        one, same, other = (DINE.paper(random_state=s).fit(x, y, z).information_.value for s in (0, 0, 1))
        assert one == same != other

    def test_tails(self, fitted):
        """30, 300 and a million standard deviations out: finite and in order."""
        far = np.array([-1e6, -300.0, -30.0, 0.0, 30.0, 300.0, 1e6])
        x, y, z = (np.repeat(block[:1], 7, axis=0) for block in data())
        x[:, 0] += 4.0 * far
        latents = fitted.transform(x, y, z)[0]
        assert np.isfinite(latents).all()
        assert (np.diff(latents[:, 0]) > 0).all()
