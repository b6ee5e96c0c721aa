"""Questions about columns of any kind: truths, bounds, the level of the test, and numbers from 0 to 1."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency

import pydine
from pydine.answers.answer import Verdict
from pydine.answers.fitting import fit
from pydine.answers.settings import Settings
from pydine.bases.kinds import estimate
from pydine.inputs.table import Question

N = 800
LABELS = np.array(["b", "a", "c"])


def bits(rng, share=0.02):
    x = rng.random(N) < 0.5
    return x, x ^ (rng.random(N) < share)


def stairs(rng):
    x = rng.integers(0, 3, N)
    return x, x + 2.0 * rng.random(N)


def halves(rng):
    is_normal, normal = rng.random(N) < 0.5, rng.standard_normal((2, N))
    normal[1] = 0.8 * normal[0] + 0.6 * normal[1]
    sign = rng.choice([-1.0, 1.0], N)
    other = np.where(rng.random(N) < 0.8, sign, -sign)
    return np.where(is_normal, normal[0], sign), np.where(is_normal, normal[1], other)


def groups(rng):
    label = rng.integers(0, 3, N)
    return LABELS[label], rng.standard_normal(N) + 2.0 * (label - 1)


@pytest.mark.parametrize(
    ("draw", "truth"),
    [
        (bits, np.log(2.0) + 0.02 * np.log(0.02) + 0.98 * np.log(0.98)),
        (stairs, np.log(3.0) - 2.0 / 3.0 * np.log(2.0)),
        (halves, np.log(2.0) + 0.5 * 0.192745 + 0.5 * 0.510826),
        (groups, 0.6285),  # by quadrature
    ],
)
def test_known_truths(draw, truth):
    rng = np.random.default_rng(1)
    x, y = draw(rng)
    found = pydine.mutual_information(x, y)
    assert found.value == pytest.approx(truth, abs=3.0 * found.standard_error + 0.015)
    z = rng.standard_normal(N)  # which does nothing, and does no harm
    assert pydine.mutual_information(x, y, z).value == pytest.approx(found.value, abs=1.5 * found.standard_error)


def common_causes(seed, n=300):
    """Labels, counts, a number and yes or no, all of which follow seven columns and nothing else."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((n, 7))
    table = pd.DataFrame(z, columns=list("abcdefg"))
    table["a"], table["b"] = np.round(np.exp(z[:, 0])), LABELS[np.digitize(z[:, 1], [-0.5, 0.5])]
    first, second = z[:, 2] + z[:, 0] + 0.5 * z[:, 1] ** 2, z[:, 2] - z[:, 6] + np.sin(2.0 * z[:, 0])
    table["label"] = np.array(list("pqrs"))[np.digitize(first + rng.logistic(size=n), [-1.0, 0.5, 2.0])]
    table["count"] = rng.poisson(np.exp(0.4 * first))
    table["number"] = second + rng.standard_normal(n)
    table["yes"] = rng.random(n) < 1.0 / (1.0 + np.exp(-second))
    return table


@pytest.mark.slow
@pytest.mark.parametrize(("x", "y"), [("label", "number"), ("count", "yes"), ("label", "yes"), ("count", "number")])
def test_columns_that_are_independent_given_many_have_no_information(x, y):
    found = [pydine.mutual_information(x, y, list("abcdefg"), data=common_causes(seed)) for seed in range(6)]
    assert abs(np.mean([each.value for each in found])) < 0.01
    assert sum(each.confidence_interval(0.95)[0] <= 0.0 for each in found) >= 5


def test_numbers_are_asked_about_as_if_there_were_no_kinds():
    rng = np.random.default_rng(8)
    z = rng.standard_normal((250, 2))
    table = pd.DataFrame(
        {"x": np.sin(z[:, 0]) + rng.standard_normal(250), "y": z.sum(axis=1), "a": z[:, 0], "b": z[:, 1]}
    )
    table["y"] += 0.5 * table.x + rng.standard_normal(250)
    plain = Question.of(*(table[names].to_numpy() for names in (["x"], ["y"], ["a", "b"])))  # knows of no kinds
    assert not plain.table.kinds
    before = fit(plain, Settings().seeded()).information_of(plain)
    said = dict.fromkeys(table, "continuous")
    for kinds in (None, said):
        found = pydine.mutual_information("x", "y", ["a", "b"], data=table, kinds=kinds)
        assert (found.value, found.standard_error) == (before.value, before.standard_error)
    ours, theirs = (pydine.independence_test("x", "y", ["a", "b"], data=table, kinds=k) for k in (None, said))
    assert (ours.pvalue, ours.statistic) == (theirs.pvalue, theirs.statistic)
    matrices = [pydine.pairwise_information(table, kinds=k).values for k in (None, said)]
    np.testing.assert_array_equal(*matrices)


