"""Tied values, spread: into the gaps around them, the same way whatever is arbitrary about the data."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from pydine.inputs.table import Question
from pydine.latents.plain import LARGEST_SHIFT
from pydine.latents.plain import without_ties as without_ties_of


@dataclass(frozen=True)
class Columns:
    """All that is asked of a sample: blocks of columns, shapes (n, dx), (n, dy) and (n, dz)."""

    x: np.ndarray
    y: np.ndarray
    z: np.ndarray


def sample_of(x, y, z=None):
    n = len(x)
    return Columns(*(np.asarray([] if a is None else a, dtype=float).reshape(n, -1) for a in (x, y, z)))


def without_ties(sample):
    """The sample itself where the question is, and otherwise the columns of the question that comes back."""
    question = Question.of(sample.x, sample.y, sample.z)
    spread = without_ties_of(question)
    return sample if spread is question else Columns(*spread.values())


def integers(n=300, seed=0, dz=2):
    """x of few values, y of more, and z without ties."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((n, dz))
    x = np.round(z[:, 0] + rng.standard_normal(n)) if dz else rng.integers(0, 4, n).astype(float)
    return sample_of(x, np.round(2.0 * rng.standard_normal(n)), z)


def moved(sample, rows):
    return replace(sample, x=sample.x[rows], y=sample.y[rows], z=sample.z[rows])


def rows_of(sample):
    """Rows as a list in order: those that were the same before may have changed places."""
    return sorted(np.hstack([sample.x, sample.y, sample.z]).tolist())


class TestWhatIsSpread:
    def test_a_sample_without_ties_is_left_alone(self):
        rng = np.random.default_rng(0)
        sample = sample_of(*rng.standard_normal((2, 200)))
        assert without_ties(sample) is sample

    def test_few_ties_are_left_alone(self):
        rng = np.random.default_rng(0)
        x, y = rng.standard_normal((2, 300))
        x[1] = x[0]
        sample = sample_of(x, y)
        assert without_ties(sample) is sample

    def test_only_columns_that_are_tied(self):
        rng = np.random.default_rng(0)
        sample = sample_of(rng.integers(0, 5, 300), rng.standard_normal(300), rng.integers(0, 2, 300))
        spread = without_ties(sample)
        assert len(np.unique(spread.x)) == 300
        np.testing.assert_array_equal(spread.y, sample.y)
        np.testing.assert_array_equal(spread.z, sample.z)

    def test_constants_are_not_for_us(self):
        sample = sample_of(np.zeros(50), np.random.default_rng(0).standard_normal(50))
        assert without_ties(sample) is sample

    def test_order_is_kept(self):
        sample = integers()
        spread = without_ties(sample)
        for before, after in ((sample.x, spread.x), (sample.y, spread.y)):
            assert len(np.unique(after)) == 300
            order = np.argsort(after[:, 0])
            assert (np.diff(before[order, 0]) >= 0.0).all()
            assert np.abs(after - before).max() <= LARGEST_SHIFT  # the gaps between integers are 1

    def test_values_that_occur_once_stay_where_they_are(self):
        x = np.concatenate([np.repeat([0.0, 10.0], 50), [3.0, 99.0]])
        spread = without_ties(sample_of(x, np.random.default_rng(0).standard_normal(102))).x[:, 0]
        assert spread[100:].tolist() == [3.0, 99.0]
        assert np.abs(spread[:50]).max() <= LARGEST_SHIFT * 3.0  # half of the smaller gap beside it
        assert np.abs(spread[50:100] - 10.0).max() <= LARGEST_SHIFT * 7.0

    def test_draws_tell_nothing(self):
        spread, sample = without_ties(integers(3000)), integers(3000)
        shifts = np.hstack([spread.x - sample.x, spread.y - sample.y])
        assert abs(np.corrcoef(shifts.T)[0, 1]) < 0.06
        for column in (*sample.z.T, sample.x[:, 0]):
            assert abs(np.corrcoef(shifts[:, 0], column)[0, 1]) < 0.06

    def test_the_input_is_left_alone(self):
        sample = integers()
        before = sample.x.copy(), sample.y.copy()
        without_ties(sample)
        np.testing.assert_array_equal(sample.x, before[0])
        np.testing.assert_array_equal(sample.y, before[1])


@pytest.mark.parametrize("dz", [0, 1, 2])
@pytest.mark.parametrize("seed", range(4))
class TestNothingArbitraryCounts:
    def test_order_of_rows(self, seed, dz):
        sample = integers(seed=seed, dz=dz)
        rows = np.random.default_rng(seed + 9).permutation(300)
        assert rows_of(without_ties(moved(sample, rows))) == rows_of(without_ties(sample))

    def test_order_of_the_columns_of_z(self, seed, dz):
        sample = integers(seed=seed, dz=dz)
        other = without_ties(replace(sample, z=sample.z[:, ::-1]))
        assert rows_of(replace(other, z=sample.z)) == rows_of(without_ties(sample))

    def test_sides_exchanged(self, seed, dz):
        sample = integers(seed=seed, dz=dz)
        other = without_ties(replace(sample, x=sample.y, y=sample.x))
        assert rows_of(replace(other, x=other.y, y=other.x)) == rows_of(without_ties(sample))

    @pytest.mark.parametrize("flips", [(-1, 1), (1, -1), (-1, -1)])
    def test_negated_columns(self, seed, dz, flips):
        sample = integers(seed=seed, dz=dz)
        other = without_ties(replace(sample, x=flips[0] * sample.x, y=flips[1] * sample.y))
        assert rows_of(replace(other, x=flips[0] * other.x, y=flips[1] * other.y)) == rows_of(without_ties(sample))


def test_two_values_as_frequent_as_each_other():
    """All rows have the same mark; their order is that of the values then, not the one in which they came."""
    rng = np.random.default_rng(0)
    x = np.repeat([0.0, 1.0], 100)
    sample = sample_of(x, rng.permutation(x))
    plain = rows_of(without_ties(sample))
    for _ in range(3):
        assert rows_of(without_ties(moved(sample, rng.permutation(200)))) == plain


def test_columns_that_are_the_same_get_draws_of_their_own():
    """What they tell of each other is their entropy, not that they were spread alike."""
    x = np.random.default_rng(0).integers(0, 4, 400)
    spread = without_ties(sample_of(x, x))
    shifts = (spread.x - x[:, None])[:, 0], (spread.y - x[:, None])[:, 0]
    assert abs(np.corrcoef(shifts)[0, 1]) < 0.15
