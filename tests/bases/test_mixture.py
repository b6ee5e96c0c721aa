"""The mixture base: shapes that no plain base follows, rows that are really held out, and what must not matter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.mixture import GaussianMixture

from pydine import DINE, mutual_information, pointwise_information
from pydine.bases import mixture as module
from pydine.bases.gaussian import GaussianBase
from pydine.bases.mixture import Gaussians, MixtureBase
from pydine.bases.student import StudentBase
from pydine.sampling import HeldOut, dealt
from pydine.units.evidence import LEAST
from shapes import as_latents, gaussian, given_z, latents_of, parabola, parabola_truth, ring, ring_truth

CENTRES = np.array([[-2.0, 1.0], [0.0, -1.5], [1.5, 1.2]])


def clusters(n, seed=0):
    rng = np.random.default_rng(seed)
    both = CENTRES[rng.integers(3, size=n)] + 0.4 * rng.standard_normal((n, 2))
    return both[:, :1], both[:, 1:]


def clusters_truth():
    """By the masses of a fine grid."""
    place = np.linspace(-4.5, 4.5, 600)
    masses = sum(np.exp(-0.5 * ((place[:, None] - a) ** 2 + (place - b) ** 2) / 0.16) for a, b in CENTRES)
    masses /= masses.sum()
    rows, columns = masses.sum(axis=1, keepdims=True), masses.sum(axis=0)
    filled = masses > 0.0
    return float((masses[filled] * np.log((masses / (rows * columns))[filled])).sum())


class TestShapes:
    @pytest.mark.parametrize(
        ("make", "truth"),
        [(parabola, parabola_truth(0.7)), (ring, ring_truth(0.2)), (clusters, clusters_truth())],
        ids=["parabola", "ring", "clusters"],
    )
    def test_without_correlation(self, make, truth):
        estimate = mutual_information(*make(2000), base="mixture")
        assert estimate.base == "mixture"
        assert estimate.value == pytest.approx(truth, abs=0.05)

    def test_few_rows(self):
        """Ranks close the gaps between clusters, so their edges are sharp; most of it is seen all the same."""
        value = mutual_information(*clusters(300), base="mixture").value
        assert 0.7 * clusters_truth() < value < 1.05 * clusters_truth()

    @pytest.mark.slow
    def test_given_z(self):
        estimate = mutual_information(*given_z(*parabola(1000, seed=1)), base="mixture")
        assert parabola_truth(0.7) - 0.2 < estimate.value < parabola_truth(0.7) + 0.05

    @pytest.mark.slow
    def test_several_columns(self):
        """Two parabolas side by side: the information is the sum of theirs."""
        (x, y), (other_x, other_y) = parabola(2000, seed=1), parabola(2000, seed=2)
        estimate = mutual_information(np.hstack([x, other_x]), np.hstack([y, other_y]), base="mixture")
        assert estimate.value == pytest.approx(2.0 * parabola_truth(0.7), abs=0.15)

    @pytest.mark.parametrize("d", [1, 3])
    def test_on_gaussian_data_it_keeps_the_closed_form(self, d):
        x, y = gaussian(500, d)
        found, plain = (mutual_information(x, y, base=base) for base in ("mixture", "gaussian"))
        assert found.value == pytest.approx(plain.value, abs=0.5 * plain.standard_error)

    @pytest.mark.parametrize("d", [1, 2])
    @pytest.mark.parametrize("draw", ["normal", "cauchy"])
    def test_independent_columns(self, d, draw):
        values = []
        for seed in range(3):
            rng = np.random.default_rng(seed)
            sides = rng.standard_normal((2, 200, d)) if draw == "normal" else rng.standard_cauchy((2, 200, d))
            values.append(mutual_information(*sides, base="mixture").value)
        assert abs(np.mean(values)) < 0.03
        assert max(values) < 0.08


class TestHeldOut:
    def test_rows_are_held_out(self):
        """What a fold's rows are does not change the models that give them their log-ratios."""
        rng = np.random.default_rng(0)
        rows = np.array(parabola(300)).reshape(2, -1)
        rows = (rows - rows.mean(axis=1, keepdims=True)) / rows.std(axis=1, keepdims=True)
        held = dealt(as_latents(rows, 1).outwards, 3)[1]
        changed = rows.copy()
        changed[:, held] = rng.standard_normal((2, len(held)))
        models = [list(module._Fold.of(data, HeldOut(held, held), False).doublings()) for data in (rows, changed)]
        for one, other in zip(*models, strict=True):
            np.testing.assert_array_equal(one.means, other.means)
            np.testing.assert_array_equal(one.covariances, other.covariances)

    def test_they_are_predicted_as_by_a_peer(self):
        """Scikit-learn's mixtures with many starts give held-out rows no higher a likelihood ratio, or hardly."""
        latents = latents_of(*clusters(600))
        found = MixtureBase().fit(latents)
        ratios = np.empty(latents.n_rows)
        for rows in dealt(latents.outwards, 3):
            peer = GaussianMixture(4, n_init=3, reg_covar=1e-3, random_state=0)
            peer.fit(np.delete(latents.both, rows, axis=1).T)
            model = Gaussians(peer.weights_, peer.means_, np.ascontiguousarray(peer.covariances_))
            ratios[rows] = model.log_ratio(np.ascontiguousarray(latents.both[:, rows]), 1)
        assert found.held_out.mean() > ratios.mean() - 0.02

    def test_the_value_is_between_what_is_seen_and_what_is_not(self):
        latents = latents_of(*parabola(400))
        found = MixtureBase().fit(latents)
        seen = found.log_ratio(latents.both, latents.z).mean()
        assert found.held_out.mean() < found.value < seen
        assert found.value == pytest.approx(0.5 * (found.held_out.mean() + seen), abs=0.02)