def test_rows_beside_point_masses_are_asked_about_as_numbers():
    """Where y is at none of its point masses either, both sides are continuous: the chain rule, to the last digit."""
    rng = np.random.default_rng(1)
    x, y = halves(rng)
    z = rng.standard_normal(N)
    bulk = ~np.isin(x, [-1.0, 1.0])
    which = np.where(bulk, "none", x.astype("U4"))
    parts = pydine.mutual_information(which, y, z), pydine.mutual_information(x[bulk], y[bulk], z[bulk])
    whole = pydine.mutual_information(x, y, z)
    assert whole.value == pytest.approx(parts[0].value + bulk.mean() * parts[1].value, abs=1e-9)


def test_equal_labels_have_their_entropy():
    x = LABELS[np.random.default_rng(0).integers(0, 3, N)]
    shares = np.unique(x, return_counts=True)[1] / N
    found = pydine.mutual_information(x, x)
    assert found.value == pytest.approx(-(shares * np.log(shares)).sum(), rel=1e-9)
    assert found.explained == pytest.approx(1.0)
    assert pydine.mutual_information(x, x, base="gaussian").value <= found.value + 1e-9


def test_a_side_that_z_determines():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, N)
    with pytest.warns(pydine.DeterminedWarning):
        assert pydine.mutual_information(LABELS[x], rng.random(N), LABELS[(x + 1) % 3]).value == 0.0
    with pytest.warns(pydine.DeterminedWarning):
        assert pydine.independence_test(LABELS[x], rng.random(N), LABELS[x]).pvalue == Verdict.NOTHING_LEFT.pvalue


@pytest.mark.slow
def test_names_and_order_of_labels_do_not_matter():
    rng = np.random.default_rng(2)
    code = np.repeat([0, 1, 2], N // 3)  # as frequent as each other
    y = rng.standard_normal(len(code)) + (code == 1)
    z = np.array(["u", "v"])[rng.integers(0, 2, len(code))]
    value = pydine.mutual_information(LABELS[code], y, z).value
    pvalue = pydine.independence_test(LABELS[code], y, z, method="analytic").pvalue
    renamed = np.array(["0", "zebra", "Z"])[code]
    assert pydine.mutual_information(renamed, y, z).value == value
    assert pydine.independence_test(renamed, y, z, method="analytic").pvalue == pvalue
    assert pydine.mutual_information(y, renamed, z).value == pytest.approx(value, rel=1e-9)
    rows = rng.permutation(len(code))
    assert pydine.mutual_information(renamed[rows], y[rows], z[rows]).value == pytest.approx(value, rel=1e-6)


def test_all_discrete_p_values_agree_with_the_g_test():
    for seed in range(8):
        rng = np.random.default_rng(seed)
        x, y = rng.integers(0, 3, N), rng.integers(0, 4, N)
        y = np.where(rng.random(N) < 0.05 * (seed % 3), x, y)
        ours = pydine.independence_test(LABELS[x], np.array(list("pqrs"))[y], method="analytic").pvalue
        theirs = chi2_contingency(pd.crosstab(x, y), correction=False, lambda_="log-likelihood").pvalue
        assert np.log(ours) == pytest.approx(np.log(theirs), abs=0.25 + 0.1 * abs(np.log(theirs)))


@pytest.mark.slow
def test_level_and_power():
    rejected = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        z = rng.standard_normal(300)
        label = LABELS[np.digitize(z + rng.standard_normal(300), [-0.5, 0.5])]
        count = rng.poisson(np.exp(0.6 * z))
        rejected.append(pydine.independence_test(label, count, z, method="analytic").rejected)
    assert np.mean(rejected) <= 0.15
    more = count + 2 * (label == "a")
    assert pydine.independence_test(label, more, z).pvalue == 0.001
    assert pydine.independence_test(label, more, z, method="analytic").pvalue < 1e-6


def test_several_columns_on_a_side():
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 2, (2, N))
    frame = pd.DataFrame({"a": a == 1, "b": LABELS[b], "xor": a ^ b, "z": rng.standard_normal(N)})
    found = pydine.mutual_information(["a", "b"], "xor", data=frame)
    assert found.value == pytest.approx(np.log(2.0), abs=0.01)
    assert abs(pydine.mutual_information("a", "xor", data=frame).value) < 0.01
    assert pydine.mutual_information(["a", "z"], "xor", "b", data=frame).value == pytest.approx(np.log(2.0), abs=0.05)


def test_labels_that_are_given():
    rng = np.random.default_rng(4)
    which = rng.integers(0, 4, N)
    x, y = rng.standard_normal((2, N)) + np.array([0.0, 3.0, -3.0, 6.0])[which]
    z = np.array(list("pqrs"))[which]
    assert pydine.mutual_information(x, y).value > 0.5
    assert abs(pydine.mutual_information(x, y, z).value) < 0.02
    assert pydine.independence_test(x, y, z, method="analytic").pvalue > 0.01
    with_number = pd.DataFrame({"label": z, "number": rng.standard_normal(N)})
    assert abs(pydine.mutual_information(x, y, with_number).value) < 0.02


