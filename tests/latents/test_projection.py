"""Projection on functions of z: an orthogonal projection, its degrees of freedom, and its budget.

Projecting the rows of the identity matrix shows the projection itself, whichever functions it takes.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import lfilter

from pydine.bases.closed_form import gaussian_information, wishart_bias
from pydine.latents.projection import FIRST_SHARE, ROWS_AT_ONCE, Projection
from pydine.sampling import INDEPENDENT, Clusters, Series
from pydine.units.evidence import LEAST


def sample(n, d=3, dz=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((d, n)), rng.standard_normal((dz, n))


def waves(z):
    """Six smooth functions of z, shape (n, 6)."""
    a, b = z[0], z[-1]
    return np.column_stack([np.sin(a), np.cos(a), np.sin(2 * b), a**2, a * b, np.tanh(3 * b)])


def many(z):
    """A hundred functions of z that are all different, shape (n, 100)."""
    return np.cos(np.outer(z[0], np.arange(1, 101)) + np.outer(z[-1], np.arange(100, 0, -1)))


class Functions:
    """A constant and z, which are always used, and whatever else a test wants of z."""

    def __init__(self, dz, features=None):
        self.n_always = 1 + dz
        self.features = features

    def __call__(self, z):
        first = np.column_stack([np.ones(z.shape[1]), *z])
        return first if self.features is None else np.hstack([first, self.features(z)])

    def priors(self, z):
        return [] if self.features is None else [np.ones(self.features(z).shape[1])]


def project(latents, z, features=None):
    return Projection.fit(latents, z, Functions(len(z), features))


def test_a_function_that_is_zero_everywhere_is_as_good_as_absent():
    """A network may learn one, of a column that is constant but for a row."""
    latents, z = sample(80)
    plain = project(latents, z, waves)
    with_zero = project(latents, z, lambda z: np.column_stack([waves(z), np.zeros(z.shape[1])]))
    np.testing.assert_allclose(with_zero(latents, z), plain(latents, z), atol=1e-12)
    assert with_zero.dof == plain.dof


def residual_maker(z, features):
    """The matrix that takes a latent to its residuals, shape (n, n), and the degrees of freedom that it leaves."""
    n = z.shape[1]
    latents = sample(n, seed=1)[0]
    projection = project(latents, z, features)
    maker = projection.of_sample(np.eye(n), list(projection.blocks(z)))
    # Where functions count in part the matrix is no longer its own square.
    squared = maker @ maker
    scale = projection.dof / np.trace(squared)
    np.testing.assert_allclose(projection.cross_product, latents @ squared @ latents.T * scale, atol=1e-7)
    return maker, projection.dof


def annihilated(z, features=None):
    """What must be projected out: a constant, z, and features."""
    return Functions(len(z), features)(z)


class TestResiduals:
    @pytest.mark.parametrize("features", [None, waves])
    @pytest.mark.parametrize(("n", "dz"), [(60, 2), (300, 2), (300, 1), (90, 5)])
    def test_orthogonal_projection(self, n, dz, features):
        z = sample(n, dz=dz)[1]
        maker, dof = residual_maker(z, features)
        np.testing.assert_allclose(maker, maker.T, atol=1e-9)
        np.testing.assert_allclose(maker @ maker, maker, atol=1e-9)
        assert np.trace(maker) == pytest.approx(dof, abs=1e-6)
        np.testing.assert_allclose(maker @ annihilated(z, features), 0.0, atol=1e-8)

    @pytest.mark.parametrize("features", [None, waves])
    @pytest.mark.parametrize("n", [80, ROWS_AT_ONCE, ROWS_AT_ONCE + 1, 2 * ROWS_AT_ONCE + 321])
    def test_cross_product_is_that_of_the_residuals(self, n, features):
        latents, z = sample(n)
        latents += z[:1] + np.sin(z[:1])
        projection = project(latents, z, features)
        residuals = projection(latents, z)
        np.testing.assert_allclose(projection.cross_product, residuals @ residuals.T, rtol=1e-9, atol=1e-9 * n)
        np.testing.assert_array_equal(projection.cross_product, projection.cross_product.T)
        np.testing.assert_allclose(residuals @ annihilated(z, features) / n, 0.0, atol=1e-9)

    def test_blocks_do_not_matter(self):
        """More rows than are worked on at once: a row's residual is its own."""
        n = 2 * ROWS_AT_ONCE + 17
        latents, z = sample(n, d=1)
        projection = project(latents, z, waves)
        some = np.array([0, ROWS_AT_ONCE - 1, ROWS_AT_ONCE, 2 * ROWS_AT_ONCE, n - 1])
        together, alone = projection(latents, z)[:, some], projection(latents[:, some], z[:, some])
        np.testing.assert_allclose(together, alone, atol=1e-12)

    def test_against_least_squares(self):
        """No more than z and two functions of it: what is left is the residual of that regression."""
        latents, z = sample(30, dz=1)
        latents += np.sin(2.0 * z)
        projection = project(latents, z, lambda z: np.column_stack([np.sin(2.0 * z[0]), z[0] ** 3]))
        functions = np.column_stack([np.ones(30), z[0], np.sin(2.0 * z[0]), z[0] ** 3])
        fitted = functions @ np.linalg.lstsq(functions, latents.T)[0]
        np.testing.assert_allclose(projection(latents, z), latents - fitted.T, atol=1e-9)
        assert projection.dof == 30 - 4

    def test_nothing_given_means_centring(self):
        latents, _ = sample(50)
        nothing = np.empty((0, 50))
        projection = project(latents + 4.0, nothing, None)
        mean = latents.mean(axis=1, keepdims=True)
        np.testing.assert_allclose(projection(latents + 4.0, nothing), latents - mean, atol=1e-12)
        np.testing.assert_allclose(projection.cross_product, 49 * np.cov(latents), rtol=1e-10)
        assert projection.dof == 49

    @settings(deadline=None, max_examples=30)
    @given(seed=st.integers(0, 10**6), dz=st.integers(1, 4), n=st.integers(20, 200))
    def test_what_is_linear_in_z_does_not_matter(self, seed, dz, n):
        latents, z = sample(n, d=2, dz=dz, seed=seed)
        effect = np.random.default_rng(seed + 1).standard_normal((2, dz)) @ z
        plain, moved = project(latents, z, None), project(latents + effect + 3.0, z, None)
        np.testing.assert_allclose(moved.cross_product, plain.cross_product, rtol=1e-8, atol=1e-8)
        assert moved.dof == plain.dof <= n - 1 - dz

    def test_new_rows_use_what_was_learned(self):
        """The effect found in one sample is taken out of another."""
        latents, z = sample(4000)
        new, new_z = sample(2000, seed=9)
        projection = project(latents + np.sin(z[:1]), z, waves)
        left = projection(new + np.sin(new_z[:1]), new_z) - new
        assert np.sqrt(np.mean(left**2)) < 0.1

    def test_inputs_are_left_alone(self):
        latents, z = sample(50)
        before = latents.copy(), z.copy()
        project(latents, z, waves)(latents, z)
        np.testing.assert_array_equal(latents, before[0])
        np.testing.assert_array_equal(z, before[1])


