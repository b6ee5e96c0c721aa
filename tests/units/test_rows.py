"""Orders of rows and columns that only the data decide."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pydine.latents.scores import ScoreMap
from pydine.units.rows import View, column_order, combinations, dealt, outwards, row_marks, signs, some_of

SEEDS = st.integers(0, 10**6)
ROWS = st.integers(30, 60)  # of very few, columns may be each other's mirror images by chance


def scores(d, n, seed, values=None):
    """Normal scores of random columns, shape (d, n); of few values if so many are asked for."""
    rng = np.random.default_rng(seed)
    columns = rng.standard_normal((d, n)) if values is None else rng.integers(0, values, (d, n)).astype(float)
    return np.array([ScoreMap.fit(column)[1] for column in columns]).reshape(d, n)


def shuffled(seed, *lengths):
    """Random orders, and random signs for the first of them."""
    rng = np.random.default_rng(seed + 1)
    return *(rng.permutation(length) for length in lengths), rng.choice([-1.0, 1.0], lengths[0])


class TestOutwards:
    @settings(deadline=None, max_examples=60)
    @given(seed=SEEDS, d=st.integers(1, 4), n=st.integers(3, 60), values=st.sampled_from([None, 2, 3]))
    def test_rows_come_in_any_order(self, seed, d, n, values):
        columns = scores(d, n, seed, values)
        order = outwards(columns)
        assert sorted(order) == list(range(n))
        rows = np.random.default_rng(seed + 1).permutation(n)
        np.testing.assert_array_equal(columns[:, rows][:, outwards(columns[:, rows])], columns[:, order])

    def test_from_the_middle_to_the_outskirts(self):
        columns = scores(3, 200, 0)
        distances = np.sqrt((columns**2).sum(axis=0))[outwards(columns)]
        assert (np.diff(distances) > -1e-12).all()

    @settings(deadline=None, max_examples=30)
    @given(seed=SEEDS)
    def test_negated_columns(self, seed):
        """Continuous columns: no two rows are as far out as each other."""
        columns = scores(3, 50, seed)
        assume(np.diff(np.sort((columns * columns).sum(axis=0))).min() > 1e-12)
        _, flips = shuffled(seed, 3)
        np.testing.assert_array_equal(outwards(columns * flips[:, None]), outwards(columns))

    def test_nothing_to_go_by(self):
        assert outwards(np.zeros((2, 4))).tolist() == [0, 1, 2, 3]


class TestDealt:
    @pytest.mark.parametrize("folds", [2, 3, 5])
    @pytest.mark.parametrize("n", [5, 30, 31, 32, 200])
    def test_a_balanced_partition(self, n, folds):
        order = np.random.default_rng(n).permutation(n)
        parts = dealt(order, folds)
        assert len(parts) == folds
        assert sorted(np.concatenate(parts)) == list(range(n))
        assert max(map(len, parts)) - min(map(len, parts)) <= 1

    def test_every_few_neighbours_are_spread_over_the_folds(self):
        order = np.random.default_rng(0).permutation(90)
        place = np.argsort(order)
        for part in dealt(order, 3):
            assert sorted(place[part] // 3) == list(range(30))

    def test_always_the_same(self):
        first, again = (dealt(np.arange(60), 3) for _ in range(2))
        assert all((a == b).all() for a, b in zip(first, again, strict=True))

    def test_the_order_is_all_that_counts(self):
        """Rows with other numbers, in the same order, are dealt to the same folds."""
        names = np.random.default_rng(1).permutation(40)
        for plain, named in zip(dealt(np.arange(40), 3), dealt(names, 3), strict=True):
            np.testing.assert_array_equal(named, names[plain])


class TestSomeOf:
    @pytest.mark.parametrize("n", [1, 7, 100])
    @pytest.mark.parametrize("most", [1, 3, 7, 99, 100, 500])
    def test_one_of_every_few_neighbours(self, n, most):
        order = np.random.default_rng(0).permutation(n)
        some = some_of(order, most)
        count = min(n, most)
        assert len(some) == count
        places = np.argsort(order)[some]
        assert (np.arange(count) * n // count <= places).all()
        assert (places < np.arange(1, count + 1) * n // count).all()

    @pytest.mark.parametrize("step", [2, 3, 4, 6, 10, 20])
    def test_no_place_among_the_neighbours_is_preferred(self, step):
        """Scores of the same size stand side by side: every second row, say, would be of the same sign."""
        places = some_of(np.arange(400 * step), 400) % step
        counts = np.bincount(places, minlength=step)
        assert np.abs(counts - 400 / step).max() <= 6

    def test_rows_of_scores_are_not_of_one_sign(self):
        for n in (160, 320, 480, 800, 1000):
            z = scores(1, n, n)
            chosen = z[0, some_of(outwards(z), 80)]
            assert 30 <= np.count_nonzero(chosen > 0.0) <= 50

    def test_few_are_all(self):
        order = np.arange(5)
        assert some_of(order, 5) is order
        assert some_of(order, 0).tolist() == []


class TestColumns:
    @settings(deadline=None, max_examples=80)
    @given(seed=SEEDS, d=st.integers(0, 6), n=ROWS)
    def test_order_of_columns(self, seed, d, n):
        """Rows and columns in another order, and columns negated: the same columns come in the same places."""
        columns = scores(d, n, seed)
        places, rows, flips = shuffled(seed, d, n)
        moved = (columns * flips[:, None])[places][:, rows]
        order, moved_order = column_order(columns), column_order(moved)
        assert sorted(order) == list(range(d))
        np.testing.assert_array_equal(np.abs(moved[moved_order]), np.abs(columns[order][:, rows]))

    @pytest.mark.parametrize("values", [2, 3])
    def test_columns_of_few_values(self, values):
        """They may be alike but for the order of rows; then which of them is first makes no difference."""
        for seed in range(200):
            columns = scores(2, 12, seed, values)
            places, rows, flips = shuffled(seed, 2, 12)
            moved = (columns * flips[:, None])[places][:, rows]
            seen, moved_seen = (np.abs(c[column_order(c)]) for c in (columns, moved))
            assert sorted(seen.T.tolist()) == sorted(moved_seen.T.tolist())

    @settings(deadline=None, max_examples=60)
    @given(seed=SEEDS, d=st.integers(2, 5), n=ROWS)
    def test_marks_and_signs(self, seed, d, n):
        columns = scores(d, n, seed)
        places, rows, flips = shuffled(seed, d, n)
        moved = np.ascontiguousarray((columns * flips[:, None])[places][:, rows])
        marks = row_marks(columns)
        np.testing.assert_array_equal(row_marks(moved), marks[rows])
        up, moved_up = signs(columns), signs(moved)
        assert set(up) <= {-1.0, 1.0}
        np.testing.assert_array_equal(moved * moved_up[:, None], (columns * up[:, None])[places][:, rows])

    def test_both_signs_occur(self):
        up = [float(signs(c)[0]) for c in (scores(2, 30, seed) for seed in range(40))]
        assert 8 < up.count(1.0) < 32

    def test_a_column_that_is_its_own_mirror_image(self):
        """By itself it has no sign: its negative is the same column with its rows in another order."""
        column = scores(1, 30, 0)
        assert signs(column) == signs(-column) == 1.0

    def test_zeros_have_no_sign(self):
        columns = np.array([[0.0, -0.0, 1.0], [-0.0, 0.0, 1.0]])
        marks = row_marks(columns)
        assert marks[0] == marks[1] == row_marks(-columns)[0]

    def test_marks_tell_rows_apart(self):
        columns = scores(3, 2000, 0)
        assert len(set(row_marks(columns).tolist())) > 1990  # rows with the same ranks, in other columns, are alike


def sides(dx, dy, dz, n, seed):
    columns = scores(dx + dy + dz, n, seed)
    return columns[:dx], columns[dx : dx + dy], columns[dx + dy :]


class TestView:
    @settings(deadline=None, max_examples=80)
    @given(seed=SEEDS, dx=st.integers(1, 3), dy=st.integers(1, 3), dz=st.integers(0, 3), n=ROWS)
    def test_nothing_arbitrary_is_seen(self, seed, dx, dy, dz, n):
        """Sides exchanged, rows and columns of z in another order, any column negated: a base sees the same."""
        x, y, z = sides(dx, dy, dz, n, seed)
        view = View.of(np.vstack([x, y, z]), dx, dy)
        rng = np.random.default_rng(seed + 1)
        rows, places = rng.permutation(n), rng.permutation(dz)
        flips = [rng.choice([-1.0, 1.0], len(part))[:, None] for part in (x, y, z)]
        a, b, c = ((flip * part)[:, rows] for flip, part in zip(flips, (x, y, z), strict=True))
        other = View.of(np.vstack([b, a, c[places]]), dy, dx)
        np.testing.assert_array_equal(other(np.vstack([b, a])), view(np.vstack([x, y]))[:, rows])
        assert other.is_swapped != view.is_swapped

    def test_the_side_with_fewer_columns_goes_first(self):
        for dx, dy in ((1, 2), (2, 1), (3, 1)):
            x, y, z = sides(dx, dy, 1, 40, 0)
            view = View.of(np.vstack([x, y, z]), dx, dy)
            assert view.is_swapped == (dy < dx)
            first = set(range(dx, dx + dy)) if dy < dx else set(range(dx))
            assert set(view.order[: len(first)]) == first

    def test_latents_as_a_base_sees_them(self):
        view = View((1, 0), np.array([-1.0, 1.0]), is_swapped=True)
        np.testing.assert_array_equal(view(np.array([[1.0, 2.0], [3.0, 4.0]])), [[-3.0, -4.0], [1.0, 2.0]])

    def test_sides_that_are_the_same(self):
        """Either may go first."""
        x = scores(1, 40, 0)
        assert not View.of(np.vstack([x, x]), 1, 1).is_swapped


@pytest.mark.parametrize("levels", [(3,), (2, 5), (40, 40, 40), (400, 2, 400)])
def test_combinations_are_those_of_whole_rows(levels):
    rng = np.random.default_rng(len(levels))
    columns = np.array([rng.integers(0, count, 500) / 7.0 for count in levels])
    np.testing.assert_array_equal(combinations(columns), np.unique(columns, axis=1, return_inverse=True)[1].ravel())
