"""Columns of any kind as the engine sees them: contexts, residuals of mean 0, names and orders that do not matter."""

import numpy as np
import pytest

from pydine.inputs.kinds import Kind
from pydine.latents.kinds.canonical import canonical
from pydine.latents.kinds.conditionals import Context, fit_conditionals
from pydine.latents.kinds.nominal import NominalColumn
from pydine.latents.kinds.ordinal import step_residual
from pydine.units.ladder import LadderSettings

N = 600


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(0)
    z = rng.standard_normal(N)
    count = rng.poisson(np.exp(0.5 * z)).astype(float)
    label = np.digitize(z + rng.standard_normal(N), [-0.5, 0.8]).astype(float)
    masses = np.where(rng.random(N) < 0.3, 0.0, np.exp(z + rng.standard_normal(N)))
    return canonical([z, count, label, masses], [Kind.CONTINUOUS, Kind.ORDINAL, Kind.NOMINAL, Kind.ORDINAL])


def test_contexts(columns):
    z, count, label, masses = columns
    assert [len(column.context) for column in columns] == [1, 1, 3, 2]  # three labels; a point mass beside the number
    np.testing.assert_array_equal(z.context[0], z.seen(z.values.copy())[0])
    np.testing.assert_array_equal(label.seen(label.values[:9]), label.context[:, :9])
    assert len(np.unique(masses.context[1])) == 2
    assert len(count.order_keys) == 1


def test_residuals_have_no_mean_given_the_context(columns):
    z, *others = columns
    context = Context.of([z], N)
    for conditional in fit_conditionals([(column, context) for column in others], LadderSettings(), None, None, True):
        for piece in conditional.residuals():
            for part in (piece.first, piece.second):
                if part is None:
                    continue
                for function in (np.ones(N), z.values, np.abs(z.values)):
                    mean, error = (part * function).mean(), (part * function).std() / np.sqrt(N)
                    assert abs(mean) < 4.0 * error


def test_frequencies_have_no_mean_in_any_cell(columns):
    _, count, label, _ = columns
    cells = np.arange(N) % 3
    for column in (count, label):
        for piece in column.frequencies(cells):
            sums = np.bincount(cells, piece.first)
            np.testing.assert_allclose(sums, 0.0, atol=1e-8)


def test_mean_latents_of_steps_that_are_points():
    lower = np.array([0.3, 0.9])
    piece = step_residual((lower, 1.0 - lower), (lower + 1e-9, 1.0 - lower - 1e-9))
    np.testing.assert_allclose(piece.first, [-0.5244005, 1.2815516], rtol=1e-5)


def test_labels_are_numbered_by_frequency_whatever_they_are_called():
    rng = np.random.default_rng(1)
    codes, other = np.repeat([0, 1, 2], 100), rng.standard_normal(300)
    one, _ = canonical([codes.astype(float), other], [Kind.NOMINAL, Kind.CONTINUOUS])
    names = np.array([2, 0, 1])
    two, _ = canonical([names[codes].astype(float), other], [Kind.NOMINAL, Kind.CONTINUOUS])
    np.testing.assert_array_equal(one.values, two.values)  # as frequent as each other: what else is there decides
    rows = rng.permutation(300)
    three, _ = canonical([codes[rows].astype(float), other[rows]], [Kind.NOMINAL, Kind.CONTINUOUS])
    np.testing.assert_array_equal(three.values, one.values[rows])
    np.testing.assert_array_equal(one.coded(codes.astype(float)), one.values)


def test_probabilities_of_labels(columns):
    z, _, label, _ = columns
    (conditional,) = fit_conditionals([(label, Context.of([z], N))], LadderSettings(), None, None, True)
    total = np.zeros(N)
    for k in range(3):
        values = np.full(N, float(k))
        total += np.exp(label.log_density(conditional.units, values, conditional.context.values))
    np.testing.assert_allclose(total, 1.0, atol=1e-3)
    assert conditional.held_out.mean() < conditional.in_sample.mean() < 0.0


