"""Labels by the dozen or the hundred, by what their rows say of other columns."""

import numpy as np
import pytest

import pydine
from pydine.answers.policy import determined
from pydine.inputs.kinds import Kind
from pydine.inputs.reading import read_question
from pydine.latents.kinds.canonical import canonical
from pydine.latents.kinds.levels import LevelsColumn
from pydine.latents.kinds.nominal import NominalColumn
from pydine.latents.kinds.question import MixedColumns
from pydine.latents.workshop import Workshop
from pydine.units.ladder import LadderSettings

K, ROWS = 60, 20


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def labels(rng):
    """Labels, the effect of each, and a number that they move."""
    codes, effects = np.repeat(np.arange(K), ROWS), rng.normal(size=K)
    return codes.astype(float), effects, effects[codes] + rng.normal(size=K * ROWS)


def columns(codes, number):
    return canonical([codes, number], [Kind.NOMINAL, Kind.CONTINUOUS])


def test_a_row_is_told_nothing_by_itself(labels):
    codes, _, number = labels
    moved = number.copy()
    moved[0] = number[0] + 1e-9  # the same ranks, and the same hashes
    column = columns(codes, number)[0]
    assert isinstance(column, LevelsColumn)
    assert column.context.shape == (2, K * ROWS)
    others = codes == codes[0]
    assert len(np.unique(column.context[0][others])) > 5  # not the same half for each
    np.testing.assert_array_equal(column.context, columns(codes, moved)[0].context)


def test_means_of_labels_are_drawn_towards_the_mean_of_all(labels, rng):
    codes, effects, number = labels
    column = columns(codes, number)[0]
    by_label = column.effects[0, [int(column.values[codes == k][0]) for k in range(K)]]
    assert np.corrcoef(by_label, effects)[0, 1] > 0.95
    assert column.effects[0, -1] == 0.0  # a label that is unknown
    rare = np.append(codes, K)  # one more label, of a single row
    far = columns(rare, np.append(number, 9.0))[0]
    assert abs(far.effects[0, int(far.values[-1])]) < abs(far.effects[0]).max()


def test_few_labels_have_indicators():
    assert type(columns(np.arange(480) % 24.0, np.arange(480.0))[0]) is NominalColumn
    assert type(columns(np.arange(500) % 25.0, np.arange(500.0))[0]) is LevelsColumn


def test_fewer_rows_keep_what_all_rows_say(labels):
    codes, _, number = labels
    question = read_question(np.char.add("a", codes.astype(int).astype(str)), number)
    whole = MixedColumns.of(question)
    rows = np.arange(0, K * ROWS, 3)
    some = whole.only(rows)
    assert isinstance(some.x[0], LevelsColumn)
    np.testing.assert_array_equal(some.x[0].context, whole.x[0].context[:, rows])
    np.testing.assert_array_equal(some.x[0].learned, whole.x[0].learned[:, rows])


@pytest.mark.parametrize("given", [False, True])
def test_information_of_labels_and_a_number(labels, given, rng):
    codes, effects, number = labels
    names = np.char.add("a", codes.astype(int).astype(str))
    z = rng.normal(size=len(number)) if given else None
    grid = np.linspace(-8.0, 8.0, 2001)
    density = np.exp(-0.5 * (grid - effects[:, None]) ** 2).mean(axis=0) / np.sqrt(2.0 * np.pi)
    truth = -(density * np.log(density)).sum() * (grid[1] - grid[0]) - 0.5 * np.log(2.0 * np.pi * np.e)
    found = pydine.mutual_information(names, number if z is None else number + z, z)
    assert found.value == pytest.approx(truth, abs=0.06)  # three standard errors of 1200 rows
    assert found.confidence_interval().low < truth < found.confidence_interval().high


def test_labels_that_move_both_sides_are_removed(rng):
    codes, effects = rng.permutation(np.repeat(np.arange(K), ROWS)), 2.0 * rng.normal(size=K)
    x, y = effects[codes] + rng.normal(size=(2, K * ROWS))
    z = np.char.add("a", codes.astype(str))
    assert pydine.mutual_information(x, y).value > 0.3
    assert abs(pydine.mutual_information(x, y, z).value) < 0.01
    assert pydine.independence_test(x, y, z, method="analytic").pvalue > 0.01


def test_a_label_determines_what_it_is_part_of(rng):
    country = np.repeat(np.arange(100), 8)
    continent = rng.integers(5, size=100)[country]
    names = [np.char.add(letter, codes.astype(str)) for letter, codes in (("a", country), ("b", continent))]
    with pytest.warns(UserWarning, match="Few rows per label"):
        question = read_question(names[1], rng.random(800), names[0])
    assert determined(question, Workshop(question.table, LadderSettings())) == {0}
    shares = np.bincount(continent) / 800
    with pytest.warns(UserWarning, match="Few rows per label"):
        found = pydine.mutual_information(names[0], names[1])
    assert found.value == pytest.approx(-(shares * np.log(shares)).sum(), abs=0.01)


def test_each_label_takes_a_mean_from_numbers_given_it(rng):
    codes, (first, second) = np.repeat(np.arange(100), 5), rng.normal(size=(2, 500))
    own, other = rng.normal(size=(2, 100))[:, codes]
    with pytest.warns(UserWarning, match="labels"):
        found = pydine.mutual_information(own + first, other + second, codes.astype(str), base="gaussian")
    assert 390.0 <= found.details["degrees_of_freedom"] <= 400.0  # curves along what labels say cost a few more


def test_numbers_given_labels_of_few_rows():
    """Spreads of a label that include the row itself would be known to flows, and rows less their means vary less."""
    covered, bound = [], []
    for seed in range(40):
        rng = np.random.default_rng([seed, 9])
        codes, effects = rng.integers(120, size=600), rng.exponential(size=120)
        first, second = rng.normal(size=(2, 600))
        x, y = 2.0 * effects[codes] + first, effects[codes] - 0.5 * first + np.sqrt(0.75) * second
        for side, truth in ((y, -0.5 * np.log(0.75)), (effects[codes] + second, 0.0)):
            with pytest.warns(UserWarning, match="labels"):
                low, high = pydine.mutual_information(x, side, codes.astype(str)).confidence_interval(0.95)
            (covered if truth else bound).append(low <= truth <= high)
    assert np.mean(covered) >= 0.875
    assert np.mean(bound) >= 0.9


def test_spreads_among_numbers_are_those_of_other_rows(labels):
    codes, _, number = labels
    column = columns(codes, number)[0]
    assert column.is_spread.tolist() == [False, True]
    np.testing.assert_array_equal(column.among_numbers[0], column.learned[0])
    np.testing.assert_array_equal(column.among_numbers[1], column.left_out[1])