class TestDegreesOfFreedom:
    @pytest.mark.parametrize(
        "make",
        [
            lambda a, b: [a, a],
            lambda a, b: [a, b, a + b, 2 * a - 3 * b],
            lambda a, b: [a, 5 * a + 1],
            lambda a, b: [a, np.ones_like(a)],
            lambda a, b: [a, b, a + 1e-12 * b],
        ],
        ids=["twice", "sums", "affine", "constant", "nearly twice"],
    )
    @pytest.mark.parametrize("features", [None, waves])
    def test_collinear_z(self, make, features):
        z = np.array(make(*np.random.default_rng(0).standard_normal((2, 150))))
        maker, dof = residual_maker(z, features)
        np.testing.assert_allclose(maker @ maker, maker, atol=1e-7)
        np.testing.assert_allclose(maker @ annihilated(z, features), 0.0, atol=1e-6)
        assert np.trace(maker) == pytest.approx(dof, abs=1e-4)

    def test_a_column_of_z_that_repeats_costs_nothing(self):
        latents, z = sample(400, dz=2)
        once, twice = project(latents, z, None), project(latents, np.vstack([z, -z[:1]]), None)
        assert once.dof == twice.dof
        np.testing.assert_allclose(twice.cross_product, once.cross_product, rtol=1e-8, atol=1e-8)

    def test_features_that_repeat_cost_nothing(self):
        latents, z = sample(200)

        def features(z):
            return np.column_stack([z[0] ** 2])

        def repeated(z):
            return np.column_stack([*z, z[0] ** 2, 3 * z[0] ** 2 - z[1], np.ones(z.shape[1])])

        assert project(latents, z, repeated).dof == project(latents, z, features).dof
        assert project(latents, z, features).dof == project(latents, z, None).dof - 1

    @pytest.mark.parametrize("n", [12, 30, 60, 150])
    def test_budget(self, n):
        """Features take a share of the rows at most, and about the first share if they tell nothing."""
        z = sample(n)[1]
        maker, dof = residual_maker(z, many)
        assert n - dof <= max(3, 2.0 * FIRST_SHARE * n)
        assert n - dof > FIRST_SHARE * n - 2 or n < 30
        np.testing.assert_allclose(maker @ annihilated(z), 0.0, atol=1e-8)

    @pytest.mark.parametrize("both", [True, False])
    def test_more_is_spent_while_both_sides_follow_z(self, both):
        """Beyond the first share: what one side alone follows does no harm."""
        z = sample(200)[1]
        noise = sample(200, d=2, seed=1)[0]
        follows = many(z) @ np.random.default_rng(0).standard_normal((100, 2))
        latents = noise + follows.T / 5.0 if both else np.vstack([noise[0] + follows.T[0] / 5.0, noise[1]])
        spent = 200 - Projection.fit(latents, z, Functions(2, many), dx=1).dof
        assert spent > 0.45 * 200 if both else spent < 0.45 * 200

    @pytest.mark.parametrize("size", [0.0, 1.0])
    def test_where_flows_found_nothing_the_latents_must_show_it(self, size):
        z = sample(300)[1]
        latents = sample(300, d=2, seed=1)[0] + size * np.sin(2.0 * z)
        spent = 300 - Projection.fit(latents, z, Functions(2, waves), nonlinear=0.0, dx=1).dof
        assert spent == (9 if size else 3)

    @pytest.mark.parametrize(("d", "n"), [(40, 51), (40, 60), (20, 31), (3, 14)])
    def test_more_degrees_of_freedom_are_left_than_there_are_latents(self, d, n):
        """Otherwise their cross-product is singular."""
        latents, z = sample(n, d=d, dz=1)
        projection = project(latents, z, many)
        assert projection.dof > d
        assert np.linalg.eigvalsh(projection.cross_product)[0] > 1e-6

    def test_z_beyond_the_budget_is_still_projected_out(self):
        z = sample(40, dz=20)[1]
        maker, dof = residual_maker(z, waves)
        assert dof == 40 - 21
        np.testing.assert_allclose(maker @ annihilated(z), 0.0, atol=1e-8)

    def test_the_budget_goes_to_what_is_new(self):
        """Where there is room for one function it is not the one that z all but explains."""

        def one_of_two(z):
            return np.column_stack([z[0] + 1e-2 * np.sin(5 * z[0]), z[0] ** 2])

        z = sample(60, dz=1)[1]
        for n in range(6, 60):
            maker, dof = residual_maker(z[:, :n], one_of_two)
            if dof == n - 3:
                break
        assert dof == n - 3
        np.testing.assert_allclose(maker @ z[0, :n] ** 2, 0.0, atol=1e-8)

    def test_scales_of_features_do_not_matter(self):
        latents, z = sample(100)
        scaled = project(latents, z, lambda z: waves(z) * np.logspace(-6, 6, 6))
        plain = project(latents, z, waves)
        assert scaled.dof == plain.dof
        np.testing.assert_allclose(scaled.cross_product, plain.cross_product, rtol=1e-6, atol=1e-6)