def test_new_rows(tmp_path):
    rng = np.random.default_rng(5)
    x, y = groups(rng)
    model = pydine.DINE().fit(x, y)
    assert model.pointwise(x, y).mean() == pytest.approx(model.information_.value, abs=0.03)
    latents = model.transform(x[:5], y[:5])
    assert [side.shape for side in latents] == [(5, 2), (5, 1)]
    assert np.isfinite(model.score(x, y))
    model.save(tmp_path / "model.npz")
    again = pydine.DINE.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.pointwise(x, y), model.pointwise(x, y))
    np.testing.assert_array_equal(model.transform(x), model.transform(x, y)[0])
    swapped = pydine.DINE().fit(y, x)
    np.testing.assert_array_equal(swapped.transform(y), swapped.transform(y, x)[0])  # no label of x is needed
    given = pydine.DINE().fit(y, y + rng.standard_normal(N), x)
    assert given.pointwise(y, y, x).shape == (N,)


def test_numbers_from_0_to_1():
    rng = np.random.default_rng(6)
    a = rng.standard_normal(N)
    found = pydine.mutual_information(a, 0.6 * a + 0.8 * rng.standard_normal(N))
    assert found.correlation == pytest.approx(0.6, abs=0.06)
    low, high = found.correlation_interval(0.95)
    assert 0.5 < low < found.correlation < high < 0.7
    assert found.explained is None
    x, y = groups(rng)
    assert 0.5 < pydine.mutual_information(x, y).explained < 0.7
    matrix = pydine.pairwise_information({"x": x, "y": y, "a": a})
    assert matrix.kinds == ("nominal", "continuous", "continuous")
    assert matrix.correlations[0, 1] == pytest.approx(pydine.mutual_information(x, y).correlation)
    assert np.isnan(matrix.explained[0, 1])
    assert matrix.explained[1, 0] == pytest.approx(pydine.mutual_information(x, y).explained)
    assert matrix.to_frame().explained.notna().sum() == 2


@pytest.mark.slow
def test_densities_learn_from_some_of_many_rows(monkeypatch):
    """Rows that they did not learn from have a pointwise information as well, a label that is not among them too."""
    rng = np.random.default_rng(2)
    label = rng.integers(3, size=600)
    number, z = label + rng.standard_normal(600), rng.standard_normal(600)
    names = np.where(np.arange(600) < 11, "rare", LABELS[label])
    whole = pydine.mutual_information(names, number, z)
    monkeypatch.setattr(estimate, "MOST_ROWS", 300)
    some = pydine.mutual_information(names, number, z)
    assert some.value == pytest.approx(whole.value, abs=3.0 * whole.standard_error)
    assert some.standard_error > 1.2 * whole.standard_error
    rows = pydine.pointwise_information(names, number, z)
    assert len(rows.values) == 600
    assert np.isfinite(rows.values).all()
    assert rows.values.mean() == pytest.approx(some.value, abs=3.0 * some.standard_error)


@pytest.mark.slow
def test_dependence_that_changes_its_sign_with_z_is_seen():
    """The closed form of residuals sees none of it, so densities have to speak as soon as held-out rows agree."""
    found = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        yes, z, noise = rng.random(600) < 0.5, rng.standard_normal(600), rng.standard_normal(600)
        number = 0.5 * np.sign(z) * (2 * yes - 1) + noise
        found.append(pydine.mutual_information(yes, number, z).value)
    assert 0.08 < np.mean(found) < 0.15  # 0.111 by quadrature


def test_another_column_does_not_hide_what_one_tells():
    """A rate is a count over years, or 0: beside an unrelated number, densities of both lose sight of the years."""
    rng = np.random.default_rng(0)
    years = rng.choice([0.5, 2.5, 6.0, 9.0, 13.0, 16.5, 23.0], N)
    rate = np.where(rng.random(N) < 0.65, 0.0, np.round((1 + rng.poisson(2.0, N)) / years, 4))
    frame = pd.DataFrame({"years": years, "rate": rate, "unrelated": rng.standard_normal(N)})
    alone = pydine.mutual_information("years", "rate", data=frame)
    for x, y in ((["years", "unrelated"], "rate"), ("rate", ["unrelated", "years"])):
        both = pydine.mutual_information(x, y, data=frame)
        assert both.value > alone.value - 2.0 * alone.standard_error
        assert both.details["weights"]["one by one"] > 0.5


def test_columns_one_by_one_tell_what_they_tell_together():
    rng = np.random.default_rng(2)
    label, number = rng.integers(2, size=N), rng.standard_normal(N)
    y = np.where(label == 1, number, -number) + 0.5 * rng.standard_normal(N)  # neither of them tells anything alone
    names = LABELS[label]
    found = pydine.mutual_information(pd.DataFrame({"label": names, "number": number}), y)
    assert found.value == pytest.approx(0.5 * np.log(5.0), abs=3.0 * found.standard_error + 0.03)
    assert pydine.mutual_information(names, y).value < 0.05