def test_rare_labels_are_not_told_apart():
    column = NominalColumn(np.repeat([0.0, 1.0, 2.0], [200, 12, 10]))
    assert len(column.pieces(column.values)) == 1


def test_alternatives_have_a_probability_of_1_together(columns):
    z, *others = columns
    asked = [(column, Context.of([z], N)) for column in others] + [(z, Context.of(others, N))]
    for conditional in fit_conditionals(asked, LadderSettings(), None, None, True):
        seen, log_chances = conditional.alternatives
        np.testing.assert_allclose(np.exp(log_chances).sum(axis=0), 1.0, atol=1e-9)
        assert {each.shape for each in seen} == {conditional.column.context.shape}


def test_a_density_averaged_over_another_column_is_one_without_it(columns):
    z, count, label, _ = columns
    of_label, of_count, of_both = fit_conditionals(
        [(label, Context.of([z], N)), (count, Context.of([z], N)), (count, Context.of([label, z], N))],
        LadderSettings(),
        None,
        None,
        True,
    )
    seen, log_chances = of_label.alternatives
    changed = of_both.context.with_others(of_both.context.values, label, seen)
    each = [count.log_density(of_both.units, count.values, context) for context in changed]
    average = np.log(np.exp(np.array(each) + log_chances).sum(axis=0))
    assert np.abs(average - of_count.in_sample).mean() < 0.05
    own = of_both.context.with_others(of_both.context.values, label, [label.context])
    np.testing.assert_array_equal(next(own), of_both.context.values)
    # Models of other folds alone follow the rows less well, and about as well as cross-fitting says.
    unseen = of_both.unseen(LadderSettings()).log_density(of_both.context.values)
    assert unseen.mean() == pytest.approx(of_both.held_out.mean(), abs=0.01)
    assert unseen.mean() < of_both.in_sample.mean()


def test_a_context_that_is_the_same_for_all_rows(columns):
    z, count, label, masses = columns
    asked = [(count, Context.of([label], N)), (label, Context.of([count], N)), (z, Context.of([masses], N))]
    for conditional in fit_conditionals(asked, LadderSettings(), None, None, True):
        contexts = conditional.context.values[:, [3, 7]]
        for models in (conditional.seen, conditional.unseen(LadderSettings())):
            whole = [models.log_density(np.repeat(contexts[:, [g]], N, axis=1)) for g in range(2)]
            np.testing.assert_allclose(models.given_each(contexts), whole, rtol=1e-6)


def test_a_label_that_a_column_does_not_know_is_its_rarest():
    column = canonical([np.array([0.0, 0.0, 0.0, 2.0, 2.0, 3.0] * 10)], [Kind.NOMINAL])[0]
    np.testing.assert_array_equal(column.coded(np.arange(6.0)), [0.0, 2.0, 1.0, 2.0, 2.0, 2.0])


def test_equal_rows_are_held_out_alike():
    """Rows that a unit cannot tell apart, while the columns over which it is averaged do: any fold will do."""
    rng = np.random.default_rng(3)
    z = rng.standard_normal(90)
    values = [(z + rng.standard_normal(90) > 0.0) * 1.0, (z + rng.standard_normal(90) > 0.3) * 1.0]

    def averaged(rows):
        kinds = Kind.CONTINUOUS, Kind.NOMINAL, Kind.NOMINAL
        given, first, second = canonical([z[rows], *(each[rows] for each in values)], kinds)
        (seeing,) = fit_conditionals([(first, Context.of([second], 90))], LadderSettings(), None, None, True)
        context, models = seeing.context.values, seeing.unseen(LadderSettings())
        return models.with_others(context, np.array([0]), [given.context])[0]

    rows = rng.permutation(90)
    np.testing.assert_allclose(averaged(rows), averaged(np.arange(90))[rows], atol=1e-9)