class TestSoftened:
    """No more is taken out than the latents follow."""

    def test_noise_is_left_alone(self):
        latents, z = sample(600, seed=1)
        projection = project(latents, z, many)
        soft = projection.softened(600)
        assert soft.dof > projection.dof + 40
        kept = soft(latents, z) - latents
        assert (kept**2).mean() < 0.2 * ((projection(latents, z) - latents) ** 2).mean()

    def test_what_follows_z_is_taken_out(self):
        latents, z = sample(600, seed=2)
        followed = waves(z).T[:3] * 3.0
        soft = project(latents + followed, z, waves).softened(600)
        left = soft(latents + followed, z)
        assert ((left - latents) ** 2).mean() < 0.05 * (followed**2).mean()

    def test_cross_product_is_that_of_the_residuals(self):
        latents, z = sample(300, seed=3)
        latents[0] += np.sin(z[0])
        soft = project(latents, z, waves).softened(300)
        left = soft(latents, z)
        np.testing.assert_allclose(soft.cross_product, left @ left.T * scale_of(soft, 300), atol=1e-8)
        assert ((soft.shares >= 0.0) & (soft.shares <= 1.0)).all()


def scale_of(projection, n):
    """What the cross-products of n residuals are multiplied by, so that there are as many as degrees of freedom."""
    return projection.dof / ((1.0 - projection.shares) ** 2 - 1.0 + n / len(projection.shares)).sum()


