"""Angles at every door that takes kinds: known truths, no origin, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import i0e, i1e

import pydine

RADIANS, DEGREES = "angle:radians", "angle:360"
BOTH = {"x": RADIANS, "y": RADIANS}


def von_mises(kappa, n, seed=0):
    """An even angle, the same with von Mises noise, and their information in nats."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.0, 2.0 * np.pi, n)
    truth = kappa * i1e(kappa) / i0e(kappa) - np.log(i0e(kappa)) - kappa
    return x, np.mod(x + rng.vonmises(0.0, kappa, n), 2.0 * np.pi), float(truth)


def winds(n=400, seed=1):
    rng = np.random.default_rng(seed)
    wind, hour = rng.uniform(0.0, 360.0, n), rng.integers(0, 24, n)
    rain = np.cos(np.radians(wind - 50.0)) + 0.5 * rng.normal(size=n)
    warmth = np.cos(2.0 * np.pi * (hour - 15) / 24.0) + 0.5 * rng.normal(size=n)
    return pd.DataFrame({"wind": wind, "hour": hour, "rain": rain, "warmth": warmth})


KINDS = {"wind": DEGREES, "hour": "angle:24"}


@pytest.mark.slow
@pytest.mark.parametrize("kappa", [1.0, 4.0, 20.0])
def test_von_mises_pairs_have_the_information_that_they_have(kappa):
    found, truths = [], []
    for seed in range(4):
        x, y, truth = von_mises(kappa, 2000, seed)
        found.append(pydine.mutual_information(x, y, kinds=BOTH).value)
        truths.append(truth)
    assert np.mean(found) == pytest.approx(np.mean(truths), rel=0.05)


def test_what_goes_around_the_circle_is_seen():
    x, y, truth = von_mises(1.0, 1000)
    found = pydine.mutual_information(x, y, kinds=BOTH)
    assert found.kinds[:2] == (("angle",), ("angle",))
    low, high = found.confidence_interval()
    assert low < truth < high
    assert abs(found.value - truth) < 0.15 * truth


@pytest.mark.parametrize("shift", [40.0, 123.456, 300.0])
def test_the_origin_and_the_sense_do_not_matter(shift):
    frame = winds()

    def answers(data):
        asked = [
            pydine.mutual_information("wind", "rain", data=data, kinds={"wind": DEGREES}),
            pydine.mutual_information("rain", "warmth", ["wind", "hour"], data=data, kinds=KINDS),
            pydine.mutual_information("hour", "warmth", "wind", data=data, kinds=KINDS),
        ]
        return [figure for one in asked for figure in (one.value, one.standard_error)]

    there = answers(frame)
    moved = frame.assign(wind=np.mod(frame.wind + shift, 360.0), hour=np.mod(frame.hour + 7, 24))
    assert answers(moved) == pytest.approx(there, abs=1e-9)
    turned = frame.assign(wind=360.0 - frame.wind, hour=24 - frame.hour)
    assert answers(turned) == pytest.approx(there, abs=1e-9)


def test_an_angle_in_z_explains_what_it_moves():
    frame = winds()
    rng = np.random.default_rng(3)
    frame["sun"] = np.cos(np.radians(frame.wind)) + 0.5 * rng.normal(size=len(frame))
    assert pydine.independence_test("rain", "sun", data=frame).pvalue < 0.01
    assert pydine.independence_test("rain", "sun", "wind", data=frame, kinds={"wind": DEGREES}).pvalue > 0.05


def test_an_angle_given_itself_has_nothing_left():
    frame = winds()
    frame["bearing"] = np.mod(frame.wind + 30.0, 360.0)
    with pytest.warns(pydine.DeterminedWarning):
        found = pydine.mutual_information(
            "wind", "rain", "bearing", data=frame, kinds={"wind": DEGREES, "bearing": DEGREES}
        )
    assert found.value == 0.0


def test_doors_for_many_columns_agree_with_the_question():
    frame = winds()
    one = pydine.mutual_information("wind", "rain", data=frame, kinds={"wind": DEGREES})
    pairs = pydine.pairwise_information(frame, kinds=KINDS)
    assert pairs.values[0, 2] == pytest.approx(one.value, abs=1e-12)
    ranking = {column.name: column.alone.value for column in pydine.rank(frame, "rain", kinds=KINDS)}
    assert ranking["wind"] == pytest.approx(one.value, abs=1e-12)
    scores, pvalues = pydine.mutual_information_score(frame[["wind", "warmth"]], frame["rain"], kinds={0: DEGREES})
    assert scores[0] == pytest.approx(one.value, rel=0.1)
    assert pvalues[0] < 1e-6
    assert pydine.corr(frame, kinds=KINDS).loc["wind", "rain"] == pytest.approx(one.correlation, abs=1e-12)


def test_missing_values_pair_by_pair():
    frame = winds()
    frame.loc[::7, "wind"] = np.nan
    one = pydine.mutual_information("wind", "rain", data=frame.dropna(), kinds={"wind": DEGREES})
    pairs = pydine.pairwise_information(frame, nan_policy="omit", kinds=KINDS)
    ranking = {c.name: c.alone for c in pydine.rank(frame, "rain", nan_policy="omit", kinds=KINDS)}
    assert pairs.values[0, 2] == pytest.approx(one.value, abs=1e-12)
    assert ranking["wind"].value == pytest.approx(one.value, abs=1e-12)
    assert ranking["hour"].kinds[0] == ("cycle",)


def test_new_rows_are_cut_where_the_fit_was(tmp_path):
    x, y, _ = von_mises(2.0, 500)
    model = pydine.DINE(kinds=BOTH).fit(x, y)
    points = model.pointwise(x, y)
    np.testing.assert_allclose(model.pointwise(x + 2.0 * np.pi, y - 2.0 * np.pi), points, atol=1e-9)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(pydine.DINE.load(tmp_path / "model").pointwise(x, y), points)


def test_what_an_angle_cannot_be_asked():
    frame = winds()
    with pytest.raises(ValueError, match="'wind' is an angle; leave it out"):
        pydine.wide_information(frame[["wind", "rain", "warmth"]], kinds={"wind": DEGREES})
    with pytest.raises(ValueError, match=r"needs numbers that have a mean, but .*wind.* is an angle"):
        pydine.mutual_information(
            "wind",
            "rain",
            data=frame.assign(site=np.arange(len(frame)) // 10),
            clusters="site",
            within="clusters",
            kinds={"wind": DEGREES},
        )