class TestWhatMustNotMatter:
    @settings(max_examples=5, deadline=None)
    @given(st.integers(0, 10**6), st.booleans(), st.sampled_from([-1.0, 1.0]), st.sampled_from([-1.0, 1.0]))
    def test_sides_signs_and_the_order_of_rows(self, seed, is_swapped, x_sign, y_sign):
        x, y = clusters(150, seed)
        order = np.random.default_rng(seed).permutation(len(x))
        moved = x_sign * x[order], y_sign * np.expm1(y[order])
        expected = mutual_information(x, y, base="mixture").value
        found = mutual_information(*(moved[::-1] if is_swapped else moved), base="mixture").value
        assert found == pytest.approx(expected, abs=1e-9)

    def test_the_same_twice(self):
        x, y = clusters(300)
        assert mutual_information(x, y, base="mixture").value == mutual_information(x, y, base="mixture").value


def signs_by_z(n, dz=3, seed=0):
    """A correlation of 0.8, or of -0.8 where a sum of two columns of z is negative."""
    rng = np.random.default_rng(seed)
    z, (x, noise) = rng.standard_normal((n, dz)), rng.standard_normal((2, n))
    y = 0.8 * np.sign(z[:, 0] - 0.3 * z[:, -1]) * x + 0.6 * noise
    return (x + z[:, 1])[:, None], (y + np.sin(z[:, 0]))[:, None], z


SIGNS_TRUTH = -0.5 * np.log(1.0 - 0.64)