def followed(size, n=300):
    """Two latents that follow waves of z by so much, and z."""
    latents, z = sample(n, d=2, seed=1)
    return latents + size * np.sin(2.0 * z), z


class TestShares:
    """Functions that count in part: a - Q diag(shares) Q'a with Q the functions made orthonormal, one by one."""

    @pytest.mark.parametrize("nonlinear", [0.05, 0.08, 0.1, 0.15])
    @pytest.mark.parametrize("features", [waves, many])
    def test_residuals_degrees_of_freedom_and_leverages(self, nonlinear, features):
        """Against the matrix itself, built from a QR decomposition of the functions in their order."""
        latents, z = followed(0.0, 150)
        functions = Functions(2, features)
        projection = Projection.fit(latents, z, functions, nonlinear=nonlinear, dx=1)
        shares = projection.shares
        assert ((shares > 0.0) & (shares <= 1.0)).all()
        np.testing.assert_array_equal(shares[:3], 1.0)
        assert (shares[3:] < 1.0).all()
        basis = np.linalg.qr(functions(z)[:, projection.chosen])[0]
        maker = np.eye(150) - (basis * shares) @ basis.T
        blocks = list(projection.blocks(z))
        np.testing.assert_allclose(projection.residuals(latents, blocks), latents @ maker, atol=1e-7)
        np.testing.assert_allclose(projection(latents, z), latents @ maker, atol=1e-7)
        np.testing.assert_allclose(projection.of_sample(np.eye(150), blocks), maker, atol=1e-7)
        squared = maker @ maker
        scale = projection.dof / np.trace(squared)
        np.testing.assert_allclose(projection.cross_product, latents @ squared @ latents.T * scale, atol=1e-6)
        assert projection.dof == pytest.approx(np.trace(squared) ** 2 / np.trace(squared @ squared), abs=1e-7)
        leverages = projection.leverages(blocks)
        np.testing.assert_allclose(leverages, 1.0 - np.diag(squared), atol=1e-7)

    def test_chance_is_that_of_the_degrees_of_freedom(self):
        """Independent sides of several columns: the closed form less its bias is 0 on average."""
        rng, n, d, found = np.random.default_rng(5), 150, 6, []
        z = rng.standard_normal((2, n))
        functions = Functions(2, many)
        for _ in range(60):
            latents = rng.standard_normal((2 * d, n))
            projection = Projection.fit(latents, z, functions, nonlinear=0.5, dx=d)
            assert projection.shares.min() < 0.6
            covariance = projection.cross_product / projection.dof
            found.append(gaussian_information(covariance, d) - wishart_bias(d, d, projection.dof))
        assert abs(np.mean(found)) < 4.0 * np.std(found) / np.sqrt(len(found))

    def test_a_share_of_one_is_the_orthogonal_projection(self):
        latents, z = followed(0.0)
        projection = Projection.fit(latents, z, Functions(2, waves), nonlinear=1.0, dx=1)
        np.testing.assert_array_equal(projection.shares, 1.0)
        functions = Functions(2, waves)(z)
        fitted = functions @ np.linalg.lstsq(functions, latents.T)[0]
        np.testing.assert_allclose(projection(latents, z), latents - fitted.T, atol=1e-8)
        assert projection.dof == 300 - 9

    def test_what_flows_found_counts_by_how_much(self):
        """From none of the rich functions to all of them as the weight of non-linear rungs grows, without a jump."""
        latents, z = followed(0.0)
        spent, values = [], []
        for nonlinear in np.linspace(0.0, 1.0, 81):
            projection = Projection.fit(latents, z, Functions(2, waves), nonlinear=float(nonlinear), dx=1)
            spent.append(300 - projection.dof)
            values.append(projection.cross_product[0, 1])
        assert spent[0] == spent[int(80 * LEAST)] == 3
        assert spent[-1] == 9
        assert (np.diff(spent) >= 0.0).all()
        assert np.abs(np.diff(spent)).max() < 0.5
        assert np.abs(np.diff(values)).max() < 0.1 * max(np.ptp(values), 1.0)

    def test_what_the_latents_show_counts_by_how_much(self):
        """The same where flows found nothing but both sides follow z more and more."""
        samples = (followed(size) for size in np.linspace(0.0, 0.6, 121))
        spent = [300 - Projection.fit(*data, Functions(2, waves), nonlinear=0.0, dx=1).dof for data in samples]
        assert spent[0] == 3
        assert spent[-1] == 9
        assert np.abs(np.diff(spent)).max() < 1.0

    def test_further_steps_fade(self):
        """Beyond the first share each step counts no more than the one before it."""
        for size in (0.0, 0.15, 0.3, 1.0):
            latents, z = sample(200, d=2, seed=1)
            latents = latents + size * (many(z) @ np.random.default_rng(0).standard_normal((100, 2))).T / 5.0
            shares = Projection.fit(latents, z, Functions(2, many), dx=1).shares
            assert ((shares >= 0.0) & (shares <= 1.0)).all()
            assert (np.diff(shares) <= 0.0).all()
            assert (shares[: int(FIRST_SHARE * 200)] == 1.0).all()
            assert len(shares) <= 2.0 * FIRST_SHARE * 200 + 3

    def test_some_of_the_latents_with_other_signs(self):
        latents, z = followed(0.1)
        projection = Projection.fit(latents, z, Functions(2, waves), nonlinear=0.1, dx=1)
        flipped = projection.of_columns([1, 0], np.array([-1.0, 1.0]))
        moved = np.array([-latents[1], latents[0]])
        expected = projection(latents, z)
        np.testing.assert_allclose(flipped(moved, z), [-expected[1], expected[0]], atol=1e-12)
        left = flipped(moved, z)
        np.testing.assert_allclose(flipped.cross_product, left @ left.T * scale_of(flipped, 300), atol=1e-7)
        assert flipped.dof == projection.dof


@pytest.mark.parametrize("nonlinear", [0.0, 1.0])
def test_slow_series_have_few_rows_to_spend(nonlinear):
    """A slow latent follows some functions of a slow z by chance, as no independent rows would."""
    functions, spent = Functions(1, lambda z: np.cos(np.outer(z[0], np.arange(1, 101) / 3.0))), []
    for seed in range(5):
        noise = np.random.default_rng(seed).standard_normal((3, 700))
        slow = lfilter([1.0], [1.0, -0.95], noise, axis=1)[:, 200:]
        slow /= slow.std(axis=1, keepdims=True)
        for rows in (INDEPENDENT, Series(np.arange(500))):
            found = Projection.fit(slow[:2], slow[2:], functions, nonlinear=nonlinear, dx=1, rows=rows)
            spent.append(found.shares.sum() - functions.n_always)
    untold, told = np.reshape(spent, (5, 2)).T
    assert told.sum() < 0.5 * untold.sum()


def test_clusters_of_one_row_spend_as_independent_rows_do():
    latents, z = sample(200)
    told = Projection.fit(latents, z, Functions(2, many), dx=1, rows=Clusters(np.arange(200)))
    untold = Projection.fit(latents, z, Functions(2, many), dx=1)
    assert len(told.shares) == pytest.approx(len(untold.shares), abs=1)