class TestGivenZ:
    def test_one_gaussian_knows_the_partial_correlation(self):
        rng = np.random.default_rng(0)
        root = rng.standard_normal((4, 4))
        covariance = root @ root.T
        rows = np.ascontiguousarray(root @ rng.standard_normal((4, 200_000)))
        found = Gaussians(np.ones(1), np.zeros((1, 4)), covariance[None]).log_ratio(rows, 1, 2).mean()
        left = covariance[2:, 2:] - covariance[2:, :2] @ np.linalg.solve(covariance[:2, :2], covariance[:2, 2:])
        correlation = left[0, 1] / np.sqrt(left[0, 0] * left[1, 1])
        assert found == pytest.approx(-0.5 * np.log(1.0 - correlation**2), abs=0.01)

    def test_a_correlation_whose_sign_follows_z(self):
        values = [mutual_information(*signs_by_z(300, seed=seed)).value for seed in range(3)]
        assert np.mean(values) == pytest.approx(SIGNS_TRUTH, abs=0.12)

    def test_they_are_left_out_where_z_changes_nothing(self):
        latents = latents_of(*given_z(*gaussian(400)))
        stack = MixtureBase().stack([GaussianBase().fit(latents), StudentBase().fit(latents)], latents)
        assert MixtureBase().with_z(stack, latents).members == stack.members

    def test_order_and_signs_of_its_columns(self):
        x, y, z = signs_by_z(200)
        expected = mutual_information(x, y, z)
        assert any(name.endswith("with z") for name in expected.details["mixture"])
        assert mutual_information(y, -x, -z[:, [2, 0, 1]]).value == pytest.approx(expected.value, abs=1e-9)

    def test_new_rows(self):
        model = DINE(base="mixture").fit(*signs_by_z(600))
        assert 0.5 * SIGNS_TRUTH < model.pointwise(*signs_by_z(2000, seed=5)).mean() < SIGNS_TRUTH

    def test_many_columns_are_not_seen(self):
        """A component of both sides and twenty columns of z alone would have as many parameters as 46 without z."""
        rows = np.random.default_rng(0).standard_normal((22, 3000))
        fold = module._Fold(rows[:, :2000].copy(), rows[:, 2000:].copy(), classes=False, dz=20)
        assert list(fold.doublings()) == []


class TestTheClimb:
    def test_more_components_where_they_are_needed(self):
        few = mutual_information(*gaussian(600), base="mixture").details["mixture"]
        many = mutual_information(*ring(600), base="mixture").details["mixture"]
        assert len(many) > len(few)
        assert sum(many.values()) == pytest.approx(1.0, abs=1e-9)
        assert sum(many.get(f"{k} {kind}", 0.0) for k in (8, 16) for kind in ("Gaussians", "classes")) > 0.3

    def test_what_is_invisible_to_few(self):
        """A chequered square: no component of the first four helps, and it is found all the same."""
        rng = np.random.default_rng(0)
        column = rng.integers(4, size=2000)
        row = 2 * rng.integers(2, size=2000) + column % 2
        estimate = mutual_information(column + rng.random(2000), row + rng.random(2000), base="mixture")
        assert 0.35 < estimate.value < np.log(2.0)

    def test_a_chain_of_doubtful_steps_ends(self, monkeypatch):
        """Each step is as probable as not, so the fourth needs what has one chance in sixteen: too little to count."""
        monkeypatch.setattr(module, "probability", lambda *_: 0.5)
        rows = np.random.default_rng(0).standard_normal((2, 6000))
        fold = module._Fold(rows[:, :4000].copy(), rows[:, 4000:].copy(), classes=False)
        steps, trust = module._climbed(fold, 1, np.zeros((1, 2000)))
        assert len(steps) == 3
        np.testing.assert_allclose(trust, (np.array([0.5, 0.25, 0.125]) - LEAST) / (1.0 - 2.0 * LEAST))

    def test_very_few_rows(self):
        """So few that nothing can be split: the plain bases stand."""
        latents = latents_of(*parabola(20))
        found = MixtureBase().fit(latents)
        assert set(found.details["mixture"]) == {"gaussian", "student"}
        assert np.isfinite(found.value)


class TestDoors:
    def test_the_default_takes_it(self):
        estimate = mutual_information(*clusters(500))
        assert estimate.details["weights"]["mixture"] > 0.5
        assert estimate.base == "mixture"

    def test_new_rows(self):
        x, y = clusters(600)
        model = DINE(base="mixture").fit(x, y)
        new = clusters(2000, seed=5)
        assert 0.7 * clusters_truth() < model.pointwise(*new).mean() < clusters_truth()

    def test_pointwise(self):
        pointwise = pointwise_information(*clusters(400))
        assert pointwise.values.shape == (400,)

    def test_it_is_stacked_with_the_plain_bases(self):
        latents = latents_of(*parabola(300))
        plain = [GaussianBase().fit(latents), StudentBase().fit(latents)]
        stack = MixtureBase().stack(plain, latents)
        assert [member.name for member in stack.members[:2]] == ["gaussian", "student"]
        assert stack.as_base("mixture").value == MixtureBase().fit(latents).value
